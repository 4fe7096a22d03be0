"""Signs of trouble that no finding explains, as all reports word and group them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from analyzer.case.comparison import Place
from analyzer.case.document import CHRONIC, SHOWN_FROM, CaseDocument, KnownSign, Signal
from analyzer.case.verdicts import Finding
from analyzer.report.wording import count_noun, format_time, write_place

TITLE = "Unexplained: signs of trouble that no finding rests on"
LONGEST_QUERY = 160  # characters; no search takes more
FEWEST_WORDS = 3  # of a query
HEALTHY = "healthy"  # the label of a whole case (analyzer.archive.labels)
RULES_NAMED = 3  # rules that the sentence about stored cases names
_WORD = re.compile(r"(?<![\w#])[A-Za-z][A-Za-z_:-]{2,}(?![\w#])")
_SPELLED_CODE = re.compile(r"\bcode[a-p]+\b")  # analyzer.signals.templates
_QUOTED_NAME = re.compile(r"'[^']*'|\S*\d\S*")
PRECEDING = 3  # shown at a finding
FIRST = 5  # of the lines, and of the counters, that are shown
KINDS = {
    "core dump file": ("core dump file", "core dump files"),
    "core dump": ("core dump", "core dumps"),
    "backtrace": ("backtrace", "backtraces"),
    "alert": ("ALERT", "ALERTs"),
    "event": ("problem event", "problem events"),
    "few lines": ("known sign, too few lines", "known signs, too few lines"),
    "line": ("kind of log line", "kinds of log lines"),
    "cell": ("counter or state", "counters and states"),
    "warning": ("warning or error", "warnings and errors"),  # of earlier versions
}


def list_standing(doc: CaseDocument) -> list[Signal]:
    """Return the signals that no log shows as over."""
    return [one for one in doc.signals if not one.ended]


def list_over(doc: CaseDocument) -> list[Signal]:
    """Return the signals that a later event ended."""
    return [one for one in doc.signals if one.ended]


def list_chronic(doc: CaseDocument) -> list[Signal]:
    """Return the signals that older logs have as well, or that go on all through the only log."""
    return [one for one in list_standing(doc) if one.age in CHRONIC]


def list_likely(doc: CaseDocument) -> list[Signal]:
    """Return the signals that are worth a look: heavy enough, not over, not there all along."""
    return [
        one
        for one in list_standing(doc)
        if one.age not in CHRONIC and (one.weight >= SHOWN_FROM or not one.why)
    ]


def list_light(doc: CaseDocument) -> list[Signal]:
    """Return the signals that say little."""
    likely = {id(one) for one in list_likely(doc)}
    return [one for one in list_standing(doc) if id(one) not in likely and one.age not in CHRONIC]


def list_preceding(doc: CaseDocument, finding: Finding) -> list[Signal]:
    """Return the likeliest signals that a machine showed just before a finding of it began."""
    ids = {node.id for node in doc.nodes if finding.node in (node.name, node.id)}
    near = [one for one in doc.signals if finding.rule in one.precedes and one.node in ids]
    return [one for one in near if not one.ended][:PRECEDING]


def list_lines(signals: Iterable[Signal]) -> list[Signal]:
    """Return those of them that are lines or files."""
    return [one for one in signals if one.kind != "cell"]


def list_cells(signals: Iterable[Signal]) -> list[Signal]:
    """Return those of them that are values of tables."""
    return [one for one in signals if one.kind == "cell"]


def name_signal(signal: Signal) -> str:
    """Return what a signal is called: the event, the words of the line, the frame, the file."""
    if not signal.what:
        return "lines of other kinds, counted together"
    named = signal.object and signal.kind not in ("line", "cell")
    return f"{signal.what}, {signal.object}" if named else str(signal.what)


def name_kind(signal: Signal) -> str:
    """Return the word for its kind."""
    return KINDS[signal.kind][0]


def describe_signal(signal: Signal) -> str:
    """Return a signal in one sentence, without its line: module, object, how often, when, how often it was seen before."""
    return _describe_facts(signal, [describe_known(signal.known)] if signal.known else [])


def _describe_facts(signal: Signal, more: list[str]) -> str:
    """Return a signal in one sentence, without its line, and more facts behind it."""
    parts = [signal.module, signal.object if signal.kind in ("line", "cell") else ""]
    head = ", ".join(dict.fromkeys(part for part in parts if part))
    title = f"{signal.title}: " if signal.title else ""
    times = describe_times(signal)
    facts = [f"{signal.count:,} times" if signal.count > 1 else "", times, *signal.why, *more]
    words = "; ".join(fact for fact in facts if fact)
    return f"{title}{head}: {words}" if head else f"{title}{words}"


def describe_briefly(signal: Signal) -> str:
    """Return what fits a row above the line itself: of a value of a table what is wrong with it, then its table."""
    if signal.kind != "cell":
        return _describe_facts(signal, [])
    thing = f"{signal.object}: " if signal.object else ""
    return f"{thing}{signal.what} ({signal.module.rpartition('.')[0]})"


def describe_known(known: KnownSign) -> str:
    """Return how often stored cases have a sign, and what was said of them; "" where none was asked.

    `in 3 of 212 stored cases; an engineer confirmed kb-1003680 in 2 of 3`
    """
    if not known.of:
        return ""
    parts = [f"in {known.cases:,} of {count_noun(known.of, 'stored case', 'stored cases')}"]
    for label in known.labels[:RULES_NAMED]:
        what = "called the case healthy" if label.rule == HEALTHY else f"confirmed {label.rule}"
        parts.append(f"an engineer {what} in {label.cases:,} of {known.cases:,}")
    return "; ".join(parts)


def write_query(signal: Signal) -> str:
    """Return what to search for: the words of a line without its names and numbers, "" for other signals."""
    if signal.kind != "line":
        return ""
    words = _WORD.findall(_SPELLED_CODE.sub(" ", signal.what))
    if len(words) < FEWEST_WORDS:  # all of it is quoted, as in JSON, so that it was masked
        words = _WORD.findall(_QUOTED_NAME.sub(" ", signal.text))
    if len(words) < FEWEST_WORDS:
        return ""
    return " ".join(filter(None, (signal.module, *words)))[:LONGEST_QUERY]


def summarize_signals(doc: CaseDocument) -> str:
    """Return how many there are of each kind, in one sentence: `2 core dumps, 3 problem events (14 lines)`."""
    likely, chronic = list_likely(doc), list_chronic(doc)
    parts = []
    if likely:
        counts = []
        for kind, (one, many) in KINDS.items():
            if number := sum(signal.kind == kind for signal in likely):
                counts.append(count_noun(number, one, many))
        lines = sum(signal.count for signal in likely)
        parts.append(
            f"{', '.join(counts)} ({count_noun(lines, 'line, cell or file', 'lines, cells or files')})"
        )
    if chronic:
        parts.append(
            f"{len(chronic):,} more {'was' if len(chronic) == 1 else 'were'} there all along"
        )
    if light := len(list_light(doc)):
        parts.append(f"{light:,} {'says' if light == 1 else 'say'} little")
    if over := len(list_over(doc)):
        parts.append(f"{over:,} more {'is' if over == 1 else 'are'} over")
    left = doc.signals_total - len(doc.signals)
    if left > 0:
        parts.append(f"{left:,} more kinds were counted and are not listed")
    return "; ".join(parts)


def describe_times(signal: Signal) -> str:
    """Return the first and the last time; a file, and a line without a time, has none."""
    first, last = signal.first, signal.last
    if not (first or last):
        return ""
    if signal.count == 1 or first == last:
        return format_time(last or first)
    return f"{format_time(first).removesuffix(' UTC')} to {format_time(last)}"


def list_places(signal: Signal) -> list[str]:
    """Return the address of the first line, and that of the last where it is another."""
    places = [write_place(signal)]
    if signal.last_address:
        places.append(write_place(Place(signal.last_address, signal.last_line)))
    return list(dict.fromkeys(filter(None, places)))
