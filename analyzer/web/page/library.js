// The archive: search over all stored cases, the heat map, and one stored case (archived.js).
import { SEVERITIES, count, hear, make, mark } from "./dom.js";
import { below, help, sent } from "./link.js";
import { Shelved } from "./archived.js";
import { theme } from "./case.js";

const MORE = 2000; // rows on request
const EXAMPLES = [
  ["nodes: version < \"6.7\"", "machines of an old version"],
  ["esxi.pnic_info: driver == \"ixgben\"; esxi.pnic_stats: rx_missed_errors > 0; same: pnic", "a driver that loses frames, of one NIC"],
  ["kb-2039495", "findings of a rule"],
  ["KB 2039495", "findings of the rules that name an article"],
  ["lost connectivity", "cases and machines of a name; findings and kept log lines that hold a text"],
  ["severity: major", "cases with a finding this severe or worse"],
  ["driver: ixgben", "machines with a driver; version: 6.7.0 likewise"],
];
const FACETS = { severity: "Severity", host: "Host", rule: "Rule", KB: "KB", driver: "Driver", version: "Version" };
const FILTERS = ["since", "until", "severity", "state", "by", "order"];
const BY = [["", "each finding"], ["month", "by month"], ["host", "by machine"], ["rule", "by rule"]];
const ORDER = [["", "newest first"], ["worst", "worst first"], ["name", "by name"], ["unknowns", "most open questions first"], ["stored", "last stored first"]];

let kit = null;
let room = null;

/** Draw the archive into `place`; `rest` says what of it: nothing, find/…, map, case/<id>[/<anchor>]. */
export async function show(place, rest, given) {
  kit = given;
  room ??= new Room(place);
  const [what, ...more] = rest.split("/");
  room.turn(["map", "case"].includes(what) ? what : "find", given.before);
  if (what === "map") await room.map.open();
  else if (what === "case") await room.shelved.open(more[0] ?? "", decodeURIComponent(more.slice(1).join("/")), room.back);
  else await room.find.open(new URLSearchParams(decodeURIComponent(more.join("/"))));
}

class Room {
  constructor(place) {
    this.tabs = make("nav", { class: "tabs", "aria-label": "Parts of the archive" },
      make("a", { href: "#archive", "data-part": "find" }, "Search"), make("a", { href: "#archive=map", "data-part": "map" }, "Heat map"));
    this.title = make("h1", { tabindex: "-1" }, "Archive");
    this.head = make("div", { class: "roomhead" }, this.title, this.tabs);
    this.find = new Find();
    this.map = new HeatMap();
    this.shelved = new Shelved();
    this.parts = { find: this.find.box, map: this.map.box, case: this.shelved.box };
    this.back = "archive";
    this.part = "";
    place.replaceChildren(this.head, ...Object.values(this.parts));
    place.removeAttribute("aria-label");
    this.title.id = "archive-title";
    place.setAttribute("aria-labelledby", this.title.id);
  }

  /** `before` is the address one comes from: Back of a case leads to the list or the map there. */
  turn(part, before) {
    this.head.hidden = part === "case";
    for (const [name, box] of Object.entries(this.parts)) box.hidden = name !== part;
    for (const link of this.tabs.children) {
      if (link.dataset.part === part) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (part === "case" && /^(drop|cases|rules(?!=on)|archive(?!=case))/.test(before)) this.back = before;
    if (this.part !== part && part !== "case") this.title.focus({ preventScroll: true });
    this.part = part;
  }
}

// --- search -----------------------------------------------------------------
class Find {
  constructor() {
    this.field = make("input", { type: "search", id: "archive-q", autocomplete: "off", spellcheck: "false", autocapitalize: "off",
      placeholder: "nodes: version < \"6.7\"  ·  kb-2039495  ·  KB 2039495  ·  lost connectivity", "aria-describedby": "archive-wrong" });
    this.since = make("input", { type: "text", id: "archive-since", placeholder: "2026-03", size: "10", autocomplete: "off" });
    this.until = make("input", { type: "text", id: "archive-until", placeholder: "2026-03-31", size: "10", autocomplete: "off" });
    this.severity = choice("archive-severity", [["", "any"], ["critical", "critical"], ["major", "major or worse"], ["warning", "warning or worse"], ["info", "any finding"]]);
    this.state = choice("archive-state", [["", "any"], ["ok", "ok"], ["partial", "partial"], ["refused", "refused"], ["failed", "failed"]]);
    this.by = choice("archive-by", BY);
    this.order = choice("archive-order", ORDER);
    this.byLabel = make("label", { for: "archive-by" }, "Show ", this.by);
    this.orderLabel = make("label", { for: "archive-order" }, "Order ", this.order);
    this.wrong = make("div", { id: "archive-wrong", class: "wrong", role: "alert" });
    this.said = make("p", { class: "said-of", role: "status" }, "\u00a0");
    this.more = make("p", { class: "buttons" });
    this.notes = make("div", {});
    this.result = make("div", { class: "tablebox", tabindex: "-1" });
    this.form = make("form", { class: "find", role: "search", novalidate: true },
      make("label", { for: "archive-q", class: "unseen" }, "Search the archive"),
      make("div", { class: "line" }, this.field, make("button", { type: "submit", class: "main" }, "Search")),
      this.wrong,
      make("div", { class: "filters" },
        make("label", { for: "archive-since" }, "Since ", this.since), make("label", { for: "archive-until" }, "Until ", this.until),
        make("label", { for: "archive-severity" }, "Cases with ", this.severity), make("label", { for: "archive-state" }, "State ", this.state),
        this.byLabel, this.orderLabel));
    this.box = make("div", { class: "part" }, this.form, this.facets(), this.help(), this.said, this.notes, this.more, this.result);
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.go(); });
    for (const select of [this.severity, this.state, this.by, this.order]) select.addEventListener("change", () => this.go());
    this.result.addEventListener("keydown", arrows);
    this.asked = null; // what the answer on the screen answers; null when it shall be asked again
    this.turn = 0;
  }

  /** What can be clicked instead of typed: each value asks its question. */
  facets() {
    const list = make("div", { class: "facets" });
    const box = make("details", { class: "how" }, make("summary", {}, "Narrow by host, rule, KB, severity, driver or version"), list);
    box.addEventListener("toggle", async () => {
      if (!box.open) return;
      if (!list.childElementCount) list.replaceChildren(make("p", { class: "note" }, "Counting …"));
      try {
        const { facets: known } = await kit.ask("GET", "/archive/facets");
        list.replaceChildren(...known.map(({ name, values }) => make("section", {}, make("h2", {}, FACETS[name]),
          make("ul", {}, ...values.map(({ value, cases }) => make("li", {}, this.facet(name, value, box), make("span", { class: "note" }, ` ${count(cases)}`)))))));
        if (!known.length) list.replaceChildren(make("p", { class: "note" }, "No case is stored here yet."));
      } catch (error) {
        list.replaceChildren(make("p", { class: "note" }, sentence(error.parts?.what ?? String(error))));
      }
    });
    return box;
  }

  facet(name, value, box) {
    const ask = () => {
      const short = (word) => ["driver", "version"].includes(word.trim().toLowerCase());
      const terms = this.field.value.split(";").filter((term) => term.trim());
      if (name === "rule") this.field.value = value;
      else if (name === "KB") this.field.value = `KB ${value}`;
      // A machine can be asked for its driver and its version at once: the other one stays.
      else if (short(name) && terms.every((term) => short(term.split(":")[0]))) this.field.value = [...terms.filter((term) => term.split(":")[0].trim().toLowerCase() !== name).map((term) => term.trim()), `${name}: ${value}`].join("; ");
      else this.field.value = `${name}: ${value}`;
      this.go();
      box.open = false; // the answer is below
      this.form.scrollIntoView({ block: "nearest" });
    };
    return make("button", { type: "button", class: "plain", onclick: ask }, value);
  }

  help() {
    const box = make("details", { class: "how" }, make("summary", {}, "Search help"));
    const list = make("ul", {});
    for (const [text, means] of EXAMPLES) {
      list.append(make("li", {}, make("button", { type: "button", class: "small code", onclick: () => { this.field.value = text; this.go(); } }, text), ` ${means}`));
    }
    const tables = make("div", {});
    box.append(make("p", {}, 'Terms are "TABLE: CONDITION" in the language of rules, separated by semicolons; a machine must fulfil all of them. Without any word the cases are listed. Text in quotes is searched for as it is. ',
      make("a", { href: help("archive#search"), target: "_blank", rel: "noopener" }, "More on searching")),
      list, make("h2", {}, "Tables and columns"), tables);
    box.addEventListener("toggle", async () => {
      if (!box.open || tables.childElementCount) return;
      const { tables: known } = await kit.ask("GET", "/archive/tables").catch(() => ({ tables: [] }));
      tables.replaceChildren(...known.map((table) => make("details", {}, make("summary", {}, make("code", {}, table.name), ` ${table.meaning}`),
        make("ul", {}, ...table.columns.map((column) => make("li", {}, make("code", {}, column.name), ` ${column.type}${column.unit ? `, ${column.unit}` : ""}: ${column.meaning}`))))));
    });
    return box;
  }

  /** Ask what stands in the form: the address holds it, so that Back leads to it again. */
  go(more = {}) {
    const asked = new URLSearchParams({ q: this.field.value.trim(), ...more });
    for (const name of FILTERS) if (this[name].value.trim()) asked.set(name, this[name].value.trim());
    if (!asked.get("q")) asked.delete("q");
    this.asked = null;
    kit.go(asked.size ? `archive=find/${encodeURIComponent(asked)}` : "archive");
  }

  async open(asked) {
    if (this.asked === String(asked) && this.result.childElementCount) return;
    this.asked = String(asked);
    if (document.activeElement !== this.field || asked.get("q")) this.field.value = asked.get("q") ?? "";
    for (const name of FILTERS) this[name].value = asked.get(name) ?? "";
    const turn = (this.turn += 1);
    this.wrong.replaceChildren();
    this.field.removeAttribute("aria-invalid");
    this.box.setAttribute("aria-busy", "true");
    kit.write(this.said, "Searching the archive …");
    try {
      const answer = await kit.ask("GET", `/archive/search?${asked}`);
      if (turn === this.turn) this.draw(answer, asked);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    } finally {
      if (turn === this.turn) this.box.removeAttribute("aria-busy");
    }
  }

  draw(answer, asked) {
    this.byLabel.hidden = answer.kind !== "findings";
    this.orderLabel.hidden = answer.kind !== "cases";
    this.notes.replaceChildren(...answer.notes.map((text) => make("p", { class: "note" }, text)), ...damage(answer.damaged));
    this.more.replaceChildren();
    if (answer.empty) {
      this.asked = null;
      kit.write(this.said, "");
      this.result.replaceChildren(nothing("No case is stored here yet", 'Whatever you drop is stored in the archive once its report is written. The command "backline batch" stores many at once.',
        make("a", { class: "button", href: "#drop" }, "Drop a case")));
      return;
    }
    const shown = answer.rows.length;
    kit.write(this.said, `${sentence(answer.said)}${answer.more ? ` The first ${count(shown)} are shown.` : ""}`);
    const again = (label, more) => this.more.append(make("button", { type: "button", onclick: () => this.go(more) }, label));
    if (asked.get("unknown")) again("Back to what was found", {});
    else if (answer.untold) again(`List the ${count(answer.untold)} that cannot be judged`, { unknown: "1" });
    if (answer.more && !asked.get("most")) again("Show more", { most: String(MORE), ...(asked.get("unknown") ? { unknown: "1" } : {}) });
    if (!shown) {
      this.result.replaceChildren(nothing("Nothing found",
        answer.untold ? "There may be more: some machines cannot be judged." : answer.partly ? "There may be more: not every case could be searched." : "Ask with fewer words, or remove a filter."));
      hear(`Nothing found. ${answer.said}`);
      return;
    }
    this.result.replaceChildren(table(answer));
  }

  fail(error) {
    const parts = error.parts ?? { what: String(error) };
    const { mistake } = parts;
    this.asked = null;
    kit.write(this.said, "");
    this.more.replaceChildren();
    this.notes.replaceChildren();
    if (error.status >= 500 || error.status === 0) {
      this.result.replaceChildren(nothing(sentence(parts.what), [parts.where, parts.why, parts.do].filter(Boolean).map(sentence).join(" "),
        make("button", { type: "button", onclick: () => this.go() }, "Try again")));
      return;
    }
    this.result.replaceChildren();
    this.field.setAttribute("aria-invalid", "true");
    this.wrong.replaceChildren(make("p", {}, sentence(parts.what), " ", [parts.why, parts.do].filter(Boolean).map(sentence).join(" ")));
    if (mistake) {
      this.wrong.append(make("pre", { "aria-hidden": "true" }, `${mistake.line}\n${mistake.caret}`));
      this.field.focus();
      this.field.setSelectionRange(mistake.start, mistake.end);
    }
  }
}

function choice(id, options) {
  return make("select", { id }, ...options.map(([value, label]) => make("option", { value }, label)));
}

export const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?:]$/.test(text) ? "" : "."}` : "");

/** A state without rows: what it means and what can be done. */
export function nothing(title, why, ...more) {
  return make("div", { class: "nothing" }, make("h2", {}, title), make("p", {}, why), ...more);
}

export function damage(lines) {
  if (!lines?.length) return [];
  return [make("div", { class: "odd" }, make("p", {}, `Not complete: ${count(lines.length)} part${lines.length > 1 ? "s" : ""} of the archive cannot be read. `, make("code", {}, "backline archive verify"), " says what to do."),
    make("details", {}, make("summary", {}, "Which"), make("ul", {}, ...lines.map((line) => make("li", {}, line)))))];
}

/** An answer as a table; of all its links one is reached by Tab, the others by the arrow keys. */
export function table(answer) {
  const head = make("tr", {}, ...answer.columns.map((column) => make("th", { scope: "col", class: `is-${column.kind}` }, column.name)));
  const rows = answer.rows.map((row) => make("tr", {}, ...row.cells.map((value, at) => cell(value, answer.columns[at], row, answer))));
  const made = make("table", { class: "answer" }, make("caption", { class: "unseen" }, "Answer. Arrow keys move between its links."), make("thead", {}, head), make("tbody", {}, ...rows));
  [...made.querySelectorAll("a")].forEach((link, at) => { link.tabIndex = at ? -1 : 0; });
  return roled(made);
}

/** On a narrow window the rows are shown as blocks, and a browser forgets then that they are those of a table. */
export function roled(table) {
  const roles = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", th: "columnheader", td: "cell" };
  for (const [tag, role] of Object.entries(roles)) for (const one of [table, ...table.querySelectorAll(tag)]) if (one.localName === tag) one.setAttribute("role", role);
  return table;
}

function cell(value, { kind, name }, row, answer) {
  const made = make("td", { class: `is-${kind}`, "data-name": name });
  if (value == null || value === "") return made;
  if (kind === "case") made.append(make("a", { href: `#archive=case/${row.case}${anchorOf(row, answer)}` }, value));
  else if (kind === "rule") made.append(make("a", { href: `#rules=${value}` }, value));
  else if (kind === "number") made.append(count(value));
  else if (kind === "severity") {
    made.classList.add(SEVERITIES.includes(value) ? value : "info");
    made.append(mark(value), value);
  } else if (Array.isArray(value)) made.append(make("ul", {}, ...value.map((line) => make("li", {}, line))));
  else made.append(String(value));
  return made;
}

/** A finding leads to its place in the report: the case page looks it up by rule and subject. */
function anchorOf(row, answer) {
  const at = (name) => answer.columns.findIndex((column) => column.name === name);
  if (at("Rule") < 0 || at("Subject") < 0) return "";
  return `/${encodeURIComponent(JSON.stringify([row.cells[at("Rule")], row.cells[at("Machine")], row.cells[at("Subject")]]))}`;
}

export function arrows(event) {
  const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], Home: [-1e6, 0], End: [1e6, 0] }[event.key];
  const link = event.target.closest?.("td a");
  if (!step || !link || event.ctrlKey || event.altKey || event.metaKey) return;
  const rows = [...link.closest("tbody").rows].map((row) => [...row.querySelectorAll("a")]).filter((links) => links.length);
  const y = rows.findIndex((links) => links.includes(link));
  const x = rows[y].indexOf(link);
  const line = rows[Math.max(0, Math.min(rows.length - 1, y + step[0]))];
  const next = line[Math.max(0, Math.min(line.length - 1, x + step[1]))];
  event.preventDefault();
  link.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

// --- heat map -----------------------------------------------------------------
const MAP = "/archive/heatmap";
const LINK = /^cases\/([0-9a-f]{12,32})\/report\.html(?:#f=(.*))?$/s;

class HeatMap {
  constructor() {
    this.box = make("div", { class: "part mapbox" });
  }

  /** The map is a page of its own in a sandbox; a click on a case comes over a channel that only it was given. */
  async open() {
    if (this.frame) return;
    const note = make("p", { class: "said-of", role: "status" }, "Making the map: every rule in every stored case …");
    this.box.replaceChildren(note);
    try {
      const { cases } = await kit.ask("GET", "/archive");
      if (!cases) {
        this.box.replaceChildren(nothing("There is no map yet", "It shows what every rule said in every stored case; nothing is stored yet.", make("a", { class: "button", href: "#drop" }, "Drop a case")));
        return;
      }
      const made = await sent(MAP, { method: "HEAD" }).catch(() => null);
      if (made?.status !== 200) await kit.ask("GET", MAP);
    } catch (error) {
      const { what, where, why, do: todo } = error.parts ?? { what: String(error) };
      this.box.replaceChildren(nothing(sentence(what), [where, why, todo].filter(Boolean).map(sentence).join(" "), make("button", { type: "button", onclick: () => this.open() }, "Try again")));
      return;
    }
    this.frame = make("iframe", { id: "heatmap", title: "Heat map: what every rule said in every stored case", src: `${below(MAP)}#framed=1&theme=${theme()}`, sandbox: "allow-scripts allow-downloads allow-popups allow-modals" });
    this.frame.addEventListener("load", () => this.hand(), { once: true }); // colours that change load nothing anew
    const anew = make("button", { type: "button", class: "small", onclick: () => { this.frame = null; this.open(); } }, "Draw it again");
    this.box.replaceChildren(make("div", { class: "line mapline" }, make("p", { class: "note" }, "Click a cell to see what was found there and to open the report of its case. ", make("a", { href: help("fleet#the-page"), target: "_blank", rel: "noopener" }, "How to read the map")), anew), this.frame);
  }

  hand() {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (message) => {
      const link = LINK.exec(String(message.data));
      if (link) kit.go(`archive=case/${link[1]}${link[2] ? `/${encodeURIComponent(link[2])}` : ""}`);
    };
    this.frame.contentWindow.postMessage("backline-opens-cases", "*", [port2]); // a sandbox has no origin to name
  }
}
