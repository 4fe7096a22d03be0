"""Pairs of lines that mark the start and the end of a problem; the rule reports those that did not end.

`vobd` names events `esx.problem.X.BAD` and `esx.clear.X.GOOD`; other logs say the same sentence with another word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.authoring.draft.generalise import CleanLine, DraftSignature

CLEAR = "clear"  # the join of the lines that tell the end
_EVENT = re.compile(r"\besx\.(problem|clear)\.([\w.]+)\.\w+")
# How a sentence of trouble and that of its end differ; the second ends it.
_ENDS = frozenset((
    ("down", "up"), ("lost", "restored"), ("lost", "regained"), ("offline", "online"), ("disconnected", "connected"),
    ("disconnected", "reconnected"), ("unreachable", "reachable"), ("inaccessible", "accessible"),
    ("failed", "recovered"), ("degraded", "restored"),
    ("dead", "alive"), ("disabled", "enabled"), ("start", "exit"), ("entered", "exited"),
))  # fmt: skip


def paired(signatures: Sequence[DraftSignature]) -> tuple[DraftSignature, DraftSignature] | None:
    """Return begin and end when two signatures are such a pair, None for anything else."""
    if len(signatures) != 2:
        return None
    for begin, end in (signatures, signatures[::-1]):
        if _ends(begin.lines[0], end.lines[0]):
            return begin, end
    return None


def begins(one: DraftSignature) -> bool:
    """Tell whether a signature finds an event of vobd that some other event may end."""
    found = _EVENT.search(_message(one.lines[0]))
    return found is not None and found[1] == "problem"


def _message(told: CleanLine) -> str:
    return told.line[told.start :]


def _ends(begin: CleanLine, end: CleanLine) -> bool:
    """Tell whether the second line tells the end of what the first one does."""
    events = [_EVENT.search(_message(one)) for one in (begin, end)]
    if events[0] and events[1]:
        return (events[0][1], events[1][1]) == ("problem", "clear") and events[0][2] == events[1][2]
    words = [
        {token.value.lower() for token in one.tokens if token.kind == "word"}
        for one in (begin, end)
    ]
    bad, good = words[0] - words[1], words[1] - words[0]
    return len(bad) == len(good) == 1 and (next(iter(bad)), next(iter(good))) in _ENDS
