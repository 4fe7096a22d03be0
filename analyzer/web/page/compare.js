// Two cases beside each other: which other one, the wait, and the comparison in the place of the report.
import { $, hear, make, moment, show, write } from "./dom.js";
import { ask, below } from "./link.js";
import { all, get, isOver } from "./cases.js";
import { theme } from "./case.js";

const MOST = 100; // cases to choose from, the newest
let asked = ""; // the case whose comparison is being made or shown
let busy = false;

const readable = (one) => isOver(one) && one.report;

/** Offer to compare a case that has a report; called whenever something of a case changes. */
export function offer(one) {
  show($("case-compare"), readable(one), $("case-back"));
  if (asked !== one.id) told();
}

/** The other cases by the words that stand in the list: two of one name are told apart by their time. */
function choices(id) {
  const found = new Map();
  for (const other of all().filter((one) => one.id !== id && readable(one)).slice(0, MOST)) {
    const { name } = other;
    let words = name;
    for (let number = 1; found.has(words); number += 1) words = number > 1 ? `${name} (${moment(other.created)}, ${number})` : `${name} (${moment(other.created)})`;
    found.set(words, other);
  }
  return found;
}

/** Open the window that asks for the other case; the newest of the list stands there. */
export function open(id) {
  const others = choices(id);
  $("case-others").replaceChildren(...[...others.keys()].map((words) => make("option", { value: words })));
  const { value } = $("case-other");
  if (!value || (!others.has(value) && !value.includes("/"))) $("case-other").value = [...others.keys()][0] ?? "";
  write($("compare-said"), "");
  $("compare").showModal();
  $("case-other").select();
}

export function bind(current) {
  $("compare-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!$("case-other").value.trim()) {
      write($("compare-said"), "Choose a case of the list, or type the path of one.");
      $("case-other").focus();
      return;
    }
    $("compare").close();
    compare(current());
  });
  $("compare-close").addEventListener("click", () => $("compare").close());
}

/** Say how far it is, with links to what came of it. */
function told(text = "", ...links) {
  $("compared").replaceChildren(...(text || links.length ? [text, ...links.flatMap((link) => [" ", link])] : []));
}

/** Compare the case on the screen with the chosen one; the one that came first stands first. */
async function compare(id) {
  if (busy) return;
  const place = $("case-other").value.trim();
  const chosen = choices(id).get(place);
  const pair = chosen ? [get(id), chosen].sort((a, b) => a.created - b.created || a.order - b.order) : [get(id), { place, name: place }];
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
  back.addEventListener("click", () => { if (frame) frame.src = report.replace(/theme=\w*$/, `theme=${theme()}`); told(); });
  if (frame) {
    frame.src = `${page}#theme=${theme()}`;
    frame.title = `Comparison of ${first.name} and ${last.name}`;
  }
  told(`"${first.name}" and "${last.name}" compared.`, make("a", { href: page, target: "_blank", rel: "noopener" }, "Open in its own tab"),
    make("a", { href: `${page}?download=1`, download: "" }, "Save as one file"), back);
  hear(`The comparison of ${first.name} and ${last.name} is ready`);
}
