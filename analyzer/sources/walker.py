"""One forward pass over everything a case holds; nothing is written to disk.

Recognition is by content: a layer of compression, a tar, a zip, a text. Names
choose nothing but fragments, and two kinds of members that are not opened.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from analyzer.runtime.errors import RefusedError, describe_fault, find_error_place
from analyzer.runtime.limits import LimitHit, Limits
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.reasons import STILL_LOADED, STILL_WRITTEN
from analyzer.sources import codecs, sniff
from analyzer.sources.archives import TarArchive, ZipArchive
from analyzer.sources.folder import FolderWalk
from analyzer.sources.fragments import JoinedStream, split_name
from analyzer.sources.item import AGAIN, JOIN, Item, Refused, is_piece, make_refusal
from analyzer.sources.ledger import Ledger, SourceRecord
from analyzer.sources.member import Member
from analyzer.sources.names import CREDENTIALS, UNFINISHED, holds_credentials
from analyzer.sources.prefetch import PrefetchStream
from analyzer.sources.remote import Place, RemotePath, Status
from analyzer.sources.split_files import JoinedSource, SplitFile, find_split_files
from analyzer.sources.stream import (
    Feed,
    FeedStream,
    FileSource,
    MemorySource,
    Meter,
    OnFault,
    SeekableSource,
    SliceStream,
    Stream,
    StreamFault,
)
from analyzer.sources.zip import ZipReader


@dataclass(slots=True)
class Budget:
    """What one run may still expand.

    expanded  bytes unpacked so far in the whole case
    nested    bytes unpacked inside archives in archives of the current source
    """

    limits: Limits
    expanded: int = 0
    nested: int = 0
    members: int = 0
    started: float = field(default_factory=time.monotonic)

    def next_source(self) -> None:
        """Start the clock and the count of nested bytes anew for the next top-level source."""
        self.nested = 0
        self.started = time.monotonic()

    def count_member(self, address: str) -> LimitHit | None:
        """Count one member; return the limit when there are too many."""
        self.members += 1
        if self.members > self.limits.members:
            return LimitHit(address, "members", self.limits.members, self.members)
        return None

    def find_spent(self, depth: int) -> str:
        """Return the name of the limit that forbids to unpack anything more at this depth, else ""."""
        if self.expanded > self.limits.expanded_bytes:
            return "expanded_bytes"
        if depth and self.nested > self.limits.nested_expanded:
            return "nested_expanded"
        if time.monotonic() - self.started > self.limits.bundle_wall_s > 0:
            return "bundle_wall_s"
        return ""

    def make_meter(self, address: str, depth: int, *, packed: bool) -> Meter:
        """Return the function that a Feed calls for each block of the archive at `address`."""
        limits = self.limits
        total = 0

        # The ratio is that to the whole packed file: a zero-filled core at the start of a large bundle is
        # no bomb, although the ratio up to there is that of one.
        def count_bytes(size: int, packed_bytes: int) -> StreamFault | None:
            nonlocal total
            total += size
            hit = None
            if packed:
                self.expanded += size
                if depth:
                    self.nested += size
                if self.expanded > limits.expanded_bytes:
                    hit = LimitHit(address, "expanded_bytes", limits.expanded_bytes, self.expanded)
                elif self.nested > limits.nested_expanded:
                    hit = LimitHit(address, "nested_expanded", limits.nested_expanded, self.nested)
                elif total > limits.ratio_floor and total > limits.ratio * max(1, packed_bytes):
                    hit = LimitHit(address, "ratio", limits.ratio, total // max(1, packed_bytes))
            if time.monotonic() - self.started > limits.bundle_wall_s:
                spent = int(time.monotonic() - self.started)
                hit = LimitHit(address, "bundle_wall_s", limits.bundle_wall_s, spent)
            if hit is None:
                return None
            what = f"limit {hit.name}={hit.value} reached"
            return StreamFault(what, packed_bytes, "cut", "the rest", limit=hit)

        return count_bytes


_SMALL = 8 << 20  # a packed member up to this size is held in memory, so that igzip can replay it
_PREFETCH_FROM = 4 << 20
_HEAD = 64 << 10  # bytes by which a file is known
# Zip files that are programs or documents, not archives of logs.
_PACKAGES = (
    ".jar",
    ".war",
    ".ear",
    ".whl",
    ".xlsx",
    ".docx",
    ".pptx",
    ".vsix",
    ".vib",
    ".odt",
    ".apk",
)
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
    for path, pieces in _group_pieces(paths):
        name = path.name
        if isinstance(path, Path) and name in ("", ".", ".."):
            name = absolute_path(path).name
        name = str(path) if name in names else name
        names.add(name)
        given = ledger.begin_given(name, alone=True)
        try:
            for member in walker.walk_given(path, name, pieces):
                found += 1
                yield member
        except Refused as why:
            refused.append((str(path), why))
            ledger.record(name, None, "refused", str(why))
        except Exception as error:  # noqa: BLE001 - the last net under hostile input
            # What was read so far stays, and the other sources are read.
            ledger.add_damage(name, -1, describe_fault(find_error_place(error)), "the rest of it")
        given.last = len(ledger.sources)
    if refused and not found and not walker.entries:
        where, looks = refused[0]
        raise RefusedError(
            "nothing that Backline can read", where=where, why=str(looks),
            do=looks.do or "Give a support bundle, its folder, or text files such as logs and command output.",
        )  # fmt: skip


def _group_pieces(paths: Sequence[Place]) -> list[tuple[Place, Pieces]]:
    """Return the paths with the pieces of one file put together under the name of that file."""
    jobs: dict[Place, Pieces] = {}
    fragments: dict[Place, dict[int, Place]] = {}
    split: dict[Place, SplitFile] = {}
    if len(paths) > 1:
        split = find_split_files([path for path in paths if path.is_file()])
    for path in paths:
        piece = split_name(path.name) if path.is_file() else None
        if piece:
            name, number = piece
            whole = path.parent / name
            fragments.setdefault(whole, {})[number] = path
            jobs[whole] = fragments[whole]
        elif path in split:
            jobs[path.parent / split[path].name] = split[path]
        else:
            jobs.setdefault(path, None)
    return list(jobs.items())


class Walker:
    """The walk through one case; use `walk`."""

    def __init__(
        self, limits: Limits, ledger: Ledger, on_read: Callable[[int], None] | None = None
    ) -> None:
        self.limits, self.ledger, self._on_read = limits, ledger, on_read
        self._budget = Budget(limits)
        self.entries = 0  # members met, yielded or not
        self._current = ""

    def walk_given(self, path: Place, name: str, pieces: Pieces = None) -> Iterator[Member]:
        """Walk one file or folder given by the user, or the file of which `pieces` were given."""
        self._budget.next_source()
        if isinstance(pieces, SplitFile):
            yield from self.walk_split(pieces, Item(name, name, name, top=True))
            return
        if pieces:
            yield from FolderWalk(self, name).give_joined(name, "", pieces)
            return
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:
            raise make_refusal(error) from error
        if stat.S_ISDIR(mode):
            yield from FolderWalk(self, name).walk_folder(path)
        elif stat.S_ISREG(mode) and holds_credentials(path.name):
            raise Refused(CREDENTIALS)
        elif stat.S_ISREG(mode):
            yield from self.walk_file(path, Item(name, name, name, top=True))
        else:
            raise Refused(f"not a regular file but {_name_file_kind(mode)}")

    def walk_file(self, path: Place, item: Item, *, follow: bool = True) -> Iterator[Member]:
        """Walk one regular file of the disk or of a storage."""
        if isinstance(path, RemotePath):
            yield from self._walk_remote(path, item)
            return
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        if not follow:
            flags |= getattr(os, "O_NOFOLLOW", 0)
        try:
            handle = os.fdopen(os.open(path, flags), "rb", buffering=0)
        except (OSError, ValueError) as error:
            raise make_refusal(error, "cannot be opened: ") from error
        with handle:
            status = os.fstat(handle.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Refused(f"not a regular file but {_name_file_kind(status.st_mode)}")
            source = FileSource(handle, self._limit_size(item, status), self._on_read)
            item = replace(item, size=status.st_size, mtime=status.st_mtime)
            yield from self.walk_content(item, SliceStream(source), 0, source)
            after = os.fstat(handle.fileno())
            if (after.st_size, after.st_mtime_ns) != (status.st_size, status.st_mtime_ns):
                self.ledger.note_change(item.address, STILL_WRITTEN)
            elif path.suffix.lower() in UNFINISHED and not self.ledger.is_complete(item.address):
                self.ledger.note_change(item.address, STILL_LOADED)

    def walk_split(self, split: SplitFile, item: Item) -> Iterator[Member]:
        """Walk a file that lies there in pieces, as one."""
        try:
            source = JoinedSource(split.pieces, self.limits.bundle_bytes, self._on_read)
        except OSError as error:
            raise make_refusal(error, "cannot be examined: ") from error
        if source.size < source.whole:
            hit = LimitHit(item.address, "bundle_bytes", self.limits.bundle_bytes, source.whole)
            self.ledger.add_limit(hit)
        names = [path.name for path in split.pieces]
        shown = ", ".join(names[:3])
        if len(names) > 3:
            shown += f" … {names[-1]}"
        self.ledger.note(f"{item.address} is read out of {len(names)} pieces: {shown}")
        item = replace(item, size=source.whole, mtime=split.pieces[-1].stat().st_mtime)
        try:
            if split.is_whole:
                yield from self.walk_content(item, SliceStream(source), 0, source)
            else:
                yield from self.walk_content(
                    item, JoinedStream(source.streams(split.numbers), split.numbers[0]), 0
                )
        finally:
            source.close()

    def _walk_remote(self, path: RemotePath, item: Item) -> Iterator[Member]:
        try:
            status = path.stat()
            opened = path.source(self._limit_size(item, status), self._on_read)
        except OSError as error:
            raise make_refusal(error, "cannot be opened: ") from error
        with opened as source:
            item = replace(item, size=status.st_size, mtime=status.st_mtime)
            yield from self.walk_content(item, SliceStream(source), 0, source)

    def _limit_size(self, item: Item, status: os.stat_result | Status) -> int:
        """Return how many bytes of a file may be read."""
        most = self.limits.bundle_bytes
        if status.st_size > most:
            self.ledger.add_limit(LimitHit(item.address, "bundle_bytes", most, status.st_size))
        return min(status.st_size, most)

    def _is_other_file(self, item: Item, feed: Feed) -> bool:
        """Say whether a file is no diagnostic material, such as a picture, and name it among what was not read."""
        if not (item.top or sniff.has_other_name(item.path) or sniff.is_zip(feed.peek(16))):
            return False
        what = sniff.describe_other_file(item.path, feed.peek(_HEAD))
        if what:
            self.list_member(item.address, item.size, f"{sniff.NOT_MATERIAL}: {what}", "other")
        return bool(what)

    def walk_content(
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
        if expands and self._is_spent(item, depth - 1):
            return
        streams = [stream]
        try:
            meter = self._budget.make_meter(item.address, depth - expands, packed=expands)
            feed = Feed(stream, self._make_listener(item), meter)
            is_beyond = bool(codecs.kind_of(feed.peek(16))) and self._is_spent(item, depth)
            if is_beyond or self._is_other_file(item, feed):
                return
            feed, packed = self._undo_compression(item, feed, depth, source, streams)
            head = feed.peek(512)
            if item.top and self.ledger.given:
                self.ledger.given[-1].looks = sniff.find_likeness(item.path, feed.peek(_HEAD))
            if head[257:262] == b"visor":
                why = "a tar of ESXi boot modules (vmtar), which holds no logs"
                if item.top:
                    raise Refused(f"looks like {why}")
                self.list_member(item.address, item.size, why, "skipped")
            elif sniff.is_zip(head) and not item.path.lower().endswith(_PACKAGES):
                yield from self._walk_zip(item, feed, depth, None if packed else source)
            elif sniff.is_tar(head) or (sniff.maybe_tar(head) and sniff.is_tar(feed.peek(_HEAD))):
                yield from self._walk_tar(item, feed, depth)
            else:
                if item.top:
                    if sniff.may_be_page(feed.peek(_HEAD)):
                        from analyzer.sources.webpage import read_page  # noqa: PLC0415 - loads email for few cases

                        feed = read_page(feed, item.address, self.ledger.note)
                    _refuse_unreadable(feed, packed, item.path)
                yield from self._give_single(item, feed, packed)
        finally:
            for opened in reversed(streams):
                opened.close()

    def _undo_compression(
        self,
        item: Item,
        feed: Feed,
        depth: int,
        source: SeekableSource | None,
        streams: list[Stream],
    ) -> tuple[Feed, tuple[str, ...]]:
        """Undo compression as long as there is some; a file packed twice is a common upload damage."""
        packed: list[str] = []
        while kind := codecs.kind_of(feed.peek(16)):
            if len(packed) >= self.limits.nesting:
                self._note_nesting(item.address)
                break
            below: Stream = FeedStream(feed)
            small = item.size is not None and item.size <= _SMALL
            if kind == "gzip" and small and feed.stream.at(0) is None:
                size = item.size or 0
                data = feed.take(size)
                while feed.gap:
                    feed.cross()
                    data += feed.take(size - len(data))
                below = SliceStream(MemorySource(data))
            opened = codecs.open_codec(kind, below)
            if source is not None and not packed and source.size >= _PREFETCH_FROM:
                opened = PrefetchStream(opened)
            streams.append(opened)
            feed = Feed(
                opened,
                self._make_listener(item),
                self._budget.make_meter(item.address, depth, packed=True),
            )
            packed.append(kind)
        return feed, tuple(packed)

    def _is_spent(self, item: Item, depth: int) -> bool:
        """Say whether a limit forbids to unpack more; the member is recorded as skipped then."""
        name = self._budget.find_spent(depth)
        if not name:
            return False
        self.list_member(item.address, item.size, f"limit {name} reached before", "skipped")
        self.ledger.mark_incomplete(item.address)
        return True

    def _note_nesting(self, address: str) -> None:
        hit = LimitHit(
            address, "nesting", self.limits.nesting, self.limits.nesting + 1, "not opened"
        )
        self.ledger.add_limit(hit)

    def _make_listener(self, item: Item) -> OnFault:
        """Return the function that writes the faults of one stream into the ledger."""

        def write_fault(fault: StreamFault) -> None:
            if fault.limit:
                self.ledger.add_limit(fault.limit)
            elif fault.kind == "note":
                self.ledger.note(f"{item.address}: {fault.what} (byte {fault.offset})")
            elif not fault.noted:
                what = fault.what
                if self._current.startswith(item.address + "!"):
                    what += f", while reading {self._current}"
                self.ledger.add_damage(item.address, fault.offset, what, fault.left_out)

        return write_fault

    def is_full(self, address: str) -> bool:
        """Count one member and say whether there are too many; reported once for an archive."""
        hit = self._budget.count_member(address)
        if hit:
            self.ledger.add_limit(hit)
        return hit is not None

    def _walk_tar(self, item: Item, feed: Feed, depth: int) -> Iterator[Member]:
        if depth >= self.limits.nesting:
            self._skip_nested(item)
            return
        before = self.entries
        yield from TarArchive(self, item, depth, feed).read_members()
        if item.top and self.entries == before:
            cause = _find_cause(feed)
            raise Refused(
                f"an archive without one complete member: {cause}" if cause else "an empty archive"
            )

    def _walk_zip(
        self, item: Item, feed: Feed, depth: int, source: SeekableSource | None
    ) -> Iterator[Member]:
        if depth >= self.limits.nesting:
            self._skip_nested(item)
            return
        if source is None:
            data = feed.take(self.limits.nested_zip + 1)
            if len(data) > self.limits.nested_zip:
                hit = LimitHit(
                    item.address, "nested_zip", self.limits.nested_zip, len(data), "not opened"
                )
                self.ledger.add_limit(hit)
                self.list_member(
                    item.address,
                    item.size,
                    "zip inside an archive, too large to hold in memory",
                    "skipped",
                )
                return
            source = MemorySource(data)
        before = self.entries
        reader = ZipReader(source, item.address, self.limits, self.ledger)
        yield from ZipArchive(self, item, depth, reader).read_members()
        if item.top and self.entries == before:
            raise Refused("an empty zip archive")

    def _skip_nested(self, item: Item) -> None:
        self._note_nesting(item.address)
        self.list_member(item.address, item.size, "archive nested too deep, not opened", "skipped")

    def _give_single(self, item: Item, feed: Feed, packed: tuple[str, ...]) -> Iterator[Member]:
        """Give one file as a member."""
        self._current = item.address
        record = self.list_member(item.address, item.size, "")
        member = Member(
            record, feed, self.ledger, path=item.path, root=item.root, in_archive=item.in_archive,
            mtime=item.mtime, packed=packed, limit=self.limits.member_bytes,
        )  # fmt: skip
        yield member
        if member.cut:
            record.state, record.why = "cut", member.cut

    def list_member(
        self, address: str, size: int | None, why: str, state: str = "listed"
    ) -> SourceRecord:
        """Record a member."""
        self.entries += 1
        return self.ledger.record(address, size, state, why)

    def give_measured(self, item: Item, why: str, missing: str = "") -> Iterator[Member]:
        """Give a member of which only the size is known."""
        record = self.list_member(item.address, item.size, why)
        if missing:
            self.ledger.add_damage(
                item.address, -1, f"fragment {missing} is missing", "its content"
            )
        yield Member(
            record, Feed(SliceStream(MemorySource(b""))), self.ledger, path=item.path, root=item.root,
            in_archive=item.in_archive, mtime=item.mtime, measured=True, limit=0,
        )  # fmt: skip


def _find_cause(feed: Feed) -> str:
    """Return the fault that cost the rest of a feed, "" when there was none."""
    return feed.last_fault.what if feed.last_fault else ""


def _refuse_unreadable(feed: Feed, packed: tuple[str, ...], name: str) -> None:
    """Raise Refused when a top-level file is neither archive nor text."""
    why = sniff.find_refusal(feed.peek(_HEAD))
    if not why:
        return
    codec = "+".join(packed)
    if why == "empty" and (cause := _find_cause(feed)):
        raise Refused(f"{codec} data, but nothing of it could be read: {cause}")
    if why == "empty" and not packed:
        raise Refused("empty", AGAIN)
    do = JOIN if is_piece(name) and why == "binary data" else ""
    raise Refused(f"looks like {codec} of {why}" if packed else f"looks like {why}", do)


def _name_file_kind(mode: int) -> str:
    """Return the kind of a file that is no regular one."""
    kinds = (
        (stat.S_ISFIFO, "a pipe"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
        (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"),
    )  # fmt: skip
    for is_kind, name in kinds:
        if is_kind(mode):
            return name
    return "something else"
