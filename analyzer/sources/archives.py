"""The members of one tar or zip: names, links, fragments, archives inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from analyzer.runtime.limits import LimitHit, Limits
from analyzer.runtime.text import counted
from analyzer.sources.fragments import (
    PIECE,
    VSI_CACHE,
    FragmentGroup,
    JoinedStream,
    format_gaps,
    is_measured,
    split_name,
)
from analyzer.sources.item import Item
from analyzer.sources.ledger import Ledger, SourceRecord
from analyzer.sources.member import Member
from analyzer.sources.names import (
    CREDENTIALS,
    Name,
    holds_credentials,
    link_target,
    normalise,
    top_of,
)
from analyzer.sources.split_files import HEAD, are_pieces, find_part_names
from analyzer.sources.stream import Feed, MemorySource, SliceStream, Stream, StreamFault
from analyzer.sources.tar import TarEntry, TarReader
from analyzer.sources.zip import ZipEntry, ZipReader

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

    def walk_content(
        self, item: Item, stream: Stream, depth: int, *, expands: bool = False
    ) -> Iterator[Member]:
        """Walk what a stream holds; `expands`: the stream itself unpacks."""
        ...

    def list_member(
        self, address: str, size: int | None, why: str, state: str = "listed"
    ) -> SourceRecord:
        """Record a member that is not read."""
        ...

    def give_measured(self, item: Item, why: str, missing: str = "") -> Iterator[Member]:
        """Give a member of which only the size is known."""
        ...

    def is_full(self, address: str) -> bool:
        """Say whether the limit on members is reached; reported once."""
        ...


class ArchiveReader:
    """What tar and zip share: addresses, remarks on names, links, pieces that wait."""

    def __init__(self, walker: Opener, item: Item, depth: int) -> None:
        self.walker, self.item, self.depth = walker, item, depth
        self.ledger, self.limits = walker.ledger, walker.limits
        self._seen: set[int] = set()
        self._remarks: dict[str, tuple[int, str]] = {}

    def make_child(self, name: Name, size: int | None, mtime: float | None) -> Item:
        """Return the item for a member, and remember what is odd about its name."""
        path = name.path or "(no name)"
        if name.unsafe:
            self._add_remark(f"name {name.unsafe}, used only as a label", path)
        key = hash(path)
        if key in self._seen:
            self._add_remark(
                "name seen before in this archive; each copy is read, tar would keep the last", path
            )
        self._seen.add(key)
        address = self.item.address
        root = f"{address}!{top_of(path)}"
        self.ledger.roots.setdefault(root, address)
        return Item(f"{address}!{path}", path, root, True, size, mtime)

    def _add_remark(self, what: str, path: str) -> None:
        count, first = self._remarks.get(what, (0, path))
        self._remarks[what] = (count + 1, first)

    def write_remarks(self) -> None:
        """Write the remarks, one for each kind, with their counts."""
        for what, (count, first) in self._remarks.items():
            self.ledger.note(
                f"{self.item.address}: {counted(count, 'member')} with a {what}; first: {first[:200]}"
            )

    def list_link(self, child: Item, target: str, *, hard: bool) -> None:
        """List a link; it is resolved among the members only, later, by who needs it."""
        inside = link_target(child.path, target, hard=hard)
        kind = "hard link" if hard else "link"
        shown = target[:200]
        if inside is None:
            self.walker.list_member(
                child.address, 0, f"{kind} to {shown}, outside the bundle, not followed"
            )
            return
        inside = normalise(inside, self.limits.name_bytes).path
        self.ledger.links[child.address] = f"{self.item.address}!{inside}"
        self.walker.list_member(child.address, 0, f"{kind} to {shown}")

    def list_sealed(self, child: Item) -> bool:
        """List a member that holds credentials; say whether it is one."""
        if not holds_credentials(child.path.rpartition("/")[2]):
            return False
        self.walker.list_member(child.address, child.size, CREDENTIALS)
        return True

    def give_joined(
        self, group: FragmentGroup, stream: Stream, size: int | None, *, expands: bool = False
    ) -> Iterator[Member]:
        """Give a joined file."""
        child = self.make_child(Name(group.path), size, group.mtime)
        yield from self.walker.walk_content(child, stream, self.depth + 1, expands=expands)

    def give_measured(self, group: FragmentGroup) -> Iterator[Member]:
        """Give the size of a fragmented file that is never read."""
        child = self.make_child(Name(group.path), group.size, group.mtime)
        why = f"{VSI_CACHE}; {len(group.seen)} fragments"
        yield from self.walker.give_measured(child, why, format_gaps(group.seen))


class _Lookahead:
    """Entries of a tar with one known ahead."""

    def __init__(self, entries: Iterator[TarEntry]) -> None:
        self._entries = entries
        self._next: TarEntry | None = None

    def peek_entry(self) -> TarEntry | None:
        if self._next is None:
            self._next = next(self._entries, None)
        return self._next

    def take_entry(self) -> TarEntry | None:
        entry, self._next = self.peek_entry(), None
        return entry


class TarArchive(ArchiveReader):
    """The members of a tar, in one pass."""

    def __init__(self, walker: Opener, item: Item, depth: int, feed: Feed) -> None:
        super().__init__(walker, item, depth)
        self._reader = TarReader(feed, item.address, walker.limits, walker.ledger)
        self._entries = _Lookahead(self._reader.read_entries())
        self._groups: dict[str, FragmentGroup] = {}
        self._held = 0

    def read_members(self) -> Iterator[Member]:
        """Yield the members one after another."""
        while entry := self._entries.take_entry():
            if self.walker.is_full(self.item.address):
                break
            piece = split_name(entry.name.path)
            if entry.kind == "file" and piece and entry.size <= _PIECE_MOST:
                yield from self._take_piece(entry, *piece)
            else:
                yield from self._walk_entry(entry)
        for group in self._groups.values():
            if is_measured(group.path):
                yield from self.give_measured(group)
            elif group.held:
                yield from self._give_held(group)
        self.write_remarks()

    def _walk_entry(self, entry: TarEntry) -> Iterator[Member]:
        """Give a member that is no piece, or list it."""
        if entry.kind == "dir":
            return
        child = self.make_child(entry.name, entry.size, entry.mtime)
        if entry.kind in ("link", "hardlink"):
            self.list_link(child, entry.link, hard=entry.kind == "hardlink")
        elif entry.kind == "sparse":
            what = f"{child.path[:200]} is a sparse file"
            self.ledger.add_damage(self.item.address, -1, what, "its content")
            yield from self.walker.give_measured(child, _DEVICES["sparse"])
        elif entry.kind != "file":
            self.walker.list_member(
                child.address, entry.size, f"{_DEVICES[entry.kind]}, not opened"
            )
        elif is_measured(child.path):
            yield from self.walker.give_measured(child, VSI_CACHE)
        elif not self.list_sealed(child):
            # The record says when the archive ended inside the file
            sources = self.ledger.sources
            first = len(sources)
            yield from self.walker.walk_content(child, entry.body, self.depth + 1)
            self._reader.finish_entry(entry)
            if entry.body.cut and len(sources) > first and sources[first].state == "listed":
                sources[first].state, sources[first].why = "cut", entry.body.cut

    def _take_piece(self, entry: TarEntry, path: str, number: int) -> Iterator[Member]:
        """Take one piece: stream it with those that follow, or keep it until its turn."""
        group = self._groups.setdefault(path, FragmentGroup(path, entry.mtime))
        if number in group.seen:
            shown = f"{number:05d} of {path[:200]}"
            self.ledger.note(
                f"{self.item.address}: fragment {shown} appears twice; the second is skipped"
            )
            return
        group.add_seen(number, entry.size)
        if is_measured(path):
            return
        # Keep a piece in memory; when too much waits, the largest file is given with its gaps
        most = self.limits.fragment_hold
        data = self._read_body(entry)  # before anything else moves the tar on
        if self._held + len(data) > most:
            largest = max(self._groups.values(), key=lambda other: other.waiting)
            left_out = f"{largest.path} is read in parts"
            hit = LimitHit(self.item.address, "fragment_hold", most, self._held, left_out)
            self.ledger.add_limit(hit)
            if largest.held:
                yield from self._give_held(largest)
        group.held[number] = data
        self._held += len(data)
        follower = self._entries.peek_entry()
        comes_next = follower is not None and split_name(follower.name.path) == (path, number + 1)
        unbroken = len(group.held) == number + 1 - group.first
        if (unbroken and comes_next) or group.is_whole:
            yield from self._give_held(group)

    def _read_body(self, entry: TarEntry) -> bytes:
        parts = []
        while len(block := entry.body.block()):
            parts.append(block)
        return b"".join(parts)

    def _give_held(self, group: FragmentGroup) -> Iterator[Member]:
        """Give what waits of a file, and the pieces of it that come next in the tar."""
        first = group.first
        if first:
            what = f"{group.path[:200]} is read in parts: its fragments are not next to each other"
            self.ledger.note(f"{self.item.address}: {what}")
        before = group.size - group.waiting
        record = len(self.ledger.sources)
        stream = JoinedStream(self._take_in_turn(group), first)
        yield from self.give_joined(
            group, stream, None
        )  # more pieces may follow, so the size is not known yet
        while len(stream.block()):  # what the reader left has to go by as well
            pass
        group.first = max(group.seen) + 1
        if len(self.ledger.sources) > record and not self.ledger.sources[record].size:
            self.ledger.sources[record].size = group.size - before

    def _take_in_turn(self, group: FragmentGroup) -> Iterator[tuple[int, Callable[[], Stream]]]:
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
            next_entry = self._entries.peek_entry()
            piece = (
                split_name(next_entry.name.path)
                if next_entry and next_entry.kind == "file"
                else None
            )
            if piece and piece[0] == group.path and piece[1] not in group.seen:
                entry, number = next_entry, piece[1]
            else:
                entry, number = None, -1
            if entry and number == expected:
                self._entries.take_entry()
                group.add_seen(number, entry.size)
                last = entry.size
                yield expected, lambda entry=entry: entry.body  # type: ignore[misc]
                expected += 1
                continue
            if entry and self._held + entry.size <= self.limits.fragment_hold:
                self._entries.take_entry()
                group.add_seen(number, entry.size)
                group.held[number] = self._read_body(entry)
                self._held += len(group.held[number])
                continue
            if not group.held:
                break
            expected = min(group.held)
        if last == PIECE:
            yield expected, lambda: OpenEnd(group.path)


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

    def read_members(self) -> Iterator[Member]:
        """Yield the members in the order of their place in the file."""
        entries = self._reader.read_entries()
        groups: dict[str, dict[int, ZipEntry]] = {}
        for entry in entries:
            piece = split_name(entry.name.path) if entry.kind == "file" else None
            if piece:
                path, number = piece
                groups.setdefault(path, {}).setdefault(number, entry)
        splits = self._find_split(entries)
        whole_by_id: dict[int, str] = {}
        for whole, parts in splits.items():
            whole_by_id |= dict.fromkeys(map(id, parts.values()), whole)
        for entry in entries:
            if self.walker.is_full(self.item.address):
                break
            whole = whole_by_id.get(id(entry), "")
            piece = split_name(entry.name.path) if entry.kind == "file" else None
            if whole:
                if pieces := splits.pop(whole, None):
                    yield from self._give_split(whole, pieces)
            elif piece:
                if pieces := groups.pop(piece[0], None):
                    yield from self._give_joined(piece[0], pieces)
            elif entry.kind != "dir":
                yield from self._walk_entry(entry)
        self.write_remarks()

    def _find_split(self, entries: list[ZipEntry]) -> dict[str, dict[int, ZipEntry]]:
        """Return the pieces of archives that were split and then packed once more, by the name of the whole."""
        by_name = {
            entry.name.path: entry for entry in entries if entry.kind == "file" and not entry.why
        }
        groups: dict[str, dict[int, ZipEntry]] = {}
        for name, part in find_part_names(by_name).items():
            if part.form != "zip":  # the places in its directory count from the pieces of the disk
                groups.setdefault(part.whole, {})[part.number] = by_name[name]
        splits = {}
        for whole, group in groups.items():
            pieces = dict(sorted(group.items()))
            heads = [Feed(self._reader.open_entry(piece)).take(HEAD) for piece in pieces.values()]
            if are_pieces(heads):
                splits[whole] = pieces
        return splits

    def _give_split(self, path: str, pieces: dict[int, ZipEntry]) -> Iterator[Member]:
        """Give an archive that lies in this one in pieces, as one."""
        entries = list(pieces.values())
        size = sum(entry.size for entry in entries)
        group = FragmentGroup(path, entries[0].mtime, seen=set(pieces), size=size)
        shown = ", ".join(entry.name.path for entry in entries[:3])
        if len(entries) > 3:
            shown += ", …"
        self.ledger.note(f"{self.item.address}!{path} is read out of {len(pieces)} pieces: {shown}")
        openers = [
            (number, partial(self._reader.open_entry, entry)) for number, entry in pieces.items()
        ]
        yield from self.give_joined(group, JoinedStream(openers, min(pieces)), size, expands=True)

    def _give_joined(self, path: str, pieces: dict[int, ZipEntry]) -> Iterator[Member]:
        group = FragmentGroup(path, pieces[min(pieces)].mtime, seen=set(pieces))
        group.size = sum(entry.size for entry in pieces.values())
        if is_measured(path):
            yield from self.give_measured(group)
            return
        openers: list[tuple[int, Callable[[], Stream]]] = []
        for number, entry in sorted(pieces.items()):
            if not entry.why:
                openers.append((number, partial(self._reader.open_entry, entry)))
        last = max(pieces)
        if openers and pieces[last].size == PIECE:
            openers.append((last + 1, partial(OpenEnd, path)))
        yield from self.give_joined(group, JoinedStream(openers), group.size, expands=True)

    def _walk_entry(self, entry: ZipEntry) -> Iterator[Member]:
        child = self.make_child(entry.name, entry.size, entry.mtime)
        if entry.why:
            if not entry.noted:
                what = f"{child.path[:200]} is {entry.why}"
                self.ledger.add_damage(self.item.address, entry.offset, what, "this entry")
            self.walker.list_member(child.address, entry.size, entry.why, "skipped")
        elif entry.kind == "link":
            target = Feed(self._reader.open_entry(entry)).take(_LINK_MOST)
            self.list_link(child, target.decode("utf-8", "surrogateescape"), hard=False)
        elif is_measured(child.path):
            yield from self.walker.give_measured(child, VSI_CACHE)
        elif not self.list_sealed(child):
            stream = self._reader.open_entry(entry)
            yield from self.walker.walk_content(
                child, stream, self.depth + 1, expands=entry.method != 0
            )
