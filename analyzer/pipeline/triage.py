"""The pipeline: from paths to the case document, top to bottom.

walk -> read members -> name the nodes -> facts (here), judge -> case document (case_data.py)
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from analyzer.artefacts import parsing
from analyzer.artefacts.logtime import find_last_day, read_given_clock
from analyzer.artefacts.parsing import Wanted
from analyzer.artefacts.tables import Row
from analyzer.facts import Facts, made, releases, site_signs
from analyzer.ingest import known_files
from analyzer.ingest.captures import set_aside_older
from analyzer.ingest.coverage import (
    find_empty_outputs,
    finish_ledger,
    make_node_records,
    make_source_records,
    note_logs_off_incident,
)
from analyzer.ingest.duplicates import drop_duplicates, drop_log_copies
from analyzer.ingest.far_times import describe_far_times
from analyzer.ingest.file_hashes import FileHashes
from analyzer.ingest.harmless import make_harmless_records, make_signatures, read_harmless_rows
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import HOSTED, Nodes, name_records, resolve_nodes, separate_places
from analyzer.ingest.problems import PROBLEM_SIGNATURES, find_problems, list_line_signatures
from analyzer.ingest.reader import MemberReader, ReadListener
from analyzer.ingest.timeline import TIMELINE_SIGNATURES, list_events
from analyzer.ingest.topology import make_topology
from analyzer.judge import OnJudged
from analyzer.pipeline.case_data import CaseData, RunResult, conclude
from analyzer.rules import fact_tables, run_catalog
from analyzer.rules.catalog import load
from analyzer.rules.column_usage import sample_columns
from analyzer.rules.run_catalog import Local
from analyzer.runtime import cache_folder, snapshot
from analyzer.runtime.errors import RefusedError, UsageError
from analyzer.runtime.guard import Tell, run_stage
from analyzer.runtime.limits import Limits
from analyzer.scan.engines import Needle
from analyzer.scan.hits import Signature
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger, Member, walk
from analyzer.sources.case_names import name_case_by_files, name_case_by_host
from analyzer.sources.item import JOIN, MAY_READ, PIECE_INSIDE, is_piece
from analyzer.sources.kinds import KindFinder
from analyzer.sources.ledger import LOST
from analyzer.sources.remote import Place
from analyzer.sources.zip import ENCRYPTED

MANAGER = "nsx.manager"  # its release is stated in several places, and there is one Manager
Progress = Callable[[str, int], None]


@dataclass(slots=True)
class Options:
    """The options of a run; everything has a safe default."""

    limits: Limits = field(default_factory=Limits)
    kb: Sequence[Path] = ()
    local: Local = field(default_factory=Local)  # settings of the desk, installed rule packs
    with_drafts: bool = False
    engine: str = "auto"
    progress: Progress = lambda _address, _bytes: (
        None
    )  # after each member: address, bytes of content
    on_read: Callable[[int], None] | None = None  # bytes read from disk, from any thread
    watch: ReadListener | None = None  # hears of each member while it is read
    on_judged: OnJudged | None = None  # called by `triage` after each rule
    on_gathered: Callable[[CaseData], None] | None = (
        None  # called by `triage` with all that was read, before it is judged
    )
    hashes: FileHashes | None = None  # of these very paths, when the caller has begun with them
    incident: str = ""  # when the trouble was, as somebody says, see `place_incident`
    keep_refused: bool = (
        False  # a case of which nothing was understood has a document too: Outcome.refused says why
    )
    samples: Wanted = None  # of samples the columns that are read


def triage(paths: Sequence[Place], options: Options | None = None) -> RunResult:
    """Read everything below `paths` as one case and judge it.

    Raises RefusedError when nothing could be read, BadSettingsError when the settings speak of a
    rule or a threshold that is not there.
    """
    options = options or Options()
    catalog = run_catalog.load_run_catalog(
        options.local, options.kb, limits=options.limits, drafts=options.with_drafts
    )
    options = replace(
        options, samples=sample_columns(catalog.rules)
    )  # the facts of this run serve the rules alone
    material = gather_case(paths, catalog.signatures(), options)
    if options.on_gathered is not None:
        options.on_gathered(material)
    settings = options.local.settings
    limits = options.limits
    incident = place_incident(material, options.incident)
    return conclude(
        material, catalog, settings, limits, on_judged=options.on_judged, incident=incident
    )


def place_incident(material: CaseData, incident: str) -> str:
    """Return when the trouble was, with its day; note in the facts which logs say nothing of that time.

    incident  ISO 8601 UTC, or a time of day (`06:15:00`): the last one before the end of the material; "" for none

    Raises UsageError for a time of day when nothing in the material has a date.
    """
    if not incident:
        return ""
    if read_given_clock(incident):
        if not material.created:
            raise UsageError(
                f"it is not known on which day {incident} was",
                why="nothing in the material has a date",
                do="Give the day as well: 2017-10-14T06:15Z.",
            )
        incident = find_last_day(incident, material.created)
    note_logs_off_incident(material.facts, material.nodes, incident)
    return incident


def gather_case(
    paths: Sequence[Place], signatures: Sequence[Signature], options: Options
) -> CaseData:
    """Read everything below `paths` as one case, searching its logs for `signatures`; nothing is judged.

    Raises RefusedError when nothing could be read.
    """
    hashes = options.hashes or FileHashes(paths)
    snapshot.keep_own_answers(note_patterns)
    kept = cache_folder.find_folder()
    scanner = Scanner(
        list_signatures(signatures), engine=options.engine, limits=options.limits, cache_dir=kept
    )
    ledger, kinds = Ledger(), KindFinder()
    intake = read_case(paths, ledger, kinds, scanner, options)
    refused = refuse_case(paths, ledger, intake, kinds)
    if refused is not None and not options.keep_refused:
        raise refused
    watch = options.watch or ReadListener()
    watch.sorts()
    name = name_case_by_files(paths)

    def tell(what: str, part: str) -> None:
        ledger.add_damage(name, -1, what, part)

    nodes = run_stage(
        "which files are of one machine",
        partial(resolve_nodes, intake, kinds),
        partial(separate_places, intake),
        tell,
    )
    facts = gather(intake, nodes, ledger, tell=tell)
    watch.hashes()
    records = make_records(
        intake, nodes, ledger, tell
    )  # a stage that fails here leaves the case incomplete
    return CaseData(
        facts=facts,
        name=name_case_by_host(name, records["nodes"]),
        files=hashes.collect_listed(),
        created=find_newest_time(intake, nodes),
        span=find_span(intake),
        complete=not is_partial(ledger),
        **records,
        faults=[describe_fault(fault) for fault in intake.faults],
        faults_total=intake.faults_total,
        damage=[to_builtins(damage) for damage in ledger.damage],
        limits=[str(hit) for hit in ledger.limits],
        advice=list(intake.advice),
        notes=[*ledger.notes, *describe_far_times(intake)],
        refused=refused,
    )


def note_patterns() -> None:
    """Ask what every run asks of the patterns of the parsers, of the tool's rules and of what is looked for besides."""
    known_files.note_patterns(parsing.registry().values())
    for one in list_signatures(load().signatures()):
        Needle.of(one.pattern, re.IGNORECASE if one.ignore_case else 0)


def list_signatures(signatures: Sequence[Signature]) -> list[Signature]:
    """Return what logs are searched for: signatures of rules, events of the time line, problems, harmless lines."""
    looks_bad = make_signatures(read_harmless_rows(fact_tables.read_shipped()))
    return [
        *signatures,
        *TIMELINE_SIGNATURES,
        *PROBLEM_SIGNATURES,
        *list_line_signatures(),
        *site_signs.SITE_SIGNATURES,
        *looks_bad,
    ]


def make_records(intake: Intake, nodes: Nodes, ledger: Ledger, tell: Tell) -> dict[str, Any]:
    """Return what the document tells of machines, files, moments and ports."""
    return {
        "nodes": run_stage(
            "what is known of the machines",
            partial(make_node_records, intake, nodes),
            list_nothing,
            tell,
        ),
        "sources": run_stage(
            "what was read of each file",
            partial(make_source_records, ledger, intake, nodes),
            list_nothing,
            tell,
        ),
        "events": run_stage(
            "events of the time line", partial(list_events, intake, nodes), list_nothing, tell
        ),
        "problems": run_stage(
            "problems that no rule covers",
            partial(find_problems, intake, nodes, ledger),
            list_nothing,
            tell,
        ),
        "topology": run_stage(
            "the table of ports", partial(make_topology, intake), list_nothing, tell
        ),
        "harmless": run_stage(
            "lines that are harmless", partial(list_harmless, intake), list_nothing, tell
        ),
    }


def read_case(
    paths: Sequence[Place], ledger: Ledger, kinds: KindFinder, scanner: Scanner, options: Options
) -> Intake:
    """Walk all members once and read each."""
    reader = MemberReader(ledger, kinds, scanner, options.limits, options.progress, options.watch)
    reader.into.samples = options.samples
    for member in walk(paths, options.limits, ledger, options.on_read):

        def tell(what: str, part: str, member: Member = member) -> None:
            ledger.add_damage(member.address, -1, what, part)
            member.record.state, member.record.why = "cut", what

        run_stage("the rest of it", partial(reader.read_member, member), lambda: None, tell)
    return reader.into


def gather(
    intake: Intake,
    nodes: Nodes,
    ledger: Ledger,
    facts: Facts | None = None,
    *,
    every: bool = False,
    tell: Tell | None = None,
) -> Facts:
    """Put everything read into the fact tables (new ones unless given), under the names of its nodes.

    every  also rows that no rule must judge: those of Workstation, Player or Fusion, and those that state the
           release of a Manager again
    tell   called with what failed; then no table of the case is complete, and absence proves nothing. Without it, it fails
    """
    if facts is None:
        facts = Facts()
    if tell is None:
        return gather_members(intake, nodes, ledger, facts, every=every)
    ends = run_stage(
        "tables of facts",
        partial(gather_members, intake, nodes, ledger, facts, every=every),
        lambda: None,
        tell,
    )
    if ends is None:
        for node in nodes.values():
            facts.node(node.id, node.name, node.kind, captured=node.captured)
            facts.incomplete(node.id)
    return facts


def gather_members(
    intake: Intake, nodes: Nodes, ledger: Ledger, facts: Facts, *, every: bool
) -> Facts:
    """Put what was read into facts: names, chains, coverage."""
    name_records(intake, nodes)
    drop_duplicates(intake, nodes, ledger)
    drop_log_copies(intake)
    if not every:
        set_aside_older(intake, nodes)
    left_out: set[str] = set()
    if not every:
        left_out = {node.id for node in nodes.values() if node.kind == HOSTED}
    for node in {id(node): node for node in nodes.values()}.values():
        info = facts.node(node.id, node.name, node.kind, captured=node.captured)
        info.loose = not node.bundle
    for key, node in nodes.items():
        place = intake.places[key]
        if place.scope == "root" and not ledger.is_complete(place.name):
            facts.incomplete(node.id)
    rows = intake.rows if every else read_once(intake.rows)
    facts.add_read(row for row in rows if row.block.node not in left_out)
    for frame in intake.frames:
        facts.add_frame(frame)
    for scan in intake.scans:
        if scan.node not in left_out:
            facts.add_hits(scan)
    for cover in intake.covers:
        if nodes[cover.place.key].id in left_out:
            continue
        node_id = nodes[cover.place.key].id
        facts.cover(node_id, cover.table, cover.state, cover.why, cover.address)
    for key, table, address in find_empty_outputs(intake):
        if key not in left_out and not facts.coverage(key, table).state:
            facts.cover(key, table, "read", address=address)
    made.put_tables(facts, [releases.MADE, *site_signs.ALL_TABLES])
    return facts


def read_once(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield rows; of those that state one release of one Manager only the fullest, which is then the one subject."""
    fullest: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        if row.table.name == MANAGER:
            key = row.block.node, row.values.get("version"), row.values.get("build")
            known = fullest.get(key)
            if known is None or count_values(row) > count_values(known):
                fullest[key] = row
    kept = {id(row) for row in fullest.values()}
    return (row for row in rows if row.table.name != MANAGER or id(row) in kept)


def count_values(row: Row) -> int:
    """Return how many values of a row are known."""
    return sum(value is not None for value in row.values.values())


_ARCHIVE_SIGN = "backline-archive.json"  # stands at the top of an archive of cases


def refuse_case(
    paths: Sequence[Place], ledger: Ledger, intake: Intake, kinds: KindFinder
) -> RefusedError | None:
    """Settle what was not understood; return the refusal when that is all, no bundle was recognised, and it is no text."""
    understood = finish_ledger(ledger, intake, kinds)
    roots = [*ledger.roots, *(one.address for one in ledger.given)]
    texts = [address for address in intake.texts if not address.endswith(_ARCHIVE_SIGN)]
    if (
        understood
        or intake.advice
        or texts
        or any(kinds.find_kind(root).kind not in ("", "loose") for root in roots)
    ):
        return None
    shown = [source for source in ledger.sources if source.state in LOST] or ledger.sources
    reasons = [f"{source.address}: {source.why}" for source in shown if source.why][:5]
    reasons = reasons or [f"{one.address}: {one.what}" for one in ledger.damage[:5]]
    return RefusedError(
        "nothing could be read",
        where=", ".join(str(path) for path in paths[:3]),
        why="; ".join(reasons) or "no file was found",
        do=suggest_next(ledger),
    )


def suggest_next(ledger: Ledger) -> str:
    """Return the next step of somebody whose material could not be read."""
    if any(source.why == ENCRYPTED for source in ledger.sources):
        return "Give the folder that you get when you unpack it with the password."
    if any(source.address.endswith(_ARCHIVE_SIGN) for source in ledger.sources):
        return "Give a bundle; the cases of an archive are listed by `backline archive list --archive DIR`."
    if any("Permission denied" in one.what for one in ledger.damage):
        return MAY_READ
    if any(is_piece(source.address) and "binary data" in source.why for source in ledger.sources):
        return JOIN
    if any(source.why == PIECE_INSIDE for source in ledger.sources):
        return "It holds pieces of a split file: unpack it and give all pieces together, they are read as one."
    return "Give a vm-support or NSX bundle, an esxtop CSV or a saved transcript."


def list_harmless(intake: Intake) -> list[dict[str, Any]]:
    """Return the harmless lines of the shipped catalog that were counted."""
    return make_harmless_records(intake, read_harmless_rows(fact_tables.read_shipped()))


def list_nothing() -> list[dict[str, Any]]:
    """Return no record, in place of a part that failed."""
    return []


def is_partial(ledger: Ledger) -> bool:
    """Say whether something was cut, damaged or left out."""
    return bool(
        ledger.damage or ledger.limits or any(source.state in LOST for source in ledger.sources)
    )


def find_span(intake: Intake) -> dict[str, str] | None:
    """Return the first and the last time of all logs."""
    firsts = [span.first for span in intake.spans if span.first]
    lasts = [span.last for span in intake.spans if span.last]
    if firsts and lasts:
        return {"first": min(firsts), "last": max(lasts)}
    return None


def find_newest_time(intake: Intake, nodes: Nodes) -> str:
    """The newest time found in the material, never the wall clock: the same case gives the same bytes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdigit() and len(epoch) < 11:
        return datetime.fromtimestamp(int(epoch), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    times = [node.captured for node in nodes.values()] + [span.last for span in intake.spans]
    return max((time for time in times if time), default="")


def describe_fault(fault: Any) -> dict[str, Any]:
    """Return the record of a line that was not understood."""
    why = fault.why or f"state {fault.state}, template line {fault.template_line}"
    return {
        "address": fault.address,
        "line": fault.line,
        "text": fault.text[:300],
        "parser": fault.parser,
        "why": why,
    }
