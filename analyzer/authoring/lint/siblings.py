"""Complaints about signs that know one of several words for the same: the table `kb.sibling` says which there are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from analyzer.artefacts.tables import Table, Tables, Value
from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import LogDef, Rule

SIBLINGS = "kb.sibling"
# `\b` and its like are no letters of the word that a pattern looks for.
_ESCAPES = re.compile(r"\\[bBdDsSwWAZ]")
_PLAIN = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class SiblingForm:
    """A form of a family: its name, the tables that hold it, its words, and the rule that knows it for all others."""

    name: str
    logs: tuple[str, ...]
    words: re.Pattern[str]
    rule: str


@dataclass(frozen=True, slots=True)
class SpokenSign:
    """What a signature of a rule says: its log, its patterns in plain words, and the lines of examples that it finds."""

    name: str
    log: str
    pattern: re.Pattern[str]
    words: str
    lines: tuple[str, ...]


def check_siblings(file: RuleFile, tables: Tables) -> None:
    """Keep the complaints about signs that know a form of a family and not the others."""
    table = tables.get(SIBLINGS)
    if file.rule is None or file.is_retired or table is None or table.given is None:
        return
    signs = read_signs(file.rule)
    for family, forms in read_families(table).items():
        known = [form for form in forms if find_sign(signs, form)]
        missing = [form.name for form in forms if not form.rule and not knows(signs, forms, form)]
        if known and missing:
            sign = find_sign(signs, known[0])
            names = ", ".join(form.name for form in known)
            text = f"`{sign}` knows {names} ({family}), and not {', '.join(missing)}"
            help_text = "add the others under `also`, with an example, or say in a comment why there are none"
            file.complain("R092", text, file.find_place("logs", sign, "match"), help_text)


@lru_cache(maxsize=8)  # each rule of a catalog asks for the same table
def read_families(table: Table) -> dict[str, list[SiblingForm]]:
    """Return the forms of each family, in the order of the table."""
    found: dict[str, list[SiblingForm]] = {}
    rows: Sequence[tuple[str, int, Mapping[str, Value]]] = table.given.rows if table.given else ()
    for _, _, cells in rows:
        words = compile_words(str(cells["words"]))
        logs = tuple(str(cells["log"]).split())
        form = SiblingForm(str(cells["form"]), logs, words, str(cells.get("rule") or ""))
        found.setdefault(str(cells["family"]), []).append(form)
    return found


def read_signs(rule: Rule) -> list[SpokenSign]:
    """Return what each signature of a rule says."""
    lines = [
        line
        for example in rule.examples
        if example.expect.get("result") == "match"
        for text in example.logs.values()
        for line in (text or "").splitlines()
    ]
    return [read_sign(log, lines) for log in rule.logs.values()]


def read_sign(log: LogDef, lines: Sequence[str]) -> SpokenSign:
    """Return what one signature says; of `lines` those that it finds."""
    pattern = re.compile(log.pattern, re.IGNORECASE if log.ignore_case else 0)
    words = [_PLAIN.sub(r"\1", _ESCAPES.sub(" ", form)) for form in log.list_forms()]
    found = tuple(line for line in lines if pattern.search(line))
    return SpokenSign(log.name, log.table.name, pattern, "\n".join(words), found)


def find_sign(signs: Sequence[SpokenSign], form: SiblingForm) -> str:
    """Return the name of the first signature that has the words of a form, "" when none has."""
    for sign in signs:
        texts = (sign.words, *sign.lines)
        if sign.log in form.logs and any(form.words.search(text) for text in texts):
            return sign.name
    return ""


def knows(signs: Sequence[SpokenSign], forms: Sequence[SiblingForm], form: SiblingForm) -> bool:
    """Say whether some signature has the words of a form, or finds a line of a sibling with the form's name in it."""
    if find_sign(signs, form):
        return True
    for sign in signs:
        for line in sign.lines if sign.log in form.logs else ():
            for other in forms:
                swapped = other.words.sub(form.name, line)
                if swapped != line and sign.pattern.search(swapped):
                    return True
    return False


@lru_cache(maxsize=512)
def compile_words(words: str) -> re.Pattern[str]:
    """Return the words of a form, compiled."""
    return re.compile(words)
