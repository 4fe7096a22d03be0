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

from analyzer import cache_folder
from analyzer.scan.blocks import Buffer
from analyzer.scan.compiled_pattern import Needle, Proposal, expressions
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
        own: dict[str, list[int]] = {}  # several patterns may seek the same
        for number, needle in needles.items():
            for sought in expressions(needle):
                own.setdefault(sought, []).append(number)
        fill = _fillers(MANY - len(own)) if own else []
        self._numbers = [*own.values(), *([] for _ in fill)]
        self._database, places = self._compiled([*own, *fill], cache_dir)
        refused = sorted({number for place in places for number in self._numbers[place]})
        self._rest = PureEngine({number: needles[number] for number in refused}) if refused else None

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
            self._database.scan([text], match_event_handler=on_match, scratch=self._scratch())
        if self._rest:
            found += self._rest.propose(data, end)
        return found

    def _scratch(self) -> Any:
        if not hasattr(self._own, "scratch"):
            self._own.scratch = self._hs.Scratch(self._database)
        return self._own.scratch

    def _compiled(self, sought: list[str], cache_dir: Path | None) -> tuple[Any, list[int]]:
        name = f"{cache_folder.PATTERNS}{self._key(sought)}{cache_folder.ENDING}"
        stored = cache_dir / name if cache_dir else None
        if stored and (database := self._loaded(stored)) is not None:
            return database, []
        places = dict(enumerate(sought))
        try:
            database = self._compile(places)
        except self._hs.error:
            refused = [place for place in places if not self._accepts(places[place])]
            return self._compile({place: one for place, one in places.items() if place not in refused}), refused
        if stored and database is not None:
            cache_folder.write_sealed(stored, FORMAT, self._hs.dumpb(database))
        return database, []

    def _compile(self, places: dict[int, str]) -> Any:
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

    def _accepts(self, sought: str) -> bool:
        try:
            self._compile({0: sought})
        except self._hs.error:
            return False
        return True

    def _key(self, sought: list[str]) -> str:
        text = repr((sought, self._mode, self._hs.__version__, platform.machine(), _cpu()))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def _loaded(self, path: Path) -> Any:
        try:
            database = self._hs.loadb(cache_folder.read_sealed(path, FORMAT, MOST_BYTES), mode=self._mode)
            database.scratch = self._hs.Scratch(database)
        except (OSError, TypeError, ValueError, self._hs.error):
            return None
        return database


def _fillers(count: int) -> list[str]:
    """Return literals that hardly any text holds, no two with one ending; who finds one proposes nothing."""
    mixed = (number * 0x9E3779B1 % (1 << 36) for number in range(1, count + 1))
    return ["".join(f"\\x0{int(digit) + 1}" for digit in f"{one:012o}") for one in mixed]


@cache
def _cpu() -> str:
    """Return what a compiled database depends on besides the library."""
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith(("flags", "Features")):
                return hashlib.sha256(line.encode()).hexdigest()[:16]
    return platform.processor()
