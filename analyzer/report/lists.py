"""Findings and open questions as rows: CSV for a spreadsheet, JSON lines for a pipe."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from msgspec import structs, to_builtins

from analyzer.case.document import CaseDocument
from analyzer.report import finding_rows, view
from analyzer.report.wording import write_place
from analyzer.runtime.text import for_csv

COLUMNS = (
    "verdict", "severity", "confidence", "rule", "kb", "title", "node", "subject", "say", "first_seen", "evidence",
    "fix", "ask", "muted", "number",
)  # fmt: skip


def render_csv(doc: CaseDocument) -> str:
    """Return a row for each finding and for each open question; cells are safe for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in list_rows(doc):
        writer.writerow([for_csv(row.get(name, "")) for name in COLUMNS])
    return out.getvalue()


def list_rows(doc: CaseDocument) -> Iterator[dict[str, Any]]:
    """Yield a row for each finding, then for each open question."""
    numbers = finding_rows.number_findings(doc)
    for finding in doc.findings:
        steps = []
        for step in finding.fix:
            steps.append(": ".join(filter(None, [step.where, step.do or step.run])))
        evidence = finding.evidence
        yield structs.asdict(finding) | {
            "number": numbers.get(finding.id, ""),
            "kb": " ".join(map(str, finding.kb)),
            "evidence": write_place(evidence[0]) if evidence else "",
            "fix": " | ".join(steps),
        }
    for group in doc.cannot_tell:
        yield {
            "verdict": "cannot_tell",
            "rule": " ".join(group.rules),
            "title": group.missing,
            "node": " ".join(group.nodes),
            "subject": "; ".join(group.subjects),
            "say": group.why,
            "ask": group.ask,
            "muted": group.muted,
        }


def render_json_lines(doc: CaseDocument) -> str:
    """Return one JSON object a line: the case, then its findings, open questions and quiet rules.

    `record` says which: case, finding, cannot_tell, quiet. Findings alone do not say what could not be judged.
    """
    return "".join(json.dumps(record, ensure_ascii=True) + "\n" for record in list_records(doc))


def list_records(doc: CaseDocument) -> Iterator[dict[str, Any]]:
    """Yield the records of the case, its findings, open questions and quiet rules."""
    case = doc.case
    yield {
        "record": "case",
        "name": case.name,
        "created": case.created,
        "complete": case.complete,
        "headline": view.write_headline(doc),
        "notes": doc.notes,
        "limits": doc.limits,
        "catalog": doc.tool.catalog,
        "nodes": [node.name or node.id for node in doc.nodes],
    }
    numbers = finding_rows.number_findings(doc)
    for finding in doc.findings:
        record = to_builtins(structs.replace(finding, trace=None))
        del record["trace"]
        yield {"record": "finding", **record, "number": numbers.get(finding.id, "")}
    for group in doc.cannot_tell:
        yield {"record": "cannot_tell", **to_builtins(group)}
    for row in doc.quiet:
        yield {"record": "quiet", **to_builtins(row)}
