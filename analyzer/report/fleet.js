// The page around the map: filters, views, the panel beside it, copying, dark and light, paper.
// Nothing here writes markup: text goes in as textContent only.
"use strict";
(() => {
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  root.classList.add("js");
  const { rules, hosts, cases, states, FOUND, OPEN, SIGN, VIEWS, text, many, time, unread, push, signOf, hostCell, hitsAt } = fleet;
  const HINT = "Point at a cell, or move with the arrow keys, to read it here.";
  const LISTED = 50; // rows of one list in the panel
  const NONE = SIGN["/"];
  const map = fleetMap(openAt, (said) => { $("here").textContent = said; });
  let view = VIEWS[fleet.start] ? fleet.start : "case";
  let shown = { rows: [], cols: [] };
  let only = -1; // a rule that the rows must have a finding of, or an open subject

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "on") node.addEventListener("click", value);
      else if (value !== null && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== ""));
    return node;
  }

  // --- the panel -----------------------------------------------------------
  const panel = $("panel");
  const command = (number) => `backline archive show ${cases.short[number]} --archive ${fleet.archive}`;
  const chip = (spot) => make("span", { class: `chip s${spot}` }, states[spot][1]);
  const link = (label, action) => make("button", { type: "button", class: "plain", on: action }, label);
  const copyable = (said) => make("span", { class: "copyable" }, make("code", {}, said), make("button", { type: "button", class: "copy", "data-copy": "", "aria-label": "Copy the text" }, "Copy"));
  const kbAddress = (number) => `https://knowledge.broadcom.com/external/article${number >= 100000 && number < 1000000 ? "/" : "?legacyId="}${number}`;
  const kbLinks = (rule) => rules[rule][2].flatMap((number, place) => [place ? ", " : "", make("a", { href: kbAddress(Number(number)), rel: "noopener noreferrer", target: "_blank" }, `KB ${Number(number)}`)]);

  function open(title, hash, ...content) {
    const close = make("button", { type: "button", on: () => shut() }, "Close");
    panel.replaceChildren(make("div", { class: "panelhead" }, make("h2", { id: "panel-title" }, title), close), ...content.flat().filter((part) => part !== null && part !== ""));
    panel.hidden = false;
    $("split").classList.add("open");
    panel.scrollTop = 0;
    history.replaceState(null, "", `#${hash}`);
    map.refresh();
    panel.focus({ preventScroll: true });
    document.body.dataset.open = hash;
  }
  function shut(focus = true) {
    if (panel.hidden) return;
    panel.hidden = true;
    $("split").classList.remove("open");
    history.replaceState(null, "", location.pathname + location.search);
    delete document.body.dataset.open;
    map.refresh();
    if (focus) map.focus();
  }

  // Open what stands at a row and a column of a view; -1 is a head.
  function openAt(kind, row, col) {
    if (kind === "month") openRule(row < 0 ? shown.rows[0] : row);
    else if (row < 0) openRule(col);
    else if (kind === "host") openHost(row, col);
    else if (col < 0) openCase(row);
    else openCell(row, col);
  }

  const kindOf = (hit) => (signOf(hit) === OPEN ? "open subject" : "finding");
  const firstSeen = (seconds) => (seconds < 0 ? "no time is known" : `first seen ${time(seconds)}`);

  // The sentences of hits; `who` says what stands before a sentence: its host, or its case and host.
  function sentences(list, who) {
    const items = [];
    let more = 0;
    for (const hit of list) {
      const known = fleet.notesOf.get(hit) ?? [];
      const take = known.slice(0, Math.max(0, LISTED - items.length));
      items.push(...take.map((note) => sentence(hit, note, who)));
      more += fleet.hits.count[hit] - take.length;
      if (!known.length && items.length < LISTED) {
        items.push(make("li", {}, chip(signOf(hit)), who(hit), `: ${many(fleet.hits.count[hit], kindOf(hit))}${signOf(hit) < FOUND ? `, ${firstSeen(fleet.hits.first[hit])}` : ""}; not shown on this page`));
        more -= fleet.hits.count[hit];
      }
    }
    return [make("ul", {}, ...items), more > 0 ? make("p", { class: "note" }, `${more.toLocaleString("en")} more are not shown on this page; the whole report has them.`) : null];
  }

  function sentence(hit, [, seen, subject, weight, say, missing, ask, muted, anchor], who) {
    const spot = signOf(hit);
    const label = text(weight) || states[spot][2];
    const first = spot < FOUND ? firstSeen(seen) : "";
    const about = [text(subject), first].filter(Boolean).join(", ");
    return make("li", {}, chip(spot), make("b", {}, label), " ", who(hit), about ? make("div", { class: "note" }, about) : "",
      make("div", {}, spot === OPEN && missing !== undefined && text(missing) ? `Missing: ${text(missing)}. ` : "", text(say)),
      muted !== undefined && text(muted) ? make("div", { class: "note" }, `Muted: ${text(muted)}`) : "",
      ask !== undefined && text(ask) ? make("div", {}, "Ask for: ", ...wanted(text(ask))) : "",
      anchor !== undefined && text(anchor) ? make("a", { href: `cases/${cases.short[fleet.hits.case[hit]]}/report.html#f=${text(anchor)}` }, "In the report") : "");
  }

  // What stands between backticks is a command, the rest are words about it.
  function wanted(ask) {
    const parts = ask.split(/`([^`\n]+)`/);
    if (parts.length === 1) return [copyable(ask)];
    return parts.map((part, at) => (at % 2 ? copyable(part) : part.trim())).filter(Boolean);
  }

  function whole(number) {
    if (unread(number)) return [];
    if (cases.report[number] === "y") return [make("p", {}, make("a", { href: `cases/${cases.short[number]}/report.html` }, "Open the whole case report"))];
    return [make("h3", {}, "The whole report"), copyable(command(number))];
  }
  function aboutCase(number) {
    const out = [make("p", { class: "note" }, `Case ${cases.short[number]}, captured ${time(cases.captured[number])}, stored ${time(cases.stored[number])}. Read from ${text(cases.source[number])}`)];
    if (unread(number)) out.push(make("p", { class: "odd" }, `Could not be read: ${text(cases.why[number])}. No rule was judged, so nothing is known of it.`));
    else if (cases.whole[number] === "n") out.push(make("p", { class: "odd" }, "The material is incomplete: absence proves nothing in the missing parts."));
    return out;
  }
  const casesOf = (list) => many(new Set(list.map((hit) => fleet.hits.case[hit])).size, "case");
  const hostOf = (hit) => make("span", {}, text(hosts[fleet.hits.host[hit]][0]));

  function openCell(number, rule) {
    const list = hitsAt(number, rule);
    const spot = fleet.signAt(number, rule);
    open(`${text(cases.name[number])}: ${rules[rule][0]}`, `case=${cases.short[number]}&rule=${encodeURIComponent(rules[rule][0])}`,
      make("p", {}, make("b", {}, rules[rule][1]), " ", ...kbLinks(rule)),
      make("p", {}, chip(spot), unread(number) ? "not judged: the case could not be read" : fleet.inWords(spot, list)),
      list.length ? sentences(list, hostOf) : [],
      make("div", { class: "actions" }, make("button", { type: "button", on: () => openCase(number) }, "All of this case"), make("button", { type: "button", on: () => openRule(rule) }, "This rule in all cases")),
      whole(number), aboutCase(number));
  }

  function openCase(number) {
    const parts = [];
    const shown = [...new Set(fleet.byCase[number].map((hit) => fleet.hits.rule[hit]))].slice(0, LISTED);
    for (const rule of shown) {
      const list = hitsAt(number, rule);
      parts.push(make("h3", {}, link(`${fleet.ruleText(rule)}`, () => openCell(number, rule))), ...sentences(list, hostOf).filter(Boolean));
    }
    // open questions of many cases are not on the page
    const others = fleet.range(rules.length).filter((rule) => !shown.includes(rule));
    const count = fleet.signs("case", number, others, new Uint16Array(states.length));
    const rest = states.map((state, spot) => (count[spot] ? `${state[2]}: ${many(count[spot], "rule")}` : "")).filter(Boolean).join("; ");
    open(text(cases.name[number]), `case=${cases.short[number]}`, aboutCase(number), whole(number), parts, rest ? make("p", { class: "note" }, `${rest}.`) : null);
  }

  function openHost(number, rule) {
    const list = rule < 0 ? fleet.byHost[number] : hostCell(number, rule);
    const name = VIEWS.host.row(number);
    const where = (hit) => make("span", {}, `${rules[fleet.hits.rule[hit]][0]}, `, link(text(cases.name[fleet.hits.case[hit]]), () => openCell(fleet.hits.case[hit], fleet.hits.rule[hit])));
    open(rule < 0 ? name : `${name}: ${rules[rule][0]}`, `host=${encodeURIComponent(text(hosts[number][0]))}${rule < 0 ? "" : `&rule=${encodeURIComponent(rules[rule][0])}`}`,
      text(hosts[number][1]) ? make("p", {}, text(hosts[number][1])) : null,
      list.length ? make("p", {}, `In ${casesOf(list)}, ${firstSeen(fleet.earliest(list.filter((hit) => signOf(hit) < FOUND)))}.`) : make("p", {}, "Nothing is recorded here. The row of the case shows whether the rule could look."),
      sentences(list, where), rule >= 0 ? make("div", { class: "actions" }, make("button", { type: "button", on: () => openHost(number, -1) }, "All of the host")) : null);
  }

  function openRule(rule) {
    const count = new Uint32Array(states.length);
    cases.short.forEach((_, row) => { count[fleet.signAt(row, rule)] += 1; });
    const found = fleet.byRule[rule].filter((hit) => signOf(hit) < FOUND);
    const perHost = new Map();
    for (const hit of found) push(perHost, fleet.hits.host[hit], hit);
    const rows = [...perHost].map(([host, list]) => [host, fleet.earliest(list), list]).sort((a, b) => (a[1] < 0) - (b[1] < 0) || a[1] - b[1] || a[0] - b[0]);
    open(rules[rule][0], `rule=${encodeURIComponent(rules[rule][0])}`, make("p", {}, make("b", {}, rules[rule][1]), " ", ...kbLinks(rule)),
      make("ul", {}, ...states.map((state, spot) => (count[spot] ? make("li", {}, chip(spot), `${state[2]}: ${many(count[spot], "case")}`) : ""))),
      make("div", { class: "actions" }, make("button", { type: "button", on: () => choose(rule) }, "Only what this rule found or cannot tell")),
      make("h3", {}, `Hosts that showed it: ${rows.length.toLocaleString("en")}, earliest first`),
      make("ul", {}, ...rows.slice(0, LISTED).map(([host, first, list]) => make("li", {}, chip(fleet.worstOf(list)), link(VIEWS.host.row(host), () => openHost(host, rule)), make("div", { class: "note" }, `${firstSeen(first)}, in ${casesOf(list)}`)))),
      rows.length > LISTED ? make("p", { class: "note" }, `${many(rows.length - LISTED, "more host")}: see the view Hosts.`) : null);
  }

  function choose(rule) {
    only = rule;
    if (view === "month") show("case"); else filter(true);
    map.find(shown.rows[0], rule);
    shut();
  }

  // --- filters -------------------------------------------------------------
  function filter(start = false) {
    shown = fleet.choose(view, { rows: $("q").value, rules: $("qr").value, choice: $("show").value, order: $("sort").value, only });
    const kind = VIEWS[view];
    const more = view === "month" ? "" : `, ${shown.cols.length.toLocaleString("en")} of ${many(rules.length, "rule")}`;
    $("count").textContent = `${shown.rows.length.toLocaleString("en")} of ${many(kind.all(), kind.unit)}${more}`;
    $("only").hidden = only < 0 || view === "month";
    if (only >= 0) $("only").textContent = `Only with ${rules[only][0]}: show all again`;
    map.show(view, shown, start);
  }

  // --- copying, dark and light ---------------------------------------------
  let silence = 0;
  function say(said) {
    $("said").textContent = said;
    clearTimeout(silence);
    silence = setTimeout(() => { $("said").textContent = ""; }, 2500);
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const code = button.closest(".copyable").querySelector("code");
    try { await navigator.clipboard.writeText(code.textContent); say("Text copied"); } catch {
      getSelection().selectAllChildren(code);
      say("The browser does not let a page copy; the text is selected");
    }
  });
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => { $("theme").textContent = dark() ? "Light" : "Dark"; };
  $("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; showTheme(); });
  system.addEventListener("change", showTheme);

  // --- tabs, filters, keys, links into the page ----------------------------
  const TABS = ["case", "host", "month"];
  function show(name) {
    view = name;
    document.body.dataset.view = name;
    for (const each of TABS) {
      $(`tab-${each}`).setAttribute("aria-selected", String(each === name));
      $(`tab-${each}`).tabIndex = each === name ? 0 : -1;
    }
    $("map").setAttribute("aria-labelledby", `tab-${name}`);
    $("find-rows").textContent = name === "host" ? "Hosts" : "Cases";
    filter(true);
    $("here").textContent = HINT;
  }
  for (const name of TABS) $(`tab-${name}`).addEventListener("click", () => { shut(false); show(name); });
  $("tab-case").parentElement.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = TABS[(TABS.indexOf(view) + step + TABS.length) % TABS.length];
    shut(false);
    show(next);
    $(`tab-${next}`).focus();
  });
  let typing = 0;
  const anew = () => filter(true);
  for (const id of ["q", "qr"]) $(id).addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(anew, 120); });
  for (const id of ["show", "sort"]) $(id).addEventListener("change", anew);
  $("only").addEventListener("click", () => { only = -1; anew(); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (!panel.hidden) shut();
      else if (event.target.matches("#q, #qr")) { event.target.value = ""; anew(); }
    } else if (event.key === "/" && !event.target.closest("input, select")) { event.preventDefault(); $(view === "month" ? "qr" : "q").focus(); }
  });

  function follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.has("framed")) root.dataset.framed = "yes"; // the page around it has the heading and the button
    if (wanted.has("theme")) { root.dataset.theme = wanted.get("theme") === "dark" ? "dark" : "light"; showTheme(); }
    const number = cases.short.indexOf(wanted.get("case"));
    const rule = rules.findIndex(([id]) => id === wanted.get("rule"));
    const host = wanted.has("host") ? hosts.findIndex(([name]) => text(name) === wanted.get("host")) : -1;
    if (host >= 0) { show("host"); map.find(host, rule); openHost(host, rule); }
    else if (number >= 0) { map.find(number, rule); if (rule >= 0) openCell(number, rule); else openCase(number); }
    else if (rule >= 0) openRule(rule);
  }
  addEventListener("hashchange", follow);

  // On paper: the first rows of what is shown now, in words.
  addEventListener("beforeprint", () => {
    if (view !== "case") return;
    const count = new Uint16Array(states.length);
    $("worst-note").textContent = `The first ${Math.min(100, shown.rows.length)} of ${many(shown.rows.length, "case")} shown.`;
    $("worst-rows").replaceChildren(...shown.rows.slice(0, 100).map((row) => {
      fleet.signs("case", row, shown.cols, count);
      const found = fleet.range(OPEN).filter((spot) => count[spot]).map((spot) => {
        const ids = shown.cols.filter((col) => fleet.signAt(row, col) === spot).map((col) => rules[col][0]);
        return make("div", {}, make("b", {}, states[spot][2]), `: ${ids.slice(0, 12).join(", ")}${ids.length > 12 ? ` and ${ids.length - 12} more` : ""}`);
      });
      if (unread(row)) found.unshift(make("div", { class: "odd" }, `Could not be read: ${text(cases.why[row])}`));
      else if (cases.whole[row] === "n") found.push(make("div", { class: "note" }, "incomplete: absence proves nothing in the missing parts"));
      return make("tr", {}, make("th", { scope: "row" }, `${text(cases.name[row])} `, make("code", {}, cases.short[row])), make("td", {}, time(cases.captured[row], 10)), make("td", {}, ...(found.length ? found : [count[OPEN] ? "nothing, but not everything could be judged" : "nothing"])), make("td", {}, String(count[OPEN] || "")));
    }));
  });

  // Inside the page of `backline serve` this map lies in a sandbox, from which no link leads anywhere: that page
  // hands over a channel, and what is clicked goes through it.
  addEventListener("message", (event) => {
    const [port] = event.ports;
    if (event.source !== parent || event.data !== "backline-opens-cases" || !port) return;
    document.addEventListener("click", (click) => {
      const link = click.target.closest?.('a[href^="cases/"]');
      if (!link) return;
      click.preventDefault();
      port.postMessage(link.getAttribute("href"));
    });
  });

  showTheme();
  show(view);
  follow();
  document.body.dataset.done = "yes";
})();
