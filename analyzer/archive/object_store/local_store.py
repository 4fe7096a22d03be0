"""An archive in a folder: temporary file, fsync, rename. Needs the standard library only."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

from analyzer.archive.object_store.object_store import (
    TMP,
    GoneError,
    Object,
    StorageError,
    StoreWriteError,
    check_name,
)
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.text import one_line

if TYPE_CHECKING:
    import duckdb

DO = "Check the folder, its permissions and the free space."


def path_of(url: str) -> Path:
    """Return the path of a file:// URL."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if os.name == "nt" and len(path) > 2 and path[0] == "/" and path[2] == ":":
        path = path[1:]
    return Path(path if parts.netloc in ("", "localhost") else f"//{parts.netloc}{path}")


class LocalStore:
    """The objects of an archive as files below one folder."""

    def __init__(self, root: Path) -> None:
        self.local: Path = absolute_path(root)
        self.url = str(self.local)

    def put(self, name: str, data: bytes) -> None:
        """Write an object, whole or not at all."""
        target = self._object_path(name)
        with _translate_errors("write", target), self._write_temporary(data) as temporary:
            self._place_file(temporary, target)

    def put_file(self, name: str, path: Path) -> None:
        """Move a file of `scratch()` to its place."""
        target = self._object_path(name)
        with _translate_errors("write", target):
            with path.open("rb+") as stream:
                os.fsync(stream.fileno())
            try:
                self._place_file(path, target)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                # Nothing could be made in the archive, so that the file lies elsewhere: this says why.
                with self._write_temporary(path.read_bytes()) as temporary:
                    self._place_file(temporary, target)

    def put_new(self, name: str, data: bytes) -> bool:
        """Write an object if there is none of this name."""
        target = self._object_path(name)
        with _translate_errors("write", target), self._write_temporary(data) as temporary:
            try:
                self._place_file(temporary, target, new=True)
            except FileExistsError:
                return False
        return True

    def get(self, name: str) -> bytes:
        """Return the bytes of an object."""
        path = self._object_path(name)
        with _translate_errors("read", path):
            return path.read_bytes()

    def get_many(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (name, bytes) of objects; those gone are left out."""
        for name in names:
            with suppress(GoneError):
                yield name, self.get(name)

    def open(self, name: str) -> BinaryIO:
        """Return a seekable reader of an object."""
        path = self._object_path(name)
        with _translate_errors("read", path):
            return path.open("rb")

    def list(self, prefix: str = "") -> Iterator[Object]:
        """Yield the objects whose name begins with `prefix`, sorted by name."""
        folder = prefix.rpartition("/")[0]
        with _translate_errors("list", self.local):
            for found in _list_below(
                str(self.local / folder) if folder else self.url, folder + "/" if folder else ""
            ):
                if found.name.startswith(prefix) and not found.name.startswith(TMP + "/"):
                    yield found

    def delete(self, name: str) -> None:
        """Delete an object; of a segment, which no one writes into again, also the empty folder."""
        path = self._object_path(name)
        with _translate_errors("delete", path):
            path.unlink(missing_ok=True)
            if name.startswith("segments/"):  # into the others, somebody may be writing now
                with suppress(OSError):
                    path.parent.rmdir()

    def exists(self, name: str) -> bool:
        """Say whether an object is there."""
        return self._object_path(name).is_file()

    def make_scratch(self) -> Path:
        """Return a new private folder below tmp/."""
        path = self.local / TMP / f"{os.getpid()}-{secrets.token_hex(6)}"
        with _translate_errors("write", path):
            path.mkdir(parents=True)
        return path

    def done_with(self, path: Path) -> None:
        """Remove a folder of `scratch`."""
        shutil.rmtree(path, ignore_errors=True)

    def on_the_way(self) -> Sequence[Object]:
        """Return what lies in tmp/; of a folder its size in all and its newest time."""
        found = []
        with suppress(OSError):
            for path in sorted((self.local / TMP).iterdir()):
                with suppress(OSError):
                    inside = (
                        [path, *path.rglob("*")]
                        if path.is_dir() and not path.is_symlink()
                        else [path]
                    )
                    stats = [item.lstat() for item in inside]
                    size = sum(
                        stat.st_size
                        for item, stat in zip(inside, stats, strict=True)
                        if item.is_file()
                    )
                    found.append(
                        Object(f"{TMP}/{path.name}", size, max(stat.st_mtime for stat in stats))
                    )
        return found

    def sweep_leftover(self, name: str) -> None:
        """Remove one thing that `on_the_way` returned."""
        folder, _, own = name.partition("/")
        if folder != TMP or not own or "/" in own or own in (".", ".."):
            raise ValueError(f"nothing on its way: {name[:80]!r}")
        path = self.local / TMP / own
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()

    def duck_path(self, con: duckdb.DuckDBPyConnection, name: str) -> str:  # noqa: ARG002 - a folder needs no connection
        """Return the path of an object."""
        return str(self._object_path(name))

    def _object_path(self, name: str) -> Path:
        return self.local.joinpath(*check_name(name).split("/"))

    @contextmanager
    def _write_temporary(self, data: bytes) -> Iterator[Path]:
        """Give a temporary file with `data` on the disk; it is gone afterwards."""
        temporary = self.local / TMP / f"{os.getpid()}-{secrets.token_hex(6)}.part"
        temporary.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            yield temporary
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _place_file(self, temporary: Path, target: Path, *, new: bool = False) -> None:
        """Rename a file to its place for good; FileExistsError when it must be new and is not."""
        made = not target.parent.is_dir()
        target.parent.mkdir(parents=True, exist_ok=True)
        if new:
            if os.name == "nt":
                temporary.rename(target)  # fails on Windows when the target is there
            else:
                try:
                    os.link(temporary, target)
                except (FileExistsError, FileNotFoundError):
                    raise
                except (
                    OSError
                ):  # a file system without hard links: two at once may both believe they were first
                    if target.exists():
                        raise FileExistsError(str(target)) from None
                    temporary.replace(target)
        else:
            temporary.replace(target)
        _to_disk(target.parent)
        if made:
            _to_disk(target.parent.parent)


def _to_disk(folder: Path) -> None:
    """Have the names in a folder outlive a power cut, where the platform can."""
    if os.name == "nt":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _list_below(folder: str, name: str) -> Iterator[Object]:
    """Yield the regular files below a folder in the order of their whole names; links are not followed."""
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.name + "/" * entry.is_dir(follow_symlinks=False), entry) for entry in entries
            ]
    except (FileNotFoundError, NotADirectoryError):
        return
    for own, entry in sorted(found, key=lambda item: item[0]):
        if own.endswith("/"):
            if name or own != TMP + "/":
                yield from _list_below(entry.path, name + own)
            continue
        with suppress(FileNotFoundError):
            if entry.is_file(follow_symlinks=False):
                stat = entry.stat(follow_symlinks=False)
                yield Object(name + own, stat.st_size, stat.st_mtime)


@contextmanager
def _translate_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn an OSError into GoneError or StorageError."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        if doing == "read":
            why = "it was deleted, or never written"
            raise GoneError(
                "the object is not there", where=one_line(str(path)), why=why
            ) from error
        raise _storage_error(doing, path, error) from error
    except OSError as error:
        raise _storage_error(doing, path, error) from error


def _storage_error(doing: str, path: Path, error: OSError) -> StorageError:
    why = error.strerror or str(error)
    kind = StorageError if doing in ("read", "list") else StoreWriteError
    return kind(
        f"cannot {doing} in the archive", where=one_line(str(path)), why=one_line(why), do=DO
    )
