"""The tables of many stored cases, wherever they are, as SQL on one connection.

Segments are read in place. Loose packs are ZIP files: small tables asked for are put into a temporary table,
large ones are taken out into a private folder first.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from analyzer.archive import documents
from analyzer.archive.documents import (
    MEMBERS,
    DamagedError,
    join_damaged_errors,
    make_damaged_error,
    open_zip,
)
from analyzer.archive.entries import segment_files
from analyzer.archive.entry import MANIFEST, Entry
from analyzer.archive.object_store.object_store import (
    GoneError,
    ObjectStore,
    make_workplace,
    name_full_disk,
)
from analyzer.archive.packs import parquet, smalltables
from analyzer.archive.packs.columns import is_known, schema_of
from analyzer.archive.packs.smalltables import SmallTable
from analyzer.facts.database import CASE, duck_said, quote_name
from analyzer.rules.language.logic import text_literal
from analyzer.runtime.text import one_line

HELD = 4 << 20  # bytes of small tables that are held as Python's values
WRITTEN_OUT = 20  # places of cases that are in the SQL itself
_NUMBERS = count()
_MEMBER, _PARQUET = "tables/", ".parquet"
Numbered = tuple[int, Entry]  # the number under which a case is asked for, and where it lies


class Reading:
    """Some tables of some cases; rows have `_case`, the case's number, first. A context manager.

    Raises GoneError when a holder has gone (a compaction took its cases over), DamagedError.
    """

    def __init__(
        self,
        objects: ObjectStore,
        cases: Sequence[Numbered],
        tables: Collection[str],
        con: duckdb.DuckDBPyConnection,
    ) -> None:
        self.objects, self.cases, self.tables, self.con = objects, cases, frozenset(tables), con
        self._loose: defaultdict[str, list[Path]] = defaultdict(list)
        self._small: defaultdict[str, list[tuple[int, SmallTable]]] = defaultdict(list)
        self._held = 0  # bytes that `_small` came from
        self._loaded: dict[str, str] = {}  # table -> temporary table of the rows of `_small`
        self._segments: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._files: dict[str, dict[str, str]] = {}
        self._places = ""
        self._open = ExitStack()

    def __enter__(self) -> Reading:
        try:
            self._sort_holders()
            for holder in self._segments:
                self._files[holder] = segment_files(self.objects, holder)
            self._note_places()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in self._loaded.values():
            self.con.execute(f"DROP TABLE IF EXISTS {quote_name(name)}")
        self._open.close()

    def _sort_holders(self) -> None:
        """Note the places in segments and take the tables out of packs; DamagedError names all packs at fault."""
        broken: list[DamagedError] = []
        loose = any(entry.place < 0 for _, entry in self.cases)
        folder = self._open.enter_context(make_workplace(self.objects)) if loose else None
        for number, entry in self.cases:
            if folder is None or entry.place >= 0:
                self._segments[entry.holder].append((entry.place, number))
                continue
            try:
                self._take_out(number, entry.holder, folder)
            except DamagedError as error:
                broken.append(error)
            if self._held >= HELD:
                self._load_small_tables()
        if broken:
            raise join_damaged_errors(broken)
        self._load_small_tables()

    def table_sql(self, table: str) -> str:
        """Return the query of one table with its declared columns, whatever its holders have of them."""
        columns = {CASE: "INTEGER", **schema_of(table)}
        empty = ", ".join(f"NULL::{kind} AS {quote_name(name)}" for name, kind in columns.items())
        parts = [f"SELECT {empty} WHERE FALSE", *self._part_queries(table)]
        cells = ", ".join(
            f"try_cast({quote_name(name)} AS {kind}) AS {quote_name(name)}"
            for name, kind in columns.items()
        )
        return f"SELECT {cells} FROM ({' UNION ALL BY NAME '.join(parts)})"

    def has_rows(self, table: str) -> bool:
        """Say whether any holder has rows of a table."""
        return (
            bool(self._loose.get(table))
            or table in self._loaded
            or any(table + _PARQUET in files for files in self._files.values())
        )

    def ask_columns(
        self, table: str, columns: Sequence[str], cells: str, then: str
    ) -> duckdb.DuckDBPyConnection:
        """Ask for `cells` over some columns of a table, `_case` among them; `then` is WHERE and ORDER BY.

        Holders written by this version are asked as they are, which takes half the time; where columns are
        missing or others the query of `sql` is asked.
        """

        names = ", ".join(quote_name(name) for name in columns)
        if parts := [*self._part_queries(table, names)]:
            try:
                return self.con.execute(f"SELECT {cells} FROM ({' UNION ALL '.join(parts)}) {then}")
            except (duckdb.BinderException, duckdb.InvalidInputException):
                pass
        with self.explain_errors():
            return self.con.execute(f"SELECT {cells} FROM ({self.table_sql(table)}) {then}")

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Turn what DuckDB says of a file that is gone or broken into a plain error."""

        try:
            yield
        except (duckdb.Error, OSError) as error:
            raise self._plain_error(error) from error

    def read_rows(
        self, table: str, columns: Sequence[str], then: str, cells: str = ""
    ) -> list[tuple[Any, ...]]:
        """Return the rows that `ask` brings; `cells` are the columns themselves by default."""
        with self.explain_errors():
            return self.ask_columns(
                table, columns, cells or ", ".join(map(quote_name, columns)), then
            ).fetchall()

    def _plain_error(self, error: Exception) -> Exception:
        """Return the error that names the holder at fault."""
        for holder, files in self._files.items():
            if not self.objects.exists(f"{holder}/{MANIFEST}"):
                why = "a compaction took it over"
                return GoneError("the object is not there", where=one_line(holder), why=why)
            for name in files.values():
                if name in str(error):
                    return make_damaged_error(name, duck_said(error))
        packs = [entry.holder for _, entry in self.cases if entry.place < 0]
        return make_damaged_error(", ".join([*packs, *self._segments][:3]), duck_said(error))

    def _part_queries(self, table: str, names: str = "") -> Iterator[str]:
        """Yield the query of each holder: of all that it has, or of columns that are known to be there."""
        select = f"SELECT {names or '*'} FROM"
        if own := self._loaded.get(table):
            yield f"{select} {quote_name(own)}"
        loose = self._loose.get(table, [])
        if len(loose) == 1:
            read = f"read_parquet({text_literal(str(loose[0]))})"
            yield f"{select} (SELECT {int(loose[0].stem)} AS {CASE}, * FROM {read})"
        elif loose:
            files = ", ".join(text_literal(str(path)) for path in loose)
            number = f"CAST(parse_filename(filename, true) AS INTEGER) AS {CASE}"
            read = f"read_parquet([{files}], filename=true, union_by_name={not names})"
            yield f"{select} (SELECT {number}, * EXCLUDE (filename) FROM {read})"
        for holder in self._segments:
            name = self._files[holder].get(table + _PARQUET)
            if name is None:
                continue
            path = text_literal(self.objects.duck_path(self.con, name))
            places = self._segments[holder]
            if len(places) == 1:
                place, own_number = places[0]
                own = f"SELECT * REPLACE ({own_number} AS {CASE}) FROM read_parquet({path}) WHERE {CASE} = {place}"
            else:
                if self._places:
                    index = [*self._segments].index(holder)
                    wanted = f"SELECT place, number FROM {quote_name(self._places)} WHERE holder = {index}"
                else:
                    pairs = ", ".join(f"({place}, {case})" for place, case in places)
                    wanted = f"SELECT * FROM (VALUES {pairs}) v(place, number)"
                own = (
                    f"SELECT m.number AS {CASE}, s.* EXCLUDE ({CASE}) FROM read_parquet({path}) s "
                    f"JOIN ({wanted}) m ON s.{CASE} = m.place"
                )
            yield f"{select} ({own})"

    def _load_small_tables(self) -> None:
        """Put the small tables of packs into temporary tables of this connection."""
        for table, some in self._small.items():
            schema = {CASE: "INTEGER", **schema_of(table)}
            with self.explain_errors():
                if table not in self._loaded:
                    self._loaded[table] = f"_small {next(_NUMBERS)}"
                    parquet.create_table(self.con, self._loaded[table], schema)
                smalltables.load_tables(self.con, self._loaded[table], schema, some)
        self._small.clear()
        self._held = 0

    def _note_places(self) -> None:
        """Put the places of many cases into a temporary table: as text they would cost more than the question."""
        if sum(map(len, self._segments.values())) <= WRITTEN_OUT:
            return
        self._places = f"_places {next(_NUMBERS)}"
        holders = [number for number, places in enumerate(self._segments.values()) for _ in places]
        pairs = [pair for places in self._segments.values() for pair in places]
        parquet.create_table(
            self.con, self._places, dict.fromkeys(("holder", "place", "number"), "INTEGER")
        )
        columns = {
            "holder": holders,
            "place": [one for one, _ in pairs],
            "number": [two for _, two in pairs],
        }
        parquet.insert_columns(self.con, self._places, dict.fromkeys(columns, "INTEGER"), columns)

    def _take_out(self, number: int, holder: str, top: Path) -> None:
        """Take the wanted tables of a pack out into files named after the case's number."""
        with open_zip(self.objects, holder) as pack:
            for name in pack.namelist():
                if name == smalltables.MEMBER:
                    data = pack.read(name)
                    self._held += len(data)
                    for small in smalltables.read_tables(data, self.tables):
                        self._small[small.name].append((number, small))
                    continue
                table = name.removeprefix(_MEMBER).removesuffix(_PARQUET)
                if table in self.tables and name == f"{_MEMBER}{table}{_PARQUET}":
                    folder = top / table
                    folder.mkdir(exist_ok=True)
                    path = folder / f"{number}{_PARQUET}"
                    with name_full_disk(top), pack.open(name) as source, path.open("wb") as target:
                        shutil.copyfileobj(source, target, 1 << 20)
                    self._loose[table].append(path)
                elif name not in MEMBERS.values() and not is_known(table):
                    pack.open(
                        name
                    ).close()  # a name changed by damage is not that before the member: BadZipFile


@contextmanager
def open_cursor() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a cursor of this process's database for reading."""
    con = documents.share_connection()
    try:
        yield con
    finally:
        con.close()
