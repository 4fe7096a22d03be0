"""Engines that propose lines of a block for patterns; they differ in speed, never in result.

An engine gets the over-approximations of `analyzer.scan.prefilter` and answers with places. Each
place names a line that the pattern may match; Python's `re` on that single line decides. So an
engine may propose too much, and must never miss a line.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

from analyzer.errors import UsageError
from analyzer.scan.blocks import Buffer
from analyzer.scan.growth import proven_linear
from analyzer.scan.prefilter import Required, analyse

ENGINES = ("hyperscan", "re2", "pure")

SAMPLE = 1 << 18  # bytes of the first block in which the rarest literal is looked for
KEPT = 32  # compiled engines a process keeps: one a log with signatures, and some without those that storm

Proposal = tuple[int, int]  # offset of a byte of the line, number of the pattern


@dataclass(frozen=True, slots=True)
class Needle:
    """A pattern ready for the engines; `compiled` is the one that decides."""

    compiled: re.Pattern[str]
    choices: tuple[Required, ...]
    approximation: str | None
    folds_case: bool  # it ignores case, somewhere

    @classmethod
    def of(cls, pattern: str, flags: int = 0) -> Needle:
        """Compile a pattern; raises re.error when it is none."""
        compiled = re.compile(pattern, flags)
        found = analyse(pattern, flags)
        return cls(compiled, found.choices, found.approximation, found.folds_case)

    @property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """The search of the pattern itself in one line."""
        return self.compiled.search

    @property
    def every_line(self) -> bool:
        """True when nothing of it can be sought, so that it has to be tried on every line."""
        return not self.choices and self.approximation is None

    def by_literals(self, sample: bytes) -> Needle:
        """Return the needle sought by its best literals alone; it must have some."""
        choice = self.best_choice(sample)
        return replace(self, choices=(choice,) if choice else (), approximation=None)

    def best_choice(self, sample: bytes = b"") -> Required | None:
        """Return the literals to seek: the rarest in a sample of the text, else the longest."""
        if not self.choices:
            return None
        if len(self.choices) == 1 or not sample:
            return max(self.choices, key=lambda choice: choice.weight)
        lowered = sample.lower()

        def cost(choice: Required) -> tuple[int, int]:
            text = lowered if choice.ignore_case else sample
            # a literal takes about as long to seek as 5,000 candidates take to look at
            seen = sum(text.count(literal) for literal in choice.encoded())
            return 5_000 * len(choice.texts) + 64 * seen, -choice.weight[0]

        return min(self.choices, key=cost)


class Engine(Protocol):
    """Proposes (offset, pattern number) pairs for the lines of `data[:end]`, in any order."""

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """Return at least one place for each line and pattern that match."""


def build(name: str, needles: Mapping[int, Needle], cache_dir: Path | None = None) -> Engine:
    """Return the engine `name` for numbered patterns, none of which is `every_line`.

    What costs to compile is kept in the process: the next case with the same rules gets the same engine,
    which threads may share. PureEngine costs little, and learns from the text it meets, so each gets its own.
    """
    if name == "hyperscan" and cache_dir is not None:
        return HyperscanEngine(needles, cache_dir)
    if name in ("hyperscan", "re2"):
        return _kept(name, tuple(needles.items()))
    return PureEngine(needles)


@lru_cache(KEPT)
def _kept(name: str, needles: tuple[tuple[int, Needle], ...]) -> Engine:
    return HyperscanEngine(dict(needles)) if name == "hyperscan" else Re2Engine(dict(needles))


def choose(name: str = "auto") -> str:
    """Return the engine to use: the one asked for, or with "auto" the quickest there is.

    Raises UsageError for an unknown or missing one.
    """
    if name == "auto":
        return next(engine for engine in ENGINES if _available(engine))
    if name not in ENGINES:
        raise UsageError(f"there is no engine {name}", do="Choose one of: auto, " + ", ".join(ENGINES))
    if not _available(name):
        raise UsageError(
            f"the engine {name} cannot be loaded",
            why="its package is not installed or does not run on this processor",
            do="Install it, or leave the choice to «auto»: the findings are the same",
        )
    return name


@cache
def _available(name: str) -> bool:
    if name == "pure":
        return True
    if name == "hyperscan" and not _safe_to_import():
        return False
    try:
        importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a broken wheel must not stop a triage
        return False
    return True


def _safe_to_import() -> bool:
    """Tell whether importing hyperscan cannot kill the process.

    On an old x86 processor the import has ended with «Illegal instruction»
    (darvid/python-hyperscan#151). So without AVX2 it is tried in a child first.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    if platform.machine() not in ("x86_64", "AMD64") or " avx2" in flags:
        return True
    import subprocess  # noqa: PLC0415 - hardly ever needed

    done = subprocess.run([sys.executable, "-c", "import hyperscan"], capture_output=True, check=False)
    return done.returncode == 0


# --- pure Python --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Plan:
    """What to seek: literals (as they stand, and in lowered text) and regexes, with pattern numbers.

    every  patterns for which every line is proposed
    """

    exact: dict[bytes, list[int]] = field(default_factory=dict)
    lowered: dict[bytes, list[int]] = field(default_factory=dict)
    regexes: list[tuple[re.Pattern[bytes], int]] = field(default_factory=list)
    every: list[int] = field(default_factory=list)


class PureEngine:
    """Required literals with `bytes.find`; needs nothing but Python."""

    def __init__(self, needles: Mapping[int, Needle]) -> None:
        self._needles = needles
        self._plan = self._planned(b"")
        self._sampled = False

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """See Engine."""
        if not self._sampled and end >= SAMPLE:
            self._plan = self._planned(bytes(memoryview(data)[:SAMPLE]))
            self._sampled = True
        found: list[Proposal] = []
        for literal, numbers in self._plan.exact.items():
            found += ((at, n) for at in _places(data, end, literal) for n in numbers)
        if self._plan.lowered:
            lowered = bytes(memoryview(data)[:end]).lower()
            for literal, numbers in self._plan.lowered.items():
                found += ((at, n) for at in _places(lowered, end, literal) for n in numbers)
        for regex, number in self._plan.regexes:
            found += ((match.end() - 1, number) for match in regex.finditer(data, 0, end))
        if self._plan.every:
            found += ((at, n) for at in _places(data, end, b"\n") for n in self._plan.every)
        return found

    def _planned(self, sample: bytes) -> _Plan:
        plan = _Plan()
        for number, needle in self._needles.items():
            choice = needle.best_choice(sample)
            if choice is None:
                regex = _sought(needle)
                if regex is None:
                    plan.every.append(number)
                else:
                    plan.regexes.append((regex, number))
                continue
            where = plan.lowered if choice.ignore_case else plan.exact
            for literal in choice.encoded():
                where.setdefault(literal, []).append(number)
        return plan


def _places(data: Buffer, end: int, literal: bytes) -> Iterator[int]:
    """Yield one place of `literal` a line; of the line feed, each one."""
    at = data.find(literal, 0, end)
    while at >= 0:
        yield at
        line_end = data.find(b"\n", at, end) + 1
        if not line_end:
            return
        at = data.find(literal, line_end, end)


def places_of(needle: Needle, data: Buffer, end: int) -> Iterator[int]:
    """Yield places a pattern may match, one a line for each thing sought; for any engine the same."""
    choice = needle.best_choice()
    if choice is not None:
        text = bytes(memoryview(data)[:end]).lower() if choice.ignore_case else data
        for literal in choice.encoded():
            yield from _places(text, end, literal)
    elif (regex := _sought(needle)) is not None:
        yield from (match.end() - 1 for match in regex.finditer(data, 0, end))
    else:
        yield from _places(data, end, b"\n")


def _sought(needle: Needle) -> re.Pattern[bytes] | None:
    """Return the approximation for Python's `re`, or None when it is not certain that its work stays linear."""
    text = needle.approximation
    if text is None or not proven_linear(text, re.MULTILINE):
        return None
    return re.compile(text.encode("ascii"), re.MULTILINE)


# --- Hyperscan ----------------------------------------------------------------------------------


class HyperscanEngine:
    """All patterns at once with Hyperscan (Vectorscan); what it refuses goes to PureEngine.

    A compiled database never changes; the scratch space of a scan does, so that each thread has its own.
    """

    def __init__(self, needles: Mapping[int, Needle], cache_dir: Path | None = None) -> None:
        self._hs = importlib.import_module("hyperscan")
        self._own = threading.local()
        expressions = {number: _expression(needle) for number, needle in needles.items()}
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
            expressions=[expression.encode("ascii") for expression in expressions.values()],
            ids=list(expressions),
            elements=len(expressions),
            flags=[flags] * len(expressions),
        )
        return database

    def _accepts(self, expression: str) -> bool:
        try:
            self._compile({0: expression})
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


def _expression(needle: Needle) -> str:
    """Return the regex to compile: the approximation, else the literals."""
    if needle.approximation is not None:
        return needle.approximation
    choice = needle.best_choice()
    assert choice is not None, "a pattern tried on every line never comes here"
    text = "|".join("".join(f"\\x{byte:02x}" for byte in literal) for literal in choice.encoded())
    return f"(?{'i' if choice.ignore_case else ''}:{text})"


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


# --- RE2 ----------------------------------------------------------------------------------------


class Re2Engine:
    """One alternation over the block finds lines, an RE2 set tells which patterns; rest to PureEngine."""

    def __init__(self, needles: Mapping[int, Needle]) -> None:
        re2 = importlib.import_module("re2")
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        options.max_mem = 256 << 20
        self._numbers: list[int] = []
        refused: list[int] = []
        self._set = re2.Set.SearchSet(options)
        for number, needle in needles.items():
            try:
                raw = b"(?m)" + _expression(needle).encode("ascii")
                re2.compile(raw, options)
                self._set.Add(raw)
            except re2.error:
                refused.append(number)
            else:
                self._numbers.append(number)
        self._search = None
        if self._numbers:
            self._set.Compile()
            arms = [f"(?:{_expression(needles[number])})" for number in self._numbers]
            self._search = re2.compile(b"(?m)" + "|".join(arms).encode("ascii"), options).search
        self._rest = PureEngine({number: needles[number] for number in refused}) if refused else None

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """See Engine."""
        found = self._rest.propose(data, end) if self._rest else []
        if self._search is None:
            return found
        view = memoryview(data)[:end]
        at = 0
        while at < end and (match := self._search(view, at)):
            place = match.end() - 1
            start = data.rfind(b"\n", 0, place) + 1
            stop = data.find(b"\n", place, end)
            stop = end if stop < 0 else stop
            found += ((place, self._numbers[one]) for one in self._set.Match(bytes(view[start:stop])))
            at = stop + 1
        return found
