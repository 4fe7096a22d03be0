"""Texts with values in them: `{name}`, `{alias.column}`, with an optional format like `{lost:.3%}`.

A number may bring its noun, as `{samples|sample|samples}`: the word after 1, and after any other number.

Never `str.format`: a template is cut up when the rule is loaded, what is in braces is
checked as every expression is, and a format may hold nothing but fill, sign, width,
precision and type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from analyzer.rules.language.checker import check_expression
from analyzer.rules.language.expression import ExprNode, NameScope
from analyzer.rules.language.rulefile import RuleItem, RuleText
from analyzer.runtime.text import count_once

UNKNOWN = "unknown"
UNKNOWN_TIME = "an unknown time"
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NOUN = re.compile(r"\|([^|{}'\"]+)\|([^|{}'\"]+)$")
_PARTS = (
    4096  # texts between values that are remembered: a storm writes the same ones for each object
)
_COUNTS = re.compile(
    r"\|time\|times\}|\b(?:first|last)(?: time)? at \{|\} to \{"
)  # a text that may be of one event
# What a rule or a parser says of the machine of its subject; a text that is read has the machine's name there.
_OWN = re.compile(
    r"\b(?P<this>[Tt]his) (?P<noun>host|machine|edge|node|manager|system)\b(?! (?:kernel|name)\b)"
)
NO_OBJECT = {
    "host": "the host",
    "node": "the node",
}  # what a cell holds that speaks of no object of its machine
DAY = "%Y-%m-%d"  # the one format of a time: the day alone
_SPEC = re.compile(r"(?:[^{}]?[<>=^])?[-+ ]?0?\d{0,2}[,_]?(?:\.\d{1,2})?[deEfFgGnsxX%]?$")


@dataclass(frozen=True, slots=True)
class Template:
    """A text cut into literal parts and checked values with their format, behind it their noun: `,|sample|samples`."""

    text: str
    parts: tuple[str | tuple[ExprNode, str], ...]

    def nodes(self) -> list[ExprNode]:
        """Return the values it shows."""
        return [part[0] for part in self.parts if not isinstance(part, str)]

    def fill(
        self,
        value: Callable[[ExprNode], object],
        bound: Callable[[ExprNode], str] | None = None,
        machine: str = "",
    ) -> tuple[str, bool]:
        """Return the text with its values, and whether all of them are known.

        machine  name of the machine of the subject: it is in the place of `this host`
        bound  gives what is at a value that is only a bound: before it `at least `, `at most `, after a time
               ` or later`, ` or earlier`, else ""
        """
        out: list[str] = []
        known = True
        for part in self.parts:
            if isinstance(part, str):
                out.append(name_machine(part, machine))
                continue
            found = value(part[0])
            if machine and found in NO_OBJECT.values():
                found = machine
            known = known and found is not None
            mark = bound(part[0]) if bound is not None and found is not None else ""
            shown = (
                UNKNOWN_TIME
                if found is None and part[0].type == "time"
                else show_value(found, part[1])
            )
            out.append(shown if mark and "".join(out).endswith(mark) else _mark_cut(shown, mark))
        text = "".join(out)
        return count_once(text) if _COUNTS.search(self.text) else text, known

    def values(
        self, value: Callable[[ExprNode], object], bound: Callable[[ExprNode], str]
    ) -> dict[str, str]:
        """Return the values it shows by the names they have in the rule, as they are printed; `bound` as in `fill`."""
        parts = (part for part in self.parts if not isinstance(part, str))
        made = ((node, value(node), spec) for node, spec in parts)
        return {
            node.text: _mark_cut(
                show_value(one, _NOUN.sub("", spec)), bound(node) if one is not None else ""
            )
            for node, one, spec in made
        }


@lru_cache(maxsize=_PARTS)
def name_machine(text: str, machine: str) -> str:
    """Return a text of a rule with the name of the machine in the place of `this host`, or a plain noun."""

    def name(found: re.Match[str]) -> str:
        if machine:
            return machine
        return f"{'The' if found['this'] == 'This' else 'the'} {found['noun']}"

    return _OWN.sub(name, text)


def _mark_cut(shown: str, mark: str) -> str:
    return shown + mark if mark.startswith(" ") else mark + shown


def show_value(value: object, spec: str = "") -> str:
    """Return a value as a report prints it; an unknown one is "unknown"."""
    noun = _NOUN.search(spec)
    if noun is not None:
        return f"{show_value(value, spec[: noun.start()])} {noun[1 if value == 1 else 2]}"
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return format(value, spec or "%Y-%m-%d %H:%M:%S UTC")
    if spec:
        try:
            shown = format(value, spec)
        except (ValueError, OverflowError):
            return str(value)
        is_share = spec.endswith("%") and isinstance(value, float) and value > 0
        if is_share and not any(sign in shown for sign in "123456789"):
            smallest = re.sub(r"0(?=\D*$)", "1", shown)
            return f"less than {smallest}"
        return shown
    if isinstance(value, float):
        return show_number(value)
    return str(value)


def show_noun(spec: str) -> list[str]:
    """Return the noun that a format brings, in its plural; no word where it brings none."""
    noun = _NOUN.search(spec)
    return [noun[2]] if noun is not None else []


def show_number(value: float) -> str:
    """Return a float in at most six significant digits, without needless zeros."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def parse_template(
    item: RuleItem, rule: RuleText, scope: NameScope, *, prose: bool = False
) -> Template:
    """Return the template of a text; raises BadRuleError for an unknown name or a wrong format.

    In `prose` amounts without a format of their own have separators. A text that may be typed in has none.
    """
    text = rule.string(item, "a text")
    parts: list[str | tuple[ExprNode, str]] = []
    at = 0
    for found in _FIELD.finditer(text):
        parts.append(text[at : found.start()])
        at = found.end()
        whole = found.group()
        if whole in ("{{", "}}"):
            parts.append(whole[0])
            continue
        if found[1] is None:
            place = rule.within(item, found.start(), found.end())
            raise rule.error(f"a lone `{whole}`", place, f"write `{whole * 2}` for the sign itself")
        place = rule.within(item, found.start(1), found.end(1))
        noun = _NOUN.search(found[1])
        words = noun.group() if noun is not None else ""
        name, _, spec = found[1].removesuffix(words).partition(":")
        if not name.strip():
            raise rule.error("the braces are empty", place, "write {{ for the sign itself")
        inner = RuleItem(name, place, name)
        node = check_expression(inner, rule, scope)
        is_day = node.type == "time" and spec == DAY
        if spec and not is_day and not (_SPEC.match(spec) and _is_format(node.type, spec)):
            raise rule.error(
                f"format `{spec[:40]}` does not suit `{name}`",
                place,
                "for example {lost:.3%} or {n:,}",
            )
        if words and not (prose and node.type in ("int", "float")):
            why = (
                f"`{name}` is no number"
                if prose
                else "a noun after a number goes with texts that are read, as `say`"
            )
            raise rule.error(why, place, "leave the noun out of the braces")
        if not spec and prose and is_amount(node, scope):
            spec = ","
        parts.append((node, spec + words))
    parts.append(text[at:])
    return Template(text, tuple(part for part in parts if part != ""))


def _is_format(type_: str, spec: str) -> bool:
    sample: object = {"int": 7, "float": 0.5}.get(type_, "text")
    try:
        format(sample, spec)
    except ValueError:
        return False
    return True


_KEEPS = frozenset(("let", "neg", "+", "-", "*", "least", "greatest", "sum", "max", "min"))


def is_amount(node: ExprNode, scope: NameScope) -> bool:
    """Say whether a whole number counts or measures something.

    A column is an amount when its table declares a unit; ports, builds, ids and settings have none. A number
    that a rule names, and what is reckoned from amounts alone, is one as well.
    """
    if node.type != "int":
        return False
    if node.op == "count" or (node.op == "seen_field" and node.column == "count"):
        return True
    if node.op == "column":
        alias = scope.aliases.get(node.name, scope.bare)
        column = alias.column(node.column) if alias is not None else None
        return column is not None and bool(column.unit)
    if node.op == "literal":  # a number that the rule's author gave a name
        return True
    return node.op in _KEEPS and all(is_amount(part, scope) for part in node.args)
