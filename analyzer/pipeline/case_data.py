"""The second half of the pipeline: from all that is known of a case to its document.

It needs no bundle: the archive keeps the material of a case and judges it again with new rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from analyzer import __version__
from analyzer.artefacts.samples import trim_memory
from analyzer.case.document import CaseDocument, HostCard, SiteRow, Tool
from analyzer.case.verdicts import Judgement
from analyzer.facts import Facts, site_signs
from analyzer.ingest.problems import list_uncovered
from analyzer.ingest.timeline import make_timeline
from analyzer.judge import OnJudged, judge, judge_nothing
from analyzer.judge.few_lines import find_few_lines
from analyzer.pipeline.case import build_document
from analyzer.pipeline.given_things import GivenThings
from analyzer.pipeline.host_cards import host_cards
from analyzer.rules import Catalog
from analyzer.rules.muting import apply_settings
from analyzer.rules.settings import Settings
from analyzer.runtime.errors import RefusedError
from analyzer.runtime.guard import run_stage
from analyzer.runtime.limits import Limits
from analyzer.signals.background import lower_background, read_background
from analyzer.signals.cells import find_cell_signals
from analyzer.signals.modules import add_module_notes, read_module_rows
from analyzer.signals.nearness import mark_near
from analyzer.signals.rank import rank_signals

Part = TypeVar("Part")


@dataclass(slots=True)
class CaseData:
    """All that is known of a case before a rule is judged; the records are those of the case document.

    created   newest time in the material, ISO 8601 UTC, "" when there is none
    complete  False when something could not be read
    events    what the material tells of itself, for the timeline: all of it, in no order
    problems  what a host itself calls a problem, counted, and what it says is over, in no order
    limits    limits reached while reading
    notes     what was odd of the sources and cost nothing of their content
    harmless  lines that look bad and are not, with their number
    """

    facts: Facts
    name: str
    files: list[dict[str, Any]]
    created: str
    span: dict[str, str] | None
    complete: bool
    nodes: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    events: list[dict[str, Any]]
    topology: list[dict[str, Any]]
    faults: list[dict[str, Any]]
    faults_total: int
    damage: list[dict[str, Any]]
    limits: list[str]
    advice: list[str]
    notes: list[str] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    harmless: list[dict[str, Any]] = field(default_factory=list)
    refused: RefusedError | None = None  # nothing of it was understood


@dataclass(slots=True)
class RunResult:
    """A finished run: the case document, and whether anything was lost or a rule is broken.

    partial  something was not read, or more was found than is shown in full

    rules  id, title and articles of every rule that was judged

    signals  all of them, ranked; the document lists the first of each machine
    """

    document: CaseDocument
    partial: bool
    broken_rules: list[str]
    judgement: Judgement
    rules: list[tuple[str, str, list[int]]] = field(default_factory=list)
    refused: RefusedError | None = None
    signals: list[dict[str, Any]] = field(default_factory=list)


class DocumentParts(NamedTuple):
    """Lists of the document that are made of what was read and judged; one that failed is empty."""

    timeline: list[dict[str, Any]]
    signals: list[dict[str, Any]]
    hosts: list[HostCard]
    site: list[SiteRow]
    log: list[dict[str, Any]]


def make_parts(
    material: CaseData,
    catalog: Catalog,
    judgement: Judgement,
    incident: str,
    note_failure: Callable[[str, str], None],
) -> DocumentParts:
    """Make the lists that need both the material and the verdicts, each by itself."""
    facts = material.facts

    def make_part(what: str, make: Callable[..., list[Part]], *args: Any) -> list[Part]:
        """Return a list of the document; a part that fails is left out."""
        return run_stage(what, partial(make, *args), list, note_failure)

    timeline = make_part("the time line", make_timeline, material.events, judgement, incident)
    left = make_part(
        "problems that no rule covers",
        list_uncovered,
        material.problems,
        judgement,
        catalog.tables,
        facts.name,
    )
    few = make_part(
        "known lines, too few for a finding",
        find_few_lines,
        catalog.rules,
        facts,
        judgement,
        material.nodes,
    )
    hosts = make_part("the hosts at a glance", host_cards, facts, material.nodes, material.events)
    site = make_part("the picture of the site", picture_site, facts)
    log = make_part(
        "lines of the logs around findings", list_kept_lines, facts, judgement, timeline, catalog
    )
    cells = make_part("cells that say trouble", find_cell_signals, facts, judgement)
    known = read_background(catalog.tables)
    left, cells = lower_background(left, known), lower_background(cells, known)
    left = mark_near(left, judgement.findings, facts.name)
    ranked = make_part("signals", rank_signals, left, few, cells)
    kinds = {node["id"]: node["kind"] for node in material.nodes}
    rows = read_module_rows(catalog.tables)
    signals = make_part("what modules are", add_module_notes, ranked, rows, kinds)
    return DocumentParts(timeline, signals, hosts, site, log)


def conclude(
    material: CaseData,
    catalog: Catalog,
    settings: Settings,
    limits: Limits,
    judgement: Judgement | None = None,
    on_judged: OnJudged | None = None,
    incident: str = "",
) -> RunResult:
    """Judge a case and write its document. Deterministic: no clock, no file, nothing but its arguments.

    judgement  what these rules said of the case, when they were asked of many cases at once (`judge_many`)
    on_judged  called after each rule
    incident   ISO 8601 UTC, on which the time line centres; "" when no one gave it
    """
    failed: list[dict[str, Any]] = []

    def note_failure(what: str, left_out: str) -> None:
        failed.append({"address": material.name, "offset": -1, "what": what, "left_out": left_out})

    facts = material.facts
    if judgement is None:
        ask = partial(judge, catalog, facts, limits, on_judged=on_judged)
        judgement = run_stage(
            "the verdicts of all rules", ask, lambda: judge_nothing(catalog), note_failure
        )
    facts.close()  # what is asked of it later makes the database anew; the document needs the room
    trim_memory()
    marks = partial(apply_settings, judgement, catalog, settings, material.created[:10])
    changes: dict[str, Any] = run_stage(
        "mutes and thresholds of the settings", marks, dict, note_failure
    )
    rules = [(rule.id, rule.title, rule.kb) for rule in catalog.rules]

    parts = make_parts(material, catalog, judgement, incident, note_failure)
    found = {finding.rule for finding in judgement.findings}
    document = build_document(
        case={
            "name": material.name,
            "files": material.files,
            "created": material.created,
            "span": material.span,
            "complete": material.complete and not failed,
            "incident": incident,
        },
        tool=Tool(
            name="backline",
            version=__version__,
            catalog=catalog.hash,
            rules=len(catalog.rules),
        ),
        nodes=material.nodes,
        sources=material.sources,
        judgement=judgement,
        catalog_rules=rules,
        timeline=parts.timeline,
        signals=parts.signals,
        hosts=parts.hosts,
        topology=material.topology,
        site=parts.site,
        faults=material.faults,
        faults_total=material.faults_total,
        damage=[*material.damage, *failed],
        limits=[*material.limits, *judgement.notes],
        advice=material.advice,
        notes=[*material.notes, *catalog.only_drafts()],
        settings=changes,
        harmless=material.harmless,
        log=parts.log,
        given=GivenThings(facts, material.nodes, material.sources),
        causes={rule.id: rule.explained_by for rule in catalog.rules if rule.id in found},
    )
    lost = bool(not document.case.complete or judgement.notes or judgement.cuts)
    broken = [str(error) for error in catalog.broken]
    return RunResult(document, lost, broken, judgement, rules, material.refused, parts.signals)


def picture_site(facts: Facts) -> list[SiteRow]:
    """Return the rows of an NSX site; none where no table holds one."""
    if not any(facts.count(name) for name in site_signs.ALL_TABLES if name in facts.tables):
        return []
    from analyzer.pipeline.site_picture import site_records  # noqa: PLC0415 - few cases need it

    return site_records(facts)


def list_kept_lines(
    facts: Facts, judgement: Judgement, moments: list[dict[str, Any]], catalog: Catalog
) -> list[dict[str, Any]]:
    """Return the lines of logs around findings and moments."""
    if not any(scan.hits for scan in facts.scans):
        return []
    from analyzer.merged_log.kept import keep_lines  # noqa: PLC0415 - a healthy host needs none

    return keep_lines(facts, judgement, moments, {one.id for one in catalog.signatures()})
