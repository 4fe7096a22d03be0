// The page works without this script; it adds search, keys, copying, charts that zoom, links into the page.
// Nothing here writes markup: text goes in as textContent only.
"use strict";
(() => {
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  root.classList.add("js");

  // --- telling the reader -------------------------------------------------
  let silence = 0;
  function say(text) {
    $("said").textContent = text;
    clearTimeout(silence);
    silence = setTimeout(() => { $("said").textContent = ""; }, 2500);
  }

  // --- what the page carries ----------------------------------------------
  // Packed (gzip in base64), for a case.json is as long as the rest of the page. It is unpacked before anybody
  // clicks: a browser copies only while it handles the click.
  let caseText = null; // the bytes of case.json
  let notes = null;

  async function unpack(id) {
    const bytes = Uint8Array.from(atob($(id).textContent), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  async function unpackAll() {
    try {
      [caseText, notes] = [await unpack("case"), JSON.parse(await unpack("texts"))];
    } catch {
      for (const chart of all("#charts .still")) chart.style.display = "block"; // as for a reader without a script
      say("This browser cannot unpack what the page carries: copy a note from report.md, and take case.json from beside it");
    }
  }

  // --- copying ------------------------------------------------------------
  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      say(`${what} copied`);
    } catch {
      say(copyByHand(text) ? `${what} copied` : "The browser does not let a page copy; select the text by hand");
    }
  }

  for (const box of all(".copyable")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${box.dataset.copy ?? "the command"}`);
    box.append(button);
  }

  function copyByHand(text) {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }

  function copyNote(which, what) {
    if (notes) copy(notes[which], what);
    else unpackAll().then(() => notes && copy(notes[which], what));
  }

  async function saveCase() {
    if (caseText === null) await unpackAll();
    if (caseText !== null) save(caseText, "case.json");
  }

  function save(text, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches(".copyable .copy:not(.line-rule)")) copy(button.closest(".copyable").querySelector("code").textContent, "Text");
    else if (button.id === "copy-note") copyNote("note", "Case note");
    else if (button.id === "copy-whole") copyNote("whole", "Long note");
    else if (button.id === "copy-asks") copy(document.querySelector(".mail").textContent, "E-mail text");
    else if (button.id === "save-json") saveCase();
    else if (button.id === "theme") setTheme(!dark());
  });

  // --- dark and light -----------------------------------------------------
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  function setTheme(on) {
    root.dataset.theme = on ? "dark" : "light";
    showTheme();
  }

  function showTheme() {
    $("theme").textContent = dark() ? "Light" : "Dark";
    drawCharts();
  }
  system.addEventListener("change", showTheme);

  // --- search -------------------------------------------------------------
  const items = all("[data-item], #quiet li, .sources tbody tr");
  const texts = new Map();
  let window_ = null; // [from, to] in seconds, set by zooming a chart

  function matches(item, words) {
    if (!texts.has(item)) texts.set(item, searched(item));
    return words.every((word) => texts.get(item).includes(word));
  }

  function inWindow(item) {
    const time = item.dataset.time;
    return !window_ || !time || (Number(time) >= window_[0] && Number(time) <= window_[1]);
  }

  // Of a row the subjects are chosen one by one; where none is left the row goes as well.
  function chosen(item) {
    const own = item.dataset.finding === undefined ? [] : all("[data-item]", item);
    return rail.shows(item) && (!own.length || own.some(rail.shows));
  }

  function filter() {
    const words = $("q").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const hit = matches(item, words) && chosen(item);
      item.hidden = !hit || !inWindow(item);
      if (hit && words.length) shown += 1;
    }
    for (const box of all("details.signs")) {
      const left = all("[data-finding]", box).some((finding) => !finding.hidden);
      box.hidden = !left;
      if (left && rail.any()) box.open = true;
    }
    if (words.length) {
      for (const item of items) {
        // What holds a match is open, as far as it is a list and not one of a thousand.
        const box = !item.hidden && shown <= 200 ? item.parentElement.closest("details") : null;
        if (box) box.open = true;
      }
    }
    desk?.refresh();
    const live = all("#findings [data-finding]"); // muted ones are apart
    const left = live.filter((finding) => !finding.hidden).length;
    const count = `${left.toLocaleString("en")} of ${live.length.toLocaleString("en")} findings`;
    $("found").textContent = words.length ? `${shown.toLocaleString("en")} found` : rail.any() ? count : "";
  }

  // The address keeps what is shown, so that it can be sent or opened again.
  function keep(target) {
    const here = readAddress(location.hash.slice(1)).target;
    history.replaceState(null, "", writeAddress(target ?? here, rail.chosen(), $("q").value.trim(), desk?.sorted()));
  }
  const rail = makeRail(() => { filter(); keep(); });
  const desk = makeDesk(keep);
  let typing = 0;
  $("q").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => { filter(); keep(); }, 120); });

  // --- keys ---------------------------------------------------------------
  function toggle(finding) {
    if (!finding) return;
    const boxes = all(":scope > details, :scope > .more > details", finding);
    const open = boxes.some((box) => !box.open);
    for (const box of boxes) box.open = open;
  }

  function press(key) {
    if (key === "/") { $("q").focus(); $("q").select(); }
    else if (key === "j") desk?.step(1);
    else if (key === "k") desk?.step(-1);
    else return false;
    return true;
  }

  const framed = () => parent !== window && root.dataset.framed === "yes";

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === $("q")) {
      if (event.key === "Escape") { $("q").value = ""; filter(); keep(); $("q").blur(); }
      return;
    }
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    if (press(event.key)) event.preventDefault();
    else if (event.key === "Enter" && (event.target === document.body || event.target.matches("[data-finding]"))) toggle(desk?.current());
    else if (event.key === "Escape" && window_) document.querySelector("#window button")?.click();
    else if (event.key === "Escape" && framed()) parent.postMessage({ backline: "leave" }, "*");
  });

  // A page around this one passes on the keys that are meant for the report, wherever its own focus is, and its theme.
  addEventListener("message", (event) => {
    const { backline, key, theme } = event.data ?? {};
    if (!framed() || event.source !== parent) return;
    if (backline === "key") press(key);
    else if (backline === "theme") setTheme(theme === "dark");
  });

  // --- links into the page: #f=finding, #c=chart, #t=from,to, then what is chosen: severity=, host=, rule=, object=, q=
  // theme=… is that of a page that shows this one in a frame; log=1 when it can read the files of the case
  function follow() {
    const { target: hash, chosen, words, sort, theme, framed, log } = readAddress(location.hash.slice(1));
    if (framed) root.dataset.framed = "yes"; // the page around it has the heading and the buttons
    if (log) root.dataset.log = "live"; // and reads lines from the files of the case
    if (theme && root.dataset.theme !== theme) setTheme(theme === "dark");
    if (chosen) rail.set(chosen);
    if (sort) desk?.set(sort);
    if (words !== null) $("q").value = words;
    if (chosen || words !== null) filter();
    const span = /^t=([\d.]+),([\d.]+)$/.exec(hash);
    const target = !span && hash && $(hash);
    if (span) setWindow([Number(span[1]), Number(span[2])], true);
    if (target) reveal(target);
    else if (!hash) desk?.leave(); // Back, to where nothing was opened
    keep(hash);
  }

  function reveal(target) {
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    if (target.closest("[hidden]")) { $("q").value = ""; rail.clear(); setWindow(null, false); }
    const beside = desk?.reveal(target) && desk.wide(); // it is in sight
    const folded = target.closest(".subjects"); // one of many in a row
    if (!beside || folded) target.scrollIntoView({ block: "start" });
    else if (!target.matches("[data-finding], [data-sign]")) target.scrollIntoView({ block: "nearest" });
    if (target.hasAttribute("tabindex")) target.focus({ preventScroll: true });
  }
  addEventListener("hashchange", follow);

  // --- charts -------------------------------------------------------------
  const seconds = (time) => (typeof time === "number" ? time : Date.parse(time) / 1000);
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  let charts = [];
  let series = null;
  let zooming = false;

  function data(chart) {
    const times = chart.times.map(seconds);
    const rising = times.every((time, index) => Number.isFinite(time) && (!index || time > times[index - 1]));
    // Times that are unknown or jump back cannot be an axis: the samples are numbered instead.
    return [rising ? times : times.map((_, index) => index), rising];
  }

  function setWindow(span, zoom) {
    window_ = span;
    $("window")?.replaceChildren(...(span ? [windowText(span), clearButton()] : []));
    if ($("window")) $("window").hidden = !span;
    if (zoom) for (const plot of charts) if (plot.timed) plot.setScale("x", { min: span[0], max: span[1] });
    filter();
  }

  // --- the brush of the time line -------------------------------------------
  // Each stretch of the axis: its places from 0 to 1000, its seconds; between two stretches nothing happened.
  const stretches = document.querySelector(".lanes")?.dataset.axis.split(";").map((part) => part.split(",").map(Number)) ?? [];

  function timeAt(place) {
    const [left, right, first, last] = stretches.find((part) => place <= part[1]) ?? stretches.at(-1);
    const share = Math.min(1, Math.max(0, (place - left) / (right - left)));
    return first + share * (last - first);
  }

  for (const strip of all(".lane svg")) {
    const place = (event) => {
      const box = strip.getBoundingClientRect();
      return Math.min(1000, Math.max(0, ((event.clientX - box.left) / box.width) * 1000));
    };
    let from = null;
    let shade = null;
    strip.addEventListener("pointerdown", (event) => {
      from = place(event);
      strip.setPointerCapture(event.pointerId);
      shade = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      shade.setAttribute("class", "brush");
      shade.setAttribute("height", "28");
      strip.append(shade);
    });
    strip.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const to = place(event);
      shade.setAttribute("x", String(Math.min(from, to)));
      shade.setAttribute("width", String(Math.abs(to - from)));
    });
    const end = (event) => {
      if (from === null) return;
      const ends = [from, place(event)].sort((a, b) => a - b);
      from = null;
      shade.remove();
      if (event.type === "pointerup" && ends[1] - ends[0] > 4) narrow(ends.map(timeAt));
    };
    strip.addEventListener("pointerup", end);
    strip.addEventListener("pointercancel", end);
  }

  // The window that a brush, or two times, set: the charts follow, and the address keeps it.
  function narrow(span) {
    setWindow(span, true);
    keep(`t=${Math.floor(span[0])},${Math.ceil(span[1])}`);
  }

  for (const box of [$("window-from"), $("window-to")]) {
    box?.addEventListener("change", () => {
      const ends = ["window-from", "window-to"].map((id) => Date.parse(`${$(id).value}Z`) / 1000);
      if (ends.every(Number.isFinite) && ends[0] < ends[1]) narrow(ends);
    });
  }

  function windowText(span) {
    const [from, to] = span.map((time) => new Date(time * 1000).toISOString().replace("T", " ").slice(0, 19));
    return document.createTextNode(`Only ${from} to ${to} UTC. `);
  }

  function clearButton() {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Show all";
    button.addEventListener("click", () => {
      for (const plot of charts) plot.setScale("x", { min: plot.data[0][0], max: plot.data[0].at(-1) });
      setWindow(null, false);
      for (const id of ["window-from", "window-to"]) if ($(id)) $(id).value = "";
      keep("timeline");
    });
    return button;
  }

  function zoomed(plot) {
    if (zooming || !plot.timed || !plot.data[0].length) return;
    const { min, max } = plot.scales.x;
    const full = min <= plot.data[0][0] && max >= plot.data[0].at(-1);
    zooming = true;
    for (const other of charts) {
      const same = other.scales.x.min === min && other.scales.x.max === max;
      if (other !== plot && other.timed && !same) other.setScale("x", { min, max });
    }
    zooming = false;
    if (full && !window_) return;
    setWindow(full ? null : [min, max], false);
    keep(full ? "charts" : `t=${Math.round(min)},${Math.round(max)}`);
  }

  // [step in seconds, format, …what to put below at a change of year, month, day, hour, …]: 24 hours, ISO dates.
  const DAY = "\n{YYYY}-{MM}-{DD}";
  const CLOCK = [
    [86400, "{YYYY}-{MM}-{DD}", null, null, null, null, null, null, 1],
    [60, "{HH}:{mm}", DAY, null, DAY, null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", DAY, null, DAY, null, null, null, 1],
    [0.001, "{HH}:{mm}:{ss}.{fff}", DAY, null, DAY, null, null, null, 1],
  ];

  const incident = Number($("charts")?.dataset.incident);

  // A dashed line where the incident lies, with its time above.
  function markIncident(plot) {
    const { min, max } = plot.scales.x;
    if (!plot.timed || !(incident >= min && incident <= max)) return;
    const { ctx, bbox } = plot;
    const x = Math.round(plot.valToPos(incident, "x", true));
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("--critical");
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    const right = x + 90 * devicePixelRatio < bbox.left + bbox.width;
    ctx.textAlign = right ? "left" : "right";
    ctx.fillText("incident", x + (right ? 6 : -6) * devicePixelRatio, bbox.top - 5 * devicePixelRatio);
    ctx.restore();
  }

  // The y axis takes the room its longest label needs.
  function axisSize(plot, labels) {
    if (!labels?.length) return 60;
    plot.ctx.font = plot.axes[1].font[0];
    const longest = Math.max(...labels.map((label) => plot.ctx.measureText(label ?? "").width));
    return Math.min(120, Math.max(60, Math.ceil(longest / devicePixelRatio) + 18)); // a unit may be any text
  }

  function options(chart, timed, width, shown) {
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { stroke: colour("--rule") } };
    const dashes = [[], [5, 3], [2, 2], [8, 3, 2, 3]];
    return {
      width,
      height: 190,
      tzDate: (time) => uPlot.tzDate(new Date(time * 1000), "UTC"),
      scales: { x: { time: timed, ...(shown ? { min: shown[0], max: shown[1] } : {}) }, y: { range: (_, min, max) => [Math.min(0, min ?? 0), (max || 1) * 1.05] } },
      cursor: { sync: { key: "backline" }, drag: { x: true, y: false } },
      axes: [timed ? { ...axis, values: CLOCK } : axis, { ...axis, size: axisSize, values: (_, ticks) => ticks.map((tick) => `${tick.toLocaleString("en")} ${chart.unit}`) }],
      hooks: { draw: [markIncident] },
      padding: [incident ? 20 : null, null, null, null],
      series: [
        { label: "UTC", value: timed ? "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" : (_, index) => `sample ${index}` },
        ...chart.lines.map((line, index) => ({
          label: line.label,
          stroke: colour(`--line${Math.min(index, 3)}`),
          dash: dashes[Math.min(index, 3)],
          width: 1.5,
          points: { show: chart.times.length < 3 },
          value: (_, value, __, at) => (at == null ? "" : value == null ? "not known" : `${value} ${chart.unit}`),
        })),
      ],
    };
  }

  function drawCharts() {
    const places = all("[data-chart]");
    if (!places.length || caseText === null) return;
    series ??= Object.values(JSON.parse(caseText).series);
    for (const plot of charts) plot.destroy();
    charts = [];
    for (const place of places) {
      const chart = series[Number(place.dataset.chart)];
      const [times, timed] = data(chart);
      const shown = timed && place.dataset.window ? place.dataset.window.split(",").map(Number) : null;
      const plot = new uPlot(options(chart, timed, place.clientWidth, shown), [times, ...chart.lines.map((l) => l.values)], place);
      plot.timed = timed;
      if (incident) plot.redraw(false); // it was drawn before it knew its axis
      charts.push(plot);
    }
    // Hooks only now: the first drawing is no zoom of the reader.
    requestAnimationFrame(() => {
      for (const plot of charts) (plot.hooks.setScale ??= []).push((p, key) => { if (key === "x") zoomed(p); });
    });
  }

  // Where the picture of a site is wider than the window, its trouble is in view.
  const site = document.querySelector(".site");
  const ill = site?.scrollWidth > site?.clientWidth && site.querySelector(".box.bad");
  if (ill) site.scrollLeft += ill.getBoundingClientRect().left - site.getBoundingClientRect().left - 16;

  // The head stays in view: the rail begins below it, and so does what a link leads to.
  new ResizeObserver(([head]) => {
    root.style.setProperty("--head", `${Math.ceil(head.borderBoxSize[0].blockSize)}px`);
  }).observe(document.querySelector("body > nav"));

  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const plot of charts) plot.setSize({ width: plot.root.parentElement.clientWidth, height: 190 });
  });

  // --- tables -------------------------------------------------------------
  for (const table of all("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const head = event.target.closest("th");
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of all("th", table.tHead)) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const cell = (row) => row.cells[head.cellIndex].textContent;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (up ? 1 : -1) * cell(a).localeCompare(cell(b), "en", { numeric: true }));
      table.tBodies[0].append(...rows);
    });
  }

  // --- print --------------------------------------------------------------
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open], .long)");
    for (const box of closed) box.open = true;
  });
  addEventListener("afterprint", () => { for (const box of closed) box.open = false; });

  showTheme();
  desk?.refresh();
  follow();
  unpackAll().then(() => {
    drawCharts();
    if (charts.length) follow(); // once more: what a link leads to stands lower now
    document.body.dataset.done = "yes";
  });
})();
