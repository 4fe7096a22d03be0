"""One rule as one query: subjects, their joins, what was seen in logs.

Stages, each a common table expression: `j0` the rows of the subject's table, `j1…` with the
nearest row of each joined table beside it, `m_<alias>` the many rows of an alias, `s0` with
what was seen in logs; folds.py goes on from there. Ghosts are rows with nothing but a node:
they stand for subjects that a cut or missing source may hold.

A query may go over many cases at once. Then every table has a column `_case`, nothing meets
across cases, and what depends on a case as a whole (ghosts, what may be missing, one source
or several) is written out case by case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.artefacts.tables import Table
from analyzer.facts import UNSEEN_ROW, Facts
from analyzer.facts.database import quote_name
from analyzer.judge.node_coverage import is_empty_everywhere, list_losing_nodes, list_whole_nodes
from analyzer.rules import Join, Rule
from analyzer.rules.column_usage import columns_of, shown_of
from analyzer.rules.language.expression import SEEN_FIELDS, Alias, Type
from analyzer.rules.language.logic import stage_column, text_literal, write_literal
from analyzer.rules.own import NAMES, OwnScope, find_scopes
from tests.sql_oracle.answers import UNNAMED, answer_table
from tests.sql_oracle.writer import StageWriter

FEW_NAMES = 4  # of nodes that are compared one by one

# node key -> "burst", "burst.count", … -> value; "burst~" of a subject that is not known by name
Seen = Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class Part:
    """What a query must know of one case: its facts, what its logs say, its ghosts, its number among many."""

    facts: Facts
    seen: Seen = field(default_factory=dict)
    unseen_nodes: Sequence[str] = ()
    number: int = 0


class Stages:
    """Writes the stages of one rule's query over the facts of one case, or of many (`many`)."""

    def __init__(self, rule: Rule, parts: Sequence[Part], *, many: bool = False) -> None:
        self.rule, self.parts, self.many = rule, parts, many
        self.conditions = [rule.only, rule.when, *(outcome.when for outcome in rule.outcomes)]
        self.shown = list(shown_of(rule))
        self.aliases = rule.aliases
        self.joins = {join.alias.name: join for join in rule.joins}
        self.columns = columns_of(rule)
        self.tables = {alias.table.name for alias in self.aliases.values()}
        self.cited = sorted({min(node.many) for node in rule.evidence if node.many})
        self.listed = sorted({*self.cited, *(min(node.many) for node in rule.chart if node.many)})
        self.ghostly = any(part.unseen_nodes for part in parts)
        self.scopes = find_scopes(rule)
        self.asked = self._asked_of_logs()
        self.spread = next((join for join in rule.joins if join.each), None)
        self.only: Sequence[int] = ()  # numbers of the subjects that are looked at; all when empty
        self.answered = {
            name: answer_table(rule, name, self.scopes[name]) for name in self._keyed()
        }
        self.tables |= {table.name for table in self.answered.values() if self._has(table)}
        self._lost: dict[tuple[str, bool], dict[int, list[str]]] = {}
        self._unsound: list[Part] | None = (
            None  # cases in which rows may be missing, once it was asked
        )

    def before_folds(self, wanted: Iterable[str]) -> tuple[list[str], str]:
        """Return the stages up to `s0` with the wanted aliases in them, and the name of the last."""
        wanted = set(wanted)
        stages, last = [f"j0 AS ({self._base()})"], "j0"
        joins = [join for join in self.rule.joins if join.alias.name in wanted and not join.each]
        for number, join in enumerate([join for join in joins if not join.alias.many], 1):
            nothing = self.nothing(join.alias)
            body = (
                f"SELECT *, {self._no_row(join.alias)} FROM {last}"
                if nothing
                else self._beside(join, last)
            )
            last = f"j{number}"
            stages.append(f"{last} AS ({body})")
        stages += [
            f"m_{join.alias.name} AS ({self._rows(join, last)})"
            for join in joins
            if join.alias.many and not self.nothing(join.alias)
        ]
        if self.asked:
            stages += [self._seen_rows(), self._seen_beside(last)]
            last = "s0"
        return stages, last

    def nothing(self, alias: Alias) -> bool:
        """Tell whether a table has no rows at all: its joins need not be made."""
        return not self._has(alias.table)

    def _has(self, table: Table) -> bool:
        return table.given is not None or any(part.facts.count(table.name) for part in self.parts)

    def _no_row(self, alias: Alias) -> str:
        """Return the columns of a row that is not there."""
        cells = []
        for name in self._needed(alias):
            column = alias.column(name)
            type_: Type = "int" if name == "_row" else column.kind if column is not None else "str"
            cells.append(f"{write_literal(None, type_)} AS {stage_column(alias.name, name)}")
        return ", ".join(cells)

    def _needed(self, alias: Alias) -> list[str]:
        return ["_row", *sorted(self.columns[alias.name])]

    # -- subjects

    def _base(self) -> str:
        alias = self.rule.each
        cells = ", ".join(
            f"{quote_name(name)} AS {stage_column(alias.name, name)}"
            for name in self._needed(alias)
        )
        rows = (
            f"SELECT {self._origin()}, taken AS _taken, {cells} FROM {quote_name(alias.table.name)}"
        )
        rows += f" WHERE {chosen}" if (chosen := self._chosen()) else ""
        rows += self._once() + self._ghosts() + self._unseen()
        order = (
            f"{self._case()}node, _node, _order, _source, _line, {stage_column(alias.name, '_row')}"
        )
        if self.spread is not None:
            rows = self._by_facts(self.spread, rows)
            order += f", {stage_column(self.spread.alias.name, '_row')}"
        few = f" QUALIFY _b IN ({', '.join(map(str, self.only))})" if self.only else ""
        return f"SELECT row_number() OVER (ORDER BY {order}) AS _b, * FROM ({rows}){few}"

    def _by_facts(self, join: Join, rows: str) -> str:
        """Return the SQL of subjects, each once for every row of the catalog it meets; whose key is unknown stays."""
        name = join.alias.name
        cells = ", ".join(
            f"t.{quote_name(column)} AS {stage_column(name, column)}"
            for column in self._needed(join.alias)
        )
        there = f"b.{stage_column(self.rule.each.name, '_row')} >= 0"
        on = " AND ".join([*self._matches(join), there])
        keep = f"t._row IS NOT NULL OR NOT ({there}) OR {self._keyless(join, 'b.')}"
        sql = f"SELECT b.*, {cells} FROM ({rows}) b LEFT JOIN {quote_name(join.alias.table.name)} t ON {on}"
        return f"{sql} WHERE {keep}"

    def _keyless(self, join: Join, prefix: str = "") -> str:
        """Return the condition that what would find a row of the catalog is not known."""
        keys = [f"{prefix}{stage_column(*_parted(mine))} IS NULL" for mine, _ in join.by]
        return f"({' OR '.join(keys)})" if keys else "FALSE"

    def unmet(self) -> str:
        """Return the query that counts by case the rows of which no row of the catalog speaks; "" when all are judged."""
        join, each = self.spread, self.rule.each
        if join is None:
            return ""
        cells = ", ".join(
            f"{quote_name(name)} AS {stage_column(each.name, name)}" for name in self._needed(each)
        )
        rows = f"SELECT {self._origin()}, {cells} FROM {quote_name(each.table.name)}"
        rows += (f" WHERE {chosen}" if (chosen := self._chosen()) else "") + self._once()
        met = f"SELECT 1 FROM {quote_name(join.alias.table.name)} t WHERE {' AND '.join(self._matches(join))}"
        lone = f"NOT EXISTS ({met}) AND NOT {self._keyless(join, 'b.')}"
        return f"SELECT b._case, count(*) FROM ({rows}) b WHERE {lone} GROUP BY b._case"

    def _case(self, prefix: str = "") -> str:
        return f"{prefix}_case, " if self.many else ""

    def _origin(self, prefix: str = "") -> str:
        names = ["_case"] if self.many else []
        return ", ".join(
            f"{prefix}{name}" for name in (*names, "_node", "node", "_source", "_order", "_line")
        )

    def _chosen(self, prefix: str = "") -> str:
        """Return the condition that keeps to the cases of this query, of all that lie in the database."""
        if not self.many:
            return ""
        numbers = [part.number for part in self.parts]
        if len(numbers) == max(numbers) - min(numbers) + 1:
            return f"{prefix}_case BETWEEN {min(numbers)} AND {max(numbers)}"
        return f"{prefix}_case IN ({', '.join(map(str, sorted(numbers)))})"

    def _once(self) -> str:
        """Return the SQL by which the same text in two places is one subject."""
        table = self.rule.each.table
        several = [part.number for part in self.parts if not part.facts.single_block(table.name)]
        if not table.key or not several:
            return ""
        apart = ", ".join(
            [f"{self._case()}node", *(quote_name(column.name) for column in table.columns)]
        )
        if len(several) < len(self.parts):  # in the other cases every row stands for itself
            apart += f", CASE WHEN _case NOT IN ({', '.join(map(str, several))}) THEN _row END"
        return f" QUALIFY row_number() OVER (PARTITION BY {apart} ORDER BY _order, _line, _row) = 1"

    def _ghosts(self) -> str:
        if not self.ghostly:
            return ""
        alias = self.rule.each.name
        rows = []
        for part in self.parts:
            number = f"{part.number}, " if self.many else ""
            rows += [
                f"({number}{text_literal(key)}, {text_literal(part.facts.name(key))})"
                for key in part.unseen_nodes
            ]
        more = f", node AS {stage_column(alias, 'node')}" if "node" in self.columns[alias] else ""
        cells = f"{self._case()}_node, node, {UNSEEN_ROW} AS {stage_column(alias, '_row')}{more}"
        return f" UNION ALL BY NAME SELECT {cells} FROM (VALUES {', '.join(rows)}) g({self._case()}_node, node)"

    def _unseen(self) -> str:
        """Return the SQL of ghosts: rows of the population that `each` does not have."""
        rule, population = self.rule, self.rule.population
        if population is None:
            return ""
        each, own = rule.each, population.alias
        filled = dict(population.by) | {
            name: name
            for name in self.columns[each.name]
            if name in each.table.key and own.table.column(name)
        }
        filled["node"] = "node"
        cells = [
            self._origin("p."),
            f"{UNSEEN_ROW} AS {stage_column(each.name, '_row')}",
            "p.taken AS _taken",
        ]
        cells += [
            f"p.{quote_name(theirs)} AS {stage_column(each.name, mine)}"
            for mine, theirs in filled.items()
            if mine in self.columns[each.name]
        ]
        cells += [
            f"p.{quote_name(name)} AS {stage_column(own.name, name)}" for name in self._needed(own)
        ]
        meets = [f"t.{quote_name(mine)} = p.{quote_name(theirs)}" for mine, theirs in population.by]
        same = " AND ".join([self._same_node("t", "p"), *meets])
        there = f"EXISTS (SELECT 1 FROM {quote_name(each.table.name)} t WHERE {same})"
        where = [f"NOT {there}", *filter(None, (self._chosen("p."),))]
        if each.table.lines_of is not None and (
            quiet := self._at(self._whole_nodes(each.table), "p.")
        ):
            where.append(f"NOT ({quiet})")  # in a log that was read whole, who has no line is well
        if population.where is not None:
            where.insert(
                0, f"({StageWriter(lambda _, name: f'p.{quote_name(name)}').sql(population.where)})"
            )
        key = ", ".join(f"p.{quote_name(name)}" for name in ("node", *(own.table.key or ("_row",))))
        once = f"row_number() OVER (PARTITION BY {self._case('p.')}{key} ORDER BY p._order, p._line, p._row) = 1"
        sql = f" UNION ALL BY NAME SELECT {', '.join(cells)} FROM {quote_name(own.table.name)} p"
        return f"{sql} WHERE {' AND '.join(where)} QUALIFY {once}"

    def _same_node(self, one: str, two: str) -> str:
        own = f"{one}._node = {two}._node"
        return f"{one}._case = {two}._case AND {own}" if self.many else own

    # -- joins

    def _matches(self, join: Join) -> list[str]:
        far = ["t._case = b._case"] if self.many else []
        matches = (
            far
            if join.any_node or join.alias.table.given is not None
            else [self._same_node("t", "b")]
        )
        return [*matches, *(_same(mine, theirs, join.alias) for mine, theirs in join.by)]

    def _beside(self, join: Join, stage: str) -> str:
        """Return a stage with the nearest row of a table beside each subject."""
        alias = join.alias
        cells = ", ".join(
            f"t.{quote_name(name)} AS {stage_column(alias.name, name)}"
            for name in self._needed(alias)
        )
        where = self._where(join)
        on = (
            " AND ".join([*self._matches(join), *([f"({where}) IS TRUE"] if where else [])])
            or "TRUE"
        )
        sql = (
            f"SELECT b.*, {cells} FROM {stage} b LEFT JOIN {quote_name(alias.table.name)} t ON {on}"
        )
        near = _NEAR if alias.table.lines_of is None else _NEAR_IN_TIME
        order = f"{near}, abs(t._line - b._line), t._order DESC, t._line DESC, t._row DESC"
        return f"{sql} QUALIFY row_number() OVER (PARTITION BY b._b ORDER BY {order}) = 1"

    def _rows(self, join: Join, stage: str) -> str:
        """Return a stage with the many rows of a table for each subject."""
        alias = join.alias
        table = alias.table
        where = self._where(join)
        cells = ", ".join(
            f"t.{quote_name(name)}" for name in (*self._needed(alias), "_order", "_line")
        )
        cells += f", ({where}) IS NULL AS _maybe" if where else ""
        on = " AND ".join(self._matches(join)) or "TRUE"
        sql = f"SELECT b._b, {cells} FROM {stage} b JOIN {quote_name(table.name)} t ON {on}"
        if where:
            sql += f" WHERE ({where}) IS NOT FALSE"
        if not table.key or all(part.facts.single_block(table.name) for part in self.parts):
            return sql
        key = ", ".join(f"t.{quote_name(name)}" for name in table.key)
        order = f"{_NEAR}, t._order DESC, t._source"
        return f"{sql} QUALIFY dense_rank() OVER (PARTITION BY b._b, t._node, {key} ORDER BY {order}) = 1"

    def _where(self, join: Join) -> str:
        if join.where is None:
            return ""
        own = join.alias.name

        def reference(alias: str, name: str) -> str:
            return f"t.{quote_name(name)}" if alias == own else f"b.{stage_column(alias, name)}"

        return StageWriter(reference).sql(join.where)

    # -- logs

    def _asked_of_logs(self) -> list[tuple[str, Type]]:
        """Return what the rule asks of its logs: `burst`, `burst.count`, … with their types."""
        nodes = [*self.rule.expressions(), *self.shown] if self.rule.seen else []
        used = {
            (leaf.name, leaf.column)
            for node in nodes
            for leaf in node.walk()
            if leaf.op.startswith("seen")
        }
        found: list[tuple[str, Type]] = []
        for name in self.rule.seen:
            found += [(name, "bool")] if (name, "") in used else []
            found += [
                (f"{name}.{part}", type_)
                for part, type_ in SEEN_FIELDS.items()
                if (name, part) in used
            ]
            found += (
                [(name + UNNAMED, "bool")] if name in self.scopes and (name, "") in used else []
            )
        return found

    def _keyed(self) -> list[str]:
        """Return the names that are asked for and whose answers hang on the subject."""
        asked = {name.partition(".")[0] for name, _ in self.asked}
        return [name for name, scope in self.scopes.items() if scope.keys and name in asked]

    def _seen_beside(self, stage: str) -> str:
        """Return the stage that sets beside each subject what the logs say: of its own lines, or of the machine."""
        joins = [f"LEFT JOIN seen s ON s._n = j._node{' AND s._c = j._case' if self.many else ''}"]
        numbers = {name: f"a{number}" for number, name in enumerate(self.answered)}
        for name, table in self.answered.items():
            if self._has(table):
                places = range(len(self.scopes[name].keys))
                same = [
                    f"{numbers[name]}.k{place} = {self._key(self.scopes[name], place)}"
                    for place in places
                ]
                on = " AND ".join([self._same_node(numbers[name], "j"), *same])
                joins.append(f"LEFT JOIN {quote_name(table.name)} {numbers[name]} ON {on}")
        cells = [
            f"{self._own_answer(name, numbers)} AS {quote_name(_asked(name))}"
            for name, _ in self.asked
            if not name.endswith(UNNAMED)
        ]
        return f"s0 AS (SELECT {', '.join(['j.*', *cells])} FROM {stage} j {' '.join(joins)})"

    def _key(self, scope: OwnScope, place: int) -> str:
        key = scope.keys[place]
        column = f"j.{stage_column(*_parted(key.mine))}"
        return f"lower({column})" if key.folds else column

    def _own_answer(self, asked: str, numbers: Mapping[str, str]) -> str:
        """Return the SQL of `burst` or `burst.count` for one subject."""
        name, _, part = asked.partition(".")
        other = f"s.{quote_name(_asked(asked))}"
        if name not in self.answered:
            return other
        scope = self.scopes[name]
        nobody = " OR ".join(
            f"{self._key(scope, place)} IS NULL" for place in range(len(scope.keys))
        )
        unnamed = "NULL" if part else f"s.{quote_name(_asked(name + UNNAMED))}"
        own = ""
        if self._has(self.answered[name]):
            own = f" WHEN {numbers[name]}._row IS NOT NULL THEN {numbers[name]}.{quote_name(part or 'value')}"
        return f"CASE WHEN {nobody} THEN {unnamed}{own} ELSE {other} END"

    def _seen_rows(self) -> str:
        rows: list[str] = []
        for part in self.parts:
            for key, values in sorted(part.seen.items()):
                cells = [text_literal(key), *([str(part.number)] if self.many else [])]
                cells += [
                    _cell(values.get(name), type_, first=not rows) for name, type_ in self.asked
                ]
                rows.append(f"({', '.join(cells)})")
        names = [
            "_n",
            *(["_c"] if self.many else []),
            *(quote_name(_asked(name)) for name, _ in self.asked),
        ]
        return f"seen({', '.join(names)}) AS (VALUES {', '.join(rows)})"

    # -- what may be missing

    def unsure(self, *, strict: bool) -> dict[str, str]:
        """Return alias -> condition under which rows of it may be missing.

        Strict minds a cut archive as well as a cut table; the other way minds cut tables of
        objects only: over samples an aggregate says something even when the last are lost.
        """
        found: dict[str, str] = {}
        whole = self.whole()
        if self.ghostly or self.rule.population:
            found[self.rule.each.name] = f"{stage_column(self.rule.each.name, '_row')} < 0"
        for join in self.rule.joins:
            if (
                join.alias.table.given is not None
            ):  # its rows are all there, but which one is meant?
                found[join.alias.name] = self._keyless(join)
                continue
            condition = (
                self._lossy_anywhere(join, strict=strict)
                if join.any_node
                else self._lossy(join, strict=strict)
            )
            if join.by and self.rule.each.name in found:  # which row belongs to what was not seen?
                ghost = f"({found[self.rule.each.name]} AND {self._keyless(join)})"
                if none := whole.get(join.alias.name):
                    ghost = f"({ghost} AND NOT coalesce({none}, FALSE))"
                condition = f"({condition} OR {ghost})" if condition else ghost
            if condition:
                found[join.alias.name] = condition
        return found

    def _lossy_anywhere(self, join: Join, *, strict: bool) -> str:
        numbers = self._losing_cases(join, strict=strict)
        if not numbers or not self.many:
            return "TRUE" if numbers else ""
        return f"_case IN ({', '.join(map(str, numbers))})"

    def _losing_cases(self, join: Join, *, strict: bool) -> list[int]:
        table, losing = join.alias.table, self._losing(join, strict=strict)
        there = {
            part.number: {
                *part.facts.nodes_of_product(table.product),
                *part.facts.nodes_with(table.name),
            }
            for part in self.parts
        }
        return [
            number
            for number, nodes in there.items()
            if number in losing and not nodes.isdisjoint(losing[number])
        ]

    def _lossy(self, join: Join, *, strict: bool) -> str:
        losing = self._losing(join, strict=strict)
        return self._at((number, key) for number, keys in losing.items() for key in keys)

    def _at(self, places: Iterable[tuple[int, str]], prefix: str = "") -> str:
        """Return the condition that a row lies on one of some nodes, each with the number of its case."""
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for number, key in places:
            numbers[key].append(number)
        if not self.many:
            return f"{prefix}_node IN ({', '.join(map(text_literal, numbers))})" if numbers else ""
        if (
            len(numbers) > FEW_NAMES
        ):  # one look-up in a set, where each name would be a comparison of its own
            pairs = [
                text_literal(f"{number} {key}") for key, some in numbers.items() for number in some
            ]
            return f"{prefix}_case || ' ' || {prefix}_node IN ({', '.join(pairs)})"
        return " OR ".join(
            f"{prefix}_node = {text_literal(key)} AND {prefix}_case IN ({', '.join(map(str, some))})"
            for key, some in numbers.items()
        )

    def whole(self) -> dict[str, str]:
        """Return alias -> condition under which a subject without rows has none.

        Lines of a log that was read whole; and any table that was read and is empty. Where a table has rows of others,
        a row that is not there proves nothing: what it would have told was perhaps not asked for.
        """
        found: dict[str, str] = {}
        for join in self.rule.joins:
            if join.alias.table.given is not None:
                if join.alias.many:  # the catalog has all its rows: none that fits is none
                    keys = [f"{stage_column(*_parted(mine))} IS NOT NULL" for mine, _ in join.by]
                    found[join.alias.name] = " AND ".join(["TRUE", *keys])
                continue
            condition = (
                self._whole_anywhere(join)
                if join.any_node
                else self._at(self._whole_nodes(join.alias.table))
            )
            known = [f"{stage_column(*_parted(mine))} IS NOT NULL" for mine, _ in join.by]
            known = (
                known if join.alias.table.lines_of is not None else []
            )  # an empty table has nobody's row
            if condition:
                found[join.alias.name] = " AND ".join([f"({condition})", *known])
        return found

    def _whole_nodes(self, table: Table) -> Iterable[tuple[int, str]]:
        """Yield the nodes, with the number of their case, on which all rows are known that a subject may have."""
        return (
            (part.number, key) for part in self.parts for key in list_whole_nodes(part.facts, table)
        )

    def _whole_anywhere(self, join: Join) -> str:
        table = join.alias.table
        lines = table.lines_of is not None
        there = {part.number for part in self.parts if part.facts.nodes_with(table.name)}
        there &= {
            part.number for part in self.parts if lines or is_empty_everywhere(part.facts, table)
        }
        numbers = there - set(self._losing_cases(join, strict=True))
        if not numbers or not self.many:
            return "TRUE" if numbers else ""
        return f"_case IN ({', '.join(map(str, sorted(numbers)))})"

    def _losing(self, join: Join, *, strict: bool) -> dict[int, list[str]]:
        """Return the nodes that may have lost rows of a join, by number of case; most cases have none.

        Conditions on lines of logs always mind a cut archive; values that are shown are those of the lines seen.
        """
        table = join.alias.table.name
        strict = strict or join.alias.table.lines_of is not None
        if (table, strict) not in self._lost:
            if self._unsound is None:
                self._unsound = [part for part in self.parts if not part.facts.sound()]
            lost = {
                part.number: list_losing_nodes(part.facts, table, strict=strict)
                for part in self._unsound
            }
            self._lost[table, strict] = {number: keys for number, keys in lost.items() if keys}
        return self._lost[table, strict]


# Of several rows the nearest: on the same node, of the same source, read about the same time.
_NEAR = (
    "(t._node = b._node) DESC, (t._source = b._source) DESC NULLS LAST,"
    " CASE WHEN t._source = b._source THEN 0 ELSE abs(epoch(t.taken - b._taken)) END, abs(t._order - b._order)"
)

# Of several lines of a log the nearest in time: on the same node, before the same file.
_NEAR_IN_TIME = "(t._node = b._node) DESC, abs(epoch(t.taken - b._taken)) NULLS LAST, (t._source = b._source) DESC NULLS LAST"


def _parted(name: str) -> tuple[str, str]:
    """Return alias and column of `alias.column`."""
    alias, _, column = name.rpartition(".")
    return alias, column


def _asked(name: str) -> str:
    """Return the column of `burst` or `burst.count`."""
    head, dot, part = name.partition(".")
    return f"{head}?{dot}{part}"


def _cell(value: object, type_: Type, *, first: bool) -> str:
    return "NULL" if value is None and not first else write_literal(value, type_)


def _same(mine: str, theirs: str, alias: Alias) -> str:
    """Return the SQL that two columns of a join name the same thing."""
    owner, _, column = mine.rpartition(".")
    left, right = f"b.{stage_column(owner, column)}", f"t.{quote_name(theirs)}"
    declared = alias.column(theirs)
    if "node" in (column, theirs):
        return f"{_short_name(left)} = {_short_name(right)}"
    if declared is not None and declared.kind == "str" and (column in NAMES or theirs in NAMES):
        return f"lower({left}) = lower({right})"
    return f"{left} = {right}"


def _short_name(value: str) -> str:
    """Return SQL of a host's name up to the first dot, lower case; an address stays whole."""
    return f"lower(CASE WHEN regexp_full_match({value}, '[0-9.]+') THEN {value} ELSE split_part({value}, '.', 1) END)"
