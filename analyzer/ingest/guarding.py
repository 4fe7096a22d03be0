"""Runs parsers so that one that fails costs its own artefact and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Generic, TypeVar

from analyzer.artefacts.parsing import Parser, Wanted
from analyzer.artefacts.tables import Block, Fault, Frame, Row
from analyzer.runtime.guard import guard_part
from analyzer.secrets.values import hide

FAILED = "the parser failed: "
T = TypeVar("T", bound=Row | Frame | Fault)


class Guarded(Generic[T]):
    """What a parser yields; one that fails costs the rest of its own artefact and nothing else.

    run     parses the block
    failed  "" or why it failed, once all was taken; what came before is kept, and a fault comes last
    """

    def __init__(self, parser: Parser, block: Block, run: Callable[[], Iterable[T]]) -> None:
        self.parser, self.block, self.run = parser, block, run
        self.failed = ""

    def __iter__(self) -> Iterator[T | Fault]:
        with guard_part(self._fail):
            yield from self.run()
        if self.failed:
            yield Fault(
                self.block.address, self.block.first_line, "", self.parser.name, why=self.failed
            )

    def _fail(self, error: Exception) -> None:
        self.failed = hide(f"{FAILED}{type(error).__name__}: {error}")[:300]


def guarded(parser: Parser, block: Block) -> Guarded[Row | Fault]:
    """Return what a parser yields of a block."""
    return Guarded(parser, block, partial(parser.parse, block))


def guarded_stream(
    parser: Parser, block: Block, chunks: Iterable[bytes | memoryview], wanted: Wanted
) -> Guarded[Row | Frame | Fault]:
    """Return what a stream parser yields of the text in `chunks`, of samples the columns that are wanted."""
    assert parser.stream is not None
    return Guarded(parser, block, partial(parser.stream, block, chunks, wanted))
