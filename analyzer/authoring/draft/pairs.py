"""Pairs of lines that mark the start and the end of a problem; the rule reports those that did not end.

`vobd` names events `esx.problem.X.BAD` and `esx.clear.X.GOOD`; other logs say the same sentence with another word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.authoring.draft.generalise import DraftSignature
from analyzer.authoring.draft.tokens import CleanLine

CLEAR = "clear"  # the join of the lines that tell the end
_EVENT = re.compile(r"\besx\.(problem|clear)\.([\w.]+)\.\w+")
# How a sentence of trouble and that of its end differ; the second ends it.
_ENDS = frozenset((
    ("down", "up"), ("lost", "restored"), ("lost", "regained"), ("offline", "online"), ("disconnected", "connected"),
    ("disconnected", "reconnected"), ("unreachable", "reachable"), ("inaccessible", "accessible"),
    ("failed", "recovered"), ("degraded", "restored"),
    ("dead", "alive"), ("disabled", "enabled"), ("start", "exit"), ("entered", "exited"),
))  # fmt: skip


def find_pair(signatures: Sequence[DraftSignature]) -> tuple[DraftSignature, DraftSignature] | None:
    """Return begin and end when two signatures are such a pair, None for anything else."""
    if len(signatures) != 2:
        return None
    one, two = signatures
    if _is_end_of(one.lines[0], two.lines[0]):
        return one, two
    if _is_end_of(two.lines[0], one.lines[0]):
        return two, one
    return None


def begins_problem(one: DraftSignature) -> bool:
    """Say whether a signature finds an event of vobd that some other event may end."""
    found = _EVENT.search(_read_message(one.lines[0]))
    return found is not None and found[1] == "problem"


def _read_message(line: CleanLine) -> str:
    return line.line[line.start :]


def _is_end_of(begin: CleanLine, end: CleanLine) -> bool:
    """Say whether the second line tells the end of what the first one does."""
    problem = _EVENT.search(_read_message(begin))
    clear = _EVENT.search(_read_message(end))
    if problem and clear:
        kinds = (problem[1], clear[1])
        if kinds != ("problem", "clear"):
            return False
        return problem[2] == clear[2]
    words = []
    for one in (begin, end):
        words.append({token.value.lower() for token in one.tokens if token.kind == "word"})
    bad = words[0] - words[1]
    good = words[1] - words[0]
    if not (len(bad) == len(good) == 1):
        return False
    return (next(iter(bad)), next(iter(good))) in _ENDS
