"""Lists folders of a disk or an object store for the case finder; nothing is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from analyzer.runtime.paths import absolute_path
from analyzer.sources.folder import find_earlier_results
from analyzer.sources.remote import RemotePath, place
from analyzer.sources.storage import is_url

if TYPE_CHECKING:
    from analyzer.sources.remote import Place


class TreeEntry(NamedTuple):
    """One thing in a folder: its own name, path or URL, whether it is a folder, bytes, mtime in ns."""

    name: str
    path: str
    folder: bool
    size: int = 0
    mtime: int = 0


class Tree(Protocol):
    """A disk or an object store."""

    def look_up(self, path: str) -> TreeEntry | None:
        """Return the file or folder at a path; None when there is none, or when it cannot be read."""
        ...

    def list_children(self, path: str) -> list[TreeEntry]:
        """Return the folders and regular files of a folder by name, hidden ones too; OSError when it cannot be read."""
        ...

    def list_old_results(self, path: str, names: Collection[str]) -> frozenset[str]:
        """Return which files of a folder an earlier run of `triage` wrote."""
        ...

    def full_name(self, path: str) -> str:
        """Return the one name of a place by which it is known again; links are not followed."""
        ...


class Disk:
    """The disks of this machine."""

    def look_up(self, path: str) -> TreeEntry | None:
        """Return the file or folder at a path; a link that the user names is followed."""
        try:
            status = os.stat(path)  # noqa: PTH116 - Path("") would be the current folder
        except (OSError, ValueError):
            return None
        folder = stat.S_ISDIR(status.st_mode)
        if not folder and not stat.S_ISREG(status.st_mode):
            return None
        path = self.full_name(path)
        name = Path(path).name or "case"
        return TreeEntry(name, path, folder, 0 if folder else status.st_size, status.st_mtime_ns)

    def list_children(self, path: str) -> list[TreeEntry]:
        """Return the folders and regular files of a folder by name."""
        found = []
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except (OSError, ValueError):
                    continue
                if stat.S_ISDIR(status.st_mode):
                    found.append(TreeEntry(entry.name, entry.path, True))
                elif stat.S_ISREG(status.st_mode):
                    found.append(
                        TreeEntry(entry.name, entry.path, False, status.st_size, status.st_mtime_ns)
                    )
        found.sort()
        return found

    def list_old_results(self, path: str, names: Collection[str]) -> frozenset[str]:
        """Return which files of a folder an earlier run of `triage` wrote."""
        return find_earlier_results(Path(path), names)

    def full_name(self, path: str) -> str:
        """Return the absolute path."""
        return str(absolute_path(path))


class ObjectTree:
    """An object store by URL; a path keeps what opens it, its full name never shows a secret."""

    def look_up(self, path: str) -> TreeEntry | None:
        """Return the file or folder at a URL."""

        try:
            at = place(path)
            return _look_at_child(at) if isinstance(at, RemotePath) else Disk().look_up(str(at))
        except OSError:
            return None

    def list_children(self, path: str) -> list[TreeEntry]:
        """Return the folders and files of a folder by name."""

        at = place(path)
        if not isinstance(at, RemotePath):
            return Disk().list_children(str(at))
        return sorted(child for child in map(_look_at_child, at.iterdir()) if child is not None)

    def list_old_results(self, path: str, names: Collection[str]) -> frozenset[str]:
        """Return nothing: results are written to disks only."""
        del path, names
        return frozenset()

    def full_name(self, path: str) -> str:
        """Return the URL without secrets."""

        at = place(path)
        return str(at) if isinstance(at, RemotePath) else Disk().full_name(str(at))


def _look_at_child(at: Place) -> TreeEntry | None:
    status = at.stat()
    folder = stat.S_ISDIR(status.st_mode)
    if not folder and not stat.S_ISREG(status.st_mode):
        return None
    size = 0 if folder else max(0, status.st_size)
    return TreeEntry(
        at.name, str(getattr(at, "given", at)), folder, size, int(status.st_mtime * 1_000_000_000)
    )


def tree_of(path: str) -> Tree:
    """Return what knows how to look at a path or URL."""
    return ObjectTree() if is_url(path) else Disk()
