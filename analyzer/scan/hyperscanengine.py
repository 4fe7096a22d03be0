"""The engine that compiles all patterns to one automaton, with Hyperscan (Vectorscan)."""

from __future__ import annotations

import hashlib
import importlib
import platform
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from analyzer.runtime import cache_folder
from analyzer.scan.blocks import Buffer
from analyzer.scan.compiled_pattern import Needle, Proposal, list_expressions
from analyzer.scan.pureengine import PureEngine

FORMAT = "backline/patterns-1"
MOST_BYTES = 16 << 20  # of one database; the 168 patterns of all logs of a host take 141 kB
MANY = 72  # expressions; for fewer literals the library chooses a matcher that takes two to three times as long


class HyperscanEngine:
    """All patterns at once with Hyperscan (Vectorscan); what it refuses goes to PureEngine.

    A compiled database never changes; the scratch space of a scan does, so that each thread has its own.
    """

    def __init__(self, needles: Mapping[int, Needle], cache_dir: Path | None = None) -> None:
        self._hs = importlib.import_module("hyperscan")
        # for one block this is as quick as HS_MODE_BLOCK, and compiled in a fifth to a tenth of the time
        self._mode = self._hs.HS_MODE_VECTORED
        self._own = threading.local()
        numbers: dict[str, list[int]] = {}  # several patterns may seek the same
        for number, needle in needles.items():
            for sought in list_expressions(needle):
                numbers.setdefault(sought, []).append(number)
        if numbers:
            for filler in _make_fillers(MANY - len(numbers)):
                numbers.setdefault(filler, [])
        self._numbers = list(numbers.values())
        self._database, places = self._compile_all(list(numbers), cache_dir)
        refused: set[int] = set()
        for place in places:
            refused.update(self._numbers[place])
        self._rest = (
            PureEngine({number: needles[number] for number in sorted(refused)}) if refused else None
        )

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """See Engine."""
        found: list[Proposal] = []
        add, numbers = found.append, self._numbers

        def on_match(place: int, _start: int, stop: int, _flags: int, _context: object) -> None:
            if stop <= end:
                for number in numbers[place]:
                    add((stop - 1, number))

        if self._database is not None:
            # One byte more: 0.9.1 misses `[0-9]+$` in the last line of what it is given.
            text: Buffer | memoryview = memoryview(data)[: end + 1]
            if len(text) == end:
                text = bytes(text) + b"\n"
            if not hasattr(self._own, "scratch"):
                self._own.scratch = self._hs.Scratch(self._database)
            self._database.scan([text], match_event_handler=on_match, scratch=self._own.scratch)
        if self._rest:
            found += self._rest.propose(data, end)
        return found

    def _compile_all(self, sought: list[str], cache_dir: Path | None) -> tuple[Any, list[int]]:
        machine = platform.machine(), _describe_cpu()
        parts = repr((sought, self._mode, self._hs.__version__, *machine))
        key = hashlib.sha256(parts.encode()).hexdigest()[:32]
        name = f"{cache_folder.PATTERNS}{key}{cache_folder.ENDING}"
        stored = cache_dir / name if cache_dir else None
        if stored and (database := self._load_database(stored)) is not None:
            return database, []
        try:
            database = self._compile_places(dict(enumerate(sought)))
        except self._hs.error:
            accepted: dict[int, str] = {}
            refused: list[int] = []
            for place, text in enumerate(sought):
                if self._is_accepted(text):
                    accepted[place] = text
                else:
                    refused.append(place)
            return self._compile_places(accepted), refused
        if stored and database is not None:
            cache_folder.write_sealed(stored, FORMAT, self._hs.dumpb(database))
        return database, []

    def _compile_places(self, places: dict[int, str]) -> Any:
        if not places:
            return None
        database = self._hs.Database(mode=self._mode)
        flags = self._hs.HS_FLAG_MULTILINE | self._hs.HS_FLAG_PREFILTER
        database.compile(
            expressions=[one.encode("ascii") for one in places.values()],
            ids=list(places),
            elements=len(places),
            flags=[flags] * len(places),
        )
        return database

    def _is_accepted(self, sought: str) -> bool:
        try:
            self._compile_places({0: sought})
        except self._hs.error:
            return False
        return True

    def _load_database(self, path: Path) -> Any:
        try:
            database = self._hs.loadb(
                cache_folder.read_sealed(path, FORMAT, MOST_BYTES), mode=self._mode
            )
            database.scratch = self._hs.Scratch(database)
        except (OSError, TypeError, ValueError, self._hs.error):
            return None
        return database


def _make_fillers(count: int) -> list[str]:
    """Return literals that hardly any text holds, no two with one ending; a hit of one proposes nothing."""
    fillers = []
    for number in range(1, count + 1):
        digits = f"{number * 0x9E3779B1 % (1 << 36):012o}"
        fillers.append("".join(f"\\x0{int(digit) + 1}" for digit in digits))
    return fillers


@cache
def _describe_cpu() -> str:
    """Return what a compiled database depends on besides the library."""
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith(("flags", "Features")):
                return hashlib.sha256(line.encode()).hexdigest()[:16]
    return platform.processor()
