"""Stored cases for somebody else: names are collected from facts and documents, and replaced in what is exported."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from analyzer.archive.entry import Stored
from analyzer.archive.object_store.object_store import GoneError
from analyzer.archive.query.ask import QueryDatabase
from analyzer.archive.restore import recall
from analyzer.archive.store import Archive
from analyzer.artefacts import parsing
from analyzer.facts.database import quote_name
from analyzer.redact.columns import PLAIN, TEXT, kind_of
from analyzer.redact.identities import columns_of
from analyzer.redact.redaction import LeftNameError, Redaction
from analyzer.redact.replacing import NAME_FIELDS
from analyzer.redact.strict import NAMING
from analyzer.runtime.errors import BacklineError

_NAMES = "_pseudonyms"
FREE = "text "  # before a text whose words a strict redaction hides
NUMBER = "number "  # before a number that is a name where its column says so
_NAMED = ("vm", "client", "host", "datastore", "portgroup", "switch", "user")  # kinds of columns
AT_ONCE = 20_000  # texts that are looked at together


def collect_names(archive: Archive, cases: Sequence[Stored], redaction: Redaction) -> None:
    """Give the redaction the names of stored cases; where only a judgement is stored, those of its document."""
    collect_facts(archive, cases, redaction)
    collect_documents(archive, cases, redaction)


def collect_documents(archive: Archive, cases: Sequence[Stored], redaction: Redaction) -> None:
    """Give the redaction the names that the documents of stored cases hold."""
    for case in cases:  # the path of what was read is a column of the cases
        redaction.begin_taking().take_given(str(archive.read_meta(case).get("source") or ""))
        if case.judged.kind != "none":
            redaction.take_document(archive.read_document(case))


def collect_facts(archive: Archive, cases: Sequence[Stored], redaction: Redaction) -> None:
    """Give the redaction the names that the facts of stored cases hold, case by case; those that are damaged lack."""
    for case in cases:
        try:
            redaction.take_facts(recall.recall_case(archive, case, ()).facts)
        except GoneError:
            raise
        except BacklineError:  # no facts are stored, so none are exported either
            pass


def collect_tables(db: QueryDatabase, queries: Mapping[str, str], redaction: Redaction) -> None:
    """Give the redaction the names that the tables of stored cases hold, each name once however many rows have it."""
    names = redaction.begin_taking()
    declared = parsing.tables()
    for name, query in queries.items():
        if name == "nodes":
            for kind, node in db.fetch_rows(
                f"SELECT DISTINCT kind, node FROM ({query}) WHERE node IS NOT NULL"
            ):
                names.take_cell("vm" if kind in ("guest", "hosted") else "host", node)
        if name not in declared:
            continue
        named, labelled, versions = columns_of(declared[name])
        texts = distinct_texts(db, query, [column for column, _ in named] + versions)
        for column, kind in named:
            for value in texts[column]:
                names.take_cell(kind, value)
        for column in versions:
            names.versions.update(texts[column])
        for column, label in labelled:
            pairs = f"SELECT DISTINCT {quote_name(label)}::VARCHAR, {quote_name(column)}::VARCHAR FROM ({query})"
            for setting, value in db.fetch_rows(pairs):
                names.take_setting(setting or "", value or "")


def distinct_texts(db: QueryDatabase, query: str, columns: Sequence[str]) -> dict[str, list[str]]:
    """Return the texts that are in columns, sorted; the table is read once for all of them."""
    if not columns:
        return {}
    lists = ", ".join(
        f"list(DISTINCT {name}::VARCHAR) FILTER (WHERE {name}::VARCHAR <> '')"
        for name in map(quote_name, columns)
    )
    (found,) = db.fetch_rows(f"SELECT {lists} FROM ({query})")
    return {column: sorted(texts or ()) for column, texts in zip(columns, found, strict=True)}


def learn_names(db: QueryDatabase, table: str, query: str, redaction: Redaction) -> None:
    """Give the redaction the names that the texts of a table show by their form."""
    columns = []
    for column in _text_columns(db, query):
        try:
            is_plain = kind_of(table, column) == PLAIN
        except KeyError:  # of the cases themselves: subjects, sentences, lines
            is_plain = False
        if not is_plain:  # cells of typed columns are known from the facts
            columns.append(column)
    for texts in distinct_texts(db, query, columns).values():
        for start in range(0, len(texts), AT_ONCE):
            redaction.take_lines(texts[start : start + AT_ONCE])


class RedactedTables:
    """The tables of an export with their names replaced, as queries over the same database."""

    def __init__(self, db: QueryDatabase, redaction: Redaction) -> None:
        self.db, self.redaction = db, redaction
        db.con.execute(f"CREATE OR REPLACE TABLE {_NAMES} (old VARCHAR PRIMARY KEY, new VARCHAR)")

    def redacted_query(self, query: str, *, table: str = "", proved: bool = False) -> str:
        """Return the query of a table without names; LeftNameError when one would be left in a cell.

        table   its name: of a number only the column tells that it is a name
        proved  what is written of it is read again (`checked`), so the cells need not be
        """
        columns = _text_columns(self.db, query)
        held = distinct_texts(self.db, query, columns)
        texts = list(dict.fromkeys(text for own in held.values() for text in own))
        made = self.redaction.name_replacer.replace_texts(texts)
        if not proved:
            self.redaction.check_results({"facts": "\n".join(made.values())})
        self.db.con.execute(f"DELETE FROM {_NAMES}")
        numbers = {
            column: numbers
            for column, own in held.items()
            if (numbers := self._number_pseudonyms(table, column, own))
        }
        free = {
            column: {text: self.redaction.hide_words(made[text]) for text in own}
            for column, own in held.items()
            if self.redaction.is_strict and _is_free(table, column)
        }
        changed = [(old, new) for old, new in made.items() if old != new]
        changed += {FREE + old: new for own in free.values() for old, new in own.items()}.items()
        changed += {
            NUMBER + old: new for own in numbers.values() for old, new in own.items()
        }.items()
        olds, news = [old for old, _ in changed], [new for _, new in changed]
        self.db.con.execute(
            f"INSERT INTO {_NAMES} SELECT unnest($1::VARCHAR[]), unnest($2::VARCHAR[])",
            [olds, news],
        )
        given = []
        for column, own in held.items():
            cell = f"r.{quote_name(column)}"
            choices = [f"(SELECT new FROM {_NAMES} WHERE old = {cell})"]
            if column in free:
                choices.insert(0, f"(SELECT new FROM {_NAMES} WHERE old = '{FREE}' || {cell})")
            elif column in numbers:
                choices.append(f"(SELECT new FROM {_NAMES} WHERE old = '{NUMBER}' || {cell})")
            elif all(made[text] == text for text in own):
                continue
            given.append(f"coalesce({', '.join([*choices, cell])}) AS {quote_name(column)}")
        replaced = ", ".join(given)
        return f"SELECT r.* REPLACE ({replaced}) FROM ({query}) r" if replaced else query

    def _number_pseudonyms(self, table: str, column: str, texts: Sequence[str]) -> dict[str, str]:
        """Return the numbers among the texts of a column that are names there, with their pseudonyms."""
        whole = self.redaction.name_replacer.number_names
        if not whole:
            return {}
        if column not in NAME_FIELDS:
            try:
                kind = kind_of(table, column)
            except KeyError:
                return {}
            if kind not in _NAMED:
                return {}
        return {text: whole[text] for text in texts if text in whole}


def _is_free(table: str, column: str) -> bool:
    """Say whether a column holds what people and programs wrote, in their own words."""
    try:
        return kind_of(table, column) == TEXT
    except KeyError:  # of the cases themselves: subjects, sentences, lines
        return column not in NAMING


def _text_columns(db: QueryDatabase, query: str) -> list[str]:
    rows: list[tuple[Any, ...]] = db.fetch_rows(f"DESCRIBE {query}")
    return [row[0] for row in rows if row[1] == "VARCHAR" and row[0] != "case_id"]


def check_file(path: Path, redaction: Redaction) -> None:
    """Read a file of comma-separated values that was written, and remove it when a name is left in it.

    Each cell is looked at once, as a spreadsheet reads it, however many rows have it. Raises LeftNameError.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            cells = [*dict.fromkeys(chain.from_iterable(csv.reader(file)))]
    except csv.Error:  # a cell is longer than the module takes
        cells = [path.read_text(encoding="utf-8")]
    try:
        redaction.check_results({path.name: "\n".join(cells)})
    except LeftNameError:
        text = path.read_text(encoding="utf-8")
        path.unlink()
        redaction.check_results({path.name: text})  # tells the line
        raise
