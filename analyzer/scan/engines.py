"""Engines that propose lines of a block for patterns; they differ in speed, never in results.

An engine gets the over-approximations of `analyzer.scan.prefilter` and answers with places. Each
place names a line that the pattern may match; Python's `re` on that single line decides. So an
engine may propose too much, and must never miss a line.
"""

from __future__ import annotations

import hashlib
import importlib
import platform
import re
import subprocess
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableSequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

from analyzer.runtime import cache_folder
from analyzer.runtime.errors import UsageError
from analyzer.scan.blocks import Buffer
from analyzer.scan.careful import measure_cost
from analyzer.scan.prefilter import Required, analyse, is_known

_RARE = (
    24  # characters of a literal that hardly any line holds which the whole pattern does not match
)
_NAMES, _NAME = (
    8,
    7,
)  # this many literals of one choice, of this many characters, are names: slow to compile together
_SEEKERS = 8  # patterns that may seek the same literal
SAMPLE = 1 << 18  # bytes of the first block in which the rarest literal is looked for

# Each is one number, the offset of a byte of the line and the number of the pattern: four hundred patterns that
# propose every line of a block make millions of them
Proposals = MutableSequence[int]
NUMBER_BITS = 20
NUMBER_MASK = (1 << NUMBER_BITS) - 1


@dataclass(frozen=True, slots=True)
class Needle:
    """A pattern ready for the engines; `compiled` is the one that decides, made when a line is proposed for it."""

    pattern: str
    flags: int
    choices: tuple[Required, ...]
    approximation: str | None
    folds_case: bool  # it ignores case, somewhere

    @classmethod
    def of(cls, pattern: str, flags: int = 0) -> Needle:
        """Look at a pattern; raises re.error when it is none."""
        if not is_known(pattern, flags):
            _compile_pattern(pattern, flags)
        found = analyse(pattern, flags)
        return cls(pattern, flags, found.choices, found.approximation, found.folds_case)

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern itself."""
        return _compile_pattern(self.pattern, self.flags)

    @property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """The search of the pattern itself in one line."""
        return self.regex.search

    @property
    def every_line(self) -> bool:
        """True when nothing of it can be sought, so that it has to be tried on every line."""
        return not self.choices and self.approximation is None

    def best_choice(self, sample: bytes = b"") -> Required | None:
        """Return the literals to seek: the rarest in a sample of the text, else the longest."""
        if not self.choices:
            return None
        if len(self.choices) == 1 or not sample:
            return max(self.choices, key=lambda choice: choice.weight)
        lowered = sample.lower()

        def measure_cost(choice: Required) -> tuple[int, int]:
            text = lowered if choice.ignore_case else sample
            # a literal takes about as long to seek as 5,000 candidates take to look at
            seen = sum(text.count(literal) for literal in choice.encode_literals())
            return 5_000 * len(choice.texts) + 64 * seen, -choice.weight[0]

        return min(self.choices, key=measure_cost)


@lru_cache(8192)
def _compile_pattern(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


class Engine(Protocol):
    """Proposes lines of `data[:end]` for patterns, in any order."""

    def propose(self, data: Buffer, end: int) -> Proposals:
        """Return at least one place for each line and pattern that match."""


def find_places(data: Buffer, end: int, literal: bytes) -> Iterator[int]:
    """Yield one place of `literal` a line; of the line feed, each one."""
    at = data.find(literal, 0, end)
    while at >= 0:
        yield at
        line_end = data.find(b"\n", at, end) + 1
        if not line_end:
            return
        at = data.find(literal, line_end, end)


def find_needle_places(needle: Needle, data: Buffer, end: int) -> Iterator[int]:
    """Yield places a pattern may match, one a line for each thing sought; for any engine the same."""
    choice = needle.best_choice()
    if choice is not None:
        text = bytes(memoryview(data)[:end]).lower() if choice.ignore_case else data
        for literal in choice.encode_literals():
            yield from find_places(text, end, literal)
    elif (regex := find_sought(needle)) is not None:
        yield from (match.end() - 1 for match in regex.finditer(data, 0, end))
    else:
        yield from find_places(data, end, b"\n")


def find_sought(needle: Needle) -> re.Pattern[bytes] | None:
    """Return the approximation for Python's `re`, or None when it is not certain that its work stays linear."""
    text = needle.approximation
    bound = None if text is None else measure_cost(text, re.MULTILINE)
    if text is None or bound is None or not bound.quick:
        return None
    return re.compile(text.encode("ascii"), re.MULTILINE)


def list_expressions(needle: Needle) -> list[str]:
    """Return the regexes to compile: literals that are certain to be rare, else the approximation, else the literals.

    Literals alone are found in two thirds of the time of a regex with classes, and compiled in a tenth of it; each by
    itself, as an automaton for several of them takes ten times as long to compile.
    """
    choice = needle.best_choice()
    rare = choice is not None and choice.weight[0] >= (
        _NAME if len(choice.texts) >= _NAMES else _RARE
    )
    if needle.approximation is not None and not rare:
        return [needle.approximation]
    assert choice is not None, "a pattern tried on every line never comes here"
    return write_literals(choice)


def write_literals(choice: Required) -> list[str]:
    """Return each literal of a choice as a regex."""
    texts = ("".join(f"\\x{byte:02x}" for byte in literal) for literal in choice.encode_literals())
    return [f"(?i:{text})" if choice.ignore_case else text for text in texts]


def choose_expressions(needles: Mapping[int, Needle]) -> dict[int, list[str]]:
    """Return what to compile for each pattern, by its number.

    What many patterns seek tells none of them apart: each of its lines would be tried with all of them. They get
    literals that few seek, where they have such.
    """
    chosen = {number: list_expressions(needle) for number, needle in needles.items()}
    seekers = Counter(sought for expressions in chosen.values() for sought in expressions)
    shared = [
        number
        for number, expressions in chosen.items()
        if max(seekers[sought] for sought in expressions) > _SEEKERS
    ]
    if not shared:
        return chosen
    literals = Counter(
        text for one in shared for choice in needles[one].choices for text in choice.texts
    )
    for number in shared:
        own = [
            choice
            for choice in needles[number].choices
            if choice.weight[0] >= _NAME
            and max(literals[text] for text in choice.texts) <= _SEEKERS
        ]
        if own:
            chosen[number] = write_literals(max(own, key=lambda choice: choice.weight))
    return chosen


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
        self._plan = self._make_plan(b"")
        self._sampled = False

    def propose(self, data: Buffer, end: int) -> Proposals:
        """See Engine."""
        if not self._sampled and end >= SAMPLE:
            self._plan = self._make_plan(bytes(memoryview(data)[:SAMPLE]))
            self._sampled = True
        plan = self._plan
        found: Proposals = array("Q")
        _propose_literals(data, end, plan.exact, found)
        if plan.lowered:
            lowered = bytes(memoryview(data)[:end]).lower()
            _propose_literals(lowered, end, plan.lowered, found)
        for regex, number in plan.regexes:
            found.extend(
                match.end() - 1 << NUMBER_BITS | number for match in regex.finditer(data, 0, end)
            )
        if plan.every:
            _propose_literals(data, end, {b"\n": plan.every}, found)
        return found

    def _make_plan(self, sample: bytes) -> _Plan:
        plan = _Plan()
        for number, needle in self._needles.items():
            choice = needle.best_choice(sample)
            if choice is None:
                regex = find_sought(needle)
                if regex is None:
                    plan.every.append(number)
                else:
                    plan.regexes.append((regex, number))
                continue
            where = plan.lowered if choice.ignore_case else plan.exact
            for literal in choice.encode_literals():
                where.setdefault(literal, []).append(number)
        return plan


def _propose_literals(
    data: Buffer, end: int, literals: Mapping[bytes, list[int]], found: Proposals
) -> None:
    """Add the places of some literals, each for all patterns that seek it."""
    for literal, numbers in literals.items():
        for at in find_places(data, end, literal):
            found.extend(at << NUMBER_BITS | number for number in numbers)


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
        chosen = choose_expressions(needles)
        for number, expressions in chosen.items():
            try:
                raw = b"(?m)" + "|".join(expressions).encode("ascii")
                re2.compile(raw, options)
                self._set.Add(raw)
            except re2.error:
                refused.append(number)
            else:
                self._numbers.append(number)
        self._search = None
        if self._numbers:
            self._set.Compile()
            arms = [f"(?:{'|'.join(chosen[number])})" for number in self._numbers]
            self._search = re2.compile(b"(?m)" + "|".join(arms).encode("ascii"), options).search
        self._rest = (
            PureEngine({number: needles[number] for number in refused}) if refused else None
        )

    def propose(self, data: Buffer, end: int) -> Proposals:
        """See Engine."""
        found = self._rest.propose(data, end) if self._rest else array("Q")
        if self._search is None:
            return found
        view = memoryview(data)[:end]
        at = 0
        while at < end and (match := self._search(view, at)):
            place = match.end() - 1
            start = data.rfind(b"\n", 0, place) + 1
            stop = data.find(b"\n", place, end)
            stop = end if stop < 0 else stop
            found.extend(
                place << NUMBER_BITS | self._numbers[one]
                for one in self._set.Match(bytes(view[start:stop]))
            )
            at = stop + 1
        return found


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
        for number, expressions in choose_expressions(needles).items():
            for sought in expressions:
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

    def propose(self, data: Buffer, end: int) -> Proposals:
        """See Engine."""
        found: Proposals = array("Q")
        add, numbers = found.append, self._numbers
        # by pattern: the end of the last line that is proposed for it
        line_ends: dict[int, int] = {}

        def on_match(place: int, _start: int, stop: int, _flags: int, _context: object) -> None:
            if stop <= end:
                for number in numbers[place]:
                    if stop - 1 > line_ends.get(number, -1):
                        line_end = data.find(b"\n", stop - 1, end)
                        line_ends[number] = end if line_end < 0 else line_end
                        add(stop - 1 << NUMBER_BITS | number)

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


ENGINES = ("hyperscan", "re2", "pure")
KEPT = 32  # compiled engines a process keeps: one a log with signatures, and some without those that storm


def build_engine(name: str, needles: Mapping[int, Needle], cache_dir: Path | None = None) -> Engine:
    """Return the engine `name` for numbered patterns, none of which is `every_line`.

    What costs to compile is kept in the process: the next case with the same rules gets the same engine,
    which threads may share. PureEngine costs little, and learns from the text it meets, so each gets its own.
    """
    if name in ("hyperscan", "re2"):
        return _keep_engine(name, tuple(needles.items()), cache_dir)
    return PureEngine(needles)


@lru_cache(KEPT)
def _keep_engine(
    name: str, needles: tuple[tuple[int, Needle], ...], cache_dir: Path | None
) -> Engine:
    return (
        HyperscanEngine(dict(needles), cache_dir)
        if name == "hyperscan"
        else Re2Engine(dict(needles))
    )


def choose_engine(name: str = "auto") -> str:
    """Return the engine to use: the one asked for, or with "auto" the quickest there is.

    Raises UsageError for an unknown or missing one.
    """
    if name == "auto":
        return next(engine for engine in ENGINES if is_available(engine))
    if name not in ENGINES:
        raise UsageError(
            f"there is no engine {name}", do="Choose one of: auto, " + ", ".join(ENGINES)
        )
    if not is_available(name):
        raise UsageError(
            f"the engine {name} cannot be loaded",
            why="its package is not installed or does not run on this processor",
            do='Install it, or leave the choice to "auto": the findings are the same',
        )
    return name


@cache
def is_available(name: str) -> bool:
    """Say whether an engine can be loaded here."""
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
    """Say whether importing hyperscan cannot kill the process.

    On an old x86 processor the import has ended with "Illegal instruction"
    (darvid/python-hyperscan#151). So without AVX2 it is tried in a child first.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    if platform.machine() not in ("x86_64", "AMD64") or " avx2" in flags:
        return True

    done = subprocess.run(
        [sys.executable, "-P", "-c", "import hyperscan"], capture_output=True, check=False
    )
    return done.returncode == 0
