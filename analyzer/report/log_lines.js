// The drawer with the lines of the logs: those around the moment of a link, filtered by text, host and log.
// A page around this one that has the files of the case reads all lines from them; alone, the kept lines are all there is.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const part = $("log");
  if (!part) return; // no log was read
  const AROUND = 300; // seconds, as the text beside the link says
  const body = part.querySelector("tbody");
  const kept = [...body.rows];
  for (const row of kept) {
    const [time, host, log] = row.cells;
    Object.assign(row.dataset, { when: Date.parse(`${time.textContent.replace(" ", "T")}Z`) / 1000 || 0, host: host.textContent, log: log.firstChild.textContent.trim() });
  }
  const usual = $("log-said").textContent;
  const usualChoices = { "log-host": [...$("log-host").options], "log-name": [...$("log-name").options] };
  let rows = kept;
  let moment = null;
  let opener = null;
  let asks = 0; // number of the question that is answered now
  let said = ""; // what the page says of how far it is
  let waits = false; // no line came from the files yet: the kept ones are shown meanwhile
  const live = () => document.documentElement.dataset.log === "live";

  function filter() {
    const words = $("log-q").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [host, log] = [$("log-host").value, $("log-name").value];
    let shown = 0;
    let nearest = null;
    for (const row of rows) {
      const far = moment === null ? 0 : Math.abs(Number(row.dataset.when) - moment);
      const text = words.length ? searched(row) : "";
      row.hidden = far > (moment === null ? 0 : AROUND) || (host && row.dataset.host !== host) ||
        (log && row.dataset.log !== log) || !words.every((word) => text.includes(word));
      row.classList.remove("moment");
      if (row.hidden) continue;
      shown += 1;
      if (moment !== null && (!nearest || far < nearest.far)) nearest = { row, far };
    }
    nearest?.row.classList.add("moment");
    tell(shown, Boolean(words.length || host || log));
    return nearest?.row;
  }

  function tell(shown, filtered) {
    const when = moment === null ? "" : `${new Date(moment * 1000).toISOString().replace("T", " ").slice(0, 19)} UTC ±5 min: `;
    const count = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    if (waits) $("log-said").textContent = `${when}${said}${shown ? `; meanwhile ${count} kept lines` : ""}`;
    else if (rows !== kept) $("log-said").textContent = `${when}${said}${filtered ? `; ${count} shown` : ""}`;
    else $("log-said").textContent = when || shown < rows.length ? `${when}${count} kept lines` : usual;
  }

  // --- lines that the page around this one reads from the files ---
  function ask() {
    restore();
    said = "Reading the logs …";
    waits = true;
    notes([]);
    asks += 1;
    parent.postMessage({ backline: "log", around: moment, ask: asks }, "*");
  }

  function answered(event) {
    const { backline, ask: number, lines, said: word, notes: more, done, failed } = event.data ?? {};
    if (event.source !== parent || parent === window || backline !== "log" || number !== asks || moment === null) return;
    if (waits && (lines || done)) begin();
    if (lines) {
      const before = rows.length;
      rows.push(...lines.map(rowOf));
      body.append(...rows.slice(before));
    }
    if (word) said = word;
    if (failed) fail(failed);
    const nearest = filter();
    if (done) {
      notes(more ?? []);
      nearest?.scrollIntoView({ block: "center" });
    }
  }

  // The lines of the files take the place of the kept ones; what was chosen of those stays chosen.
  function begin() {
    waits = false;
    rows = [];
    body.replaceChildren();
    for (const id of ["log-host", "log-name"]) {
      const { value } = $(id);
      $(id).replaceChildren(usualChoices[id][0], ...(value ? [new Option(value)] : []));
      $(id).value = value;
    }
  }

  // The files are gone, or cannot be read: what was kept is still here.
  function fail(why) {
    restore();
    notes([`Only the kept lines are shown. ${why}`]);
  }

  function restore() {
    waits = false;
    rows = kept;
    body.replaceChildren(...kept);
    for (const id of ["log-host", "log-name"]) {
      $(id).replaceChildren(...usualChoices[id]);
      $(id).value = ""; // a browser may choose another one than "all" when choices come back
    }
  }

  function notes(texts) {
    $("log-notes").replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    $("log-notes").hidden = !texts.length;
  }

  function rowOf([when, time, host, log, level, component, thing, text, address]) {
    const row = document.createElement("tr");
    Object.assign(row.dataset, { when, host, log });
    for (const [id, value] of [["log-host", host], ["log-name", log]]) {
      if (![...$(id).options].some((one) => one.value === value)) $(id).append(new Option(value));
    }
    row.append(cell(time.replace("T", " ").replace("Z", "")), cell(host),
      cell(log, note(level), note(component)), cell(of("code", text), note(thing), of("small", address)));
    return row;
  }

  function cell(...children) {
    const made = document.createElement("td");
    for (const child of children) if (child) made.append(child, " ");
    return made;
  }

  function of(tag, text, kind = "") {
    return Object.assign(document.createElement(tag), { textContent: text, className: kind });
  }

  const note = (text) => text && of("span", text, "note");

  // --- open and close ---
  function open(link) {
    opener = link;
    moment = Number(link.dataset.around);
    for (const id of ["log-q", "log-host", "log-name"]) $(id).value = "";
    part.hidden = false;
    part.classList.add("drawer");
    $("log-close").hidden = false;
    $("log-box").open = true;
    if (live()) ask();
    filter()?.scrollIntoView({ block: "center" });
    part.focus({ preventScroll: true });
  }

  function close() {
    moment = null;
    if (live()) {
      asks += 1; // what still comes is not asked for any more
      parent.postMessage({ backline: "log", ask: asks }, "*");
      restore();
      notes([]);
    }
    part.classList.remove("drawer");
    part.hidden = !kept.length;
    $("log-close").hidden = true;
    filter();
    opener?.focus();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-around]");
    if (!link) return;
    event.preventDefault();
    open(link);
  });
  for (const id of ["log-q", "log-host", "log-name"]) $(id).addEventListener("input", filter);
  $("log-close").addEventListener("click", close);
  addEventListener("message", answered);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || moment === null) return;
    event.stopPropagation(); // the drawer alone is closed, wherever the focus is
    close();
  }, true);
  addEventListener("beforeprint", () => { if (moment !== null) close(); });
})();
