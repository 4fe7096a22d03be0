"""The steps of a pattern, from the tree that Python's own parser makes of it, with plain groups dissolved."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from analyzer.scan.byte_classes import find_members

# Python's own parser and its names; public until 3.10 as sre_parse and sre_constants.
_parser: Any = importlib.import_module("re._parser")
OPS: Any = importlib.import_module("re._constants")

REPEATS = {OPS.MAX_REPEAT, OPS.MIN_REPEAT, getattr(OPS, "POSSESSIVE_REPEAT", OPS.MAX_REPEAT)}
_FOLDING_GROUP = re.compile(r"\(\?[a-zA-Z]*i")


@dataclass(frozen=True, slots=True)
class PatternStep:
    """One step of a pattern: opcode, argument, and whether case is ignored there."""

    op: Any
    arg: Any
    nocase: bool


def steps_of(pattern: str, flags: int) -> tuple[list[PatternStep], bool]:
    """Return the steps of a pattern, and whether it folds case somewhere; raises re.error when it is none."""
    tree = _parser.parse(pattern, flags)
    folds = bool(tree.state.flags & re.IGNORECASE)
    return dissolve_groups(tree, folds), folds or _FOLDING_GROUP.search(pattern) is not None


def dissolve_groups(tree: Iterable[tuple[Any, Any]], nocase: bool) -> list[PatternStep]:
    """Return the steps of a parsed pattern with plain groups dissolved."""
    nodes: list[PatternStep] = []
    for op, arg in tree:
        if op is OPS.SUBPATTERN:
            _group, added, removed, inner = arg
            own = (nocase or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
            nodes += dissolve_groups(inner, own)
        elif op is getattr(OPS, "ATOMIC_GROUP", None):
            nodes += dissolve_groups(arg, nocase)
        else:
            nodes.append(PatternStep(op, arg, nocase))
    return nodes


def arms_of(node: PatternStep) -> list[list[PatternStep]]:
    """Return the steps of each choice of an alternation."""
    return [dissolve_groups(arm, node.nocase) for arm in node.arg[1]]


def literal_char(node: PatternStep) -> str | None:
    """Return the character of a LITERAL when its bytes are certain, else None."""
    char = chr(node.arg)
    if char.isascii():
        return char
    if node.nocase:
        return None
    try:
        char.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    return char


def members_of(node: PatternStep) -> tuple[frozenset[int], bool]:
    """Return the ASCII characters a one-character step matches, and whether others may match."""
    if node.op is OPS.ANY:
        return frozenset(range(128)) - {10}, True
    if node.op is OPS.NOT_LITERAL:
        return find_members(((OPS.NEGATE, None), (OPS.LITERAL, node.arg)), node.nocase)
    return find_members(tuple(node.arg), node.nocase)
