"""Where the objects of an archive are kept: a folder, or an object store by URL.

An object is written whole or not at all, read whole or in parts, listed and deleted; more is
not asked of a store. Names are made by Backline, and still checked.
"""

from __future__ import annotations

import errno
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from analyzer.runtime.errors import BacklineError, WriteError
from analyzer.runtime.text import one_line

if TYPE_CHECKING:
    import duckdb

HEAD = "backline-archive.json"
FORMAT = "backline/archive-2"
FORMATS = (
    "backline/archive-1",
    FORMAT,
)  # that this version reads; the first knew no `tables.jsonl`
TMP = "tmp"
LONGEST = 512  # characters of an object's name

FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.#=+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.#=+-]*)*")
_SECRET = re.compile(r"(?<=://)[^/@]*@")


def head_of(form: str) -> bytes:
    """Return the bytes of the object HEAD of an archive."""
    return (json.dumps({"format": form}) + "\n").encode()


class GoneError(BacklineError):
    """An object is not there (any more); a fresh listing tells what took its place."""


class NotAnArchiveError(BacklineError):
    """There is no archive at this place, or one that this version cannot read."""


class StorageError(BacklineError):
    """The store refused: disk full, read-only, no permission, no connection."""


class StoreWriteError(StorageError):
    """The store did not take what was to be written or deleted."""

    exit_code = WriteError.exit_code


class Object(NamedTuple):
    """One object of a listing; `mtime` in seconds since 1970 by the store's clock."""

    name: str
    size: int
    mtime: float


class ObjectStore(Protocol):
    """The objects of one archive."""

    url: str

    @property
    def local(self) -> Path | None:
        """The folder, of a local archive."""

    def put(self, name: str, data: bytes) -> None:
        """Write an object, whole or not at all. Raises StorageError."""

    def put_file(self, name: str, path: Path) -> None:
        """Write an object from a file below `scratch()`, which may be gone afterwards."""

    def put_new(self, name: str, data: bytes) -> bool:
        """Write an object if there is none of this name; False when there is (best effort in some stores)."""

    def get(self, name: str) -> bytes:
        """Return the bytes of an object. Raises GoneError, StorageError."""

    def get_many(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (name, bytes) of objects, several at a time where the store is far; those gone are left out."""

    def open(self, name: str) -> BinaryIO:
        """Return a seekable reader of an object. Raises GoneError, StorageError."""

    def list(self, prefix: str = "") -> Iterator[Object]:
        """Yield the objects whose name begins with `prefix`, sorted by name; never those on their way."""

    def delete(self, name: str) -> None:
        """Delete an object; one that is gone is no error."""

    def exists(self, name: str) -> bool:
        """Say whether an object is there."""

    def make_scratch(self) -> Path:
        """Return a new private folder for files on their way; `done_with` removes it."""

    def done_with(self, path: Path) -> None:
        """Remove a folder of `scratch`."""

    def on_the_way(self) -> Sequence[Object]:
        """Return what lies in tmp/: files of writers at work, and of those that died."""

    def sweep_leftover(self, name: str) -> None:
        """Remove one thing that `on_the_way` returned."""

    def duck_path(self, con: duckdb.DuckDBPyConnection, name: str) -> str:
        """Return the path by which a DuckDB connection (not yet locked) reads the object as Parquet."""


@contextmanager
def make_workplace(objects: ObjectStore) -> Iterator[Path]:
    """Give a private folder of the archive for tables that DuckDB reads or writes as files; it is removed at the end.

    Below the system's temporary folder when the archive is far, or may only be read.
    """
    try:
        folder = objects.make_scratch()
    except StorageError:
        with tempfile.TemporaryDirectory(prefix="backline-") as other, name_full_disk(Path(other)):
            yield Path(other)
        return
    try:
        with name_full_disk(folder):
            yield folder
    finally:
        objects.done_with(folder)


@contextmanager
def name_full_disk(folder: Path) -> Iterator[None]:
    """Name the folder when its disk is full; raises StoreWriteError then. Python does not say which file it was."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        what, do = (
            "cannot be written",
            "Free some space there and start again: what is stored stays.",
        )
        raise StoreWriteError(
            what, where=one_line(str(folder)), why=error.strerror or "", do=do
        ) from error


def check_name(name: str) -> str:
    """Return an object's name; a ValueError when it could lead out of the archive."""
    if (
        len(name) > LONGEST
        or not _NAME.fullmatch(name)
        or ".." in name
        or f"{name}/".startswith(TMP + "/")
    ):
        raise ValueError(f"not the name of an object: {name[:80]!r}")
    return name


def show_url(url: str) -> str:
    """Return a URL for messages: on one line and without a password."""
    return one_line(_SECRET.sub("…@", url))
