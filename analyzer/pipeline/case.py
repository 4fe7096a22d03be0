"""Builds the case document of the plain results of all earlier rooms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import inspect, structs

from analyzer.artefacts import parsing
from analyzer.case.asks import list_commands, parse_ask
from analyzer.case.case_file import clean_value
from analyzer.case.document import (
    SCHEMA,
    Ask,
    CannotTellGroup,
    CaseChart,
    CaseDamage,
    CaseDocument,
    CaseFault,
    CaseHead,
    CaseLogLine,
    CaseNode,
    CaseSettings,
    CaseSource,
    CaseSpan,
    CatalogPart,
    ChartLine,
    Event,
    GivenFile,
    HarmlessLine,
    HostCard,
    MutedEntry,
    NodeLog,
    Port,
    QuietRule,
    Signal,
    SiteRow,
    Threshold,
    Tool,
    UnreadOutput,
)
from analyzer.case.fields import DocumentRecord
from analyzer.case.questions import ASKED, link_questions
from analyzer.case.ranking import place_findings
from analyzer.case.verdicts import CannotTell, Finding, Judgement, Reason, Verdict
from analyzer.runtime.reasons import merge_reasons
from analyzer.signals.rank import list_first

if TYPE_CHECKING:
    from analyzer.pipeline.given_things import GivenThings

FAULTS_KEPT = 200
SOURCES_KEPT = 2000

Kind = TypeVar("Kind", bound=DocumentRecord)


def build_document(
    *,
    case: Mapping[str, Any],
    tool: Tool,
    nodes: Iterable[Mapping[str, Any]],
    sources: Iterable[Any],
    judgement: Judgement,
    catalog_rules: Iterable[tuple[str, str, Sequence[int]]],
    timeline: Iterable[Mapping[str, Any]] = (),
    signals: Sequence[Mapping[str, Any]] = (),
    hosts: Iterable[HostCard] = (),
    topology: Iterable[Mapping[str, Any]] = (),
    site: Iterable[SiteRow] = (),
    faults: Iterable[Any] = (),
    faults_total: int | None = None,
    damage: Iterable[Any] = (),
    limits: Iterable[Any] = (),
    advice: Iterable[str] = (),
    notes: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    harmless: Iterable[Mapping[str, Any]] = (),
    log: Iterable[Mapping[str, Any]] = (),
    given: GivenThings | None = None,
    causes: Mapping[str, Sequence[str]] | None = None,
) -> CaseDocument:
    """Return the case document.

    Rows of tables come as dictionaries or dataclasses with the keys of the record; missing keys get their empty
    value, an unknown key is a ValueError (a fault of the caller, not of the input).

    catalog_rules  id, title and articles of all rules that were judged
    faults_total   counts faults that the caller has not kept as well
    signals        ranked; the first of each machine are kept, all are counted
    settings       what local settings changed (`muting.apply_settings`)
    given          knows what the customer sent already and need not be asked for
    causes         rules that may explain what a rule finds

    Times are ISO 8601 in UTC, sizes bytes.
    """
    findings = place_findings(judgement.findings)
    questions = group_questions(judgement.cannot_tell, given)
    link_questions(questions, findings, causes or {})
    if given is not None:
        findings = [drop_requests(finding, given) for finding in findings]
    all_faults = [fill_record(CaseFault, item) for item in faults]
    document = CaseDocument(
        schema=SCHEMA,
        case=build_head(case),
        tool=tool,
        settings=build_settings(settings or {}),
        nodes=[build_node(item) for item in nodes],
        hosts=list(hosts),
        sources=build_sources(sources),
        findings=findings,
        cannot_tell=questions,
        quiet=list_quiet_rules(judgement, catalog_rules),
        cuts=list(judgement.cuts),
        signals=[fill_record(Signal, item, kind="line") for item in list_first(signals)],
        signals_total=len(signals),
        timeline=build_timeline(timeline),
        series=share_charts(build_charts(findings, judgement.series)),
        topology=[fill_record(Port, item) for item in topology],
        site=list(site),
        faults=all_faults[:FAULTS_KEPT],
        faults_total=len(all_faults) if faults_total is None else faults_total,
        damage=[fill_record(CaseDamage, item) for item in damage],
        limits=[str(item) for item in limits],
        advice=list(dict.fromkeys(advice)),
        notes=list(dict.fromkeys(notes)),
        harmless=[fill_record(HarmlessLine, item) for item in harmless],
        log=[fill_record(CaseLogLine, item) for item in log],
    )
    clean_value(document)
    return document


@cache
def list_fields(kind: type[DocumentRecord]) -> list[tuple[str, Any, bool]]:
    """Return name and empty value of the fields of a record, and whether they have a default.

    Where nothing is known a field without default holds no text, an empty list, 0, or null.
    """
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    fields = []
    for field in info.fields:
        field_type = field.type
        while isinstance(field_type, inspect.Metadata):
            field_type = field_type.type
        fields.append((field.name, _EMPTY_VALUES.get(type(field_type)), not field.required))
    return fields


_EMPTY_VALUES: dict[type, Any] = {
    inspect.StrType: "",
    inspect.ListType: [],
    inspect.IntType: 0,
    inspect.BoolType: False,
}


def fill_record(kind: type[Kind], item: Any, /, **empty_values: Any) -> Kind:
    """Return a record of the fields that `item` has, the others empty; ValueError for a key that it has not.

    Tables hold as numbers what are names in the document, and lists where the document has a text: both become text.

    item          a row as a dictionary, or an object with attributes
    empty_values  what a field holds where `item` has nothing, if not the default or the empty text, list or number
    """
    if isinstance(item, Mapping):
        unknown = sorted(item.keys() - set(kind.__struct_fields__))
        if unknown:
            raise ValueError(f"a {kind.__name__} of the case document has no key {unknown[0]!r}")
    values: dict[str, Any] = {}
    for name, empty, has_default in list_fields(kind):
        if isinstance(item, Mapping):
            value = item.get(name)
        else:
            value = getattr(item, name, None)
        if value is None:
            value = empty_values.get(name)
        if value is None:
            if has_default:
                continue
            value = empty
        if type(empty) is str and isinstance(value, list | tuple):
            value = ", ".join(map(str, value))
        elif type(empty) is str and not isinstance(value, str):
            value = str(value)
        elif type(empty) is list and isinstance(value, str):
            value = [value]
        elif type(empty) is list:
            value = list(value)
        values[name] = value
    return kind(**values)


def group_questions(
    items: Iterable[CannotTell], given: GivenThings | None = None
) -> list[CannotTellGroup]:
    """Return verdicts "cannot tell" grouped by what is missing and what to ask for, widest first, muted ones last.

    given  leaves out of `asks` what a machine sent already
    """
    groups: dict[tuple[str, str, str], list[CannotTell]] = {}
    held = parsing.tables_of_bundles()
    for item in items:
        groups.setdefault((item.missing, item.ask, item.muted), []).append(item)
    questions = []
    for (missing, ask, muted), members in groups.items():
        nodes = sorted({item.node for item in members if item.node})
        reasons = merge_reasons((item.why, item.node) for item in members)
        questions.append(
            CannotTellGroup(
                missing=missing,
                reason=str(members[0].reason),
                why="; ".join(shorten_list(reasons)),
                ask=ask,
                asks=list_asks(ask, nodes, given),
                commands=list_commands(ask),
                rules=sorted({item.rule for item in members}),
                subjects=sorted({item.subject for item in members if item.subject}),
                nodes=nodes,
                muted=muted,
                in_bundle=members[0].reason == Reason.MISSING and missing in held,
                settles=[],
            )
        )

    def widest_first(one: CannotTellGroup) -> tuple[bool, int, int, str, str, str]:
        counts = -len(one.rules), -len(one.subjects)
        return bool(one.muted), *counts, one.missing, one.ask, one.muted

    return sorted(questions, key=widest_first)


def list_asks(ask: str, nodes: Sequence[str], given: GivenThings | None) -> list[Ask]:
    """Return the records of an ask, each with the machines that did not send the thing; without one, not at all."""
    found = []
    for item in parse_ask(ask):
        lacking = []
        for node in nodes or [""]:
            if given is None or not given.was_sent(item, node):
                lacking.append(node)
        if lacking:
            named = [node for node in lacking if node]
            found.append(Ask(what=item.what, command=item.command, remark=item.remark, nodes=named))
    return found


def drop_requests(finding: Finding, given: GivenThings) -> Finding:
    """Return a finding that asks for nothing that is all there."""
    also = []
    for line in finding.also:
        why, _, ask = line.partition(ASKED)
        items = parse_ask(ask)
        sent = items and all(given.was_sent(item, finding.node) for item in items)
        if sent:
            also.append(why)
        else:
            also.append(line)
    if also == finding.also:
        return finding
    return structs.replace(finding, also=also)


def shorten_list(words: Iterable[str]) -> list[str]:
    """Return different words in their order, at most three of them and a note of the rest."""
    seen = list(dict.fromkeys(word for word in words if word))
    if len(seen) <= 3:
        return seen
    return [*seen[:3], f"and {len(seen) - 3} more like this"]


def list_quiet_rules(
    judgement: Judgement, rules: Iterable[tuple[str, str, Sequence[int]]]
) -> list[QuietRule]:
    """Return the rules that are in no other list: they looked and found nothing, or did not apply."""
    loud = {finding.rule for finding in judgement.findings}
    loud |= {item.rule for item in judgement.cannot_tell}
    quiet = []
    for rule, title, kb in rules:
        count = judgement.counts.get(rule, {})
        answered = any(
            count.get(verdict) for verdict in (Verdict.MATCH, Verdict.ERROR, Verdict.CANNOT_TELL)
        )
        if rule in loud or answered:
            continue
        quiet.append(
            QuietRule(
                rule=rule,
                title=title,
                kb=[int(number) for number in kb],
                looked_at=int(count.get(Verdict.NO_MATCH, 0)),
                not_applicable=int(count.get(Verdict.NOT_APPLICABLE, 0)),
            )
        )
    return sorted(quiet, key=lambda row: row.rule)


def build_head(case: Mapping[str, Any]) -> CaseHead:
    """Return what was dropped in; a span without a beginning or an end is none."""
    span = case.get("span")
    head = fill_record(CaseHead, {**case, "span": None}, complete=True)
    head.files = [fill_record(GivenFile, item) for item in head.files]
    if span is not None and span["first"] and span["last"]:
        head.span = fill_record(CaseSpan, span)
    return head


def build_settings(changes: Mapping[str, Any]) -> CaseSettings:
    """Return what local settings changed."""
    settings = fill_record(CaseSettings, changes)
    settings.mutes = [fill_record(MutedEntry, item, state="holds") for item in settings.mutes]
    settings.thresholds = [fill_record(Threshold, item) for item in settings.thresholds]
    settings.catalogs = [fill_record(CatalogPart, item) for item in settings.catalogs]
    return settings


def build_node(item: Mapping[str, Any]) -> CaseNode:
    """Return a node with its logs by table and time."""
    node = fill_record(CaseNode, item)
    node.logs = [fill_record(NodeLog, log) for log in node.logs]
    node.logs.sort(key=lambda log: (log.table, log.first))
    for log in node.logs:
        log.parts = [fill_record(CaseSpan, part) for part in log.parts]
    return node


def build_sources(sources: Iterable[Any]) -> list[CaseSource]:
    """Return one row a source; above 2,000 rows the merely listed ones are folded by folder."""
    rows = []
    for item in sources:
        row = fill_record(CaseSource, item, state="listed")
        faults: Any = row.faults  # the ledger may hold the list of faults itself or their number
        if isinstance(faults, list | tuple):
            row.faults = len(faults)
        else:
            row.faults = faults
        row.unread_outputs = [fill_record(UnreadOutput, one) for one in row.unread_outputs]
        rows.append(row)
    if len(rows) <= SOURCES_KEPT:
        return rows
    return fold_sources(rows)


def fold_sources(rows: Iterable[CaseSource]) -> list[CaseSource]:
    """Return rows of which those that nothing reads are one a folder."""
    folders: dict[tuple[str, str, str], list[CaseSource]] = {}
    kept = []
    for row in rows:
        if row.state != "listed" or row.unread_outputs:
            kept.append(row)
            continue
        cut = max(row.address.rfind("/"), row.address.rfind("!"))
        members = folders.setdefault((row.address[: cut + 1], row.node, row.why), [])
        if not members:
            kept.append(row)
        members.append(row)
    for (folder, _, _), members in folders.items():
        if len(members) > 1:
            sizes = [member.size for member in members if member.size is not None]
            members[0].address = f"{folder} ({len(members)} files)"
            if sizes:
                members[0].size = sum(sizes)
            else:
                members[0].size = None
    return kept


def build_timeline(events: Iterable[Mapping[str, Any]]) -> list[Event]:
    """Return the moments by time."""
    rows = [fill_record(Event, item, kind="event") for item in events]
    return sorted(rows, key=lambda one: (one.time, one.node, one.address, one.line, one.text))


def build_charts(
    findings: Iterable[Finding], series: Mapping[str, Mapping[str, Any]]
) -> dict[str, CaseChart]:
    """Return charts by key, those of the worst finding first.

    A chart that names its lines as plain keys gets them as `lines`.
    """
    wanted = [key for finding in findings for key in finding.chart if key in series]
    charts = {}
    for key in dict.fromkeys([*wanted, *sorted(series)]):
        rest = dict(series[key])
        chart = CaseChart(
            title=rest.pop("title", ""),
            unit=rest.pop("unit", ""),
            node=rest.pop("node", ""),
            times=list(rest.pop("times", [])),
            lines=[fill_record(ChartLine, line) for line in rest.pop("lines", [])],
        )
        for label, values in rest.items():
            chart.lines.append(ChartLine(label=label, values=list(values)))
        charts[key] = chart
    return charts


def share_charts(charts: dict[str, CaseChart]) -> dict[str, CaseChart]:
    """Let charts that draw the same samples, each with its own title, share those of the first."""
    first: dict[str, str] = {}
    for key, chart in charts.items():
        samples = repr([chart.node, chart.unit, chart.times, chart.lines])
        holder = first.setdefault(samples, key)
        if holder != key:
            chart.times = []
            chart.lines = []
            chart.same_as = holder
    return charts
