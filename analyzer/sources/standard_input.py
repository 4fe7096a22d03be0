"""Standard input as one of the files of a case: read once, forward, whatever it holds."""

from __future__ import annotations

import sys
from typing import BinaryIO

from analyzer.sources.stream import BLOCK, Block, Stream, StreamFault

NAME = "stdin"  # its address; its lines are stdin:1, stdin:2, …


class StandardInput:
    """What `-` stands for on the command line."""

    name = NAME

    def __str__(self) -> str:
        return NAME

    @staticmethod
    def stream() -> Stream:
        """Return its bytes."""
        return _InputStream(sys.stdin.buffer)


class _InputStream(Stream):
    """The bytes of a file that cannot go back."""

    def __init__(self, handle: BinaryIO) -> None:
        super().__init__()
        self._handle = handle

    def block(self) -> Block:
        """Return the next bytes; a read that fails is a fault."""
        try:
            data = self._handle.read(BLOCK)
        except (OSError, ValueError) as error:  # closed
            why = getattr(error, "strerror", None) or str(error)
            self.faults.append(StreamFault(f"cannot be read: {why}", self.consumed, "cut", "the rest"))
            return b""
        self.consumed += len(data)
        return data
