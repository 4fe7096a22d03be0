// The rules: the catalog as a list, and a pane where a rule is judged over a case while it is typed.
import { SEVERITIES, count, duration, make, many, mark, prose } from "./dom.js";
import { ask, help, sent, told, Told } from "./link.js";
import { all, isOver, likely } from "./cases.js";
import { draftOf, drop, keep } from "./drafts.js";
import { arrows, nothing, roled, sentence } from "./library.js";
import { Backtest } from "./backtest.js";

const PAUSE = 400; // milliseconds without a key until the text is judged
const WORDS = { match: "Match", error: "Error", cannot_tell: "Cannot tell", no_match: "No match", not_applicable: "Not applicable" };
const ORDER = Object.keys(WORDS);
const EXAMPLES = "examples"; // stands for no case, as in analyzer/web/rules/bench.py

let room = null;

/** Draw the rules into `place`; `rest` is nothing, the id of a rule, new, or on/<case> for a case to try a rule on. */
export async function show(place, rest, { archive }) {
  room ??= new Room(place, archive);
  await room.open(rest);
}

class Room {
  constructor(place, archive) {
    this.title = make("h1", { tabindex: "-1", id: "rules-title" }, "Rules");
    this.list = new Catalog();
    this.pane = new Pane(archive);
    place.replaceChildren(this.title, this.list.box, this.pane.box);
    place.removeAttribute("aria-label");
    place.setAttribute("aria-labelledby", this.title.id);
  }

  async open(rest) {
    const on = rest.startsWith("on/") ? rest.slice(3) : "";
    const pane = Boolean(rest);
    const turned = this.pane.box.hidden === pane;
    this.list.box.hidden = pane;
    this.pane.box.hidden = !pane;
    this.title.textContent = pane ? "Try a rule" : "Rules";
    if (turned) this.title.focus({ preventScroll: true });
    if (pane) {
      this.pane.wait();
      await this.pane.open(on ? "" : rest, on, await this.list.known());
    } else await this.list.open();
  }
}

// --- the catalog --------------------------------------------------------------
class Catalog {
  constructor() {
    this.filter = make("input", { type: "search", id: "rules-q", autocomplete: "off", spellcheck: "false", placeholder: "press /" });
    this.note = make("p", { class: "note", role: "status" }, "Loading the rules …");
    this.table = make("div", { class: "tablebox" });
    this.faults = make("div", {});
    this.box = make("div", { class: "part" }, make("div", { class: "bar" }, make("label", { for: "rules-q" }, "Search ", this.filter),
      make("a", { class: "button", href: "#rules=new" }, "Write or paste a rule"), this.note), this.faults, this.table);
    this.filter.addEventListener("input", () => this.draw());
    this.table.addEventListener("keydown", arrows);
    this.rules = null;
  }

  async known() {
    if (!this.rules) await this.load();
    return this.rules ?? [];
  }

  async open() {
    await this.load();
    this.draw();
  }

  async load() {
    try {
      const { rules, broken, archive, note } = await ask("GET", "/rules");
      Object.assign(this, { rules, broken, archive, said: note, failed: null });
    } catch (error) {
      this.failed = error.parts ?? { what: String(error) };
    }
  }

  draw() {
    if (this.failed) {
      this.table.replaceChildren(nothing(sentence(this.failed.what), [this.failed.where, this.failed.why, this.failed.do].filter(Boolean).map(sentence).join(" ")));
      return;
    }
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = this.rules.filter((one) => words.every((word) => `${one.rule} ${one.title} ${one.status} ${one.kb.join(" ")} ${one.tables.join(" ")}`.toLowerCase().includes(word)));
    this.note.textContent = `${count(fits.length)} of ${many(this.rules.length, "rule")}${this.said ? ` · ${this.said}` : ""}`;
    this.faults.replaceChildren(...this.broken.map((text) => make("pre", { class: "complaint error" }, text)));
    const heads = ["Rule", "Title", "Status", "KB", ...(this.archive ? ["Found in the archive", "Cannot tell"] : [])];
    const rows = fits.map((one, at) => make("tr", {},
      make("td", { class: "is-rule", "data-name": "Rule" }, make("a", { href: `#rules=${one.rule}`, tabindex: at ? "-1" : "0" }, one.rule)),
      make("td", { "data-name": "Title" }, one.title, one.from === "shipped" ? null : make("p", { class: "note" }, one.from), ...one.muted.map((text) => make("p", { class: "note" }, `muted: ${text}`))),
      make("td", { "data-name": "Status" }, one.status), make("td", { "data-name": "KB" }, one.kb.join(", ")),
      ...(this.archive ? [make("td", { "data-name": "Found in the archive" }, ...hits(one)), make("td", { class: "is-number", "data-name": "Cannot tell" }, one.hits?.untold ? many(one.hits.untold, "case") : "")] : [])));
    if (!rows.length) { this.table.replaceChildren(nothing("No rule matches", "Empty the search.")); return; }
    this.table.replaceChildren(roled(make("table", { class: "answer" }, make("caption", { class: "unseen" }, "Rules. Arrow keys move between them."),
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, ...rows))));
  }
}

function hits(one) {
  if (!one.hits) return ["not judged there"];
  if (!one.hits.findings) return [`never, in ${many(one.hits.judged, "case")}`];
  return [make("a", { href: `#archive=find/${encodeURIComponent(new URLSearchParams({ q: `rule: ${one.rule}` }))}`, tabindex: "-1" },
    `${many(one.hits.findings, "finding")} in ${many(one.hits.cases, "case")}`)];
}

// --- the pane -----------------------------------------------------------------
class Pane {
  constructor(archive) {
    this.archive = archive;
    this.rule = make("select", { id: "pane-rule" });
    this.case = make("select", { id: "pane-case" });
    this.gutter = make("div", { class: "gutter", "aria-hidden": "true" });
    this.text = make("textarea", { id: "pane-text", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", "aria-describedby": "pane-said" });
    this.said = make("p", { id: "pane-said", class: "said-of", role: "status" }, "\u00a0");
    this.draftSaid = make("span", {});
    this.draft = make("p", { class: "note", hidden: true }, this.draftSaid, make("button", { type: "button", class: "small", onclick: () => this.begin() }, "Begin again"));
    this.stop = make("button", { type: "button", class: "small", hidden: true, onclick: () => this.abort() }, "Stop");
    this.complaints = make("div", { class: "complaints", role: "region", "aria-label": "Complaints about the rule" });
    this.verdict = make("div", { class: "verdict", role: "region", "aria-label": "Verdict", tabindex: "-1" });
    this.test = new Backtest(() => this.text.value, archive);
    this.box = make("div", { class: "part pane", hidden: true },
      make("div", { class: "bar" }, make("a", { class: "button", href: "#rules" }, "All rules"),
        make("label", { for: "pane-rule" }, "Begin with ", this.rule), make("label", { for: "pane-case" }, "Case ", this.case),
        make("a", { href: help("rule-guide#3-write-it"), target: "_blank", rel: "noopener" }, "How to write a rule")),
      make("div", { class: "bench" },
        make("section", { class: "editor", "aria-labelledby": "pane-text-label" }, make("h2", {}, make("label", { for: "pane-text", id: "pane-text-label" }, "Rule")),
          this.draft, make("div", { class: "edit" }, this.gutter, this.text), this.complaints),
        make("section", { class: "out", "aria-labelledby": "pane-out" }, make("h2", { id: "pane-out" }, "What it says"),
          make("div", { class: "line" }, this.said, this.stop), this.verdict)),
      this.test.box);
    this.text.addEventListener("input", () => { this.number(); this.soon(); this.save(); });
    addEventListener("beforeunload", (event) => { if (this.changed()) event.preventDefault(); });
    this.text.addEventListener("scroll", () => { this.gutter.scrollTop = this.text.scrollTop; });
    this.rule.addEventListener("change", () => { location.hash = `rules=${this.rule.value || "new"}`; });
    this.case.addEventListener("change", () => {
      this.alone = this.case.value === EXAMPLES;
      this.save();
      this.judge();
    });
    Object.assign(this, { timer: 0, running: null, again: false, loaded: "", opened: new Set(), first: true });
    this.empty();
  }

  async open(rule, on, rules) {
    this.fillRules(rules);
    this.fillCases(on);
    if (rule && rule !== this.loaded) await this.load(rule);
    this.text.readOnly = false;
    this.number();
    this.judge();
  }

  fillRules(rules) {
    const kept = this.rule.value;
    this.rule.replaceChildren(make("option", { value: "" }, "a new rule"), ...rules.map((one) => make("option", { value: one.rule }, one.rule)));
    this.rule.value = kept;
  }

  /** The cases dropped here and those of the archive, or none; a case that a link named is chosen. */
  fillCases(on) {
    const kept = on || (this.case.value !== EXAMPLES || this.alone ? this.case.value : "");
    const known = all().filter((one) => isOver(one) && one.report);
    const option = (one) => make("option", { value: one.id }, one.name || one.id);
    const dropped = known.filter((one) => !one.archived);
    const stored = known.filter((one) => one.archived);
    const groups = [];
    if (dropped.length) groups.push(make("optgroup", { label: "Dropped here" }, ...dropped.map(option)));
    if (stored.length) groups.push(make("optgroup", { label: "Newest of the archive" }, ...stored.map(option)));
    if (!this.archive) groups.push(make("optgroup", { label: "Stored cases" }, make("option", { disabled: true }, "need backline serve --archive DIR")));
    this.case.replaceChildren(make("option", { value: EXAMPLES }, "none: its own examples"), ...groups);
    if (kept && kept !== EXAMPLES && !known.some((one) => one.id === kept)) this.stranger(kept);
    this.case.value = kept || likely()?.id || EXAMPLES;
  }

  /** A case that is not among the newest: its name is asked for. */
  stranger(id) {
    const made = make("option", { value: id }, `case ${id.slice(0, 12)}`);
    this.case.append(made);
    ask("GET", `/cases/${id}`).then((one) => { made.textContent = one.name || made.textContent; }, () => {});
  }

  /** Until the rule is here nothing can be typed: it would be lost, and closing the window would not ask for it. */
  wait() {
    this.text.readOnly = true;
    if (!this.loaded) this.say("Loading the rule …");
  }

  async load(rule) {
    this.wait();
    try {
      const { text } = await ask("GET", `/rules/text/${encodeURIComponent(rule)}`);
      const draft = draftOf(rule, this.case.value);
      this.shipped = text;
      this.text.value = draft ?? text;
      this.text.scrollTop = 0;
      this.rule.value = rule === "new" ? "" : rule;
      this.loaded = rule;
      this.tellDraft();
    } catch (error) {
      this.say(sentence(error.parts?.what ?? String(error)));
    } finally {
      this.text.readOnly = false;
    }
  }

  /** Whether the text is another than the rule it began with. */
  changed() { return this.loaded !== "" && this.text.value !== this.shipped; }

  /** What is typed is kept for its rule and case, so that another rule or case can be looked at in between. */
  save() {
    if (this.changed()) keep(this.loaded, this.case.value, this.text.value);
    else drop(this.loaded, this.case.value);
    this.tellDraft();
  }

  tellDraft() {
    const changed = this.changed();
    this.draft.hidden = !changed;
    if (changed) this.draftSaid.textContent = "This is your draft; it is kept in this window for this rule and case. ";
  }

  begin() {
    drop(this.loaded, this.case.value);
    this.text.value = this.shipped;
    this.tellDraft();
    this.number();
    this.judge();
    this.text.focus();
  }

  number() {
    const lines = this.text.value.split("\n").length;
    if (this.gutter.childElementCount === lines) return;
    this.gutter.replaceChildren(...Array.from({ length: lines }, (_, at) => make("div", {}, String(at + 1))));
    this.gutter.scrollTop = this.text.scrollTop;
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.judge(), PAUSE);
  }

  say(text) { if (this.said.textContent !== text) this.said.textContent = text || "\u00a0"; }

  empty() {
    this.verdict.replaceChildren(nothing("Nothing judged yet", "Choose a rule, or type one: every change is judged at once, over a case or over its own examples. What you type stays on this machine."));
  }

  abort() {
    this.again = false;
    this.running?.abort();
  }

  /** Judge the text as it is now; while one is judged, only the newest waits. */
  async judge() {
    clearTimeout(this.timer);
    const asked = { text: this.text.value, case: this.case.value };
    if (!asked.text.trim()) {
      this.say("Type a rule.");
      if (!this.running) this.empty();
      return;
    }
    if (this.running) { this.again = true; return; }
    const key = JSON.stringify(asked);
    if (key === this.judged) { this.verdict.classList.remove("old"); return; } // changed, and changed back
    this.judged = ""; // a run that fails leaves nothing that could be taken for its verdict
    const run = (this.running = new AbortController());
    this.verdict.classList.add("old"); // what stands there is of the text before
    this.verdict.setAttribute("aria-busy", "true");
    const began = Date.now();
    const fresh = this.caseOf !== asked.case && asked.case !== EXAMPLES;
    const tick = setInterval(() => {
      this.stop.hidden = false;
      this.say(`${fresh ? "Reading the case, once" : "Judging"} … ${duration((Date.now() - began) / 1000)}`);
    }, 1000);
    if (fresh) this.say("Reading the case, once …");
    try {
      const line = await send("/rules/judge", asked, run.signal);
      this.caseOf = asked.case;
      this.judged = key;
      if (line.type === "shown") this.draw(line.shown, asked.case);
      else this.fail(line.error);
    } catch (error) {
      this.caseOf = "";
      if (error.name === "AbortError") this.say("Stopped. The next change is judged again.");
      else this.fail(error.parts ?? { what: String(error) });
    } finally {
      clearInterval(tick);
      this.stop.hidden = true;
      this.running = null;
      this.verdict.classList.toggle("old", this.again);
      this.verdict.removeAttribute("aria-busy");
      if (this.again) { this.again = false; this.judge(); }
    }
  }

  fail({ what, where, why, do: todo }) {
    const words = [where, why, todo].filter(Boolean).map(sentence).join(" ");
    this.say(sentence(what));
    this.complaints.replaceChildren();
    this.verdict.replaceChildren(nothing(sentence(what), words));
  }

  draw(shown, of) {
    if (this.drawnOf !== of) {
      this.drawnOf = of;
      this.opened.clear(); // of another case the first subject is open again
      this.first = true;
    }
    const wrong = shown.errors.length;
    this.text.toggleAttribute("aria-invalid", shown.state === "broken");
    if (shown.state === "broken") this.text.setAttribute("aria-invalid", "true");
    this.complaints.replaceChildren(...[...shown.errors.map((one) => [one, "error"]), ...shown.warnings.map((one) => [one, "warning"])].map(([one, level]) => this.complaint(one, level)));
    if (shown.state === "broken") {
      this.say(`The rule cannot be used: ${many(wrong, "mistake")}.${shown.stale ? " Below is what it said before." : ""}`);
    } else {
      const times = `judged in ${count(shown.judge_ms)} ms${shown.read_s ? `, the case was read in ${shown.read_s.toFixed(1)} s` : ""}`;
      this.say(shown.counted ? `${sentence(shown.counted)} ${sentence(times)}` : proved(shown));
    }
    this.verdict.classList.toggle("stale", shown.stale);
    this.verdict.replaceChildren(...this.told(shown));
  }

  complaint(one, level) {
    const jump = one.line ? make("button", { type: "button", class: "small", onclick: () => this.jump(one.line, one.column) }, `Line ${one.line}`) : null;
    const code = /\bR\d{3}\b/.exec(one.text)?.[0];
    const why = code && make("a", { class: "button small", href: help(`lint/${code}`), target: "_blank", rel: "noopener" }, `What ${code} means`);
    return make("div", { class: `complaint ${level}` }, make("pre", { tabindex: "0" }, one.text), make("p", { class: "buttons" }, jump, why));
  }

  jump(line, column) {
    const lines = this.text.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + Math.max(0, column - 1);
    this.text.focus();
    this.text.setSelectionRange(at, at);
    const height = this.text.scrollHeight / lines.length;
    this.text.scrollTop = Math.max(0, (line - 4) * height);
  }

  told(shown) {
    const parts = [];
    if (shown.failed) parts.push(make("p", { class: "odd" }, `The rule failed: ${shown.failed}`));
    const counts = ORDER.filter((word) => shown.counts[word]);
    if (counts.length) parts.push(make("p", { class: "tally verdicts" }, ...counts.map((word) => make("span", { class: `v-${word}` }, make("b", {}, count(shown.counts[word])), ` ${WORDS[word].toLowerCase()}`))));
    parts.push(...shown.silent.map((text) => make("p", {}, text)), ...shown.notes.map((text) => make("p", { class: "note" }, text)));
    if (shown.reread) parts.push(make("p", { class: "note" }, sentence(shown.reread)));
    if (shown.subjects.length) parts.push(make("ul", { class: "subjects" }, ...shown.subjects.map((one, at) => this.subject(one, at))));
    if (shown.more) parts.push(make("p", { class: "note" }, `and ${many(shown.more, "more subject")}`));
    parts.push(...examples(shown.examples));
    return parts;
  }

  subject(one, at) {
    const key = `${one.node}\n${one.subject}`;
    const near = one.near ? make("span", { class: "near" }, one.near === 1 ? "near miss: one condition away" : `${one.near} things away`) : null;
    const grade = [one.severity, one.confidence].filter(Boolean).join(", ");
    const summary = make("summary", {}, make("b", { class: `v-${one.verdict} ${SEVERITIES.includes(one.severity) ? one.severity : ""}` }, one.severity ? mark(one.severity) : null, WORDS[one.verdict] ?? one.verdict), " ",
      make("span", { class: "what" }, one.subject), one.node ? make("span", { class: "note" }, ` ${one.node}`) : null, grade ? make("span", { class: "note" }, ` ${grade}`) : null, near,
      ...one.reasons.slice(0, 1).map((text) => make("span", { class: "reason" }, ...prose(text))));
    const box = make("details", { open: this.opened.has(key) || (at === 0 && !this.opened.size && this.first) }, summary,
      ...one.reasons.slice(1).map((text) => make("p", {}, ...prose(text))),
      one.evidence.length ? make("h3", {}, "Evidence") : null,
      ...one.evidence.map((item) => make("div", { class: "evidence" }, make("p", { class: "note" }, `${item.at}  ${item.label}`), item.text ? make("pre", {}, item.text) : null)),
      one.more ? make("p", { class: "note" }, `and ${many(one.more, "more line")}`) : null,
      one.tree.length ? make("h3", {}, "Why") : null, one.tree.length ? make("pre", { class: "tree", tabindex: "0", role: "group", "aria-label": "The conditions and their values" }, one.tree.join("\n")) : null);
    box.addEventListener("toggle", () => { if (!box.isConnected) return; this.first = false; if (box.open) this.opened.add(key); else this.opened.delete(key); });
    return make("li", { "data-verdict": one.verdict }, box);
  }
}

/** What is said of a rule that was judged without a case. */
function proved({ examples: list, examples_ms: ms }) {
  if (!list.length) return "The rule can be used; it has no examples. Choose a case to see what it says.";
  return `${count(list.filter((one) => one.ok).length)} of ${many(list.length, "example")} as expected, in ${count(ms)} ms.`;
}

function examples(list) {
  if (!list.length) return [];
  const bad = list.filter((one) => !one.ok);
  return [make("h3", {}, "Its own examples"), make("p", { class: bad.length ? "odd" : "note" }, `${count(list.length - bad.length)} of ${count(list.length)} as expected`),
    ...bad.map((one) => make("div", { class: "example" }, make("b", {}, one.name), make("ul", {}, ...(one.wrong.length ? one.wrong : ["it passes now: remove the mark `gap`"]).map((text) => make("li", {}, text)))))];
}

async function send(path, data, signal) {
  const { answer, status } = await sent(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data), signal });
  const body = await answer.json().catch(() => ({}));
  if (status >= 300) throw new Told(status, told(body, status));
  return body;
}
