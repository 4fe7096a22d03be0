// The map itself: a table of which only the cells in view exist, so that 10,000 rows of 300 columns stay quick.
// One cell can be reached by Tab and keeps the focus while the arrow keys move it.
"use strict";
// opened: called with (row, column) when a cell or a head (-1) is opened; told: with a sentence on the cell pointed at.
function fleetMap(opened, told) {
  const box = document.getElementById("box"), space = document.getElementById("space");
  const active = { row: 0, col: 0 }; // -1: the head
  const LABEL = { case: "Cases by rules", host: "Hosts by rules", month: "Rules by months" };
  const UNDER = {
    case: "Under each rule: shown cases with a finding", host: "Under each rule: shown hosts with a finding",
    month: "Under each month: findings of the shown rules, one a case",
  };
  let view = "case", kind = fleet.VIEWS.case;
  let shown = { rows: [], cols: [] };
  let drawn = "";
  const size = {};

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    node.append(...children);
    return node;
  }

  function measure() {
    const style = getComputedStyle(document.body);
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    for (const name of ["row", "cell", "name", "head"]) size[name] = Math.round(parseFloat(style.getPropertyValue(`--${name}`)) * rem);
  }
  const across = () => size.name + shown.cols.length * size.cell;
  const down = () => size.head + shown.rows.length * size.row;

  function window_(start, length, step, count) {
    const first = Math.max(0, Math.min(count, Math.floor(start / step) - 3));
    return [first, Math.min(count, Math.ceil((start + length) / step) + 3)];
  }

  function draw(anew = false) {
    if (anew) {
      measure();
      space.style.height = `${down()}px`;
      space.style.width = `${across()}px`;
      box.style.setProperty("--full", `${down() + 20}px`);
      box.style.setProperty("--wide", `${across() + 20}px`);
    }
    const rows = window_(box.scrollTop, box.clientHeight - size.head, size.row, shown.rows.length);
    const cols = window_(box.scrollLeft, box.clientWidth - size.name, size.cell, shown.cols.length);
    const key = `${view} ${rows} ${cols}`;
    if (!anew && key === drawn) return;
    drawn = key;
    const focused = box.contains(document.activeElement) && document.activeElement !== box;
    space.replaceChildren(table(rows, cols));
    settle(focused);
  }

  function table([top, bottom], [left, right]) {
    const span = make("span", {}, make("b", {}, kind.corner), make("br"), make("span", { class: "note" }, UNDER[view]));
    const head = make("tr", { role: "row", "aria-rowindex": 1 }, make("th", { class: "corner", scope: "col", role: "columnheader", "aria-colindex": 1 }, span));
    for (let col = left; col < right; col += 1) head.append(columnHead(col));
    const body = make("tbody", {});
    for (let row = top; row < bottom; row += 1) body.append(line(row, left, right));
    const count = { "aria-rowcount": shown.rows.length + 1, "aria-colcount": shown.cols.length + 1 };
    const out = make("table", { class: "map", role: "grid", "aria-label": LABEL[view], ...count }, make("thead", {}, head), body);
    out.style.marginTop = `${top * size.row}px`;
    out.style.marginLeft = `${left * size.cell}px`;
    out.style.width = `${size.name + (right - left) * size.cell}px`;
    return out;
  }

  function columnHead(col) {
    const number = shown.cols[col];
    const out = make("th", { scope: "col", role: "columnheader", tabindex: -1, "aria-colindex": col + 2, "data-at": `-1 ${col}` });
    if (view !== "month") out.title = fleet.ruleText(number);
    out.append(make("span", { class: "up" }, kind.col(number)), make("span", { class: "sum" }, String(kind.sum(number, shown.rows) || "")));
    return out;
  }

  function line(row, left, right) {
    const number = shown.rows[row];
    const name = kind.row(number), tag = kind.tag(number), id = kind.id(number);
    const label = make("span", {}, make("span", { class: "label" }, name));
    if (id) label.append(make("span", { class: "id" }, id));
    if (tag) label.append(make("span", { class: "tag" }, tag));
    const head = make("th", { scope: "row", role: "rowheader", tabindex: -1, "aria-colindex": 1, "data-at": `${row} -1`, title: name }, label);
    const out = make("tr", { role: "row", "aria-rowindex": row + 2 }, head);
    for (let col = left; col < right; col += 1) {
      const { style, mark, count, words } = kind.cell(number, shown.cols[col]);
      // What is seen begins what is heard, so that a cell can be called by voice.
      const said = count ? `${mark} ${count}, ${words}` : words;
      out.append(make("td", { role: "gridcell", tabindex: -1, class: style, "aria-colindex": col + 2, "data-at": `${row} ${col}`, "aria-label": `${said}. ${kind.col(shown.cols[col])}, ${name}` },
        count ? `${mark} ${count}` : mark));
    }
    return out;
  }

  const at = (row, col) => box.querySelector(`[data-at="${row} ${col}"]`);
  const place = (node) => { const cell = node.closest("[data-at]"); return cell ? cell.dataset.at.split(" ").map(Number) : null; };

  // One cell can be reached by Tab; it keeps the focus when the table is drawn again.
  function settle(focus) {
    for (const node of box.querySelectorAll("[tabindex='0'], .here")) { node.classList.remove("here"); if (node !== box) node.tabIndex = -1; }
    const cell = at(active.row, active.col);
    box.tabIndex = cell ? -1 : 0;
    at(active.row, -1)?.parentElement.classList.add("here");
    at(-1, active.col)?.classList.add("here");
    if (cell) { cell.tabIndex = 0; if (focus) cell.focus({ preventScroll: true }); } else if (focus) box.focus({ preventScroll: true });
  }

  function go(row, col) {
    if (!shown.rows.length || !shown.cols.length) return;
    active.row = Math.max(-1, Math.min(shown.rows.length - 1, row));
    active.col = Math.max(-1, Math.min(shown.cols.length - 1, col));
    if (active.row < 0 && active.col < 0) active.col = 0;
    reveal();
    draw();
    settle(true);
    tell(active.row, active.col);
  }

  function open(row, col) {
    if (row >= 0 || col >= 0) opened(view, row < 0 ? -1 : shown.rows[row], col < 0 ? -1 : shown.cols[col]);
  }

  function reveal() {
    const { row, col } = active;
    if (row >= 0) {
      const top = row * size.row, room = box.clientHeight - size.head;
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top + size.row > box.scrollTop + room) box.scrollTop = top + size.row - room;
    }
    if (col >= 0) {
      const left = col * size.cell, room = box.clientWidth - size.name;
      if (left < box.scrollLeft) box.scrollLeft = left;
      else if (left + size.cell > box.scrollLeft + room) box.scrollLeft = left + size.cell - room;
    }
  }

  function tell(row, col) {
    const month = view === "month";
    const rule = month ? shown.rows[row] : shown.cols[col];
    const parts = [];
    if (row >= 0 && col >= 0) parts.push(kind.cell(shown.rows[row], shown.cols[col]).words);
    if (row >= 0) parts.push(month ? fleet.ruleText(rule) : kind.row(shown.rows[row]));
    if (col >= 0) parts.push(month ? fleet.monthNames[shown.cols[col]] : fleet.ruleText(rule));
    told(parts.join(" | "));
  }

  box.addEventListener("scroll", () => draw());
  box.addEventListener("mouseover", (event) => { const spot = place(event.target); if (spot) tell(...spot); });
  box.addEventListener("focusin", (event) => {
    const spot = place(event.target);
    if (spot && (spot[0] !== active.row || spot[1] !== active.col)) { [active.row, active.col] = spot; settle(false); }
    if (spot) tell(...spot);
  });
  box.addEventListener("click", (event) => { const spot = place(event.target); if (spot) { go(...spot); open(...spot); } });
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey ? !["Home", "End"].includes(event.key) : event.altKey || event.metaKey) return;
    const { row, col } = active;
    const page = Math.max(1, Math.floor((box.clientHeight - size.head) / size.row) - 1);
    const last = [shown.rows.length - 1, shown.cols.length - 1];
    const moves = {
      ArrowUp: [row - 1, col], ArrowDown: [row + 1, col], ArrowLeft: [row, col - 1], ArrowRight: [row, col + 1],
      PageUp: [Math.max(0, row - page), col], PageDown: [row + page, col],
      Home: event.ctrlKey ? [0, 0] : [row, 0], End: event.ctrlKey ? last : [row, last[1]],
    };
    if (moves[event.key]) { event.preventDefault(); go(...moves[event.key]); }
    else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(row, col); }
  });
  addEventListener("resize", () => draw(true));

  return {
    // Show other rows and columns; `start` puts the reader at their beginning.
    show(name, rows, start) {
      view = name;
      kind = fleet.VIEWS[name];
      shown = rows;
      if (start) { box.scrollTop = 0; box.scrollLeft = 0; Object.assign(active, { row: 0, col: 0 }); }
      active.row = Math.min(active.row, shown.rows.length - 1);
      active.col = Math.min(active.col, shown.cols.length - 1);
      draw(true);
    },
    // Go to the cell of a row and a column by their numbers in the fleet; what is not shown stays where it is.
    find(row, col) {
      const place = shown.rows.indexOf(row), column = shown.cols.indexOf(col);
      Object.assign(active, { row: place < 0 ? active.row : place, col: column < 0 ? active.col : column });
      reveal();
      draw(true);
    },
    refresh() { draw(true); reveal(); },
    focus() { go(active.row, active.col); },
  };
}
