// One case: its stages while it is worked on, why it ended, and the report in place.
import { $, SEVERITIES, bytes, copy, count, duration, hear, make, many, mark, marked, moment, say, show, write } from "./dom.js";
import { below, text } from "./link.js";
import { ENDED, WORDS, behind, counted, found, isOver, look, named, stageOf } from "./cases.js";
import { serveLog } from "./log.js";
import { before } from "./upload.js";
import { readable } from "./when.js";

const SLOTS = 8; // findings that are shown while they come; the report has all
const STAGES = ["upload", "queue", "reading", "judging", "writing"];
let shown = null; // the case that is on the screen
let framed = ""; // the case whose report is in the frame
let stop = () => {}; // ends the reading of its logs

export const current = () => shown?.id ?? "";

/** Show a case; called again whenever something of it changes. */
export function draw(one, actions) {
  const other = shown?.id !== one.id;
  const over = isOver(one);
  if (other) close();
  const ending = !other && !isOver(shown) && over;
  shown = { id: one.id, state: one.state };
  write($("case-title"), one.name);
  write($("case-about"), about(one));
  for (const id of ["case-title", "case-about"]) $(id).title = $(id).textContent; // both may be cut
  buttons(one, actions);
  part(one);
  const report = over && one.report;
  show($("working"), !over, $("case-title"));
  show($("ended"), over && !report, $("case-title"));
  show($("read"), report, $("case-title"));
  document.body.classList.toggle("reading", report);
  if (!over) working(one);
  else if (report) read(one);
  else ended(one);
  if (ending && report) hear(`The report of ${one.name} is ready: ${counted(one)}`);
  else if (ending) hear(`${one.name}: ${WORDS[one.state]}`);
}

/** Take the report away; what runs in it ends. */
export function close() {
  shown = null;
  framed = "";
  stop();
  $("read").replaceChildren();
  document.body.classList.remove("reading");
}

function about(one) {
  const parts = [];
  if (one.opened) parts.push(one.no_log ? `opened from its case.json. ${one.no_log}` : "opened from its case.json; its files are still at their place");
  else if (one.path) parts.push(`on this machine: ${one.path}`);
  else if (one.files) parts.push(`${many(one.files, "file")}, ${bytes(one.bytes)}`);
  if (one.archived) parts.push(`in the archive, stored ${moment(one.created)}`);
  else if (one.created) parts.push(`given ${moment(one.created)}`);
  if (isOver(one) && one.report) parts.unshift(counted(one));
  if (one.incident) parts.unshift(`incident ${readable(one.incident)} UTC`);
  return parts.join(" · ");
}

/** Say what makes a case less than whole, above everything else that is shown of it. */
function part(one) {
  const lines = [...(one.left ?? []), ...(one.notes ?? [])];
  if (one.state === "partial" && !lines.length) lines.push("Not everything could be read: the report says what; absence proves nothing there.");
  write($("case-part"), lines.join(" "));
  const box = $("case-part");
  box.hidden = !lines.length;
  box.removeAttribute("tabindex");
  if (box.scrollHeight > box.clientHeight) box.tabIndex = 0; // what scrolls is reached by keys
}

function buttons(one, actions) {
  const over = isOver(one);
  const report = Boolean(over && one.report);
  show($("case-cancel"), !over && one.state !== "cut", $("case-back"));
  show($("case-add"), Boolean(actions.canAdd(one)), $("case-back"));
  const join = actions.canJoin(one);
  show($("case-join"), Boolean(join), $("case-back"));
  if (join) write($("case-join"), `Put into "${join.name.slice(0, 24)}"`);
  show($("case-retry"), Boolean(actions.canRetry(one)), $("case-back"));
  show($("case-note"), report, $("case-back"));
  for (const [id, path] of [["case-save", "report?download=1"], ["case-strict", "report?redact=strict"], ["case-json", "case.json?download=1"], ["case-tab", "report"]]) {
    show($(id), report, $("case-back"));
    $(id).href = below(`${one.base}/${path}`);
  }
  show($("case-when"), over && !one.archived && !one.opened && !one.local && (report || one.state === "failed"), $("case-back"));
  show($("case-rename"), report && !one.archived, $("case-back"));
  show($("case-remove"), over && !one.archived, $("case-back"));
}

// --- while it is worked on ---------------------------------------------------
function working(one) {
  const at = STAGES.indexOf(stageOf(one));
  for (const [index, stage] of [...$("stages").children].entries()) {
    const word = index < at ? "done" : index === at ? "now" : "to come";
    stage.dataset.is = word === "to come" ? "next" : word;
    if (index === at) stage.setAttribute("aria-current", "step");
    else stage.removeAttribute("aria-current");
    write(stage.lastElementChild, one.path && index === 0 ? "not needed" : word);
  }
  const [title, how, what, share] = told(one);
  write($("now-title"), title);
  write($("now-how"), how);
  write($("now-what"), what);
  meter(share);
  findings(one);
}

/** Return what is done now, how far it is, with what, and the share that is done (null when nobody can know). */
function told(one) {
  const { progress: p = {} } = one;
  switch (one.state) {
    case "waiting": return uploading(one);
    case "queued": {
      const ahead = behind(one);
      if (!ahead.length) return ["Queued", "It is next.", "One case is read at a time.", 0];
      const names = ahead.slice(0, 2).map((other) => `"${other.name}"`).join(", ");
      return [`Queued behind ${count(ahead.length)}`, `It waits until ${names} ${ahead.length > 2 ? "and others are" : ahead.length > 1 ? "are" : "is"} read.`,
        "Cases are read one at a time; you do not need to do anything.", 0];
    }
    case "reading": return ["Reading", reading(p) || one.say, p.member ? `now: ${p.member}` : reading(p) ? one.say : "", share(p)];
    case "judging": return ["Judging", p.rules ? `${count(p.judged)} of ${many(p.rules, "rule")}` : one.say, reading(p), p.rules ? p.judged / p.rules : null];
    default: return ["Writing the report", one.say || "A few seconds.", reading(p), null];
  }
}

function uploading(one) {
  const { sending } = one;
  if (!sending) return ["Waiting for its files", "They are uploaded in another window, or their upload was interrupted.", one.say, 0];
  const first = before(sending);
  if (!sending.started && first.length) {
    return [`Upload waits behind ${count(first.length)}`, "Two files are sent at a time.", `${many(one.files, "file")}, ${bytes(one.bytes)}`, 0];
  }
  const { rate, sent, total } = sending;
  const left = rate > 0 ? `about ${duration((total - sent) / rate)} left` : "";
  const speed = rate > 0 ? `${bytes(rate)} a second` : "";
  const how = [`${bytes(sent)} of ${bytes(total)}`, speed, left].filter(Boolean).join(" · ");
  return ["Uploading", how, `${count(sending.files)} of ${many(sending.pieces.length, "file")} here · now: ${sending.name}`, total ? sent / total : null];
}

function reading(p) {
  const parts = [];
  if (p.members) parts.push(many(p.members, "member"));
  if (p.lines) parts.push(many(p.lines, "line"));
  if (p.bytes) parts.push(p.total ? `${bytes(p.bytes)} of ${bytes(p.total)}` : bytes(p.bytes));
  return parts.join(" · ");
}

const share = (p) => (p.total > 0 && p.bytes != null ? Math.min(1, p.bytes / p.total) : null);

function meter(part) {
  if (part == null) $("bar").removeAttribute("value");
  else $("bar").value = Math.round(part * 1000) / 10;
}

/** The worst findings in places that are always there: what comes changes their text, nothing moves. */
function findings(one) {
  const list = $("found");
  while (list.children.length < SLOTS) list.append(make("li", {}, "\u00a0"));
  const come = found(one);
  tally(one, come);
  for (const [index, slot] of [...list.children].entries()) {
    const finding = come[index];
    const key = finding ? `${finding.severity} ${finding.title} ${finding.subject} ${finding.times}` : "";
    if ((slot.dataset.key ?? "") === key) continue;
    slot.dataset.key = key;
    slot.className = finding?.severity ?? "";
    if (finding) {
      slot.replaceChildren(mark(finding.severity, finding.exposed), make("b", { class: "severity" }, finding.severity), make("span", { class: "what" }, finding.title),
        make("span", { class: "note" }, [finding.subject, finding.node].filter(Boolean).join(" on "), finding.times > 1 ? ` and ${count(finding.times - 1)} more` : ""));
    } else slot.replaceChildren("\u00a0");
  }
  const more = come.length - SLOTS;
  const none = stageOf(one) === "judging" ? "Nothing so far." : "They appear once the material is read.";
  write($("found-more"), more > 0 ? `and ${count(more)} more; the worst are shown here, all in the report` : come.length ? "worst first" : none);
}

function tally(one, come) {
  const words = [...SEVERITIES, "exposed"];
  const numbers = Object.fromEntries(words.map((word) => [word, come.filter((finding) => (finding.exposed ? "exposed" : finding.severity) === word).length]));
  const open = one.unknowns ?? one.progress?.unknowns ?? 0;
  const key = JSON.stringify([numbers, open, one.report]);
  if ($("tally").dataset.key === key) return;
  $("tally").dataset.key = key;
  // What is not known yet is no zero: a word stands here once there is something to count.
  const parts = words.filter((word) => numbers[word]).map((word) => make("span", { class: word }, marked(word), " ", make("b", {}, count(numbers[word])), ` ${named(word, numbers[word])} `));
  if (open) parts.push(make("span", {}, make("b", {}, count(open)), " cannot tell yet"));
  if (parts.length) parts.push(make("span", { class: "note" }, "so far"));
  $("tally").replaceChildren(...parts);
}

// --- when it is over ----------------------------------------------------------
function read(one) {
  const edition = `${one.id} ${one.edits ?? 0}`;
  if (framed === edition) return;
  framed = edition;
  stop();
  look(one.id);
  // The theme goes in by the fragment: there is no other way in. No allow-same-origin: the report shows what strangers wrote and gets an origin of its own.
  const frame = make("iframe", {
    sandbox: "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox",
    title: `Report of ${one.name}`, src: below(`${one.base}/report#framed=1${one.no_log ? "" : "&log=1"}&theme=${theme()}`), id: "report",
  });
  $("read").replaceChildren(frame);
  stop = serveLog(frame, one.base);
}

export const theme = () => document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/**
 * Give the open reports the theme of the page: by a message, for a new address would be a step of Back of its own, and
 * forget what is open. A comparison has no theme to choose, a heat map listens to its address.
 */
export function themed() {
  for (const frame of document.querySelectorAll("#report, iframe.report")) frame.contentWindow?.postMessage({ backline: "theme", theme: theme() }, "*");
  for (const frame of document.querySelectorAll("#heatmap")) frame.src = frame.src.replace(/theme=\w*$/, `theme=${theme()}`);
}

/** The report that is on the screen: of a case of this start, or of a stored one. */
const openReport = () => [...document.querySelectorAll("#report, iframe.report")].find((frame) => frame.offsetParent);

/** Pass a key on to the report in its frame, which has the focus then; false when none is open. */
export function passKey(key) {
  const frame = openReport();
  if (!frame) return false;
  frame.focus();
  frame.contentWindow.postMessage({ backline: "key", key }, "*");
  return true;
}

/** `leave` is called when Escape has nothing to close any more in the report on the screen. */
export function onLeave(leave) {
  addEventListener("message", (event) => {
    if (event.data?.backline === "leave" && event.source === openReport()?.contentWindow) leave();
  });
}

const capital = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");

function ended(one) {
  const error = one.error ?? {};
  write($("ended-title"), capital(error.what) || ENDED[one.state]);
  const rows = [["Where", error.where], ["Why", capital(error.why)], ["What to do", capital(error.do) || NEXT[one.state]]].filter(([, said]) => said);
  $("ended-what").replaceChildren(...rows.flatMap(([word, said]) => [make("dt", {}, word), make("dd", {}, said)]));
}

const NEXT = {
  cut: "Drop the files again: that makes a new case. This one can be removed.",
  cancelled: "Only this entry is left. Try again, or remove it.",
  failed: "Try again. If it fails again, please report it with what the terminal of the server shows.",
  refused: "Drop what the customer sent as it is: a vm-support bundle, logs, an esxtop CSV, or a folder of them.",
};

export async function copyNote(base) {
  try {
    await copy(await text(`${base}/note`), "Case note");
  } catch (error) {
    say(`Not copied: ${error.parts?.what ?? error}`);
  }
}
