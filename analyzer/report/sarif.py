"""Findings as SARIF 2.1.0, the format that code hosts, editors and dashboards read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. Its kinds of results are the answers of a rule:
`fail` is a finding, `open` a question that cannot be told, `pass` a rule that looked and found nothing. Severities have
three levels there: critical and major are `error`; the word itself stands in `properties.severity`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

from analyzer.report.wording import Doc, link_article, word_label
from analyzer.runtime.text import visible

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {"critical": "error", "major": "error", "warning": "warning", "info": "note"}
EVIDENCE = 10  # lines of a finding; all of them are in case.json


def render_sarif(doc: Doc) -> str:
    """Return the log of one run: the same document gives the same bytes."""
    rules = _list_rules(doc)
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    tool = {"name": "Backline", "version": doc["tool"]["version"] or "0", "rules": rules}
    run = {
        "tool": {"driver": tool},
        "invocations": [
            {
                "executionSuccessful": _is_whole(doc),
                "toolExecutionNotifications": list(_list_notifications(doc)),
            }
        ],
        "artifacts": [_describe_file(file) for file in doc["case"]["files"]],
        "columnKind": "unicodeCodePoints",
        "results": list(_list_results(doc, places)),
        "properties": {"case": visible(doc["case"]["name"]), "catalog": doc["tool"]["catalog"]},
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def _is_whole(doc: Doc) -> bool:
    return bool(doc["case"]["complete"]) and not any(
        finding["verdict"] == "error" for finding in doc["findings"]
    )


def _list_rules(doc: Doc) -> list[Doc]:
    """Return every rule that said something, by id."""
    found: dict[str, Doc] = {}
    for row in [*doc["findings"], *doc["quiet"]]:
        if row["rule"] not in found:
            found[row["rule"]] = _describe_rule(row["rule"], row["title"], row["kb"])
    for group in doc["cannot_tell"]:
        for rule in group["rules"]:
            found.setdefault(rule, {"id": rule})
    return [found[key] for key in sorted(found)]


def _describe_rule(key: str, title: str, kb: list[int]) -> Doc:
    rule: Doc = {"id": key, "shortDescription": {"text": visible(title)}}
    return rule | {"helpUri": link_article(kb[0])} if kb else rule


def _describe_file(file: Doc) -> Doc:
    found: Doc = {"location": {"uri": _write_uri(file["name"])}, "roles": ["analysisTarget"]}
    if file["size"] is not None:
        found["length"] = file["size"]
    return found | {"hashes": {"sha-256": file["sha256"]}} if file["sha256"] else found


def _list_results(doc: Doc, places: dict[str, int]) -> Iterator[Doc]:
    for finding in doc["findings"]:
        if finding["verdict"] == "match":
            yield {
                "ruleId": finding["rule"],
                "ruleIndex": places[finding["rule"]],
                **_describe_finding(finding),
            }
    for group in doc["cannot_tell"]:
        said = f"Cannot tell: {group['why']}." + (
            f" Ask for: {group['ask']}." if group["ask"] else ""
        )
        more: Doc = {"properties": {key: group[key] for key in ("missing", "nodes", "subjects")}}
        if group["muted"]:
            more["suppressions"] = [_suppress(group["muted"])]
        for rule in group["rules"]:
            yield {
                "ruleId": rule,
                "ruleIndex": places[rule],
                "kind": "open",
                "level": "none",
                **_write_message(said),
                **more,
            }
    for row in doc["quiet"]:
        if row["looked_at"]:
            said = f"Looked at {row['looked_at']:,}, found nothing."
            rule = {"ruleId": row["rule"], "ruleIndex": places[row["rule"]]}
            yield {**rule, "kind": "pass", "level": "none", **_write_message(said)}


def _describe_finding(finding: Doc) -> Doc:
    said = f"{finding['title']}: {finding['subject']}. {finding['say']}"
    evidence = finding["evidence"]
    found: Doc = {
        "kind": "fail",
        "level": LEVELS[finding["severity"]],
        **_write_message(said),
        "partialFingerprints": {"findingId/v1": visible(finding["id"])},
        "properties": {
            "severity": finding["severity"],
            "confidence": finding["confidence"],
            "node": visible(finding["node"]),
            "evidence": len(evidence),
        },
    }
    if evidence:
        found["locations"] = [_locate_evidence(evidence[0], finding)]
        found["relatedLocations"] = [_locate_evidence(one, None) for one in evidence[1:EVIDENCE]]
    if finding["muted"]:
        found["suppressions"] = [_suppress(finding["muted"])]
    return found


def _locate_evidence(evidence: Doc, finding: Doc | None) -> Doc:
    region: Doc = {"snippet": {"text": visible(evidence["text"])}}
    if evidence["line"]:
        region = {"startLine": evidence["line"], **region}
    place: Doc = {"artifactLocation": {"uri": _write_uri(evidence["address"])}}
    if evidence["line"]:
        place["region"] = region
    found: Doc = {"physicalLocation": place, **_write_message(word_label(evidence["label"]))}
    if finding is not None and finding["node"]:
        found["logicalLocations"] = [{"name": visible(finding["node"]), "kind": "resource"}]
    return found


def _list_notifications(doc: Doc) -> Iterator[Doc]:
    for finding in doc["findings"]:
        if finding["verdict"] == "error":
            yield {"level": "error", **_write_message(f"{finding['rule']}: {finding['say']}")}
    for item in doc["damage"]:
        yield {
            "level": "warning",
            **_write_message(f"{item['address']}: {item['what']}; left out: {item['left_out']}"),
        }
    for line in [*doc["limits"], *doc["notes"]]:
        yield {"level": "note", **_write_message(line)}


def _suppress(why: str) -> Doc:
    return {"kind": "external", "justification": visible(why)}


def _write_message(text: str) -> Doc:
    """Return a message; its text is plain, and SARIF reads {0} and [a](1) in it unless they are escaped."""
    plain = visible(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return {"message": {"text": plain.replace("{", "{{").replace("}", "}}")}}


def _write_uri(address: str) -> str:
    """Return an address within the case as a relative reference; the `!` between archive and member stays."""
    return (
        quote(address.replace("\\", "/").encode("utf-8", "replace"), safe="/!").lstrip("/") or "."
    )
