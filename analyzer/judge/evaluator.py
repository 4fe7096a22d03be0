"""Evaluates a rule over the subjects of a case: the answers, and what a finding shows of each.

Every subject is a list of slots: its row, then for each alias of the rule the row or the rows beside it, found when an
expression first asks for them. Conditions are answered twice where rows may be missing: plainly, and minding all that a
cut source may have taken away.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from analyzer.facts import UNSEEN_ROW, Facts
from analyzer.facts.database import text
from analyzer.judge.case_rows import (
    CaseRow,
    CaseTable,
    after,
    capture_rows,
    moment,
    once_each,
    table_of,
)
from analyzer.judge.closures import COUNTING, UNSET, Closures, Env, Fn
from analyzer.judge.folding import Fold
from analyzer.judge.joining import JoinedRows, Joiner
from analyzer.judge.log_conditions import Answers
from analyzer.judge.missing import losing, losing_anywhere, whole_anywhere, whole_nodes
from analyzer.judge.subject_detail import BASE, CAREFUL, MODE, PLAIN, UNSEEN, SubjectDetail
from analyzer.judge.subjects import SUBJECTS, Detail, Subject, nodes_of
from analyzer.rules import Rule
from analyzer.rules.language.expression import SEEN_FIELDS, ExprNode
from analyzer.runtime.errors import BacklineError

Own = Mapping[str, Mapping[str, Answers]]  # what logs say, by node and name
# A row, whether it was not seen, the row of the population it comes from, the row of the catalog it is judged by.
_Base = tuple[CaseRow, bool, CaseRow | None, CaseRow | None]
_Losses = tuple[
    bool | Collection[str], ...
]  # for each mode: nodes that may have lost rows, or whether the case may
STEPS = 1024  # rows and subjects between two looks at the clock
_SMALLER = "Does a join pair every row of a large table with every row of another? Join by a column, or use `where`."


class Evaluator:
    """A rule and a case: answers for every subject."""

    def __init__(self, rule: Rule, facts: Facts, answers: Own, unseen_nodes: Sequence[str]) -> None:
        self.rule, self.facts, self.answers, self.unseen_nodes = rule, facts, answers, unseen_nodes
        self.until = time.thread_time() + facts.seconds
        self.aliases = rule.aliases
        self.slots = {alias: 3 + 2 * place for place, alias in enumerate(self.aliases)}
        self.slots[rule.each.name] = BASE
        self.size = 3 + 2 * len(self.aliases)
        self.joined = {join.alias.name for join in rule.joins}
        self.memos: list[int] = []  # slots of named values, which hang on the mode
        self.closures = Closures(self)
        self.wheres = Closures(_Wheres(self))
        self.joiners: dict[str, Joiner] = {}
        self.folds: dict[int, Fold] = {}
        self.bases: list[_Base] = []
        self._losses: dict[str, _Losses] = {}
        self._whole: dict[str, Fn] = {}
        known = nodes_of(rule)
        self.printed, self.single = known.printed, known.single
        self.spread = next((join for join in rule.joins if join.each), None)
        self.unmet = 0  # rows of `each` that no row of the catalog speaks of
        self._looked = 0

    def release(self) -> None:
        """Let go of all that was made; nothing can be asked any more.

        The functions hold each other in circles, and a case is judged by hundreds of rules: Python would find them
        only by looking through all that is there, which takes longer than to judge a small case.
        """
        self.closures.release()
        self.wheres.release()
        vars(self).clear()

    # -- answers

    def subjects(self, added: Sequence[ExprNode] = ()) -> list[Subject]:
        """Return one answer for each row of `each` and each row that was not seen, in the order of the case.

        added  further conditions to answer; then none is left out because another settles the verdict
        """
        rule = self.rule
        self.bases = sorted(self._bases(), key=_order)[: SUBJECTS + 1]
        conditions = [rule.only, rule.when, *(outcome.when for outcome in rule.outcomes)]
        answers = [self.closures(node) if node is not None else _true for node in conditions]
        more = [self.closures(node) for node in added]
        careful = bool(self._careful())
        numbered = enumerate(self.bases, 1)
        return [
            self._subject(number, base, answers, more, careful=careful) for number, base in numbered
        ]

    def _subject(
        self, number: int, base: _Base, answers: Sequence[Fn], added: Sequence[Fn], *, careful: bool
    ) -> Subject:
        self.look()
        env = self._env(*base)
        gate, condition, *outcomes = answers
        only, when = gate(env), condition(env)
        safe = self.in_mode(env, CAREFUL) if careful else env
        safe_only, safe_when = (gate(safe), condition(safe)) if careful else (only, when)
        row, unseen, *_ = base
        found = Subject(
            number,
            0,
            row.node,
            unseen,
            only,
            when,
            [None] * len(outcomes),
            safe_only,
            safe_when,
            [],
        )
        if added or (only is True and when is True):
            found.outcomes = [outcome(env) for outcome in outcomes]
            found.added = [one(env) for one in added]
        found.safe_outcomes, found.safe_added = found.outcomes, found.added
        if careful and (added or (only is True and when is True)):
            found.safe_outcomes = [outcome(safe) for outcome in outcomes]
            found.safe_added = [one(safe) for one in added]
        return found

    def _careful(self) -> Iterator[str]:
        """Yield the joins that may miss more rows than the plain answer minds."""
        for join in self.rule.joins:
            plain, strict, _ = self.losses(join.alias.name)
            if plain != strict:
                yield join.alias.name

    def _env(
        self, row: CaseRow, unseen: bool, listed: CaseRow | None, fact: CaseRow | None = None
    ) -> Env:
        env: Env = [UNSET] * self.size
        env[BASE], env[UNSEEN], env[MODE] = row, unseen, PLAIN
        if self.rule.population is not None:
            env[self.slots[self.rule.population.alias.name]] = listed
        if self.spread is not None:
            env[self.slots[self.spread.alias.name]] = fact
        return env

    def in_mode(self, env: Env, mode: int) -> Env:
        """Return what is known of a subject, to be judged in another mode."""
        other = env[:]
        other[MODE] = mode
        for memo in self.memos:
            if memo < len(other):
                other[memo] = UNSET
        return other

    def look(self, steps: int = 1) -> None:
        """Count steps, as many as rows are looked at; raise BacklineError when the rule takes too long."""
        self._looked += steps
        if self._looked < STEPS:
            return
        self._looked = 0
        if time.thread_time() > self.until:
            what = f"the rule was stopped after {self.facts.seconds:g} seconds"
            raise BacklineError(what, why="limit rule_seconds", do=_SMALLER)

    # -- subjects

    def _bases(self) -> Iterator[_Base]:
        """Yield the rows that are judged: those of `each`, and those that stand for what was not seen."""
        table = self._table(self.rule.each.table.name)
        rows = table.rows + [row for one in table.captures for row in self._few(table, one)]
        if table.table.key and not self.facts.single_block(table.table.name):
            rows = list(once_each(rows, [column.name for column in table.table.columns]))
        yield from (one for row in rows for one in self._by_facts(row))
        for key in self.unseen_nodes:
            yield CaseRow({}, key, text(self.facts.name(key)), number=UNSEEN_ROW), True, None, None
        if self.rule.population is not None:
            yield from self._unseen(table)

    def _by_facts(self, row: CaseRow) -> Iterator[_Base]:
        """Yield a row of `each`, with `rows: each` once for each row of the catalog that it meets; it may meet none."""
        if self.spread is None:
            yield row, False, None, None
            return
        joiner = self._joiner(self.spread.alias.name)
        env = self._env(row, unseen=False, listed=None)
        if joiner.key(env) is None:  # what would find the rows is not known
            yield row, False, None, None
        met = [(row, False, None, fact) for fact in joiner.group(env).rows]
        self.unmet += not met and joiner.key(env) is not None
        yield from met

    def _few(self, table: CaseTable, capture: Any) -> Iterator[CaseRow]:
        return capture_rows(table.table, capture, slice(0, SUBJECTS + 1))

    def _unseen(self, there: CaseTable) -> Iterator[_Base]:
        """Yield an unseen row for each row of the population that `each` does not have."""
        rule, population = self.rule, self.rule.population
        assert population is not None
        own, each = population.alias.table, rule.each.table
        met = {(row.node, *(row.cell(mine) for mine, _ in population.by)) for row in there.rows}
        quiet = set(whole_nodes(self.facts, each)) if each.lines_of is not None else set()
        filled = dict(population.by) | {name: name for name in each.key if own.column(name)}
        fits = self.wheres(population.where) if population.where is not None else _true
        told = set()
        for row in sorted(self._table(own.name).whole(), key=lambda row: row.place):
            env = self._env(row, unseen=True, listed=row)
            key = (row.name, *((row.cell(name) for name in own.key) if own.key else (row.number,)))
            mine = (row.node, *(row.cell(theirs) for _, theirs in population.by))
            if (
                fits(env) is not True
                or row.node in quiet
                or (mine in met and None not in mine)
                or key in told
            ):
                continue
            told.add(key)
            cells = {name: row.cell(theirs) for name, theirs in filled.items() if name != "node"}
            unseen_row = CaseRow(
                cells, row.node, row.name, row.source, row.order, row.line, UNSEEN_ROW, row.taken
            )
            yield unseen_row, True, row, None

    def _table(self, name: str) -> CaseTable:
        return table_of(self.facts, name)

    # -- what expressions ask for

    def cell(self, alias: str, column: str) -> Fn:
        """Return what gives a cell of the row of an alias."""
        get = self.row_of(alias)

        def cell(env: Env) -> Any:
            row = get(env)
            return None if row is None else row.cell(column)

        def plain(env: Env) -> Any:
            row = get(env)
            return None if row is None else row.cells.get(column)

        return cell if column in ("node", "taken") else plain

    def present(self, alias: str) -> Fn:
        """Return what tells whether an alias has a row."""
        get = self.row_of(alias)
        return lambda env: get(env) is not None

    def row_of(self, alias: str) -> Callable[[Env], CaseRow | None]:
        """Return what gives the row of an alias beside a subject; None or UNSET when there is none."""
        slot = self.slots[alias]
        if slot == BASE or self.aliases[alias].many or alias not in self.joined:
            return lambda env: cast("CaseRow | None", env[slot])
        joiner_of = (
            self._joiner
        )  # made when it is asked for: its own `where` speaks of the alias too

        def beside(env: Env) -> CaseRow | None:
            row = env[slot]
            if row is UNSET:
                row = env[slot] = joiner_of(alias).nearest(env)
            return cast("CaseRow | None", row)

        return beside

    def group_of(self, alias: str) -> Callable[[Env], JoinedRows]:
        """Return what gives the rows of an alias beside a subject."""
        slot, joiner = self.slots[alias] + 1, self._joiner(alias)

        def group(env: Env) -> JoinedRows:
            found: JoinedRows = env[slot]
            if found is UNSET:
                found = env[slot] = joiner.group(env)
            return found

        return group

    def _joiner(self, alias: str) -> Joiner:
        if alias not in self.joiners:
            join = next(join for join in self.rule.joins if join.alias.name == alias)
            self.joiners[alias] = Joiner(
                join, self.facts, self.slots, self.closures, self.wheres, self.look
            )
        return self.joiners[alias]

    def seen(self, name: str, part: str) -> Fn:
        """Return what the logs say: of the subject's own lines, or of the machine."""
        asked = f"{name}.{part}" if part else name
        timed = SEEN_FIELDS.get(part) == "time"
        keys = self._seen_keys(name)

        def value(env: Env) -> Any:
            own = self.answers.get(env[BASE].node, {}).get(name)
            if own is None:
                return None
            key = tuple(key(env) for key in keys)
            if None in key:
                return None if part else own.unknown.value
            found = own.of(key).fields(name)[asked]
            return moment(found) if timed and found is not None else found

        return value

    def _seen_keys(self, name: str) -> list[Fn]:
        scope = next((own[name].scope for own in self.answers.values() if name in own), None)
        found: list[Fn] = []
        for key in scope.keys if scope is not None else ():
            alias, _, column = key.mine.rpartition(".")
            found.append(partial(_key_cell, self.cell(alias, column), key.cell))
        return found

    def parts(self, node: ExprNode) -> Fn:
        """Return what gives the parts of an aggregate."""
        return self.fold(node).parts

    def fold(self, node: ExprNode) -> Fold:
        """Return an aggregate over the rows of a subject."""
        if id(node) not in self.folds:
            argument = node.args[0]
            rows_only = node.op in COUNTING and (argument.type != "bool" or argument.op == "row")
            value = None if rows_only else self.closures(argument)
            joiner, group = self._joiner(node.name), self.group_of(node.name)
            by_mode = any(leaf.op == "known" or leaf.is_aggregate for leaf in argument.walk())
            slot = self.memo() if by_mode else self._slot()
            self.folds[id(node)] = Fold(node, joiner, group, slot, self.whole(node.name), value)
        return self.folds[id(node)]

    def _slot(self) -> int:
        self.size += 1
        return self.size - 1

    def memo(self) -> int:
        """Return a slot for a named value."""
        self.memos.append(self._slot())
        return self.memos[-1]

    # -- what may be missing

    def unsure(self, alias: str) -> Fn:
        """Return what tells whether rows of an alias may be missing."""
        if alias == self.rule.each.name:
            return lambda env: env[UNSEEN]
        if (
            self.rule.aliases[alias].table.given is not None
        ):  # its rows are all there, but which one is meant?
            joiner_of = self._joiner
            return lambda env: joiner_of(alias).key(env) is None
        losses = self.losses(alias)

        def unsure(env: Env) -> bool:
            lost = losses[env[MODE]]
            return lost if isinstance(lost, bool) else env[BASE].node in lost

        return unsure if any(losses) else _false

    def losses(self, alias: str) -> _Losses:
        """Return for each mode on which nodes rows of an alias may be missing."""
        if alias not in self._losses:
            join = next((join for join in self.rule.joins if join.alias.name == alias), None)
            self._losses[alias] = (False,) * 3
            if join is not None and not self.facts.sound():
                table, lines = join.alias.table, join.alias.table.lines_of is not None
                lost = [
                    losing_anywhere(self.facts, table, strict=strict or lines)
                    if join.any_node
                    else frozenset(losing(self.facts, table.name, strict=strict or lines))
                    for strict in (False, True)
                ]
                shown = False if lines and join.alias.many else lost[0]
                self._losses[alias] = (*lost, shown)
        return self._losses[alias]

    def whole(self, alias: str) -> Fn:
        """Return what tells whether a subject without rows of an alias has none."""
        if alias not in self._whole:
            join = next(join for join in self.rule.joins if join.alias.name == alias)
            table = join.alias.table
            nodes = frozenset() if join.any_node else frozenset(whole_nodes(self.facts, table))
            always = join.any_node and whole_anywhere(self.facts, table)
            joiner = self._joiner(alias)
            lines = table.lines_of is not None  # an empty table has nobody's row

            def whole(env: Env) -> bool:
                known = always or env[BASE].node in nodes
                return known and (not lines or joiner.key(env) is not None)

            self._whole[alias] = whole
        return self._whole[alias]

    # -- what is shown

    def detail(self, number: int) -> Detail:
        """Return what is shown of a subject; each value is worked out when it is asked for."""
        return SubjectDetail(self, self._env(*self.bases[number - 1]))


class _Wheres:
    """What the `where` of a join asks for: it speaks of one row at hand, so that none is missing."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.cell, self.present, self.seen = evaluator.cell, evaluator.present, evaluator.seen
        self.parts, self.memo = evaluator.parts, evaluator.memo

    def unsure(self, alias: str) -> Fn:
        """Return what tells whether rows of an alias may be missing: none."""
        del alias
        return _false


def _key_cell(cell: Fn, compared: Callable[[Any], Any], env: Env) -> Any:
    return compared(cell(env))


def _true(_: Env) -> bool:
    return True


def _false(_: Env) -> bool:
    return False


def _order(base: _Base) -> tuple[Any, ...]:
    row = base[0]
    source = (row.source is None, row.source or "")
    fact = -1 if base[3] is None else base[3].number
    return row.name, row.node, after(row.order), source, after(row.line), row.number, fact
