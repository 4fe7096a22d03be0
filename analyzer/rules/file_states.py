"""What rule files were like when they were read last: one that nobody touched since need not be read again.

A file counts as untouched while its size, its times of change and its number on the disk are as they were. A file that
was written within `SETTLED_NS` before it was looked at may be written once more in the same tick of the clock: it is
read again in the next run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SETTLED_NS = 2_000_000_000  # FAT keeps times in steps of 2 s, all others in finer ones


class FileStates:
    """The files of one place that rules come from.

    known  path -> [size, changed, changed as a file, number, SHA-256 of the bytes in hex]
    new    a state was added that a later run may rely on
    """

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known
        self.used: dict[str, list[Any]] = {}
        self.new = False

    def untouched(self, path: Any, most: int) -> bytes | None:
        """Return the SHA-256 of a file that is as it was; None for one that has to be read, as is any above `most`."""
        kept = self._known.get(str(path)) if isinstance(path, Path) else None
        if not isinstance(kept, list) or len(kept) != 5:
            return None
        try:
            if _state(path) != kept[:4] or kept[0] > most:
                return None
            digest = bytes.fromhex(kept[4])
        except (OSError, ValueError, TypeError):
            return None
        self.used[str(path)] = kept
        return digest

    def looked(self, path: Any) -> list[int] | None:
        """Return what a file is like before it is read; None where a later run could not rely on it."""
        try:
            state = _state(path) if isinstance(path, Path) else None
        except OSError:
            return None
        return (
            state if state is not None and max(state[1:3]) < time.time_ns() - SETTLED_NS else None
        )

    def was_read(self, path: Path, state: list[int] | None, digest: bytes) -> None:
        """Take a file that was read after it had been looked at."""
        if state is not None:
            self.used[str(path)] = [*state, digest.hex()]
            self.new = True


def _state(path: Path) -> list[int]:
    told = os.stat(path)  # noqa: PTH116 - three hundred a run
    return [told.st_size, told.st_mtime_ns, told.st_ctime_ns, told.st_ino]
