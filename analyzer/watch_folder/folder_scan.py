"""What in a download folder may be a case, and whether it has arrived completely.

Each file is a case, the pieces of one file together (`X.FRAG-00000`, `X.tgz.001`, …), and so is each sub-folder with
all that lies below it. Left alone by their names: links, hidden files, pictures, programs, checksums and the like
(`NO_MATERIAL` of the batch finder), results of earlier runs, case archives. Nothing is opened for more than
asking the system whether somebody writes to it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from analyzer.archive.batches.find import NO_MATERIAL, is_archive
from analyzer.archive.batches.trees import Disk, TreeEntry
from analyzer.archive.object_store.object_store import HEAD
from analyzer.archive.prints import state_key
from analyzer.sources.names import UNFINISHED as PARTIAL
from analyzer.sources.split_files import find_joined_names

if sys.platform.startswith("linux"):
    import fcntl

PARTIAL_HERE = (
    *PARTIAL,
    ".tmp",
)  # in the watched folder itself; a bundle may hold a .tmp of its own
OWN_FILES = ("backline-watch.json", "backline-watch.lock")
JUST_NOW = 3600.0  # seconds: an older file is not asked for its writers
MOST_ASKED = 200  # files of one folder that are asked


@dataclass(frozen=True, slots=True)
class Arrival:
    """Something that may be a case.

    paths  what is read; files: (name relative to the watched folder, bytes, mtime in ns)
    waits  why its name or place says that it is not complete, "" when nothing does
    """

    name: str
    paths: tuple[str, ...]
    files: tuple[tuple[str, int, int], ...]
    waits: str = ""

    @property
    def disk_size(self) -> int:
        """Bytes on the disk."""
        return sum(file[1] for file in self.files)

    @property
    def mtime_ns(self) -> int:
        """Time of the newest file."""
        return max((file[2] for file in self.files), default=0)

    @property
    def content_key(self) -> str:
        """What changes when a file of it changes, comes or goes."""
        return state_key(self.name, self.files)


def list_arrivals(folder: Path, skip: Collection[str] = ()) -> list[Arrival]:
    """Return what lies in a folder and may be a case, by name; OSError when the folder cannot be read.

    skip  absolute paths of folders that are none of them (the results, an archive)
    """
    disk = Disk()
    children = disk.list_children(str(folder))
    names = {child.name for child in children}
    old = disk.list_old_results(str(folder), names)
    coming = {
        child.name.rpartition(".")[0] for child in children if _on_its_way(child, PARTIAL_HERE)
    }
    found: list[Arrival] = []
    pieces: dict[str, list[TreeEntry]] = {}
    whole = find_joined_names([child.name for child in children if not child.folder], is_archive)
    for child in children:
        if child.name.startswith(".") or child.name in old or child.name in OWN_FILES:
            continue
        if disk.full_name(child.path) in skip or _on_its_way(child, PARTIAL_HERE):
            continue
        if child.folder:
            arrival = _find_folder_arrival(disk, child)
            if arrival is not None:
                found.append(arrival)
        elif name := whole.get(child.name):
            pieces.setdefault(name, []).append(child)
        elif not child.name.lower().endswith(NO_MATERIAL):
            found.append(_file_arrival(child.name, [child], coming))
    found += [_file_arrival(name, together, coming) for name, together in pieces.items()]
    return sorted(found, key=lambda arrival: arrival.name)


def _file_arrival(name: str, parts: list[TreeEntry], coming: Collection[str]) -> Arrival:
    files = tuple((part.name, part.size, part.mtime) for part in parts)
    waits = ""
    if name in coming or any(part.name in coming for part in parts):
        waits = "a partial file of this name is beside it"
    elif not any(part.size for part in parts):
        waits = "it is empty"  # a browser keeps the name free in this way
    return Arrival(name, tuple(part.path for part in parts), files, waits)


def _find_folder_arrival(disk: Disk, top: TreeEntry) -> Arrival | None:
    """Return a sub-folder as one case, None when it holds nothing that could be one."""
    try:
        children = disk.list_children(top.path)
    except OSError:
        return None  # gone meanwhile, or not ours to read
    if any(child.name == HEAD for child in children):
        return None
    files = tuple(_files_below(disk, top))
    if all(name.lower().endswith((*NO_MATERIAL, *PARTIAL)) for name, _, _ in files):
        return None
    is_coming = any(_on_its_way(child, PARTIAL) for child in children)
    return Arrival(top.name, (top.path,), files, "a partial file is in it" if is_coming else "")


def _files_below(disk: Disk, top: TreeEntry) -> Iterator[tuple[str, int, int]]:
    todo = [(top.path, top.name)]
    while todo:
        path, name = todo.pop()
        try:
            children = disk.list_children(path)
        except OSError:
            continue
        old = disk.list_old_results(path, {child.name for child in children})
        for child in children:
            if child.folder:
                todo.append((child.path, f"{name}/{child.name}"))
            elif child.name not in old:
                yield f"{name}/{child.name}", child.size, child.mtime


def key_now(arrival: Arrival) -> str:
    """Return the key that a thing has now, "" when it is gone."""
    disk = Disk()
    tops = [disk.look_up(path) for path in arrival.paths]
    files: list[tuple[str, int, int]] = []
    for top in tops:
        if top is not None:
            files += _files_below(disk, top) if top.folder else [(top.name, top.size, top.mtime)]
    return state_key(arrival.name, files) if any(tops) else ""


def _on_its_way(child: TreeEntry, suffixes: tuple[str, ...]) -> bool:
    """Say whether a name is that of a partial download (Safari's is a folder)."""
    return child.name.lower().endswith(suffixes)


def is_busy(arrival: Arrival) -> bool:
    """Say whether a program has a file of it open for writing, where the system tells (Linux, local disks)."""
    asked = 0
    paths = [Path(path) for path in arrival.paths]
    top = paths[0]
    if len(paths) == 1 and arrival.files and arrival.files[0][0] != top.name:  # a folder
        paths = [top.parent / name for name, _, _ in arrival.files]
    for path in paths:
        try:
            young = time.time() - path.stat().st_mtime < JUST_NOW
        except OSError:
            continue
        if not young:
            continue
        if _open_for_writing(path):
            return True
        asked += 1
        if asked >= MOST_ASKED:
            return False
    return False


def _open_for_writing(path: Path) -> bool:
    """Ask for a read lease, which Linux grants only where no one writes, and give it back at once."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        # A writer that comes in this moment gets a signal; a harmless one instead of SIGIO, which kills.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False  # not our file, or a file system without leases: stillness has to do
    finally:
        with suppress(OSError):
            os.close(handle)
    return False
