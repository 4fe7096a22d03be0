"""The fleet in a terminal: a compact heat map of cases or hosts, or hits per rule and month.

Foreign text passes `one_line`, so that it cannot steer the terminal. Colour only repeats what a
mark says. What does not fit the width or the wanted number of rows is counted, with the way to see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from analyzer.report import fleetmap
from analyzer.report.fleetmap import FOUND, RANK, STATES, Fleet, FleetHit
from analyzer.report.printer import STYLES
from analyzer.runtime.short_lines import bound_middle, terminal_mark
from analyzer.runtime.text import count_noun, one_line

TOP = 20  # rows without --top
NAME = 24  # columns of the name of a row
CELL = 4  # columns of a cell
MONTH = 8  # columns of a month
RISING = 5  # rising rules that are shown

_STYLE = {
    "C": STYLES["critical"],
    "M": STYLES["major"],
    "W": STYLES["warning"],
    "I": STYLES["info"],
    "!": STYLES["error"],
    "?": "yellow",
}


class GridRow(NamedTuple):
    """A case or a host: its name, its id, and of each rule its worst sign and a number."""

    name: str
    short: str
    cells: dict[int, tuple[str, int]]
    remark: str


class Screen:
    """Prints what is safe and what this terminal can write, a line each."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.encoding = console.encoding or "utf-8"

    def make_text(self, text: str, style: str = "") -> Text:
        """Return text on one line."""
        shown = one_line(text).encode(self.encoding, "backslashreplace").decode(self.encoding)
        return Text(shown, style=style)

    def print_line(self, *parts: str | Text, style: str = "") -> None:
        """Print parts as one line."""
        line = Text()
        for part in parts:
            line.append_text(part if isinstance(part, Text) else self.make_text(part, style))
        line.rstrip()
        self.console.print(line, soft_wrap=True, highlight=False)

    def fit_name(self, name: str) -> str:
        """Return the name of a row as wide as its column."""
        mark = terminal_mark(self.console.encoding)
        return f"{bound_middle(name, NAME - 1, mark):<{NAME}}"

    def find_mark(self, sign: str) -> str:
        """Return the mark of a sign; the sign itself where this terminal cannot write it."""
        for state in STATES:
            if state.sign == sign:
                try:
                    state.mark.encode(self.encoding)
                except UnicodeEncodeError:
                    return sign
                return state.mark
        return sign


def print_fleet(fleet: Fleet, console: Console, by: str = "case", top: int = TOP) -> None:
    """Print the fleet (`fleetmap.arrange_fleet`) by case, host or month, its worst `top` rows; 0: all."""
    screen = Screen(console)
    print_head(fleet, screen)
    rows = {"case": len(fleet.cases), "host": len(fleet.hosts), "month": len(fleet.rules)}[by]
    if top:
        shown = min(rows, top)
    else:
        shown = rows
    unit = by
    if by == "month":
        unit = "rule"
        print_months(fleet, screen, shown)
    elif by == "host":
        print_grid(fleet, screen, by, list_host_rows(fleet, shown))
        text = "Empty cell: nothing is recorded for the host. Its cases show whether a rule could look."
        screen.print_line(text, style="dim")
    else:
        print_grid(fleet, screen, by, list_case_rows(fleet, shown))
    if shown < rows:
        more = count_noun(rows - shown, f"more {unit}")
        screen.print_line(f"{more}: --top {rows} shows all.", style="dim")


def print_head(fleet: Fleet, screen: Screen) -> None:
    """Print what the fleet is, how complete it is, and which rules rise."""
    screen.print_line(fleet.address, style="bold")
    screen.print_line(fleetmap.write_headline(fleet) + ".")
    for line in fleet.filters:
        screen.print_line(line)
    if fleet.undated:
        cases = count_noun(fleet.undated, "case")
        screen.print_line(f"{cases} left out: their material has no date.")
    for line in fleet.missing:
        screen.print_line(f"NOT COMPLETE: {line}. Its cases are not shown.", style="bold yellow")
    screen.print_line(fleetmap.describe_month(fleet) + (":" if fleet.rising else "."))
    for trend in fleet.rising[:RISING]:
        screen.print_line(f"  {fleetmap.describe_trend(fleet, trend)}")
    if len(fleet.rising) > RISING:
        more = len(fleet.rising) - RISING
        screen.print_line(f"  {more:,} more")
    screen.print_line("")


def list_case_rows(fleet: Fleet, number: int) -> Iterator[GridRow]:
    """Yield the first cases; the number of a cell is that of the findings."""
    counts: dict[tuple[int, int], int] = {}
    for hit in fleet.hits:
        if hit.case < number and hit.sign == fleet.cases[hit.case].cells[hit.rule]:
            key = (hit.case, hit.rule)
            counts[key] = counts.get(key, 0) + hit.count
    for place, case in enumerate(fleet.cases[:number]):
        cells = {}
        for rule, sign in enumerate(case.cells):
            cells[rule] = (sign, counts.get((place, rule), 0))
        remark = "incomplete"
        if case.complete:
            remark = ""
        if not case.read:
            remark = f"not read: {case.why}"
        yield GridRow(case.name, case.short, cells, remark)


def list_host_rows(fleet: Fleet, number: int) -> Iterator[GridRow]:
    """Yield the first hosts; the number of a cell is that of the cases."""
    hits_by_host: dict[int, list[FleetHit]] = {}
    for hit in fleet.hits:
        hits_by_host.setdefault(hit.host, []).append(hit)
    for place, host in enumerate(fleet.hosts[:number]):
        own = hits_by_host.get(place, [])
        hits_by_rule: dict[int, list[FleetHit]] = {}
        for hit in own:
            hits_by_rule.setdefault(hit.rule, []).append(hit)
        cells = {}
        for rule, hits in hits_by_rule.items():
            worst = min((hit.sign for hit in hits), key=RANK.__getitem__)
            cells[rule] = (worst, len({hit.case for hit in hits}))
        found = [hit for hit in own if hit.sign in FOUND]
        remark = ""
        if found:
            remark = _describe_first_seen(fleet, found)
        yield GridRow(host.name or "(no host named)", "", cells, remark)


def _describe_first_seen(fleet: Fleet, hits: list[FleetHit]) -> str:
    """Return since when a fault is known: its first sign, else the earliest capture."""
    first = min((hit.first for hit in hits if hit.first), default="")
    if first:
        return f"first seen {first[:10]}"
    captured = min(filter(None, (fleet.cases[hit.case].captured for hit in hits)), default="")
    if captured:
        return f"captured {captured[:10]}; its signs have no time"
    return "no time known"


def print_grid(fleet: Fleet, screen: Screen, unit: str, rows: Iterable[GridRow]) -> None:
    """Print a row for each case or host with a cell for each rule, and what the cells mean."""
    room = max(1, (screen.console.width - NAME - 14) // CELL)
    rules = range(min(room, len(fleet.rules)))
    numbers = "".join(f"{rule + 1:>{CELL}}" for rule in rules)
    head = f"{unit}, worst first"
    screen.print_line(f"{head:<{NAME}}{numbers}", style="bold")
    used = set()
    for row in rows:
        parts = [screen.make_text(screen.fit_name(row.name))]
        for rule in rules:
            sign, count = row.cells.get(rule, (" ", 0))
            used.add(sign)
            mark = screen.find_mark(sign)
            if count > 99:
                mark += "+"
            elif count > 1:
                mark += str(count)
            parts.append(Text(" " * (CELL - len(mark))))
            parts.append(screen.make_text(mark, _STYLE.get(sign, "")))
        end = "  ".join(filter(None, [row.short, row.remark]))
        parts.append(screen.make_text(f"  {end}", "dim"))
        screen.print_line(*parts)
    screen.print_line("")
    print_rules(fleet, screen, rules)
    marks = []
    for state in STATES:
        if state.sign in used:
            marks.append(f"{screen.find_mark(state.sign)} {state.word}")
    if marks:
        what = "findings; with ? the objects that the rule cannot judge"
        if unit == "host":
            what = "cases"
        screen.print_line(f"{'; '.join(marks)}. A number counts {what}.", style="dim")
    if len(rules) < len(fleet.rules):
        more = count_noun(len(fleet.rules) - len(rules), "more rule")
        way = "-o FOLDER writes a page with all rules, --rule chooses some."
        screen.print_line(f"{more} would not fit the width: {way}", style="dim")


def print_rules(fleet: Fleet, screen: Screen, rules: Iterable[int]) -> None:
    """Print the names of the numbered rules, and in how many cases each found something."""
    columns = fleetmap.list_columns(fleet)
    for place in rules:
        rule = fleet.rules[place]
        column = columns[place]
        found = fleetmap.count_found(column)
        text = "no case"
        if found:
            text = count_noun(found, "case")
        if "?" in column:
            text += f", cannot tell in {column.count('?'):,}"
        parts = []
        for article in rule.kb:
            if str(article) not in rule.id:
                parts.append(f" KB {article}")
        articles = "".join(parts)
        screen.print_line(f"{place + 1:>3}  {rule.id}{articles}: {text}. {rule.title}")


def print_months(fleet: Fleet, screen: Screen, number: int) -> None:
    """Print hits per rule per month: the last months that fit, everything older in one column."""
    months = fleet.months
    room = max(1, (screen.console.width - NAME - 2 * MONTH - 20) // MONTH)
    has_later = any(months.later)
    heads = ["cases", "earlier", *months.names[-room:], "no date"]
    if has_later:
        heads.append("later")
    cells = "".join(f"{head:>{MONTH}}" for head in heads)
    screen.print_line(f"{'rule, worst first':<{NAME}}", cells, style="bold")
    columns = fleetmap.list_columns(fleet)
    rising = {trend.rule for trend in fleet.rising}
    for rule in range(number):
        column = columns[rule]
        counts = months.counts[rule]
        found = fleetmap.count_found(column)
        older = months.older[rule] + sum(counts[:-room])
        numbers = [found, older, *counts[-room:], months.undated[rule]]
        if has_later:
            numbers.append(months.later[rule])
        parts = []
        for one in numbers:
            count = f"{one:,}" if one else "-"
            parts.append(f"{count:>{MONTH}}")
        cells = "".join(parts)
        remarks = []
        if rule in rising:
            remarks = ["rising"]
        if "?" in column:
            remarks.append(f"cannot tell in {column.count('?'):,}")
        remark = screen.make_text(f"  {', '.join(remarks)}", "dim")
        screen.print_line(screen.fit_name(fleet.rules[rule].id) + cells, remark)
    text = "A case counts once per rule, in the month of its first sign, or of its capture if no sign has a time."
    screen.print_line(text, style="dim")
    if has_later:
        later = f"Later: after {fleet.as_of[:7]}: the clock of a host is wrong."
        screen.print_line(later, style="dim")
