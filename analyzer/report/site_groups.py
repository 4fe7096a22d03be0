"""Members of an NSX site that look alike are one box of its picture: hosts that are well, hosts that lost one edge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.report.wording import Doc

ALIKE = 4  # members of one kind that look the same become one box


class Channel(NamedTuple):
    """What the look of a member takes from one of its lines: its ends, its state, node and rule of its findings."""

    ends: tuple[str, str]
    state: str
    findings: frozenset[tuple[str, str]]


class Groups(NamedTuple):
    """Members to draw, and for each name that is no box of its own the name of its box."""

    members: list[Doc]
    box_of: dict[str, str]

    def members_by_box(self) -> list[str]:
        """Return of each box that stands for several members which they are; no name is left out."""
        names: dict[str, list[str]] = defaultdict(list)
        for name, box in self.box_of.items():
            names[box].append(name)
        return [f"{box}: {', '.join(names[box])}" for box in names]


def group_members(members: Sequence[Doc], channels: Sequence[Channel]) -> Groups:
    """Return the members, those of one kind that stand alike towards all others as one."""
    looks = _describe_looks(channels)
    alike: dict[tuple[Any, ...], list[Doc]] = defaultdict(list)
    for one in members:
        alike[one["channel"], one["state"], looks.get(one["name"], frozenset())].append(one)
    drawn: list[Doc] = []
    box_of: dict[str, str] = {}
    for same in alike.values():
        if len(same) < ALIKE:
            drawn += same
            continue
        names = sorted((str(one["name"]) for one in same), key=_sort_naturally)
        box = f"{len(same):,} {same[0]['channel']}s like {names[0]}"
        drawn.append({**same[0], "name": box, "other": ""})
        box_of.update(dict.fromkeys(names, box))
    return Groups(drawn, box_of)


def _describe_looks(channels: Sequence[Channel]) -> Mapping[str, frozenset[Any]]:
    looks: dict[str, set[Any]] = defaultdict(set)
    for one in channels:
        for name, other in (one.ends, one.ends[::-1]):
            own = frozenset(rule for node, rule in one.findings if node == name)
            looks[name].add((other, name == one.ends[0], one.state, own))
    return {name: frozenset(look) for name, look in looks.items()}


def _sort_naturally(name: str) -> tuple[Any, ...]:
    """Return a key by which host-9 comes before host-10."""
    parts = re.split(r"([0-9]{1,18})", name)
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts))
