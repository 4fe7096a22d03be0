"""Evaluates a rule over the subjects of a case: the answers, and what a finding shows of each.

Every subject is a list of slots: its row, then for each alias of the rule the row or the rows joined to it, found when
an expression first asks for them. Conditions are answered twice where rows may be missing: plainly, and minding all
that a cut source may have taken away.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from analyzer.facts import UNSEEN_ROW, Facts
from analyzer.facts.database import text
from analyzer.judge.case_rows import CaseRow, drop_repeated, parse_moment, sort_last
from analyzer.judge.closures import COUNTING, UNSET, Closures, Env, Fn
from analyzer.judge.joining import (
    Aggregate,
    CaseTable,
    JoinedRows,
    Joiner,
    list_leaves,
    read_table,
)
from analyzer.judge.log_conditions import Answers
from analyzer.judge.node_coverage import (
    is_whole_anywhere,
    list_losing_nodes,
    list_whole_nodes,
    may_lose_anywhere,
)
from analyzer.judge.subjects import SUBJECTS, Detail, Subject, nodes_of
from analyzer.rules import Join, Population, Rule
from analyzer.rules.language.expression import SEEN_FIELDS, ExprNode
from analyzer.runtime.errors import BacklineError

# Slots: the subject's row, whether it takes the place of what was not seen, how it is judged.
BASE, UNSEEN, MODE = range(3)
# The last: what a finding prints, values over the lines that were seen.
PLAIN, CAREFUL, SHOWN = range(3)
STEPS = 1024  # rows and subjects between two looks at the clock
_SMALLER = "Does a join pair every row of a large table with every row of another? Join by a column, or use `where`."

LogAnswers = Mapping[str, Mapping[str, Answers]]  # what logs hold, by node and name
# For each mode: nodes that may have lost rows, or whether the case may.
Losses = tuple[bool | Collection[str], ...]


class Base(NamedTuple):
    """What a subject is made of.

    row     of `each`, or in the place of what was not seen
    listed  row of the population it comes from
    fact    row of the catalog it is judged by
    """

    row: CaseRow
    unseen: bool = False
    listed: CaseRow | None = None
    fact: CaseRow | None = None

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key: the order of the case."""
        row = self.row
        place = sort_last(row.order), row.source is None, row.source or "", sort_last(row.line)
        fact = -1 if self.fact is None else self.fact.number
        return row.name, row.node, *place, row.number, fact


class Evaluator:
    """A rule and a case: answers for every subject."""

    def __init__(
        self, rule: Rule, facts: Facts, answers: LogAnswers, unseen_nodes: Sequence[str]
    ) -> None:
        self.rule = rule
        self.facts = facts
        self.answers = answers
        self.unseen_nodes = unseen_nodes
        self.until = time.thread_time() + facts.seconds
        self.aliases = rule.aliases
        self.slots = {alias: 3 + 2 * place for place, alias in enumerate(self.aliases)}
        self.slots[rule.each.name] = BASE
        self.size = 3 + 2 * len(self.aliases)
        self.joins: dict[str, Join] = {join.alias.name: join for join in rule.joins}
        self.memos: list[int] = []  # slots of named values, which hang on the mode
        self.closures = Closures(self)
        self.wheres = Closures(WhereSubjects(self))
        self.joiners: dict[str, Joiner] = {}
        self.aggregates: dict[int, Aggregate] = {}
        self.bases: list[Base] = []
        self._losses: dict[str, Losses] = {}
        self._whole: dict[str, Fn] = {}
        known = nodes_of(rule)
        self.printed = known.printed
        self.single = known.single
        self.spread = next((join for join in rule.joins if join.each), None)
        self.unmet = 0  # rows of `each` that no row of the catalog speaks of
        self._steps = 0

    def release(self) -> None:
        """Drop all that was made; nothing can be asked any more.

        The functions hold each other in circles, and a case is judged by hundreds of rules: Python would find them
        only by looking through all that is there, which takes longer than to judge a small case.
        """
        self.closures.release()
        self.wheres.release()
        vars(self).clear()

    # -- answers

    def list_subjects(self, added: Sequence[ExprNode] = ()) -> list[Subject]:
        """Return one answer for each row of `each` and each row that was not seen, in the order of the case.

        added  further conditions to answer; then none is left out because another settles the verdict
        """
        rule = self.rule
        bases = sorted(self._list_bases(), key=lambda base: base.order)
        self.bases = bases[: SUBJECTS + 1]
        only = answer_true if rule.only is None else self.closures(rule.only)
        when = self.closures(rule.when)
        outcomes = [self.closures(outcome.when) for outcome in rule.outcomes]
        more = [self.closures(node) for node in added]
        careful = False  # a join may miss more rows than the plain answer minds
        for alias in self.joins:
            plain, strict, _ = self._find_losses(alias)
            careful = careful or plain != strict
        found = []
        for number, base in enumerate(self.bases, 1):
            self.count_steps()
            env = self._make_env(base)
            gate = only(env)
            condition = when(env)
            row = base.row
            unseen = base.unseen
            subject = Subject(number, 0, row.node, unseen, gate, condition, [], gate, condition, [])
            subject.outcomes = [None] * len(outcomes)
            answered = bool(added) or (gate is True and condition is True)
            if answered:
                subject.outcomes = [outcome(env) for outcome in outcomes]
                subject.added = [one(env) for one in more]
            subject.safe_outcomes = subject.outcomes
            subject.safe_added = subject.added
            if careful:
                safe = self.switch_mode(env, CAREFUL)
                subject.safe_only = only(safe)
                subject.safe_when = when(safe)
                if answered:
                    subject.safe_outcomes = [outcome(safe) for outcome in outcomes]
                    subject.safe_added = [one(safe) for one in more]
            found.append(subject)
        return found

    def show_detail(self, number: int) -> Detail:
        """Return what is shown of a subject; each value is worked out when it is asked for."""
        return SubjectDetail(self, self._make_env(self.bases[number - 1]))

    def _make_env(self, base: Base) -> Env:
        """Return the slots of a subject, with the rows that are known from the start."""
        env: Env = [UNSET] * self.size
        env[BASE], env[UNSEEN], env[MODE] = base.row, base.unseen, PLAIN
        if self.rule.population is not None:
            env[self.slots[self.rule.population.alias.name]] = base.listed
        if self.spread is not None:
            env[self.slots[self.spread.alias.name]] = base.fact
        return env

    def switch_mode(self, env: Env, mode: int) -> Env:
        """Return what is known of a subject, to be judged in another mode."""
        other = env[:]
        other[MODE] = mode
        for memo in self.memos:
            if memo < len(other):
                other[memo] = UNSET
        return other

    def count_steps(self, steps: int = 1) -> None:
        """Count steps, as many as rows are looked at; raise BacklineError when the rule takes too long."""
        self._steps += steps
        if self._steps < STEPS:
            return
        self._steps = 0
        if time.thread_time() > self.until:
            what = f"the rule was stopped after {self.facts.seconds:g} seconds"
            raise BacklineError(what, why="limit rule_seconds", do=_SMALLER)

    # -- subjects

    def _list_bases(self) -> Iterator[Base]:
        """Yield the rows that are judged: those of `each`, and those in the place of what was not seen."""
        table = read_table(self.facts, self.rule.each.table.name)
        rows = list(table.rows)
        for capture in table.captures:
            rows += capture.read_rows(table.table, slice(0, SUBJECTS + 1))
        if table.table.key and not self.facts.single_block(table.table.name):
            rows = list(drop_repeated(rows, [column.name for column in table.table.columns]))
        for row in rows:
            if self.spread is None:
                yield Base(row)
                continue
            # With `rows: each` once for each row of the catalog that it meets; it may meet none.
            joiner = self._find_joiner(self.spread.alias.name)
            env = self._make_env(Base(row))
            if joiner.make_key(env) is None:  # what would find the rows is not known
                yield Base(row)
                continue
            met = joiner.find_group(env).rows
            self.unmet += not met
            for fact in met:
                yield Base(row, fact=fact)
        for key in self.unseen_nodes:
            row = CaseRow({}, key, text(self.facts.name(key)), number=UNSEEN_ROW)
            yield Base(row, unseen=True)
        if self.rule.population is not None:
            yield from self._list_unseen(table, self.rule.population)

    def _list_unseen(self, there: CaseTable, population: Population) -> Iterator[Base]:
        """Yield an unseen row for each row of the population that `each` does not have."""
        own = population.alias.table
        each = self.rule.each.table
        met = {(row.node, *(row.cell(mine) for mine, _ in population.by)) for row in there.rows}
        quiet: set[str] = set()
        if each.lines_of is not None:
            quiet.update(list_whole_nodes(self.facts, each))
        columns = dict(population.by)
        for name in each.key:
            if own.column(name):
                columns[name] = name
        columns.pop("node", None)
        fits = answer_true if population.where is None else self.wheres(population.where)
        rows = read_table(self.facts, own.name).list_all_rows()
        listed = set()
        for row in sorted(rows, key=lambda row: row.place):
            if fits(self._make_env(Base(row, unseen=True, listed=row))) is not True:
                continue
            mine = (row.node, *(row.cell(theirs) for _, theirs in population.by))
            if row.node in quiet or (mine in met and None not in mine):
                continue
            key = (row.name, *(row.cell(name) for name in own.key)) if own.key else row.number
            if key in listed:
                continue
            listed.add(key)
            cells = {name: row.cell(theirs) for name, theirs in columns.items()}
            unseen = CaseRow(
                cells, row.node, row.name, row.source, row.order, row.line, UNSEEN_ROW, row.taken
            )
            yield Base(unseen, unseen=True, listed=row)

    # -- what expressions ask for

    def make_cell(self, alias: str, column: str) -> Fn:
        """Return what gives a cell of the row of an alias."""
        get = self.make_row(alias)

        def read_cell(env: Env) -> Any:
            row = get(env)
            return None if row is None else row.cell(column)

        def read_own_cell(env: Env) -> Any:
            row = get(env)
            return None if row is None else row.cells.get(column)

        return read_cell if column in ("node", "taken") else read_own_cell

    def make_presence(self, alias: str) -> Fn:
        """Return what tells whether an alias has a row."""
        get = self.make_row(alias)
        return lambda env: get(env) is not None

    def make_row(self, alias: str) -> Callable[[Env], CaseRow | None]:
        """Return what gives the row of an alias that a subject is joined with; None or UNSET when there is none."""
        slot = self.slots[alias]
        if slot == BASE or self.aliases[alias].many or alias not in self.joins:
            return lambda env: cast("CaseRow | None", env[slot])
        # The joiner is made when it is asked for: its own `where` speaks of the alias too.
        find_joiner = self._find_joiner

        def find_nearest(env: Env) -> CaseRow | None:
            row = env[slot]
            if row is UNSET:
                row = env[slot] = find_joiner(alias).find_nearest(env)
            return cast("CaseRow | None", row)

        return find_nearest

    def make_group(self, alias: str) -> Callable[[Env], JoinedRows]:
        """Return what gives the rows of an alias that belong to a subject."""
        slot = self.slots[alias] + 1
        joiner = self._find_joiner(alias)

        def find_group(env: Env) -> JoinedRows:
            found: JoinedRows = env[slot]
            if found is UNSET:
                found = env[slot] = joiner.find_group(env)
            return found

        return find_group

    def _find_joiner(self, alias: str) -> Joiner:
        """Return what finds the rows of an alias, made when it is first wanted."""
        if alias not in self.joiners:
            join = self.joins[alias]
            self.joiners[alias] = Joiner(
                join, self.facts, self.slots, self.closures, self.wheres, self.count_steps
            )
        return self.joiners[alias]

    def make_seen(self, name: str, part: str) -> Fn:
        """Return what the logs answer: about the subject's own lines, or about the machine."""
        asked = f"{name}.{part}" if part else name
        timed = SEEN_FIELDS.get(part) == "time"
        keys: list[tuple[Fn, Callable[[Any], Any]]] = []  # a cell, how it is compared
        scope = next((own[name].scope for own in self.answers.values() if name in own), None)
        for key in scope.keys if scope is not None else ():
            alias, _, column = key.mine.rpartition(".")
            keys.append((self.make_cell(alias, column), key.cell))

        def read_answer(env: Env) -> Any:
            own = self.answers.get(env[BASE].node, {}).get(name)
            if own is None:
                return None
            key = tuple(fold(cell(env)) for cell, fold in keys)
            if None in key:
                return None if part else own.unknown.value
            found = own.find_answer(key).list_fields(name)[asked]
            return parse_moment(found) if timed and found is not None else found

        return read_answer

    def make_parts(self, node: ExprNode) -> Fn:
        """Return what gives the parts of an aggregate."""
        return self.find_aggregate(node).read_parts

    def find_aggregate(self, node: ExprNode) -> Aggregate:
        """Return an aggregate over the rows of a subject."""
        if id(node) not in self.aggregates:
            argument = node.args[0]
            rows_only = node.op in COUNTING and (argument.type != "bool" or argument.op == "row")
            value = None if rows_only else self.closures(argument)
            joiner = self._find_joiner(node.name)
            group = self.make_group(node.name)
            by_mode = any(leaf.op == "known" or leaf.is_aggregate for leaf in argument.walk())
            slot = self.add_memo() if by_mode else self._add_slot()
            whole = self._make_whole(node.name)
            self.aggregates[id(node)] = Aggregate(node, joiner, group, slot, whole, value)
        return self.aggregates[id(node)]

    def _add_slot(self) -> int:
        """Return a new slot."""
        self.size += 1
        return self.size - 1

    def add_memo(self) -> int:
        """Return a slot for a named value."""
        self.memos.append(self._add_slot())
        return self.memos[-1]

    # -- what may be missing

    def make_doubt(self, alias: str) -> Fn:
        """Return what tells whether rows of an alias may be missing."""
        if alias == self.rule.each.name:
            return lambda env: env[UNSEEN]
        if self.aliases[alias].table.given is not None:
            # The rows of the catalog are all there, but which one is meant?
            return lambda env: self._find_joiner(alias).make_key(env) is None
        losses = self._find_losses(alias)
        join = self.joins.get(alias)
        keyed = join is not None and bool(join.by)

        def may_lack(env: Env) -> bool:
            # No one can say which row belongs to what was not seen, unless there is none at all.
            lacks_key = keyed and env[UNSEEN] and self._find_joiner(alias).make_key(env) is None
            if lacks_key and not self._make_whole(alias)(env):
                return True
            lost = losses[env[MODE]]
            return lost if isinstance(lost, bool) else env[BASE].node in lost

        return may_lack if keyed or any(losses) else answer_false

    def _find_losses(self, alias: str) -> Losses:
        """Return for each mode on which nodes rows of an alias may be missing."""
        if alias in self._losses:
            return self._losses[alias]
        found: Losses = (False, False, False)
        join = self.joins.get(alias)
        if join is not None and not self.facts.sound():
            table = join.alias.table
            lines = table.lines_of is not None
            lost: list[bool | Collection[str]] = []
            for strict in (lines, True):
                if join.any_node:
                    lost.append(may_lose_anywhere(self.facts, table, strict=strict))
                else:
                    nodes = list_losing_nodes(self.facts, table.name, strict=strict)
                    lost.append(frozenset(nodes))
            shown = False if lines and join.alias.many else lost[0]
            found = (*lost, shown)
        self._losses[alias] = found
        return found

    def _make_whole(self, alias: str) -> Fn:
        """Return what tells whether a subject without rows of an alias has none."""
        if alias in self._whole:
            return self._whole[alias]
        join = self.joins[alias]
        table = join.alias.table
        always = join.any_node and is_whole_anywhere(self.facts, table)
        nodes: set[str] = set()
        if not join.any_node:
            nodes.update(list_whole_nodes(self.facts, table))
        joiner = self._find_joiner(alias)
        lines = table.lines_of is not None  # an empty table has no one's row

        def is_whole(env: Env) -> bool:
            known = always or env[BASE].node in nodes
            return known and (not lines or joiner.make_key(env) is not None)

        self._whole[alias] = is_whole
        return is_whole


class WhereSubjects:
    """What the `where` of a join asks for: it speaks of one row at hand, so that none is missing."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.make_cell = evaluator.make_cell
        self.make_presence = evaluator.make_presence
        self.make_seen = evaluator.make_seen
        self.make_parts = evaluator.make_parts
        self.add_memo = evaluator.add_memo

    def make_doubt(self, _alias: str) -> Fn:
        """Return what tells whether rows of an alias may be missing: none."""
        return answer_false


def answer_true(_: Env) -> bool:
    """Answer a condition that a rule does not have."""
    return True


def answer_false(_: Env) -> bool:
    """Answer a doubt that there is none of."""
    return False


class SubjectDetail(Detail):
    """What a finding shows of one subject: values, deciding rows and matching rows, worked out when asked for."""

    def __init__(self, evaluator: Evaluator, env: Env) -> None:
        super().__init__(env[BASE].node, env[BASE].name)
        self.evaluator = evaluator
        self.env = env
        self._printed: Env | None = None
        self._values: dict[int, Any] = {}
        self._rows: dict[str, int | None] = {}
        self._deciding: dict[int, dict[str, int | None]] = {}

    def is_asked(self, node: ExprNode) -> bool:
        """Say whether a node has one value that was asked for."""
        return id(node) in self.evaluator.single

    def read_value(self, node: ExprNode) -> Any:
        """Return the value of a node as people read it: of a version its text."""
        if id(node) not in self._values:
            self._values[id(node)] = self._work_out(node) if self.is_asked(node) else None
        return self._values[id(node)]

    def _work_out(self, node: ExprNode) -> Any:
        """Return the value of a node, which is asked for the first time."""
        value = node
        while value.op == "let":
            value = value.args[0]
        if value.op == "column" and value.type == "version":
            return self._ask(self.evaluator.make_cell(value.name, value.column))
        if value.op == "literal":
            if value is node:  # known from the node itself
                return None
            if value.type == "time":
                return parse_moment(str(value.value))
            return value.value
        if value.op == "row":
            return True if self.find_row(value.name) is not None else None
        if id(node) not in self.evaluator.printed:
            return self._ask(self.evaluator.closures(node))
        # What a finding prints minds lines that were seen only.
        if self._printed is None:
            self._printed = self.evaluator.switch_mode(self.env, SHOWN)
        return self._ask(self.evaluator.closures(node), self._printed)

    def _ask(self, read: Fn, env: Env | None = None) -> Any:
        """Return what a function gives for the subject; one that was made since has slots of its own."""
        env = self.env if env is None else env
        missing = self.evaluator.size - len(env)
        if missing > 0:
            env.extend([UNSET] * missing)
        return read(env)

    def find_row(self, alias: str) -> int | None:
        """Return the number of the row of an alias, None when it is not there."""
        if alias not in self._rows:
            row = self._ask(self.evaluator.make_row(alias))
            there = row is not None and row is not UNSET and row.number != UNSEEN_ROW
            self._rows[alias] = int(row.number) if there else None
        return self._rows[alias]

    def count_rows(self, node: ExprNode) -> tuple[int, int, int]:
        """Return rows, known ones and true ones of an aggregate."""
        aggregate = self.evaluator.find_aggregate(node)
        rows, known, true = self._ask(aggregate.read_parts) or (0, 0, 0)
        return rows, known, true if aggregate.counting else 0

    def find_deciding(self, node: ExprNode) -> dict[str, int | None]:
        """Return for each column that an aggregate looks at the row that decides."""
        if id(node) not in self._deciding:
            find = self.evaluator.find_aggregate(node).find_deciding
            found = {}
            for column, (leaf, least) in list_leaves(node).items():
                found[column] = self._ask(partial(find, leaf=leaf, least=least))
            self._deciding[id(node)] = found
        return self._deciding[id(node)]

    def list_fulfilling(self, node: ExprNode) -> list[int]:
        """Return the first rows that fulfil the condition of an aggregate."""
        found: list[int] = self._ask(self.evaluator.find_aggregate(node).list_fulfilling)
        return found

    def list_rows(self, alias: str) -> list[int]:
        """Return all rows of an alias, in the order of the case."""
        group: JoinedRows = self._ask(self.evaluator.make_group(alias))
        return group.list_numbers()

    def draw_samples(self, alias: str, column: str) -> tuple[list[str], list[float]] | None:
        """Return the stamps and values of a counter over the samples of an alias; None where only its rows can tell."""
        group: JoinedRows = self._ask(self.evaluator.make_group(alias))
        if group.rows or len(group.captures) != 1:
            return None
        stretch = group.captures[0]
        found = stretch.capture.draw_counter(column, stretch.places)
        if found is None:
            return None
        return (found[0], found[1].tolist())
