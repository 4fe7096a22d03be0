"""The catalog: loads rules from files, folders and packs.

A rule is one YAML file (format 1). `load` reads files, folders and packs; a file with a mistake is
kept in `Catalog.broken` with file, line, column and caret, and all others are used.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import CatalogRows, Column, Tables
from analyzer.rules import fact_tables, shared_files
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.expression import Alias
from analyzer.rules.language.rulefile import (
    BadRuleError,
    FileSpan,
    RuleItem,
    RuleText,
    SharedParts,
)
from analyzer.rules.language.shared import SharedFiles
from analyzer.rules.model import USED, Rule, RuleNeeds, Thresholds, make_hit_table
from analyzer.rules.sources import RuleSource, read_from, rule_files, sources_of
from analyzer.runtime import cache_folder, snapshot
from analyzer.runtime.catalog_home import find_catalog
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import Signature


@dataclass(slots=True)
class Catalog:
    """All rules of a run; `broken` holds the files that could not be used, `hash` the content of all.

    known    id -> status of every rule that was read, those not in use (retired, drafts) as well
    sources  where they came from
    tables   what the rules may name: tables of parsers, and of facts
    """

    rules: list[Rule] = field(default_factory=list)
    broken: list[BadRuleError] = field(default_factory=list)
    hash: str = ""
    known: dict[str, str] = field(default_factory=dict)
    sources: list[RuleSource] = field(default_factory=list)
    tables: Tables = field(default_factory=dict)

    def __getitem__(self, rule: str) -> Rule:
        return next(item for item in self.rules if item.id == rule)

    def only_drafts(self) -> list[str]:
        """Return a sentence for each place that judged nothing because all it has to judge are drafts."""
        return [
            f"{source.label} judged nothing: it holds only drafts ({source.drafts}); --draft judges them too"
            for source in self.sources
            if source.drafts and not source.rules
        ]

    def signatures(self) -> list[Signature]:
        """Return what all rules search in logs, for one pass of the scanner; ids are `rule/name`."""
        return [
            Signature(f"{rule.id}/{name}", table, pattern, ignore_case)
            for rule in self.rules
            for name, table, pattern, ignore_case in needs_of(rule).signatures
        ]


def default_paths() -> list[Path]:
    """Return the folder of the rules that come with the tool."""
    return [find_catalog()]


def load(
    paths: Sequence[Path | RuleSource] | None = None,
    tables: Tables | None = None,
    *,
    limits: Limits | None = None,
    drafts: bool = False,
    retired: bool = False,
    examples: bool = False,
    thresholds: Thresholds | None = None,
) -> Catalog:
    """Return the rules of files, folders (`*.yaml`, `*.yml`) and packs, in order of their ids.

    Retired rules and drafts are left out unless asked for. A file with a mistake, a second
    rule of one id and a path that does not exist go to `Catalog.broken`; a mistake in an
    example only when `examples` asks to read them as well. `thresholds` changes named
    numbers of rules: ThresholdError for a name or a kind of number that is not there; whether
    there is such a rule at all is for the caller to ask (`Catalog.known`).
    """
    if paths is None:
        paths = default_paths()
    if tables is None:
        tables = parsing.tables()
    reading = _Reading(paths, tables, limits or Limits(), thresholds or {})
    reading.read_rules(examples=examples)
    reading.save_rules()
    wanted = [*USED, *(["draft"] if drafts else []), *(["retired"] if retired else [])]
    return reading.finish(wanted)


def write_shipped(package: Path) -> None:
    """Write the rules of the tool, as they were read, into the copy of the package that a wheel is built of."""
    reading = _Reading(default_paths(), parsing.tables(), Limits(), {})
    reading.read_rules(examples=False)
    for store in reading.stores.values():
        store.write_brought(package)


class _Reading:
    """Reads the files of a catalog one after the other: hashes of all and of each place, rules by id."""

    def __init__(
        self,
        paths: Sequence[Path | RuleSource],
        tables: Tables,
        limits: Limits,
        thresholds: Thresholds,
    ) -> None:
        self.limits, self.thresholds = limits, thresholds
        catalog = self.catalog = Catalog(sources=sources_of(paths, default_paths()))
        self.files, catalog.broken = rule_files(catalog.sources, limits)
        facts = fact_tables.read_facts(catalog.sources, limits)
        catalog.broken += facts.broken
        catalog.tables = {**tables, **facts.tables}
        self.digest = hashlib.sha256()
        self.own = {id(source): hashlib.sha256() for source in catalog.sources}
        for source, name, raw in facts.contents:
            self._add_digest(source, name, raw)
        self.shared: dict[int, SharedFiles] = {}
        self.stores: dict[int, RuleStore] = {}
        for source in catalog.sources:
            shared, faults, raw = shared_files.read_parts(source, limits)
            self.digest.update(raw)
            self.own[id(source)].update(raw)
            catalog.broken += faults
            source.broken += len(faults)
            self.shared[id(source)] = shared
        for source in catalog.sources:
            visible = fact_tables.seen_by(source, catalog.tables, facts)
            self.stores[id(source)] = RuleStore(source, visible, limits)
        self.known: dict[str, Rule] = {}

    def _add_digest(self, source: RuleSource, name: str, raw: bytes) -> None:
        for each in (self.digest, self.own.get(id(source), self.digest)):
            each.update(name.encode(errors="replace") + b"\0" + raw + b"\0")

    def read_rules(self, *, examples: bool) -> None:
        """Read all files; what is wrong with one goes to `Catalog.broken`."""
        for source, path in self.files:
            try:
                self.read_rule(source, path, examples=examples)
            except BadRuleError as error:
                self.catalog.broken.append(error)
                source.broken += 1

    def read_rule(self, source: RuleSource, path: Any, *, examples: bool) -> None:
        """Read one file; raises BadRuleError."""
        store = self.stores[id(source)]
        text, raw = read_from(source, path, self.limits)
        digest = hashlib.sha256(raw).digest()
        text.shared = self.shared[id(source)]
        self._add_digest(source, path.name, digest)
        name = _cut_ending(path.name)
        changed = self.thresholds.get(name) if name not in self.known else None
        build_rule = partial(build, text, self.catalog.tables, self.limits, changed)
        if changed:  # other numbers than the file has
            _ = text.shared.faults
            rule = build_rule()
        else:
            key = store.make_key(text, digest)
            found = store.find_rule(key, text, build_rule)
            if found is not None:
                rule = found
            else:
                faults = text.shared.faults
                rule = build_rule()
                if (
                    not faults
                ):  # every run that reads the file reports them; a stored rule would not
                    store.add_rule(key, rule)
        rule.path, rule.origin = path if isinstance(path, Path) else Path(str(path)), source
        if examples:
            _ = rule.examples
        _check_id(rule, path.name, self.known, source)
        self.known[rule.id] = rule

    def save_rules(self) -> None:
        """Keep the rules that were read for the next run."""
        for store in self.stores.values():
            store.save()

    def finish(self, wanted: Sequence[str]) -> Catalog:
        """Return the catalog with the rules of the statuses that are wanted, those of each place counted."""
        catalog, known = self.catalog, self.known
        for source in catalog.sources:
            faults = self.shared[id(source)].found_faults
            catalog.broken += faults
            source.broken += len(faults)
        catalog.rules = [known[name] for name in sorted(known) if known[name].status in wanted]
        catalog.known = {name: known[name].status for name in sorted(known)}
        for source in catalog.sources:
            source.hash = self.own[id(source)].hexdigest()
            source.rules = sum(rule.origin is source for rule in catalog.rules)
            mine = [rule for rule in known.values() if rule.origin is source]
            source.drafts = 0 if "draft" in wanted else sum(rule.status == "draft" for rule in mine)
        for changed_rule in catalog.rules:
            for changed_name, (value, _) in sorted(changed_rule.changed_thresholds.items()):
                self.digest.update(f"{changed_rule.id}\0{changed_name}\0{value!r}\0".encode())
        catalog.hash = str(self.digest.hexdigest())
        return catalog


def parse(
    text: str,
    tables: Tables | None = None,
    name: str = "rule.yaml",
    shared: SharedParts | None = None,
) -> Rule:
    """Return the rule of a YAML text, examples read as well; raises BadRuleError with place and caret.

    shared  parts that it may name; those of the tool without it
    """
    rule = build(
        RuleText(name, text, shared),
        fact_tables.list_declared() if tables is None else tables,
        Limits(),
    )
    _ = rule.examples
    return rule


def build(
    text: RuleText,
    tables: Tables,
    limits: Limits,
    thresholds: Mapping[str, float] | None = None,
) -> Rule:
    """Return the rule of a rule file's text, with `thresholds` changed; raises BadRuleError, ThresholdError."""
    from analyzer.rules.reader import RuleReader  # noqa: PLC0415 - not for rules out of the cache

    if text.shared is None:  # a text that lies in no place
        text.shared = shared_files.of_no_place()
    return RuleReader(text, tables, limits).rule(thresholds or {})


def _check_id(rule: Rule, file: str, known: Mapping[str, Rule], source: RuleSource) -> None:
    """Refuse a rule whose id is not the stem of its file, or is taken."""
    text = rule.text
    if _cut_ending(file) != rule.id:
        message = f"rule `{rule.id}` is in a file named {file}"
        raise text.error(message, _place_of(text, "rule"), f"name the file {rule.id}.yaml")
    if rule.id not in known:
        return
    first = known[rule.id]
    if first.origin is not None and first.origin.kind == "shipped" and source.kind != "shipped":
        message = f"rule `{rule.id}` comes with the tool; a rule of your own cannot replace it"
        advice = f'give yours another id; to silence the shipped one, mute it: [[mute]] rule = "{rule.id}"'
    else:
        where = (
            first.origin.label
            if first.origin is not None and first.origin.kind == "pack"
            else first.path
        )
        message, advice = f"rule `{rule.id}` exists already in {where}", "an id is used once"
    raise text.error(message, _place_of(text, "rule"), advice)


def _cut_ending(name: str) -> str:
    return name.rpartition(".")[0]


def _place_of(text: RuleText, key: str) -> FileSpan:
    tree = text.tree()
    item: RuleItem = tree.value.get(key, tree)
    return item.place


# --- rules that were read once ---
#
# Rules that were read once, kept for the next run: to read one from YAML takes ten times as long.
#
# A wheel brings those of the tool; those of every other folder or pack are one file in the cache folder of the user. A
# rule is known by the bytes of its file and of what it shares, and all of them by the code, the tables and
# the limits that they were read with. What is asked of every rule is stored as it is (`RuleHeader`); all else is made
# of the stored tree of the YAML when the rule is judged.


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
    replaces: list[str]
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
    *("ask", "explained_by", "replaced_by", "replaces", "thresholds"),
)
OF_THE_RUN = ("text", "path", "origin")
LATER = [one.name for one in fields(Rule) if one.init and one.name not in (*COPIED, *OF_THE_RUN)]


class RuleStore:
    """The stored rules of one place that rules come from."""

    def __init__(self, source: RuleSource, tables: Tables, limits: Limits) -> None:
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
        table = self._tables.get(header.log if header.signature else header.table)
        if table is not None and header.signature:
            table = make_hit_table(header.table, table, header.signature, header.groups, header.per)
        if table is None:
            return None
        rule.each = Alias(header.alias, table)
        rule.text, rule.path, rule.origin, rule.nodes = text, None, None, None
        text.stored_tree, text.is_checked = header.tree, True
        rule.at_once, rule.later = header.needs, _RestOfRule(build)
        self._used[key] = header
        return rule

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
