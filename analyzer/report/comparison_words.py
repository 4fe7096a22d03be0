"""How values of a comparison read: numbers, shares, lengths of time; the same in the conclusion and in the tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from analyzer.case.comparison import Comparison, Sentence

# Verdicts that read otherwise than they are written; of two hosts nothing came, went or became anything.
_TIME_WORDS = {"no longer judged": "not judged", "same": "as before"}
_HOST_WORDS = {
    "new": "only on {last}",
    "gone": "only on {first}",
    "added": "only on {last}",
    "removed": "only on {first}",
    "same": "on both",
    "worse": "worse on {last}",
    "better": "better on {last}",
    "no longer judged": "not judged on {last}",
    "changed": "differs",
}


def name_verdict(doc: Comparison, verdict: str, *, numbered: bool = False) -> str:
    """Return what the verdict of a row is called; `numbered` calls the sides of two hosts by their numbers."""
    if doc.mode == "time":
        return _TIME_WORDS.get(verdict, verdict)
    first, last = doc.sides[0].name, doc.sides[-1].name
    if numbered:
        first, last = "1", f"{len(doc.sides)}"
    return _HOST_WORDS.get(verdict, verdict).format(first=first, last=last)


def list_rows(doc: Comparison) -> list[Sentence]:
    """Return the rows of the front table, which every form shows in this order."""
    return [one for one in doc.conclusion if one.verdict]


def count_verdicts(doc: Comparison, rows: Iterable[Sentence], *, numbered: bool = False) -> str:
    """Return how many things have which verdict: `2 new, 3 better, 4 changed`."""
    counts: dict[str, int] = {}
    for row in rows:
        word = name_verdict(doc, row.verdict, numbered=numbered)
        counts[word] = counts.get(word, 0) + row.count
    return ", ".join(f"{number:,} {word}" for word, number in counts.items()) or "Nothing differs"


def show_value(value: Any) -> str:
    """Return a value as a reader sees it: numbers with separators, yes and no, what is not there as such."""
    if value is None:
        return "not known"
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if isinstance(value, int | float):
        return f"{value:,}"
    return f"{value}"


def show_size(value: Any, unit: str) -> str:
    """Return a value as a reader sees it, many bytes in GiB or TiB."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if unit != "bytes" or not is_number or abs(value) < 1 << 30:
        return show_value(value)
    if abs(value) < 1 << 40:
        return f"{value / (1 << 30):,.1f} GiB"
    return f"{value / (1 << 40):,.2f} TiB"


def join_names(names: Sequence[str], most: int) -> str:
    """Return names as a sentence lists them: `a`, `a and b`, `a, b, c and 4 more`."""
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most:,} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def join_values(values: Iterable[Any]) -> str:
    """Return values of the sides in their order: `256 → 4,096`."""
    return " → ".join(show_value(value) for value in values)


def show_percent(share: float) -> str:
    """Return a share in percent with three digits: `0.0204%`, `12.5%`."""
    places = 0
    if not (share <= 0):
        places = max(0, 2 - math.floor(math.log10(share * 100)))
    return f"{share:.{min(places, 9)}%}"


def show_duration(length: float) -> str:
    """Return seconds in words."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if length >= 2 * size:
            return f"{length / size:,.0f} {unit}"
    return f"{length:.0f} seconds"
