// Small helpers: elements (text only, never markup), words for numbers, telling the reader, copying.

export const $ = (id) => document.getElementById(id);

/** Make an element; `known` are attributes ("class", "title", "data-x"), children are elements or text. */
export function make(tag, known = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(known)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null && child !== false));
  return made;
}

// Signs that cannot be seen, or that turn the line round, are written as their numbers, as the server does.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const visible = (text) => text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The parts of a sentence; what stands between backticks is code. */
export const prose = (text) => text.split(/`([^`\n]+)`/).map((part, at) => (at % 2 ? make("code", {}, part) : part));

/** Write a text only when it differs, so that nothing is read out twice and no selection is lost. */
export function write(element, text) {
  const shown = visible(text ?? "") || "\u00a0"; // keeps the height of the line
  if (element.textContent !== shown) element.textContent = shown;
}

/** Show or hide an element; a focus that would be lost goes to `heir`. */
export function show(element, on, heir = null) {
  if (element.hidden === !on) return;
  const loses = !on && element.contains(document.activeElement);
  element.hidden = !on;
  if (loses) (heir ?? document.querySelector("section[data-page]:not([hidden]) h1"))?.focus({ preventScroll: true });
}

// --- words for numbers ------------------------------------------------------
const grouped = new Intl.NumberFormat("en-US");
export const count = (number) => grouped.format(number);
export const many = (number, word, words = `${word}s`) => `${count(number)} ${number === 1 ? word : words}`;

/** Bytes in the units of a file manager: 1 kB = 1000 bytes. */
export function bytes(size) {
  if (size < 1000) return many(size, "byte");
  let unit = -1;
  let value = size;
  while (value >= 999.5 && unit < 3) { value /= 1000; unit += 1; }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${["kB", "MB", "GB", "TB"][unit]}`;
}

export function duration(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return many(Math.round(seconds), "second");
  if (seconds < 5400) return many(Math.round(seconds / 60), "minute");
  return `${(seconds / 3600).toFixed(1)} hours`;
}

const pad = (number) => String(number).padStart(2, "0");

/** A moment in local time: the clock alone today, else with its date. */
export function moment(seconds) {
  if (!seconds) return "";
  const then = new Date(seconds * 1000);
  const clock = `${pad(then.getHours())}:${pad(then.getMinutes())}`;
  if (then.toDateString() === new Date().toDateString()) return `today ${clock}`;
  return `${then.getFullYear()}-${pad(then.getMonth() + 1)}-${pad(then.getDate())} ${clock}`;
}

// --- telling the reader -----------------------------------------------------
const PAUSE = 1500; // a screen reader must be able to finish a sentence
const silences = new Map();

/** Say what was done, in a corner of the screen and to a screen reader. */
export function say(text) {
  $("said").textContent = visible(text);
  quietLater("said", 4000);
}

/** Say what was done and offer to take it back; `act` is called by the button, `else_` when the time is over. */
export function offer(text, label, act, else_, after) {
  let over = false;
  const once = (what) => { if (!over) { over = true; clearTimeout(timer); what(); } };
  const pass = () => once(() => { if (button.isConnected) $("said").textContent = ""; else_(); });
  // Who points at the button or is on it is not hurried.
  const late = () => { if (button.matches(":hover, :focus")) timer = setTimeout(late, 500); else pass(); };
  let timer = setTimeout(late, after);
  const button = make("button", { type: "button", class: "small", "aria-keyshortcuts": "Control+Z", onclick: () => once(() => { $("said").textContent = ""; act(); }) }, label);
  $("said").replaceChildren(make("span", {}, visible(text)), " ", button);
  clearTimeout(silences.get("said"));
  return () => once(else_);
}

let last = 0;
let waiting = 0;

/** Tell a screen reader what is on the screen anyway; of several sentences within a moment only the last. */
export function hear(text) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    last = Date.now();
    $("heard").textContent = visible(text);
    quietLater("heard", 8000);
  }, Math.max(0, last + PAUSE - Date.now()));
}

function quietLater(id, after) {
  clearTimeout(silences.get(id));
  silences.set(id, setTimeout(() => { $(id).textContent = ""; }, after));
}

// --- copying ----------------------------------------------------------------
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say(byHand(text) ? `${what} copied` : "The browser does not let a page copy; open the report and select the text");
  }
}

function byHand(text) {
  const focus = document.activeElement;
  const area = make("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focus?.focus?.();
  return done;
}

// --- marks of severity: a shape and a word, not colour alone ----------------
export const SEVERITIES = ["critical", "major", "warning", "info"];
const SHAPES = {
  critical: "M5 1h6l4 4v6l-4 4H5l-4-4V5z",
  major: "M8 1.5l7 13H1z",
  warning: "M8 1l7 7-7 7-7-7z",
  error: "M2 2h12v12H2z",
  info: "M8 2a6 6 0 1 0 .01 0z",
};

/** The mark of a word that a report counts; exposed is hollow: no sign of the fault was seen. */
export const marked = (word) => mark(word === "exposed" ? "major" : word, word === "exposed");

export function mark(severity, hollow = false) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", hollow ? "mark hollow" : "mark");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[severity] ?? SHAPES.info);
  svg.append(path);
  return svg;
}
