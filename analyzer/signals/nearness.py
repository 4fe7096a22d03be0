"""Signals just before a finding: what a machine says in the seconds before trouble begins may be what began it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from analyzer.case.verdicts import Finding
from analyzer.signals.cell_signs import read_moment

SECONDS = 15.0  # before a finding; our own, as the gain
_GAIN = 0.7
_SEVERE = ("critical", "major")


def mark_near(
    signals: Iterable[dict[str, Any]], findings: Iterable[Finding], name: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Return signals, those just before severe findings on their machine with more weight and the rules of these.

    signals  with the keys of the record `Signal`; those with defaults may be missing
    name     gives the name of a node, which findings have, by its id
    """
    beginnings = _list_beginnings(findings)
    if not beginnings:
        return list(signals)
    marked = []
    for one in signals:
        begin = beginnings.get(name(one["node"]), {})
        distances = _measure_distances(str(one.get("first", "")), begin)
        marked.append(_mark_signal(one, distances) if distances else one)
    return marked


def _mark_signal(signal: dict[str, Any], distances: dict[str, float]) -> dict[str, Any]:
    """Return a signal that stands just before findings of some rules, so many seconds."""
    nearest = min(distances.values())
    return {
        **signal,
        "precedes": sorted(distances),
        "weight": round(signal.get("weight", 0.0) + _GAIN, 1),
        "why": [*signal.get("why", ()), f"{nearest:.0f} s before a finding begins"],
    }


def _list_beginnings(findings: Iterable[Finding]) -> dict[str, dict[str, list[datetime]]]:
    """Return when the severe findings of each rule begin, by machine."""
    beginnings: dict[str, dict[str, list[datetime]]] = {}
    for finding in findings:
        if finding.severity not in _SEVERE:
            continue
        begin = _read_moment(finding.first_seen)
        if begin is not None:
            moments = beginnings.setdefault(finding.node, {}).setdefault(finding.rule, [])
            moments.append(begin)
    return beginnings


def _measure_distances(first: str, beginnings: dict[str, list[datetime]]) -> dict[str, float]:
    """Return the seconds to the next beginning of each rule that is near."""
    moment = _read_moment(first)
    if moment is None:
        return {}
    distances: dict[str, float] = {}
    for rule, moments in beginnings.items():
        ahead = [(begin - moment).total_seconds() for begin in moments]
        near = [seconds for seconds in ahead if 0 <= seconds <= SECONDS]
        if near:
            distances[rule] = min(near)
    return distances


def _read_moment(stamp: str) -> datetime | None:
    """Return a stamp to the second, None for none."""
    try:
        return read_moment(stamp)
    except ValueError:
        return None
