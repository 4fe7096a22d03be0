"""Findings as SARIF 2.1.0, the format that code hosts, editors and dashboards read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. Its kinds of results are the answers of a rule:
`fail` is a finding, `open` a question that cannot be answered, `pass` a rule that looked and found nothing. Severities have
three levels there: critical and major are `error`; the word itself is in `properties.severity`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from analyzer.case.document import CaseDocument, QuietRule
from analyzer.case.verdicts import Evidence, Finding
from analyzer.report.wording import link_article, word_label
from analyzer.runtime.text import make_visible

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {"critical": "error", "major": "error", "warning": "warning", "info": "note"}
EVIDENCE = 10  # lines of a finding; all of them are in case.json


def render_sarif(doc: CaseDocument) -> str:
    """Return the log of one run: the same document gives the same bytes."""
    case = doc.case
    rules = list_rules(doc)
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    has_errors = any(finding.verdict == "error" for finding in doc.findings)
    driver = {"name": "Backline", "version": doc.tool.version or "0", "rules": rules}
    invocation = {
        "executionSuccessful": bool(case.complete) and not has_errors,
        "toolExecutionNotifications": list(list_notifications(doc)),
    }
    artifacts = []
    for file in case.files:
        location = {"uri": _write_uri(file.name)}
        artifact: dict[str, Any] = {"location": location, "roles": ["analysisTarget"]}
        if file.size is not None:
            artifact["length"] = file.size
        if file.sha256:
            artifact["hashes"] = {"sha-256": file.sha256}
        artifacts.append(artifact)
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "artifacts": artifacts,
        "columnKind": "unicodeCodePoints",
        "results": list(list_results(doc, places)),
        "properties": {"case": make_visible(case.name), "catalog": doc.tool.catalog},
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def list_rules(doc: CaseDocument) -> list[dict[str, Any]]:
    """Return every rule that has an answer, by id."""
    found: dict[str, dict[str, Any]] = {}
    rows: list[Finding | QuietRule] = [*doc.findings, *doc.quiet]
    for row in rows:
        key = row.rule
        if key not in found:
            found[key] = {"id": key, "shortDescription": {"text": make_visible(row.title)}}
            if row.kb:
                found[key]["helpUri"] = link_article(row.kb[0])
    for group in doc.cannot_tell:
        for key in group.rules:
            found.setdefault(key, {"id": key})
    return [found[key] for key in sorted(found)]


def list_results(doc: CaseDocument, places: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yield a result for each finding, open question and quiet rule."""
    for finding in doc.findings:
        if finding.verdict == "match":
            rule = finding.rule
            yield {"ruleId": rule, "ruleIndex": places[rule], **describe_finding(finding)}
    for group in doc.cannot_tell:
        text = f"Cannot tell: {group.why}."
        if group.ask:
            text += f" Ask for: {group.ask}."
        result = {"kind": "open", "level": "none", **_write_message(text)}
        result["properties"] = {
            "missing": group.missing,
            "nodes": group.nodes,
            "subjects": group.subjects,
        }
        if group.muted:
            result["suppressions"] = [_suppress(group.muted)]
        for rule in group.rules:
            yield {"ruleId": rule, "ruleIndex": places[rule], **result}
    for row in doc.quiet:
        if row.looked_at:
            rule = row.rule
            message = _write_message(f"Looked at {row.looked_at:,}, found nothing.")
            result = {"kind": "pass", "level": "none", **message}
            yield {"ruleId": rule, "ruleIndex": places[rule], **result}


def describe_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding as a result, but for its rule."""
    evidence = finding.evidence
    result: dict[str, Any] = {
        "kind": "fail",
        "level": LEVELS[finding.severity],
        **_write_message(f"{finding.title}: {finding.subject}. {finding.say}"),
        "partialFingerprints": {"findingId/v1": make_visible(finding.id)},
        "properties": {
            "severity": finding.severity,
            "confidence": finding.confidence,
            "node": make_visible(finding.node),
            "evidence": len(evidence),
        },
    }
    if evidence:
        location = _locate_evidence(evidence[0])
        if finding.node:
            node = {"name": make_visible(finding.node), "kind": "resource"}
            location["logicalLocations"] = [node]
        result["locations"] = [location]
        result["relatedLocations"] = [_locate_evidence(one) for one in evidence[1:EVIDENCE]]
    if finding.muted:
        result["suppressions"] = [_suppress(finding.muted)]
    return result


def _locate_evidence(evidence: Evidence) -> dict[str, Any]:
    """Return the place of a line of evidence as SARIF has it."""
    place: dict[str, Any] = {"artifactLocation": {"uri": _write_uri(evidence.address)}}
    if evidence.line:
        snippet = {"text": make_visible(evidence.text)}
        place["region"] = {"startLine": evidence.line, "snippet": snippet}
    return {"physicalLocation": place, **_write_message(word_label(evidence.label))}


def list_notifications(doc: CaseDocument) -> Iterator[dict[str, Any]]:
    """Yield what the run itself has to report: broken rules, damage, limits, notes."""
    for finding in doc.findings:
        if finding.verdict == "error":
            yield {"level": "error", **_write_message(f"{finding.rule}: {finding.say}")}
    for item in doc.damage:
        text = f"{item.address}: {item.what}; left out: {item.left_out}"
        yield {"level": "warning", **_write_message(text)}
    for line in [*doc.limits, *doc.notes]:
        yield {"level": "note", **_write_message(line)}


def _suppress(why: str) -> dict[str, Any]:
    return {"kind": "external", "justification": make_visible(why)}


def _write_message(text: str) -> dict[str, Any]:
    """Return a message; its text is plain, and SARIF reads {0} and [a](1) in it unless they are escaped."""
    plain = make_visible(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return {"message": {"text": plain.replace("{", "{{").replace("}", "}}")}}


def _write_uri(address: str) -> str:
    """Return an address within the case as a relative reference; the `!` between archive and member stays."""
    path = address.replace("\\", "/").encode("utf-8", "replace")
    return quote(path, safe="/!").lstrip("/") or "."
