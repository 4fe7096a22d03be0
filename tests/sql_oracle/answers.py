"""What logs say of each subject, as a table beside the subjects: one row for each subject that has lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.artefacts.tables import Block, Column, Kind, Row, Table
from analyzer.facts import Facts
from analyzer.judge.log_conditions import Answers
from analyzer.rules import Rule
from analyzer.rules.language.expression import SEEN_FIELDS
from analyzer.rules.own import OwnScope, find_scopes

UNNAMED = "~"  # behind a name: its answer for a subject of which the key is not known
_FIELDS: dict[str, Kind] = {"count": "int", "first": "time", "last": "time", "lines": "str"}


def answer_table(rule: Rule, name: str, scope: OwnScope) -> Table:
    """Return the table of the answers to one question: a column `k0`, `k1`, … for each part of the key."""
    log = rule.logs[rule.seen[name].logs[0]]
    keys = [
        Column(f"k{place}", key.kind, f"`{key.mine}` of the subject")
        for place, key in enumerate(scope.keys)
    ]
    fields = [Column(part, kind, f"`{name}.{part}`") for part, kind in _FIELDS.items()]
    return Table(
        name=f"{log.table.name}/{rule.id}/{name}?",
        meaning=f"What `{name}` is for each subject.",
        source=log.table.source,
        ask=log.table.ask,
        columns=(*keys, Column("value", "bool", f"`{name}`"), *fields),
        lines_of=log.table,
        signature=name,
    )


def answer_tables(rule: Rule) -> list[Table]:
    """Return the tables of all questions of a rule whose answers hang on the subject."""
    return [
        answer_table(rule, name, scope) for name, scope in find_scopes(rule).items() if scope.keys
    ]


def put(
    rule: Rule,
    facts: Facts,
    own: Mapping[str, OwnScope],
    answers: Mapping[str, Mapping[str, Answers]],
) -> set[str]:
    """Put the answers that hang on the subject into the facts; `answers` holds them by node and name.

    Returns the names of the tables whose rows are not those they had before.
    """
    changed: set[str] = set()
    for name, scope in own.items():
        if scope.keys:
            table = answer_table(rule, name, scope)
            rows = [
                row
                for node in sorted(answers)
                for row in _rows(table, name, node, answers[node][name])
            ]
            if facts.derive(table, rows, {}):
                changed.add(table.name)
    return changed


def _rows(table: Table, name: str, node: str, answers: Answers) -> Iterator[Row]:
    block = Block([]).assign_node(node)
    for key, answer in answers.keyed.items():
        told = answer.list_fields(name)
        values = {f"k{place}": cell for place, cell in enumerate(key)}
        values |= {"value": told[name], **{part: told[f"{name}.{part}"] for part in SEEN_FIELDS}}
        yield Row(table, values, block, 0)


def by_node(answers: Mapping[str, Mapping[str, Answers]]) -> dict[str, dict[str, Any]]:
    """Return what the query must know of each node: the answers for subjects without lines of their own."""
    found: dict[str, dict[str, Any]] = {}
    for node, own in answers.items():
        found[node] = {}
        for name, one in own.items():
            found[node] |= one.default.list_fields(name)
            if one.scope.keys:
                found[node][name + UNNAMED] = one.unknown.value
    return found
