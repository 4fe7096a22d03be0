"""Rules that were read once, kept for the next run: to read one from YAML takes ten times as long.

A wheel brings those of the tool; those of every other folder or pack are one file in the cache folder of the user. A
rule is known by the bytes of its file and of what it shares, and all of them by the code, the tables and
the limits that they were read with. What is asked of every rule is stored as it is (`RuleHeader`); all else is made
of the stored tree of the YAML when the rule is judged.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import msgspec

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import CatalogRows, Column, Table
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.expression import Alias
from analyzer.rules.language.rulefile import RuleText
from analyzer.rules.model import Rule, RuleNeeds, make_hit_table
from analyzer.rules.sources import RuleSource
from analyzer.runtime import cache_folder, snapshot
from analyzer.runtime.limits import Limits

RULES = "rules"  # the part of a snapshot that a wheel brings
KEPT = ("shipped", "folder", "pack")  # a single file is one that somebody works on

BuildRule = Callable[[], Rule]


class RuleHeader(msgspec.Struct, array_like=True):
    """What is asked of every rule in every run, and the tree of its YAML.

    log, groups  of a rule whose subject is a line of a signature: its log, and the columns of its named groups
    """

    id: str
    title: str
    status: str
    kb: list[int]
    issues: list[int]
    product: str
    ask: dict[str, str]
    explained_by: list[str]
    replaced_by: str
    thresholds: dict[str, tuple[int | float, int | float]]
    alias: str
    table: str
    log: str
    signature: str
    groups: tuple[Column, ...]
    per: tuple[str, ...]
    needs: RuleNeeds
    tree: bytes


# Fields of a rule that are stored under their own names, and those that belong to the run.
COPIED = (
    *("id", "title", "status", "kb", "issues", "product"),
    *("ask", "explained_by", "replaced_by", "thresholds"),
)
OF_THE_RUN = ("text", "path", "origin")
LATER = [one.name for one in fields(Rule) if one.init and one.name not in (*COPIED, *OF_THE_RUN)]


class RuleStore:
    """The stored rules of one place that rules come from."""

    def __init__(self, source: RuleSource, tables: Mapping[str, Table], limits: Limits) -> None:
        self._tables = tables
        digest = hashlib.sha256(str(limits.pattern_bytes).encode())
        declared = parsing.tables()
        for name in sorted(tables):
            table = tables[name]
            if declared.get(name) is not table:
                if table.given is not None:  # which rows it has plays no part in reading a rule
                    table = replace(table, given=CatalogRows("", ()))
                digest.update(repr(table).encode(errors="replace"))
        self._reading = digest.hexdigest()
        self._file = _find_file(source)
        self._known: dict[str, RuleHeader] = {}
        self._used: dict[str, RuleHeader] = {}
        self._new = False
        if source.kind == "shipped":
            self._known = _read_brought().get(self._reading, {})
        if self._file is not None and not self._known:
            made_by = snapshot.hash_code(times=True) + self._reading
            kept = snapshot.read_kept(self._file, made_by, dict[str, RuleHeader])
            self._known = kept or {}

    @staticmethod
    def make_key(text: RuleText, digest: bytes) -> str:
        """Return by what a rule file is known: its bytes, of which `digest` is the SHA-256, and what it shares."""
        shared = text.shared.key if text.shared is not None else b""
        known_by = text.name.encode(errors="replace") + b"\0" + shared + b"\0" + digest
        return hashlib.blake2b(known_by, digest_size=16).hexdigest()

    def find_rule(self, key: str, text: RuleText, build: BuildRule) -> Rule | None:
        """Return a stored rule, None when there is none; `build` reads the rest of it from the text, or its tree."""
        header = self._known.get(key)
        if header is None:
            return None
        rule = Rule.__new__(Rule)
        for name in COPIED:
            setattr(rule, name, getattr(header, name))
        table = self._find_subject(header)
        if table is None:
            return None
        rule.each = Alias(header.alias, table)
        rule.text, rule.path, rule.origin, rule.nodes = text, None, None, None
        text.stored_tree, text.is_checked = header.tree, True
        rule.at_once, rule.later = header.needs, _RestOfRule(build)
        self._used[key] = header
        return rule

    def _find_subject(self, header: RuleHeader) -> Table | None:
        if not header.signature:
            return self._tables.get(header.table)
        log = self._tables.get(header.log)
        if log is None:
            return None
        return make_hit_table(header.table, log, header.signature, header.groups, header.per)

    def add_rule(self, key: str, rule: Rule) -> None:
        """Store a rule as its file has it, unless its tree cannot be stored."""
        if not rule.text.stored_tree:
            return
        table = rule.each.table
        self._used[key] = RuleHeader(
            **{name: getattr(rule, name) for name in COPIED},
            alias=rule.each.name,
            table=table.name,
            log=table.lines_of.name if table.lines_of is not None else "",
            signature=table.signature,
            groups=rule.logs[table.signature].columns if table.signature else (),
            per=table.key if table.signature else (),
            needs=needs_of(rule),
            tree=rule.text.stored_tree,
        )
        self._new = True

    def save(self) -> None:
        """Write the rules that were asked for, when some are new."""
        if self._file is not None and self._new:
            made_by = snapshot.hash_code(times=True) + self._reading
            snapshot.write_kept(self._file, made_by, self._used)

    def write_brought(self, package: Path) -> None:
        """Write the rules that were asked for into the copy of the package that a wheel is built of."""
        snapshot.write_brought(package, RULES, {self._reading: self._used})


class _RestOfRule:
    """Fills in the fields of a rule that were not asked for at first."""

    def __init__(self, build: BuildRule) -> None:
        self._build = build

    def __call__(self, rule: Rule) -> None:
        whole = self._build()
        for name in LATER:
            setattr(rule, name, getattr(whole, name))


@cache
def _read_brought() -> dict[str, dict[str, RuleHeader]]:
    return snapshot.read_brought(RULES, dict[str, dict[str, RuleHeader]]) or {}


def _find_file(source: RuleSource) -> Path | None:
    """Return the file for the rules of a place; None for what is read anew each time."""
    folder = cache_folder.find_folder() if source.kind in KEPT else None
    if folder is None:
        return None
    paths = [
        str(path) if source.kind == "pack" else os.path.realpath(path) for path in source.files
    ]
    known_by = "\0".join([source.label, *paths]).encode(errors="replace")
    name = hashlib.blake2b(known_by, digest_size=12).hexdigest()
    return folder / f"{cache_folder.RULES}{name}{cache_folder.ENDING}"
