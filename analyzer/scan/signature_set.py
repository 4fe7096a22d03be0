"""The signatures of one table: compiled when a log of it comes, and the engines that propose lines for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.runtime.errors import RuleFileError
from analyzer.scan.careful import Answer
from analyzer.scan.compiled_pattern import Engine, Needle
from analyzer.scan.engines import build_engine
from analyzer.scan.hits import Signature

SMALL = (
    256 << 10
)  # bytes of the logs of one table; to compile 150 signatures takes as long as to search these by hand


@dataclass(slots=True)
class SignatureSet:
    """The signatures of one table, numbered, how lines are searched for them, and the engines built for them.

    engine_name  gives the engine in use; cache_dir: where compiled databases may be kept, None for nowhere
    free         no engine was asked for by name
    needles      the signatures compiled, once a log of the table comes
    sought       those of them that engines seek; every_line: the numbers of all others, which are tried on every line
    folding      the numbers of those sought that ignore case
    """

    engine_name: Callable[[], str]
    cache_dir: Path | None = None
    free: bool = False
    signatures: list[Signature] = field(default_factory=list)
    needles: list[Needle] = field(default_factory=list)
    sought: dict[int, Needle] = field(default_factory=dict)
    every_line: list[int] = field(default_factory=list)
    folding: list[int] = field(default_factory=list)
    searches: list[Callable[[str], Answer] | None] = field(
        default_factory=list
    )  # None: not needed so far
    _engines: dict[frozenset[int], Engine | None] = field(default_factory=dict)
    _searched: int = 0  # bytes of its logs
    _small: Engine | None = None  # for the first of them

    def add(self, signature: Signature) -> None:
        """Take a signature of the table."""
        self.signatures.append(signature)
        self.searches.append(None)

    def compile(self) -> None:
        """Compile the signatures, once; raises RuleFileError for a pattern that is no regex."""
        if not self.needles:
            self._sort_needles([_make_needle(signature) for signature in self.signatures])

    def join_sets(self, sets: Sequence[SignatureSet]) -> SignatureSet:
        """Take the signatures of other sets that are compiled, one set after the other, and return this set."""
        self.signatures = [signature for one in sets for signature in one.signatures]
        self._sort_needles([needle for one in sets for needle in one.needles])
        return self

    def _sort_needles(self, needles: list[Needle]) -> None:
        self.needles = needles
        for number, needle in enumerate(needles):
            if needle.every_line:
                self.every_line.append(number)
                continue
            self.sought[number] = needle
            if needle.folds_case:
                self.folding.append(number)

    def find_engine(self, left_out: frozenset[int], length: int) -> Engine | None:
        """Return what proposes lines for all signatures but some, for so many bytes more; None when none is.

        The first bytes are left to the engine that needs no compiling, unless another one was asked for by name.
        """
        self._searched += length
        if left_out not in self._engines:
            wanted = {
                number: needle for number, needle in self.sought.items() if number not in left_out
            }
            if self.free and self._searched <= SMALL and wanted and not left_out:
                self._small = self._small or build_engine("pure", wanted)
                return self._small
            self._engines[left_out] = (
                build_engine(self.engine_name(), wanted, self.cache_dir) if wanted else None
            )
            while len(self._engines) > 8:  # storms of other nodes; the full set stays
                self._engines.pop(next(key for key in self._engines if key))
        return self._engines[left_out]


def _make_needle(signature: Signature) -> Needle:
    try:
        return Needle.of(signature.pattern, re.IGNORECASE if signature.ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise RuleFileError(
            f"the pattern is not a regular expression: {signature.pattern[:80]!r}",
            where=signature.id,
            why=str(error),
        ) from error
