// The line to the server: the way in, requests, events, and what is said when it is gone.

const KEY = "backline-token";
// The secret path before every address that needs the cookie. What is kept here can be read by this address and port
// alone; a cookie goes to every port, and so is bound to this path. Kept for all tabs: a link may be opened in a new one.
const HOME = "backline-path";
let home = localStorage.getItem(HOME) ?? "";

/** The address of something that needs the cookie. */
export const below = (path) => home + path;

/** The address of a page of the documentation, which the server has: "page#watch". */
export const help = (to) => below(`/help/${to}`);

/** What the server said of a request it did not do; the parts are plain sentences. */
export class Told extends Error {
  constructor(status, parts) {
    super(parts.what);
    this.status = status;
    this.parts = parts;
  }
}

export const gone = (what = "The server does not answer") => new Told(0, {
  what,
  why: "backline serve was stopped, or the machine was asleep",
  do: 'Start "backline serve" again and open the address it prints.',
});

/** Take the token out of the address bar, so that it is in no history and no screenshot. */
export function takeToken() {
  const token = location.hash.slice(1);
  if (/^[\w-]{40,}$/.test(token)) {
    sessionStorage.setItem(KEY, token);
    history.replaceState(null, "", location.pathname);
  }
}

/**
 * Send a request below the secret path; returns the answer and its status. What the server refuses comes as an answer
 * like any other and says its status in a header: a browser writes other ones into its console as errors of the page.
 */
export async function sent(path, options = {}) {
  const answer = await fetch(below(path), { ...options, headers: { ...options.headers, "X-Backline-Told": "yes" } });
  return { answer, status: Number(answer.headers.get("X-Backline-Status")) || answer.status };
}

/** Go on with the path and the cookie of before, or get both for the token; false when the server does not know us. */
export async function enter() {
  const known = home && await sent("/info").catch(() => null);
  if (known?.status === 200) return true;
  const token = sessionStorage.getItem(KEY) ?? "";
  const answer = await fetch("/enter", { method: "POST", headers: { "X-Backline-Token": token } }).catch(() => null);
  if (!answer) throw gone();
  if (!answer.ok) return false;
  home = (await answer.json()).path;
  localStorage.setItem(HOME, home);
  return true;
}

/** Ask the server; returns what it answers as JSON, raises Told. */
export async function ask(method, path, data) {
  const options = { method, headers: {} };
  if (data !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(data);
  }
  const { answer, status } = await sent(path, options).catch(() => ({}));
  if (!answer) { lost(); throw gone(); }
  if (status === 401) strange();
  const body = await answer.json().catch(() => ({}));
  if (status >= 300) throw new Told(status, told(body, status));
  return body;
}

export async function text(path) {
  const { answer, status } = await sent(path).catch(() => ({}));
  if (!answer) { lost(); throw gone(); }
  if (status >= 300) throw new Told(status, told(await answer.json().catch(() => ({})), status));
  return answer.text();
}

export function told(body, status) {
  const error = body?.error;
  return error?.what ? error : { what: `The server answered ${status}`, do: "Reload the page." };
}

// --- is it there? -------------------------------------------------------------
let hear = () => {};
let known = "";

/** `listener` is called with "here", "gone" or "strange" (started anew: our cookie is worth nothing) on a change. */
export function onState(listener) { hear = listener; }

function become(state) {
  if (known === state) return;
  known = state;
  hear(state);
}
const lost = () => become("gone");
const strange = () => become("strange");
export const reachable = () => known !== "gone" && known !== "strange";

// --- events -------------------------------------------------------------------
const AGAIN = 3000; // milliseconds until a server that was gone is looked for again
let source = null;

/** Listen to all events; after a break the server sends what was missed, or everything. */
export function listen(take) {
  source?.close();
  source = new EventSource(below("/events"));
  source.onopen = () => become("here");
  source.onmessage = (message) => { become("here"); take(JSON.parse(message.data)); };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) {
      // It answered, but not with events: a server that was started anew does not know our cookie.
      sent("/cases").then(({ status }) => (status === 401 ? strange() : lost()), lost);
      setTimeout(() => listen(take), AGAIN);
    } else {
      sent("/cases").then(({ status }) => { if (status === 401) strange(); }, lost);
    }
  };
}
