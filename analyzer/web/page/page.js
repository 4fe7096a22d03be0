// The drag-in page: puts together what is given (drop), sent (upload), known (cases) and shown (case, lists).
// Nothing here writes markup: text goes in as textContent only.
import { $, copy, count, hear, make, many, offer, say, write } from "./dom.js";
import { ask, below, enter, help, listen, onState, reachable, takeToken, text } from "./link.js";
import { takeChoices, takeDrops, takePastes } from "./drop.js";
import { Sending, sendingNow } from "./upload.js";
import * as cases from "./cases.js";
import * as view from "./case.js";
import * as comparison from "./compare.js";
import * as naming from "./rename.js";
import * as when from "./when.js";
import { Lists } from "./lists.js";

const root = document.documentElement;
let info = {};
let adding = ""; // id of the case that chosen files are added to
let lists = null;
let here = ""; // the address now, and the one before it: where Back of a stored case leads
let before = "";

// --- dark and light -----------------------------------------------------------
const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

function theme(on) {
  if (on !== undefined) {
    root.dataset.theme = on ? "dark" : "light";
    localStorage.setItem("backline-theme", root.dataset.theme);
  }
  write($("theme"), dark() ? "Light" : "Dark");
  view.themed();
}

// --- a case is given --------------------------------------------------------------
async function give(given) {
  const { name, pieces, empty, unreadable } = given;
  const into = cases.get(adding);
  adding = "";
  if (!pieces.length) {
    const why = unreadable.length ? "cannot be read: is it still there?" : "is empty: there is nothing to read.";
    write($("zone-what"), `"${name}" ${why}`);
    say(`"${name}" ${why}`);
    return;
  }
  if (into && waits(into)) { await join(into, given); return; }
  const busy = cases.working().length > 0;
  const files = announced(pieces);
  const incident = given.incident ?? $("incident").value;
  try {
    const told = await ask("POST", "/cases", { name, files, incident, together: Boolean(given.together) });
    if (told.many) { askMany(name, told, (each) => giveEach({ ...given, incident }, each && told.many)); return; }
    $("incident").value = ""; // it was that of this case
    const { id } = told;
    cases.mine(id, true);
    const one = cases.get(id) ?? cases.put({ id, name, state: "waiting", files: files.length, bytes: total(pieces), created: Date.now() / 1000 });
    Object.assign(one, { given, left: leftOut(empty, unreadable), cut: null, state: "waiting", error: {} });
    one.sending = new Sending(id, pieces, 0, cases.touch, (error) => sent(one, error));
    hear(busy ? `${name} is a separate case, queued behind the one that is running` : `${name}: ${many(files.length, "file")} being uploaded`);
    go(`case=${id}`);
  } catch (error) {
    refused(given, error);
  }
}

const announced = (pieces) => pieces.map(({ name, size, modified }) => ({ name, size, modified }));
const total = (pieces) => pieces.reduce((sum, piece) => sum + piece.size, 0);

function leftOut(empty, unreadable) {
  const left = [];
  if (unreadable.length) {
    const some = unreadable.slice(0, 3).map((path) => `"${path}"`).join(", ");
    left.push(`The browser could not read ${many(unreadable.length, "dropped file or folder", "dropped files or folders")}, left out: ${some}${unreadable.length > 3 ? ", …" : ""}.`);
  }
  if (empty.length) left.push(`${many(empty.length, "empty folder was", "empty folders were")} left out.`);
  return left;
}

/** Do one thing after the other with a case: the server must hear of further files, the start and the end in this order. */
const inTurn = (one, act) => (one.turn = (one.turn ?? Promise.resolve()).catch(() => {}).then(act));

/** Put further files into a case that is not read yet; only they are sent. What comes too late is a case of its own. */
const join = (one, given) => inTurn(one, async () => {
  const { pieces } = given;
  const { sending } = one;
  sending?.hold();
  try {
    const { first } = await ask("POST", `/cases/${one.id}/files`, { files: announced(pieces) });
    further(one, given, first);
    say(`${many(pieces.length, "file")} put into "${one.name}"`);
  } catch (error) {
    if (![404, 409].includes(error.status)) { refused(given, error); return; }
    await give(given);
    say(`Too late for "${one.name}": "${given.name}" is a separate case`);
  } finally {
    sending?.release();
  }
});

function further(one, given, first) {
  const { name, pieces, empty, unreadable } = one.given;
  one.given = { name, pieces: [...pieces, ...given.pieces], empty: [...empty, ...given.empty], unreadable: [...unreadable, ...given.unreadable] };
  Object.assign(one, { state: "waiting", place: 0, files: first + given.pieces.length, bytes: total(one.given.pieces), left: leftOut(one.given.empty, one.given.unreadable) });
  if (one.sending && !one.sending.over) one.sending.add(given.pieces, first);
  else one.sending = new Sending(one.id, given.pieces, first, cases.touch, (error) => sent(one, error));
  cases.mine(one.id, true);
  cases.touch();
  go(`case=${one.id}`);
}

/** All files of a case are here, or sending ended with an error. */
function sent(one, error) {
  const { sending } = one;
  inTurn(one, () => { if (error || one.sending === sending) return begin(one, error); }); // else more are sent by now
}

async function begin(one, error) {
  let failed = error;
  if (!failed) {
    try {
      await ask("POST", `/cases/${one.id}/start`);
    } catch (problem) {
      failed = problem;
    }
  }
  one.sending?.stop();
  one.sending = null;
  cases.mine(one.id, false);
  if (failed) {
    cases.cut(one, failed.parts ?? { what: String(failed) });
    ask("POST", `/cases/${one.id}/cancel`).catch(() => {});
  }
  cases.touch();
}

/** A case that the server did not take stands in the list nevertheless, with the reason. */
function refused(given, error) {
  const one = cases.put({ id: `local-${Date.now()}`, name: given.name, state: "refused", created: Date.now() / 1000, error: error.parts ?? { what: String(error) } });
  Object.assign(one, { given, local: true });
  go(`case=${one.id}`);
  hear(`${given.name} was not taken: ${one.error.what}`);
}

/** Give a path; of a folder of many cases what is meant is asked for first. */
async function takePath(path, together, incident = $("incident").value) {
  const told = await ask("POST", "/cases", { path, together, incident });
  const { id, many: names } = told;
  if (names) {
    const each = async () => {
      for (const name of names) await takePath(`${path.replace(/[\\/]+$/, "")}/${name}`, true, incident).catch((error) => refused({ name, pieces: [] }, error));
      go("cases");
    };
    askMany(path, told, (apart) => (apart ? each() : takePath(path, true, incident)));
    return names;
  }
  await ask("POST", `/cases/${id}/start`);
  const one = cases.put(await ask("GET", `/cases/${id}`));
  for (const field of ["path", "incident"]) $(field).value = "";
  go(`case=${id}`);
  hear(`${one.name}: read where it lies`);
  return null;
}

const quoted = (names) => names.slice(0, 3).map((one) => `"${one}"`).join(", ") + (names.length > 3 ? ", …" : "");

/** Ask whether a folder of folders or archives is many cases or one. */
function askMany(name, { many: names, kind, beside, archive }, answer) {
  write($("many-title"), archive ? `${count(names.length)} cases: batch them into the archive?` : `${count(names.length)} cases: read each by itself?`);
  write($("many-what"), `"${name}" holds ${count(names.length)} ${kind} that look like a case each: ${quoted(names)}`);
  write($("many-beside"), beside.length ? `Left out then, as they belong to none of them: ${quoted(beside)}` : "");
  $("many-beside").hidden = !beside.length;
  write($("many-how"), archive ? "Each is read by itself, one after the other, and stored in the archive." : "Each is read by itself, one after the other. To keep them and search over all, batch them into an archive:");
  $("many-command").hidden = archive;
  write($("many-command"), `backline batch ${/[\s'"]/.test(name) ? `"${name}"` : name} --archive ARCHIVE`);
  const dialog = $("many");
  dialog.onclose = () => { if (dialog.returnValue === "each" || dialog.returnValue === "one") Promise.resolve(answer(dialog.returnValue === "each")).catch((error) => say(String(error.parts?.what ?? error))); };
  dialog.returnValue = "";
  dialog.showModal();
}

/** Give what was dropped as one case for each of its folders and archives, or as the one case that it is. */
async function giveEach(given, names) {
  if (!names) { await give({ ...given, together: true }); return; }
  const tops = new Set(given.pieces.map((piece) => piece.name.split("/")[0]));
  const at = tops.size > 1 ? 0 : 1; // dropped side by side, or in a folder
  for (const name of names) {
    const pieces = given.pieces.filter((piece) => piece.name.split("/")[at] === name);
    await give({ ...given, name, pieces, together: true });
  }
  go("cases");
}

async function givePath(event) {
  event.preventDefault();
  const path = $("path").value.trim().replace(/^["']|["']$/g, "");
  write($("path-said"), "");
  if (!path) {
    write($("path-said"), "Type the path of a file or folder first.");
    $("path").focus();
    return;
  }
  try {
    if (await takePath(path, false)) return;
  } catch (error) {
    const { what, why, do: todo } = error.parts ?? { what: String(error) };
    const told = [what, why, todo].filter(Boolean).join(". ").replace(/\.\./g, ".");
    write($("path-said"), `${told[0].toUpperCase()}${told.slice(1)}`);
    $("path").focus();
  }
}

// --- what can be done with a case --------------------------------------------------
const waits = (one) => Boolean(one.given) && (one.state === "queued" || Boolean(one.sending));

const actions = {
  canAdd: waits,
  canJoin: (one) => waits(one) && cases.working().find((other) => other !== one && waits(other) && other.order < one.order),
  canRetry: (one) => !one.archived && (["failed", "cancelled"].includes(one.state) || (["cut", "refused"].includes(one.state) && Boolean(one.given) && (one.local || one.cut))),
  endOrRemove: (id) => (cases.isOver(cases.get(id)) ? putAway(id) : cancel(id)),
};

async function cancel(id) {
  const one = cases.get(id);
  one.sending?.stop();
  await inTurn(one, () => end(one));
}

async function end(one) {
  const { id } = one;
  one.sending?.stop();
  one.sending = null;
  cases.mine(id, false);
  try {
    await ask("POST", `/cases/${id}/cancel`);
    one.cut = null;
    if (!cases.isOver(one)) Object.assign(one, { state: "cancelled", error: {} });
  } catch (error) {
    say(`Not cancelled: ${error.parts?.what ?? error}`);
  }
  cases.touch();
}

const UNDO = 8000; // milliseconds in which a case that was removed can be had back
const removing = new Set(); // what ends the waiting of each

/** Take a case off the lists; it is removed for good when nobody took that back. */
function putAway(id) {
  const one = cases.get(id);
  const settle = offer(`"${one.name}" removed.`, "Undo", () => {
    one.removing = false;
    removing.delete(settle);
    cases.touch();
    lists.open(place()[0]);
    go(`case=${id}`);
  }, () => { removing.delete(settle); removeCase(id, true); }, UNDO);
  removing.add(settle);
  one.removing = true;
  cases.touch();
  lists.open(place()[0]);
  if (view.current() === id) go("drop");
}

/** A window that closes cannot wait: what was removed in it is removed now. */
function leave() {
  for (const one of cases.away()) fetch(below(`/cases/${one.id}`), { method: "DELETE", keepalive: true });
}

async function removeCase(id, silent = false) {
  const one = cases.get(id);
  if (!one) return;
  one.sending?.stop();
  await one.turn?.catch(() => {});
  one.sending?.stop();
  try {
    if (!one.local) await ask("DELETE", `/cases/${id}`);
  } catch (error) {
    if (error.status !== 404) { say(`Not removed: ${error.parts?.what ?? error}`); return; }
  }
  cases.mine(id, false);
  cases.remove(id);
  if (silent) return;
  say(`"${one.name}" removed`);
  if (view.current() === id) go("drop");
}

/** What is still with the server is read again; else the files are sent again, if this window still has them. */
async function retry(id) {
  const one = cases.get(id);
  if (!one.given || (!one.local && !one.cut)) {
    try {
      await ask("POST", `/cases/${id}/start`);
      return;
    } catch (error) {
      if (!one.given) { say(`Not tried: ${[error.parts?.why, error.parts?.do].filter(Boolean).join(". ") || error}`); return; }
    }
  }
  await removeCase(id, true);
  await give(one.given);
}

// --- pages ---------------------------------------------------------------------------
const PAGES = ["drop", "cases", "case", "archive", "rules"];
const ROOMS = { archive: "/library.js", rules: "/bench.js" };
const HELP = { drop: "page#give-it-a-case", cases: "page#read", case: "page#watch", archive: "archive#search", rules: "page#rules" };
const HELP_ON = { "compare-help": "compare#what-is-compared-with-what", "many-help": "archive#fill-it", "ended-help": "page#when-something-goes-wrong" };
const rooms = new Map();

function go(to) {
  if (location.hash === `#${to}`) follow();
  else location.hash = to;
}

function place() {
  const [page, rest = ""] = location.hash.slice(1).split("=");
  return [PAGES.includes(page) ? page : "drop", rest];
}

function follow() {
  const [page, rest] = place();
  if (page === "case" && shelved(rest)) return;
  const address = location.hash.slice(1);
  if (address !== here) [before, here] = [here, address];
  if (page === "case" && !before.startsWith("case=")) $("case-back").href = `#${before.startsWith("cases") ? before : "drop"}`;
  const moved = document.body.dataset.view !== page || (page === "case" && view.current() !== rest);
  document.body.dataset.view = page;
  for (const section of document.querySelectorAll("section[data-page]")) section.hidden = section.dataset.page !== page;
  for (const link of $("nav").children) {
    if (link.dataset.view === page) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (page !== "case") view.close();
  lists.open(page);
  $("help").href = help(HELP[page]);
  if (page === "case") drawCase(rest);
  if (ROOMS[page]) room(page, rest);
  if (moved && document.body.dataset.done) document.querySelector(`section[data-page="${page}"] h1`)?.focus({ preventScroll: true });
  if (moved) scrollTo(0, 0);
}

/** A stored case has one view, that of the archive, wherever it is opened from; true when the page goes there. */
function shelved(id) {
  const stored = Boolean(cases.get(id)?.archived);
  if (stored) location.replace(`#archive=case/${id}`);
  return stored;
}

function drawCase(id) {
  if (shelved(id)) return;
  const one = cases.get(id);
  if (one) {
    view.draw(one, actions);
    $("help").href = help(!cases.isOver(one) ? HELP.case : one.report ? "page#read" : "page#when-something-goes-wrong");
    comparison.offer(one);
  } else view.draw({ id, name: "This case is not here", state: "refused", created: 0, findings: [], archived: true,
    error: { what: "This case no longer exists", why: "It was removed, or the server was restarted since.", do: "Go back to the list." } }, actions);
}

/** Archive and Rules are modules of their own: `show(place, rest, kit)` draws into `place`, each time it is opened. */
async function room(page, rest) {
  try {
    if (!rooms.has(page)) rooms.set(page, await import(ROOMS[page]));
    await rooms.get(page).show($(page), rest, { ask, text, make, write, say, copy, go, before, archive: Boolean(info.archive) });
  } catch (error) {
    $(page).replaceChildren(make("h1", { tabindex: "-1" }, "This page cannot be shown"), make("p", {}, error.parts?.what ?? String(error)));
  }
}

/** Go from a case to where it was opened. */
function leaveCase() {
  const [page] = place();
  if (page === "case") go($("case-back").getAttribute("href").slice(1));
  else if (location.hash.startsWith("#archive=case/")) document.querySelector(".shelf-case .casehead a").click();
}

// --- keys ------------------------------------------------------------------------------
function keys(event) {
  const undo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === "z" && !event.target.closest?.("input, textarea") && document.querySelector("#said button");
  if (undo) { event.preventDefault(); undo.click(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, textarea, select");
  const [page] = place();
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
    if (event.target === $("q")) { $("q").value = ""; $("q").dispatchEvent(new Event("input")); $("q").blur(); }
    else if (!typing) leaveCase();
    return;
  }
  if (["j", "k", "/"].includes(event.key) && !typing && !document.querySelector("dialog[open]") && view.passKey(event.key)) {
    event.preventDefault();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  const list = step && event.target.matches?.("a.name") && event.target.closest("ul.rows");
  if (list) {
    const names = [...list.querySelectorAll("a.name")].filter((one) => one.offsetParent);
    event.preventDefault();
    names[Math.max(0, Math.min(names.length - 1, names.indexOf(event.target) + step))].focus();
    return;
  }
  if (event.key !== "/" || typing || event.target.closest?.("dialog")) return;
  const search = document.querySelector(`section[data-page="${page}"] input[type=search]`);
  event.preventDefault();
  if (search?.offsetParent) { search.focus(); search.select(); } else if (page !== "rules") { go("cases"); setTimeout(() => $("q").focus()); }
}

// --- the server ----------------------------------------------------------------------------
async function refresh() {
  const { cases: known } = await ask("GET", "/cases");
  cases.takeAll(known.reverse());
}

function state(now) {
  const strip = $("strip");
  if (now === "here") {
    delete strip.dataset.is;
    $("strip-text").removeAttribute("role");
    lists?.draw();
    return;
  }
  strip.dataset.is = now;
  $("strip-text").setAttribute("role", "alert");
  write($("strip-text"), now === "gone"
    ? 'The server does not answer: was it stopped? Start "backline serve" again and open the address it prints. An open report stays readable.'
    : 'Backline was restarted. Open the address that "backline serve" printed now; earlier cases are gone.');
}

function shut(what, todo) {
  for (const section of document.querySelectorAll("section[data-page]")) section.hidden = section.dataset.page !== "shut";
  $("nav").hidden = true;
  write($("shut-why"), what);
  write($("shut-do"), todo);
  document.body.dataset.view = "shut";
  document.body.dataset.done = "shut";
}

async function start() {
  const kept = localStorage.getItem("backline-theme");
  if (kept) root.dataset.theme = kept;
  theme();
  takeToken();
  lists = new Lists(actions);
  onState(state);
  let known = false;
  try {
    known = await enter();
  } catch {
    shut("The server does not answer.", 'Start "backline serve" again and open the address it prints.');
    return;
  }
  if (!known) {
    shut('Only the address that "backline serve" printed opens this page: other users of this machine must not read your cases.',
      'Open that address (it ends with # and a key), or start "backline serve" again.');
    return;
  }
  info = await ask("GET", "/info").catch(() => ({}));
  document.querySelector('#nav [data-view="archive"]').hidden = !info.archive;
  if (info.archive) write($("case-other-label"), "A case of the list, a stored case by its name or id, or a path on this machine");
  await refresh();
  bind();
  listen(cases.take);
  for (const [id, to] of Object.entries(HELP_ON)) $(id).href = help(to);
  follow();
  document.body.dataset.done = "yes";
}

function bind() {
  cases.onChange(() => {
    lists.draw();
    const [page, rest] = place();
    if (page === "case") drawCase(rest);
  });
  takeDrops(give);
  takeChoices(give);
  takePastes(give);
  $("path-form").addEventListener("submit", givePath);
  $("path").addEventListener("input", () => write($("path-said"), ""));
  $("theme").addEventListener("click", () => theme(!dark()));
  system.addEventListener("change", () => theme());
  $("case-cancel").addEventListener("click", () => cancel(view.current()));
  $("case-remove").addEventListener("click", () => putAway(view.current()));
  addEventListener("pagehide", leave);
  $("case-retry").addEventListener("click", () => retry(view.current()));
  $("case-compare").addEventListener("click", () => comparison.open(view.current()));
  comparison.bind(view.current);
  $("case-rename").addEventListener("click", () => naming.open(view.current()));
  naming.bind();
  $("case-when").addEventListener("click", () => when.open(view.current()));
  when.bind();
  view.onLeave(leaveCase);
  $("case-note").addEventListener("click", () => view.copyNote(cases.get(view.current()).base));
  $("case-join").addEventListener("click", () => {
    const one = cases.get(view.current());
    const other = actions.canJoin(one);
    const { given } = one;
    if (other) removeCase(one.id, true).then(() => join(other, given));
  });
  $("case-add").addEventListener("click", () => { adding = view.current(); $("files").click(); });
  $("files").addEventListener("cancel", () => { adding = ""; });
  addEventListener("hashchange", follow);
  addEventListener("keydown", keys);
  addEventListener("beforeunload", (event) => { if (sendingNow() && reachable()) event.preventDefault(); });
}

start();
