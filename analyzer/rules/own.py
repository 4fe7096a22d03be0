"""Which lines of a signature belong to a subject, and by which columns.

In a rule that judges each device, the name of a signature or of a question to its hits means the lines of that
device, in conditions, texts and evidence alike. The columns that tell come from `each … per device`, else from
the joins that put a signature's lines next to the subject: `join: {hit: {table: late, by: {name: device}}}`. A
signature without such a column (a line that names no device) speaks of the whole machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analyzer.artefacts.tables import Column, ColumnValueError, Kind, Value, convert_cell
from analyzer.rules.model import Rule, SeenDef

# Columns whose values are names: written with other capitals they name the same thing.
NAMES = ("host", "hostname", "vm", "vm_name", "client_vm", "client_name", "name")

Key = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class OwnColumn:
    """A column of the subject, `alias.column`, and its kind; `folds` when capitals do not matter."""

    mine: str
    kind: Kind
    folds: bool = False

    def cell(self, value: Value) -> Value:
        """Return a value as it is compared; None when it is unknown or not of the column's kind."""
        if isinstance(value, str) and self.kind != "str":
            try:
                value = convert_cell(Column("key", self.kind, ""), value)
            except ColumnValueError:
                return None
        return value.lower() if self.folds and isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class OwnScope:
    """The key of a question's answers, and for each of its signatures the columns by which its lines belong to it.

    keys     columns of the subject; none: the answer is the whole machine's
    columns  signature -> (place in `keys`, column of its lines)
    """

    keys: tuple[OwnColumn, ...] = ()
    columns: Mapping[str, tuple[tuple[int, str], ...]] | None = None

    def of(self, log: str) -> tuple[tuple[int, str], ...]:
        """Return by which columns the lines of a signature belong to a key."""
        return self.columns.get(log, ()) if self.columns else ()


def find_scopes(rule: Rule) -> dict[str, OwnScope]:
    """Return the scope of every `seen` name of a rule."""
    each = next((hit for hit in rule.hits if hit.table.name == rule.each.table.name), None)
    joined: dict[str, dict[str, str]] = {}
    for join in rule.joins:
        pairs = {
            theirs: mine
            for mine, theirs in join.by
            if "node" not in (theirs, mine.rpartition(".")[2])
        }
        if join.alias.table.lines_of is not None and pairs:
            joined.setdefault(join.alias.table.signature, pairs)
    if each is not None:
        common = {
            signature: f"{rule.each.name}.{signature}"
            for signature in each.per
            if signature != "node"
        }
        joined = {} if not each.per else joined
    else:
        common = {}
        for pairs in joined.values():
            common = pairs | common
    found = {}
    for signature, log in rule.logs.items():
        names = {column.name for column in (*log.columns, *log.table.columns)}
        shared = {theirs: mine for theirs, mine in common.items() if theirs in names}
        found[signature] = (
            shared or joined.get(signature, {})
            if each is not None
            else joined.get(signature) or shared
        )
    if not any(found.values()):
        return {}
    return {name: _find_scope(rule, seen, found) for name, seen in rule.seen.items()}


def _find_scope(rule: Rule, seen: SeenDef, own: Mapping[str, Mapping[str, str]]) -> OwnScope:
    """Return the scope of one question: the key is that of the signature that tells most."""
    finest = max((own[log] for log in seen.logs), key=len)
    if not finest:
        return OwnScope()
    mines = tuple(dict.fromkeys(finest.values()))
    theirs = [(column, mine) for log in seen.logs for column, mine in own[log].items()]
    keys = []
    for mine in mines:
        alias, _, name = mine.rpartition(".")
        declared = rule.aliases[alias].column(name)
        kind: Kind = "str"
        if declared is not None and declared.kind != "version":
            kind = declared.kind
        names = {name, *(column for column, other in theirs if other == mine)}
        keys.append(OwnColumn(mine, kind, kind == "str" and not names.isdisjoint(NAMES)))
    columns = {
        log: tuple(
            (mines.index(mine), column) for column, mine in own[log].items() if mine in mines
        )
        for log in seen.logs
    }
    return OwnScope(tuple(keys), columns)
