"""Numbers, times, sizes, names and addresses as all reports word them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from msgspec import structs

from analyzer.case.articles import KB_ADDRESS as KB_ADDRESS  # noqa: PLC0414 - templates ask here
from analyzer.case.articles import link_article as link_article  # noqa: PLC0414
from analyzer.case.verdicts import Evidence

_ALIAS = re.compile(r"^[a-z_]\w*\.(?=\w+ = )")  # what a rule calls a row is its own affair
_SIGN = re.compile(r"([a-z]\w*)( \(.*\))?", re.DOTALL)  # `often (9 more lines of it not shown)`
_ANSWERS = {"true": "yes", "false": "no", "unknown": "not known", "match": "found"}


def count_more_evidence(number: int) -> str:
    """Return how many lines of evidence are not shown: `and 1 more line of evidence`."""
    return f"and {number:,} more {'line' if number == 1 else 'lines'} of evidence"


def write_plural(word: str, number: int) -> str:
    """Return the word of a count as it is read after the number."""
    if word == "error":
        if number == 1:
            return "rule broke"
        return "rules broke"
    if word == "warning" and number != 1:
        return "warnings"
    return word


def write_counts(counts: Iterable[tuple[str, int]]) -> str:
    """Return findings by their words, zeros left out: `1 critical, 2 warnings`."""
    parts = []
    for word, count in counts:
        if count:
            parts.append(f"{count:,} {write_plural(word, count)}")
    return ", ".join(parts)


def join_few(items: Sequence[str], most: int) -> str:
    """Return names as a list in words, the rest counted."""
    # Names hold commas themselves: "web-01, ethernet0".
    comma = ", "
    if any(", " in item for item in items):
        comma = "; "
    if len(items) <= most:
        return comma.join(items)
    return f"{comma.join(items[:most])} and {len(items) - most:,} more"


def count_noun(number: int, one: str, many: str) -> str:
    """Return `3 places` and the like; empty for none."""
    if number:
        return f"{number:,} {one if number == 1 else many}"
    return ""


class Placed(Protocol):
    """What has a place: a member, and a line of it or 0."""

    address: str
    line: int


def write_place(record: Placed) -> str:
    """Return `address:line`, or the address alone where there is no line."""
    if record.line:
        return f"{record.address}:{record.line}"
    return record.address


def word_label(label: str) -> str:
    """Return the label of a line of evidence as people read it: `used_kib = 169984` of `r.used_kib = 169984`."""
    sign = _SIGN.fullmatch(label)
    if sign is None:
        return _ALIAS.sub("", label)
    which = "log line"
    if sign[1] != "sign":
        which = f"log line, {sign[1].replace('_', ' ')}"
    return which + (sign[2] or "")


def merge_cited(evidence: list[Evidence]) -> list[Evidence]:
    """Return lines of evidence, each once: one that several values were read from has all of them as its label."""
    found: dict[tuple[str, int, str], Evidence] = {}
    for one in evidence:
        key = (one.address, one.line, one.text)
        label = word_label(one.label)
        if key in found:
            label = f"{found[key].label}, {label}"
        found[key] = structs.replace(one, label=label)
    return list(found.values())


def list_labels(evidence: list[Evidence], most: int) -> str:
    """Return what the first lines of evidence show, alike ones once."""
    return ", ".join(dict.fromkeys(word_label(one.label) for one in evidence[:most]))


def parse_time(time: object) -> float | None:
    """Return seconds since 1970 of a time of the document, None when it is none."""
    if isinstance(time, int | float):
        return float(time)
    try:
        moment = datetime.fromisoformat(str(time))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError):
        return None


def format_time(time: object) -> str:
    """Return a time as `2017-10-09 14:02:15 UTC`; what is no time comes back as it is."""
    seconds = parse_time(time)
    if seconds is None:
        return str(time)
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return str(time)


def format_span(first: str | float, last: str | float) -> str:
    """Return `2017-10-03 09:11 to 2017-10-09 14:02 UTC (6.2 d)`."""
    begin = parse_time(first)
    end = parse_time(last)
    if begin is None or end is None:
        return f"{first} to {last}"
    length = format_duration(end - begin)
    return f"{format_time(first)[:16]} to {format_time(last)[:16]} UTC ({length})"


def format_duration(seconds: float) -> str:
    """Return a length of time with a unit a reader can picture."""
    if seconds >= 10 * 86400:
        return f"{seconds / 86400:.0f} d"
    if seconds >= 86400:
        return f"{seconds / 86400:.1f} d"
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    if seconds >= 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s"


def format_size(number: object) -> str:
    """Return bytes as kB, MB, GB (powers of 1000); empty when not known."""
    if not isinstance(number, int | float):
        return ""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= step:
            return f"{number / step:.1f} {unit}"
    return f"{number} B"


def summarize_values(values: list[float | None]) -> dict[str, float] | None:
    """Return least, mean, 95th percentile (nearest rank) and most of the known values; None without any."""
    known = sorted(value for value in values if isinstance(value, int | float))
    if not known:
        return None
    rank = max(0, -(-95 * len(known) // 100) - 1)
    mean = sum(known) / len(known)
    return {"n": len(known), "min": known[0], "mean": mean, "p95": known[rank], "max": known[-1]}


def format_number(value: float) -> str:
    """Return a number short enough to read: three significant digits below 1000."""
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def word_answer(value: str) -> str:
    """Return a value of a "Why" tree in plain words."""
    return _ANSWERS.get(value, value)


def is_of_catalog(at: str) -> bool:
    """Say whether a place is a row of the catalog: a file of the tool, not of the case."""
    return at.startswith("catalog: ")
