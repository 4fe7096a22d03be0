"""Warnings and errors among the lines of a log that somebody chose to send, in the words of the log.

A log of a bundle warns a thousand times a day, and rules choose what counts. An excerpt in a mail or a ticket was
chosen by somebody who looked for what is wrong: what its lines call a warning, an error or a failure is listed below
the findings even where no rule knows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.scan.hits import first_and_last
from analyzer.secrets.values import hide_around

KIND = "warning"
MOST_LINES = 300  # of a text; more are no excerpt
_SAYS = re.compile(
    r"WARNING: |ALERT: |\b(?:error|warning|panic|critical|alert|emerg) [\w-]+\[|\b(?:Er|Wa|Cr|Al|Em)\(\d+\)"
    r"|\| [WE]\d{3}[:|]|\b(?:WARN|ERROR|FATAL|SEVERE|CRITICAL)\b|\b[Ff]ail(?:ed|ure|s)?\b|\btimed out\b"
    r"|\b[Tt]imeout\b|\b[Ee]rror\b|\b[Ll]ost\b|\b[Cc]annot\b|\b[Uu]nable\b|\b[Dd]enied\b|\b[Rr]efused\b|\b[Cc]orrupt"
    r"|\bexceeded\b|\b[Nn]o space\b|\bout of memory\b|\bnot responding\b|\bdeteriorated\b|\b[Dd]own\b"
)
# time, host, program, world: what comes before the words
_HEAD = re.compile(
    r"^.{0,120}?(?:cpu\d+:\d+(?: opID=[\w-]+)?\)|[\w.-]+\[[\w.:-]+\]:? |(?:\| )?[\w-]+\| \w\d+: )(?:\[[^\]]{0,200}\] )?"
)
_STAMP = re.compile(
    r"^\W{0,3}\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?[\s|]*|^[A-Z][a-z]{2} [ \d]\d [\d:.]+ "
)
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{6,}\b|\d+")


class ChosenLine(NamedTuple):
    """A line of an excerpt that calls itself a problem."""

    scope: str
    address: str
    line: int
    text: str


def find_chosen_lines(
    lines: Sequence[str], first_line: int, address: str, scope: str
) -> Iterator[ChosenLine]:
    """Yield the lines of an excerpt that say that something is wrong; none of a text that is too long for one."""
    if len(lines) > MOST_LINES:
        return
    for number, line in enumerate(lines, first_line):
        if _SAYS.search(line):
            shown = hide_around([], line, [])[1]
            yield ChosenLine(scope, address, number, shown)


def extract_words(text: str) -> str:
    """Return what a line says, without its head and with its numbers as N."""
    return mask_numbers(_remove_head(text))


def mask_numbers(words: str) -> str:
    """Return words with their numbers as N: lines that say the same are counted together."""
    return _NUMBER.sub("N", words[:200])[:160].strip()


def _remove_head(text: str) -> str:
    without_program = _HEAD.sub("", text, count=1)
    return _STAMP.sub("", without_program, count=1).strip()


def make_warning_records(
    lines: Sequence[ChosenLine], node_of: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return a record for each thing that lines of a node say, in the order of their first lines.

    node_of  id of the node by scope
    """
    groups: dict[tuple[str, str], list[ChosenLine]] = {}
    for line in lines:
        if words := extract_words(line.text):
            groups.setdefault((node_of[line.scope], words), []).append(line)
    records = []
    for (node, _), own in groups.items():
        what = _remove_head(own[0].text)[:160]
        record = {"node": node, "kind": KIND, "what": what, "object": ""}
        records.append(record | first_and_last(own))
    return records


def list_below_findings(
    known: Sequence[Mapping[str, Any]], few: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return what is listed below the findings: what hosts call a problem, few lines of a rule, and at last warnings.

    few  what rules know, but for too few lines; a warning that is one of these, or an ALERT, is listed once
    """
    problems = [dict(one) for one in known if one["kind"] != KIND]
    listed = set()
    for one in (*few, *problems):
        listed.add((one["node"], extract_words(str(one.get("text", "")))))
    warnings = []
    for one in known:
        if one["kind"] == KIND and (one["node"], extract_words(str(one["text"]))) not in listed:
            warnings.append(dict(one))
    return [*problems, *map(dict, few), *warnings]
