"""Runs parsers so that one that fails costs its own artefact and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.errors import BacklineError
from analyzer.parsing import Parser
from analyzer.secrets.values import hide
from analyzer.tables import Block, Fault, Frame, Row

FAILED = "the parser failed: "


def guarded(parser: Parser, block: Block) -> Iterator[Row | Fault]:
    """Yield what a parser yields; a parser that fails costs its own artefact and nothing else."""
    try:
        yield from parser.parse(block)
    except Exception as error:  # noqa: BLE001 - hostile text must not stop the run; the fault is reported
        why = f"{FAILED}{type(error).__name__}: {error}"[:300]
        yield Fault(block.address, block.first_line, "", parser.name, why=why)


class GuardedStream:
    """What a stream parser yields; one that fails costs the rest of its own artefact and nothing else.

    failed  "" or why it failed, once the stream has ended; what came before is kept
    """

    def __init__(self, parser: Parser, block: Block, chunks: Iterator[bytes | memoryview]) -> None:
        self.parser, self.block, self.chunks = parser, block, chunks
        self.failed = ""

    def __iter__(self) -> Iterator[Row | Frame | Fault]:
        assert self.parser.stream is not None
        try:
            yield from self.parser.stream(self.block, self.chunks)
        except BacklineError:
            raise
        except Exception as error:  # noqa: BLE001 - hostile text must not stop the run; the fault is reported
            self.failed = hide(f"{FAILED}{type(error).__name__}: {error}")[:300]
            yield Fault(self.block.address, self.block.first_line, "", self.parser.name, why=self.failed)
