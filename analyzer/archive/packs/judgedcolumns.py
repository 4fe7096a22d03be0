"""A judgement as columns: one row for the case, its findings, its open questions, and a count per rule, its signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.archive.packs.columns import CASE, FINDINGS, SIGNALS, UNKNOWNS, VERDICTS
from analyzer.archive.packs.factcolumns import transpose_rows
from analyzer.archive.packs.parquet import Columns
from analyzer.artefacts.tables import INT64
from analyzer.case.case_file import clean_value
from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import SEVERITIES, Verdict
from analyzer.facts.database import timestamp
from analyzer.pipeline.case_data import RunResult
from analyzer.report.view import tally_case
from analyzer.signals.kinds import KindTally, tally_kinds

_INT32 = range(-(2**31), 2**31)
_FOUND = (
    "rule",
    "title",
    "node",
    "subject",
    "object",
    "verdict",
    "severity",
    "confidence",
    "say",
    "muted",
)
_STORED = ("name", "source", "tool", "catalog", "state", "why")
_DOUBT = ("rule", "node", "subject", "reason", "missing", "why", "ask", "muted")


def judged_columns(outcome: RunResult, meta: Mapping[str, Any]) -> dict[str, Columns]:
    """Return the tables of a judgement; those without rows are left out."""
    document = outcome.document
    unknowns: list[dict[str, Any]] = []
    for place, one in enumerate(outcome.judgement.cannot_tell):
        unknowns.append({**{name: _to_word(getattr(one, name)) for name in _DOUBT}, "_row": place})
    verdicts: list[dict[str, Any]] = []
    rule_texts = {rule: (title, kb) for rule, title, kb in outcome.rules}
    words = [verdict.value for verdict in Verdict]
    for verdicts_place, (rule, counts) in enumerate(sorted(outcome.judgement.counts.items())):
        title, kb = rule_texts.get(rule, (rule, ()))
        row: dict[str, Any] = {
            "rule": _to_word(rule),
            "title": _to_word(title),
            "kb": _to_numbers(kb),
        }
        verdicts.append(
            row | {word: int(counts.get(word, 0)) for word in words} | {"_row": verdicts_place}
        )
    findings = document.findings
    finding_rows: list[dict[str, Any]] = []
    for rows_place, rows_one in enumerate(findings):
        inner_row: dict[str, Any] = {name: getattr(rows_one, name) for name in _FOUND}
        inner_row |= {
            "kb": _to_numbers(rows_one.kb),
            "issues": _to_numbers(rows_one.issues),
            "finding_id": rows_one.id,
        }
        finding_rows.append(
            inner_row
            | {
                "first_seen": timestamp(rows_one.first_seen),
                "excess": _to_number(rows_one.excess),
                "_row": rows_place,
            }
        )
    kinds = tally_kinds(outcome.signals)
    tables = {
        CASE: case_columns(meta, document, len(kinds)),
        FINDINGS: transpose_rows([*finding_rows]),
        UNKNOWNS: transpose_rows([*unknowns]),
        VERDICTS: transpose_rows([*verdicts]),
        SIGNALS: transpose_rows([make_signal_row(one) for one in kinds]),
    }
    return {name: columns for name, columns in tables.items() if columns}


def make_signal_row(one: KindTally) -> dict[str, Any]:
    """Return the row of `_signals` of a kind of signal."""
    return {
        "_hash": one.hash,
        "kind": one.kind,
        "module": _to_word(one.module),
        "template": _to_word(one.template),
        "count": _to_whole(one.count, INT64),
        "machines": len(one.nodes),
        "weight": one.weight,
        "age": one.age,
    }


def case_columns(
    meta: Mapping[str, Any], document: CaseDocument | None = None, signals: int | None = None
) -> Columns:
    """Return the one row of `_case`; without a document (refused, failed) what only it tells is NULL.

    Muted findings are counted, but are never the worst. `unknowns` counts the questions of the report: things
    that are missing, each of which may settle many rules and subjects; without muted ones. `signals` are the kinds of signals.
    """
    row: dict[str, Any] = {name: _to_word(meta.get(name)) for name in _STORED}
    row |= {
        "stored": timestamp(_to_word(meta.get("stored"))),
        "seconds": _to_number(meta.get("seconds")),
    }
    row |= {
        "files": _to_whole(meta.get("files"), _INT32),
        "bytes": _to_whole(meta.get("bytes"), INT64),
    }
    if document is not None:
        case = document.case
        matches = [one for one in document.findings if one.verdict == Verdict.MATCH]
        live = [one.severity for one in matches if not one.muted]
        row |= {
            "created": timestamp(case.created),
            "first": timestamp(case.span.first if case.span else None),
            "last": timestamp(case.span.last if case.span else None),
            "complete": case.complete,
            "findings": len(matches),
            "worst": next((severity for severity in SEVERITIES if severity in live), ""),
            "unknowns": tally_case(document).questions,
            "signals": signals,
        }
    return transpose_rows([row])


def _to_word(value: object) -> str:
    if type(value) is str and value.isascii():
        return value
    return "" if value is None else str(clean_value(str(value)))


def _to_whole(value: object, most: range) -> int | None:
    """Return the number of a value, or of the list it is."""
    value = len(value) if isinstance(value, list | tuple) else value
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and value in most else None
    )


def _to_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None


def _to_numbers(articles: Sequence[int]) -> list[int]:
    return [article for article in articles if article in _INT32]
