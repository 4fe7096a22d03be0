"""What a finding shows of a subject: values, deciding rows and matching rows, computed on demand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from analyzer.facts import UNSEEN_ROW
from analyzer.judge.case_rows import moment
from analyzer.judge.closures import UNSET, Env, Fn
from analyzer.judge.folding import in_order, leaves
from analyzer.judge.subjects import Detail
from analyzer.rules.language.expression import ExprNode

if TYPE_CHECKING:
    from analyzer.judge.evaluator import Evaluator

BASE, UNSEEN, MODE = range(
    3
)  # slots: the subject's row, whether it stands for what was not seen, how it is judged
PLAIN, CAREFUL, SHOWN = range(
    3
)  # the last: what a finding prints, values over the lines that were seen


class SubjectDetail(Detail):
    """What a finding shows of one subject, worked out when it is asked for."""

    def __init__(self, evaluator: Evaluator, env: Env) -> None:
        super().__init__(env[BASE].node, env[BASE].name)
        self.evaluator, self.env = evaluator, self._grown(evaluator, env)
        self._printed: Env | None = None
        self._values: dict[int, Any] = {}
        self._rows: dict[str, int | None] = {}
        self._deciding: dict[int, dict[str, int | None]] = {}

    @staticmethod
    def _grown(evaluator: Evaluator, env: Env) -> Env:
        return env + [UNSET] * (evaluator.size - len(env))

    def asked(self, node: ExprNode) -> bool:
        """Tell whether a node has one value that was asked for."""
        return id(node) in self.evaluator.single

    def value(self, node: ExprNode) -> Any:
        """Return the value of a node as people read it: of a version its text."""
        if id(node) not in self._values:
            self._values[id(node)] = self._value(node) if self.asked(node) else None
        return self._values[id(node)]

    def _value(self, node: ExprNode) -> Any:
        named = node
        while named.op == "let":
            named = named.args[0]
        if named.op == "column" and named.type == "version":
            return self._get(self.evaluator.cell(named.name, named.column), self.env)
        if named.op == "literal":  # a bare one is known from the node itself
            return (
                None
                if named is node
                else moment(str(named.value))
                if named.type == "time"
                else named.value
            )
        if named.op == "row":
            row = self.row(named.name)
            return True if row is not None else None
        return self._get(self.evaluator.closures(node), self._env_of(node))

    def _get(self, value: Fn, env: Env) -> Any:
        missing = self.evaluator.size - len(env)
        if missing > 0:  # a closure made since has slots of its own
            env.extend([UNSET] * missing)
        return value(env)

    def _env_of(self, node: ExprNode) -> Env:
        """Return the subject as a node is judged: what a finding prints minds lines that were seen only."""
        if id(node) not in self.evaluator.printed:
            return self.env
        if self._printed is None:
            self._printed = self.evaluator.in_mode(self.env, SHOWN)
        return self._printed

    def row(self, alias: str) -> int | None:
        """Return the number of the row of an alias, None when it is not there."""
        if alias not in self._rows:
            row = self._get(self.evaluator.row_of(alias), self.env)
            self._rows[alias] = (
                None if row is None or row is UNSET or row.number == UNSEEN_ROW else int(row.number)
            )
        return self._rows[alias]

    def counted(self, node: ExprNode) -> tuple[int, int, int]:
        """Return rows, known ones and true ones of an aggregate."""
        fold = self.evaluator.fold(node)
        rows, known, true = self._get(fold.parts, self.env) or (0, 0, 0)
        return rows, known, true if fold.counting else 0

    def deciding(self, node: ExprNode) -> dict[str, int | None]:
        """Return for each column that an aggregate looks at the row that decides."""
        if id(node) not in self._deciding:
            fold = self.evaluator.fold(node)
            self._deciding[id(node)] = {
                column: self._get(partial(fold.deciding, leaf=leaf, least=least), self.env)
                for column, (leaf, least) in leaves(node).items()
            }
        return self._deciding[id(node)]

    def fulfilling(self, node: ExprNode) -> list[int]:
        """Return the first rows that fulfil the condition of an aggregate."""
        found: list[int] = self._get(self.evaluator.fold(node).fulfilling, self.env)
        return found

    def listed(self, alias: str) -> list[int]:
        """Return all rows of an alias, in the order of the case."""
        return in_order(self._get(self.evaluator.group_of(alias), self.env))

    def drawn(self, alias: str, column: str) -> tuple[list[str], list[float]] | None:
        """Return the stamps and values of a counter over the samples of an alias; None where only its rows can tell."""
        group = self._get(self.evaluator.group_of(alias), self.env)
        if group.rows or len(group.captures) != 1:
            return None
        stretch = group.captures[0]
        found = stretch.capture.drawn(column, stretch.places)
        return None if found is None else (found[0], found[1].tolist())
