"""A locked database over an archive: it reads the Parquet of the tables asked for and nothing else.

Only the views a question speaks of are made, for each costs time. Then files, network, settings and
extensions are taken away; what may still be read are the very files below these views. A question has
a time and a bound of memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import duckdb

from analyzer.archive.documents import DamagedError, make_damaged_error
from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import MANIFEST, Stored
from analyzer.archive.labels import current_labels
from analyzer.archive.object_store.object_store import GoneError, ObjectStore, show_url
from analyzer.archive.query import views
from analyzer.archive.query.statement import BadQueryError, check_statement, query_error
from analyzer.archive.restore.relations import Relations, relations_sql
from analyzer.archive.store import Archive
from analyzer.facts import database
from analyzer.rules.language.logic import text_literal
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.runtime.errors import BacklineError

SECONDS = 60.0  # of one question
BATCH = 1000  # rows that are taken at once
_SMALLER = "Query less, or allow more time with --seconds."

Row = tuple[Any, ...]
Result = TypeVar("Result")


class _Watched:
    """An object store that remembers whose paths a database got."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self.paths: dict[str, str] = {}  # name -> path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    def duck_path(self, con: duckdb.DuckDBPyConnection, name: str) -> str:
        """Return the path of an object, and remember it."""
        path = self._objects.duck_path(con, name)
        self.paths[name] = path
        return path


@dataclass(slots=True)
class ResultRows:
    """The heading of an answer and its rows, which come while they are taken; `close` ends it early."""

    head: list[str]
    rows: Iterator[Row]
    close: Callable[[], None]


class QueryDatabase:
    """One database for one question over some cases of an archive; only the named stored tables can be asked."""

    def __init__(
        self,
        archive: Archive,
        cases: Sequence[Stored],
        tables: Iterable[str],
        seconds: float = SECONDS,
    ) -> None:
        self.archive, self.cases, self.seconds = archive, list(cases), seconds
        self._objects = _Watched(archive.objects)
        self._relations = Relations({}, frozenset())
        self.con = database.connect()
        try:
            self.con.execute("RESET threads")
            self.con.execute(f"CREATE TABLE {views.IDS} (_case INTEGER, case_id VARCHAR)")
            ids = [case.id for case in self.cases]
            insert = f"INSERT INTO {views.IDS} SELECT unnest(range($1)), unnest($2::VARCHAR[])"
            self.con.execute(insert, [len(ids), ids])
            seen = Archive(cast("ObjectStore", self._objects))
            self._relations = relations_sql(seen, self.cases, self.con, tables)
        except BaseException:
            self.close()
            raise

    def relation_sql(self, table: str) -> str:
        """Return the SQL of a stored table over the cases: `_case`, the number of the case, then its columns."""
        return self._relations.sql[table]

    def may_have(self, table: str) -> bool:
        """Say whether a stored table can have rows of these cases."""
        return table in self._relations.held

    def create_view(self, name: str) -> None:
        """Make the view of this name; before `lock`."""
        view = views.list_views()[name]
        if view.stored == views.LABELS:
            numbers = {case.id: number for number, case in enumerate(self.cases)}
            own = [label for label in current_labels(self.archive) if label.id in numbers]
            self.con.execute(
                f"CREATE TABLE {views.LABELS} (_case INTEGER, rule VARCHAR, node VARCHAR, subject VARCHAR,"
                ' label VARCHAR, missed BOOLEAN, "by" VARCHAR, note VARCHAR, "at" TIMESTAMP)'
            )
            kinds = ("INTEGER", *["VARCHAR"] * 4, "BOOLEAN", "VARCHAR", "VARCHAR", "VARCHAR")
            cells: list[list[Any]] = [[numbers[label.id] for label in own]]
            cells += [[getattr(label, name) for label in own] for name in _LABEL[:-1]]
            cells.append([label.at.removesuffix("Z") for label in own])
            marks = [f"unnest(${n}::{kind}[])" for n, kind in enumerate(kinds, 1)]
            marks[-1] = f"try_cast({marks[-1]} AS TIMESTAMP)"
            self.con.execute(f"INSERT INTO {views.LABELS} SELECT {', '.join(marks)}", cells)
            below = f"SELECT * FROM {views.LABELS}"
        else:
            below = self.relation_sql(view.stored)
        for sql in views.create_schemas_sql([view]):
            self.con.execute(sql)
        self.fetch_rows(views.create_view_sql(view, below))

    def lock_files(self) -> None:
        """Take away everything but the files that the relations are on."""
        paths = set(self._objects.paths.values())
        paths |= {path.replace("://", ":///", 1) for path in paths}  # as fsspec asks
        some = ", ".join(map(text_literal, sorted(paths)))
        self.con.execute(f"SET allowed_paths=[{some}]")
        database.lock(self.con)

    def ask_rows(self, sql: str, text: str | None = None) -> ResultRows:
        """Return the answer to a query; the first rows are there when this returns.

        text  what the engineer wrote, for errors that point into it; None for a query of our own
        Raises GoneError when a compaction took a file away, BadQueryError, BacklineError when it takes too long.
        """
        clock = threading.Timer(self.seconds, self.con.interrupt)
        clock.daemon = True
        clock.start()

        def close() -> None:
            clock.cancel()
            self.close()

        def rows(first: list[Row]) -> Iterator[Row]:
            some = first
            try:
                yield ()  # taken below: what was begun is closed, whatever becomes of it
                while some:
                    yield from some
                    some = self._run_plainly(lambda: result.fetchmany(BATCH), text)
            finally:
                close()

        try:
            result = self._run_plainly(lambda: self.con.execute(sql), text)
            head = [column[0] for column in result.description or ()]
            coming = rows(self._run_plainly(lambda: result.fetchmany(BATCH), text))
            next(coming)
            return ResultRows(head, coming, close)
        except BaseException:
            close()
            raise

    def stream_rows(self, sql: str) -> tuple[list[str], Iterator[Row]]:
        """Return the heading and the rows of a query of our own while they come; the database stays open."""
        result = self._run_plainly(lambda: self.con.execute(sql), None)

        def rows() -> Iterator[Row]:
            while some := self._run_plainly(lambda: result.fetchmany(BATCH), None):
                yield from some

        return [column[0] for column in result.description or ()], rows()

    def fetch_rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a small query of our own; the database stays open."""
        clock = threading.Timer(self.seconds, self.con.interrupt)
        clock.daemon = True
        clock.start()
        try:
            found: list[Row] = self._run_plainly(
                lambda: self.con.execute(sql, list(parameters)).fetchall(), None
            )
            return found
        finally:
            clock.cancel()

    def _run_plainly(self, act: Callable[[], Any], text: str | None) -> Any:
        try:
            return act()
        except duckdb.InterruptException:
            what = f"the query was stopped after {self.seconds:g} seconds"
            raise BacklineError(what, do=_SMALLER) from None
        except duckdb.OutOfMemoryException:
            what = f"the query needs more than the {database.MEMORY} of memory it may have"
            raise BacklineError(what, do="Ask for fewer columns, or group them.") from None
        except (duckdb.Error, OSError) as error:
            if text is not None and not isinstance(error, duckdb.IOException | OSError):
                raise query_error(error, text) from None
            raise self._reading_error(error) from error

    def _reading_error(self, error: Exception) -> BacklineError:
        """Return what an error of reading means: a compaction was quicker, or an object is damaged."""
        held = [
            entry.holder
            for case in self.cases
            for entry in (case.judged, case.facts)
            if entry and entry.place >= 0
        ]
        for holder in dict.fromkeys(held):
            if not self._objects.exists(f"{holder}/{MANIFEST}"):
                return GoneError(
                    "the object is not there", where=holder, why="a compaction took it over"
                )
        named = [name for name, path in self._objects.paths.items() if path in str(error)]
        return make_damaged_error(
            named[0] if named else show_url(self._objects.url),
            database.duck_said(error).split("\n")[0],
        )

    def close(self) -> None:
        """Close the database."""
        self.con.close()


_LABEL = ("rule", "node", "subject", "label", "missed", "by", "note", "at")


def run_twice(snapshot: Snapshot, act: Callable[[Snapshot], Result]) -> Result:
    """Return what `act` answers over a snapshot, and once more over a fresh one when a compaction was quicker.

    Damaged packs and segments are left out and noted in `snapshot.damaged`, as long as each time others are found.
    """
    gone = 0
    while True:
        try:
            return act(snapshot)
        except GoneError:
            gone += 1
            if gone > 1:
                raise
        except DamagedError as error:
            part = error.where.rpartition("/")[2]
            why = f"{part}: {error.why}" if part.endswith(".parquet") else error.why
            found = {holder: why for holder in error.holders if holder not in snapshot.damaged}
            if not found:
                raise
            snapshot.damaged.update(found)
        snapshot = snapshot.take_again()


def ask_archive(
    archive: Archive,
    tables: Iterable[str],
    act: Callable[[QueryDatabase], ResultRows],
    seconds: float = SECONDS,
) -> ResultRows:
    """Return what `act` asks of a locked database over the visible cases, with the relations of some stored tables."""
    tables = list(tables)

    def ask_once(now: Snapshot) -> ResultRows:
        db = QueryDatabase(archive, now.list_visible_cases(), tables, seconds)
        try:
            db.lock_files()
            return act(db)
        except BaseException:
            db.close()
            raise

    return run_twice(archive.take_snapshot(), ask_once)


def run_sql(
    archive: Archive, text: str, snapshot: Snapshot | None = None, seconds: float = SECONDS
) -> ResultRows:
    """Return the answer to one SELECT over the views of an archive.

    Raises BadQueryError for anything that is not one SELECT over them, with the line and a caret;
    BacklineError when it takes too long or too much memory.
    """

    statement = check_statement(text, views.list_views())
    stored = {views.list_views()[name].stored for name in statement.tables} - {views.LABELS}

    def run_statement(now: Snapshot) -> ResultRows:
        db = QueryDatabase(archive, now.list_visible_cases(), stored, seconds)
        try:
            db.con.execute(views.VERSION_KEY)
            for name in statement.tables:
                db.create_view(name)
            db.lock_files()
            return db.ask_rows(statement.text, text=text)
        except BaseException:
            db.close()
            raise

    return run_twice(snapshot or archive.take_snapshot(), run_statement)


def describe_views(names: Iterable[str] = ()) -> Iterator[tuple[str, str, str, str]]:
    """Yield (table, column, type, meaning) of the views, of all or of those named.

    Raises BadQueryError for a name that no view has.
    """
    known = views.list_views()
    for name in names:
        if name not in known:
            raise BadQueryError(f"there is no table {name}", do=did_you_mean(name, known))
    for name in names or known:
        for column in known[name].every_column:
            yield name, column.name, column.type, column.meaning
