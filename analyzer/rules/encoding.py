"""A rule as JSON and back, derived from the dataclasses themselves: a field added to one of them needs no line here.

A value that JSON has stands as it is. Anything else is a list whose first element says what follows: the number of
a class and its fields, or one of the marks below. An object met before is named by its number, so that what was one
object is one object again (`language/expression.py`: a named value is the same node wherever it is used).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from analyzer.artefacts import tables as declared
from analyzer.artefacts.tables import Column, Table
from analyzer.rules import model
from analyzer.rules.language import expression, rulefile, template

AGAIN, DICT, LIST, TUPLE, FROZENSET, SET, TABLE, COLUMNS = -1, -2, -3, -4, -5, -6, -7, -8
_PLAIN = (str, int, bool, float, type(None))
_SEVERAL = {list: LIST, tuple: TUPLE, frozenset: FROZENSET, set: SET}
_MADE: dict[int, Any] = {mark: kind for kind, mark in _SEVERAL.items()}

# The only classes that are ever made of stored data.
CLASSES: tuple[type[Any], ...] = tuple(
    sorted(
        {
            found
            for module in (model, expression, template, rulefile, declared)
            for found in vars(module).values()
            if isinstance(found, type) and is_dataclass(found)
        },
        key=lambda found: found.__name__,
    )
)
_NUMBERS: dict[Any, int] = {found: number for number, found in enumerate(CLASSES)}


def shapes() -> list[list[str]]:
    """Return the names of the classes and of their fields: what is stored can be read as long as they are the same."""
    return [[found.__name__, *(one.name for one in fields(found) if one.init)] for found in CLASSES]


class Encoder:
    """Turns values into what JSON can hold; a TypeError for one that cannot be stored.

    tables  are named only, not written out: they are declared by parsers
    """

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self._met: dict[int, int] = {}
        self._kept: list[Any] = []  # their ids stay theirs
        self._ending: dict[Column, list[Table]] = {}  # last column -> tables

    def encode(self, value: Any) -> Any:
        """Return a value as JSON can hold it."""
        kind: Any = type(value)
        if kind in _PLAIN:
            return value
        if isinstance(value, Table) and self._tables.get(value.name) is value:
            return [TABLE, value.name]
        if (
            kind is tuple
            and value
            and type(value[-1]) is Column
            and (log := self._log_of(value)) is not None
        ):
            own = value[: len(value) - len(_others(value, log))]
            return [COLUMNS, log.name, *map(self.encode, own)]
        if kind in _SEVERAL:
            some = sorted(value) if kind in (set, frozenset) else value
            return [_SEVERAL[kind], *map(self.encode, some)]
        if kind is dict:
            return [DICT, *(self.encode(part) for pair in value.items() for part in pair)]
        if kind not in _NUMBERS:
            raise TypeError(f"{kind.__name__} cannot be stored")
        if id(value) in self._met:
            return [AGAIN, self._met[id(value)]]
        made = [_NUMBERS[kind], *map(self.encode, _arguments(value))]
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        return made

    def _log_of(self, columns: tuple[Column, ...]) -> Table | None:
        """Return the table whose columns follow those that are a signature's own, as the lines of a log have them."""
        if not self._ending:
            for table in self._tables.values():
                if table.columns:
                    self._ending.setdefault(table.columns[-1], []).append(table)
        return next(
            (one for one in self._ending.get(columns[-1], ()) if _others(columns, one)), None
        )


def _others(columns: tuple[Column, ...], log: Table) -> tuple[Column, ...]:
    """Return the columns at the end that are those of a table which no column before them replaces, else none."""
    left = {one.name for one in log.columns}
    for start in range(len(columns)):
        if start:
            left.discard(columns[start - 1].name)
        if len(left) == len(columns) - start:  # only then it is worth a look
            rest = columns[start:]
            if tuple(one for one in log.columns if one.name in left) == rest:
                return rest
    return ()


def _arguments(value: Any) -> Iterable[Any]:
    """Return the fields of an object in their order, without those at the end that are as by default."""
    own = [(one, getattr(value, one.name)) for one in fields(value) if one.init]
    while own and _by_default(*own[-1]):
        own.pop()
    return [part for _, part in own]


def _by_default(field: Any, value: Any) -> bool:
    default = field.default
    return (
        default is not MISSING
        and type(value) in _PLAIN
        and type(value) is type(default)
        and value == default
    )


class Decoder:
    """Turns what an Encoder made into the same values again; whatever else raises one of `DAMAGE`."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self._made: list[Any] = []

    def decode(self, item: Any) -> Any:
        """Return the value that an item stands for."""
        if type(item) is not list:
            return item
        mark, *rest = item
        if mark >= 0:
            made = CLASSES[mark](
                *[one if type(one) is not list else self.decode(one) for one in rest]
            )
            self._made.append(made)
            return made
        if mark == AGAIN:
            return self._made[rest[0]]
        if mark == TABLE:
            return self._tables[rest[0]]
        if mark == COLUMNS:
            own = [self.decode(one) for one in rest[1:]]
            taken = {one.name for one in own}
            return (*own, *(one for one in self._tables[rest[0]].columns if one.name not in taken))
        if mark == DICT:
            parts = [self.decode(one) for one in rest]
            return dict(zip(parts[::2], parts[1::2], strict=True))
        return _MADE[mark](self.decode(one) for one in rest)


DAMAGE = (TypeError, ValueError, LookupError, AttributeError, RecursionError, OverflowError)
