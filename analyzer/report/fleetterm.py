"""The fleet in a terminal: a compact heat map of cases or hosts, or hits per rule and month.

Foreign text passes `one_line`, so that it cannot steer the terminal. Colour only repeats what a
mark says. What does not fit the width or the wanted number of rows is counted, with the way to see it.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from analyzer.report import fleetmap
from analyzer.report.fleetmap import FOUND, RANK, STATES, Fleet, FleetHit
from analyzer.report.summary import STYLES
from analyzer.runtime.short_lines import bound_middle, terminal_mark
from analyzer.runtime.text import count_noun, one_line

TOP = 20  # rows without --top
NAME = 24  # columns of the name of a row
CELL = 4  # columns of a cell
MONTH = 8  # columns of a month
RISING = 5  # rising rules that are told

_STYLE = {
    "C": STYLES["critical"],
    "M": STYLES["major"],
    "W": STYLES["warning"],
    "I": STYLES["info"],
    "!": STYLES["error"],
    "?": "yellow",
}


def render(fleet: Fleet, console: Console, by: str = "case", top: int = TOP) -> None:
    """Print the fleet (`fleetmap.arranged`) by case, host or month, its worst `top` rows; 0: all."""
    _head(fleet, console)
    rows = {"case": len(fleet.cases), "host": len(fleet.hosts), "month": len(fleet.rules)}[by]
    shown = min(rows, top) if top else rows
    if by == "month":
        _months(fleet, console, shown)
    elif by == "host":
        _grid(fleet, console, "host", _host_rows(fleet, shown))
    else:
        _grid(fleet, console, "case", _case_rows(fleet, shown))
    if shown < rows:
        unit = "rule" if by == "month" else by
        _put(
            console,
            f"{count_noun(rows - shown, f'more {unit}')}: --top {rows} shows all.",
            style="dim",
        )


def _put(console: Console, *parts: str | Text, style: str = "") -> None:
    """Print parts as one line."""
    line = Text().join(
        part if isinstance(part, Text) else _text(console, part, style) for part in parts
    )
    line.rstrip()
    console.print(line, soft_wrap=True, highlight=False)


def _text(console: Console, said: str, style: str = "") -> Text:
    """Return text on one line that is safe and that this terminal can write."""
    encoding = _encoding(console)
    return Text(one_line(said).encode(encoding, "backslashreplace").decode(encoding), style=style)


def _encoding(console: Console) -> str:
    return console.encoding or "utf-8"


def _head(fleet: Fleet, console: Console) -> None:
    _put(console, fleet.address, style="bold")
    _put(console, fleetmap.headline(fleet) + ".")
    for line in fleet.filters:
        _put(console, line)
    if fleet.undated:
        _put(console, f"{count_noun(fleet.undated, 'case')} left out: their material has no date.")
    for line in fleet.missing:
        _put(console, f"NOT COMPLETE: {line}. Its cases are not shown.", style="bold yellow")
    _put(console, fleetmap.trend_head(fleet) + (":" if fleet.rising else "."))
    for trend in fleet.rising[:RISING]:
        _put(console, f"  {fleetmap.trend_text(fleet, trend)}")
    if len(fleet.rising) > RISING:
        _put(console, f"  {len(fleet.rising) - RISING:,} more")
    _put(console, "")


def _case_rows(
    fleet: Fleet, number: int
) -> Iterable[tuple[str, str, dict[int, tuple[str, int]], str]]:
    """Yield (name, short id, {rule: (sign, count)}, remark) of the first cases."""
    counts: dict[tuple[int, int], int] = {}
    for hit in fleet.hits:
        if hit.case < number and hit.sign == fleet.cases[hit.case].cells[hit.rule]:
            counts[hit.case, hit.rule] = counts.get((hit.case, hit.rule), 0) + hit.count
    for place, case in enumerate(fleet.cases[:number]):
        cells = {rule: (sign, counts.get((place, rule), 0)) for rule, sign in enumerate(case.cells)}
        remark = f"not read: {case.why}" if not case.read else "" if case.complete else "incomplete"
        yield case.name, case.short, cells, remark


def _host_rows(
    fleet: Fleet, number: int
) -> Iterable[tuple[str, str, dict[int, tuple[str, int]], str]]:
    """Yield (name, what it is, {rule: (worst sign, cases)}, first seen) of the first hosts."""
    hits: dict[int, list[FleetHit]] = {}
    for hit in fleet.hits:
        if hit.host < number:
            hits.setdefault(hit.host, []).append(hit)
    for place, host in enumerate(fleet.hosts[:number]):
        cells: dict[int, tuple[str, int]] = {}
        own = hits.get(place, [])
        for rule in {hit.rule for hit in own}:
            mine = [hit for hit in own if hit.rule == rule]
            cells[rule] = (
                min((hit.sign for hit in mine), key=RANK.__getitem__),
                len({hit.case for hit in mine}),
            )
        first = min((hit.first for hit in own if hit.first and hit.sign in FOUND), default="")
        found = [fleet.cases[hit.case].captured for hit in own if hit.sign in FOUND]
        taken = min(filter(None, found), default="")
        said = f"captured {taken[:10]}; its signs have no time" if taken else "no time known"
        yield (
            host.name or "(no host named)",
            "",
            cells,
            f"first seen {first[:10]}" if first else said if found else "",
        )


def _grid(
    fleet: Fleet,
    console: Console,
    unit: str,
    rows: Iterable[tuple[str, str, dict[int, tuple[str, int]], str]],
) -> None:
    room = max(1, (console.width - NAME - 14) // CELL)
    rules = range(min(room, len(fleet.rules)))
    numbers = "".join(f"{rule + 1:>{CELL}}" for rule in rules)
    _put(console, f"{f'{unit}, worst first':<{NAME}}{numbers}", style="bold")
    used = set()
    for name, short, cells, remark in rows:
        shown = bound_middle(name, NAME - 1, terminal_mark(console.encoding))
        parts = [_text(console, f"{shown:<{NAME}}")]
        for rule in rules:
            sign, count = cells.get(rule, (" ", 0))
            used.add(sign)
            mark = (
                f"{_mark(sign, console)}{count if 1 < count < 100 else '+' if count > 99 else ''}"
            )
            parts += [Text(" " * (CELL - len(mark))), _text(console, mark, _STYLE.get(sign, ""))]
        parts.append(_text(console, f"  {short}{'  ' if short and remark else ''}{remark}", "dim"))
        _put(console, *parts)
    _put(console, "")
    what = "cases" if unit == "host" else "findings; with ? the objects that the rule cannot judge"
    _legend(fleet, console, rules, used, what)
    if len(rules) < len(fleet.rules):
        more = count_noun(len(fleet.rules) - len(rules), "more rule")
        said = f"{more} would not fit the width: -o FOLDER writes a page with all rules, --rule chooses some."
        _put(console, said, style="dim")
    if unit == "host":
        said = "Empty cell: nothing is recorded for the host. Its cases show whether a rule could look."
        _put(console, said, style="dim")


def _mark(sign: str, console: Console) -> str:
    """Return the mark of a sign; the sign itself where this terminal cannot write it."""
    mark = next((state.mark for state in STATES if state.sign == sign), sign)
    try:
        mark.encode(_encoding(console))
    except UnicodeEncodeError:
        return sign
    return mark


def _legend(
    fleet: Fleet, console: Console, rules: Iterable[int], used: set[str], what: str
) -> None:
    """Print the names of the numbered rules, and the marks that were used."""
    columns = fleetmap.columns(fleet)
    for rule in rules:
        column = columns[rule]
        found = sum(map(column.count, FOUND))
        said = count_noun(found, "case") if found else "no case"
        said += f", cannot tell in {column.count('?'):,}" if "?" in column else ""
        kb = "".join(
            f" KB {number}"
            for number in fleet.rules[rule].kb
            if str(number) not in fleet.rules[rule].id
        )
        _put(
            console, f"{rule + 1:>3}  {fleet.rules[rule].id}{kb}: {said}. {fleet.rules[rule].title}"
        )
    marks = [f"{_mark(state.sign, console)} {state.word}" for state in STATES if state.sign in used]
    if marks:
        _put(console, f"{'; '.join(marks)}. A number counts {what}.", style="dim")


def _months(fleet: Fleet, console: Console, number: int) -> None:
    """Print hits per rule per month: the last months that fit, everything older in one column."""
    months = fleet.months
    room = max(1, (console.width - NAME - 2 * MONTH - 20) // MONTH)
    names = months.names[-room:]
    older = [a + sum(row[:-room]) for a, row in zip(months.older, months.counts, strict=True)]
    heads = ["cases", "earlier", *names, "no date", *(["later"] if any(months.later) else [])]
    _put(
        console,
        f"{'rule, worst first':<{NAME}}",
        "".join(f"{head:>{MONTH}}" for head in heads),
        style="bold",
    )
    columns = fleetmap.columns(fleet)
    rising = {trend.rule for trend in fleet.rising}
    for rule in range(number):
        found = sum(map(columns[rule].count, FOUND))
        cells = [found, older[rule], *months.counts[rule][-room:], months.undated[rule]]
        cells += [months.later[rule]] if any(months.later) else []
        name = bound_middle(fleet.rules[rule].id, NAME - 1, terminal_mark(console.encoding))
        line = f"{name:<{NAME}}" + "".join(
            f"{f'{cell:,}' if cell else '-':>{MONTH}}" for cell in cells
        )
        remark = ["rising"] if rule in rising else []
        remark += [f"cannot tell in {columns[rule].count('?'):,}"] if "?" in columns[rule] else []
        _put(console, line, _text(console, f"  {', '.join(remark)}", "dim"))
    said = "A case counts once per rule, in the month of its first sign, or of its capture if no sign has a time."
    _put(console, said, style="dim")
    if any(months.later):
        _put(console, f"Later: after {fleet.as_of[:7]}: the clock of a host is wrong.", style="dim")
