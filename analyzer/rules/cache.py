"""Rules that were read once, kept for the next run: reading one from YAML takes a hundred times as long.

One file for each folder of rules or pack, in the cache folder of the user. A rule is known by the bytes of its file,
and all of them by the code that reads rules. The file holds what is asked of every rule (`EAGER`, RuleNeeds) at once,
and the rest of each compressed, for the day it is judged; and what the rule files were like, so that they need not
even be read while nobody touches them. It is JSON, of which nothing but the classes of the model
are made. What is damaged, was written by another version or may have been written by another user counts as absent,
and a folder that cannot be written to is left alone: then rules are read from YAML as ever.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import analyzer
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import CatalogRows, Table
from analyzer.rules import fact_files
from analyzer.rules.column_usage import needs_of
from analyzer.rules.encoding import DAMAGE, Decoder, Encoder, shapes
from analyzer.rules.fact_files import FactDeclaration, FactRows
from analyzer.rules.file_states import FileStates
from analyzer.rules.language.rulefile import RuleText
from analyzer.rules.model import Example, Rule, RuleNeeds
from analyzer.rules.sources import RuleSource
from analyzer.runtime import cache_folder
from analyzer.runtime.limits import Limits

FORMAT = "backline/rules-2"
KEPT = ("shipped", "folder", "pack")  # a single file is one that somebody works on
MOST_BYTES = 64 << 20  # of one file; 300 large rules take one or two MiB
MOST_RULE = 32 << 20  # of one rule, expanded

# Asked of every rule in every run; all other fields come when one of them is asked for.
EAGER = (
    *("id", "title", "status", "kb", "issues", "product", "each"),
    *("ask", "explained_by", "replaced_by", "thresholds"),
)
# Not stored: what belongs to the run, and the text, which is at hand.
_OF_THE_RUN = {"text", "path", "origin", "read_examples", "_examples"}
# Named values first: all conditions refer to them.
LATER = sorted(
    (one.name for one in fields(Rule) if one.init and one.name not in {*EAGER, *_OF_THE_RUN}),
    key=lambda name: name != "lets",
)
_OTHER_ROOMS = (
    *("judge", "report", "redact", "compare", "merged_log", "web", "archive", "watch_folder"),
    *("authoring", "commands", "__pycache__"),
)

Build = Callable[[], Rule]
_Stored = tuple[Any, bytes]  # one rule: what is asked at once, and the rest as compressed JSON


def _examples(tables: Mapping[str, Table], rule: Rule) -> list[Example]:
    """Return the examples of a stored rule: the rest of its file is not read again."""
    from analyzer.rules.short_examples import all_examples  # noqa: PLC0415 - a triage reads none

    declared = {name: table for name, table in tables.items() if table.given is None}
    return all_examples(rule.text.tree(), declared, rule)


class RuleCache:
    """The stored rules of one place that rules come from."""

    def __init__(self, source: RuleSource, tables: Mapping[str, Table], limits: Limits) -> None:
        self._tables = tables
        self._file = _file_of(source)
        self._made = _made_by(tables, limits) if self._file is not None else ""
        self.files = FileStates({})
        self._there = self._read()
        self._used: dict[str, _Stored] = {}
        self._new = False

    @staticmethod
    def key(text: RuleText, digest: bytes) -> str:
        """Return by what a rule file is known: its bytes, of which `digest` is the SHA-256, and what it shares."""
        shared = text.shared.key if text.shared is not None else b""
        told = text.name.encode(errors="replace") + b"\0" + shared + b"\0" + digest
        return hashlib.blake2b(told, digest_size=16).hexdigest()

    def get(self, key: str, text: RuleText, build: Build) -> Rule | None:
        """Return a rule that is stored, None when it is not; `build` reads it from its text should that be needed."""
        stored = self._there.get(key)
        if stored is None:
            return None
        rule = Rule.__new__(Rule)
        decoder = Decoder(self._tables)
        try:
            values, needs = decoder.decode(stored[0])
            for name, value in zip(EAGER, values, strict=True):
                setattr(rule, name, value)
        except DAMAGE:
            return None
        if not isinstance(needs, RuleNeeds):
            return None
        rule.text, rule.path, rule.origin, rule._examples = text, None, None, None
        rule.nodes = None
        rule.read_examples = partial(_examples, self._tables)
        rule.at_once, rule.later = needs, _Later(stored[1], self._tables, build)
        self._used[key] = stored
        return rule

    def put(self, key: str, rule: Rule) -> None:
        """Store a rule as its file has it."""
        if self._file is None:
            return
        encoder = Encoder(self._tables)
        try:
            eager = encoder.encode([[getattr(rule, name) for name in EAGER], needs_of(rule)])
            later = Encoder(self._tables).encode([getattr(rule, name) for name in LATER])
            self._used[key] = (
                eager,
                zlib.compress(json.dumps(later, separators=(",", ":")).encode(), 6),
            )
        except DAMAGE:
            return
        self._new = True

    def save(self) -> None:
        """Write the rules that were asked for, when some or their files are new; what cannot be written is left."""
        if self._file is None or not (self._new or self.files.new):
            return
        body = b"".join(later for _, later in self._used.values())
        rules = {key: [eager, len(later)] for key, (eager, later) in self._used.items()}
        head = json.dumps(
            {"made": self._made, "files": self.files.used, "rules": rules}, separators=(",", ":")
        )
        _write(self._file, head.encode() + b"\n" + body)

    def _read(self) -> dict[str, _Stored]:
        if self._file is None:
            return {}
        try:
            line, _, body = _read(self._file).partition(b"\n")
            head = json.loads(line)
            if head["made"] != self._made:
                return {}
            there = dict(_parted(head["rules"], body))
            self.files = FileStates(dict(head["files"]))
            return there
        except (OSError, *DAMAGE):
            return {}


def rows_of(source: RuleSource, text: RuleText, declared: FactDeclaration) -> FactRows:
    """Return the rows of a CSV file of facts out of the cache, or read and put there unless something is wrong."""
    path = _file_of(source, text.name)
    key = hashlib.sha256(repr((analyzer.__version__, _code(), declared)).encode(errors="replace"))
    key.update(text.text.encode(errors="replace"))
    if path is not None:
        try:
            found = json.loads(_read(path))
            if found["key"] == key.hexdigest():
                return FactRows([(int(line), dict(row)) for line, row in found["rows"]])
        except (OSError, *DAMAGE):
            pass
    told = fact_files.rows(text, declared)
    if path is not None and not told.faults:
        _write(
            path,
            json.dumps({"key": key.hexdigest(), "rows": told.rows}, separators=(",", ":")).encode(),
        )
    return told


def _read(path: Path) -> bytes:
    """Return what a file of ours holds; OSError where it cannot be read, ValueError where it is damaged."""
    return cache_folder.read_sealed(path, FORMAT, MOST_BYTES)


def _write(path: Path, data: bytes) -> None:
    if len(data) < MOST_BYTES - 100:
        cache_folder.write_sealed(path, FORMAT, data)


class _Later:
    """Fills in the fields of a rule that were not needed at first."""

    def __init__(self, stored: bytes, tables: Mapping[str, Table], build: Build) -> None:
        self._stored, self._tables, self._build = stored, tables, build

    def __call__(self, rule: Rule) -> None:
        """Fill in the rest of a rule, from the file of the rule where the stored text turns out to be damaged."""
        for name, value in zip(LATER, self._values(), strict=True):
            setattr(rule, name, value)

    def _values(self) -> list[Any]:
        try:
            text = zlib.decompressobj().decompress(self._stored, MOST_RULE)
            values = Decoder(self._tables).decode(json.loads(text))
            if len(values) == len(LATER):
                return list(values)
        except (zlib.error, *DAMAGE):
            pass
        fresh = self._build()
        return [getattr(fresh, name) for name in LATER]


def _parted(rules: Mapping[str, Any], body: bytes) -> Iterator[tuple[str, _Stored]]:
    at = 0
    for key, (eager, length) in rules.items():
        yield key, (eager, body[at : at + length])
        at += length


# -- by what stored rules are known


def _made_by(tables: Mapping[str, Table], limits: Limits) -> str:
    """Return what tells by which code, tables and limits a rule was read."""
    digest = hashlib.sha256(
        f"{FORMAT} {analyzer.__version__} {sys.version_info[:2]} {limits.pattern_bytes}".encode()
    )
    digest.update(json.dumps([shapes(), EAGER, LATER, _code()]).encode())
    declared = parsing.tables()
    for name in sorted(tables):
        if declared.get(name) is not tables[name]:
            table = tables[
                name
            ]  # a rule names a table of facts; which rows it has, plays no part in reading the rule
            told = table if table.given is None else replace(table, given=CatalogRows("", ()))
            digest.update(repr(told).encode(errors="replace"))
    return digest.hexdigest()


def _file_of(source: RuleSource, facts: str = "") -> Path | None:
    """Return the file for the rules of a place, or for a file of its facts; None for what is read anew each time."""
    folder = cache_folder.place() if source.kind in KEPT else None
    if folder is None:
        return None
    where = [
        source.label,
        *(str(path) if source.kind == "pack" else os.path.realpath(path) for path in source.files),
    ]
    name = hashlib.blake2b(
        "\0".join([*where, facts]).encode(errors="replace"), digest_size=12
    ).hexdigest()
    return folder / f"{cache_folder.RULES}{name}{cache_folder.ENDING}"


@cache
def _code() -> str:
    """Return what tells by which code a rule is read: name, size and time of change of every module.

    The version alone does not tell: in a checkout the code changes and the version stays. Names count
    from the folder of the code, whose own path is spelled as the command was (`bin/backline`, `python -m`).
    """
    found: list[tuple[str, int, int]] = []
    tops = (
        Path(analyzer.__file__).parent,
        *map(Path, importlib.import_module("analyzer.parsers").__path__),
    )
    todo = [(str(folder), "") for folder in tops]
    for folder, name in todo:
        with os.scandir(folder) as inside:
            for one in inside:
                if one.name.endswith(".py"):
                    state = one.stat()
                    found.append((name + one.name, state.st_size, state.st_mtime_ns))
                elif one.name not in _OTHER_ROOMS and one.is_dir(follow_symlinks=False):
                    todo.append((one.path, f"{name}{one.name}/"))
    return hashlib.sha256(repr(sorted(found)).encode(errors="replace")).hexdigest()
