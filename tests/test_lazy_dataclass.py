"""Our `@dataclass` gives the same classes as the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from analyzer.lazy_dataclass import FEW, lazy_dataclass
from tests.together import together

KINDS = [
    {"frozen": frozen, "slots": slots, "eq": eq, "order": order}
    for frozen, slots, eq, order in itertools.product((False, True), repeat=4)
    if eq or not order
]


def declared(decorate: Callable[..., Any], **kind: bool) -> tuple[Any, Any, Any]:
    """A class with all that ours use, one below it, and one with methods of its own."""

    @decorate(**kind)
    class Row:
        """A row."""

        table: str
        line: int = 0
        cells: list[int] = field(default_factory=list)
        origin: str = field(default="here", compare=False, repr=False)
        late: int = field(default=7, init=False, repr=False, compare=False)
        made: list[int] = field(default_factory=lambda: [1], init=False)

    @decorate(**kind)
    class Child(Row):  # type: ignore[misc]
        """A row with more."""

        more: str = "more"

        def __post_init__(self) -> None:
            self.cells.append(99)

    @decorate(**kind)
    class Own:
        """A class that has its own methods."""

        name: str

        def __repr__(self) -> str:
            return "own"

        def __hash__(self) -> int:
            return 5

    return Row, Child, Own


def answer(ask: Callable[[], Any]) -> Any:
    """What came of it: the value, or the error and its text."""
    try:
        return ask()
    except (TypeError, AttributeError, dataclasses.FrozenInstanceError) as error:
        return type(error), str(error)


def set_and_read(one: Any, name: str) -> Any:
    setattr(one, name, "x")
    return getattr(one, name)


QUESTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "values": lambda row, child, own: [
        (one.table, one.line, one.cells, one.origin, one.late, one.made)
        for one in (row("t"), row("t", 3, [4]), row("t", cells=[1], origin="o"), child("t"), child("t", more="m"))
    ],
    "shown": lambda row, child, own: [repr(row("t", 2)), repr(child("t")), repr(own("a"))],
    "too few": lambda row, child, own: row(),
    "too many": lambda row, child, own: own("a", "b"),
    "no such": lambda row, child, own: row("t", nothing=1),
    "not given": lambda row, child, own: row("t", late=1),
    "equal": lambda row, child, own: [row("t") == row("t", origin="o"), row("t") == row("u"), row("t") == child("t"),
                                      own("a") == own("a"), own("a") == own("b"), row("t") == "t"],
    "order": lambda row, child, own: [row("a") < row("b"), row("a") <= row("a"), row("a") > row("b"), row("b") >= row("a"),
                                      row("a", 2) < row("a", 1)],
    "other kind": lambda row, child, own: row("a") < own("a"),
    "hash": lambda row, child, own: [len({hash(same) for same in [one("a"), one("a")]}) for one in (row, own)],
    "hash of a child": lambda row, child, own: len({child("a"), child("a"), child("b"), row("a")}),
    "hash of one": lambda row, child, own: hash(own("a")),
    "lists": lambda row, child, own: row("t").cells is row("t").cells,
    "set": lambda row, child, own: set_and_read(row("t"), "line"),
    "set in a child": lambda row, child, own: set_and_read(child("t"), "line"),
    "set unknown": lambda row, child, own: set_and_read(row("t"), "unknown"),
    "delete": lambda row, child, own: delattr(row("t"), "line"),
    "fields": lambda row, child, own: [(one.name, one.init, one.repr, one.compare) for one in dataclasses.fields(child)],
    "replace": lambda row, child, own: dataclasses.replace(row("t", 1, [2]), line=5).line,
    "asdict": lambda row, child, own: dataclasses.asdict(child("t")),
    "match": lambda row, child, own: child.__match_args__,
    "copy": lambda row, child, own: copy.copy(row("t", 3)).line,
    "deep copy": lambda row, child, own: repr(copy.deepcopy(child("t", 3))),
    "slots": lambda row, child, own: [getattr(one, "__slots__", None) for one in (row, child, own)],
    "names": lambda row, child, own: [row.__name__, child.__init__.__name__, row.__doc__],
}  # fmt: skip


@pytest.mark.parametrize("few", [1, FEW], ids=["compiled", "first"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(name for name, on in kind.items() if on) or "plain")
@together("question", QUESTIONS)
def test_it_answers_as_the_standard_library_does(
    question: str, kind: dict[str, bool], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values, texts, errors, equality, order, hashes, immutability and copies are those of `dataclasses.dataclass`."""
    monkeypatch.setattr("analyzer.lazy_dataclass.FEW", few)
    ask = QUESTIONS[question]
    ours, theirs = declared(lazy_dataclass, **kind), declared(dataclasses.dataclass, **kind)
    expected = answer(lambda: ask(*theirs))
    if question == "set unknown" and kind["frozen"] and kind["slots"] and expected[0] is TypeError:
        expected = (
            dataclasses.FrozenInstanceError,
            "cannot assign to field 'unknown'",
        )  # what Python 3.11 means to say
    assert answer(lambda: ask(*ours)) == expected


@lazy_dataclass(frozen=True, slots=True)
class Pickled:
    """Stands in a module, as pickle wants it."""

    name: str
    lines: tuple[int, ...] = ()


def test_a_frozen_one_with_slots_goes_to_another_process() -> None:
    """Jobs of a batch are pickled."""
    assert pickle.loads(pickle.dumps(Pickled("a", (1, 2)))) == Pickled("a", (1, 2))


def test_the_constructor_is_compiled_when_objects_become_many() -> None:
    """A class with few objects costs no compiling; from then on the constructor is a plain function of its fields."""
    row, child, _ = declared(lazy_dataclass, frozen=True, slots=True)
    for count in range(1, FEW + 2):
        assert row("t", count).line == count
        child("t")
        compiled = row.__init__.__code__.co_varnames[:3] == ("self", "table", "line")
        assert compiled == (count >= FEW)
