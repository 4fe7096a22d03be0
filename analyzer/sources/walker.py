"""One forward pass over everything a case holds; nothing is written to disk.

Recognition is by content: a layer of compression, a tar, a zip, a text. Names
choose nothing but fragments, and two kinds of members that are not opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from analyzer.errors import RefusedError, fault, placed
from analyzer.limits import LimitHit, Limits
from analyzer.paths import full
from analyzer.reasons import STILL_LOADED, STILL_WRITTEN
from analyzer.sources import codecs, sniff
from analyzer.sources.archives import TarArchive, ZipArchive
from analyzer.sources.budget import Budget
from analyzer.sources.folder import FolderWalk
from analyzer.sources.fragments import JoinedStream, split_name
from analyzer.sources.item import AGAIN, JOIN, Item, Refused, is_piece, unreadable
from analyzer.sources.ledger import Ledger, SourceRecord
from analyzer.sources.likeness import likeness
from analyzer.sources.member import Member
from analyzer.sources.names import CREDENTIALS, UNFINISHED, holds_credentials
from analyzer.sources.not_material import NOT_MATERIAL, describe_other_file, has_other_name
from analyzer.sources.prefetch import PrefetchStream
from analyzer.sources.remote import Place, RemotePath, Status
from analyzer.sources.split_files import JoinedSource, SplitFile, split_files
from analyzer.sources.stream import (
    Feed,
    FeedStream,
    FileSource,
    MemorySource,
    OnFault,
    SeekableSource,
    SliceStream,
    Stream,
    StreamFault,
)
from analyzer.sources.zip import ZipReader

_SMALL = 8 << 20  # a packed member up to this size is held in memory, so that igzip can replay it
_PREFETCH_FROM = 4 << 20
# Zip files that are programs or documents, not archives of logs.
_PACKAGES = (".jar", ".war", ".ear", ".whl", ".xlsx", ".docx", ".pptx", ".vsix", ".vib", ".odt", ".apk")
Pieces = dict[int, Place] | SplitFile | None  # of one file, by their numbers


def walk(
    paths: Sequence[Place],
    limits: Limits,
    ledger: Ledger,
    on_read: Callable[[int], None] | None = None,
) -> Iterator[Member]:
    """Yield every member of the files and folders at `paths`, in the order in which they lie there.

    A member is valid until the next one is asked for. What is damaged, limited, refused or only listed
    is in `ledger`. RefusedError is raised at the end when nothing at all could be read. `on_read` is
    called with the count of bytes of each read from disk (for a progress bar; from any thread).
    """
    walker = Walker(limits, ledger, on_read)
    refused: list[tuple[str, Refused]] = []
    found = 0
    names: set[str] = set()
    for path, pieces in _together(paths):
        name = path.name
        if isinstance(path, Path) and name in ("", ".", ".."):
            name = full(path).name
        name = str(path) if name in names else name
        names.add(name)
        given = ledger.came(name, alone=True)
        try:
            for member in walker.top(path, name, pieces):
                found += 1
                yield member
        except Refused as why:
            refused.append((str(path), why))
            ledger.record(name, None, "refused", str(why))
        except Exception as error:  # noqa: BLE001 - the last net under hostile input
            # What was read so far stays, and the other sources are read.
            ledger.add_damage(name, -1, fault(placed(error)), "the rest of it")
        given.last = len(ledger.sources)
    if refused and not found and not walker.entries:
        where, looks = refused[0]
        raise RefusedError(
            "nothing that Backline can read", where=where, why=str(looks),
            do=looks.do or "Give a support bundle, its folder, or text files such as logs and command output.",
        )  # fmt: skip


def _together(paths: Sequence[Place]) -> list[tuple[Place, Pieces]]:
    """Return the paths with the pieces of one file put together under the name of that file."""
    jobs: dict[Place, Pieces] = {}
    fragments: dict[Place, dict[int, Place]] = {}
    split = split_files([path for path in paths if path.is_file()]) if len(paths) > 1 else {}
    for path in paths:
        piece = split_name(path.name) if path.is_file() else None
        if piece:
            place = path.parent / piece[0]
            fragments.setdefault(place, {})[piece[1]] = path
            jobs[place] = fragments[place]
        elif one := split.get(path):
            jobs[path.parent / one.name] = one
        else:
            jobs.setdefault(path, None)
    return list(jobs.items())


class Walker:
    """The walk through one case; use `walk`."""

    def __init__(self, limits: Limits, ledger: Ledger, on_read: Callable[[int], None] | None = None) -> None:
        self.limits, self.ledger, self._on_read = limits, ledger, on_read
        self._budget = Budget(limits)
        self.entries = 0  # members met, yielded or not
        self._current = ""

    def top(self, path: Place, name: str, pieces: Pieces = None) -> Iterator[Member]:
        """Walk one file or folder given by the user, or the file of which `pieces` were given."""
        self._budget.next_source()
        if isinstance(pieces, SplitFile):
            yield from self.split(pieces, Item(name, name, name, top=True))
            return
        if pieces:
            yield from FolderWalk(self, name).joined(name, "", pieces)
            return
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:
            raise unreadable(error) from error
        if stat.S_ISDIR(mode):
            yield from FolderWalk(self, name).walk(path)
        elif stat.S_ISREG(mode) and holds_credentials(path.name):
            raise Refused(CREDENTIALS)
        elif stat.S_ISREG(mode):
            yield from self.file(path, Item(name, name, name, top=True))
        else:
            raise Refused(f"not a regular file but {_what(mode)}")

    def file(self, path: Place, item: Item, *, follow: bool = True) -> Iterator[Member]:
        """Walk one regular file of the disk or of a storage."""
        if isinstance(path, RemotePath):
            yield from self._remote(path, item)
            return
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        if not follow:
            flags |= getattr(os, "O_NOFOLLOW", 0)
        try:
            handle = os.fdopen(os.open(path, flags), "rb", buffering=0)
        except (OSError, ValueError) as error:
            raise unreadable(error, "cannot be opened: ") from error
        with handle:
            status = os.fstat(handle.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Refused(f"not a regular file but {_what(status.st_mode)}")
            source = FileSource(handle, self._most(item, status), self._on_read)
            item = replace(item, size=status.st_size, mtime=status.st_mtime)
            yield from self.content(item, SliceStream(source), 0, source)
            after = os.fstat(handle.fileno())
            changed = (after.st_size, after.st_mtime_ns) != (status.st_size, status.st_mtime_ns)
            if changed or (path.suffix.lower() in UNFINISHED and not self.ledger.complete(item.address)):
                self.ledger.changed(item.address, STILL_WRITTEN if changed else STILL_LOADED)

    def split(self, split: SplitFile, item: Item) -> Iterator[Member]:
        """Walk a file that lies there in pieces, as one."""
        try:
            source = JoinedSource(split.pieces, self.limits.bundle_bytes, self._on_read)
        except OSError as error:
            raise unreadable(error, "cannot be examined: ") from error
        if source.size < source.whole:
            hit = LimitHit(item.address, "bundle_bytes", self.limits.bundle_bytes, source.whole)
            self.ledger.add_limit(hit)
        names = [path.name for path in split.pieces]
        shown = ", ".join(names[:3]) + (f" … {names[-1]}" if len(names) > 3 else "")
        self.ledger.note(f"{item.address} is read out of {len(names)} pieces: {shown}")
        item = replace(item, size=source.whole, mtime=split.pieces[-1].stat().st_mtime)
        try:
            if split.whole:
                yield from self.content(item, SliceStream(source), 0, source)
            else:
                yield from self.content(item, JoinedStream(source.streams(split.numbers), split.numbers[0]), 0)
        finally:
            source.close()

    def _remote(self, path: RemotePath, item: Item) -> Iterator[Member]:
        try:
            status = path.stat()
            opened = path.source(self._most(item, status), self._on_read)
        except OSError as error:
            raise unreadable(error, "cannot be opened: ") from error
        with opened as source:
            item = replace(item, size=status.st_size, mtime=status.st_mtime)
            yield from self.content(item, SliceStream(source), 0, source)

    def _most(self, item: Item, status: os.stat_result | Status) -> int:
        """Return how many bytes of a file may be read."""
        most = self.limits.bundle_bytes
        if status.st_size > most:
            self.ledger.add_limit(LimitHit(item.address, "bundle_bytes", most, status.st_size))
        return min(status.st_size, most)

    def content(
        self,
        item: Item,
        stream: Stream,
        depth: int,
        source: SeekableSource | None = None,
        *,
        expands: bool = False,
    ) -> Iterator[Member]:
        """Walk what a stream holds: undo compression, then look for an archive or give a member.

        depth    archives around it
        source   the same bytes for reading at any place, where that is possible
        expands  the stream itself unpacks (a deflated zip entry)
        """
        if expands and self._spent(item, depth - 1):
            return
        streams = [stream]
        try:
            meter = self._budget.meter(item.address, depth - expands, packed=expands)
            feed = Feed(stream, self._listener(item), meter)
            if codecs.kind_of(feed.peek(16)) and self._spent(item, depth):
                return
            doubtful = item.top or has_other_name(item.path) or sniff.is_zip(feed.peek(16))
            what = describe_other_file(item.path, feed.peek(64 << 10)) if doubtful else ""
            if what:
                self.listed(item.address, item.size, f"{NOT_MATERIAL}: {what}", "other")
                return
            feed, packed = self._unpack(item, feed, depth, source, streams)
            head = feed.peek(512)
            if item.top and self.ledger.given:
                self.ledger.given[-1].looks = likeness(item.path, feed.peek(64 << 10))
            if sniff.is_visor(head):
                self._visor(item)
            elif sniff.is_zip(head) and not item.path.lower().endswith(_PACKAGES):
                yield from self._zip(item, feed, depth, None if packed else source)
            elif sniff.is_tar(head) or (sniff.maybe_tar(head) and sniff.is_tar(feed.peek(64 << 10))):
                yield from self._tar(item, feed, depth)
            else:
                if item.top:
                    if sniff.may_be_page(feed.peek(64 << 10)):
                        from analyzer.sources.webpage import as_text  # noqa: PLC0415 - few cases hold one

                        feed = as_text(feed, item.address, self.ledger.note)
                    _refuse(feed, packed, item.path)
                yield from self._single(item, feed, packed)
        finally:
            for opened in reversed(streams):
                opened.close()

    def _unpack(
        self, item: Item, feed: Feed, depth: int, source: SeekableSource | None, streams: list[Stream]
    ) -> tuple[Feed, tuple[str, ...]]:
        """Undo compression as long as there is some; a file packed twice is a common upload damage."""
        packed: list[str] = []
        while kind := codecs.kind_of(feed.peek(16)):
            if len(packed) >= self.limits.nesting:
                self._nesting(item.address)
                break
            below: Stream = FeedStream(feed)
            small = item.size is not None and item.size <= _SMALL
            if kind == "gzip" and small and feed.stream.at(0) is None:
                below = _in_memory(feed, item.size or 0)
            opened = codecs.open_codec(kind, below)
            if source is not None and not packed and source.size >= _PREFETCH_FROM:
                opened = PrefetchStream(opened)
            streams.append(opened)
            feed = Feed(opened, self._listener(item), self._budget.meter(item.address, depth, packed=True))
            packed.append(kind)
        return feed, tuple(packed)

    def _spent(self, item: Item, depth: int) -> bool:
        """Tell whether a limit forbids to unpack more; the member is recorded as skipped then."""
        name = self._budget.spent(depth)
        if name:
            self.listed(item.address, item.size, f"limit {name} reached before", "skipped")
            self.ledger.mark_incomplete(item.address)
        return bool(name)

    def _nesting(self, address: str) -> None:
        hit = LimitHit(address, "nesting", self.limits.nesting, self.limits.nesting + 1, "not opened")
        self.ledger.add_limit(hit)

    def _listener(self, item: Item) -> OnFault:
        """Return the function that writes the faults of one stream into the ledger."""

        def tell(fault: StreamFault) -> None:
            if fault.limit:
                self.ledger.add_limit(fault.limit)
            elif fault.kind == "note":
                self.ledger.note(f"{item.address}: {fault.what} (byte {fault.offset})")
            elif not fault.told:
                what = fault.what
                if self._current.startswith(item.address + "!"):
                    what += f", while reading {self._current}"
                self.ledger.add_damage(item.address, fault.offset, what, fault.left_out)

        return tell

    def full(self, address: str) -> bool:
        """Count one member and tell whether there are too many; said once for an archive."""
        hit = self._budget.member(address)
        if hit:
            self.ledger.add_limit(hit)
        return hit is not None

    def _tar(self, item: Item, feed: Feed, depth: int) -> Iterator[Member]:
        if depth >= self.limits.nesting:
            self._too_deep(item)
            return
        before = self.entries
        yield from TarArchive(self, item, depth, feed).members()
        if item.top and self.entries == before:
            cause = _cause(feed)
            raise Refused(f"an archive without one complete member: {cause}" if cause else "an empty archive")

    def _zip(self, item: Item, feed: Feed, depth: int, source: SeekableSource | None) -> Iterator[Member]:
        if depth >= self.limits.nesting:
            self._too_deep(item)
            return
        if source is None:
            data = feed.take(self.limits.nested_zip + 1)
            if len(data) > self.limits.nested_zip:
                hit = LimitHit(item.address, "nested_zip", self.limits.nested_zip, len(data), "not opened")
                self.ledger.add_limit(hit)
                self.listed(item.address, item.size, "zip inside an archive, too large to hold in memory", "skipped")
                return
            source = MemorySource(data)
        before = self.entries
        reader = ZipReader(source, item.address, self.limits, self.ledger)
        yield from ZipArchive(self, item, depth, reader).members()
        if item.top and self.entries == before:
            raise Refused("an empty zip archive")

    def _visor(self, item: Item) -> None:
        why = "a tar of ESXi boot modules (vmtar), which holds no logs"
        if item.top:
            raise Refused(f"looks like {why}")
        self.listed(item.address, item.size, why, "skipped")

    def _too_deep(self, item: Item) -> None:
        self._nesting(item.address)
        self.listed(item.address, item.size, "archive nested too deep, not opened", "skipped")

    def _single(self, item: Item, feed: Feed, packed: tuple[str, ...]) -> Iterator[Member]:
        """Give one file as a member."""
        self._current = item.address
        record = self.listed(item.address, item.size, "")
        member = Member(
            record, feed, self.ledger, path=item.path, root=item.root, in_archive=item.in_archive,
            mtime=item.mtime, packed=packed, limit=self.limits.member_bytes,
        )  # fmt: skip
        yield member
        if member.cut:
            record.state, record.why = "cut", member.cut

    def listed(self, address: str, size: int | None, why: str, state: str = "listed") -> SourceRecord:
        """Record a member."""
        self.entries += 1
        return self.ledger.record(address, size, state, why)

    def measured(self, item: Item, why: str, missing: str = "") -> Iterator[Member]:
        """Give a member of which only the size is told."""
        record = self.listed(item.address, item.size, why)
        if missing:
            self.ledger.add_damage(item.address, -1, f"fragment {missing} is missing", "its content")
        yield Member(
            record, Feed(SliceStream(MemorySource(b""))), self.ledger, path=item.path, root=item.root,
            in_archive=item.in_archive, mtime=item.mtime, measured=True, limit=0,
        )  # fmt: skip


def _in_memory(feed: Feed, size: int) -> Stream:
    """Return a small packed member as a stream that can be replayed."""
    data = feed.take(size)
    while feed.gap:
        feed.cross()
        data += feed.take(size - len(data))
    return SliceStream(MemorySource(data))


def _cause(feed: Feed) -> str:
    """Return the fault that cost the rest of a feed, "" when there was none."""
    return feed.last_fault.what if feed.last_fault else ""


def _refuse(feed: Feed, packed: tuple[str, ...], name: str) -> None:
    """Raise Refused when a top-level file is neither archive nor text."""
    why = sniff.refusal(feed.peek(64 << 10))
    if why == "empty" and (cause := _cause(feed)):
        raise Refused(f"{'+'.join(packed)} data, but nothing of it could be read: {cause}")
    if why:
        inside = f"{'+'.join(packed)} of " if packed else ""
        if why == "empty" and not packed:
            raise Refused("empty", AGAIN)
        raise Refused(f"looks like {inside}{why}", JOIN if is_piece(name) and why == "binary data" else "")


def _what(mode: int) -> str:
    """Return the kind of a file that is no regular one."""
    kinds = (
        (stat.S_ISFIFO, "a pipe"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
        (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"),
    )  # fmt: skip
    return next((name for test, name in kinds if test(mode)), "something else")
