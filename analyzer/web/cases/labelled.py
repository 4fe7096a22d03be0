"""Reads numbered files under the names a client gave: names are labels and never reach the file system.

The walk sees a tree of folders and files as if it lay on the disk: a dropped `esx-…/commands/…` is a
bundle, a single dropped file is a loose file. All names come from outside and may be anything; what no
folder of a disk can hold (`..`, an empty part, two things of one name) gets a name next to it.
"""

from __future__ import annotations

import errno
import re
import stat
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from analyzer.runtime.limits import Limits
from analyzer.sources.names import normalise
from analyzer.sources.remote import Place, RemotePath, RemoteSession, Status
from analyzer.sources.remotefile import Digest, RemoteFile, SmallFiles
from analyzer.sources.storage import Storage

MOST = Limits().name_bytes
_SURROGATE = re.compile("[\ud800-\udfff]")  # cannot be written in any encoding
_INSTEAD = {"..": "(..)"}
_NAMELESS = "unnamed"


class NamedFile(NamedTuple):
    """A file of the disk and the name it goes by.

    label     relative path of the client, `/` between its parts
    path      where its bytes lie
    modified  time of its last change as the client sent it (UTC epoch seconds); that of `path` when None
    """

    label: str
    path: Path
    modified: float | None = None


def list_labelled(files: Iterable[NamedFile]) -> list[RemotePath]:
    """Return the files and folders at the top, by name: what `walk`, `triage` and `FileHashes` take.

    No file is opened or looked for; one that is not there is reported by the walk as a file that cannot be read.
    """
    top = _Folder()
    for file in files:
        # no part is empty or points upwards
        path = normalise(_SURROGATE.sub("\ufffd", file.label), MOST).path
        *folders, name = [_INSTEAD.get(part, part) for part in path.split("/") if part] or [
            _NAMELESS
        ]
        folder = top
        for part in folders:
            folder = folder.add_folder(part)
        folder.add_file(name, file)
    return _Tree(top).list_folder("")


def places_of(given: Mapping[str, Any]) -> list[Place]:
    """Return what a reader takes of a case that is given to a process: `paths` or `path` of this machine, else `files`."""
    if given.get("paths"):
        return [Path(path) for path in given["paths"]]
    if given["path"]:
        return [Path(given["path"])]
    return [
        *list_labelled(
            NamedFile(label, Path(path), modified) for label, path, modified in given["files"]
        )
    ]


class _Folder:
    """A folder of labels. A folder keeps its name; a file whose name is taken gets a number."""

    __slots__ = ("_numbers", "files", "folders")

    def __init__(self) -> None:
        self.folders: dict[str, _Folder] = {}
        self.files: dict[str, NamedFile] = {}
        self._numbers: dict[str, int] = {}

    def add_folder(self, name: str) -> _Folder:
        """Return the folder of that name in this one, made when it is new."""
        found = self.folders.get(name)
        if found is None:
            found = self.folders[name] = _Folder()
            there = self.files.pop(name, None)
            if there is not None:
                self.add_file(name, there)
        return found

    def add_file(self, name: str, file: NamedFile) -> None:
        """Put a file in."""
        wanted, (stem, dot, ending) = name, name.rpartition(".")
        while name in self.files or name in self.folders:
            number = self._numbers[wanted] = self._numbers.get(wanted, 1) + 1
            name = f"{stem} ({number}){dot}{ending}" if stem else f"{wanted} ({number})"
        self.files[name] = file


class _Tree(RemoteSession):
    """The labels of one case as a storage; `below` and `key` are the same here."""

    def __init__(self, top: _Folder) -> None:
        self.given = self.url = self.key = ""
        self.name, self.folder = "case", True
        self._top = top
        self.storage = Storage(_Numbered(self))
        self.digests: dict[str, Digest] = {}
        self.small = SmallFiles(self.storage)
        self._folders: dict[str, list[RemotePath]] = {}

    def key_of(self, below: str) -> str:
        """Return the label."""
        return below

    def find_entry(self, below: str) -> _Folder | NamedFile:
        """Return what goes by a label; FileNotFoundError when nothing does."""
        folder = self._top
        *folders, name = below.split("/") if below else [""]
        for part in folders:
            folder = folder.folders.get(part) or _make_not_found()
        if not below:
            return folder
        return folder.folders.get(name) or folder.files.get(name) or _make_not_found()

    def ask_status(self, below: str) -> Status:
        """Look at the numbered file behind a label."""
        found = self.find_entry(below)
        if isinstance(found, _Folder):
            return Status(stat.S_IFDIR, 0, 0.0)
        status = found.path.lstat()
        modified = status.st_mtime if found.modified is None else found.modified
        return Status(status.st_mode, status.st_size, modified)

    def list_folder(self, below: str) -> list[RemotePath]:
        """Return what lies in a folder, by name."""
        found = self.find_entry(below)
        if isinstance(found, NamedFile):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder")
        names = sorted([*found.folders, *found.files])
        return [LabelledPath(self, f"{below}/{name}" if below else name) for name in names]


class _Numbered:
    """The numbered files, in the words of a file system of fsspec."""

    def __init__(self, tree: _Tree) -> None:
        self._tree = tree

    def open(self, key: str, *_: object, **__: object) -> BinaryIO:
        """Open a file for reading."""
        found = self._tree.find_entry(key)
        if isinstance(found, _Folder):
            raise IsADirectoryError(errno.EISDIR, "a folder")
        return found.path.open("rb", buffering=0)

    def cat_file(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """Return a stretch of a file."""
        with self.open(key) as stream:
            stream.seek(start)
            return stream.read(-1 if end is None else end - start)

    def info(self, key: str) -> dict[str, str]:
        """Say nothing of the content (an ETag or the like)."""
        return {"name": key}


class _NumberedFile(RemoteFile):
    """A numbered file, read in place: a disk needs no thread that fetches ahead."""

    def _open(self) -> None:
        with self._storage.use() as fs:
            self._handle = fs.open(self._key)

    def _range(self, offset: int, end: int) -> bytes:
        with self._storage.use():
            self._handle.seek(offset)
            data: bytes = self._handle.read(end - offset)
            return data

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            self._handle.close()
        super().close()


class LabelledPath(RemotePath):
    """A label as a path of the walk; its text is the label."""

    __slots__ = ()

    def __str__(self) -> str:
        return self._below or self._session.name

    def __reduce__(self) -> NoReturn:
        raise TypeError("a label is not a path that another process could open")

    def __truediv__(self, name: str) -> LabelledPath:
        return LabelledPath(self._session, f"{self._below}/{name}" if self._below else name)

    def source(
        self, most: int | None = None, on_read: Callable[[int], None] | None = None
    ) -> RemoteFile:
        """Open the file for reading at any place, `most` bytes of it or all; OSError when that is not possible."""
        size, digest = self.stat().st_size, self._digest()
        return _NumberedFile(
            self._session.storage, self.key, size, digest=digest, most=most, on_read=on_read
        )

    def ahead(self, skip: Container[str] = ()) -> None:
        """Do nothing: a disk needs no threads that fetch small files early."""

    @property
    def within(self) -> str:
        """The label: names are relative to what was dropped."""
        return self._below

    @property
    def parent(self) -> LabelledPath:
        """The folder it lies in; that of everything dropped is its own."""
        return LabelledPath(self._session, self._below.rpartition("/")[0])


def _make_not_found() -> NoReturn:
    raise FileNotFoundError(errno.ENOENT, "no such file or folder")
