"""Something to open: where it is and what its container says about it."""

from __future__ import annotations

import sys
from typing import BinaryIO

from analyzer.lazy_dataclass import dataclass
from analyzer.sources.stream import BLOCK, Block, Stream, StreamFault

STDIN = "stdin"  # the address of standard input; its lines are stdin:1, stdin:2, …


@dataclass(frozen=True, slots=True)
class Item:
    """A file or member before it is opened; fields as in Member.

    top  given by the user or lying loose in a folder given by the user
    """

    address: str
    path: str
    root: str
    in_archive: bool = False
    size: int | None = None
    mtime: float | None = None
    top: bool = False


class Refused(Exception):
    """The file is neither archive nor text; carries what it looks like."""


class StandardInput:
    """Standard input as a file of the case, `-` on the command line: read once, forward, whatever it holds."""

    name = STDIN

    def __str__(self) -> str:
        return STDIN

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
