"""What could not be checked about the findings of a row: one sentence per reason, its subjects counted."""

from __future__ import annotations

import re
from typing import Any

from analyzer.runtime.reasons import count_reasons, list_names

Doc = dict[str, Any]

# As the judge writes it: the reason, what the finding may be then, what to ask for. "It may be" stands in older cases.
_COULD = r" (?:(?:Severity|Confidence) may (?:rise|drop) to|It may be(?: only)?) \w+\."
_DOUBT = re.compile(
    rf"Could not check: (?P<why>.*?)\.(?P<could>{_COULD})?(?P<ask> Ask for: .*)?", re.DOTALL
)
_NAMED = 3  # nodes by name; more are counted


def notes(finding: Doc) -> list[str]:
    """Return the sentences that a finding adds to what it says, but for what could not be checked."""
    return [line for line in finding["also"] if _DOUBT.fullmatch(line) is None]


def doubts(findings: list[Doc], kinds: dict[str, str]) -> list[str]:
    """Return what could not be checked of the findings of one row, one sentence for each reason.

    Of several findings each sentence says for how many subjects it holds, and on which nodes; `kinds` has the kind
    of each node by its name.
    """
    if len(findings) == 1:
        return [line for line in findings[0]["also"] if _DOUBT.fullmatch(line) is not None]
    found = [
        (one, match)
        for one in findings
        for line in one["also"]
        if (match := _DOUBT.fullmatch(line))
    ]
    by_rest: dict[tuple[str, str], list[tuple[Doc, str]]] = {}
    for one, match in found:
        by_rest.setdefault((match["could"] or "", match["ask"] or ""), []).append(
            (one, match["why"])
        )
    told = []
    for (could, ask), members in by_rest.items():
        for why, places in count_reasons(((why, one["node"]) for one, why in members), name=False):
            who = _who([members[place][0] for place in places], len(findings), kinds)
            told.append(f"Could not check for {who}: {why}.{could}{ask}")
    return told


def _who(findings: list[Doc], all_: int, kinds: dict[str, str]) -> str:
    """Return `12 objects on 3 hosts`, `4 of 12 objects on esx02`."""
    subjects = len({one["id"] for one in findings})
    said = f"{subjects:,} objects" if subjects == all_ else f"{subjects:,} of {all_:,} objects"
    nodes = sorted({one["node"] for one in findings if one["node"]})
    if not nodes:
        return said
    unit = "hosts" if all(kinds.get(node) == "esxi" for node in nodes) else "nodes"
    return f"{said} on " + (list_names(nodes) if len(nodes) <= _NAMED else f"{len(nodes):,} {unit}")


def worse(findings: list[Doc]) -> str:
    """Return which tables could make the findings of a row worse or surer, in one sentence; "" for none."""
    tables = list(dict.fromkeys(table for one in findings for table in one["maybe_worse"]))
    if not tables:
        return ""
    verb = "is" if len(tables) == 1 else "are"
    return f"May be worse or more certain than shown: {', '.join(tables)} {verb} only partly known."
