// One case of the archive: its report in place, and the labels of its findings beside it.
import { SEVERITIES, hear, make, mark, say } from "./dom.js";
import { copyNote, theme } from "./case.js";
import { counted, look, remove } from "./cases.js";
import { ask, below } from "./link.js";
import { serveLog } from "./log.js";
import { readable } from "./when.js";

const BY = "backline-by"; // who labels, kept in this browser
const WORDS = { confirmed: "Confirmed", rejected: "Rejected" };
const STATES = { ok: "read whole", partial: "not everything could be read", refused: "refused", failed: "failed" };

export class Shelved {
  constructor() {
    this.back = make("a", { class: "button", href: "#archive" }, "Back");
    this.title = make("h1", { tabindex: "-1" }, "\u00a0");
    this.about = make("p", { class: "note" }, "\u00a0");
    this.buttons = make("p", { class: "buttons" });
    this.part = make("p", { class: "odd", hidden: true });
    this.logs = make("p", { class: "note", hidden: true });
    this.stop = () => {}; // ends the reading of its logs
    this.panel = make("section", { class: "labels", "aria-labelledby": "labels-title" });
    this.reading = make("div", { class: "reading-box" });
    this.box = make("div", { class: "part shelf-case" },
      make("div", { class: "casehead" }, this.back, make("div", { class: "named" }, this.title, this.about), this.buttons), this.part, this.logs,
      make("div", { class: "beside" }, this.reading, this.panel));
    this.id = "";
  }

  /** `spot` is the anchor of a finding, or [rule, machine, subject] as JSON. */
  async open(id, spot, back) {
    this.back.href = `#${back}`;
    if (this.known?.id.startsWith(id) && this.known.report) {
      this.jump(spot);
      this.title.focus({ preventScroll: true });
      return;
    }
    this.id = id;
    this.known = null;
    this.stop();
    this.logs.hidden = true;
    this.title.textContent = "Opening the case …";
    this.about.textContent = "\u00a0";
    this.part.hidden = true;
    for (const part of [this.buttons, this.panel, this.reading]) part.replaceChildren();
    try {
      const known = await ask("GET", `/archive/cases/${id}`);
      if (this.id !== id) return;
      this.draw(known, spot);
    } catch (error) {
      if (this.id === id) this.fail(error.parts ?? { what: String(error) });
    }
    this.title.focus({ preventScroll: true });
  }

  draw(known, spot = "") {
    this.known = known;
    if (known.report) look(known.id);
    this.title.textContent = known.name || "case";
    this.about.textContent = [known.incident ? `incident ${readable(known.incident)} UTC` : "", known.report ? counted(known) : "", STATES[known.state] ?? known.state, `stored ${known.stored.slice(0, 10)}`, known.source, known.visible ? "" : "superseded: read again since"].filter(Boolean).join(" · ");
    const base = below(`/cases/${known.id}`);
    if (!known.report) {
      this.buttons.replaceChildren(...this.removal(known));
      this.fail({ what: `This case was ${known.state}: there is no report`, why: known.why, do: "To read its files again, drop them on the first page." });
      return;
    }
    const link = (href, words, more = {}) => make("a", { class: "button", href, ...more }, words);
    this.part.hidden = known.state !== "partial";
    this.part.textContent = `Not everything could be read${known.why ? `: ${known.why}` : ""}. In the missing parts, absence proves nothing.`;
    const note = make("button", { type: "button", onclick: () => copyNote(`/cases/${known.id}`) }, "Copy case note");
    this.buttons.replaceChildren(note, link(`#rules=on/${known.id}`, "Try a rule on it"), link(`${base}/report?download=1`, "Save as one file", { download: true }),
      link(`${base}/report?redact=strict`, "Save redacted", { download: true }),
      link(`${base}/case.json?download=1`, "case.json", { download: true }), link(`${base}/report`, "Own tab", { target: "_blank", rel: "noopener" }), ...this.removal(known));
    this.frame = make("iframe", { class: "report", title: `Report of ${known.name}`, src: this.address(spot), sandbox: "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox allow-modals" });
    this.reading.replaceChildren(this.frame);
    this.logs.hidden = !known.no_log;
    this.logs.textContent = known.no_log;
    this.stop();
    if (!known.no_log) this.stop = serveLog(this.frame, `/cases/${known.id}`);
    this.list();
  }

  /** The button that takes the case out of the archive: it asks, because nothing brings the case back. */
  removal(known) {
    const start = make("button", { type: "button", "aria-expanded": "false", onclick: () => open(true) }, "Remove from the archive");
    const yes = make("button", { type: "button", onclick: () => this.remove(known) }, "Remove it");
    const no = make("button", { type: "button", onclick: () => open(false) }, "Keep it");
    const labels = known.labels.length ? ` and its ${known.labels.length === 1 ? "label" : `${known.labels.length} labels`}` : "";
    const asked = make("span", { class: "asked", role: "group", "aria-label": "Remove the case", hidden: true, onkeydown: (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      open(false);
    } }, `Remove "${known.name}"${labels} for good? `, yes, " ", no);
    const open = (on) => {
      asked.hidden = !on;
      start.hidden = on;
      start.setAttribute("aria-expanded", String(on));
      (on ? no : start).focus();
    };
    return [start, asked];
  }

  async remove(known) {
    try {
      const done = await ask("DELETE", `/archive/cases/${known.id}`);
      done.gone.forEach(remove);
      this.known = null;
      say(`"${known.name}" removed from the archive`);
      location.hash = this.back.getAttribute("href");
    } catch (error) {
      say(`Not removed: ${error.parts?.what ?? error}`);
    }
  }

  fail({ what, where, why, do: todo }) {
    this.title.textContent = this.known?.name || "This case cannot be shown";
    this.panel.replaceChildren();
    const words = [where, why, todo].filter(Boolean).join(". ").replace(/\.\./g, ".");
    this.reading.replaceChildren(make("div", { class: "nothing" }, make("h2", {}, what), make("p", {}, words)));
    hear(`${what}. ${words}`);
  }

  /** Show a finding in the report. */
  jump(spot) {
    if (this.anchor(spot) && this.frame) this.frame.src = this.address(spot);
  }

  /** The address of the report, at a finding where one is meant: a frame whose address changes while it loads asks for the report twice. */
  address(spot) {
    const anchor = this.anchor(spot);
    return below(`/cases/${this.known.id}/report#${anchor ? `f=${anchor}&` : ""}framed=1${this.known.no_log ? "" : "&log=1"}&theme=${theme()}`);
  }

  anchor(spot) {
    if (!spot?.startsWith("[")) return spot ?? "";
    try {
      const [rule, , subject] = JSON.parse(spot);
      return this.known.findings.find((one) => one.rule === rule && one.subject === (subject ?? ""))?.anchor ?? "";
    } catch { return ""; }
  }

  // --- labels ---
  list() {
    const { findings, quiet, labels, more } = this.known;
    const items = findings.map((one, number) => this.finding(one, number));
    const others = labels.filter((one) => one.missed || !findings.some((other) => same(one, other)));
    this.panel.replaceChildren(make("h2", { id: "labels-title" }, "Was it right?"),
      make("p", { class: "note" }, "Labels measure the rules: a back-test computes their precision from them."),
      findings.length ? make("ul", { class: "label-list" }, ...items) : make("p", { class: "empty" }, "Nothing was found in this case."),
      ...(more ? [make("p", { class: "note" }, `and ${more} more findings; \`backline archive label\` labels them`)] : []),
      ...(others.length ? [make("h3", {}, "Other labels"), make("ul", { class: "label-list" }, ...others.map((one) => this.other(one)))] : []),
      this.missed(quiet));
  }

  finding(one, number) {
    const place = make("div", {});
    const name = `${one.number ? `${one.number}. ` : ""}${one.title || one.rule}`;
    const title = make("button", { type: "button", class: "plain", onclick: () => this.jump(one.anchor) }, name);
    const head = make("p", { class: SEVERITIES.includes(one.severity) ? one.severity : "info" }, mark(one.severity, one.confidence === "exposed"), make("span", { class: "unseen" }, `${one.severity}: `), title);
    const what = [one.node, one.subject].filter(Boolean).join(" / ");
    const item = make("li", { "data-rule": one.rule }, head, make("p", { class: "note" }, [what, one.rule, one.muted ? `muted: ${one.muted}` : ""].filter(Boolean).join(" · ")));
    if (one.label) item.append(this.given(one.label));
    const open = (label) => () => this.form(place, one, label, number);
    item.append(make("p", { class: "buttons" },
      make("button", { type: "button", class: "small", "aria-pressed": String(one.label?.label === "confirmed"), "aria-label": `Confirm: ${one.title}, ${what}`, onclick: open("confirmed") }, "Confirm"),
      make("button", { type: "button", class: "small", "aria-pressed": String(one.label?.label === "rejected"), "aria-label": `Reject: ${one.title}, ${what}`, onclick: open("rejected") }, "Reject"),
      one.label ? make("button", { type: "button", class: "small", "aria-label": `Remove label of ${one.title}, ${what}`, onclick: () => this.send({ ...key(one), label: "removed" }) }, "Remove label") : null), place);
    return item;
  }

  given(label) {
    return make("p", { class: `given ${label.label}` }, make("b", {}, WORDS[label.label] ?? label.label), label.missed ? " (the rule missed it)" : "", ` ${label.at}${label.by ? `, ${label.by}` : ""}${label.note ? `: ${label.note}` : ""}`);
  }

  other(one) {
    return make("li", {}, make("p", {}, [one.rule, one.node, one.subject].filter(Boolean).join(" / ")), this.given(one),
      make("p", { class: "buttons" }, make("button", { type: "button", class: "small", "aria-label": `Remove label of ${one.rule}`, onclick: () => this.send({ ...key(one), label: "removed" }) }, "Remove label")));
  }

  /** Ask for a note below a finding; Enter keeps the label. */
  form(place, one, label, number) {
    for (const open of this.panel.querySelectorAll("form.label-form")) open.remove();
    const note = make("input", { type: "text", id: `note-${number}`, maxlength: "2000", autocomplete: "off", value: one.label?.note ?? "" });
    const by = make("input", { type: "text", id: `by-${number}`, maxlength: "100", autocomplete: "off", value: localStorage.getItem(BY) ?? "" });
    const form = make("form", { class: "label-form", novalidate: true },
      make("label", { for: note.id }, label === "confirmed" ? "How do you know? (optional)" : "Why is it wrong? (optional)"), note,
      make("label", { for: by.id }, "Your name (optional)"), by,
      make("p", { class: "buttons" }, make("button", { type: "submit", class: "main small" }, label === "confirmed" ? "Confirm it" : "Reject it"),
        make("button", { type: "button", class: "small", onclick: () => { form.remove(); this.focus(one, label); } }, "Close")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      localStorage.setItem(BY, by.value.trim());
      this.send({ ...key(one), label, note: note.value, by: by.value });
    });
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      form.remove();
      this.focus(one, label);
    });
    place.replaceChildren(form);
    note.focus();
  }

  focus(one, label) {
    const number = this.known.findings.findIndex((other) => same(one, other));
    const item = this.panel.querySelectorAll(".label-list > li")[number];
    const buttons = item?.querySelectorAll(".buttons button");
    buttons?.[label === "rejected" ? 1 : 0]?.focus();
  }

  missed(quiet) {
    const rule = make("select", { id: "missed-rule" }, make("option", { value: "" }, "choose a rule"), ...quiet.map((id) => make("option", { value: id }, id)));
    const note = make("input", { type: "text", id: "missed-note", maxlength: "2000", autocomplete: "off" });
    const form = make("form", { novalidate: true }, make("label", { for: rule.id }, "Rule that did not report it"), rule, make("label", { for: note.id }, "What was there"), note,
      make("p", { class: "buttons" }, make("button", { type: "submit", class: "small" }, "The fault was there")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!rule.value) { say("Choose the rule that should have reported it"); rule.focus(); return; }
      this.send({ rule: rule.value, label: "confirmed", missed: true, note: note.value, by: localStorage.getItem(BY) ?? "" });
    });
    return make("details", { class: "missed" }, make("summary", {}, "A rule should have reported something and did not"), form);
  }

  async send(data) {
    try {
      const known = await ask("POST", `/archive/cases/${this.known.id}/labels`, data);
      if (this.known.id !== known.id) return;
      this.known = known;
      this.list();
      this.focus(data, data.label);
      say(data.label === "removed" ? "Label removed" : `${WORDS[data.label]}: ${data.rule}`);
    } catch (error) {
      say(`Not kept: ${[error.parts?.what ?? String(error), error.parts?.why, error.parts?.do].filter(Boolean).join(". ")}`);
    }
  }
}

const key = ({ rule, node, subject }) => ({ rule, node, subject });
const same = (one, other) => one.rule === other.rule && one.node === (other.node ?? "") && one.subject === (other.subject ?? "");
