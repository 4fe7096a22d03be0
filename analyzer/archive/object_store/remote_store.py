"""An archive in an object store through fsspec: s3://bucket/prefix, memory://name, and others that are installed."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from analyzer.archive.object_store.object_store import (
    GoneError,
    Object,
    StorageError,
    StoreWriteError,
    check_name,
    show_url,
)
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.text import one_line

if TYPE_CHECKING:
    import duckdb

AT_ONCE = 64  # objects that are fetched together
CLUSTER = "pip install 'backline[cluster]'"
DO = "Check the URL, the credentials and the connection."


class RemoteStore:
    """The objects of an archive below one URL; a store that writes an object in one PUT writes it whole or not."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.local: Path | None = None
        # The filesystem of a URL and the key of the archive in it
        try:
            import fsspec  # noqa: PLC0415 - heavy, and an extra
        except ImportError:
            what, why = "a URL needs the packages of the extra [cluster]", "fsspec is not installed"
            raise BacklineError(
                what, where=show_url(self.url), why=why, do=f"Install them: {CLUSTER}"
            ) from None
        scheme = self.url.partition("://")[0]
        options = {"use_listings_cache": False} if scheme in ("s3", "s3a") else {}
        try:
            fs, root = fsspec.url_to_fs(self.url, **options)
        except ImportError as error:
            why = one_line(str(error), 200)
            what = f"{scheme}:// needs a package that is not installed"
            raise BacklineError(
                what, where=show_url(self.url), why=why, do=f"Install it; for s3:// {CLUSTER}"
            ) from None
        except (ValueError, OSError) as error:
            do = "Use s3://BUCKET/PREFIX or the path of a folder."
            raise StorageError(
                "cannot open the archive",
                where=show_url(self.url),
                why=one_line(str(error), 200),
                do=do,
            ) from None
        self._fs, self._root = fs, str(root).rstrip("/")

    def __reduce__(self) -> tuple[type[RemoteStore], tuple[str]]:
        return RemoteStore, (self.url,)

    def put(self, name: str, data: bytes) -> None:
        """Write an object, whole or not at all."""
        with self._translate_errors("write", name) as key:
            self._fs.pipe_file(key, data)

    def put_file(self, name: str, path: Path) -> None:
        """Write an object from a file; the file stays."""
        with self._translate_errors("write", name) as key:
            self._fs.put_file(str(path), key)

    def put_new(self, name: str, data: bytes) -> bool:
        """Write an object if there is none of this name; some stores cannot tell two at the same moment apart."""
        with self._translate_errors("write", name) as key:
            try:
                self._fs.pipe_file(key, data, mode="create")
            except FileExistsError:
                return False
            except (TypeError, NotImplementedError):  # a store that knows no exclusive write
                if self._fs.exists(key):
                    return False
                self._fs.pipe_file(key, data)
            except OSError as error:  # S3 answers 412, which s3fs makes EINVAL
                if error.errno != errno.EINVAL or not self._fs.exists(key):
                    raise
                return False
        return True

    def get(self, name: str) -> bytes:
        """Return the bytes of an object."""
        with self._translate_errors("read", name) as key:
            return bytes(self._fs.cat_file(key))

    def get_many(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (name, bytes) of objects, fetched many at a time; those gone are left out."""
        rest = iter(names)
        while some := list(islice(rest, AT_ONCE)):
            keys = {self._object_key(name): name for name in some}
            with self._translate_errors("read", some[0]):
                found = self._fs.cat(list(keys), on_error="return")
            for key, name in keys.items():
                data = found[key]
                if isinstance(data, FileNotFoundError):
                    continue
                with self._translate_errors("read", name):
                    if isinstance(data, BaseException):
                        raise data
                yield name, bytes(data)

    def open(self, name: str) -> BinaryIO:
        """Return a seekable reader of an object."""
        with self._translate_errors("read", name) as key:
            return cast("BinaryIO", self._fs.open(key, "rb"))

    def list(self, prefix: str = "") -> Iterator[Object]:
        """Yield the objects whose name begins with `prefix`, sorted by name."""
        folder = prefix.rpartition("/")[0]
        with self._translate_errors("list", folder):
            self._fs.invalidate_cache()
            try:
                key = self._object_key(folder) if folder else self._root
                found: dict[str, dict[str, Any]] = self._fs.find(key, detail=True)
            except FileNotFoundError:
                found = {}
        cut = len(self._root) + 1 if self._root else 0
        names = (
            (path.lstrip("/") if not cut else path[cut:], info) for path, info in found.items()
        )
        for name, info in sorted(names, key=lambda item: item[0]):
            if name.startswith(prefix) and name and not name.startswith("tmp/"):
                yield Object(name, int(info.get("size") or 0), _written_time(info))

    def delete(self, name: str) -> None:
        """Delete an object; one that is gone is no error."""
        with self._translate_errors("delete", name) as key:
            try:
                self._fs.rm_file(key)
            except FileNotFoundError:
                return

    def exists(self, name: str) -> bool:
        """Say whether an object is there."""
        with self._translate_errors("read", name) as key:
            self._fs.invalidate_cache()
            return bool(self._fs.exists(key))

    def make_scratch(self) -> Path:
        """Return a new private folder below the system's temporary folder."""
        return Path(tempfile.mkdtemp(prefix="backline-"))

    def done_with(self, path: Path) -> None:
        """Remove a folder of `scratch`."""
        shutil.rmtree(path, ignore_errors=True)

    def on_the_way(self) -> Sequence[Object]:
        """Return nothing: what is on its way to a store is not seen there."""
        return []

    def sweep_leftover(self, name: str) -> None:
        """Do nothing: see `on_the_way`."""

    def duck_path(self, con: duckdb.DuckDBPyConnection, name: str) -> str:
        """Return the URL of an object, after the store was made known to the connection."""
        protocol = self._fs.protocol if isinstance(self._fs.protocol, str) else self._fs.protocol[0]
        if not con.filesystem_is_registered(protocol):
            con.register_filesystem(self._fs)
        return f"{protocol}://{self._object_key(name).lstrip('/')}"

    def _object_key(self, name: str) -> str:
        return f"{self._root}/{check_name(name)}"

    @contextmanager
    def _translate_errors(self, doing: str, name: str) -> Iterator[str]:
        """Give the key of a name (for a listing none); turn what a store raises into GoneError or StorageError."""
        where = show_url(f"{self.url}/{name}")
        try:
            yield "" if doing == "list" else self._object_key(name)
        except (BacklineError, ValueError):
            raise
        except FileNotFoundError as error:
            if doing == "read":
                why = "it was deleted, or never written"
                raise GoneError("the object is not there", where=where, why=why) from error
            raise _storage_error(doing, where, error) from error
        except Exception as error:  # stores have errors of their own kinds
            raise _storage_error(doing, where, error) from error


def _storage_error(doing: str, where: str, error: Exception) -> StorageError:
    why = show_url(str(error) or type(error).__name__)[:300]
    kind = StorageError if doing in ("read", "list") else StoreWriteError
    return kind(f"cannot {doing} in the archive", where=where, why=why, do=DO)


def _written_time(info: dict[str, Any]) -> float:
    """Return when an object was written; 0 when the store does not tell."""
    for key in ("LastModified", "mtime", "created", "updated", "last_modified"):
        value = info.get(key)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
    return 0.0
