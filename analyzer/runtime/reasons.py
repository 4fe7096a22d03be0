"""Why something is unknown of many subjects: one sentence per reason, not per subject.

The reasons of the judge name the node, the place or the keys of their subject. Reasons that differ in
nothing else are one, and what they differ in is listed or counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from analyzer.runtime import text

_AT = re.compile(r" at (?P<of>\S.*:\d+)$")  # `vm.vcpus has no value at esx01.txt:100`
_OUTPUT = re.compile(
    r"\bthe output at (?P<of>\S.*?:\d+)(?= (?:ends early|is empty|were not|may be))"
)
_WITH = re.compile(r" has no (?P<what>row|line of `[^`]*`) with (?P<of>.+)$")
_LONGER_NAME = re.compile(r"[\w.-]")
_NODE, _PLACE, _KEYS = "\x00", "\x01", "\x02"
MOST = 4  # names in one sentence
STILL_WRITTEN = (
    "still being copied or written: it changed while it was read; run again when that is done"
)
STILL_LOADED = "a download that has not ended, by its name; run again when it has"


def merge_reasons(reasons: Iterable[tuple[str, str]]) -> list[str]:
    """Return the reasons of many subjects, each given as (reason, name of the node), one for each kind, in order."""
    return [reason for reason, _ in count_reasons(reasons)]


def count_reasons(
    reasons: Iterable[tuple[str, str]], *, name: bool = True
) -> list[tuple[str, list[int]]]:
    """Return the same, each with the places of its subjects in `reasons`; without `name` no node is named."""
    kinds: dict[str, dict[str, dict[str, None]]] = {}
    members: dict[str, list[int]] = {}
    parted: dict[
        tuple[str, str], tuple[str, list[tuple[str, str]]]
    ] = {}  # many rules say the same of a node
    for number, (why, node) in enumerate(reasons):
        if not why:
            continue
        if (why, node) not in parted:
            parted[why, node] = _part_reason(why, node)
        kind, parts = parted[why, node]
        if not name:
            kind = kind.replace(f" of {_NODE}", "")
        known = kinds.setdefault(kind, {_NODE: {}, _PLACE: {}, _KEYS: {}})
        members.setdefault(kind, []).append(number)
        for mark, part in parts:
            known[mark][part] = None
    counted = []
    for kind, known in kinds.items():
        nodes, places, keys = list(known[_NODE]), list(known[_PLACE]), list(known[_KEYS])
        place = "".join(places)
        if len(places) > 1:
            place = f"{places[0]} and {text.count_noun(len(places) - 1, 'more place')}"
        key = "".join(keys)
        if len(keys) > 1:
            key = f"{keys[0]} (and {len(keys) - 1:,} more like it)"
        reason = kind.replace(_NODE, list_names(nodes)).replace(_PLACE, place).replace(_KEYS, key)
        counted.append((reason, members[kind]))
    return counted


def _part_reason(why: str, node: str) -> tuple[str, list[tuple[str, str]]]:
    """Return a reason with marks for what is its subject's own, and those parts."""
    parts: list[tuple[str, str]] = []
    for pattern, mark in ((_AT, _PLACE), (_OUTPUT, _PLACE), (_WITH, _KEYS)):
        if found := pattern.search(why):
            parts.append((mark, found["of"]))
            why = why[: found.start("of")] + mark + why[found.end("of") :]
    start = _find_owner(why, node) if node else -1
    if start >= 0:
        parts.append((_NODE, node))
        why = why[:start] + _NODE + why[start + len(node) :]
    return why, parts


def _find_owner(why: str, node: str) -> int:
    """Return where a reason says that something is ` of esx1`, not ` of esx1.lab`; -1 where it does not."""
    # No regex: one for each name is compiled anew when a case has more nodes than `re` remembers
    whose = f" of {node}"
    at = why.find(whose)
    while at >= 0 and _LONGER_NAME.match(why, at + len(whose)):
        at = why.find(whose, at + 1)
    return at if at < 0 else at + len(" of ")


def list_names(names: list[str], most: int = MOST) -> str:
    """Return names as a list in words: `a`, `a and b`, `a, b and c`, `a, b, c, d and 36 more`."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
