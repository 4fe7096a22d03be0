"""Regular expressions of our own, kept as `re` compiled them: to compile those of a small case is a third of its time.

`compiled` is `re.compile` for the patterns that the program brings: of parsers, templates, secrets, prompts. Patterns
made of what a case holds are never given to it, for its file in the cache folder outlives the case. The file is of one
Python: `re` of another, and one whose insides have changed, compiles as ever. What it holds is checked when it is
written (a pattern is equal to another if its text, its flags and its code are) and by `re` itself when it is read.
"""

from __future__ import annotations

import array
import atexit
import hashlib
import importlib
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from analyzer import cache_folder

FORMAT = "backline/regexes-1"
MOST = 3000  # patterns that are kept
MOST_BYTES = 16 << 20
DAMAGE = (
    OSError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    ImportError,
    IndexError,
    RuntimeError,
    OverflowError,
)

_Key = tuple[str, bool, int]  # the text, whether it is for bytes, and flags
_Code = tuple[list[Any], "array.array[int]"]  # flags, groups and their names; and the code


class _Kept:
    """What the file holds, and what this run had to compile."""

    def __init__(self) -> None:
        self.path = _file()
        self.known: dict[_Key, _Code] = _read(self.path) if self.path is not None else {}
        self.new: dict[_Key, re.Pattern[Any]] = {}

    def save(self) -> None:
        """Write what is known with what is new; when that is too much, only what is new."""
        if self.path is None or not self.new:
            return
        new = {key: code for key, pattern in self.new.items() if (code := _code_of(key, pattern)) is not None}
        if new:
            both = {**self.known, **new}
            _write(self.path, both if len(both) <= MOST else new)


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` does, without compiling where that was done before."""
    return _compiled((pattern, False, int(flags)))


def compiled_bytes(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """Return what `re.compile` does of bytes, likewise."""
    return _compiled((pattern.decode("latin-1"), True, int(flags)))


def _compiled(key: _Key) -> re.Pattern[Any]:
    kept = _kept()
    text = key[0].encode("latin-1") if key[1] else key[0]
    found = kept.known.get(key)
    if found is not None:
        try:
            return _made(text, *found)
        except DAMAGE:
            del kept.known[key]
    pattern: re.Pattern[Any] = re.compile(text, key[2])
    if kept.path is not None and len(kept.new) < MOST:
        if not kept.new:
            atexit.register(kept.save)
        kept.new[key] = pattern
    return pattern


@cache
def _kept() -> _Kept:
    return _Kept()


def _made(text: str | bytes, told: list[Any], code: array.array[int]) -> re.Pattern[Any]:
    flags, groups, names = told
    by_number: list[str | None] = [None] * (groups + 1)
    for name, number in names.items():
        by_number[number] = name
    pattern: re.Pattern[Any] = _insides("_sre").compile(text, flags, code.tolist(), groups, names, tuple(by_number))
    return pattern


def _code_of(key: _Key, pattern: re.Pattern[Any]) -> _Code | None:
    """Return the code of a pattern as `re` makes it; None where its insides are not those we know."""
    try:
        parsed = _insides("re._parser").parse(pattern.pattern, key[2])
        code = array.array("I", _insides("re._compiler")._code(parsed, key[2]))
        told = [key[2] | parsed.state.flags, parsed.state.groups - 1, dict(parsed.state.groupdict)]
        return (told, code) if _made(pattern.pattern, told, code) == pattern else None
    except DAMAGE:
        return None


@cache
def _insides(name: str) -> Any:
    """Return a module of `re`, which has no types and promises nothing."""
    return importlib.import_module(name)


def _read(path: Path) -> dict[_Key, _Code]:
    try:
        head, _, body = cache_folder.read_sealed(path, FORMAT, MOST_BYTES).partition(b"\n")
        codes = array.array("I")
        codes.frombytes(body)
        rows = json.loads(head)
        return {(text, wide, flags): (told, codes[at : at + count]) for text, wide, flags, told, at, count in rows}
    except DAMAGE:
        return {}


def _write(path: Path, patterns: dict[_Key, _Code]) -> None:
    codes, rows = array.array("I"), []
    for (text, wide, flags), (told, code) in patterns.items():
        rows.append([text, wide, flags, told, len(codes), len(code)])
        codes.extend(code)
    data = json.dumps(rows, separators=(",", ":")).encode() + b"\n" + codes.tobytes()
    if len(data) < MOST_BYTES - 100:
        cache_folder.write_sealed(path, FORMAT, data)


def _file() -> Path | None:
    """Return the file for this Python; None where nothing is kept, or where `re` is another."""
    folder = cache_folder.place()
    try:
        inside = _insides("_sre")
        told = sys.version, sys.implementation.cache_tag, sys.byteorder, inside.MAGIC, inside.CODESIZE
    except DAMAGE:
        return None
    if folder is None or array.array("I").itemsize != inside.CODESIZE:
        return None
    name = hashlib.blake2b(repr(told).encode(), digest_size=12).hexdigest()
    return folder / f"{cache_folder.PATTERNS}{name}{cache_folder.ENDING}"
