"""Many cases side by side: what each rule said in each case, order of rows, hits by month, rising rules.

Plain records without a clock: all times are ISO 8601 in UTC as they stand in the
archive. Nothing is escaped here; the page and the terminal do that for themselves.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from analyzer.case.ranking import largest_first
from analyzer.runtime.text import count_noun


class FleetState(NamedTuple):
    """What a rule said in a case: one sign in the data, the mark a reader sees, words for it."""

    sign: str
    mark: str
    word: str
    meaning: str


# Worst first. A rule that could not judge stands before one that found nothing: it is not clean.
STATES = (
    FleetState("C", "C", "critical", "a critical fault was found"),
    FleetState("M", "M", "major", "a major fault was found"),
    FleetState("W", "W", "warning", "a warning was found"),
    FleetState("I", "I", "info", "something worth knowing was found"),
    FleetState("V", "V", "exposed", "only the version fits; no sign of the fault was seen"),
    FleetState("!", "!", "rule broke", "the rule failed, so its question stays open"),
    FleetState("?", "?", "cannot tell", "something is missing, so its question stays open"),
    FleetState("m", "m", "muted", "found or open, but muted by local settings"),
    FleetState(".", "·", "found nothing", "the rule looked and found nothing"),
    FleetState("-", "–", "not applicable", "there was nothing for the rule to look at"),
    FleetState("/", "/", "not judged", "the rule was not judged in this case"),
)
SIGNS = "".join(state.sign for state in STATES)
RANK = {sign: rank for rank, sign in enumerate(SIGNS)}
_NOTHING_FOUND = RANK["!"] + 1
FOUND = "CMWIV"
WEIGHT = {"C": 8, "M": 4, "W": 2, "I": 1, "V": 1}  # of one case, for the order of the rules
MONTHS = 24  # columns of the months; what is older is one column
BEFORE = 3  # months a month is compared with
RISING = 3  # cases a month must have at least to be called rising


@dataclass(slots=True)
class FleetRule:
    """A rule that was judged in at least one case."""

    id: str
    title: str = ""
    kb: tuple[int, ...] = ()


@dataclass(slots=True)
class Host:
    """A machine by its name; hosts of one name in several cases are taken for one."""

    name: str
    about: str = ""


@dataclass(slots=True)
class FleetCase:
    """A stored case.

    short     beginning of its id, different from every other case of the archive
    stored    when it was stored, captured: newest time in its material, "" when there is none
    why       why it could not be read, "" when it was; complete: False when something was cut or left out
    cells     one sign for each rule of the fleet, in the order of `Fleet.rules`
    """

    id: str
    short: str
    name: str
    source: str = ""
    stored: str = ""
    captured: str = ""
    read: bool = True
    why: str = ""
    complete: bool = True
    cells: str = ""


@dataclass(slots=True)
class FleetNote:
    """One finding or one open question, as the panel shows it."""

    subject: str
    say: str  # the sentence of the finding, or why it cannot be told
    weight: str = ""  # `major, confirmed`
    first: str = ""
    missing: str = ""
    ask: str = ""
    muted: str = ""
    finding: str = ""  # id of the finding, for the link into the report


@dataclass(slots=True)
class FleetHit:
    """What one rule has on one host of one case, of one state; numbers are places in the lists of the fleet.

    first  earliest time of it, "" when it carries none; notes: all of them or the first ones
    excess  how many times the worst figure is over its bar, None when no figure tells
    """

    case: int
    rule: int
    host: int
    sign: str
    count: int
    first: str = ""
    notes: list[FleetNote] = field(default_factory=list)
    excess: float | None = None

    @property
    def key(self) -> tuple[int, float]:
        """How bad it is, as `analyzer.case.ranking` orders findings; the smaller comes first."""
        return RANK[self.sign], largest_first(self.excess)


@dataclass(slots=True)
class Months:
    """Cases in which a rule found something, by the month of its first sign there.

    names  months as `2017-10`, oldest first, at most MONTHS; counts: one row a rule
    older, later, undated  one number a rule: before the first month; after the archive was last written,
           which is a wrong clock of a host; without any time
    captured  cases captured in each month
    """

    names: list[str] = field(default_factory=list)
    counts: list[list[int]] = field(default_factory=list)
    older: list[int] = field(default_factory=list)
    later: list[int] = field(default_factory=list)
    undated: list[int] = field(default_factory=list)
    captured: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Trend:
    """A rule that shows up clearly more often than before; before is cases a month."""

    rule: int
    now: int
    before: float
    new: bool


@dataclass(slots=True)
class Fleet:
    """All that the page and the terminal show.

    address   of the archive; as_of: newest time at which a case was stored
    filters   what was asked for, one sentence each; total: cases of these filters, more than `cases` after `worst`
    undated   cases left out because they have no date to filter by; missing: parts of the archive not read, and why
    month     the month that `rising` speaks of, "" when none can be told; volume: its cases, and those a month before
    """

    address: str
    as_of: str = ""
    filters: list[str] = field(default_factory=list)
    rules: list[FleetRule] = field(default_factory=list)
    hosts: list[Host] = field(default_factory=list)
    cases: list[FleetCase] = field(default_factory=list)
    hits: list[FleetHit] = field(default_factory=list)
    total: int = 0
    undated: int = 0
    missing: list[str] = field(default_factory=list)
    months: Months = field(default_factory=Months)
    month: str = ""
    volume: tuple[int, float] = (0, 0.0)
    rising: list[Trend] = field(default_factory=list)


def arranged(fleet: Fleet) -> Fleet:
    """Return the fleet in the order of its weight, with months and what is rising.

    Rules: the sum over all cases of 8 for critical, 4 for major, 2 for a warning, 1 for info or exposed.
    Cases and hosts: by their worst finding, as a case orders its own (`analyzer.case.ranking`), never by how
    many there are; one that could not be read comes before one in which something could not be told.
    """
    rules = _order(
        [_rule_key(rule, column) for rule, column in zip(fleet.rules, columns(fleet), strict=True)]
    )
    cases = _order(_case_keys(fleet))
    hosts = _order(_host_keys(fleet))
    rule_at, case_at, host_at = (_places(order) for order in (rules, cases, hosts))
    hits = [
        replace(hit, case=case_at[hit.case], rule=rule_at[hit.rule], host=host_at[hit.host])
        for hit in fleet.hits
    ]
    out = replace(
        fleet,
        rules=[fleet.rules[old] for old in rules],
        hosts=[fleet.hosts[old] for old in hosts],
        cases=[
            replace(fleet.cases[old], cells="".join(fleet.cases[old].cells[rule] for rule in rules))
            for old in cases
        ],
        hits=sorted(hits, key=lambda hit: (*hit.key, hit.case, hit.rule, hit.host)),
        total=len(fleet.cases),
    )
    out.months = months(out)
    out.month, out.volume, out.rising = rising(out)
    return out


def _order(keys: list[tuple[object, ...]]) -> list[int]:
    return sorted(range(len(keys)), key=lambda number: keys[number])


def _places(order: list[int]) -> dict[int, int]:
    return {old: new for new, old in enumerate(order)}


def columns(fleet: Fleet) -> list[str]:
    """Return the signs of each rule over all cases."""
    cells = "".join(case.cells for case in fleet.cases)
    return [cells[number :: len(fleet.rules)] for number in range(len(fleet.rules))]


def _rule_key(rule: FleetRule, column: str) -> tuple[object, ...]:
    weight = sum(WEIGHT[sign] * column.count(sign) for sign in FOUND)
    return (-weight, -column.count("!"), -column.count("?"), rule.id)


def _case_keys(fleet: Fleet) -> list[tuple[object, ...]]:
    worst = _worst_of(fleet, [hit.case for hit in fleet.hits])
    keys: list[tuple[object, ...]] = []
    for number, case in enumerate(fleet.cases):
        told = min(RANK[worst_sign(case)], _NOTHING_FOUND)
        _, less = worst.get(number, (told, math.inf))
        open_questions = -case.cells.count("?")
        keys.append((told, less, case.read, open_questions, case.complete, case.name, case.id))
    return keys


def _host_keys(fleet: Fleet) -> list[tuple[object, ...]]:
    worst = _worst_of(fleet, [hit.host for hit in fleet.hits])
    nothing = (_NOTHING_FOUND, math.inf)
    return [(*worst.get(number, nothing), host.name) for number, host in enumerate(fleet.hosts)]


def _worst_of(fleet: Fleet, things: list[int]) -> dict[int, tuple[int, float]]:
    """Return the key of the worst hit of each thing; `things` has one for each hit."""
    found: dict[int, tuple[int, float]] = {}
    for thing, hit in zip(things, fleet.hits, strict=True):
        found[thing] = min(hit.key, found.get(thing, hit.key))
    return found


def worst(fleet: Fleet, number: int) -> Fleet:
    """Return the fleet with its worst `number` cases only; months and what is rising still speak of all."""
    if number >= len(fleet.cases):
        return fleet
    hits = [hit for hit in fleet.hits if hit.case < number]
    kept = sorted({hit.host for hit in hits})
    place = _places(kept)
    return replace(
        fleet,
        cases=fleet.cases[:number],
        hosts=[fleet.hosts[old] for old in kept],
        hits=[replace(hit, host=place[hit.host]) for hit in hits],
    )


def worst_sign(case: FleetCase) -> str:
    """Return the worst that any rule said of the case, "/" when nothing was judged."""
    return min(case.cells, key=RANK.__getitem__, default="/")


def headline(fleet: Fleet) -> str:
    """Return in one sentence how many cases there are and the worst of each."""
    counts = Counter(worst_sign(case) for case in fleet.cases if case.read)
    unread = sum(not case.read for case in fleet.cases)
    words = {
        "C": "critical",
        "M": "major",
        "W": "warning",
        "I": "info",
        "V": "exposed only",
        "!": "a rule that broke",
        "?": "open questions only",
        "m": "muted only",
        ".": "nothing found",
        "-": "nothing to look at",
        "/": "not judged",
    }
    parts = [f"{word} {counts[sign]:,}" for sign, word in words.items() if counts[sign]]
    parts += [f"could not be read {unread:,}"] if unread else []
    return (
        f"{count_noun(len(fleet.cases), 'case')} by their worst: {', '.join(parts)}"
        if parts
        else "No cases"
    )


def months(fleet: Fleet) -> Months:
    """Return the hits of each rule by month: a case counts once for a rule, in the month of its first sign.

    Where no sign carries a time it is the month in which the case was captured.
    """
    first: dict[tuple[int, int], str] = {}
    for hit in fleet.hits:
        if hit.sign in FOUND:
            key = (hit.rule, hit.case)
            known = first.get(key, "")
            first[key] = min(known, hit.first) if known and hit.first else known or hit.first
    seen = Counter(
        (rule, (time or fleet.cases[case].captured)[:7]) for (rule, case), time in first.items()
    )
    now = fleet.as_of[:7]
    names = _names({month for _, month in seen if month and (not now or month <= now)})
    older: Counter[int] = Counter()
    later: Counter[int] = Counter()
    for (rule, month), number in seen.items():
        if month and names and month < names[0]:
            older[rule] += number
        elif month and now and month > now:
            later[rule] += number
    captured = Counter(case.captured[:7] for case in fleet.cases)
    rows = range(len(fleet.rules))
    return Months(
        names,
        [[seen[rule, month] for month in names] for rule in rows],
        [older[rule] for rule in rows],
        [later[rule] for rule in rows],
        [seen[rule, ""] for rule in rows],
        [captured[month] for month in names],
    )


def _names(known: set[str]) -> list[str]:
    """Return the last MONTHS months up to the newest known one, empty ones between them as well."""
    if not known:
        return []
    out = [max(known)]
    while len(out) < MONTHS and out[-1] > min(known):
        out.append(earlier(out[-1]))
    return out[::-1]


def earlier(month: str) -> str:
    """Return the month before `2017-01`: `2016-12`."""
    year, number = int(month[:4]), int(month[5:7])
    return f"{year - 1:04}-12" if number == 1 else f"{year:04}-{number - 1:02}"


def rising(fleet: Fleet) -> tuple[str, tuple[int, float], list[Trend]]:
    """Return the newest month with hits, its cases and those a month before, and the rules that rise in it.

    A rule rises when the month has at least RISING cases of it and twice what the BEFORE months before
    had a month, or twice what the growth of captured cases alone would have made of it. Without any hit
    in the months before nothing can be told: the month is "".
    """
    names, rows, captured = fleet.months.names, fleet.months.counts, fleet.months.captured
    past = slice(-1 - BEFORE, -1)
    many = len(names[past])
    if not any(sum(row[past]) for row in rows):
        return "", (0, 0.0), []
    volume = (captured[-1], sum(captured[past]) / many)
    growth = max(1.0, volume[0] / volume[1]) if volume[1] else 1.0
    out = []
    for number, row in enumerate(rows):
        before = sum(row[past]) / many
        if row[-1] >= RISING and row[-1] >= 2 * before * growth:
            new = sum(row) == row[-1] and not fleet.months.older[number]
            out.append(Trend(number, row[-1], before, new))
    out.sort(key=lambda trend: (trend.before - trend.now, trend.rule))
    return names[-1], volume, out


def trend_text(fleet: Fleet, trend: Trend) -> str:
    """Return what is told of a rising rule."""
    rule = fleet.rules[trend.rule]
    before = (
        "none before" if trend.new else f"{trend.before:.1f} a month in the {span(fleet)} before"
    )
    return f"{rule.id}: {count_noun(trend.now, 'case')} in {fleet.month}, {before}. {rule.title}".rstrip()


def trend_head(fleet: Fleet) -> str:
    """Return what is told of the month as a whole."""
    if not fleet.month:
        return "No trend yet: nothing was found in the months before the newest one"
    now, before = fleet.volume
    so_far = " so far" if fleet.as_of[:7] == fleet.month else ""
    said = f"{count_noun(now, 'case')} captured in {fleet.month}{so_far}, {before:.1f} a month in the {span(fleet)} before"
    return f"{'Rising' if fleet.rising else 'No rule is rising'} in {fleet.month} ({said})"


def span(fleet: Fleet) -> str:
    """Return with how many months the newest is compared."""
    return count_noun(min(BEFORE, len(fleet.months.names) - 1), "month")
