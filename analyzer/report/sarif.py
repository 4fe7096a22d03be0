"""Findings as SARIF 2.1.0, the format that code hosts, editors and dashboards read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. Its kinds of results are the answers of a rule:
`fail` is a finding, `open` a question that cannot be told, `pass` a rule that looked and found nothing. Severities have
three levels there: critical and major are `error`; the word itself stands in `properties.severity`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from analyzer.report.wording import kb_link, value_label
from analyzer.runtime.text import make_visible

Doc = dict[str, Any]

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {"critical": "error", "major": "error", "warning": "warning", "info": "note"}
EVIDENCE = 10  # lines of a finding; all of them are in case.json


def render(doc: Doc) -> str:
    """Return the log of one run: the same document gives the same bytes."""
    rules = _rules(doc)
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    tool = {"name": "Backline", "version": doc["tool"]["version"] or "0", "rules": rules}
    run = {
        "tool": {"driver": tool},
        "invocations": [
            {
                "executionSuccessful": _whole(doc),
                "toolExecutionNotifications": list(_notifications(doc)),
            }
        ],
        "artifacts": [_artifact(file) for file in doc["case"]["files"]],
        "columnKind": "unicodeCodePoints",
        "results": list(_results(doc, places)),
        "properties": {
            "case": make_visible(doc["case"]["name"]),
            "catalog": doc["tool"]["catalog"],
        },
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def _whole(doc: Doc) -> bool:
    return bool(doc["case"]["complete"]) and not any(
        finding["verdict"] == "error" for finding in doc["findings"]
    )


def _rules(doc: Doc) -> list[Doc]:
    """Return every rule that said something, by id."""
    found: dict[str, Doc] = {}
    for row in [*doc["findings"], *doc["quiet"]]:
        if row["rule"] not in found:
            found[row["rule"]] = _rule(row["rule"], row["title"], row["kb"])
    for group in doc["cannot_tell"]:
        for rule in group["rules"]:
            found.setdefault(rule, {"id": rule})
    return [found[key] for key in sorted(found)]


def _rule(key: str, title: str, kb: list[int]) -> Doc:
    rule: Doc = {"id": key, "shortDescription": {"text": make_visible(title)}}
    return rule | {"helpUri": kb_link(kb[0])} if kb else rule


def _artifact(file: Doc) -> Doc:
    found: Doc = {"location": {"uri": _uri(file["name"])}, "roles": ["analysisTarget"]}
    if file["size"] is not None:
        found["length"] = file["size"]
    return found | {"hashes": {"sha-256": file["sha256"]}} if file["sha256"] else found


def _results(doc: Doc, places: dict[str, int]) -> Iterator[Doc]:
    for finding in doc["findings"]:
        if finding["verdict"] == "match":
            yield {
                "ruleId": finding["rule"],
                "ruleIndex": places[finding["rule"]],
                **_finding(finding),
            }
    for group in doc["cannot_tell"]:
        said = f"Cannot tell: {group['why']}." + (
            f" Ask for: {group['ask']}." if group["ask"] else ""
        )
        more: Doc = {"properties": {key: group[key] for key in ("missing", "nodes", "subjects")}}
        if group["muted"]:
            more["suppressions"] = [_suppression(group["muted"])]
        for rule in group["rules"]:
            yield {
                "ruleId": rule,
                "ruleIndex": places[rule],
                "kind": "open",
                "level": "none",
                **_message(said),
                **more,
            }
    for row in doc["quiet"]:
        if row["looked_at"]:
            said = f"Looked at {row['looked_at']:,}, found nothing."
            rule = {"ruleId": row["rule"], "ruleIndex": places[row["rule"]]}
            yield {**rule, "kind": "pass", "level": "none", **_message(said)}


def _finding(finding: Doc) -> Doc:
    said = f"{finding['title']}: {finding['subject']}. {finding['say']}"
    evidence = finding["evidence"]
    found: Doc = {
        "kind": "fail",
        "level": LEVELS[finding["severity"]],
        **_message(said),
        "partialFingerprints": {"findingId/v1": make_visible(finding["id"])},
        "properties": {
            "severity": finding["severity"],
            "confidence": finding["confidence"],
            "node": make_visible(finding["node"]),
            "evidence": len(evidence),
        },
    }
    if evidence:
        found["locations"] = [_location(evidence[0], finding)]
        found["relatedLocations"] = [_location(one, None) for one in evidence[1:EVIDENCE]]
    if finding["muted"]:
        found["suppressions"] = [_suppression(finding["muted"])]
    return found


def _location(evidence: Doc, finding: Doc | None) -> Doc:
    region: Doc = {"snippet": {"text": make_visible(evidence["text"])}}
    if evidence["line"]:
        region = {"startLine": evidence["line"], **region}
    place: Doc = {"artifactLocation": {"uri": _uri(evidence["address"])}}
    if evidence["line"]:
        place["region"] = region
    found: Doc = {"physicalLocation": place, **_message(value_label(evidence["label"]))}
    if finding is not None and finding["node"]:
        found["logicalLocations"] = [{"name": make_visible(finding["node"]), "kind": "resource"}]
    return found


def _notifications(doc: Doc) -> Iterator[Doc]:
    for finding in doc["findings"]:
        if finding["verdict"] == "error":
            yield {"level": "error", **_message(f"{finding['rule']}: {finding['say']}")}
    for item in doc["damage"]:
        yield {
            "level": "warning",
            **_message(f"{item['address']}: {item['what']}; left out: {item['left_out']}"),
        }
    for line in [*doc["limits"], *doc["notes"]]:
        yield {"level": "note", **_message(line)}


def _suppression(why: str) -> Doc:
    return {"kind": "external", "justification": make_visible(why)}


def _message(text: str) -> Doc:
    """Return a message; its text is plain, and SARIF reads {0} and [a](1) in it unless they are escaped."""
    plain = make_visible(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return {"message": {"text": plain.replace("{", "{{").replace("}", "}}")}}


def _uri(address: str) -> str:
    """Return an address within the case as a relative reference; the `!` between archive and member stays."""
    return (
        quote(address.replace("\\", "/").encode("utf-8", "replace"), safe="/!").lstrip("/") or "."
    )
