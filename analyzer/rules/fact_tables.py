"""Tables of the catalog, `kb.*`: facts in files next to the rules, which rules join as any table.

They come from the folder `facts` of every place that brings rules: the tool, packs, folders of the user. Who brings a
CSV file without a declaration adds rows to a table that another place declares. What clashes is refused and reported:
a second declaration of a table, and a row whose key is there already.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache as once
from functools import partial
from pathlib import Path
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import CatalogRows, Table, Value
from analyzer.rules import fact_files
from analyzer.rules.fact_files import FactDeclaration, LateRows
from analyzer.rules.language.rulefile import BadRuleError, FileSpan, RuleText
from analyzer.rules.sources import FACTS, RuleSource, data_files, read_from
from analyzer.runtime.catalog_home import find_catalog
from analyzer.runtime.limits import Limits

SHIPPED = RuleSource("shipped", files=[find_catalog()])


@dataclass(slots=True)
class FactCatalog:
    """The tables of facts of some places.

    tables    by name, with their rows; owners: who declares each
    broken    files that cannot be used, each with its first fault; faults: all of them, for lint
    contents  bytes of every file, with the place it comes from
    paths, texts  of every file by the name that messages use
    """

    tables: dict[str, Table] = field(default_factory=dict)
    declared: dict[str, FactDeclaration] = field(default_factory=dict)
    owners: dict[str, RuleSource] = field(default_factory=dict)
    broken: list[BadRuleError] = field(default_factory=list)
    faults: list[BadRuleError] = field(default_factory=list)
    contents: list[tuple[RuleSource, str, bytes]] = field(default_factory=list)
    paths: dict[str, Path] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


@once
def read_shipped() -> dict[str, Table]:
    """Return the tables of facts that come with the tool."""
    return read_facts([SHIPPED]).tables


def list_declared() -> dict[str, Table]:
    """Return every table that a rule may name when no place but the tool brings facts: of parsers, and of facts."""
    return {**parsing.tables(), **read_shipped()}


def read_facts(
    sources: Iterable[RuleSource], limits: Limits | None = None, *, thorough: bool = False
) -> FactCatalog:
    """Return the tables of facts of some places, those of the tool first; what cannot be used is in `broken`.

    Places that are read without the rules of the tool may name its tables all the same. One that declares such a
    table itself, as an older copy of the tool's rules does, then has its own. The rows of the tool, which its own
    tests have read, wait until a rule is judged; `thorough` reads them at once.
    """
    places = sorted(sources, key=lambda one: one.kind != "shipped")
    reading = _Reading(limits or Limits(), thorough=thorough)
    if not any(source.kind == "shipped" for source in places):
        inside = (file.name for source in places for file in data_files(source)[0])
        reading.read_place(
            SHIPPED, {fact_files.table_name(name) for name in inside if name.endswith(".toml")}
        )
    for source in places:
        reading.read_place(source)
    return reading.finish_catalog()


def seen_by(
    source: RuleSource, tables: Mapping[str, Table], facts: FactCatalog
) -> dict[str, Table]:
    """Return the tables that rules of a place may mean: those of the tool mean none that somebody else declares."""
    foreign = {
        name
        for name, owner in facts.owners.items()
        if source.kind == "shipped" and owner.kind != "shipped"
    }
    return {name: table for name, table in tables.items() if name not in foreign}


class _Reading:
    """Reads place after place; rows of one table are gathered from all of them."""

    def __init__(self, limits: Limits, *, thorough: bool) -> None:
        self.limits, self.thorough = limits, thorough
        self.found = FactCatalog()
        self.rows: dict[str, list[tuple[RuleSource, RuleText]]] = {}
        self.digests: dict[str, Any] = {}
        self.seen: set[str] = set()

    def read_place(self, source: RuleSource, without: Collection[str] = ()) -> None:
        """Read the declarations of a place, then its rows; leave some tables out."""
        files, faults = data_files(source)
        self._refuse_faults(source, faults)
        for file in sorted(files, key=lambda one: (one.name.endswith(".csv"), one.name)):
            real = os.path.realpath(file) if isinstance(file, Path) else str(file)
            if real in self.seen or fact_files.table_name(file.name) in without:
                continue
            self.seen.add(real)
            try:
                text, raw = read_from(source, file, self.limits)
            except BadRuleError as error:
                self._refuse_faults(source, [error])
                continue
            self.found.contents.append((source, f"{FACTS}/{file.name}", raw))
            if source.kind == "pack":
                text.name = f"{text.name.rpartition('/')[0]}/{FACTS}/{file.name}"
            else:
                text.name = (
                    f"{source.name}/{FACTS}/{file.name}"
                    if source.kind == "folder"
                    else f"{FACTS}/{file.name}"
                )
            self.found.paths[text.name], self.found.texts[text.name] = Path(str(file)), text.text
            take = self._add_declaration if file.name.endswith(".toml") else self._add_rows
            name = fact_files.table_name(file.name)
            faults = take(source, name, text)
            if faults:
                self._refuse_faults(source, faults)
            else:
                self.digests[name].update(raw + b"\0")

    def _add_declaration(self, source: RuleSource, name: str, text: RuleText) -> list[BadRuleError]:
        if name in self.found.owners:
            message = f"table `{name}` is declared already ({self.found.owners[name].label})"
            return [
                _make_error(
                    text,
                    1,
                    message,
                    f"give yours another name; to add rows to `{name}` bring the CSV file alone",
                )
            ]
        try:
            self.found.declared[name] = fact_files.read_declaration(text)
        except BadRuleError as error:
            return [error]
        self.found.owners[name] = source
        self.rows[name], self.digests[name] = [], hashlib.sha256()
        return []

    def _add_rows(self, source: RuleSource, name: str, text: RuleText) -> list[BadRuleError]:
        made = self.found.declared.get(name)
        if made is None:
            base = name.partition(".")[2]
            return [
                _make_error(
                    text,
                    1,
                    f"no {base}.toml that can be used declares `{name}`",
                    "put it next to the CSV file",
                )
            ]
        if source.kind == "shipped" and not self.thorough:
            self.rows[name].append((source, text))
            return []
        found = fact_files.read_fact_rows(text, made)
        there: dict[tuple[Value, ...], str] = {}
        for owner, earlier in self.rows[name]:
            rows = fact_files.read_fact_rows(earlier, made)
            there |= dict.fromkeys(fact_files.keys_of(rows, made), owner.label)
        for key, line in fact_files.keys_of(found, made).items() if there else ():
            if key in there:
                message = f"{fact_files.words_of(key)} is a row of `{name}` already ({there[key]})"
                advice = "leave it out; a row cannot be replaced"
                found.faults.append(_make_error(text, line, message, advice))
        if not found.faults:
            self.rows[name].append((source, text))
        return found.faults

    def _refuse_faults(self, source: RuleSource, faults: Sequence[BadRuleError]) -> None:
        if not faults:
            return
        first = faults[0]
        if len(faults) > 1:
            message = f"{first.message} (and {len(faults) - 1} more faults in this file)"
            first = BadRuleError(message, file=first.file, place=first.place, help=first.help)
        self.found.faults += faults
        self.found.broken.append(first)
        source.broken += 1

    def finish_catalog(self) -> FactCatalog:
        """Return what was read; a table without rows is not there."""
        for name, made in self.found.declared.items():
            if self.rows[name]:
                parts = [
                    (text.name, partial(fact_files.read_fact_rows, text, made))
                    for _, text in self.rows[name]
                ]
                rows = LateRows(parts)
                given = CatalogRows(
                    self.digests[name].hexdigest(), rows, tuple(file for file, _ in parts)
                )
                self.found.tables[name] = replace(made.table, given=given)
        return self.found


def _make_error(text: RuleText, line: int, message: str, help: str = "") -> BadRuleError:
    return BadRuleError(message, file=text.name, place=FileSpan(line), help=help)
