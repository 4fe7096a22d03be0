"""Many cases side by side: the answer of each rule in each case, order of rows, hits by month, rising rules.

Plain records without a clock: all times are ISO 8601 in UTC as the archive has
them. Nothing is escaped here; the page and the terminal do that for themselves.
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


# Worst first. A rule that could not judge comes before one that found nothing: it is not clean.
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
# The worst of a case -> how the headline calls it.
_WORST_WORDS = {
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
    say: str  # the sentence of the finding, or why it cannot be judged
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
    excess  how many times the worst figure is over its bar, None without a figure
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
    month     the month that `rising` speaks of, "" when there is no trend; volume: its cases, and those a month before
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


def arrange_fleet(fleet: Fleet) -> Fleet:
    """Return the fleet in the order of its weight, with months and what is rising.

    Rules: the sum over all cases of 8 for critical, 4 for major, 2 for a warning, 1 for info or exposed.
    Cases and hosts: by their worst finding, as a case orders its own (`analyzer.case.ranking`), never by how
    many there are; one that could not be read comes before one in which something could not be judged.
    """
    rules = _order_rules(fleet)
    cases = order_cases(fleet)
    worst = _find_worst_hits(fleet, [hit.host for hit in fleet.hits])
    nothing = (_NOTHING_FOUND, math.inf)
    hosts = sorted(
        range(len(fleet.hosts)),
        key=lambda place: (*worst.get(place, nothing), fleet.hosts[place].name),
    )
    rule_places, case_places, host_places = map(_map_places, (rules, cases, hosts))
    hits = []
    for hit in fleet.hits:
        place = replace(
            hit, case=case_places[hit.case], rule=rule_places[hit.rule], host=host_places[hit.host]
        )
        hits.append(place)
    hits.sort(key=lambda hit: (*hit.key, hit.case, hit.rule, hit.host))
    arranged_cases = []
    for old in cases:
        case = fleet.cases[old]
        arranged_cases.append(replace(case, cells="".join(case.cells[rule] for rule in rules)))
    arranged = replace(
        fleet,
        rules=[fleet.rules[old] for old in rules],
        hosts=[fleet.hosts[old] for old in hosts],
        cases=arranged_cases,
        hits=hits,
        total=len(fleet.cases),
    )
    arranged.months = count_months(arranged)
    arranged.month, arranged.volume, arranged.rising = find_rising(arranged)
    return arranged


def _map_places(order: list[int]) -> dict[int, int]:
    return {old: new for new, old in enumerate(order)}


def list_columns(fleet: Fleet) -> list[str]:
    """Return the signs of each rule over all cases."""
    cells = "".join(case.cells for case in fleet.cases)
    return [cells[number :: len(fleet.rules)] for number in range(len(fleet.rules))]


def count_found(column: str) -> int:
    """Return in how many cases a rule found something."""
    return sum(map(column.count, FOUND))


def _order_rules(fleet: Fleet) -> list[int]:
    """Return the places of the rules, the one with the weightiest findings first."""
    columns = list_columns(fleet)

    def sort_key(place: int) -> tuple[int, int, int, str]:
        column = columns[place]
        weight = 0
        for sign in FOUND:
            weight += WEIGHT[sign] * column.count(sign)
        return -weight, -column.count("!"), -column.count("?"), fleet.rules[place].id

    return sorted(range(len(fleet.rules)), key=sort_key)


def order_cases(fleet: Fleet) -> list[int]:
    """Return the places of the cases, the worst first."""
    worst = _find_worst_hits(fleet, [hit.case for hit in fleet.hits])

    def sort_key(place: int) -> tuple[object, ...]:
        case = fleet.cases[place]
        rank = min(RANK[find_worst_sign(case)], _NOTHING_FOUND)
        _, size = worst.get(place, (rank, math.inf))
        questions = -case.cells.count("?")
        return rank, size, case.read, questions, case.complete, case.name, case.id

    return sorted(range(len(fleet.cases)), key=sort_key)


def _find_worst_hits(fleet: Fleet, things: list[int]) -> dict[int, tuple[int, float]]:
    """Return the key of the worst hit of each thing; `things` has one for each hit."""
    found: dict[int, tuple[int, float]] = {}
    for thing, hit in zip(things, fleet.hits, strict=True):
        found[thing] = min(hit.key, found.get(thing, hit.key))
    return found


def keep_worst(fleet: Fleet, number: int) -> Fleet:
    """Return the fleet with its worst `number` cases only; months and what is rising still speak of all."""
    if number >= len(fleet.cases):
        return fleet
    hits = [hit for hit in fleet.hits if hit.case < number]
    kept = sorted({hit.host for hit in hits})
    place = _map_places(kept)
    return replace(
        fleet,
        cases=fleet.cases[:number],
        hosts=[fleet.hosts[old] for old in kept],
        hits=[replace(hit, host=place[hit.host]) for hit in hits],
    )


def find_worst_sign(case: FleetCase) -> str:
    """Return the worst that any rule said of the case, "/" when nothing was judged."""
    return min(case.cells, key=RANK.__getitem__, default="/")


def write_headline(fleet: Fleet) -> str:
    """Return in one sentence how many cases there are and the worst of each."""
    counts = Counter(find_worst_sign(case) for case in fleet.cases if case.read)
    unread = sum(not case.read for case in fleet.cases)
    parts = []
    for sign, word in _WORST_WORDS.items():
        if counts[sign]:
            parts.append(f"{word} {counts[sign]:,}")
    if unread:
        parts.append(f"could not be read {unread:,}")
    if not parts:
        return "No cases"
    return f"{count_noun(len(fleet.cases), 'case')} by their worst: {', '.join(parts)}"


def count_months(fleet: Fleet) -> Months:
    """Return the hits of each rule by month: a case counts once for a rule, in the month of its first sign.

    Where no sign carries a time it is the month in which the case was captured.
    """
    first_times: dict[tuple[int, int], str] = {}
    for hit in fleet.hits:
        if hit.sign in FOUND:
            key = (hit.rule, hit.case)
            known = first_times.get(key, "")
            first_times[key] = min(filter(None, [known, hit.first]), default="")
    counts: Counter[tuple[int, str]] = Counter()
    for (rule, case), time in first_times.items():
        month = (time or fleet.cases[case].captured)[:7]
        counts[rule, month] += 1
    now = fleet.as_of[:7]
    known_months = {month for _, month in counts if month and (not now or month <= now)}
    names = _list_months(known_months)
    rules = range(len(fleet.rules))
    older = [0] * len(rules)
    later = [0] * len(rules)
    for (rule, month), number in counts.items():
        if month and names and month < names[0]:
            older[rule] += number
        elif month and now and month > now:
            later[rule] += number
    captured = Counter(case.captured[:7] for case in fleet.cases)
    return Months(
        names=names,
        counts=[[counts[rule, month] for month in names] for rule in rules],
        older=older,
        later=later,
        undated=[counts[rule, ""] for rule in rules],
        captured=[captured[month] for month in names],
    )


def _list_months(known: set[str]) -> list[str]:
    """Return the last MONTHS months up to the newest known one, empty ones between them as well."""
    if not known:
        return []
    months = [max(known)]
    while len(months) < MONTHS and months[-1] > min(known):
        months.append(find_month_before(months[-1]))
    return months[::-1]


def find_month_before(month: str) -> str:
    """Return the month before `2017-01`: `2016-12`."""
    year = int(month[:4])
    number = int(month[5:7])
    if number == 1:
        return f"{year - 1:04}-12"
    return f"{year:04}-{number - 1:02}"


def find_rising(fleet: Fleet) -> tuple[str, tuple[int, float], list[Trend]]:
    """Return the newest month with hits, its cases and those a month before, and the rules that rise in it.

    A rule rises when the month has at least RISING cases of it and twice what the BEFORE months before
    had a month, or twice what the growth of captured cases alone would have made of it. Without any hit
    in the months before there is no trend: the month is "".
    """
    months = fleet.months
    past = slice(-1 - BEFORE, -1)
    past_months = len(months.names[past])
    if not any(sum(row[past]) for row in months.counts):
        return "", (0, 0.0), []
    now = months.captured[-1]
    before = sum(months.captured[past]) / past_months
    growth = 1.0
    if before:
        growth = max(1.0, now / before)
    trends = []
    for rule, row in enumerate(months.counts):
        usual = sum(row[past]) / past_months
        if row[-1] >= RISING and row[-1] >= 2 * usual * growth:
            is_new = sum(row) == row[-1] and not months.older[rule]
            trends.append(Trend(rule, row[-1], usual, is_new))
    trends.sort(key=lambda trend: (trend.before - trend.now, trend.rule))
    return months.names[-1], (now, before), trends


def describe_trend(fleet: Fleet, trend: Trend) -> str:
    """Return a rising rule in one sentence."""
    rule = fleet.rules[trend.rule]
    before = "none before"
    if not trend.new:
        before = f"{trend.before:.1f} a month in the {describe_span(fleet)} before"
    cases = count_noun(trend.now, "case")
    return f"{rule.id}: {cases} in {fleet.month}, {before}. {rule.title}".rstrip()


def describe_month(fleet: Fleet) -> str:
    """Return the newest month as a whole in one sentence."""
    if not fleet.month:
        return "No trend yet: nothing was found in the months before the newest one"
    now, before = fleet.volume
    so_far = ""
    if fleet.as_of[:7] == fleet.month:
        so_far = " so far"
    captured = f"{count_noun(now, 'case')} captured in {fleet.month}{so_far}"
    compared = f"{before:.1f} a month in the {describe_span(fleet)} before"
    rising = "No rule is rising"
    if fleet.rising:
        rising = "Rising"
    return f"{rising} in {fleet.month} ({captured}, {compared})"


def describe_span(fleet: Fleet) -> str:
    """Return with how many months the newest is compared."""
    return count_noun(min(BEFORE, len(fleet.months.names) - 1), "month")
