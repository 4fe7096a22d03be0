// A back-test: the rule of the pane over all stored cases, with progress, cancel and its result as a page.
import { SEVERITIES, count, hear, make, many, mark } from "./dom.js";
import { Told, help, sent, told } from "./link.js";
import { arrows, nothing, roled, sentence } from "./library.js";

const SHOWN = 50; // rows of a list
const percent = (share) => `${Math.round(share * 100)} %`;

export class Backtest {
  /** `text` gives the rule as it stands in the pane; without an archive there is nothing to test it on. */
  constructor(text, archive) {
    this.text = text;
    this.cases = make("input", { type: "text", id: "test-cases", placeholder: "acme-*", size: "12", autocomplete: "off" });
    this.since = make("input", { type: "text", id: "test-since", placeholder: "2026-03", size: "10", autocomplete: "off" });
    this.until = make("input", { type: "text", id: "test-until", placeholder: "2026-03-31", size: "10", autocomplete: "off" });
    this.go = make("button", { type: "submit", class: "main" }, "Run the back-test");
    this.cancel = make("button", { type: "button", disabled: true, onclick: () => this.running?.abort() }, "Cancel");
    this.bar = make("progress", { max: "1", value: "0", "aria-hidden": "true" });
    this.meter = make("div", { role: "progressbar", "aria-label": "Back-test", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0", class: "meter" }, this.bar);
    this.said = make("p", { class: "said-of", role: "status" }, "\u00a0");
    this.result = make("div", { class: "test-result", tabindex: "-1" });
    this.form = make("form", { class: "filters", novalidate: true }, make("label", { for: "test-cases" }, "Cases named ", this.cases),
      make("label", { for: "test-since" }, "Since ", this.since), make("label", { for: "test-until" }, "Until ", this.until), this.go, this.cancel);
    this.box = make("section", { class: "backtest", "aria-labelledby": "test-title" }, make("h2", { id: "test-title" }, "Back-test over the archive"),
      make("p", { class: "note" }, "What would this rule have said about every stored case, and how does that differ from the installed rule with the same id? ",
        make("a", { href: help("backtest#what-it-says-worst-first"), target: "_blank", rel: "noopener" }, "How to read a back-test")),
      ...(archive ? [this.form, this.meter, this.said, this.result] : [make("p", {}, "This server has no archive. Start ", make("code", {}, "backline serve --archive DIR"), ": cases are stored there, and back-tests run over them.")]));
    this.meter.hidden = true;
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.run(); });
    this.result.addEventListener("keydown", arrows);
  }

  async run() {
    if (this.running) return;
    const run = (this.running = new AbortController());
    this.busy(true);
    this.progress(0, 0);
    this.result.replaceChildren();
    try {
      const asked = { text: this.text(), cases: this.cases.value.trim(), since: this.since.value.trim(), until: this.until.value.trim() };
      const { answer, status } = await sent("/rules/backtest", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked), signal: run.signal });
      if (status >= 300) throw new Told(status, told(await answer.json().catch(() => ({})), status));
      for await (const line of lines(answer.body)) this.take(line);
    } catch (error) {
      if (error.name === "AbortError") this.end("Cancelled; nothing was kept.");
      else this.fail(error.parts ?? { what: "The connection was lost", why: String(error.message ?? error), do: "Is the server still there?" });
    } finally {
      this.running = null;
      this.busy(false);
    }
  }

  busy(on) {
    const held = document.activeElement === this.go || document.activeElement === this.cancel;
    this.go.disabled = on;
    this.cancel.disabled = !on;
    this.meter.hidden = !on;
    if (held) (on ? this.cancel : this.go).focus({ preventScroll: true });
  }

  progress(done, total) {
    if (total) this.bar.value = done / total;
    else this.bar.removeAttribute("value");
    this.meter.setAttribute("aria-valuenow", String(total ? Math.round((100 * done) / total) : 0));
    this.said.textContent = total ? `Judged ${count(done)} of ${many(total, "case")}` : "Starting: the rule and the archive are loaded …";
  }

  take(line) {
    if (line.type === "progress") this.progress(line.done, line.total);
    else if (line.type === "report") this.draw(line);
    else if (line.type === "broken") {
      this.end("The rule cannot be used.");
      this.result.replaceChildren(...line.errors.map((one) => make("div", { class: "complaint error" }, make("pre", {}, one.text))));
    } else if (line.type === "error") this.fail(line.error);
  }

  end(text) {
    this.said.textContent = text;
    hear(text);
  }

  fail({ what, where, why, do: todo }) {
    this.end(sentence(what));
    this.result.replaceChildren(nothing(sentence(what), [where, why, todo].filter(Boolean).map(sentence).join(" ")));
  }

  draw({ report, lengths, text }) {
    const own = report.own;
    this.end(`Done in ${report.seconds.toFixed(1)} seconds: ${many(lengths.hits, "finding")} in ${many(own.cases.match ?? 0, "case")} of ${count(report.judged)}.`);
    const parts = [make("h3", { class: "big", tabindex: "-1" }, `${report.rule}: ${report.title}`), this.numbers(report, lengths), make("p", { class: "note" }, compared(report))];
    const say = (title, level, rows, head, all) => { if (rows.length) parts.push(list(title, level, rows, head, all)); };
    say("Lost: confirmed by an engineer, not found by this rule", "bad", report.lost_confirmed.map((one) => [one.thing, "", one.now, one.note]), ["Case", "Machine, subject", "", "Now", "Note"], lengths.lost_confirmed);
    say("Gained: rejected by an engineer, not found by the released rule", "bad", report.gained_rejected.map((one) => [one.thing, "", one.label, one.note]), ["Case", "Machine, subject", "", "Label", "Note"], lengths.gained_rejected);
    say("Cannot be read", "bad", report.damaged.map(([id, name, why]) => [{ id, case: name, node: "", subject: "" }, "", why, ""]), ["Case", "Machine, subject", "", "Why", ""], lengths.damaged);
    say("Failed", "bad", report.errors.map(([thing, why]) => [thing, "", why, ""]), ["Case", "Machine, subject", "", "Why", ""], lengths.errors);
    const found = (hits) => hits.map((hit) => [hit.thing, hit.severity, hit.say, hit.was]);
    const head = ["Case", "Machine, subject", "Severity", "What it says", "Before"];
    if (report.compared) {
      say("Gained", "", found(report.gained), head, lengths.gained);
      say("Lost", "", report.lost.map((hit) => [hit.thing, hit.severity, hit.was, ""]), ["Case", "Machine, subject", "Was", "Now", ""], lengths.lost);
      say("Changed", "", found(report.changed), head, lengths.changed);
    }
    say("Findings", "", found(report.hits), head, lengths.hits);
    if (report.cannot_tell.length || report.unsearched.length) parts.push(doubts(report));
    say("Near misses", "", report.near.map((one) => [one.thing, "", one.text, ""]), ["Case", "Machine, subject", "", "What would have to change", ""], lengths.near);
    parts.push(make("details", {}, make("summary", {}, "All of it as text"), make("pre", { class: "tree", tabindex: "0" }, text)));
    this.result.replaceChildren(...parts);
    [...this.result.querySelectorAll("tbody")].forEach((body) => [...body.querySelectorAll("a")].forEach((link, at) => { link.tabIndex = at ? -1 : 0; }));
  }

  numbers(report, lengths) {
    const { own, numbers } = report;
    const share = numbers.precision == null ? "no labels yet" : `${percent(numbers.precision)} (95 %: ${percent(numbers.low)} to ${percent(numbers.high)})`;
    const rows = [
      ["Matches", `${count(lengths.hits)} in ${many(own.cases.match ?? 0, "case")}`],
      ["Cannot tell", `${count(own.subjects.cannot_tell ?? 0)} in ${many(own.cases.cannot_tell ?? 0, "case")}`],
      ["No match", many(own.cases.no_match ?? 0, "case")],
      ["Near misses", report.near_cases ? `${count(report.near_one)} of ${many(report.near_cases, "case")} looked at` : "not searched for"],
      ["Gained", report.compared ? count(lengths.gained) : "nothing to compare"],
      ["Lost", report.compared ? count(lengths.lost) : "nothing to compare"],
      ["Precision", share],
      ["Judged", `${count(report.judged)} of ${many(report.stored, "case")}`],
      ["Time", `${report.seconds.toFixed(1)} s; ${count(Math.round(report.per_1000_ms))} ms per thousand cases`],
    ];
    return make("dl", { class: "numbers" }, ...rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  }
}

function compared(report) {
  const left = [report.refused ? `${many(report.refused, "case")} had nothing readable` : "", report.no_facts ? `${many(report.no_facts, "case")} without stored facts` : ""].filter(Boolean).join(", ");
  const flags = { often: "It matches very often: is it a fault?", never: "It never matches: is it too narrow?" };
  const against = { same: "This is the installed rule, so nothing is compared.", none: "No rule with this id is installed, so nothing is compared." }[report.released] ?? "Compared with the installed rule of the same id.";
  return [against, left ? `${left}.` : "", ...report.flags.map((flag) => flags[flag] ?? "")].filter(Boolean).join(" ");
}

function list(title, level, rows, head, all) {
  const empty = head.map((name, at) => !name || rows.every((row) => !cells(row)[at]));
  const body = rows.slice(0, SHOWN).map((row) => make("tr", {}, ...cells(row).map((value, at) => (empty[at] ? null : td(head[at], value, at, row[0])))));
  const more = all > Math.min(rows.length, SHOWN) ? make("p", { class: "note" }, `and ${count(all - Math.min(rows.length, SHOWN))} more; \`backline rules backtest --all\` lists them`) : null;
  return make("section", { class: level }, make("h3", {}, `${title} (${count(all)})`), make("div", { class: "tablebox" }, roled(make("table", { class: "answer" },
    make("caption", { class: "unseen" }, title), make("thead", {}, make("tr", {}, ...head.map((name, at) => (empty[at] ? null : make("th", { scope: "col" }, name))))), make("tbody", {}, ...body)))), more);
}

const cells = ([thing, ...others]) => [thing.case, [thing.node, thing.subject].filter(Boolean).join(" / "), ...others];

function td(name, value, at, thing) {
  const made = make("td", { "data-name": name });
  if (!at) made.append(make("a", { href: `#archive=case/${thing.id}` }, value || thing.id.slice(0, 12)));
  else if (SEVERITIES.includes(value)) { made.classList.add(value); made.append(mark(value), value); } else made.append(value ?? "");
  return made;
}

function doubts(report) {
  const one = (doubt) => make("li", {}, make("b", {}, doubt.missing), ` (${doubt.reason}): ${many(doubt.subjects, "subject")} in ${many(doubt.cases, "case")}${doubt.ask ? `; ask for: ${doubt.ask}` : ""}`);
  return make("section", {}, make("h3", {}, "Cannot tell, because of missing"), make("ul", { class: "doubts" }, ...report.cannot_tell.slice(0, SHOWN).map(one), ...report.unsearched.slice(0, SHOWN).map(one)));
}

/** Yield the lines of a body as JSON. */
async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) if (part) yield JSON.parse(part);
  }
}
