// What the page knows of the fleet: lookups, words, and which rows and columns a view shows.
"use strict";
const fleet = (() => {
  const data = JSON.parse(document.getElementById("fleet").textContent);
  const { rules, hosts, cases, cells, hits, months, texts, notes, states } = data;
  const SIGN = Object.fromEntries(states.map(([sign], place) => [sign, place]));
  const RANK = new Uint8Array(128);
  states.forEach(([sign], place) => { RANK[sign.charCodeAt(0)] = place; });
  const FOUND = 5; // states before this place are findings
  const OPEN = SIGN["?"], NONE = SIGN["/"];

  const text = (number) => (number < 0 ? "" : texts[number]);
  const many = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
  const time = (seconds, length = 16) =>
    seconds < 0 ? "no date" : `${new Date(seconds * 1000).toISOString().slice(0, length).replace("T", " ")}${length > 10 ? " UTC" : ""}`;
  const unread = (number) => cases.why[number] >= 0;

  // --- what belongs together -----------------------------------------------
  const byCell = new Map(), byCase = cases.short.map(() => []), byRule = rules.map(() => []), byHost = hosts.map(() => []);
  const push = (map, key, value) => { const list = map.get(key); if (list) list.push(value); else map.set(key, [value]); };
  hits.case.forEach((number, hit) => {
    push(byCell, number * rules.length + hits.rule[hit], hit);
    byCase[number].push(hit);
    byRule[hits.rule[hit]].push(hit);
    byHost[hits.host[hit]].push(hit);
  });
  const notesOf = new Map(); // hit -> [hit, time, subject, weight, sentence, missing, ask, muted, link]
  for (const note of notes) push(notesOf, note[0], note);
  const signOf = (hit) => RANK[hits.sign.charCodeAt(hit)];
  const earliest = (list) => list.reduce((first, hit) => (hits.first[hit] >= 0 && (first < 0 || hits.first[hit] < first) ? hits.first[hit] : first), -1);
  const total = (list) => list.reduce((sum, hit) => sum + hits.count[hit], 0);
  const seen = new Map();
  for (const name of cases.name) seen.set(name, (seen.get(name) ?? 0) + 1);
  const twins = new Set(cases.name.filter((name) => seen.get(name) > 1)); // names of several cases

  // What a list of hits holds, in words: "major: 3 findings; also 2 info, 1 cannot tell".
  function inWords(place, list) {
    const count = (each) => total(list.filter((hit) => signOf(hit) === each));
    const [, , word, meaning] = states[place];
    const number = count(place);
    const one = place < FOUND ? "finding" : place === OPEN ? "open subject" : "";
    const also = states.map((_, each) => each).filter((each) => each !== place && each < SIGN["."] && count(each));
    const said = number && one && place !== 4 ? `${word}: ${many(number, one)}` : `${word}: ${meaning}`;
    return also.length ? `${said}; also ${also.map((each) => `${count(each)} ${states[each][2]}`).join(", ")}` : said;
  }

  // --- the three views -----------------------------------------------------
  // A view: rows and cols (what is shown, by number), and for each the texts of heads and cells.
  let hostCells = null;
  function hostCell(row, col) {
    if (!hostCells) {
      hostCells = new Map();
      hits.host.forEach((host, hit) => push(hostCells, host * rules.length + hits.rule[hit], hit));
    }
    return hostCells.get(row * rules.length + col) ?? [];
  }
  const worstOf = (list) => list.reduce((worst, hit) => Math.min(worst, signOf(hit)), NONE);
  const short = (number) => (number > 99 ? "99+" : String(number));
  const ruleText = (number) => `${rules[number][0]}${rules[number][1] ? ` (${rules[number][1]})` : ""}`;
  const monthList = () => [...(months.older.some(Boolean) ? ["earlier"] : []), ...months.names,
    ...(months.later.some(Boolean) ? ["later"] : []), ...(months.undated.some(Boolean) ? ["no date"] : [])];
  const monthNames = monthList();
  function monthCount(rule, name) {
    if (name === "earlier") return months.older[rule];
    if (name === "later") return months.later[rule];
    return name === "no date" ? months.undated[rule] : months.counts[rule][months.names.indexOf(name)];
  }
  const peak = Math.max(1, ...months.counts.flat(), ...months.older, ...months.undated);
  const heat = (number) => (number ? `heat${number >= peak * 0.75 ? 4 : number >= peak * 0.4 ? 3 : number >= peak * 0.15 ? 2 : 1}` : "s8");

  const VIEWS = {
    case: {
      corner: "Case", unit: "case", all: () => cases.short.length,
      row: (number) => text(cases.name[number]),
      tag: (number) => (unread(number) ? "not read" : cases.whole[number] === "n" ? "incomplete" : ""),
      id: (number) => (twins.has(cases.name[number]) ? cases.short[number] : ""),
      col: (number) => rules[number][0],
      sum: (number, rows) => columnSum("case", number, rows),
      cell(row, col) {
        const place = RANK[cells[row].charCodeAt(col)];
        const list = place < SIGN["."] ? byCell.get(row * rules.length + col) ?? [] : [];
        const same = total(list.filter((hit) => signOf(hit) === place));
        const words = unread(row) ? "not judged: the case could not be read" : inWords(place, list);
        return { style: `s${place}`, mark: states[place][1], count: same > 1 ? short(same) : "", words };
      },
    },
    host: {
      corner: "Host", unit: "host", all: () => hosts.length,
      row: (number) => text(hosts[number][0]) || "no host named",
      tag: () => "", id: () => "",
      col: (number) => rules[number][0],
      sum: (number, rows) => columnSum("host", number, rows),
      cell(row, col) {
        const list = hostCell(row, col);
        if (!list.length) return { style: "", mark: "", count: "", words: "nothing recorded; its cases show what the rule looked at" };
        const place = worstOf(list);
        const number = new Set(list.map((hit) => hits.case[hit])).size;
        const first = earliest(list.filter((hit) => signOf(hit) < FOUND));
        const words = `${inWords(place, list)}, in ${many(number, "case")}${first < 0 ? "" : `, first seen ${time(first)}`}`;
        return { style: `s${place}`, mark: states[place][1], count: number > 1 ? short(number) : "", words };
      },
    },
    month: {
      corner: "Rule, worst first", unit: "rule", all: () => rules.length,
      row: (number) => `${rules[number][0]} ${rules[number][1]}`,
      tag: (number) => (data.rising.includes(number) ? "rising" : ""), id: () => "",
      col: (number) => monthNames[number],
      sum: (number, rows) => rows.reduce((sum, rule) => sum + monthCount(rule, monthNames[number]), 0),
      cell(row, col) {
        const number = monthCount(row, monthNames[col]);
        return { style: heat(number), mark: number ? number.toLocaleString("en") : "·", count: "", words: `${many(number, "case")} with a finding` };
      },
    },
  };

  // --- filters -------------------------------------------------------------
  const words = (said) => said.toLowerCase().split(/\s+/).filter(Boolean);
  const searched = { case: [], host: [], rule: [] };
  function searchText(kind, number) {
    if (kind === "case") {
      const names = new Set(byCase[number].map((hit) => text(hosts[hits.host[hit]][0])));
      return [text(cases.name[number]), cases.short[number], text(cases.source[number]), ...names].join(" ");
    }
    if (kind === "host") return hosts[number].map(text).join(" ");
    return [rules[number][0], rules[number][1], ...rules[number][2]].join(" ");
  }
  function has(kind, number, wanted) {
    if (!wanted.length) return true;
    const known = (searched[kind][number] ??= searchText(kind, number).toLowerCase());
    return wanted.every((word) => known.includes(word));
  }
  const range = (number) => [...Array(number).keys()];

  function signs(kind, row, cols, count) {
    count.fill(0);
    if (kind === "case") for (const col of cols) count[RANK[cells[row].charCodeAt(col)]] += 1;
    else for (const col of cols) { const list = hostCell(row, col); if (list.length) count[worstOf(list)] += 1; }
    return count;
  }
  function passes(kind, row, count, choice) {
    const upTo = (place) => count.slice(0, place + 1).some(Boolean);
    if (!choice) return true;
    if (choice === "found") return upTo(FOUND - 1);
    if (choice === "unread") return kind === "case" && (unread(row) || cases.whole[row] === "n");
    if (choice === "?" || choice === "!") return count[SIGN[choice]] > 0;
    return upTo(SIGN[choice]);
  }

  // Rows and columns of a view. wanted: {rows, rules}: what is typed; choice, order: the lists; only: a rule that
  // the rows must have something of, or -1.
  function choose(view, wanted) {
    const cols = range(rules.length).filter((rule) => has("rule", rule, words(wanted.rules)));
    if (view === "month") return { rows: cols, cols: range(monthNames.length) };
    return { rows: rowsOf(view, cols, wanted), cols };
  }

  function rowsOf(kind, cols, { rows: said, choice, order: asked, only }) {
    const wanted = words(said);
    const count = new Uint16Array(states.length);
    const keys = new Map();
    const narrowed = cols.length < rules.length;
    const rows = range(VIEWS[kind].all()).filter((row) => {
      if (!has(kind, row, wanted)) return false;
      if (only >= 0 && signs(kind, row, [only], count).slice(0, OPEN + 1).every((each) => !each)) return false;
      if (!choice && !narrowed) return true;
      signs(kind, row, cols, count);
      keys.set(row, [...count]);
      return passes(kind, row, count, choice);
    });
    const order = kind === "case" ? asked : "worst";
    if (order === "new") rows.sort((a, b) => cases.captured[b] - cases.captured[a] || a - b);
    else if (order === "name") rows.sort((a, b) => text(cases.name[a]).localeCompare(text(cases.name[b]), "en", { numeric: true }) || a - b);
    else if (narrowed) rows.sort((a, b) => worse(keys.get(a), keys.get(b)) || a - b);
    if (only >= 0 && order === "worst") {
      const rank = (row) => (kind === "case" ? RANK[cells[row].charCodeAt(only)] : worstOf(hostCell(row, only)));
      rows.sort((a, b) => rank(a) - rank(b) || a - b);
    }
    return rows;
  }
  /** The worst sign of each counts, never how many there are; of equal ones the order of all rows holds. */
  const worse = (a, b) => worstSign(a) - worstSign(b);
  function worstSign(count) {
    const place = count.findIndex(Boolean);
    return place < 0 ? count.length : place;
  }

  const sums = new WeakMap(); // rows -> what stands below each head, counted when it is drawn
  function columnSum(kind, col, rows) {
    if (!sums.has(rows)) sums.set(rows, new Map());
    const known = sums.get(rows);
    if (!known.has(col)) {
      const sign = kind === "case" ? (row) => RANK[cells[row].charCodeAt(col)] : (row) => worstOf(hostCell(row, col));
      known.set(col, rows.reduce((sum, row) => sum + (sign(row) < FOUND), 0));
    }
    return known.get(col);
  }

  return {
    ...data, SIGN, FOUND, OPEN, VIEWS, monthNames, byCase, byRule, byHost, notesOf,
    text, many, time, unread, push, signOf, earliest, total, inWords, worstOf, ruleText, range, signs, choose, hostCell,
    signAt: (row, rule) => RANK[cells[row].charCodeAt(rule)],
    hitsAt: (row, rule) => byCell.get(row * rules.length + rule) ?? [],
  };
})();
