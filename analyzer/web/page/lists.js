// Lists of cases: those of the first page, the history, and the one line that says what runs.
import { $, SEVERITIES, bytes, count, make, many, marked, moment, write } from "./dom.js";
import { COUNTED, WORDS, all, behind, counted, isOver, isWork, named, questions, working, worst } from "./cases.js";
import { readable } from "./when.js";

const LATELY = 7;

/** A list whose rows never move while it is looked at: what is new is put at the end, the order is made anew by `open`. */
class Rows {
  constructor(list, actions) {
    this.list = list;
    this.actions = actions;
    this.rows = new Map();
  }

  open(cases) {
    this.rows.clear();
    this.list.replaceChildren();
    this.draw(cases);
  }

  draw(cases) {
    const ids = new Set(cases.map((one) => one.id));
    for (const [id, row] of this.rows) if (!ids.has(id)) this.take(id, row);
    for (const one of cases) {
      if (!this.rows.has(one.id)) this.add(one);
      this.fill(this.rows.get(one.id), one);
    }
  }

  take(id, row) {
    const heir = row.item.nextElementSibling ?? row.item.previousElementSibling;
    if (row.item.contains(document.activeElement)) (heir?.querySelector("a") ?? document.querySelector("section[data-page]:not([hidden]) h1")).focus();
    row.item.remove();
    this.rows.delete(id);
  }

  add(one) {
    const link = make("a", { href: `#${one.archived ? "archive=case/" : "case="}${one.id}`, class: "name" });
    const row = {
      link, counts: make("span", { class: "counts" }), note: make("span", { class: "note" }),
      bar: make("progress", { max: 1000, "aria-hidden": "true" }),
      remove: make("button", { type: "button", class: "small", onclick: () => this.actions.endOrRemove(one.id) }),
    };
    row.item = make("li", { class: "case" }, make("div", { class: "line" }, link, row.note), make("div", { class: "line" }, row.counts), row.bar, row.remove);
    this.list.append(row.item);
    this.rows.set(one.id, row);
  }

  fill(row, one) {
    write(row.link, one.name);
    const over = isOver(one);
    const bad = worst(one);
    const key = `${one.name} ${one.state} ${bad} ${counted(one)} ${said(one)}`;
    row.bar.hidden = over;
    const part = one.sending?.total ? one.sending.sent / one.sending.total : one.progress?.total ? one.progress.bytes / one.progress.total : null;
    if (["queued", "waiting"].includes(one.state)) row.bar.value = Math.round((part ?? 0) * 1000);
    else if (part == null || one.state !== "reading") row.bar.removeAttribute("value");
    else row.bar.value = Math.round(part * 1000);
    if (row.key === key) return;
    row.key = key;
    row.item.dataset.state = one.state;
    row.counts.replaceChildren(...(over && one.report ? numbers(one) : [make("span", { class: "state" }, said(one))]));
    write(row.note, [one.archived ? "archive" : "", this.list.id === "cases" && sortedByTime() ? timed(one) : moment(one.created)].filter(Boolean).join(" · "));
    write(row.remove, over ? "Remove" : "Cancel");
    row.remove.setAttribute("aria-label", `${over ? "Remove" : "Cancel"} ${one.name}`);
    row.remove.hidden = Boolean(one.archived);
  }
}

const sortedByTime = () => ["late", "early"].includes($("order").value);

/** When a case was: its incident, else the newest time in its material. */
function timed(one) {
  if (!one.time) return "no time known";
  const when = `${readable(new Date(one.time * 1000).toISOString().slice(0, 19))} UTC`;
  return `${one.incident ? "incident" : "captured"} ${when}`;
}

/** The counts of a case, as its report counts: a mark and a number for each severity that was found; the words are there to be read out. */
function numbers(one) {
  const parts = COUNTED.filter((word) => one.counts?.[word]).map((word) => make("span", { class: word, title: word }, marked(word), make("b", {}, count(one.counts[word])),
    make("span", SEVERITIES.includes(word) ? { class: "unseen" } : {}, ` ${named(word, one.counts[word])},`), " "));
  if (!parts.length) parts.push(make("span", {}, one.state === "partial" ? "nothing found in what could be read " : "nothing found "));
  if (one.state === "partial") parts.push(make("span", { class: "partly" }, "incomplete"));
  if (one.unknowns) parts.push(make("span", { class: "open" }, questions(one.unknowns)));
  return parts;
}

/** What a case waits for, or why it ended, in few words. */
function said(one) {
  if (one.state === "refused" || one.state === "failed") return `${WORDS[one.state]}: ${one.error?.what ?? ""}`;
  if (one.state === "queued") return behind(one).length ? `queued behind ${count(behind(one).length)}` : "its turn is next";
  if (one.state === "waiting" && !one.sending) return "waits for its files";
  if (one.state === "waiting" && !one.sending.started) return "upload waits";
  return WORDS[one.state] ?? one.state;
}

/** How many cases there are of each kind; a kind without a case is not named. Of the archive only the newest are here. */
function overview(cases) {
  const mine = cases.filter((one) => !one.archived);
  const kinds = [[isWork, "running"], [(one) => isOver(one) && one.report, "read"], [(one) => isOver(one) && !one.report, "without a report"]];
  const parts = kinds.map(([is, word]) => [mine.filter(is).length, word]).filter(([number]) => number).map(([number, word]) => `${count(number)} ${word}`);
  return [...parts, stored(cases.length - mine.length)].filter(Boolean).join(", ");
}

const stored = (number) => (number ? `the newest ${count(number)} of the archive` : "");

export class Lists {
  constructor(actions) {
    this.lately = new Rows($("lately"), actions);
    this.history = new Rows($("cases"), actions);
    this.view = "";
    const refilter = () => { if (this.view === "cases") this.open("cases"); };
    let typing = 0;
    $("q").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(refilter, 120); });
    for (const id of ["show", "order"]) $(id).addEventListener("change", refilter);
  }

  /** Make the lists of a page anew: newest first. */
  open(view) {
    this.view = view;
    if (view === "drop") {
      const cases = all();
      this.known = new Set(cases.map((one) => one.id));
      this.lately.open([...cases.filter(isWork), ...cases.filter(isOver)].slice(0, LATELY));
    }
    if (view === "cases") this.history.open(this.sorted(all().filter(this.filter())));
    this.draw();
  }

  draw() {
    this.strip();
    if (this.view === "drop") {
      const cases = all();
      const rows = this.lately.rows;
      const held = cases.filter((one) => rows.has(one.id));
      const fresh = cases.filter((one) => !rows.has(one.id) && !this.known.has(one.id));
      // The archive may be read before this page is opened or after: its cases fill up what room is left.
      const stored = fresh.filter((one) => one.archived).slice(0, Math.max(0, LATELY - rows.size));
      this.lately.draw([...held, ...fresh.filter((one) => !one.archived).reverse(), ...stored]);
      $("lately-empty").hidden = cases.length > 0;
      write($("lately-note"), overview(cases));
    }
    if (this.view === "cases") this.cases();
  }

  cases() {
    const fits = this.sorted(all().filter(this.filter()));
    const held = this.history.rows;
    this.history.draw(fits.filter((one) => held.has(one.id)).concat(fits.filter((one) => !held.has(one.id)).reverse()));
    const shelved = stored(all().filter((one) => one.archived).length);
    write($("cases-note"), `${count(fits.length)} of ${many(all().length, "case")}${shelved ? `, with ${shelved}` : ""}`);
    $("cases-empty").hidden = fits.length > 0;
    write($("cases-empty"), all().length ? 'No case matches. Empty the search or choose "all".' : "No case yet: drop something on the first page.");
  }

  /** Cases in the order that was chosen, given newest first; those whose time is not known come last. */
  sorted(cases) {
    const rank = (one) => SEVERITIES.indexOf(worst(one)) + (worst(one) ? 0 : SEVERITIES.length + 1);
    const byTime = (sign) => (a, b) => Number(!a.time) - Number(!b.time) || sign * ((a.time ?? 0) - (b.time ?? 0));
    const orders = { late: byTime(-1), early: byTime(1), worst: (a, b) => rank(a) - rank(b), name: (a, b) => a.name.localeCompare(b.name) };
    return $("order").value ? cases.sort(orders[$("order").value]) : cases;
  }

  filter() {
    const words = $("q").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = $("show").value;
    const kinds = {
      work: isWork,
      found: (one) => Boolean(worst(one)),
      major: (one) => ["critical", "major"].includes(worst(one)),
      unknown: (one) => one.unknowns > 0,
      trouble: (one) => ["partial", "refused", "failed", "cut"].includes(one.state),
    };
    return (one) => {
      const nodes = (one.nodes ?? []).map((node) => (typeof node === "string" ? node : Object.values(node).join(" "))).join(" ");
      const come = (one.findings ?? []).map((finding) => `${finding.rule} ${finding.title} ${finding.subject} ${finding.node} ${(finding.kb ?? []).map((kb) => `kb ${kb}`).join(" ")}`).join(" ");
      const text = `${one.name} ${WORDS[one.state]} ${counted(one)} ${one.path ?? ""} ${nodes} ${come}`.toLowerCase();
      return words.every((word) => text.includes(word)) && (!kind || kinds[kind](one));
    };
  }

  /** One line below the head, always there: what runs and what waits. */
  strip() {
    if ($("strip").dataset.is) return; // the line says something more important
    const open = working();
    const now = open.find((one) => ["reading", "judging", "writing"].includes(one.state));
    const sent = open.filter((one) => one.state === "waiting" && one.sending);
    const queued = open.filter((one) => one.state === "queued").length;
    const parts = [];
    if (now) parts.push(`${WORDS[now.state]} "${now.name}"`);
    if (sent.length) {
      const [bytesSent, total] = sent.reduce(([a, b], one) => [a + one.sending.sent, b + one.sending.total], [0, 0]);
      parts.push(`uploading ${sent.length > 1 ? many(sent.length, "case") : `"${sent[0].name}"`}: ${bytes(bytesSent)} of ${bytes(total)}`);
    }
    if (queued) parts.push(`${count(queued)} queued`);
    const line = parts.join(" · ") || "Nothing running.";
    write($("strip-text"), line[0].toUpperCase() + line.slice(1));
    const part = sent.length ? "↑ " : now ? "● " : "";
    document.title = `${part}${now ? `${now.name} – ` : ""}Backline`;
  }
}
