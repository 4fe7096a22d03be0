"""What all reports show of a case: its counts, its nodes, which finding explains which.

Every function takes the case document (docs/case.md) or a part of it and
returns plain text or records. Nothing is escaped here: each report does that
for its own output.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from analyzer.report.completeness import describe_nothing
from analyzer.report.finding_rows import FindingGroup, group_findings, group_muted
from analyzer.report.open_asks import list_questions
from analyzer.report.wording import (
    Doc,
    count_noun,
    format_duration,
    format_span,
    format_time,
    join_few,
    write_plural,
)

SEVERITIES = ("critical", "major", "warning", "info")
COUNTED = (*SEVERITIES, "exposed", "error")  # the words of `counts`


@dataclass(frozen=True, slots=True)
class CaseTally:
    """The counts of a case, from which every page, report, list and archive takes its own. Muted ones are apart.

    findings   (word, number) of what was found, zeros left out: one finding is one rule at one severity and
               confidence, on however many subjects; COUNTED are the words
    rules      rules that found something or broke
    subjects   subjects that are ill, each once for every rule
    questions  things that are missing so that something cannot be told, each one block of the report
    quiet      rules that looked at something and found nothing
    idle       rules that had nothing to check
    muted      findings and questions that local settings fold away
    """

    findings: tuple[tuple[str, int], ...]
    rules: int
    subjects: int
    questions: int
    quiet: int
    idle: int
    muted: int


def tally_case(doc: Doc) -> CaseTally:
    """Return the counts of a case document."""
    rows = group_findings(doc)
    words = Counter("exposed" if row.hollow else row.word for row in rows)
    matches = [cut for cut in doc["cuts"] if cut["verdict"] == "match"]
    return CaseTally(
        findings=tuple((word, words[word]) for word in COUNTED if words[word]),
        rules=len({row.first["rule"] for row in rows}),
        subjects=sum(len(row.findings) for row in rows if row.word != "error")
        + sum(cut["subjects"] - cut["full"] - cut["short"] for cut in matches),
        questions=len(list_questions(doc)),
        quiet=len(list_quiet(doc)),
        idle=len(list_not_applicable(doc)),
        muted=count_silenced(doc),
    )


def list_counts(doc: Doc) -> list[tuple[str, int]]:
    """Return (word, findings) for what was found: severities, then "exposed" and "rule error"; zeros left out.

    A finding that rests on a version alone counts as exposed and not by its severity.
    """
    return list(tally_case(doc).findings)


def write_headline(doc: Doc) -> str:
    """Return the counts in one sentence, each with its unit."""
    all_ = tally_case(doc)
    found = ", ".join(
        f"{n:,} {write_plural(word, n)}" for word, n in all_.findings
    ) or describe_nothing(doc)
    if all_.findings:
        units = [
            count_noun(all_.rules, "rule", "rules"),
            count_noun(all_.subjects, "object", "objects"),
        ]
        found += f" ({', '.join(filter(None, units))})"
    parts = [
        found,
        describe_open_questions(all_.questions),
        f"quiet: {count_noun(all_.quiet, 'rule', 'rules') or 'none'}",
    ]
    if all_.muted:
        parts.append(f"muted: {count_noun(all_.muted, 'entry', 'entries')}")
    return "; ".join(parts)


def describe_open_questions(number: int) -> str:
    """Return how many questions are open, in the words that every report and list uses."""
    return f"cannot tell: {count_noun(number, 'question', 'questions') or 'none'}"


def count_silenced(doc: Doc) -> int:
    """Return how many rows are muted: findings and things that cannot be told, folded as the report folds them."""
    return len(group_muted(doc)) + len(list_questions(doc, muted=True))


def name_findings(doc: Doc) -> dict[str, str]:
    """Return how another finding speaks of each: title and subject, by id."""
    return {
        one["id"]: f"{one['title']} ({one['subject']}{', muted' if one['muted'] else ''})"
        for one in doc["findings"]
    }


def list_causes(doc: Doc, finding: Doc) -> list[tuple[str, str]]:
    """Return what explains a finding: the words that lead to it, and its id.

    A cause of several comes before what it explains itself, as in the document; what is muted comes last.
    """
    wanted = set(finding["explained_by"])
    found = [one for one in doc["findings"] if one["id"] in wanted] if wanted else []
    live = [one["id"] for one in found if not one["muted"]]
    out = [
        ("Then fix this" if number else "Fix this first", one) for number, one in enumerate(live)
    ]
    return out + [("Explained by", one) for one in finding["explained_by"] if one not in live]


def group_by_title(doc: Doc, ids: list[str]) -> list[tuple[str, list[str]]]:
    """Return the findings of some ids by their titles, each title once: one fault on three subjects is one link."""
    known = {one["id"]: one["title"] for one in doc["findings"] if one["id"] in set(ids)}
    found: dict[str, list[str]] = {}
    for one in ids:
        found.setdefault(known.get(one, one), []).append(one)
    return list(found.items())


def describe_causes(doc: Doc, finding: Doc) -> list[tuple[str, str]]:
    """Return what explains a finding in words: what leads to it, and title and objects of each cause."""
    told = name_findings(doc) if finding["explained_by"] else {}
    known = {one["id"]: one for one in doc["findings"]} if finding["explained_by"] else {}
    return [
        (lead, told.get(ids[0], ids[0]))
        if len(ids) == 1
        else (
            lead,
            f"{known[ids[0]]['title']} ({join_few(FindingGroup([known[one] for one in ids]).names, 6)})",
        )
        for lead, ids in list_first_fixes(doc, finding)
    ]


def has_one_fix(doc: Doc, row: FindingGroup) -> bool:
    """Tell whether the same steps help all objects of a row, and wait for a cause with all of them or with none."""
    return (
        row.is_same("fix") and len({waits_for_cause(doc, finding) for finding in row.findings}) == 1
    )


def list_first_fixes(doc: Doc, finding: Doc) -> list[tuple[str, list[str]]]:
    """Return what explains a finding as `causes` does, causes with the same title together."""
    leads = {one: lead for lead, one in list_causes(doc, finding)}
    return [(leads[ids[0]], ids) for _, ids in group_by_title(doc, list(leads))]


def waits_for_cause(doc: Doc, finding: Doc) -> bool:
    """Tell whether the fix of a finding waits until another finding of the case, its cause, is fixed."""
    causes = set(finding["explained_by"])
    return bool(causes) and any(one["id"] in causes and not one["muted"] for one in doc["findings"])


def list_quiet(doc: Doc) -> list[Doc]:
    """Return rules that looked at something and found nothing."""
    return [row for row in doc["quiet"] if row["looked_at"]]


def find_usual_status(doc: Doc) -> str:
    """Return the status that most rules of the findings have; it is said once, and `marks` has those of the others."""
    known = Counter(finding["status"] for finding in doc["findings"] if finding["status"])
    return max(known, key=lambda status: (known[status], status), default="")


def describe_usual_status(doc: Doc, usual: str) -> str:
    """Return in a sentence that the rules of the findings are not proven yet; empty where most of them are."""
    if usual in ("", "stable"):
        return ""
    every = all(finding["status"] in ("", usual) for finding in doc["findings"])
    which = "All findings" if every else "Findings without a mark of their rule"
    return (
        f"{which} come from {usual} rules, not yet proven on many real cases: check the evidence."
    )


def list_marks(finding: Doc, usual: str) -> list[str]:
    """Return what a reader should know of the rule: a status that is not the usual one, that it is not of the tool.

    usual  `usual_status` of the case
    """
    status = finding["status"]
    odd = status not in ("", usual)
    return [
        *([f"{status} rule"] if odd else []),
        *([finding["origin"]] if finding["origin"] else []),
    ]


def list_not_applicable(doc: Doc) -> list[Doc]:
    """Return rules that had nothing to check."""
    return [row for row in doc["quiet"] if not row["looked_at"]]


def list_facts(node: Doc) -> list[str]:
    """Return what a node is, in parts: product and version, uptime, time of capture."""
    version = " ".join(part for part in (node["product"] or node["kind"], node["version"]) if part)
    if node["build"]:
        version += f" build {node['build']}"
    if node["release"]:
        version += f", {node['release']}"
    parts = [version] if version else []
    if isinstance(node["uptime_s"], int | float):
        parts.append(f"up {format_duration(node['uptime_s'])}")
    if node["captured"]:
        parts.append(f"captured {format_time(node['captured'])}")
    if node["logs"]:
        first = min((log["first"] for log in node["logs"] if log["first"]), default="")
        last = max((log["last"] for log in node["logs"] if log["last"]), default="")
        if first and last:
            parts.append(f"logs {format_span(first, last)}")
    return parts
