"""What is wrong with each device, VM, NIC, datastore: the findings of a case by the object they are about.

An object is what a finding or a problem event names as its own. A finding that only mentions the object of another one,
in its subject or its sentence, stands with that object as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from analyzer.case.ranking import rank_things
from analyzer.report import crowds
from analyzer.runtime.text import natural_key

Doc = dict[str, Any]

SHORTEST = 4  # characters of such a name
_WORD = r"[\w.:-]"  # what may stand inside a name


@dataclass(slots=True)
class CaseObject:
    """One object of a node: the findings that are about it, those that mention it, and problems without a finding."""

    node: str
    name: str
    own: list[Doc] = field(default_factory=list)
    mentioned: list[Doc] = field(default_factory=list)
    problems: list[Doc] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many things are told of it."""
        return len(self.own) + len(self.mentioned) + len(self.problems)


def objects(doc: Doc) -> list[CaseObject]:
    """Return the objects of which anything is told that is not muted: the worst first, then those without a finding."""
    names = crowds.names(doc)
    findings = [one for one in doc["findings"] if one["verdict"] == "match" and not one["muted"]]
    found: dict[tuple[str, str], CaseObject] = {}

    def at(node: str, name: str) -> CaseObject:
        return found.setdefault((node, name), CaseObject(node, name))

    for finding in findings:
        if finding["object"]:
            at(finding["node"], finding["object"]).own.append(finding)
    for problem in doc["problems"]:
        if problem["object"] and not problem["ended"]:
            at(names.get(problem["node"], problem["node"]), problem["object"]).problems.append(
                problem
            )
    for finding in findings if found else ():
        for name in _mentioned(finding, found):
            at(finding["node"], name).mentioned.append(finding)
    places = _rank_objects(findings, found.values())
    return sorted(
        found.values(),
        key=lambda one: (places.get((one.node, one.name), len(places)), *_by_problems(one)),
    )


def _rank_objects(findings: list[Doc], objects: Iterable[CaseObject]) -> dict[tuple[str, str], int]:
    """Return the place of each object by the worst finding on it: what is its own comes before what mentions it."""
    about: dict[str, list[tuple[str, str]]] = {}
    for one in objects:
        for finding in one.own:
            about.setdefault(finding["id"], []).insert(0, (one.node, one.name))
        for finding in one.mentioned:
            about.setdefault(finding["id"], []).append((one.node, one.name))
    return rank_things(findings, lambda finding: about.get(finding["id"], ()))


def _by_problems(one: CaseObject) -> tuple[str, str, list[tuple[int, str]]]:
    """Return what orders objects without a finding: the first time, host and name."""
    first = min((problem["first"] for problem in one.problems), default="")
    return first, one.node, natural_key(one.name)


def _mentioned(finding: Doc, found: dict[tuple[str, str], CaseObject]) -> Iterator[str]:
    """Yield the names of objects of its node that a finding mentions and is not about."""
    words = set(re.findall(rf"{_WORD}+", f"{finding['subject']} {finding['say']}"))
    words |= {word.rstrip(".:-") for word in words}
    for name in sorted(words):
        if len(name) >= SHORTEST and name != finding["object"] and (finding["node"], name) in found:
            yield name
