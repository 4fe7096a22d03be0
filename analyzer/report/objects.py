"""What is wrong with each device, VM, NIC, datastore: the findings of a case by the object they are about.

An object is what a finding or a signal event names as its own. A finding that only mentions the object of another one,
in its subject or its sentence, is listed with that object as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from analyzer.case.document import CaseDocument, Signal
from analyzer.case.ranking import rank_things
from analyzer.case.verdicts import Finding
from analyzer.report import machines
from analyzer.runtime.text import natural_key

SHORTEST = 4  # characters of a name that is looked for in sentences
_WORD = re.compile(r"[\w.:-]+")  # what may be a name
Key = tuple[str, str]  # node and name of an object


@dataclass(slots=True)
class CaseObject:
    """One object of a node: the findings that are about it, those that mention it, and signals without a finding."""

    node: str
    name: str
    own: list[Finding] = field(default_factory=list)
    mentioned: list[Finding] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many findings and signals it has."""
        return len(self.own) + len(self.mentioned) + len(self.signals)


def list_objects(doc: CaseDocument) -> list[CaseObject]:
    """Return the objects with a finding or a signal that is not muted: the worst first, then those without a finding."""
    findings = [one for one in doc.findings if one.verdict == "match" and not one.muted]
    objects: dict[Key, CaseObject] = {}

    def find_object(node: str, name: str) -> CaseObject:
        return objects.setdefault((node, name), CaseObject(node, name))

    for finding in findings:
        if finding.object:
            find_object(finding.node, finding.object).own.append(finding)
    names = machines.name_nodes(doc)
    for signal in doc.signals:
        if signal.object and not signal.ended:
            node = names.get(signal.node, signal.node)
            find_object(node, signal.object).signals.append(signal)
    if not objects:
        return []
    for finding in findings:
        for name in _list_mentioned(finding, objects):
            objects[finding.node, name].mentioned.append(finding)
    places = _rank_objects(findings, objects.values())

    def sort_key(one: CaseObject) -> tuple[object, ...]:
        first = min((signal.first for signal in one.signals), default="")
        return places.get((one.node, one.name), len(places)), first, one.node, natural_key(one.name)

    return sorted(objects.values(), key=sort_key)


def _list_mentioned(finding: Finding, objects: dict[Key, CaseObject]) -> Iterator[str]:
    """Yield the names of objects of its node that a finding mentions and is not about."""
    words = set(_WORD.findall(f"{finding.subject} {finding.say}"))
    words |= {word.rstrip(".:-") for word in words}
    words.discard(finding.object)
    for name in sorted(words):
        if len(name) >= SHORTEST and (finding.node, name) in objects:
            yield name


def _rank_objects(findings: list[Finding], objects: Iterable[CaseObject]) -> dict[Key, int]:
    """Return the place of each object by the worst finding on it: what is its own comes before what mentions it."""
    about: dict[str, list[Key]] = {}
    for one in objects:
        key = (one.node, one.name)
        for finding in one.own:
            about.setdefault(finding.id, []).insert(0, key)
        for finding in one.mentioned:
            about.setdefault(finding.id, []).append(key)
    return rank_things(findings, lambda finding: about.get(finding.id, ()))
