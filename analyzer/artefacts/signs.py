"""When a cell of a table says trouble: what a parser declares of a column whose name and type do not say it.

`Column("path_state", "str", "state of the path", sign=says_good("active", "standby"))`. Words are compared without regard
to case. A weight of 4.5 is a loss that users feel, 3.5 trouble, 2 what is worth a look.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

How = Literal[
    "fine",
    "rows",
    "loss",
    "good",
    "bad",
    "state",
    "message",
    "above",
    "below",
    "differs",
    "older",
    "named",
    "entry",
]


@dataclass(frozen=True, slots=True)
class CellSign:
    """When a cell of one column says trouble.

    how     fine: never. rows: the row alone does. loss: a counter that is not 0. good: any other word does. bad: these
            words do. state, message: words of trouble do. above, below: beyond `bar`; of a number below 0 its size counts.
            differs: from the column `of`. older: than the capture, or than the column `of`, by more than `bar` days.
            named: as the name in the column `of` says. entry: it names an entry of a list of the maker, which no table of
            ours holds whole; `of` is the column with its words
    words   of good and bad, in lower case
    bar     a number; with `of` the share of that column
    of      another column of the row
    weight  0: what is usual of its kind
    only    a column and words that its cell must hold, or this cell says nothing
    unless  a column and words that its cell must not hold
    names   of `named`: what a name means where its words do not say it
    title   of `entry`: what the list is of
    severity  of `entry`: the column with the severity that the source prints
    quoted  of `entry`: regex of the lines of a log that name one, with a group `entry`, and `severity` where they print it
    """

    how: How
    words: tuple[str, ...] = ()
    bar: float = 0.0
    of: str = ""
    weight: float = 0.0
    only: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    names: tuple[tuple[str, CellSign], ...] = ()
    title: str = ""
    severity: str = ""
    quoted: str = ""

    def only_where(self, column: str, *words: str) -> CellSign:
        """Return the sign for rows alone in which another column holds one of some words."""
        return replace(self, only=(column, *words))

    def except_where(self, column: str, *words: str) -> CellSign:
        """Return the sign for all rows but those in which another column holds one of some words."""
        return replace(self, unless=(column, *words))

    @property
    def columns(self) -> tuple[str, ...]:
        """The other columns that it speaks of."""
        return tuple(
            name for name in (self.of, self.severity, *self.only[:1], *self.unless[:1]) if name
        )


NOTHING = CellSign("fine")  # the name says trouble, and there is none


def says_rows(weight: float = 4.0) -> CellSign:
    """Return the sign of a table whose rows are trouble, one each."""
    return CellSign("rows", weight=weight)


def says_good(*words: str, weight: float = 4.0) -> CellSign:
    """Return the sign of a state for which any other word is trouble."""
    return CellSign("good", tuple(word.lower() for word in words), weight=weight)


def says_bad(*words: str, weight: float = 4.0) -> CellSign:
    """Return the sign of a state or a flag for which these words are trouble."""
    return CellSign("bad", tuple(word.lower() for word in words), weight=weight)


def lies_above(bar: float, of: str = "", weight: float = 3.0) -> CellSign:
    """Return the sign of a number that is trouble above a bar, or above that share of another column."""
    return CellSign("above", bar=bar, of=of, weight=weight)


def lies_below(bar: float, of: str = "", weight: float = 3.0) -> CellSign:
    """Return the sign of a number that is trouble below a bar, or below that share of another column."""
    return CellSign("below", bar=bar, of=of, weight=weight)


def counts_loss(of: str = "", weight: float = 0.0) -> CellSign:
    """Return the sign of a counter of loss, as a share of another column where there is one."""
    return CellSign("loss", of=of, weight=weight)


def differs_from(column: str, weight: float = 2.0) -> CellSign:
    """Return the sign of a value that should be that of another column."""
    return CellSign("differs", of=column, weight=weight)


def dates_before(days: float, of: str = "", weight: float = 2.0) -> CellSign:
    """Return the sign of a date that is trouble when it lies some days before the capture, or another column."""
    return CellSign("older", bar=days, of=of, weight=weight)


def reads_words() -> CellSign:
    """Return the sign of a text whose words say whether there is trouble."""
    return CellSign("message")


def named_by(column: str, **names: CellSign) -> CellSign:
    """Return the sign of a value whose meaning is the name in another column: a table of counters, a row each."""
    return CellSign("named", of=column, names=tuple(names.items()))


def names_entry(title: str, of: str = "", severity: str = "", quoted: str = "") -> CellSign:
    """Return the sign of what names an entry of a closed list: an alarm, an error code, a record of a controller.

    Each is trouble, whether or not a table of facts has it: by the severity that its source prints, else by its words,
    else with a weight of 3.
    """
    return CellSign("entry", of=of, weight=3.0, title=title, severity=severity, quoted=quoted)
