"""Folders of the disk: an unpacked bundle is a tree like an archive, the rest are loose files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from analyzer.runtime.result_files import RESULTS
from analyzer.sources.archives import OpenEnd, Opener
from analyzer.sources.fragments import (
    PIECE,
    VSI_CACHE,
    JoinedStream,
    format_gaps,
    is_measured,
    split_name,
)
from analyzer.sources.item import Item, Refused, make_refusal
from analyzer.sources.ledger import Given
from analyzer.sources.member import Member
from analyzer.sources.names import CREDENTIALS, TREE_TOPS, holds_credentials, link_target
from analyzer.sources.remote import Entry, Place, RemotePath, path_of, scan
from analyzer.sources.remotefile import RemoteFile
from analyzer.sources.split_files import SplitFile, find_split_files, open_source
from analyzer.sources.stream import FileSource, SliceStream, Stream, StreamFault


class FileOpener(Opener, Protocol):
    """What a folder needs of the walker."""

    def walk_file(self, path: Place, item: Item, *, follow: bool = True) -> Iterator[Member]:
        """Walk one regular file of the disk or of a storage."""
        ...

    def walk_split(self, split: SplitFile, item: Item) -> Iterator[Member]:
        """Walk a file that lies there in pieces."""
        ...


class FolderWalk:
    """Walks a folder without following links and without recursion.

    A folder with a sub-folder such as `commands`, `etc` or `var` is the top of a tree; files in a
    folder that belongs to no tree are loose.
    """

    def __init__(self, walker: FileOpener, name: str) -> None:
        self._walker, self._name = walker, name
        self._stack: list[tuple[Place, str, str]] = []  # folder, key of it, root of its tree or ""
        self._inside = False  # a folder was given; False: only pieces of one file
        self._tree: Given | None = None  # the tree in this folder that is being walked

    def walk_folder(self, folder: Place) -> Iterator[Member]:
        """Yield the members below `folder`; addresses start with the folder's name only when it is a tree."""
        self._inside = True
        try:
            entries = scan(folder)
        except OSError as error:
            raise make_refusal(error, "folder cannot be read: ") from error
        key = self._name if _is_tree(entries) else ""
        self._stack.append((folder, key, key))
        while self._stack:
            yield from self._walk_one(*self._stack.pop())

    def _scan_entries(self, folder: Place, address: str) -> Sequence[Entry]:
        try:
            return scan(folder)
        except OSError as error:
            why = error.strerror or str(error)
            self._walker.ledger.add_damage(
                address, -1, f"folder cannot be read: {why}", "everything below it"
            )
            return []

    def _walk_one(self, folder: Place, key: str, root: str) -> Iterator[Member]:
        """Give the files of one folder, and put its sub-folders on the stack."""
        entries = self._scan_entries(folder, key or self._name)
        old = find_earlier_results(folder, {entry.name for entry in entries})
        if not root and key and _is_tree(entries):
            root = key
            self._tree = self._walker.ledger.begin_given(key, alone=False)
            self._tree.looks = "archive"
        if isinstance(folder, RemotePath) and entries:
            sealed = [entry.name for entry in entries if holds_credentials(entry.name)]
            folder.ahead(old.union(sealed))
        groups = _group_fragments(entries)
        loose = [entry for entry in entries if entry.name not in old]
        split = (
            {} if root else find_split_files([path_of(entry) for entry in loose if _is_file(entry)])
        )
        before = f"{key}/" if key else ""
        below: list[tuple[Place, str, str]] = []
        for entry in entries:
            if self._walker.is_full(root or entry.name):
                self._stack.clear()
                return
            address = before + entry.name
            path = path_of(entry)
            piece = split_name(entry.name)
            if entry.name in old:
                self._walker.list_member(
                    address, None, "written by an earlier run of Backline, not read", "skipped"
                )
            elif _is_dir(entry):
                below.append((path, address, root))
            elif piece and _is_file(entry):
                if pieces := groups.pop(piece[0], None):
                    yield from self.give_joined(before + piece[0], root, pieces)
            elif path in split:
                if path == split[path].pieces[0]:
                    name = before + split[path].name
                    item = Item(name, name, name, top=True)
                    yield from self._give_loose(item, self._walker.walk_split(split[path], item))
            else:
                yield from self._walk_entry(entry, address, root)
        if root and self._tree:
            self._tree.last = len(self._walker.ledger.sources)
        self._stack += reversed(below)

    def _make_path(self, address: str, root: str) -> str:
        """Return the path inside the tree, with its top folder."""
        above = root.rpartition("/")[0]
        return address[len(above) + 1 :] if root and above else address

    def _walk_entry(self, entry: Entry, address: str, root: str) -> Iterator[Member]:
        path = self._make_path(address, root)
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode) and isinstance(entry, os.DirEntry):
                target = str(Path(entry.path).readlink())
                inside = link_target(path, target) if root else None
                if inside is None:
                    self._walker.list_member(address, 0, f"link to {target[:200]}, not followed")
                else:
                    above = root.rpartition("/")[0]
                    self._walker.ledger.links[address] = f"{above}/{inside}" if above else inside
                    self._walker.list_member(address, 0, f"link to {target[:200]}")
                return
            size = entry.stat(follow_symlinks=False).st_size
        except (OSError, ValueError) as error:
            self._walker.ledger.add_damage(address, -1, f"cannot be examined: {error}", "this file")
            return
        item = Item(address, path, root or address, size=size, top=not root)
        if not stat.S_ISREG(mode):
            self._walker.list_member(
                address, None, "not a regular file (a pipe, socket or device), not opened"
            )
        elif is_measured(path):
            yield from self._walker.give_measured(item, VSI_CACHE)
        elif holds_credentials(entry.name):
            self._walker.list_member(address, size, CREDENTIALS)
        else:
            yield from self._give_loose(
                item, self._walker.walk_file(path_of(entry), item, follow=False)
            )

    def _give_loose(self, item: Item, members: Iterator[Member]) -> Iterator[Member]:
        """Give the members of one file, and keep which records are its own."""
        ledger = self._walker.ledger
        given = ledger.begin_given(item.address, alone=False) if item.top and self._inside else None
        try:
            yield from members
        except Refused as why:
            self._walker.list_member(item.address, item.size, str(why), "refused")
        if given:
            given.last = len(ledger.sources)

    def give_joined(self, address: str, root: str, pieces: dict[int, Place]) -> Iterator[Member]:
        """Give the file of these pieces by their numbers; `root` is "" for a loose file."""
        sizes: dict[int, int] = {}
        for number, piece in pieces.items():
            try:
                sizes[number] = piece.lstat().st_size
            except OSError:
                sizes[number] = 0
        path = self._make_path(address, root)
        item = Item(address, path, root or address, size=sum(sizes.values()), top=not root)
        if is_measured(address):
            why = f"{VSI_CACHE}; {len(pieces)} fragments"
            yield from self._walker.give_measured(item, why, format_gaps(pieces))
            return
        openers: list[tuple[int, Callable[[], Stream]]] = []
        for number in sorted(pieces):
            openers.append((number, partial(_PieceStream, pieces[number])))
        last = max(sizes)
        if sizes[last] == PIECE:
            openers.append((last + 1, partial(OpenEnd, address)))
        yield from self._give_loose(item, self._walker.walk_content(item, JoinedStream(openers), 0))


class _PieceStream(Stream):
    """A file of the disk opened when its turn comes and closed at its end."""

    def __init__(self, path: Place) -> None:
        super().__init__()
        self._make_path = path
        self._stream: SliceStream | None = None
        self._source: FileSource | RemoteFile | None = None

    def block(self) -> bytes | memoryview:
        """Return the next bytes of the piece."""
        try:
            if self._stream is None:
                self._source = open_source(self._make_path)
                self._stream = SliceStream(self._source)
        except OSError as error:
            what = f"cannot be opened: {error.strerror or error}"
            self.faults.append(StreamFault(what, 0, "cut", "this fragment"))
            return b""
        block = self._stream.block()
        self.faults += self._stream.take_faults()
        if not len(block) and self._source:
            self._source.close()
        return block


def find_earlier_results(folder: Place, names: Collection[str]) -> frozenset[str]:
    """Return the files of a folder that an earlier run wrote: a case must not be fed with its own report."""
    results = frozenset(RESULTS)
    if not results <= set(names):
        return frozenset()
    path = folder / "case.json"
    try:
        if isinstance(path, RemotePath):
            with path.source(64) as source:
                head = source.pread(0, 64)
        else:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(path, flags), "rb") as stream:
                head = stream.read(64)
    except (OSError, ValueError):
        return frozenset()
    return results if re.match(rb'\{\s*"schema": *"backline/case-', head) else frozenset()


def _group_fragments(entries: Sequence[Entry]) -> dict[str, dict[int, Place]]:
    """Return the fragments among some files, by the name of the whole and by their numbers."""
    groups: dict[str, dict[int, Place]] = {}
    for entry in entries:
        piece = split_name(entry.name)
        if piece and _is_file(entry):
            groups.setdefault(piece[0], {})[piece[1]] = path_of(entry)
    return groups


def _is_tree(entries: Sequence[Entry]) -> bool:
    """Say whether a folder with these entries is the top of a tree."""
    return any(entry.name in TREE_TOPS and _is_dir(entry) for entry in entries)


def _is_dir(entry: Entry) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: Entry) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False
