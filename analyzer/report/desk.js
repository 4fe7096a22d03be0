// The front table and the account beside it: one line is chosen, and both move together.
// Nothing here writes markup. `shown` says which accounts a search or filter left; `kept` writes the address.
"use strict";

function makeDesk(kept) {
  const table = document.querySelector(".desk-rows");
  const detail = document.querySelector(".detail");
  if (!table) return null;
  const body = table.tBodies[0];
  const first = [...body.rows]; // as the report orders them
  for (const row of first) {
    const link = row.querySelector(".c-what a");
    if (link) row.dataset.target = link.getAttribute("href").slice(1);
  }
  const account = (row) => document.getElementById(row.dataset.target);
  const lines = () => [...body.rows].filter((row) => row.dataset.target && !row.hidden);
  const wide = matchMedia("(min-width: 70rem)");
  let current = null;

  function choose(row, byKey) {
    if (!row) return;
    if (current) {
      current.removeAttribute("aria-current");
      account(current)?.removeAttribute("data-current");
    }
    current = row;
    row.setAttribute("aria-current", "true");
    const own = account(row);
    if (!own) return;
    own.dataset.current = "yes";
    for (let box = own.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    if (!byKey) return;
    detail.scrollTop = 0;
    row.scrollIntoView({ block: "nearest" });
    own.focus({ preventScroll: true });
  }

  function find(target) {
    const own = target.closest(".detail [data-finding], .detail [data-sign]");
    return own && first.find((row) => row.dataset.target === own.id);
  }

  // Moves by so many lines; the address follows.
  function step(by) {
    const rows = lines();
    if (!rows.length) return;
    const here = rows.indexOf(current);
    choose(rows[Math.max(0, Math.min(rows.length - 1, here + by))], true);
    kept(current.dataset.target);
  }

  // What a search or a filter hides is no line either; where the chosen one went, the first that is left is chosen.
  function refresh() {
    for (const row of first) if (row.dataset.target) row.hidden = Boolean(account(row)?.hidden);
    for (const row of first) {
      if (!row.dataset.target) row.hidden = !lines().some((line) => first.indexOf(line) > first.indexOf(row));
    }
    if (!current || current.hidden) choose(lines()[0], false);
  }

  const KEYS = { time: ".c-time", host: ".c-host", object: ".c-object" };

  // By a column, or with "" as the report orders them: a cause above what it explains.
  function sort(name, up) {
    for (const head of table.tHead.rows[0].cells) {
      if (head.dataset.sort === name) head.setAttribute("aria-sort", up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    const rows = [...first];
    if (KEYS[name]) {
      const text = (row) => row.querySelector(KEYS[name])?.textContent.trim() ?? "";
      rows.sort((a, b) => (!text(a) - !text(b)) || (up ? 1 : -1) * text(a).localeCompare(text(b), "en", { numeric: true }));
    }
    body.append(...rows);
  }

  table.addEventListener("click", (event) => {
    const head = event.target.closest("th[data-sort]");
    if (head) {
      const was = head.getAttribute("aria-sort"); // up, down, as the report has it
      if (was === "descending") sort("", true);
      else sort(head.dataset.sort, was !== "ascending");
      kept();
      return;
    }
    const row = event.target.closest("tr.line");
    if (row && !event.target.closest("a")) location.hash = `#${row.dataset.target}`;
  });

  return {
    step,
    refresh,
    // Where the account stands below the table, its line is in view again.
    leave() {
      if (!wide.matches && current !== lines()[0]) current?.scrollIntoView({ block: "center" });
      else choose(lines()[0], false);
    },
    current: () => current && account(current),
    // Chooses what holds a target of the address; says whether there is such a line.
    reveal(target) {
      const row = find(target);
      if (!row) return false;
      choose(row, false);
      return true;
    },
    wide: () => wide.matches,
    set: (text) => { const [, name, down] = /^(\w+?)(-down)?$/.exec(text) ?? []; if (KEYS[name]) sort(name, !down); },
    sorted() {
      const head = table.tHead.querySelector("[aria-sort]");
      return head ? `${head.dataset.sort}${head.getAttribute("aria-sort") === "descending" ? "-down" : ""}` : "";
    },
  };
}
