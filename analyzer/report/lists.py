"""Findings and open questions as rows: CSV for a spreadsheet, JSON lines for a pipe."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

from analyzer.report import numbers, view
from analyzer.report.wording import Doc, write_place
from analyzer.runtime.text import for_csv

COLUMNS = (
    "verdict", "severity", "confidence", "rule", "kb", "title", "node", "subject", "say", "first_seen", "evidence",
    "fix", "ask", "muted", "number",
)  # fmt: skip


def render_csv(doc: Doc) -> str:
    """Return a row for each finding and for each question that cannot be told; cells are safe for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    known = numbers.number_findings(doc)
    findings = [_flatten_finding(one, known.get(one["id"], "")) for one in doc["findings"]]
    for row in [*findings, *map(_flatten_question, doc["cannot_tell"])]:
        writer.writerow([for_csv(row.get(name, "")) for name in COLUMNS])
    return out.getvalue()


def render_json_lines(doc: Doc) -> str:
    """Return one JSON object a line: the case, then its findings, open questions and quiet rules.

    `record` says which: case, finding, cannot_tell, quiet. Findings alone do not say what could not be judged.
    """
    return "".join(json.dumps(record, ensure_ascii=True) + "\n" for record in _list_records(doc))


def _list_records(doc: Doc) -> Iterator[Doc]:
    case = doc["case"]
    about = {
        "name": case["name"],
        "created": case["created"],
        "complete": case["complete"],
        "headline": view.write_headline(doc),
    }
    notes = {"notes": doc["notes"], "limits": doc["limits"], "catalog": doc["tool"]["catalog"]}
    yield {
        "record": "case",
        **about,
        **notes,
        "nodes": [node["name"] or node["id"] for node in doc["nodes"]],
    }
    known = numbers.number_findings(doc)
    for finding in doc["findings"]:
        told = {key: value for key, value in finding.items() if key != "trace"}
        yield {"record": "finding", **told, "number": known.get(finding["id"], "")}
    for group in doc["cannot_tell"]:
        yield {"record": "cannot_tell", **group}
    for row in doc["quiet"]:
        yield {"record": "quiet", **row}


def _flatten_finding(finding: Doc, number: str) -> Doc:
    steps = [
        ": ".join(filter(None, [step["where"], step["do"] or step["run"]]))
        for step in finding["fix"]
    ]
    more = {
        "number": number,
        "kb": " ".join(map(str, finding["kb"])),
        "evidence": write_place(finding["evidence"][0]) if finding["evidence"] else "",
        "fix": " | ".join(steps),
    }
    return finding | more


def _flatten_question(group: Doc) -> Doc:
    return {
        "verdict": "cannot_tell",
        "rule": " ".join(group["rules"]),
        "title": group["missing"],
        "node": " ".join(group["nodes"]),
        "subject": "; ".join(group["subjects"]),
        "say": group["why"],
        "ask": group["ask"],
        "muted": group["muted"],
    }
