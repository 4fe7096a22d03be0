// What the page knows of the cases: records of the server, its events, and what this window sends itself.
import { SEVERITIES, count } from "./dom.js";

export const WORDS = {
  waiting: "uploading", cut: "upload cut", queued: "queued", reading: "reading", judging: "judging", writing: "writing the report",
  done: "done", partial: "done, not everything could be read", refused: "refused", failed: "failed", cancelled: "cancelled",
};
export const ENDED = { refused: "This cannot be read", failed: "The analysis failed", cancelled: "Cancelled", cut: "The upload was interrupted" };
const OVER = new Set(["done", "partial", "refused", "failed", "cancelled", "cut"]);
const WORK = ["reading", "judging", "writing"];
const FINDINGS = 500; // kept here while they come; the report has all
const MINE = "backline-uploading";

const cases = new Map();
let changed = () => {};
let wake = 0;

/** `listener` is called after changes, at most every tenth of a second. */
export function onChange(listener) { changed = listener; }

export function touch() {
  if (!wake) wake = setTimeout(() => { wake = 0; changed(); }, 100);
}

export const get = (id) => cases.get(id);
export const isOver = (one) => OVER.has(one.state);
export const isWork = (one) => !isOver(one);
export const stageOf = (one) => ({ waiting: "upload", cut: "upload", queued: "queue" })[one.state] ?? one.state;

/** All cases, newest first; those in work are told apart by `isWork`. */
export const all = () => [...cases.values()].filter((one) => !one.removing).sort((a, b) => b.created - a.created || b.order - a.order);
let looked = ""; // the case whose report was looked at last: what a rule is most likely tried on
export const look = (id) => { looked = id; };

/** The case a rule is tried on when none was named: the one looked at last, else the newest in which something was found. */
export function likely() {
  const known = all().filter((one) => isOver(one) && one.report && !one.opened);
  return known.find((one) => one.id === looked) ?? known.find((one) => one.state === "done" && worst(one)) ?? known.find((one) => one.state === "done") ?? null;
}
export const away = () => [...cases.values()].filter((one) => one.removing);
export const working = () => all().filter(isWork).reverse();

/** Which cases are read before this one. */
export function behind(one) {
  const open = working();
  const ahead = open.filter((other) => WORK.includes(other.state) || (other.state === "queued" && before(other, one)));
  return ahead.filter((other) => other !== one);
}
const before = (a, b) => a.place !== b.place ? a.place < b.place : a.order < b.order;

let order = 0;

/** Take what the server says of a case. */
export function put(raw) {
  const one = cases.get(raw.id) ?? { id: raw.id, order: (order += 1), findings: [], base: `/cases/${raw.id}`, created: 0 };
  cases.set(one.id, one);
  if (raw.state === "queued" || (raw.state === "reading" && one.state !== "reading")) one.findings = []; // a new attempt
  Object.assign(one, raw);
  one.name ||= "case"; // files without a common name
  if (isWork(one)) one.findings.sort(byWorst); // when it is over they come in the order of the report
  if (one.state === "waiting" && !one.sending && wasMine().includes(one.id)) cut(one, RELOADED);
  else if (one.cut && ["waiting", "cancelled"].includes(one.state)) cut(one, one.cut);
  touch();
  return one;
}

const RELOADED = {
  what: "The upload was interrupted: this page was reloaded while it uploaded",
  why: "A browser forgets dropped files when a page reloads.",
};

/** The files of a case did not all come: it stays in the list with the reason. */
export function cut(one, error) {
  Object.assign(one, { state: "cut", cut: error, error });
}

export function remove(id) {
  cases.delete(id);
  touch();
}

/** Take one event of the server; what they hold is told in analyzer/web/desk.py. */
export function take(event) {
  const one = cases.get(event.case);
  switch (event.kind) {
    case "snapshot": takeAll(event.cases); break;
    case "state": put(event.record).heard = true; break;
    case "history": for (const raw of event.cases) put(raw); break;
    case "removed": cases.delete(event.case); break;
    case "upload": if (one) Object.assign(one, { here: event.here, say: event.say }); break;
    case "progress": if (one) one.progress = event.progress; break;
    case "finding": if (one) find(one, event.finding); break;
    default:
  }
  touch();
}

/** Take all that the server knows and forget what it does not know any more. What it never took stays, and what was given
 * a moment ago: the list may have been made before. */
export function takeAll(known) {
  for (const raw of known) put(raw).heard = true;
  const ids = new Set(known.map((raw) => raw.id));
  for (const [id, one] of cases) if (one.heard && !ids.has(id) && !one.local && !one.archived) cases.delete(id);
  touch();
}

// --- what this window sends; kept over a reload, so that a cut upload is said ------------
const wasMine = () => JSON.parse(sessionStorage.getItem(MINE) ?? "[]");

export function mine(id, on) {
  const ids = wasMine().filter((other) => other !== id);
  sessionStorage.setItem(MINE, JSON.stringify(on ? [...ids, id] : ids));
}

// --- findings ----------------------------------------------------------------------
export function find(one, finding) {
  if (one.findings.length >= FINDINGS) return;
  one.findings.push(finding);
  one.findings.sort(byWorst);
}

/** The server gives each finding its weight: of the first numbers that differ the smaller comes first. */
function byWorst(a, b) {
  const place = a.weight.findIndex((number, index) => number !== b.weight[index]);
  return place < 0 ? 0 : a.weight[place] - b.weight[place];
}

/** What was found so far, as the report folds it: findings of one rule with one weight are one, `times` says how many. */
export function found(one) {
  const rows = new Map();
  for (const finding of one.findings) {
    const key = `${finding.rule} ${finding.title} ${finding.severity} ${finding.confidence}`;
    const row = rows.get(key);
    if (row) row.times += 1;
    else rows.set(key, { ...finding, times: 1 });
  }
  return [...rows.values()];
}

export const COUNTED = [...SEVERITIES, "exposed", "error"]; // what a report counts

/** The word of a count as it is read after the number, as in the report. */
export function named(word, number) {
  if (word === "error") return number === 1 ? "rule broke" : "rules broke";
  return word === "warning" && number !== 1 ? "warnings" : word;
}

export function worst(one) {
  if (one.worst) return one.worst;
  return SEVERITIES.find((word) => one.counts?.[word]) ?? "";
}

/** How many questions are open, in the words of the reports. */
export const questions = (number) => `${count(number)} need${number === 1 ? "s" : ""} more data`;

/** The counts of a case in one sentence, those of its report. */
export function counted(one) {
  const parts = COUNTED.filter((word) => one.counts?.[word]).map((word) => `${count(one.counts[word])} ${named(word, one.counts[word])}`);
  const open = one.unknowns ? `, ${questions(one.unknowns)}` : "";
  const nothing = one.state === "partial" ? "nothing found in what could be read" : "nothing found";
  return (parts.join(", ") || nothing) + open;
}
