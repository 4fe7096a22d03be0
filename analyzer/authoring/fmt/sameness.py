"""Whether two texts of a rule say the same: all parts of both rules are compared, but for names of examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from analyzer.artefacts.tables import Column, Table
from analyzer.rules import Example, Rule
from analyzer.rules.language.expression import Alias, ExprNode
from analyzer.rules.language.template import Template

# Parts of a rule that are no part of what it says; `ask` is compared by what it comes to.
_APART = {"text", "path", "origin", "read_examples", "_examples", "ask", "revised"}


def same_rule(one: Rule, two: Rule, names: Mapping[str, str] | None = None) -> bool:
    """Tell whether two rules are the same but for some names of the one: `names` has them with those of the other."""
    if _told(one, names or {}) != _told(two, {}):
        return False
    tables = {log.table.name: log.table for log in one.logs.values()}.values()
    if not tables and one.ask != two.ask:
        return False
    return all(one.ask_for(table) == two.ask_for(table) for table in tables) and _proofs(one, two)


def _proofs(one: Rule, two: Rule) -> bool:
    """Tell whether each example of the one is an example of the other, which may expect more, or is made for it."""
    theirs = [(_given(example), example) for example in two.examples]

    def proven(example: Example) -> bool:
        given, wanted = _given(example), example.expect
        alike = [other for material, other in theirs if material == given]
        return any(other.made or wanted.items() <= other.expect.items() for other in alike)

    return all(proven(example) for example in one.examples if not example.made)


def _given(example: Example) -> Any:
    return (dict(example.tables), _ended(example.logs), example.files, example.cut, example.gap)


def _ended(logs: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: text if text is None else text.rstrip("\n") for name, text in logs.items()}


def _told(part: Any, names: Mapping[str, str]) -> Any:
    """Return a part of a rule as plain values, with other names in the place of some."""
    if isinstance(part, ExprNode):
        own = (part.op, part.type, names.get(part.name, part.name), part.column, part.value)
        return (*own, [_told(child, names) for child in part.args])
    if isinstance(part, Template):
        return [
            one if isinstance(one, str) else (_told(one[0], names), one[1]) for one in part.parts
        ]
    if isinstance(part, Alias):
        return (names.get(part.name, part.name), _told(part.table, names), part.many)
    if isinstance(part, Column):
        return (part.name, part.kind)
    if isinstance(part, Table):
        return (names.get(part.signature, part.signature) or part.name, part.key)
    if isinstance(part, Mapping):
        return {names.get(str(key), key): _told(value, names) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_told(one, names) for one in part]
    if is_dataclass(part) and not isinstance(part, type):
        return [_told(getattr(part, name), names) for name in _names_of(part)]
    if isinstance(part, str):
        head, dot, column = part.partition(".")  # `dev.device` of a join
        return f"{names[head]}{dot}{column}" if head in names else part
    return part


def _names_of(part: Any) -> Iterator[str]:
    known: Iterable[Any] = fields(part)
    yield from (field.name for field in known if field.name not in _APART)
