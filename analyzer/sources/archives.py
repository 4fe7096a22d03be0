"""The members of one tar or zip: names, links, fragments, archives inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from analyzer.limits import LimitHit, Limits
from analyzer.sources.fragments import PIECE, VSI_CACHE, FragmentGroup, JoinedStream, gaps, is_measured, split_name
from analyzer.sources.item import Item
from analyzer.sources.ledger import Ledger, SourceRecord
from analyzer.sources.member import Member
from analyzer.sources.names import CREDENTIALS, Name, holds_credentials, link_target, normalise, top_of
from analyzer.sources.split_files import HEAD, is_split, part_names
from analyzer.sources.stream import Feed, MemorySource, SliceStream, Stream, StreamFault
from analyzer.sources.tar import TarEntry, TarReader
from analyzer.sources.zip import ZipEntry, ZipReader
from analyzer.text import counted

_LINK_MOST = 4096
_PIECE_MOST = 8 * PIECE
_DEVICES = {
    "device": "a device file",
    "fifo": "a pipe",
    "sparse": "a sparse file; its holes are not filled",
}


class Opener(Protocol):
    """What an archive needs of the walker."""

    limits: Limits
    ledger: Ledger

    def content(self, item: Item, stream: Stream, depth: int, *, expands: bool = False) -> Iterator[Member]:
        """Walk what a stream holds; `expands`: the stream itself unpacks."""
        ...

    def listed(self, address: str, size: int | None, why: str, state: str = "listed") -> SourceRecord:
        """Record a member that is not read."""
        ...

    def measured(self, item: Item, why: str, missing: str = "") -> Iterator[Member]:
        """Give a member of which only the size is told."""
        ...

    def full(self, address: str) -> bool:
        """Tell whether the limit on members is reached; said once."""
        ...


class ArchiveReader:
    """What tar and zip share: addresses, remarks on names, links, pieces that wait."""

    def __init__(self, walker: Opener, item: Item, depth: int) -> None:
        self.walker, self.item, self.depth = walker, item, depth
        self.ledger, self.limits = walker.ledger, walker.limits
        self._seen: set[int] = set()
        self._remarks: dict[str, tuple[int, str]] = {}

    def child(self, name: Name, size: int | None, mtime: float | None) -> Item:
        """Return the item for a member, and remember what is odd about its name."""
        path = name.path or "(no name)"
        if name.unsafe:
            self._remark(f"name {name.unsafe}, used only as a label", path)
        key = hash(path)
        if key in self._seen:
            self._remark("name seen before in this archive; each copy is read, tar would keep the last", path)
        self._seen.add(key)
        address = self.item.address
        root = f"{address}!{top_of(path)}"
        self.ledger.roots.setdefault(root, address)
        return Item(f"{address}!{path}", path, root, True, size, mtime)

    def _remark(self, what: str, path: str) -> None:
        count, first = self._remarks.get(what, (0, path))
        self._remarks[what] = (count + 1, first)

    def finish(self) -> None:
        """Write the remarks, one for each kind, with their counts."""
        for what, (count, first) in self._remarks.items():
            self.ledger.note(f"{self.item.address}: {counted(count, 'member')} with a {what}; first: {first[:200]}")

    def link(self, child: Item, target: str, *, hard: bool) -> None:
        """List a link; it is resolved among the members only, later, by who needs it."""
        inside = link_target(child.path, target, hard=hard)
        kind = "hard link" if hard else "link"
        shown = target[:200]
        if inside is None:
            self.walker.listed(child.address, 0, f"{kind} to {shown}, outside the bundle, not followed")
            return
        inside = normalise(inside, self.limits.name_bytes).path
        self.ledger.links[child.address] = f"{self.item.address}!{inside}"
        self.walker.listed(child.address, 0, f"{kind} to {shown}")

    def sealed(self, child: Item) -> bool:
        """List a member that holds credentials; tell whether it is one."""
        if not holds_credentials(child.path.rpartition("/")[2]):
            return False
        self.walker.listed(child.address, child.size, CREDENTIALS)
        return True

    def emit(
        self, group: FragmentGroup, stream: Stream, size: int | None, *, expands: bool = False
    ) -> Iterator[Member]:
        """Give a joined file."""
        child = self.child(Name(group.path), size, group.mtime)
        yield from self.walker.content(child, stream, self.depth + 1, expands=expands)

    def measure(self, group: FragmentGroup) -> Iterator[Member]:
        """Give the size of a fragmented file that is never read."""
        child = self.child(Name(group.path), group.size, group.mtime)
        why = f"{VSI_CACHE}; {len(group.seen)} fragments"
        yield from self.walker.measured(child, why, gaps(group.seen))


class _Lookahead:
    """Entries of a tar with one known ahead."""

    def __init__(self, entries: Iterator[TarEntry]) -> None:
        self._entries = entries
        self._next: TarEntry | None = None

    def peek(self) -> TarEntry | None:
        if self._next is None:
            self._next = next(self._entries, None)
        return self._next

    def take(self) -> TarEntry | None:
        entry, self._next = self.peek(), None
        return entry


class TarArchive(ArchiveReader):
    """The members of a tar, in one pass."""

    def __init__(self, walker: Opener, item: Item, depth: int, feed: Feed) -> None:
        super().__init__(walker, item, depth)
        self._reader = TarReader(feed, item.address, walker.limits, walker.ledger)
        self._entries = _Lookahead(self._reader.entries())
        self._groups: dict[str, FragmentGroup] = {}
        self._held = 0

    def members(self) -> Iterator[Member]:
        """Yield the members one after another."""
        while entry := self._entries.take():
            if self.walker.full(self.item.address):
                break
            piece = split_name(entry.name.path)
            if entry.kind == "file" and piece and entry.size <= _PIECE_MOST:
                yield from self._piece(entry, *piece)
            else:
                yield from self._entry(entry)
        for group in self._groups.values():
            if is_measured(group.path):
                yield from self.measure(group)
            elif group.held:
                yield from self._flush(group)
        self.finish()

    def _entry(self, entry: TarEntry) -> Iterator[Member]:
        if entry.kind == "dir":
            return
        child = self.child(entry.name, entry.size, entry.mtime)
        if entry.kind in ("link", "hardlink"):
            self.link(child, entry.link, hard=entry.kind == "hardlink")
        elif entry.kind == "sparse":
            what = f"{child.path[:200]} is a sparse file"
            self.ledger.add_damage(self.item.address, -1, what, "its content")
            yield from self.walker.measured(child, _DEVICES["sparse"])
        elif entry.kind != "file":
            self.walker.listed(child.address, entry.size, f"{_DEVICES[entry.kind]}, not opened")
        elif is_measured(child.path):
            yield from self.walker.measured(child, VSI_CACHE)
        elif not self.sealed(child):
            first = len(self.ledger.sources)
            yield from self.walker.content(child, entry.body, self.depth + 1)
            self._reader.finish(entry)
            if entry.body.cut and len(self.ledger.sources) > first:
                record = self.ledger.sources[first]
                if record.state == "listed":
                    record.state, record.why = "cut", entry.body.cut

    def _piece(self, entry: TarEntry, path: str, number: int) -> Iterator[Member]:
        """Take one piece: stream it with those that follow, or keep it until its turn."""
        group = self._groups.setdefault(path, FragmentGroup(path, entry.mtime))
        if number in group.seen:
            shown = f"{number:05d} of {path[:200]}"
            self.ledger.note(f"{self.item.address}: fragment {shown} appears twice; the second is skipped")
            return
        self._saw(group, entry, number)
        if is_measured(path):
            return
        yield from self._hold(group, entry, number)
        follower = self._entries.peek()
        unbroken = len(group.held) == number + 1 - group.first
        comes_next = follower is not None and split_name(follower.name.path) == (path, number + 1)
        if (unbroken and comes_next) or group.whole:
            yield from self._flush(group)

    def _saw(self, group: FragmentGroup, entry: TarEntry, number: int) -> None:
        group.seen.add(number)
        group.size += entry.size

    def _hold(self, group: FragmentGroup, entry: TarEntry, number: int) -> Iterator[Member]:
        """Keep a piece in memory; when too much waits, the largest file is given with its gaps."""
        most = self.limits.fragment_hold
        data = self._read(entry)  # before anything else moves the tar on
        if self._held + len(data) > most:
            largest = max(self._groups.values(), key=lambda other: other.waiting)
            left_out = f"{largest.path} is read in parts"
            hit = LimitHit(self.item.address, "fragment_hold", most, self._held, left_out)
            self.ledger.add_limit(hit)
            if largest.held:
                yield from self._flush(largest)
        group.held[number] = data
        self._held += len(data)

    def _read(self, entry: TarEntry) -> bytes:
        parts = []
        while len(block := entry.body.block()):
            parts.append(block)
        return b"".join(parts)

    def _flush(self, group: FragmentGroup) -> Iterator[Member]:
        """Give what waits of a file, and the pieces of it that come next in the tar."""
        first = group.first
        if first:
            what = f"{group.path[:200]} is read in parts: its fragments are not next to each other"
            self.ledger.note(f"{self.item.address}: {what}")
        before = group.size - group.waiting
        record = len(self.ledger.sources)
        stream = JoinedStream(self._in_turn(group), first)
        yield from self.emit(group, stream, None)  # more pieces may follow, so the size is not known yet
        while len(stream.block()):  # what the reader left has to go by as well
            pass
        group.first = max(group.seen) + 1
        if len(self.ledger.sources) > record and not self.ledger.sources[record].size:
            self.ledger.sources[record].size = group.size - before

    def _in_turn(self, group: FragmentGroup) -> Iterator[tuple[int, Callable[[], Stream]]]:
        """Yield pieces in order: those that wait and those that come next."""
        expected = group.first
        last = 0
        while True:
            if expected in group.held:
                data = group.held.pop(expected)
                self._held -= len(data)
                last = len(data)
                yield expected, lambda data=data: SliceStream(MemorySource(data))  # type: ignore[misc]
                expected += 1
                continue
            entry, number = self._follower(group)
            if entry and number == expected:
                self._entries.take()
                self._saw(group, entry, number)
                last = entry.size
                yield expected, lambda entry=entry: entry.body  # type: ignore[misc]
                expected += 1
                continue
            if entry and self._held + entry.size <= self.limits.fragment_hold:
                self._entries.take()
                self._saw(group, entry, number)
                group.held[number] = self._read(entry)
                self._held += len(group.held[number])
                continue
            if not group.held:
                break
            expected = min(group.held)
        if last == PIECE:
            yield expected, lambda: OpenEnd(group.path)

    def _follower(self, group: FragmentGroup) -> tuple[TarEntry | None, int]:
        """Return the next entry of the tar when it is a new piece of this file, and its number."""
        entry = self._entries.peek()
        piece = split_name(entry.name.path) if entry and entry.kind == "file" else None
        if piece and piece[0] == group.path and piece[1] not in group.seen:
            return entry, piece[1]
        return None, -1


class OpenEnd(Stream):
    """Stands behind a last fragment that is full: more was there."""

    def __init__(self, path: str) -> None:
        super().__init__()
        what = "the last fragment is full, so later ones are missing"
        self.faults.append(StreamFault(what, -1, "cut", f"the end of {path}"))

    def block(self) -> bytes:
        """Return nothing."""
        return b""


class ZipArchive(ArchiveReader):
    """The members of a zip that can be read at any place."""

    def __init__(self, walker: Opener, item: Item, depth: int, reader: ZipReader) -> None:
        super().__init__(walker, item, depth)
        self._reader = reader

    def members(self) -> Iterator[Member]:
        """Yield the members in the order of their place in the file."""
        entries = self._reader.entries()
        groups: dict[str, dict[int, ZipEntry]] = {}
        for entry in entries:
            if entry.kind == "file" and (piece := split_name(entry.name.path)):
                groups.setdefault(piece[0], {}).setdefault(piece[1], entry)
        splits = self._splits([entry for entry in entries if entry.kind == "file" and not entry.why])
        wholes = {id(entry): whole for whole, pieces in splits.items() for entry in pieces.values()}
        for entry in entries:
            if self.walker.full(self.item.address):
                break
            if whole := wholes.get(id(entry)):
                if pieces := splits.pop(whole, None):
                    yield from self._split(whole, pieces)
                continue
            piece = split_name(entry.name.path)
            if piece and entry.kind == "file":
                if pieces := groups.pop(piece[0], None):
                    yield from self._joined(piece[0], pieces)
            elif entry.kind != "dir":
                yield from self._entry(entry)
        self.finish()

    def _splits(self, entries: list[ZipEntry]) -> dict[str, dict[int, ZipEntry]]:
        """Return the pieces of archives that were split and then packed once more, by the name of the whole."""
        by_name = {entry.name.path: entry for entry in entries}
        groups: dict[str, dict[int, ZipEntry]] = {}
        for name, part in part_names(by_name).items():
            if part.form != "zip":  # the places in its directory count from the pieces of the disk
                groups.setdefault(part.whole, {})[part.number] = by_name[name]
        return {whole: dict(sorted(found.items())) for whole, found in groups.items() if self._is_split(found)}

    def _is_split(self, pieces: dict[int, ZipEntry]) -> bool:
        return is_split([Feed(self._reader.open(pieces[number])).take(HEAD) for number in sorted(pieces)])

    def _split(self, path: str, pieces: dict[int, ZipEntry]) -> Iterator[Member]:
        """Give an archive that lies in this one in pieces, as one."""
        first = next(iter(pieces.values()))
        group = FragmentGroup(path, first.mtime, seen=set(pieces), size=sum(one.size for one in pieces.values()))
        shown = ", ".join(one.name.path for one in list(pieces.values())[:3]) + (", …" if len(pieces) > 3 else "")
        self.ledger.note(f"{self.item.address}!{path} is read out of {len(pieces)} pieces: {shown}")
        openers: list[tuple[int, Callable[[], Stream]]] = [
            (number, lambda entry=entry: self._reader.open(entry))  # type: ignore[misc]
            for number, entry in pieces.items()
        ]
        yield from self.emit(group, JoinedStream(openers, min(pieces)), group.size, expands=True)

    def _joined(self, path: str, pieces: dict[int, ZipEntry]) -> Iterator[Member]:
        group = FragmentGroup(path, pieces[min(pieces)].mtime, seen=set(pieces))
        group.size = sum(entry.size for entry in pieces.values())
        if is_measured(path):
            yield from self.measure(group)
            return
        openers: list[tuple[int, Callable[[], Stream]]] = [
            (number, lambda entry=entry: self._reader.open(entry))  # type: ignore[misc]
            for number, entry in sorted(pieces.items())
            if not entry.why
        ]
        if openers and pieces[max(pieces)].size == PIECE:
            openers.append((max(pieces) + 1, lambda: OpenEnd(path)))
        yield from self.emit(group, JoinedStream(openers), group.size, expands=True)

    def _entry(self, entry: ZipEntry) -> Iterator[Member]:
        child = self.child(entry.name, entry.size, entry.mtime)
        if entry.why:
            if not entry.told:
                what = f"{child.path[:200]} is {entry.why}"
                self.ledger.add_damage(self.item.address, entry.offset, what, "this entry")
            self.walker.listed(child.address, entry.size, entry.why, "skipped")
        elif entry.kind == "link":
            target = Feed(self._reader.open(entry)).take(_LINK_MOST)
            self.link(child, target.decode("utf-8", "surrogateescape"), hard=False)
        elif is_measured(child.path):
            yield from self.walker.measured(child, VSI_CACHE)
        elif not self.sealed(child):
            stream = self._reader.open(entry)
            yield from self.walker.content(child, stream, self.depth + 1, expands=entry.method != 0)
