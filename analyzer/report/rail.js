// The rail: which severities, hosts, rules and objects are shown, as chips in the head and in the address of the page.
// Nothing here writes markup: text goes in as textContent only.
"use strict";
const FACETS = ["severity", "host", "rule", "object"];

// The fragment of the address: one target (f=, l=, c=, t=, or the id of a part), then what is chosen.
function readAddress(hash) {
  const found = { target: "", chosen: null, words: null, sort: "", theme: "", framed: false, log: false };
  const rest = [];
  for (const part of hash.split("&")) {
    const [, name, value] = /^(severity|host|rule|object|q|sort|theme|framed|log)=(.*)$/s.exec(part) ?? [];
    if (name === "theme") found.theme = value;
    else if (name === "framed" || name === "log") found[name] = true;
    else if (name === "sort") found.sort = value;
    else if (name === "q") found.words = plain(value);
    else if (name) (found.chosen ??= {})[name] = value.split(",").filter(Boolean).map(plain);
    else rest.push(part);
  }
  found.target = rest.join("&");
  return found;
}

// An address with the beginning that its letter stands for.
function wholeAddress(text) {
  const [, letter, rest] = /^([A-Z]): (.*)$/s.exec(text) ?? [];
  const known = letter && document.querySelector(`[data-letter="${letter}"]`);
  return known ? known.textContent + rest : text;
}

// What a search looks at: the text of an item, its addresses whole as well.
function searched(item) {
  const places = [...item.querySelectorAll(".at, small, .sources td:first-child, .faults td:first-child")].map((place) => wholeAddress(place.textContent));
  return [item.textContent, ...places].join(" ").toLowerCase();
}

function plain(text) {
  try { return decodeURIComponent(text); } catch { return text; } // an address somebody cut
}

function writeAddress(target, chosen, words, sort) {
  const parts = target ? [target] : [];
  for (const name of FACETS) {
    if (chosen[name]?.length) parts.push(`${name}=${chosen[name].map(encodeURIComponent).join(",")}`);
  }
  if (sort) parts.push(`sort=${sort}`);
  if (words) parts.push(`q=${encodeURIComponent(words)}`);
  return `#${parts.join("&")}`;
}

// `changed` is called when the reader chose something.
function makeRail(changed) {
  const boxes = [...document.querySelectorAll("input[data-facet]")];
  const sets = Object.fromEntries(FACETS.map((name) => [name, new Set()])); // numbers, as the items have them
  const rail = document.getElementById("rail");

  function fold() { rail.open = false; } // the table has the room

  function refresh() {
    for (const name of FACETS) sets[name].clear();
    for (const box of boxes) if (box.checked) sets[box.dataset.facet].add(box.dataset.number);
    for (const link of document.querySelectorAll("a[data-choose]")) {
      const on = boxes.some((box) => box.checked && box.dataset.facet === "severity" && box.value === link.dataset.choose);
      if (on) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    drawChips();
  }

  function drawChips() {
    const on = boxes.filter((box) => box.checked);
    const chips = on.map((box) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.className = "chip";
      chip.textContent = `${box.dataset.facet}: ${box.value} ×`;
      chip.setAttribute("aria-label", `Show more than ${box.dataset.facet} ${box.value}`);
      chip.addEventListener("click", () => { box.checked = false; update(); focusNext(); });
      return chip;
    });
    if (on.length) {
      const all = document.createElement("button");
      all.type = "button";
      all.textContent = "Show all";
      all.addEventListener("click", () => { clear(); changed(); document.getElementById("q").focus(); });
      chips.push(all);
    }
    document.getElementById("chips").replaceChildren(...chips);
    document.getElementById("chips").hidden = !on.length;
    document.getElementById("only").textContent = on.length
      ? `Printed with a filter; only ${on.map((box) => `${box.dataset.facet} ${box.value}`).join(", ")}.` : "";
  }

  function focusNext() {
    (document.querySelector("#chips button") ?? document.getElementById("q")).focus();
  }

  function update() { refresh(); changed(); }

  function clear() {
    for (const box of boxes) box.checked = false;
    refresh();
  }

  function choose(facet, value) {
    const box = boxes.find((one) => one.dataset.facet === facet && one.value === value);
    if (!box) return;
    box.checked = !box.checked;
    update();
  }

  for (const box of boxes) box.addEventListener("change", update);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-choose]");
    if (!link) return;
    event.preventDefault();
    choose(link.dataset.of ?? "severity", link.dataset.choose);
  });
  fold();
  rail.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !rail.open) return;
    event.stopPropagation();
    fold();
    rail.querySelector("summary").focus();
  });

  return {
    clear,
    any: () => FACETS.some((name) => sets[name].size),
    chosen: () => Object.fromEntries(FACETS.map((name) => [
      name, boxes.filter((box) => box.checked && box.dataset.facet === name).map((box) => box.value),
    ])),
    // What an address names and the page does not have is left out: it would hide everything.
    set(chosen) {
      for (const box of boxes) {
        box.checked = (chosen[box.dataset.facet] ?? []).includes(box.value);
        const list = box.closest("details");
        if (box.checked && list) list.open = true;
      }
      refresh();
    },
    // An item that has nothing to do with a facet is shown, whatever is chosen.
    shows: (item) => FACETS.every((name) => {
      const own = item.dataset[name];
      return !sets[name].size || own === undefined || own.split(" ").some((number) => sets[name].has(number));
    }),
  };
}

// Arrows, Home and End move along the rail, and along the links of the time line.
document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  const list = event.target.closest?.("#rail, #timeline");
  if (!step || !list || event.ctrlKey || event.altKey || event.metaKey) return;
  const stops = [...list.querySelectorAll("summary, li a, tbody a, input[type=checkbox]")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }));
  const here = stops.indexOf(event.target);
  if (here < 0) return;
  event.preventDefault();
  stops[Math.max(0, Math.min(stops.length - 1, here + step))].focus();
});
