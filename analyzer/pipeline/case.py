"""The case document: the only thing kept of an analysis.

`document()` puts the plain results of all earlier rooms into one dictionary,
`dumps()` writes it as the same bytes for the same input, `load()` reads it
back. Its schema is analyzer/case-schema.json (`backline show --schema`), described in docs/case.md; reports
read this document and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.artefacts import parsing
from analyzer.case import case_shape as shape
from analyzer.case.asks import commands, parse_ask
from analyzer.case.case_check import ASKED, completed, link_questions, problems
from analyzer.case.case_shape import Doc, clean, filled, plain
from analyzer.case.ranking import order_findings, place_findings
from analyzer.case.verdicts import CannotTell, Judgement, Reason
from analyzer.runtime.errors import RefusedError
from analyzer.runtime.reasons import merge_reasons

if TYPE_CHECKING:
    from analyzer.pipeline.given_things import GivenThings

SCHEMA = "backline/case-1"
FAULTS_KEPT = 200
SOURCES_KEPT = 2000
PROBLEMS_KEPT = 500

# DEL, C1, line separators, bidi controls, BOM: JSON would let them through to a terminal as they are.
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def document(
    *,
    case: Mapping[str, Any],
    tool: Mapping[str, Any],
    nodes: Iterable[Mapping[str, Any]],
    sources: Iterable[Any],
    judgement: Judgement,
    catalog_rules: Iterable[tuple[str, str, Sequence[int]]],
    timeline: Iterable[Mapping[str, Any]] = (),
    problems: Iterable[Mapping[str, Any]] = (),
    hosts: Iterable[Mapping[str, Any]] = (),
    topology: Iterable[Mapping[str, Any]] = (),
    site: Iterable[Mapping[str, Any]] = (),
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
) -> Doc:
    """Return the case document of case-schema.json.

    Records may be dictionaries or dataclasses with the keys of the schema;
    missing keys get their empty value, an unknown key is a ValueError (a fault
    of the caller, not of the input). `catalog_rules` are (id, title, kb) of all
    rules that were judged; `faults_total` counts faults that the caller has not
    kept as well; of `problems` the first are kept and all are counted;
    `settings` is what local settings changed (`muting.apply_settings`); `given` knows what need not be asked for, for
    it is there; `causes` are rules that may explain what a rule finds. Times are ISO 8601 in UTC, sizes bytes.
    """
    traced: dict[int, Doc] = {}
    findings = place_findings([plain(finding, traced) for finding in judgement.findings])
    questions = grouped(judgement.cannot_tell, given)
    link_questions(questions, findings, causes or {})
    if given is not None:
        for finding in findings:
            finding["also"] = [
                _drop_request(line, finding["node"], given) for line in finding["also"]
            ]
    all_problems = [filled("problem", shape.PROBLEM, item) for item in problems]
    all_faults = [filled("fault", shape.FAULT, item) for item in faults]
    doc: Doc = {
        "schema": SCHEMA,
        "case": _case(case),
        "tool": filled("tool", shape.TOOL, tool),
        "settings": _settings(settings or {}),
        "nodes": [_node(item) for item in nodes],
        "hosts": [_host(item) for item in hosts],
        "sources": _sources(sources),
        "findings": findings,
        "cannot_tell": questions,
        "quiet": _quiet(judgement, catalog_rules),
        "cuts": [plain(cut) for cut in judgement.cuts],
        "problems": all_problems[:PROBLEMS_KEPT],
        "problems_total": len(all_problems),
        "timeline": _timeline(timeline),
        "series": _shared(findings, judgement),
        "topology": [filled("topology row", shape.PORT, item) for item in topology],
        "site": [filled("site row", shape.SITE, item) for item in site],
        "faults": all_faults[:FAULTS_KEPT],
        "faults_total": len(all_faults) if faults_total is None else faults_total,
        "damage": [filled("damage", shape.DAMAGE, item) for item in damage],
        "limits": [str(item) for item in limits],
        "advice": list(dict.fromkeys(advice)),
        "notes": list(dict.fromkeys(notes)),
        "harmless": [filled("harmless line", shape.HARMLESS, item) for item in harmless],
        "log": [filled("line of a log", shape.LOG_LINE, item) for item in log],
    }
    finished: Doc = clean(doc)
    return finished


def dumps(doc: Mapping[str, Any]) -> str:
    """Return the document as JSON, one record a line.

    The same document gives the same bytes; the text can always be written as UTF-8.
    """
    return "".join(written(doc))


def written(doc: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of `dumps`, about one record at a time: of a large document it never stands whole."""
    lead = "{\n"
    for key, value in doc.items():
        yield f"{lead}{_compact(str(key))}: "
        yield from _lines(key, value)
        lead = ",\n"
    yield "\n}\n"


def _lines(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple) and value:
        yield "[\n"
        for number, item in enumerate(value):
            yield f",\n{_compact(item)}" if number else _compact(item)
        yield "\n]"
    elif key == "series" and value:
        yield "{\n"
        for number, name in enumerate(value):
            yield f"{',' * bool(number)}{chr(10) * bool(number)}{_compact(str(name))}:{_compact(value[name])}"
        yield "\n}"
    else:
        yield _compact(value)


def _compact(value: Any) -> str:
    value = clean(value)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _STEERING.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def load(path: Path) -> Doc:
    """Return the document kept in `path`, a file or the folder of a triage; a RefusedError says what is wrong."""
    try:
        if path.is_dir() and (path / "case.json").exists():
            path /= "case.json"
        if path.exists() and not path.is_file():  # a device may never end
            raise _no_document(
                str(path), "it holds no case.json" if path.is_dir() else "not a regular file"
            )
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        what, do = (
            "the case document cannot be read",
            "Give the case.json that `backline triage` wrote.",
        )
        raise RefusedError(what, where=str(path), why=error.strerror or "", do=do) from None
    except UnicodeDecodeError:
        raise _no_document(str(path), "it is not UTF-8 text, perhaps a bundle") from None
    return loads(text, str(path))


def loads(text: str, where: str) -> Doc:
    """Return the document that is written as `text`; a RefusedError says what is wrong with it, at `where`."""
    try:
        doc = json.loads(text)
    except json.JSONDecodeError as error:
        raise _no_document(f"{where}:{error.lineno}", f"it is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise _no_document(where, "a number or a nesting in it is too large") from None
    if not isinstance(doc, dict) or "schema" not in doc:
        raise _no_document(where, "it has no key `schema`")
    if doc["schema"] != SCHEMA:
        raise _no_document(where, f"its schema is {doc['schema']!r}, this version reads {SCHEMA!r}")
    completed(doc)
    for place, wrong in problems(doc):
        raise _no_document(where, f"{place} {wrong}")
    document: Doc = clean(doc)
    document["findings"] = order_findings(
        document["findings"]
    )  # one of an earlier version has another order
    return document


def _no_document(where: str, why: str) -> RefusedError:
    return RefusedError(
        "this case document cannot be shown",
        where=where,
        why=why,
        do="Give the case.json that `backline triage` wrote, or run triage again with the bundle.",
    )


def grouped(items: Iterable[CannotTell], given: GivenThings | None = None) -> list[Doc]:
    """Return verdicts "cannot tell" grouped by what is missing and what to ask for, widest first, muted ones last.

    given  leaves out of `asks` what a machine sent already
    """
    groups: dict[tuple[str, str, str], list[CannotTell]] = {}
    held = parsing.tables_of_bundles()
    for item in items:
        groups.setdefault((item.missing, item.ask, item.muted), []).append(item)
    out = [
        {
            "missing": missing,
            "reason": str(members[0].reason),
            "why": "; ".join(
                _distinct(merge_reasons((item.why, item.node) for item in members), most=3)
            ),
            "ask": ask,
            "asks": _list_asks(ask, sorted({item.node for item in members if item.node}), given),
            "commands": commands(ask),
            "rules": sorted({item.rule for item in members}),
            "subjects": sorted({item.subject for item in members if item.subject}),
            "nodes": sorted({item.node for item in members if item.node}),
            "muted": muted,
            "in_bundle": members[0].reason == Reason.MISSING and missing in held,
            "settles": [],
        }
        for (missing, ask, muted), members in groups.items()
    ]
    return sorted(
        out,
        key=lambda g: (
            bool(g["muted"]),
            -len(g["rules"]),
            -len(g["subjects"]),
            g["missing"],
            g["ask"],
            g["muted"],
        ),
    )


def _list_asks(ask: str, nodes: Sequence[str], given: GivenThings | None) -> list[Doc]:
    """Return the records of an ask, each with the machines that did not send the thing; without one, not at all."""
    found = []
    for item in parse_ask(ask):
        lacking = [
            node for node in nodes or [""] if given is None or not given.was_sent(item, node)
        ]
        if lacking:
            named = [node for node in lacking if node]
            found.append(
                {"what": item.what, "command": item.command, "remark": item.remark, "nodes": named}
            )
    return found


def _drop_request(line: str, node: str, given: GivenThings) -> str:
    """Return what could not be checked without a request for things that are all there."""
    why, _, ask = line.partition(ASKED)
    items = parse_ask(ask)
    return why if items and all(given.was_sent(item, node) for item in items) else line


def _distinct(words: Iterable[str], most: int) -> list[str]:
    """Return different words in their order, at most `most` of them and a note of the rest."""
    seen = list(dict.fromkeys(word for word in words if word))
    return seen if len(seen) <= most else [*seen[:most], f"and {len(seen) - most} more like this"]


def _quiet(judgement: Judgement, rules: Iterable[tuple[str, str, Sequence[int]]]) -> list[Doc]:
    """Return the rules that are in no other list: they looked and found nothing, or did not apply."""
    loud = {finding.rule for finding in judgement.findings} | {
        item.rule for item in judgement.cannot_tell
    }
    out: list[Doc] = []
    for rule, title, kb in rules:
        count = judgement.counts.get(rule, {})
        if rule in loud or any(count.get(v, 0) for v in ("match", "error", "cannot_tell")):
            continue
        row: Doc = {"rule": rule, "title": title, "kb": [int(number) for number in kb]}
        row["looked_at"] = int(count.get("no_match", 0))
        row["not_applicable"] = int(count.get("not_applicable", 0))
        out.append(row)
    return sorted(out, key=lambda row: str(row["rule"]))


def _case(case: Mapping[str, Any]) -> Doc:
    out = filled("case", shape.CASE, case)
    out["files"] = [filled("file", shape.FILE, item) for item in out["files"]]
    if out["span"] is not None:
        out["span"] = filled("span", shape.SPAN, out["span"])
        if not (out["span"]["first"] and out["span"]["last"]):
            out["span"] = None
    return out


def _settings(settings: Mapping[str, Any]) -> Doc:
    out = filled("settings", shape.SETTINGS, settings)
    for key, record in (
        ("mutes", shape.MUTE),
        ("thresholds", shape.THRESHOLD),
        ("catalogs", shape.CATALOG),
    ):
        out[key] = [filled(key, record, item) for item in out[key]]
    return out


def _node(node: Mapping[str, Any]) -> Doc:
    out = filled("node", shape.NODE, node)
    out["logs"] = sorted(
        (filled("log", shape.LOG, item) for item in out["logs"]),
        key=lambda log: (log["table"], log["first"]),
    )
    return out


def _host(card: Mapping[str, Any]) -> Doc:
    out = filled("host", shape.HOST, card)
    out["rows"] = [filled("row of a card", shape.CARD_ROW, row) for row in out["rows"]]
    for row in out["rows"]:
        row["items"] = [filled("item of a card", shape.CARD_ITEM, item) for item in row["items"]]
    return out


def _sources(sources: Iterable[Any]) -> list[Doc]:
    """Return one row a source; above 2,000 rows the merely listed ones are folded by folder."""
    rows = [filled("source", shape.SOURCE, item) for item in sources]
    for row in rows:
        # The ledger may hold the list of faults itself or their number.
        row["faults"] = (
            len(row["faults"]) if isinstance(row["faults"], list | tuple) else row["faults"]
        )
        row["unread_outputs"] = [
            filled("output", shape.UNREAD_OUTPUT, one) for one in row["unread_outputs"]
        ]
    if len(rows) <= SOURCES_KEPT:
        return rows
    folders: dict[tuple[str, str, str], list[Doc]] = {}
    out = []
    for row in rows:
        if row["state"] != "listed" or row["unread_outputs"]:
            out.append(row)
            continue
        cut = max(row["address"].rfind("/"), row["address"].rfind("!"))
        key = (row["address"][: cut + 1], row["node"], row["why"])
        if key not in folders:
            folders[key] = []
            out.append({**row, "fold": key})
        folders[key].append(row)
    return [_folded(row, folders) for row in out]


def _folded(row: Doc, folders: Mapping[tuple[str, str, str], list[Doc]]) -> Doc:
    key = row.pop("fold", None)
    if key is None or len(folders[key]) == 1:
        return row
    sizes = [member["size"] for member in folders[key] if member["size"] is not None]
    row |= {
        "address": f"{key[0]} ({len(folders[key])} files)",
        "size": sum(sizes) if sizes else None,
    }
    return row


def _timeline(events: Iterable[Mapping[str, Any]]) -> list[Doc]:
    rows = [filled("event", shape.EVENT, item) for item in events]
    return sorted(rows, key=lambda e: (e["time"], e["node"], e["address"], e["line"], e["text"]))


def _shared(findings: list[Doc], judgement: Judgement) -> Doc:
    """Return the charts, each with its own title; those that draw the same samples share the first one's."""
    series = _series(judgement.series, [key for finding in findings for key in finding["chart"]])
    first: dict[str, str] = {}
    for key, chart in series.items():
        holder = first.setdefault(
            repr([chart["node"], chart["unit"], chart["times"], chart["lines"]]), key
        )
        if holder != key:
            chart |= {"times": [], "lines": [], "same_as": holder}
    return series


def _series(series: Mapping[str, Mapping[str, Any]], wanted: list[str]) -> Doc:
    """Return charts by key, those of the worst finding first.

    A chart that names its lines as plain keys gets them as `lines`.
    """
    out: Doc = {}
    for key in dict.fromkeys([*(key for key in wanted if key in series), *sorted(series)]):
        given = dict(series[key])
        chart = {name: given.pop(name, "") for name in ("title", "unit", "node")}
        chart["times"] = list(given.pop("times", []))
        lines = [filled("line", shape.LINE, line) for line in given.pop("lines", [])]
        lines += [{"label": label, "values": list(values)} for label, values in given.items()]
        out[key] = {**chart, "lines": lines, "same_as": ""}
    return out
