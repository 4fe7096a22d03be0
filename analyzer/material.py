"""The second half of the pipeline: from all that is known of a case to its document.

It needs no bundle: the archive keeps the material of a case and judges it again with new rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analyzer import __version__, case
from analyzer.facts import Facts
from analyzer.judge import OnJudged, judge
from analyzer.limits import Limits
from analyzer.muting import settle
from analyzer.rules import Catalog
from analyzer.settings import Settings
from analyzer.timeline import timeline
from analyzer.verdicts import Judgement

Record = dict[str, Any]


@dataclass(slots=True)
class Material:
    """All that is known of a case before a rule is judged; the records are those of the case document.

    created   newest time in the material, ISO 8601 UTC, "" when there is none
    complete  False when something could not be read
    events    what the material tells of itself, for the timeline: all of it, in no order
    limits    limits reached while reading
    notes     what was odd of the sources and cost nothing of their content
    """

    facts: Facts
    name: str
    files: list[Record]
    created: str
    span: dict[str, str] | None
    complete: bool
    nodes: list[Record]
    sources: list[Record]
    events: list[Record]
    topology: list[Record]
    faults: list[Record]
    faults_total: int
    damage: list[Record]
    limits: list[str]
    advice: list[str]
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Outcome:
    """A finished run: the case document, and whether anything was lost or a rule is broken.

    partial  something was not read, or more was found than is told in full

    rules  id, title and articles of every rule that was judged
    """

    document: Record
    partial: bool
    broken_rules: list[str]
    judgement: Judgement
    rules: list[tuple[str, str, list[int]]] = field(default_factory=list)


def conclude(
    material: Material,
    catalog: Catalog,
    settings: Settings,
    limits: Limits,
    judgement: Judgement | None = None,
    on_judged: OnJudged | None = None,
) -> Outcome:
    """Judge a case and write its document. Deterministic: no clock, no file, nothing but its arguments.

    judgement  what these rules said of the case, when they were asked of many cases at once (`judge_many`)
    on_judged  told after each rule
    """
    judgement = judge(catalog, material.facts, limits, on_judged=on_judged) if judgement is None else judgement
    changes = settle(judgement, catalog, settings, material.created[:10])
    rules = [(rule.id, rule.title, rule.kb) for rule in catalog.rules]
    document = case.document(
        case={
            "name": material.name,
            "files": material.files,
            "created": material.created,
            "span": material.span,
            "complete": material.complete,
            "masked": False,
        },
        tool={"name": "backline", "version": __version__, "catalog": catalog.hash, "rules": len(catalog.rules)},
        nodes=material.nodes,
        sources=material.sources,
        judgement=judgement,
        catalog_rules=rules,
        timeline=timeline(material.events, judgement),
        topology=material.topology,
        faults=material.faults,
        faults_total=material.faults_total,
        damage=material.damage,
        limits=[*material.limits, *judgement.notes],
        advice=material.advice,
        notes=material.notes,
        settings=changes,
    )
    partial = bool(not material.complete or judgement.notes or judgement.cuts)
    return Outcome(document, partial, [str(error) for error in catalog.broken], judgement, rules)
