"""One sign in the words of several drivers, plug-ins, releases: its forms as one pattern, and their groups as one set.

A line counts once, whichever of its forms it has, so the forms are searched as one pattern. Python knows no group
name twice in a pattern: a group of the second form is called `device__also1` in it, of the third `device__also2`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARK = "__also"
# A named group, a reference to one, or a condition on one; an escaped character stays out of the way.
_NAMED = re.compile(
    r"\\.|\(\?P<(?P<group>\w+)>|\(\?P=(?P<again>\w+)\)|\(\?\((?P<asked>[^\W\d]\w*)\)"
)


def join_forms(patterns: Sequence[str]) -> str:
    """Return one pattern that finds what any of the patterns finds; a single one stays as it is."""
    first, *others = patterns
    if not others:
        return first
    parts = [f"(?:{first})"]
    for number, pattern in enumerate(others, 1):
        parts.append(f"(?:{_rename_groups(pattern, number)})")
    return "|".join(parts)


def _rename_groups(pattern: str, number: int) -> str:
    def rename(found: re.Match[str]) -> str:
        name = found["group"] or found["again"] or found["asked"]
        return found[0].replace(name, f"{name}{_MARK}{number}") if name else found[0]

    return _NAMED.sub(rename, pattern)


def fold_groups(groups: dict[str, str | None]) -> dict[str, str | None]:
    """Return the groups of a line by the names that the forms share: of each the value of the form that was found."""
    if not any(_MARK in name for name in groups):
        return groups
    folded: dict[str, str | None] = {}
    for name, value in groups.items():
        shared = name.partition(_MARK)[0]
        if value is not None or shared not in folded:
            folded[shared] = value
    return folded
