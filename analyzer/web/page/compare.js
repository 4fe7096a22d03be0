// Two cases beside each other: which other one, the wait, and the comparison in the place of the report.
import { $, hear, make, show } from "./dom.js";
import { ask, below } from "./link.js";
import { all, get, isOver } from "./cases.js";
import { theme } from "./case.js";

const MOST = 100; // cases to choose from, the newest
let asked = ""; // the case whose comparison is being made or shown
let busy = false;

const readable = (one) => isOver(one) && one.report;

/** Offer the other cases that have a report; called whenever something of a case changes. */
export function offer(one) {
  const others = readable(one) ? all().filter((other) => other.id !== one.id && readable(other)).slice(0, MOST) : [];
  show($("compare"), readable(one), $("case-back"));
  $("case-with").hidden = !others.length;
  const key = JSON.stringify(others.map((other) => [other.id, other.name]));
  if ($("case-with").dataset.key !== key) {
    const chosen = $("case-with").value;
    $("case-with").dataset.key = key;
    $("case-with").replaceChildren(...others.map((other) => make("option", { value: other.id }, other.name || "case")));
    if (others.some((other) => other.id === chosen)) $("case-with").value = chosen;
  }
  if (asked !== one.id) told();
}

/** Say how far it is, with links to what came of it. */
function told(text = "", ...links) {
  $("compared").replaceChildren(...(text || links.length ? [text, ...links.flatMap((link) => [" ", link])] : ["\u00a0"]));
}

/** Compare the case on the screen with the chosen one; the one that came first stands first. */
export async function compare(id) {
  if (busy) return;
  const place = $("case-other").value.trim();
  const chosen = place ? { place, name: place } : get($("case-with").value);
  const pair = place ? [get(id), chosen] : [get(id), chosen].filter(Boolean).sort((a, b) => a.created - b.created || a.order - b.order);
  if (pair.length < 2) { $("case-other").focus(); return; }
  const [first, last] = pair;
  [busy, asked] = [true, id];
  $("case-compare").disabled = true;
  told(`Comparing "${first.name}" with "${last.name}": what is not stored is read again, which takes as long as reading it did.`);
  try {
    const made = await ask("POST", "/comparisons", { cases: pair.map((one) => one.id ?? { place: one.place }) });
    if (asked === id) ready(made.id, first, last);
  } catch (error) {
    const { what, why, do: todo } = error.parts ?? { what: String(error) };
    told(`Not compared: ${[what, why, todo].filter(Boolean).join(". ")}`);
  } finally {
    busy = false;
    $("case-compare").disabled = false;
  }
}

function ready(made, first, last) {
  const page = below(`/comparisons/${made}/compare.html`);
  const frame = document.getElementById("report");
  const report = frame?.src;
  const back = make("button", { type: "button" }, "Show the report");
  back.addEventListener("click", () => { if (frame) frame.src = report; told(); });
  if (frame) {
    frame.src = `${page}#theme=${theme()}`;
    frame.title = `Comparison of ${first.name} and ${last.name}`;
  }
  told(`"${first.name}" and "${last.name}" compared.`, make("a", { href: page, target: "_blank", rel: "noopener" }, "Open in its own tab"),
    make("a", { href: `${page}?download=1`, download: "" }, "Save as one file"), back);
  hear(`The comparison of ${first.name} and ${last.name} is ready`);
}
