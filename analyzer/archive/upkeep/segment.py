"""One segment: tables and texts of many cases in a few Parquet files, and its manifest.

The manifest is written last; before that, no one sees the segment. All its cases were read in one way,
so their tables have the same columns.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import time
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from analyzer.archive import documents
from analyzer.archive.documents import BASE, DOCUMENT, DOCUMENTS, META, DamagedError
from analyzer.archive.entries import SEGMENT_FORMAT, read_manifest
from analyzer.archive.entry import MANIFEST, SEGMENTS, Entry, Stored
from analyzer.archive.object_store.object_store import (
    GoneError,
    ObjectStore,
    StorageError,
    name_full_disk,
)
from analyzer.archive.packs import parquet, smalltables
from analyzer.archive.packs.columns import JUDGED
from analyzer.archive.packs.smalltables import SmallTable
from analyzer.archive.seal import seal_broken, sealed_json
from analyzer.facts import database
from analyzer.facts.database import duck_said
from analyzer.runtime.errors import WriteError
from analyzer.runtime.text import one_line

ROWS = 20_480  # rows of one row group: a case is read without the others, a query does not see many groups
DOCUMENT_BYTES = 1_000_000  # the same for the texts, which are longer
PARQUET = ".parquet"
CHUNK = 1 << 20
SORTED = "96MB"  # of the rows of a table while they are sorted; the others wait on the disk
HELD = 20_000  # rows of small tables that are held as Python's values


@dataclass(slots=True)
class Written:
    """What became of the cases that were to go into a segment.

    taken    those in it, by place
    damaged  (object, why) of those that cannot be read; they are left where they are
    gone     those that somebody else took over or deleted meanwhile
    """

    holder: str = ""
    taken: list[Stored] = field(default_factory=list)
    damaged: list[tuple[str, str]] = field(default_factory=list)
    gone: list[Stored] = field(default_factory=list)


class _BadTablesError(Exception):
    """Parquet of some cases, by number, cannot be read although its bytes are those that were written."""

    def __init__(self, numbers: dict[int, str]) -> None:
        super().__init__(numbers)
        self.numbers = numbers


def write_segment(objects: ObjectStore, cases: Sequence[Stored]) -> Written:
    """Write a new segment of cases that were read in one way; their packs stay. Raises StorageError."""
    damaged: list[tuple[str, str]] = []
    left = list(cases)
    for holder in sorted(
        {entry.holder for case in cases for _, entry in _text_parts(case) if entry.place >= 0}
    ):
        if found := broken_files(objects, holder):
            damaged += found
            left = [
                case
                for case in left
                if all(entry.holder != holder for _, entry in _text_parts(case))
            ]
    while True:
        builder = _Builder(objects)
        try:
            with name_full_disk(builder.folder):
                builder.collect_cases(left)
                written = builder.written
                if written.taken:
                    builder.write_segment()
            written.damaged[:0] = damaged
            return written
        except _BadTablesError as error:
            bad = {written.taken[number].id: why for number, why in error.numbers.items()}
            damaged += [(case.judged.holder, bad[case.id]) for case in left if case.id in bad]
            left = [case for case in left if case.id not in bad]
        finally:
            builder.close()


class _Builder:
    """A segment in the making, in a private folder."""

    def __init__(self, objects: ObjectStore) -> None:
        self.objects = objects
        self.folder = objects.make_scratch()
        self.written = Written()
        self.files: dict[str, dict[int, Path]] = defaultdict(
            dict
        )  # table -> number of the case -> its Parquet
        self.small: dict[str, list[tuple[int, SmallTable]]] = defaultdict(
            list
        )  # of cases, until they are `together`
        self.held = 0  # rows of these
        self.together: dict[str, list[Path]] = defaultdict(
            list
        )  # table -> Parquet of small tables of many cases
        self.places: dict[str, dict[str, dict[int, int]]] = {
            "facts": defaultdict(dict),
            "judged": defaultdict(dict),
        }
        self.con = database.connect()
        self.con.execute(f"SET temp_directory='{_path_sql(self.folder / 'spill')}'")
        self.con.execute(
            f"CREATE TABLE texts (_case INTEGER, {META} VARCHAR, {DOCUMENT} VARCHAR, {BASE} VARCHAR)"
        )

    def close(self) -> None:
        """Remove what is not needed any more."""
        self.con.close()
        self.objects.done_with(self.folder)

    def collect_cases(self, cases: Sequence[Stored]) -> None:
        """Take texts and tables of the cases out of their packs; note where the others are in segments."""
        known = _segment_texts(self.objects, cases)
        for case in cases:
            number = len(self.written.taken)
            small: list[SmallTable] = []
            try:
                texts = self._collect_texts(case, number, known, small)
            except GoneError:
                self.written.gone.append(case)
            except DamagedError as error:
                self.written.damaged.append((error.where, error.why))
            else:
                self.con.execute("INSERT INTO texts VALUES (?, ?, ?, ?)", [number, *texts])
                for what, entry in (("facts", case.facts), ("judged", case.judged)):
                    if entry is not None and entry.place >= 0:
                        self.places[what][entry.holder][entry.place] = number
                for table in small:
                    self.small[table.name].append((number, table))
                    self.held += table.rows
                if self.held >= HELD:
                    self._put_together()
                self.written.taken.append(case)
                continue
            for files in self.files.values():
                files.pop(number, None)
        self._put_together()

    def _put_together(self) -> None:
        """Write the small tables of some cases as one Parquet file a table."""
        for name, some in self.small.items():
            for group in smalltables.gather_tables(some):
                path = self.folder / "in" / f"{name}+{len(self.together[name])}{PARQUET}"
                path.parent.mkdir(exist_ok=True)
                parquet.write_columns(self.con, path, group.column_types(), group.all_columns())
                self.together[name].append(path)
        self.small.clear()
        self.held = 0

    def _collect_texts(
        self,
        case: Stored,
        number: int,
        known: dict[tuple[Entry, str], str],
        small: list[SmallTable],
    ) -> tuple[str | None, str | None, str | None]:
        """Return meta, document and base of a case, and unpack its tables; small ones are put into `small`."""
        texts: dict[str, str | None] = {META: None, DOCUMENT: None, BASE: None}
        loose: dict[str, list[str]] = defaultdict(list)
        for part, entry in _text_parts(case):
            if entry.place >= 0:
                if (entry, part) not in known:
                    raise documents.make_damaged_error(
                        f"{entry.holder}/{DOCUMENTS}", f"it has no {part} of case {entry.place}"
                    )
                texts[part] = known[entry, part]
            else:
                loose[entry.holder].append(part)
        for name, parts in loose.items():
            data = self.objects.get(name)
            if why := seal_broken(data):
                raise documents.make_damaged_error(name, why)
            with documents.open_zip_bytes(data, name) as pack:
                texts |= {part: pack.read(documents.MEMBERS[part]).decode() for part in parts}
                small += self._unpack_tables(
                    pack, number, facts=BASE in parts, judged=META in parts
                )
        meta = documents.meta_of(texts[META] or "", case.judged.holder)
        if meta.get("id") != case.id:
            raise documents.make_damaged_error(
                case.judged.holder, "its meta.json is of another case"
            )
        return texts[META], texts[DOCUMENT], texts[BASE]

    def _unpack_tables(
        self, pack: zipfile.ZipFile, number: int, *, facts: bool, judged: bool
    ) -> Iterator[SmallTable]:
        for member in pack.namelist():
            if member == smalltables.MEMBER:
                for one in smalltables.read_tables(pack.read(member)):
                    if judged if one.name in JUDGED else facts:
                        _check_table(one.name, pack)
                        yield one
                continue
            table = member.removeprefix("tables/").removesuffix(PARQUET)
            if f"tables/{table}{PARQUET}" != member or not (judged if table in JUDGED else facts):
                continue
            _check_table(table, pack)
            path = self.folder / "in" / table / f"{number}{PARQUET}"
            path.parent.mkdir(parents=True, exist_ok=True)
            with pack.open(member) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target, CHUNK)
            self.files[table][number] = path

    def write_segment(self) -> None:
        """Write the Parquet files, put them, and put the manifest last."""
        out = self.folder / "out"
        out.mkdir()
        texts_path = out / DOCUMENTS
        self.con.execute("SET preserve_insertion_order=false")
        options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE_BYTES {DOCUMENT_BYTES}"
        self.con.execute(f"COPY (FROM texts) TO '{_path_sql(texts_path)}' ({options})")
        self.con.execute("SET preserve_insertion_order=true")
        self._check_rows(texts_path, len(self.written.taken))
        # For each table the files of older segments with cases of ours, and how places become
        # numbers.
        parts: dict[str, list[tuple[str, dict[int, int]]]] = defaultdict(list)
        for old in sorted({*self.places["facts"], *self.places["judged"]}):
            for file in read_manifest(self.objects, f"{old}/{MANIFEST}")["files"]:
                name = str(file["name"])
                table = name.removesuffix(PARQUET)
                places = self.places["judged" if table in JUDGED else "facts"].get(old)
                if places and name != DOCUMENTS:
                    parts[table].append((f"{old}/{name}", places))
        for table in sorted({*self.files, *self.together, *parts}):
            self._write_table(table, parts.get(table, []), out / f"{table}{PARQUET}")
        holder = f"{SEGMENTS}{time.time_ns() // 1_000_000:011x}-{secrets.token_hex(4)}"
        files = []
        for path in sorted(out.iterdir()):
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            files.append({"name": path.name, "size": path.stat().st_size, "sha256": digest})
        for file in files:
            self.objects.put_file(f"{holder}/{file['name']}", out / str(file["name"]))
        entries = [
            {
                "entry": case.judged.entry_text,
                "facts": case.facts is not None,
                "case": case.judged.kind != "none",
            }
            for case in self.written.taken
        ]
        manifest = {"format": SEGMENT_FORMAT, "entries": entries, "files": files}
        self.objects.put(f"{holder}/{MANIFEST}", sealed_json(manifest))
        # Look once more whether all files are there: another run may have taken them for debris
        there = {item.name: item.size for item in self.objects.list(holder + "/")}
        if any(there.get(f"{holder}/{file['name']}") != file["size"] for file in files):
            self.objects.delete(f"{holder}/{MANIFEST}")
            why = "another compaction swept it away as debris; no case was lost"
            raise StorageError(
                "a segment could not be written", where=holder, why=why, do="Run it again."
            )
        self.written.holder = holder

    def _write_table(self, table: str, parts: list[tuple[str, dict[int, int]]], path: Path) -> None:
        """Write one table of all cases, sorted by case, each in its own order."""

        files = self.files.get(table, {})
        selects, counts = [], []
        if files:
            selects.append(
                "SELECT CAST(parse_filename(_pack, true) AS INTEGER) AS _case, file_row_number AS _n,"
                f" * EXCLUDE (_pack, file_row_number) FROM read_parquet({_list_sql(files)}, union_by_name=true,"
                " filename='_pack', file_row_number=true)"
            )
            counts.append(f"SELECT num_rows FROM parquet_file_metadata({_list_sql(files)})")
        if together := self.together.get(table, []):
            selects.append(
                f"SELECT * FROM read_parquet({_list_sql(dict(enumerate(together)))}, union_by_name=true)"
            )
            counts.append(
                f"SELECT num_rows FROM parquet_file_metadata({_list_sql(dict(enumerate(together)))})"
            )
        for name, places in parts:
            source = f"read_parquet('{_path_sql(self.objects.duck_path(self.con, name))}', file_row_number=true)"
            numbers = ", ".join(f"({old}, {new})" for old, new in places.items())
            joined = f"FROM {source} AS s JOIN (VALUES {numbers}) AS m(old, new) ON s._case = m.old"
            selects.append(
                "SELECT CAST(m.new AS INTEGER) AS _case, s.file_row_number AS _n,"
                f" s.* EXCLUDE (_case, file_row_number) {joined}"
            )
            counts.append(f"SELECT count(*) AS num_rows {joined}")
        query = (
            f"SELECT * EXCLUDE (_n) FROM ({' UNION ALL BY NAME '.join(selects)}) ORDER BY _case, _n"
        )
        try:
            found = self.con.execute(
                f"SELECT sum(num_rows) FROM ({' UNION ALL '.join(counts)})"
            ).fetchall()
            self._run_sorted(
                f"COPY ({query}) TO '{_path_sql(path)}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROWS})"
            )
        except duckdb.Error as error:
            raise self._explain_error(files, error) from error
        rows = int(found[0][0] or 0)
        self._check_rows(path, rows)
        if not rows:  # as in a pack
            path.unlink()

    def _run_sorted(self, query: str) -> None:
        """Run a query that sorts: on the disk what goes beyond `SORTED`, unless its rows are too long for that."""

        self.con.execute(f"SET memory_limit='{SORTED}'")
        try:
            self.con.execute(query)
        except duckdb.OutOfMemoryException:
            self.con.execute(f"SET memory_limit='{database.MEMORY}'")
            self.con.execute(query)
        finally:
            self.con.execute(f"SET memory_limit='{database.MEMORY}'")

    def _check_rows(self, path: Path, rows: int) -> None:
        """Count what was written: the packs are deleted afterwards."""
        found = self.con.execute(
            f"SELECT num_rows FROM parquet_file_metadata('{_path_sql(path)}')"
        ).fetchall()
        if found != [(rows,)]:
            raise WriteError(
                "a segment could not be written", where=path.name, why=f"{found} of {rows} rows"
            )

    def _explain_error(self, files: dict[int, Path], error: duckdb.Error) -> Exception:
        """Return an error that names the cases whose Parquet cannot be read."""

        bad: dict[int, str] = {}
        for number, path in files.items():
            try:
                self.con.execute(
                    f"SELECT count(COLUMNS(*)) FROM read_parquet('{_path_sql(path)}')"
                ).fetchall()
            except duckdb.Error as own:
                bad[number] = f"its table {path.parent.name}: {one_line(duck_said(own), 200)}"
        if bad:
            return _BadTablesError(bad)
        why = one_line(duck_said(error), 300)
        return WriteError(
            "a segment could not be written", why=why, do="Run `backline archive verify`."
        )


def _check_table(table: str, pack: zipfile.ZipFile) -> None:
    if not documents.TABLE.fullmatch(table):
        raise documents.make_damaged_error(pack.filename or "", f"it has a table {table!r}")


def _text_parts(case: Stored) -> list[tuple[str, Entry]]:
    """Return the texts a stored case has, and the entry each lies with."""
    parts = [(META, case.judged)]
    if case.judged.kind != "none":
        parts.append((DOCUMENT, case.judged))
    if case.facts is not None:
        parts.append((BASE, case.facts))
    return parts


def broken_files(objects: ObjectStore, holder: str) -> list[tuple[str, str]]:
    """Return (object, why) of the files of a segment that are not as its manifest says; GoneError when that is gone."""
    found = []
    for file in read_manifest(objects, f"{holder}/{MANIFEST}")["files"]:
        name = f"{holder}/{file['name']}"
        try:
            digest = hashlib.sha256()
            with objects.open(name) as stream:
                while part := stream.read(CHUNK):
                    digest.update(part)
        except GoneError:
            found.append((name, "the file is not there"))
        else:
            if digest.hexdigest() != file["sha256"]:
                found.append((name, "its bytes are not those that were written"))
    return found


def _segment_texts(objects: ObjectStore, cases: Sequence[Stored]) -> dict[tuple[Entry, str], str]:
    """Return the texts of those cases that lie in segments already; of what is gone or damaged, none."""
    wanted: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for case in cases:
        for part, entry in _text_parts(case):
            if entry.place >= 0:
                wanted[entry.holder, part].append(entry)
    known: dict[tuple[Entry, str], str] = {}
    for (_, part), entries in wanted.items():
        try:
            known |= {
                (entry, part): text
                for entry, text in documents.texts_of(objects, entries, part).items()
            }
        except (GoneError, DamagedError):
            continue
    return known


def _path_sql(path: Path | str) -> str:
    return str(path).replace("'", "''")


def _list_sql(files: dict[int, Path]) -> str:
    return "[" + ", ".join(f"'{_path_sql(path)}'" for path in files.values()) + "]"
