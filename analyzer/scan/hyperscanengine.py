"""The engine that compiles all patterns to one automaton, with Hyperscan (Vectorscan)."""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from analyzer.scan.blocks import Buffer
from analyzer.scan.compiled_pattern import Needle, Proposal, expression
from analyzer.scan.pureengine import PureEngine


class HyperscanEngine:
    """All patterns at once with Hyperscan (Vectorscan); what it refuses goes to PureEngine.

    A compiled database never changes; the scratch space of a scan does, so that each thread has its own.
    """

    def __init__(self, needles: Mapping[int, Needle], cache_dir: Path | None = None) -> None:
        self._hs = importlib.import_module("hyperscan")
        self._own = threading.local()
        expressions = {number: expression(needle) for number, needle in needles.items()}
        self._database, refused = self._compiled(expressions, cache_dir)
        self._rest = PureEngine({number: needles[number] for number in refused}) if refused else None

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """See Engine."""
        found: list[Proposal] = []
        add = found.append

        def on_match(number: int, _start: int, stop: int, _flags: int, _context: object) -> None:
            if stop <= end:
                add((stop - 1, number))

        if self._database is not None:
            # One byte more: 0.9.1 misses `[0-9]+$` in the last line of what it is given.
            text: Buffer | memoryview = memoryview(data)[: end + 1]
            if len(text) == end:
                text = bytes(text) + b"\n"
            self._database.scan(text, match_event_handler=on_match, scratch=self._scratch())
        if self._rest:
            found += self._rest.propose(data, end)
        return found

    def _scratch(self) -> Any:
        if not hasattr(self._own, "scratch"):
            self._own.scratch = self._hs.Scratch(self._database)
        return self._own.scratch

    def _compiled(self, expressions: dict[int, str], cache_dir: Path | None) -> tuple[Any, list[int]]:
        stored = cache_dir / f"{self._key(expressions)}.hsdb" if cache_dir else None
        if stored and (database := self._loaded(stored)) is not None:
            return database, []
        try:
            database = self._compile(expressions)
        except self._hs.error:
            refused = [number for number in expressions if not self._accepts(expressions[number])]
            return self._compile({n: e for n, e in expressions.items() if n not in refused}), refused
        if stored and database is not None:
            _store(stored, self._hs.dumpb(database))
        return database, []

    def _compile(self, expressions: dict[int, str]) -> Any:
        if not expressions:
            return None
        database = self._hs.Database(mode=self._hs.HS_MODE_BLOCK)
        flags = self._hs.HS_FLAG_MULTILINE | self._hs.HS_FLAG_PREFILTER
        database.compile(
            expressions=[one.encode("ascii") for one in expressions.values()],
            ids=list(expressions),
            elements=len(expressions),
            flags=[flags] * len(expressions),
        )
        return database

    def _accepts(self, sought: str) -> bool:
        try:
            self._compile({0: sought})
        except self._hs.error:
            return False
        return True

    def _key(self, expressions: dict[int, str]) -> str:
        text = repr((sorted(expressions.items()), self._hs.__version__, platform.machine(), _cpu()))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def _loaded(self, path: Path) -> Any:
        try:
            database = self._hs.loadb(path.read_bytes(), mode=self._hs.HS_MODE_BLOCK)
            database.scratch = self._hs.Scratch(database)
        except (OSError, TypeError, ValueError, self._hs.error):
            return None
        return database


@cache
def _cpu() -> str:
    """Return what a compiled database depends on besides the library."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(("flags", "Features")):
                return hashlib.sha256(line.encode()).hexdigest()[:16]
    return platform.processor()


def _store(path: Path, data: bytes) -> None:
    """Write aside and rename; a cache that cannot be written is no fault."""
    import tempfile  # noqa: PLC0415 - hardly ever needed

    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
