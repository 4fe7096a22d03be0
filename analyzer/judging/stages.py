"""One rule as one query: subjects, their joins, their aggregates, the conditions.

Stages, each a common table expression: `j0` the rows of the subject's table, `j1…` with
the nearest row of each joined table beside it, `m_<alias>` the many rows of an alias,
`s0…` with what was seen in logs and the parts of the aggregates. Ghosts are rows with nothing
but a node: they stand for subjects that a cut or missing source may hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analyzer.database import KEY, quoted
from analyzer.facts import GHOST, Facts
from analyzer.language.expression import SEEN_FIELDS, Alias, Node, Type
from analyzer.language.logic import Writer, literal, stage_column, text_literal
from analyzer.rules import Join, Rule

LISTED = 8  # rows of an alias listed as evidence
_NAMES = ("host", "hostname", "vm", "vm_name", "client_vm", "client_name", "name")

Seen = Mapping[str, Mapping[str, Any]]  # node key -> "burst", "burst.count", … -> value


class Stages:
    """Writes the stages of one rule's query over the facts of one case."""

    def __init__(self, rule: Rule, facts: Facts, seen: Seen, ghosts: Sequence[str]) -> None:
        self.rule, self.facts, self.seen, self.ghosts = rule, facts, seen, ghosts
        self.conditions = [rule.only, rule.when, *(outcome.when for outcome in rule.outcomes)]
        self.shown = list(_shown(rule))
        self.aggregates = _aggregates([*rule.expressions(), *self.shown])
        self.deciding = _aggregates([node for node in self.conditions if node])
        self.numbers = {id(node): number for number, node in enumerate(self.aggregates)}
        self.columns = self._columns()
        self.tables = {alias.table.name for alias in rule.aliases.values()}
        self.many = {join.alias.name for join in rule.joins if join.alias.many}
        self.listed = sorted({min(node.many) for node in (*rule.evidence, *rule.chart) if node.many})

    def _stages(self, *, detail: bool) -> tuple[str, str]:
        parts = [f"j0 AS ({self._base()})"]
        last = "j0"
        folded = self.aggregates if detail else self.deciding
        wanted = set(self.rule.aliases) if detail else self._deciding_aliases()
        for number, join in enumerate(self.rule.joins, 1):
            if join.alias.name not in wanted:
                continue
            name = f"m_{join.alias.name}"
            if self._empty(join.alias):
                if not join.alias.many:
                    parts.append(f"j{number} AS (SELECT *, {self._nothing(join.alias)} FROM {last})")
                    last = f"j{number}"
                continue
            parts.append(f"{name} AS ({self._joined(join, last)})")
            if not join.alias.many:
                cells = ", ".join(stage_column(join.alias.name, column) for column in self._needed(join.alias))
                parts.append(f"j{number} AS (SELECT j.*, {cells} FROM {last} j LEFT JOIN {name} m ON m._b = j._b)")
                last = f"j{number}"
        if self.rule.seen:
            parts.append(f"seen AS ({self._seen_rows()})")
            parts.append(f"s0 AS (SELECT j.*, s.* EXCLUDE (_n) FROM {last} j LEFT JOIN seen s ON s._n = j._node)")
            last = "s0"
        for level in range(1, 1 + max((node.level for node in folded), default=0)):
            last = self._level(parts, last, [node for node in folded if node.level == level], detail=detail)
        if detail:
            for alias in self.listed:
                if self._empty(self.rule.aliases[alias]):
                    cell = f"CAST([] AS BIGINT[]) AS {quoted(f'rows.{alias}')}"
                    parts.append(f"d_{alias} AS (SELECT *, {cell} FROM {last})")
                    last = f"d_{alias}"
                    continue
                parts.append(
                    f"l_{alias} AS (SELECT _b, list(_row ORDER BY _order, _line, _row) AS "
                    f"{quoted(f'rows.{alias}')} FROM m_{alias} GROUP BY _b)"
                )
                cell = quoted(f"rows.{alias}")
                parts.append(f"d_{alias} AS (SELECT s.*, l.{cell} FROM {last} s LEFT JOIN l_{alias} l ON l._b = s._b)")
                last = f"d_{alias}"
        return "WITH " + ", ".join(parts), last

    def _empty(self, alias: Alias) -> bool:
        """Tell whether a table has no rows at all: its joins need not be made."""
        return not self.facts.count(alias.table.name)

    def _nothing(self, alias: Alias) -> str:
        """Return the columns of a row that is not there."""
        cells = []
        for name in self._needed(alias):
            column = alias.column(name)
            type_: Type = "int" if name == "_row" else column.kind if column is not None else "str"
            cells.append(f"{literal(None, type_)} AS {stage_column(alias.name, name)}")
        return ", ".join(cells)

    def _needed(self, alias: Alias) -> list[str]:
        return ["_row", *sorted(self.columns[alias.name])]

    def _base(self) -> str:
        alias, facts = self.rule.each, self.facts
        table = alias.table
        cells = ", ".join(f"{quoted(name)} AS {stage_column(alias.name, name)}" for name in self._needed(alias))
        origin = "_node, node, _source, _order, _line, taken AS _taken"
        rows = f"SELECT {origin}, {cells} FROM {quoted(table.name)}"
        if table.key and not facts.single_block(table.name):  # the same text twice is one subject
            same = ", ".join(quoted(column.name) for column in table.columns)
            rows += f" QUALIFY row_number() OVER (PARTITION BY node, {same} ORDER BY _order, _line, _row) = 1"
        for key in self.ghosts:
            own = f"{text_literal(key)} AS _node, {text_literal(facts.name(key))} AS node"
            more = f", {text_literal(facts.name(key))} AS {stage_column(alias.name, 'node')}"
            own += more if "node" in self.columns[alias.name] else ""
            rows += f" UNION ALL BY NAME SELECT {own}, {GHOST} AS {stage_column(alias.name, '_row')}"
        rows += self._unseen()
        row = stage_column(alias.name, "_row")
        order = f"node, _node, _order, _source, _line, {row}"
        return f"SELECT row_number() OVER (ORDER BY {order}) AS _b, * FROM ({rows})"

    def _unseen(self) -> str:
        """Return the SQL of ghosts: rows of the population that `each` does not have."""
        rule, population = self.rule, self.rule.population
        if population is None:
            return ""
        each, own = rule.each, population.alias
        filled = dict(population.by) | {
            name: name for name in self.columns[each.name] if name in each.table.key and own.table.column(name)
        }
        filled["node"] = "node"
        cells = [f"p.{name} AS {name}" for name in ("_node", "node", "_source", "_order", "_line")]
        cells += [f"{GHOST} AS {stage_column(each.name, '_row')}", "p.taken AS _taken"]
        cells += [
            f"p.{quoted(theirs)} AS {stage_column(each.name, mine)}"
            for mine, theirs in filled.items()
            if mine in self.columns[each.name]
        ]
        cells += [f"p.{quoted(name)} AS {stage_column(own.name, name)}" for name in self._needed(own)]
        same = " AND ".join(f"t.{quoted(mine)} = p.{quoted(theirs)}" for mine, theirs in population.by)
        there = f"EXISTS (SELECT 1 FROM {quoted(each.table.name)} t WHERE t._node = p._node AND {same or 'TRUE'})"
        where = Writer(lambda _, name: f"p.{quoted(name)}").sql(population.where) if population.where else "TRUE"
        sql = f" UNION ALL BY NAME SELECT {', '.join(cells)} FROM {quoted(own.table.name)} p"
        key = ", ".join(f"p.{quoted(name)}" for name in ("node", *(own.table.key or ("_row",))))
        once = f"row_number() OVER (PARTITION BY {key} ORDER BY p._order, p._line, p._row) = 1"
        return f"{sql} WHERE ({where}) AND NOT {there} QUALIFY {once}"

    def _joined(self, join: Join, stage: str) -> str:
        alias = join.alias
        table = alias.table
        matches = [] if join.any_node else ["t._node = b._node"]
        matches += [_same(mine, theirs, alias) for mine, theirs in join.by]
        where = self._where(join)
        same_source = "(t._source = b._source) DESC NULLS LAST"
        apart = "CASE WHEN t._source = b._source THEN 0 ELSE abs(epoch(t.taken - b._taken)) END"
        near = f"(t._node = b._node) DESC, {same_source}, {apart}, abs(t._order - b._order)"
        if alias.many:
            cells = ", ".join(f"t.{quoted(name)} AS {quoted(name)}" for name in self._needed(alias))
            cells += ", t._order AS _order, t._line AS _line"
            cells += f", ({where}) IS NULL AS _maybe" if where else ""
        else:
            cells = ", ".join(
                f"t.{quoted(name)} AS {stage_column(alias.name, name)}" for name in self._needed(alias)
            )
        on = " AND ".join(matches) or "TRUE"
        sql = f"SELECT b._b AS _b, {cells} FROM {stage} b JOIN {quoted(table.name)} t ON {on}"
        if where:
            sql += f" WHERE ({where}) IS {'NOT FALSE' if alias.many else 'TRUE'}"
        if not alias.many:
            near += ", abs(t._line - b._line), t._order DESC, t._line DESC, t._row DESC"
            return f"{sql} QUALIFY row_number() OVER (PARTITION BY b._b ORDER BY {near}) = 1"
        if table.key and not self.facts.single_block(table.name):
            key = ", ".join(f"t.{quoted(name)}" for name in table.key)
            order = f"{near}, t._order DESC, t._source"
            return f"{sql} QUALIFY dense_rank() OVER (PARTITION BY b._b, t._node, {key} ORDER BY {order}) = 1"
        return sql

    def _where(self, join: Join) -> str:
        if join.where is None:
            return ""
        own = join.alias.name

        def reference(alias: str, name: str) -> str:
            return f"t.{quoted(name)}" if alias == own else f"b.{stage_column(alias, name)}"

        return Writer(reference).sql(join.where)

    def _seen_rows(self) -> str:
        names = [(name, "bool") for name in self.rule.seen]
        names += [(f"{name}.{part}", type_) for name in self.rule.seen for part, type_ in SEEN_FIELDS.items()]
        rows = []
        for key, values in sorted(self.seen.items()):
            cells = [f"{text_literal(key)} AS _n"]
            for name, type_ in names:
                head, dot, part = name.partition(".")
                cells.append(f"{literal(values.get(name), type_)} AS {quoted(f'{head}?{dot}{part}')}")  # type: ignore[arg-type]
            rows.append("SELECT " + ", ".join(cells))
        return " UNION ALL ".join(rows)

    def _deciding_aliases(self) -> set[str]:
        """Return the aliases the verdict needs; the others are joined only for what is shown."""
        leaves_of = (leaf for node in self.conditions if node for leaf in node.walk())
        found = {leaf.name for leaf in leaves_of if leaf.op in ("column", "row")}
        for join in reversed(self.rule.joins):
            if join.alias.name in found:
                found |= {mine.rpartition(".")[0] for mine, _ in join.by}
                found |= {leaf.name for leaf in join.where.walk() if leaf.op == "column"} if join.where else set()
        return found

    def _level(self, parts: list[str], last: str, nodes: list[Node], *, detail: bool) -> str:
        """Add the aggregates of one level, alias by alias; return the name of the new stage."""
        level = nodes[0].level if nodes else 0
        for alias in sorted({node.name for node in nodes}):
            own = [node for node in nodes if node.name == alias]
            if self._empty(self.rule.aliases[alias]):
                last = self._no_level(parts, last, own, detail=detail)
                continue
            cells: dict[str, str] = {}
            join = next(join for join in self.rule.joins if join.alias.name == alias)
            inner = self._inner(alias)
            for node in own:
                cells |= self._parts(node, inner, join, detail=detail)
            written = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in cells.items())
            group, stage = f"g{level}_{alias}", f"s{level}_{alias}"
            rows = f"{last} s JOIN m_{alias} m ON m._b = s._b"
            parts.append(f"{group} AS (SELECT s._b AS _b, {written} FROM {rows} GROUP BY s._b)")
            names = ", ".join(f"g.{quoted(name)}" for name in cells)
            parts.append(f"{stage} AS (SELECT s.*, {names} FROM {last} s LEFT JOIN {group} g ON g._b = s._b)")
            last = stage
        return last

    def _no_level(self, parts: list[str], last: str, nodes: list[Node], *, detail: bool) -> str:
        """Add the parts of aggregates over a table without rows: all of them unknown."""
        cells: dict[str, str] = {}
        for node in nodes:
            number = self.numbers[id(node)]
            value = node.type if node.op in ("sum", "max", "min", "mean") else "int"
            cells |= {f"a{number}.{part}": literal(None, "int") for part in "nkt"}
            cells[f"a{number}.v"] = literal(None, value)
            cells |= {f"a{number}.at.{column}": literal(None, "int") for column in leaves(node) if detail}
            if detail and node.args[0].type == "bool" and node.args[0].op != "row":
                cells[f"a{number}.hits"] = "CAST([] AS BIGINT[])"
        written = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in cells.items())
        stage = f"s{nodes[0].level}_{nodes[0].name}"
        parts.append(f"{stage} AS (SELECT *, {written} FROM {last})")
        return stage

    def _inner(self, own: str) -> Writer:
        writer = self._writer(strict=False)
        writer.stage = "s."
        writer.reference = lambda alias, name: (
            f"m.{quoted(name)}" if alias == own else f"s.{stage_column(alias, name)}"
        )
        return writer

    def _parts(self, node: Node, inner: Writer, join: Join, *, detail: bool) -> dict[str, str]:
        number = self.numbers[id(node)]
        maybe = "m._maybe" if join.where is not None else ""
        cells = {f"a{number}.{part}": sql for part, sql in inner.ingredients(node, inner, maybe).items()}
        if not detail:
            return cells
        argument = node.args[0]
        condition = inner.sql(argument) if argument.type == "bool" and argument.op != "row" else ""
        if condition:
            rows = f"list(m._row ORDER BY m._order, m._line, m._row) FILTER (WHERE {condition})"
            cells[f"a{number}.hits"] = f"({rows})[1:{LISTED}]"
        for column, (leaf, least) in leaves(node).items():
            cells[f"a{number}.at.{column}"] = _deciding(inner.sql(leaf), leaf, condition, least=least)
        return cells

    # -- what may be missing

    def _writer(self, *, strict: bool) -> Writer:
        unsure: dict[str, str] = {}
        if self.ghosts or self.rule.population:
            unsure[self.rule.each.name] = f"{stage_column(self.rule.each.name, '_row')} < 0"
        for join in self.rule.joins:
            condition = self._lossy(join, strict=strict)
            if condition:
                unsure[join.alias.name] = condition
        return Writer(unsure=unsure, numbers=self.numbers)

    def _lossy(self, join: Join, *, strict: bool) -> str:
        """Return the condition under which rows of a join may be missing.

        Strict minds a cut archive as well as a cut table; the other way minds cut tables of
        objects only: over samples an aggregate says something even when the last are lost.
        """
        table = join.alias.table.name
        if not strict and self.facts.has_frames(table):
            return ""
        lossy = [key for key in sorted(self.facts.nodes) if self._loses(key, table, strict=strict)]
        if join.any_node:
            product = self.facts.nodes_of_product(join.alias.table.product)
            return "TRUE" if set(lossy) & set(product) else ""
        return f"_node IN ({', '.join(text_literal(key) for key in lossy)})" if lossy else ""

    def _loses(self, key: str, table: str, *, strict: bool) -> bool:
        if self.facts.coverage(key, table).state in ("cut", "unparsed"):
            return True
        return strict and not self.facts.nodes[key].complete

    def _columns(self) -> dict[str, set[str]]:
        """Return the columns each alias must bring."""
        columns: dict[str, set[str]] = {alias: set() for alias in self.rule.aliases}
        population = self.rule.population
        wheres = [join.where for join in self.rule.joins if join.where is not None]
        for node in [*self.rule.expressions(), *self.shown, *wheres]:
            for leaf in node.walk():
                if leaf.op == "column" and leaf.name in columns:
                    columns[leaf.name].add(leaf.column)
                    if leaf.type == "version":
                        columns[leaf.name].add(leaf.column + KEY)
        for join in self.rule.joins:
            for mine, _ in join.by:
                owner, _, column = mine.rpartition(".")
                columns[owner].add(column)
        if population is not None:
            columns[self.rule.each.name] |= {mine for mine, _ in population.by}
        return columns


def _shown(rule: Rule) -> Iterable[Node]:
    """Yield what a finding prints besides the conditions."""
    templates = [rule.subject, rule.object, *(outcome.say for outcome in rule.outcomes)]
    templates += [rule.population.subject if rule.population else None, *(note.say for note in rule.notes)]
    for template in templates:
        if template is not None:
            yield from template.nodes()
    yield from rule.evidence
    yield from rule.chart


def _aggregates(nodes: Iterable[Node]) -> list[Node]:
    found = {id(node): node for top in nodes for node in top.walk() if node.is_aggregate}
    return list(found.values())


def leaves(node: Node) -> dict[str, tuple[Node, bool]]:
    """Return the columns an aggregate looks at: column -> (leaf, True when the least value decides)."""
    found: dict[str, tuple[Node, bool]] = {}

    def visit(one: Node, least: bool) -> None:
        if one.op == "column" and one.name == node.name:
            found.setdefault(one.column, (one, least))
        for place, child in enumerate(one.args):
            flipped = one.op == "compare" and (one.name[0] == "<") == (place == 0)
            visit(child, flipped if one.op == "compare" else least)

    visit(node.args[0], node.op == "min")
    return found


def _deciding(value: str, leaf: Node, condition: str, *, least: bool) -> str:
    """Return SQL of the row that decides an aggregate: where the condition holds, the extreme one."""
    if leaf.type not in ("int", "float", "time"):
        first = "min(m._row)"
        return f"coalesce({first} FILTER (WHERE {condition}), {first})" if condition else first
    pick = f"arg_{'min' if least else 'max'}(m._row, {value})"
    return f"coalesce({pick} FILTER (WHERE {condition}), {pick})" if condition else pick


def _same(mine: str, theirs: str, alias: Alias) -> str:
    """Return the SQL that two columns of a join name the same thing."""
    owner, _, column = mine.rpartition(".")
    left, right = f"b.{stage_column(owner, column)}", f"t.{quoted(theirs)}"
    declared = alias.column(theirs)
    if "node" in (column, theirs):
        return f"{_short_name(left)} = {_short_name(right)}"
    if declared is not None and declared.kind == "str" and (column in _NAMES or theirs in _NAMES):
        return f"lower({left}) = lower({right})"
    return f"{left} = {right}"


def _short_name(value: str) -> str:
    """Return SQL of a host's name up to the first dot, lower case; an address stays whole."""
    return f"lower(CASE WHEN regexp_full_match({value}, '[0-9.]+') THEN {value} ELSE split_part({value}, '.', 1) END)"
