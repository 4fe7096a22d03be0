"""The order of signals: what ended comes last, then by weight; what was there all along loses weight before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from analyzer.signals.lines import KIND, classify_line

LISTED = 60  # signals of a machine in the document; all are counted
_FEW_LINES_WEIGHT = 5.0  # a sign that a rule knows, in fewer lines than it asks for


def rank_signals(
    reported: Iterable[Mapping[str, Any]],
    few: Iterable[Mapping[str, Any]],
    cells: Iterable[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Return all signals of a case, the likeliest first.

    reported  events, ALERTs, backtraces, dumps and lines that no finding rests on
    few       what rules know, in fewer lines than they ask for: such a line is listed once
    """
    signals: list[dict[str, Any]] = []
    known: set[tuple[str, str, str]] = set()
    for one in few:
        line = classify_line(str(one["text"]))
        known.add((one["node"], line.module, line.template))
        signals.append({**one, "weight": _FEW_LINES_WEIGHT, "why": ["a sign that a rule knows"]})
    for one in reported:
        if one["kind"] != KIND or (one["node"], one["module"], one["what"]) not in known:
            signals.append(dict(one))
    signals += map(dict, cells)

    def order(one: Mapping[str, Any]) -> tuple[Any, ...]:
        place = one["node"], one.get("address", ""), one.get("line", 0), one["what"]
        return bool(one.get("ended")), -one.get("weight", 0.0), -one.get("count", 1), *place

    return sorted(signals, key=order)


def list_first(signals: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first signals of each machine, in their order."""
    counts: dict[str, int] = {}
    listed = []
    for one in signals:
        counts[one["node"]] = counts.get(one["node"], 0) + 1
        if counts[one["node"]] <= LISTED:
            listed.append(one)
    return listed
