"""Finds what belongs together over several sides: the same machine, the same row, though it has another name now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
Marks = Sequence[
    Sequence[Hashable]
]  # by rank, the surest first: what tells a thing from all others of its side


@dataclass(slots=True)
class Match(Generic[T]):
    """One thing as each side has it, None where a side has it not; `rank` of the weakest mark that joined two sides."""

    on: list[T | None]
    rank: int = -1

    @property
    def first(self) -> T:
        """The thing as the first side that has it knows it."""
        return next(one for one in self.on if one is not None)

    @property
    def last(self) -> T:
        """The thing as the last side that has it knows it."""
        return next(one for one in reversed(self.on) if one is not None)

    @property
    def everywhere(self) -> bool:
        """Say whether every side has it."""
        return all(one is not None for one in self.on)


def match_things(
    sides: Sequence[Sequence[tuple[T, Marks]]],
    agree: Callable[[T, T, int], bool] = lambda _one, _other, _rank: True,
) -> list[Match[T]]:
    """Return what is the same on several sides, in the order of the first side that has it.

    A mark that two things of one side share tells neither of them. A surer mark is tried on all things before a
    weaker one: a NIC that took the name of another is not taken for it while its address tells who it is.

    agree  whether two things that share a mark of a rank may be one
    """
    found: list[Match[T]] = []
    known: dict[tuple[int, Hashable], Match[T]] = {}
    for place, things in enumerate(sides):
        shared = Counter(
            (rank, mark)
            for _, marks in things
            for rank, some in enumerate(marks)
            for mark in {*some}
        )
        homes: list[Match[T] | None] = [None] * len(things)
        for rank in range(max((len(marks) for _, marks in things), default=0)):
            for number, (thing, marks) in enumerate(things):
                if homes[number] is not None or rank >= len(marks):
                    continue
                own = [known.get((rank, mark)) for mark in marks[rank] if shared[rank, mark] == 1]
                home = None
                for one in own:
                    if one and one.on[place] is None and agree(one.last, thing, rank):
                        home = one
                        break
                if home is not None:
                    home.on[place] = thing
                    home.rank = max(home.rank, rank)
                    homes[number] = home
        for number, (thing, marks) in enumerate(things):
            home = homes[number]
            if home is None:
                home = Match([thing if at == place else None for at in range(len(sides))])
                found.append(home)
            for rank, some in enumerate(marks):
                for mark in some:
                    if shared[rank, mark] == 1:
                        known.setdefault((rank, mark), home)
    return found
