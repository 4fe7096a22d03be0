"""Cases on a storage that fsspec knows (`s3://bucket/case.tgz`, `memory://…`), read in ranges; nothing is downloaded.

A `RemotePath` offers what the walk asks of a `pathlib.Path`, so that a case gives the same
addresses, hashes and bytes as a copy of it on the disk. Credentials come from the environment;
what an URL carries of them is never shown.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Container, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from analyzer.sources.remotefile import Digest, RemoteFile, SmallFiles
from analyzer.sources.storage import Storage, filesystem, hide_login, is_url

_TIMES = ("LastModified", "mtime", "modified", "last_modified", "updated", "created")
_TAGS = ("ETag", "etag", "md5Hash", "checksum")


class Status(NamedTuple):
    """What is known of a file or folder, under the names of `os.stat_result`."""

    st_mode: int
    st_size: int
    st_mtime: float

    @property
    def st_mtime_ns(self) -> int:
        """The time of the last change in nanoseconds."""
        return int(self.st_mtime * 1_000_000_000)


def place(text: str | Path) -> Place:
    """Return the path or URL that a text names; `file://` is a path of this machine.

    Raises UsageError for an URL that cannot be used, MissingExtraError when a package is missing.
    Nothing is asked of the storage yet.
    """
    if isinstance(text, Path) or not is_url(text):
        return Path(text)
    scheme, rest = text.split("://", 1)
    if scheme.lower() in ("file", "local"):
        host, slash, path = unquote(rest).partition("/")
        if os.name == "nt" and path[1:2] == ":":
            return Path(path)
        if host in ("", "localhost"):
            return Path(slash + path)
        return Path(f"//{host}{slash}{path}")
    return RemotePath(RemoteSession(text))


class RemoteSession:
    """One URL given by the user: its storage, and what was learnt of it while a case is read.

    given    the URL as it was given, with its secrets; for opening only
    url      the same to be shown
    name     last part of the URL, never empty
    digests  hashes of files as far as their bytes went by, by name below the URL
    """

    def __init__(self, given: str) -> None:
        self.given, self.url = given, hide_login(given).rstrip("/")
        self.folder = given.endswith("/")  # there may be a file of the same name
        fs, self.key = filesystem(given)
        self.storage = Storage(fs)
        last = self.url.partition("://")[2].rpartition("/")[2]
        self.name = last if last not in ("", ".", "..") else "case"
        self.digests: dict[str, Digest] = {}
        self.small = SmallFiles(self.storage)
        self._folders: dict[str, list[RemotePath]] = {}

    def key_of(self, below: str) -> str:
        """Return the name on the storage of what lies at `below` the URL ("" is the URL itself)."""
        return f"{self.key.rstrip('/')}/{below}" if below else self.key

    def ask_status(self, below: str) -> Status:
        """Ask the storage for one file or folder."""
        if self.folder and not below:
            self.list_folder("")
            return Status(stat.S_IFDIR, 0, 0.0)
        key = self.key_of(below)
        with self.storage.use() as fs:
            fs.invalidate_cache(key)
            return _make_status(fs.info(key))

    def list_folder(self, below: str) -> list[RemotePath]:
        """Return what lies in a folder, by name; asked once."""
        found = self._folders.get(below)
        if found is None:
            key = self.key_of(below).rstrip("/")
            with self.storage.use() as fs:
                fs.invalidate_cache(key)
                infos = fs.ls(key, detail=True)
            found = []
            for info in infos:
                name = str(info["name"]).removeprefix(key).removeprefix("/").removesuffix("/")
                status = _make_status(info)
                if not name and not stat.S_ISDIR(status.st_mode):
                    continue  # the empty object by which some tools mark a folder
                if "/" in name or name in ("", ".", ".."):  # no folder of a disk can hold it
                    name = name.replace("/", "_") or "_"
                    status = status._replace(st_mode=0)
                found.append(RemotePath(self, f"{below}/{name}" if below else name, status))
            found.sort(key=lambda child: child.name)
            self._folders[below] = found
        return found


def _make_status(info: dict[str, Any]) -> Status:
    kinds = {"file": stat.S_IFREG, "directory": stat.S_IFDIR}
    mode = kinds.get(info.get("type", ""), 0)
    size = info.get("size")
    return Status(mode, -1 if size is None else int(size), _read_time(info))


def _read_time(info: dict[str, Any]) -> float:
    """Return the time of a change as seconds since 1970, 0.0 when the storage does not give it."""
    value = next((info[name] for name in _TIMES if info.get(name)), 0.0)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return 0.0
    if isinstance(value, datetime):
        if value.tzinfo is None:
            value = value.replace(tzinfo=UTC)
        return value.timestamp()
    return float(value) if isinstance(value, int | float) else 0.0


class RemotePath:
    """A file or folder of a storage; offers what the walk uses of `Path` and of `os.DirEntry`.

    Its text is the URL without secrets. Links do not exist; `follow_symlinks` is taken and ignored.
    """

    __slots__ = ("_below", "_session", "_status")

    def __init__(
        self, session: RemoteSession, below: str = "", status: Status | None = None
    ) -> None:
        self._session, self._below, self._status = session, below, status

    def __str__(self) -> str:
        return f"{self._session.url}/{self._below}" if self._below else self._session.url

    def __repr__(self) -> str:
        return f"RemotePath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Callable[[str], Place], tuple[str]]:
        return place, (self.full_url,)

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(self._session, f"{self._below}/{name}" if self._below else name)

    @property
    def full_url(self) -> str:
        """The URL by which another process opens the same; may carry secrets, never shown."""
        session = self._session
        return f"{session.given.rstrip('/')}/{self._below}" if self._below else session.given

    @property
    def name(self) -> str:
        """The last part, never empty."""
        return self._below.rpartition("/")[2] or self._session.name

    @property
    def within(self) -> str:
        """The name relative to the folder that holds what the user gave: `123/commands/x.txt`."""
        return f"{self._session.name}/{self._below}" if self._below else self._session.name

    @property
    def parent(self) -> RemotePath:
        """The folder it lies in."""
        above, slash, _ = self._below.rpartition("/")
        if self._below:
            return RemotePath(self._session, above if slash else "")
        folder = self._session.given.rstrip("/").rpartition("/")[0]
        return RemotePath(RemoteSession(f"{folder}/")) if is_url(f"{folder}/x") else self

    @property
    def tag(self) -> str:
        """What the storage says of the content (an ETag or checksum), "" when it says nothing; asks the storage."""
        with self._session.storage.use() as fs:
            info = fs.info(self.key)
        return next((str(info[name]) for name in _TAGS if info.get(name)), "")

    def stat(self, *, follow_symlinks: bool = True) -> Status:
        """Return kind, size and time; asked once. OSError when there is nothing or it may not be seen."""
        del follow_symlinks
        if self._status is None:
            self._status = self._session.ask_status(self._below)
        return self._status

    lstat = stat

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether it is a folder; False when the storage does not say."""
        del follow_symlinks
        return self._is(stat.S_ISDIR)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether it is a file; False when the storage does not say."""
        del follow_symlinks
        return self._is(stat.S_ISREG)

    def _is(self, kind: Callable[[int], bool]) -> bool:
        try:
            return kind(self.stat().st_mode)
        except OSError:
            return False

    def iterdir(self) -> Iterator[RemotePath]:
        """Yield what lies in the folder, by name; OSError when it cannot be listed."""
        yield from self._session.list_folder(self._below)

    def ahead(self, skip: Container[str] = ()) -> None:
        """Say that the small files of this folder are opened next, in order of name, but those named in `skip`."""
        files = [child for child in self.iterdir() if child.is_file() and child.name not in skip]
        self._session.small.expect_files((child.key, child.stat().st_size) for child in files)

    @property
    def key(self) -> str:
        """Its name on the storage."""
        return self._session.key_of(self._below)

    def source(
        self, most: int | None = None, on_read: Callable[[int], None] | None = None
    ) -> RemoteFile:
        """Open the file for reading at any place, `most` bytes of it or all; OSError when that is not possible."""
        size = self.stat().st_size
        if size < 0:
            raise OSError(errno.EINVAL, "the storage does not give its size")
        data = self._session.small.take_content(self.key)
        return RemoteFile(
            self._session.storage,
            self.key,
            size,
            digest=self._digest(),
            most=most,
            on_read=on_read,
            data=data,
        )

    def _digest(self) -> Digest:
        return self._session.digests.setdefault(self._below, Digest())

    def sha256(self) -> str:
        """Return the hash of the content; only what was not read before is read. OSError when it cannot be."""
        digest, size = self._digest(), self.stat().st_size
        if digest.position < size:
            with self.source() as source:
                while digest.position < size:
                    if not source.pread(digest.position, 1 << 20):
                        raise OSError(errno.EIO, "ends before the size it states")
        return digest.hexdigest()


Place = Path | RemotePath
Entry = os.DirEntry[str] | RemotePath


def path_of(entry: Entry) -> Place:
    """Return the path of an entry of a folder."""
    return entry if isinstance(entry, RemotePath) else Path(entry.path)


def scan(folder: Place) -> Sequence[Entry]:
    """Return what lies in a folder in order of name; OSError when it cannot be read."""
    if isinstance(folder, RemotePath):
        return list(folder.iterdir())
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def common_name(paths: Sequence[Place]) -> str:
    """Return the name of the folder of a storage that holds all these, "" when there is none."""
    if not paths or not all(isinstance(path, RemotePath) for path in paths):
        return ""
    folders = [str(path).split("/")[:-1] for path in paths]
    shared: list[str] = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return shared[-1] if len(shared) > 2 else ""
