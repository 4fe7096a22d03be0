"""Parses what an engineer types into the archive's search field.

    nodes: version < "6.5"; esxi.vnic: mtu > 1500    terms, parted by semicolons: which machines fulfil all
    …; same: pnic                                    and their rows must agree in this column
    kb-2039495                                       findings of a rule
    KB 2039495                                       findings of the rules that name an article
    lost connectivity                                cases and machines of a name; findings and kept lines with a text
    severity: major                                  cases with a finding this severe or worse
    host: esx01                                      cases and machines of that name
    driver: ixgben; version: 6.7.0                   machines with this driver, of this version
    "nodes: no term"                                 in quotes always a text

An empty field lists the cases. Errors point into the field as it was typed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from analyzer.archive.query import terms
from analyzer.archive.query.terms import FieldPart, Term, split_field
from analyzer.artefacts import parsing
from analyzer.case.verdicts import SEVERITIES
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.text import one_line

CASES, MACHINES, FINDINGS, TEXT = "cases", "machines", "findings", "text"
LONGEST = 4000  # characters of a question
MOST = 12  # terms of one question
_HEAD = re.compile(r"\s*([A-Za-z_][\w.]*)\s*:(.*)", re.DOTALL)
_CONDITION = re.compile(r"[<>=~!]|\b(?:in|is|not|and|or|contains|matches)\b")
_SAME = re.compile(r"\s*same\s*:\s*[\w.#]+\s*")
_ARTICLE = re.compile(r"(kb)?[\s:#-]*(\d{4,9})", re.IGNORECASE)
_RULE = re.compile(r"[a-z0-9]+(?:-[a-z0-9.]+)+")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `sure` is False when a rule or an article may as well be meant as a text."""

    kind: str
    terms: tuple[Term, ...] = ()
    same: str = ""
    rule: str = ""
    kb: int | None = None
    text: str = ""
    sure: bool = True
    severity: str = ""
    names: bool = False  # cases and machines of this name, and no text


class Misread(BacklineError):
    """A question that cannot be asked: what is wrong, where in the field (from 0, in characters), what to do."""

    exit_code = 2

    def __init__(self, what: str, *, start: int = 0, width: int = 1, do: str = "") -> None:
        super().__init__(what, do=do)
        self.start, self.width = start, width


def read_question(field: str) -> Question:
    """Return what is asked; raises Misread for a term with a mistake."""
    if len(field) > LONGEST:
        raise Misread(
            "the question is too long",
            start=LONGEST,
            do=f"At most {LONGEST:,} characters are accepted.",
        )
    parts = [part for part in split_field(field) if part.text.strip()]
    if not parts:
        return Question(CASES)
    whole = field.strip()
    if len(whole) > 1 and whole[0] == whole[-1] == '"' and '"' not in whole[1:-1]:
        return _read_text(whole[1:-1])
    if short := _read_facet(whole):
        return short
    if _is_term(parts[0].text):
        if len(parts) > MOST:
            raise Misread(
                "these are too many terms",
                start=parts[MOST].start,
                do=f"At most {MOST} are accepted.",
            )
        agreed = [part for part in parts if _SAME.fullmatch(part.text)]
        if len(agreed) > 1:
            raise Misread(
                "the rows can share only one column",
                start=agreed[1].start,
                width=len(agreed[1].text),
            )
        wanted = [part for part in parts if part not in agreed]
        same = agreed[0].text.partition(":")[2].strip() if agreed else ""
        return Question(
            MACHINES, tuple(_read_term(part, number) for number, part in enumerate(wanted, 1)), same
        )
    prefix, _, rest = whole.partition(":")
    if prefix == "text":
        return _read_text(rest.strip())
    if prefix == "rule" and rest.strip():
        return Question(FINDINGS, rule=rest.strip(), text=whole)
    if _RULE.fullmatch(whole):
        return Question(FINDINGS, rule=whole, text=whole, sure=False)
    article = _ARTICLE.fullmatch(whole)
    if article:
        return Question(FINDINGS, kb=int(article[2]), text=whole, sure=bool(article[1]))
    return _read_text(whole)


def _read_facet(whole: str) -> Question | None:
    """Return what `severity: major`, `host: NAME`, `driver: NAME` or `version: X` asks; None for anything else."""
    word, found, value = (part.strip() for part in whole.partition(":"))
    if not found or not value or ";" in value or '"' in value:
        return None
    word = word.lower()
    if word == "severity" and value.lower() in SEVERITIES:
        return Question(CASES, severity=value.lower())
    if word in ("host", "name"):
        return Question(TEXT, text=value, names=True)
    return None


def _read_text(text: str) -> Question:
    if not text.strip():
        raise Misread("there is no text to search for", do="Write it between the quotes.")
    return Question(TEXT, text=text)


def _is_term(text: str) -> bool:
    """Tell a term from a text that holds a colon."""
    known = {*parsing.tables(), terms.NODES.name, terms.ADAPTERS.name}
    if text.strip() in known or terms.spelled_out(text):
        return True
    found = _HEAD.match(text)
    if found is None or found[1] in ("text", "rule", "kb", "KB"):
        return False
    if found[1] in known or "." in found[1] or _CONDITION.search(found[2]):
        return True
    short = found[1].lower() in (*terms.SHORT, "host", "name", "severity")
    return not short and bool(
        terms.nearest_field(found[1])
    )  # `drivr: i40en` gets a hint what was meant


def _read_term(part: FieldPart, number: int) -> Term:
    try:
        return terms.read_term(part.text, number)
    except BadRuleError as error:
        lines = part.text.split("\n")[: max(0, error.place.line - 1)]
        start = part.start + sum(len(line) + 1 for line in lines) + error.place.column - 1
        raise Misread(error.message, start=start, width=error.place.width, do=error.help) from None


def mistake_record(error: Misread, field: str) -> dict[str, Any]:
    """Return what the page shows of a mistake: the line of the field, and the caret below it."""
    start = min(error.start, len(field))
    first = field.rfind("\n", 0, start) + 1
    line = field[first:].partition("\n")[0]
    column = start - first
    width = max(1, min(error.width, len(line) - column))
    return {
        "line": one_line(line),
        "caret": " " * len(one_line(line[:column])) + "^" * width,
        "start": start,
        "end": min(start + width, len(field)),
    }
