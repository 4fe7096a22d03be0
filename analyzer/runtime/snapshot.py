"""What every run would work out again: parsers as declared, what follows from patterns, rules as they were read.

A wheel brings it, one file each in `analyzer/snapshot`, written while the wheel is built (setup.py). Rules that
it does not bring are kept in the cache folder of the user. A file is msgpack behind a line with its form and SHA-256, and
only the types that the reader names are made of it. It counts for the code that wrote it; what is damaged or of
other code counts as absent, and a folder that cannot be written to is left alone.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Callable
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

import analyzer
from analyzer.runtime import cache_folder

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
        return _decode(cache_folder.unseal(FORM, data), hash_code(times=False), kind)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def write_brought(package: Path, name: str, content: Any) -> None:
    """Write what a wheel brings into the copy of the package that it is built of."""
    made_by = _hash_modules((package,), times=False)
    (package / FOLDER).mkdir(exist_ok=True)
    data = msgspec.msgpack.encode((made_by, content), enc_hook=_mark_function)
    (package / FOLDER / name).write_bytes(cache_folder.seal(FORM, data))


def read_kept(path: Path, made_by: str, kind: type[Content]) -> Content | None:
    """Return what a file of the cache folder holds, None unless it was made by the same code of the same things."""
    try:
        return _decode(cache_folder.read_sealed(path, FORM, MOST_BYTES), made_by, kind)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def write_kept(path: Path, made_by: str, content: Any) -> None:
    """Write a file of the cache folder, unless it would be too large to be read."""
    data = msgspec.msgpack.encode((made_by, content))
    if len(data) < MOST_BYTES - 100:
        cache_folder.write_sealed(path, FORM, data)


def _decode(data: bytes, made_by: str, kind: type[Content]) -> Content | None:
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


def _hash_modules(folders: tuple[Path, ...], *, times: bool) -> str:
    found: list[tuple[str, int, int]] = []
    todo = [(str(folder), "") for folder in folders]
    for folder, name in todo:
        with os.scandir(folder) as inside:
            for one in inside:
                if one.name.endswith(".py"):
                    state = one.stat()
                    found.append((name + one.name, state.st_size, state.st_mtime_ns * times))
                elif one.name != "__pycache__" and one.is_dir(follow_symlinks=False):
                    todo.append((one.path, f"{name}{one.name}/"))
    python = sys.version_info[:2] if times else ()  # a wheel is built for all of them
    described = (FORM, analyzer.__version__, python, sorted(found))
    return hashlib.sha256(repr(described).encode(errors="replace")).hexdigest()


# -- answers about patterns


class PatternAnswers(Generic[Answer]):
    """A function of the text of a pattern that keeps its answers, with those of the wheel from the start.

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
    def known(self) -> dict[str, Answer]:
        """The answers at hand."""
        if self._known is None:
            self._known = dict(_read_answers().get(self.name, {}))
        return self._known

    def __call__(self, pattern: str) -> Answer:
        """Return the answer for a pattern; what is wrong with one is raised each time."""
        known = self.known
        if pattern not in known:
            if len(known) >= MOST_ANSWERS:
                known.clear()
            known[pattern] = self._function(pattern)
        return known[pattern]


ANSWERS: dict[str, PatternAnswers[Any]] = {}


def keep_answers(function: Callable[[str], Answer]) -> PatternAnswers[Answer]:
    """Keep the answers of a function of a pattern, see PatternAnswers."""
    return PatternAnswers(function)


def write_answers(package: Path) -> None:
    """Write the answers that are known now into the copy of the package that a wheel is built of."""
    known = {name: dict(sorted(one.known.items())) for name, one in sorted(ANSWERS.items())}
    write_brought(package, PATTERNS, known)


@cache
def _read_answers() -> dict[str, dict[str, Any]]:
    return read_brought(PATTERNS, dict[str, dict[str, Any]]) or {}
