"""What every run would work out again: parsers as declared, what follows from patterns, rules as they were read.

A wheel brings it, one file each in `analyzer/snapshot`, written while the wheel is built (setup.py). Rules that
it does not bring, and in a checkout what follows from patterns, are kept in the cache folder of the user. A file
is msgpack behind a line with its form and SHA-256, and only the types that the reader names are made of it. It
counts for the code that wrote it; what is damaged or of other code counts as absent, and a folder that cannot be
written to is left alone.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

import analyzer
from analyzer.runtime import cache_folder
from analyzer.runtime.catalog_home import find_catalog

FORM = "backline/snapshot-1"
FOLDER = "snapshot"  # inside the package
PATTERNS = "patterns"
MOST_BYTES = 64 << 20  # of one file; five hundred rules take three MiB
MOST_ANSWERS = 8192  # of one function; a case brings patterns of its own, made of its texts

Content = TypeVar("Content")
Answer = TypeVar("Answer")


# -- the files


def read_brought(name: str, kind: type[Content]) -> Content | None:
    """Return what a wheel brings under a name, None where there is no wheel or it does not fit the code."""
    package = Path(analyzer.__file__).parent
    try:
        data = (package / FOLDER / name).read_bytes()
        return _decode_content(cache_folder.unseal_data(FORM, data), hash_code(times=False), kind)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def write_brought(package: Path, name: str, content: Any) -> None:
    """Write what a wheel brings into the copy of the package that it is built of."""
    made_by = _hash_modules((package,), times=False)
    (package / FOLDER).mkdir(exist_ok=True)
    data = msgspec.msgpack.encode((made_by, content), enc_hook=_mark_function)
    (package / FOLDER / name).write_bytes(cache_folder.seal_data(FORM, data))


def read_kept(path: Path, made_by: str, kind: type[Content]) -> Content | None:
    """Return what a file of the cache folder holds, None unless it was made by the same code of the same things."""
    try:
        return _decode_content(cache_folder.read_sealed(path, FORM, MOST_BYTES), made_by, kind)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def write_kept(path: Path, made_by: str, content: Any) -> None:
    """Write a file of the cache folder, unless it would be too large to be read."""
    data = msgspec.msgpack.encode((made_by, content))
    if len(data) < MOST_BYTES - 100:
        cache_folder.write_sealed(path, FORM, data)


def find_kept(beginning: str, name: str = "") -> Path | None:
    """Return the file of the cache folder for something of this code, one for each checkout; None without a cache."""
    folder = cache_folder.find_folder()
    if folder is None:
        return None
    known_by = f"{os.path.realpath(analyzer.__file__)}\0{name}".encode(errors="replace")
    digest = hashlib.blake2b(known_by, digest_size=12).hexdigest()
    return folder / f"{beginning}{digest}{cache_folder.ENDING}"


def _decode_content(data: bytes, made_by: str, kind: type[Content]) -> Content | None:
    found: Any = msgspec.msgpack.decode(data, type=tuple[str, kind], dec_hook=_stand_in)  # type: ignore[valid-type]
    written_by, content = found
    return content if written_by == made_by else None


def _mark_function(value: Any) -> bool:
    """Say that there is a function; it comes with its module."""
    if not callable(value):
        raise NotImplementedError(type(value).__name__)
    return True


def _stand_in(_kind: Any, _value: Any) -> Callable[..., Any]:
    return _stand_in


# -- the code that wrote them


@cache
def hash_code(*, times: bool) -> str:
    """Return what stands for the code: version, name and size of every module, with `times` when it was changed too.

    The version alone is not enough: in a checkout the code changes and the version stays. The modules of a wheel
    have other times wherever it is installed.
    """
    package = Path(analyzer.__file__).parent
    parsers = map(Path, importlib.import_module("analyzer.parsers").__path__)
    return _hash_modules(
        (package, *(one for one in parsers if not one.is_relative_to(package))), times=times
    )


def _hash_modules(folders: tuple[Path, ...], *, times: bool, ending: str = ".py") -> str:
    found: list[tuple[str, int, int]] = []
    todo = [(str(folder), "") for folder in folders]
    for folder, name in todo:
        with os.scandir(folder) as inside:
            for one in inside:
                if one.is_dir(follow_symlinks=False):
                    if one.name != "__pycache__":
                        todo.append((one.path, f"{name}{one.name}/"))
                elif one.name.endswith(ending):
                    state = one.stat()
                    found.append((name + one.name, state.st_size, state.st_mtime_ns * times))
    python = sys.version_info[:2] if times else ()  # a wheel is built for all of them
    described = (FORM, analyzer.__version__, python, sorted(found))
    return hashlib.sha256(repr(described).encode(errors="replace")).hexdigest()


# -- answers about patterns


class PatternAnswers(Generic[Answer]):
    """A function of the text of a pattern that keeps its answers, with those of the wheel or the cache from the start.

    To read the patterns of all parsers and rules takes 0.1 s, and none of them changes. msgpack must be able to hold
    the answers as they are: lists, not tuples.
    """

    def __init__(self, function: Callable[[str], Answer]) -> None:
        update_wrapper(self, function)
        self._function = function
        self.name = f"{function.__module__}.{function.__name__}"
        self._known: dict[str, Answer] | None = None
        ANSWERS[self.name] = self

    @property
    def known_answers(self) -> dict[str, Answer]:
        """The answers at hand."""
        if self._known is None:
            self._known = dict(_read_answers().get(self.name, {}))
        return self._known

    def __call__(self, pattern: str) -> Answer:
        """Return the answer for a pattern; what is wrong with one is raised each time."""
        known = self.known_answers
        if pattern not in known:
            if len(known) >= MOST_ANSWERS:
                known.clear()
            known[pattern] = self._work_out(pattern)
        noted = _NOTED.get()
        if noted is not None:
            noted.setdefault(self.name, {})[pattern] = known[pattern]
        return known[pattern]

    def _work_out(self, pattern: str) -> Answer:
        before = _NOTED.set(
            None
        )  # what it asks in turn is not noted: once the answer is known, nobody does
        try:
            return self._function(pattern)
        finally:
            _NOTED.reset(before)


ANSWERS: dict[str, PatternAnswers[Any]] = {}
# What one thread asks while it names the patterns of ours; others may ask about the texts of a case meanwhile.
_NOTED: ContextVar[dict[str, dict[str, Any]] | None] = ContextVar("noted", default=None)


def keep_answers(function: Callable[[str], Answer]) -> PatternAnswers[Answer]:
    """Keep the answers of a function of a pattern, see PatternAnswers."""
    return PatternAnswers(function)


def write_answers(package: Path, note_patterns: Callable[[], None]) -> None:
    """Write the answers that `note_patterns` asks for into the copy of the package that a wheel is built of."""
    write_brought(package, PATTERNS, _list_asked(note_patterns))


@cache
def _read_answers() -> dict[str, dict[str, Any]]:
    kind = dict[str, dict[str, Any]]
    brought = read_brought(PATTERNS, kind)
    if brought is not None:
        return brought
    file, asked = find_kept(cache_folder.ANSWERS), _hash_asked()
    if file is None or not asked:
        return {}
    return read_kept(file, asked, kind) or {}


@cache
def keep_own_answers(note_patterns: Callable[[], None]) -> None:
    """Keep the answers that `note_patterns` asks for, and no other, where neither wheel nor cache had any.

    A process may know answers about patterns that are made of texts of a case: those are not for a file.
    """
    if _read_answers():
        return
    file, asked = find_kept(cache_folder.ANSWERS), _hash_asked()
    if file is None or not asked or not cache_folder.may_write(file.parent):
        return
    write_kept(file, asked, _list_asked(note_patterns))


def _list_asked(note_patterns: Callable[[], None]) -> dict[str, dict[str, Any]]:
    """Return the answers that a function asks for, whatever was known before: the same for the same patterns."""
    noted: dict[str, dict[str, Any]] = {}
    before = _NOTED.set(noted)
    try:
        note_patterns()
    finally:
        _NOTED.reset(before)
    return {name: dict(sorted(noted[name].items())) for name in sorted(noted)}


def _hash_asked() -> str:
    """Return what stands for what is asked about patterns: the code, and the catalog; "" where one cannot be read."""
    try:
        return hash_code(times=True) + _hash_modules((find_catalog(),), times=True, ending="")
    except OSError:
        return ""
