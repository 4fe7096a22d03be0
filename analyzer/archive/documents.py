"""The texts of stored cases (meta, case document, base), read from packs and segments."""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from analyzer.archive.entry import SEGMENTS, Entry, Stored
from analyzer.archive.object_store.object_store import GoneError, ObjectStore
from analyzer.facts.database import duck_said
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.text import one_line

if TYPE_CHECKING:
    import duckdb

META, DOCUMENT, BASE = "meta", "document", "base"
MEMBERS = {META: "meta.json", DOCUMENT: "case.json", BASE: "base.json"}
DOCUMENTS = "_documents.parquet"
TABLE = re.compile(
    r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?"
)  # name of a table in a pack or segment


class DamagedError(BacklineError):
    """A stored case cannot be read back as it was written; `holders`: the packs or segments at fault."""

    holders: tuple[str, ...] = ()


def make_damaged_error(name: str, why: str) -> DamagedError:
    """Return the error of an object that cannot be read back."""
    do = "Run `backline archive verify`, which says what to do."
    error = DamagedError(
        "a stored case is damaged", where=one_line(name), why=one_line(why, 200), do=do
    )
    error.holders = (
        name.rpartition("/")[0] if name.startswith(SEGMENTS) and name.count("/") > 1 else name,
    )
    return error


def join_damaged_errors(errors: Sequence[DamagedError]) -> DamagedError:
    """Return one error for several: the first, with the holders of all."""
    error = errors[0]
    error.holders = tuple(holder for one in errors for holder in one.holders)
    return error


@contextmanager
def open_zip(objects: ObjectStore, name: str) -> Iterator[zipfile.ZipFile]:
    """Give a pack as a ZIP file; DamagedError when it is none, also for what the reader meets inside the block."""
    with (
        objects.open(name)
        if objects.local is not None
        else io.BytesIO(objects.get(name)) as stream,
        _guard_zip(stream, name) as pack,
    ):
        yield pack


@contextmanager
def open_zip_bytes(data: bytes, name: str) -> Iterator[zipfile.ZipFile]:
    """Give the bytes of a pack as a ZIP file, as `opened` does."""
    with _guard_zip(io.BytesIO(data), name) as pack:
        yield pack


@contextmanager
def _guard_zip(stream: BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(stream) as pack:
            yield pack
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as error:
        raise make_damaged_error(name, duck_said(error) or type(error).__name__) from error
    except KeyError as error:  # zipfile's word for a member that is not there
        raise make_damaged_error(
            name, str(error.args[0]) if error.args else "a part is missing"
        ) from error


_LOCK = threading.Lock()
_CONNECTION: list[duckdb.DuckDBPyConnection] = []


def share_connection() -> duckdb.DuckDBPyConnection:
    """Return a cursor of this process's database for reading Parquet; opening one costs twenty milliseconds."""
    from analyzer.facts import database  # noqa: PLC0415 - heavy

    with _LOCK:
        if not _CONNECTION:
            _CONNECTION.append(database.connect())
        return _CONNECTION[0].cursor()


def text_of(objects: ObjectStore, entry: Entry, what: str) -> str:
    """Return one text (META, DOCUMENT or BASE) of an entry. Raises GoneError, DamagedError."""
    return texts_of(objects, [entry], what)[entry]


def texts_of(objects: ObjectStore, entries: Iterable[Entry], what: str) -> dict[Entry, str]:
    """Return one text of each of many entries, those of a segment with one question."""
    out: dict[Entry, str] = {}
    segments: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.place < 0:
            with open_zip(objects, entry.holder) as pack:
                out[entry] = pack.read(MEMBERS[what]).decode()
        else:
            segments[entry.holder].append(entry)
    for holder, members in segments.items():
        found = _read_rows(
            objects, f"{holder}/{DOCUMENTS}", [entry.place for entry in members], what
        )
        for entry in members:
            text = found.get(entry.place)
            if text is None:
                raise make_damaged_error(
                    f"{holder}/{DOCUMENTS}", f"it has no {what} of case {entry.place}"
                )
            out[entry] = text
    return out


def _read_rows(
    objects: ObjectStore, name: str, places: Sequence[int], what: str
) -> dict[int, str | None]:
    import duckdb  # noqa: PLC0415 - heavy

    con = share_connection()
    try:
        path = objects.duck_path(con, name)
        chosen = (
            f"= {int(places[0])}"
            if len(places) == 1
            else f"IN ({', '.join(str(int(place)) for place in places)})"
        )
        query = f"SELECT _case, {what} FROM read_parquet(?) WHERE _case {chosen}"
        return dict(con.execute(query, [path]).fetchall())
    except (duckdb.Error, OSError) as error:
        if not objects.exists(name):
            raise GoneError(
                "the object is not there", where=one_line(name), why="a compaction took it over"
            ) from error
        raise make_damaged_error(name, duck_said(error)) from error
    finally:
        con.close()


def metas_below(objects: ObjectStore, holder: str) -> list[dict[str, Any]]:
    """Return the meta of all cases of a segment, also of one without a manifest. Raises GoneError, DamagedError."""
    import duckdb  # noqa: PLC0415 - heavy

    name = f"{holder}/{DOCUMENTS}"
    if not objects.exists(name):
        raise GoneError(
            "the object is not there", where=one_line(name), why="it was not written, or is deleted"
        )
    con = share_connection()
    try:
        rows = con.execute(
            f"SELECT {META} FROM read_parquet(?)", [objects.duck_path(con, name)]
        ).fetchall()
    except (duckdb.Error, OSError) as error:
        raise make_damaged_error(name, duck_said(error)) from error
    finally:
        con.close()
    return [meta_of(text or "", name) for (text,) in rows]


def meta_of(text: str, name: str) -> dict[str, Any]:
    """Return a case's meta from its text; DamagedError when it is none."""
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise make_damaged_error(name, f"its meta.json: {error}") from error
    if not isinstance(meta, dict):
        raise make_damaged_error(name, "its meta.json is not an object")
    return meta


def read_metas(objects: ObjectStore, cases: Iterable[Stored]) -> dict[str, dict[str, Any]]:
    """Return the meta of many cases by id; what is gone or damaged is left out."""
    out: dict[str, dict[str, Any]] = {}
    segments: dict[str, list[Stored]] = defaultdict(list)
    for case in cases:
        segments[case.judged.holder].append(case)
    for members in segments.values():
        try:
            texts = texts_of(objects, [case.judged for case in members], META)
            out |= {case.id: meta_of(texts[case.judged], case.judged.holder) for case in members}
        except (GoneError, DamagedError):
            continue
    return out
