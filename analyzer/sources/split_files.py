"""Files that `split`, an archiver or an upload page cut into pieces: `x.tgz.001`, `x.tgz.partaa`, `x.z01` … `x.zip`.

The names propose which files belong together, and their first bytes decide: the first piece begins an archive, and
no other does (a rotated log of the same ending is whole by itself). The pieces are read as one file, at any place;
nothing is written.
"""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from analyzer.sources import codecs, sniff
from analyzer.sources.fragments import split_name
from analyzer.sources.remote import Place, RemotePath
from analyzer.sources.remotefile import RemoteFile
from analyzer.sources.stream import FileSource, SliceStream, Stream

HEAD = 512  # bytes by which an archive is known
_FORMS = (
    ("number", re.compile(r"(.+)\.(\d{2,4})", re.IGNORECASE)),
    ("part", re.compile(r"(.+)\.part[-_.]?(\d{1,4})", re.IGNORECASE)),
    ("letters", re.compile(r"(.+)\.(?:part[-_.]?)?([a-z]{2,3})", re.IGNORECASE)),
    ("zip", re.compile(r"(.+)\.z(\d\d)", re.IGNORECASE)),
)
_LAST = 1_000_000  # the number of the `.zip` behind `.z01`, `.z02`, …
_OPEN = 8  # files held open at a time


class PartName(NamedTuple):
    """What the name of a piece says: the file it is of, how pieces are numbered, and its number from 0."""

    whole: str
    form: str
    number: int


@dataclass(frozen=True, slots=True)
class SplitFile:
    """The pieces of one file, in order.

    name     of the joined file
    numbers  of the pieces, as their names count; where one is missing, so is a piece
    """

    name: str
    pieces: tuple[Place, ...]
    numbers: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Say whether no piece is missing between the first and the last one."""
        return self.numbers[-1] - self.numbers[0] == len(self.numbers) - 1


def find_part_names(names: Iterable[str]) -> dict[str, PartName]:
    """Return the names in one folder that may be pieces: of each file two at least, and the first one."""
    listed = list(names)
    groups: dict[tuple[str, str], dict[int, str]] = {}
    for name in listed:
        for form, pattern in _FORMS:
            if found := pattern.fullmatch(name):
                whole = f"{found[1]}.zip" if form == "zip" else found[1]
                groups.setdefault((whole, form), {})[_parse_number(form, found[2])] = name
                break
    known = set(listed)
    parts: dict[str, PartName] = {}
    for (whole, form), numbered in groups.items():
        if form == "zip" and whole in known:
            numbered[_LAST] = whole
        most_first = 0 if form == "letters" else 1  # the number that the first piece may have
        if len(numbered) > 1 and min(numbered) <= most_first:
            for number, name in numbered.items():
                parts[name] = PartName(whole, form, number)
    return parts


def find_joined_names(names: Iterable[str], is_archive: Callable[[str], bool]) -> dict[str, str]:
    """Return by name alone which files are pieces of one, each with the name of the whole; no file is opened.

    is_archive  says whether a name is that of an archive: rotated logs end in numbers as well
    """
    listed = list(names)
    wholes = {
        name: part.whole for name, part in find_part_names(listed).items() if is_archive(part.whole)
    }
    for name in listed:
        if piece := split_name(name):
            wholes[name] = piece[0]
    return wholes


def _parse_number(form: str, text: str) -> int:
    if form != "letters":
        return int(text)
    number = 0
    for letter in text.lower():
        number = number * 26 + ord(letter) - ord("a")
    return number


def find_split_files(files: Sequence[Place]) -> dict[Place, SplitFile]:
    """Return the split files among some files, by each of their pieces."""
    by_folder: dict[Place, dict[str, Place]] = {}
    for path in files:
        by_folder.setdefault(path.parent, {})[path.name] = path
    found: dict[Place, SplitFile] = {}
    for by_name in by_folder.values():
        groups: dict[tuple[str, str], list[tuple[int, Place]]] = {}
        for name, part in find_part_names(by_name).items():
            groups.setdefault((part.whole, part.form), []).append((part.number, by_name[name]))
        for (whole, form), numbered in groups.items():
            numbered.sort(key=itemgetter(0))
            pieces = tuple(path for _, path in numbered)
            heads = [_read_head(path) for path in pieces]
            if form == "zip":
                split = sniff.is_zip(heads[0])
            else:
                split = are_pieces(heads)
            if split:
                numbers = [number for number, _ in numbered]
                if numbers[-1] == _LAST:
                    numbers[-1] = numbers[-2] + 1
                found |= dict.fromkeys(pieces, SplitFile(whole, pieces, tuple(numbers)))
    return found


def are_pieces(heads: Sequence[bytes]) -> bool:
    """Say by the first `HEAD` bytes of files, in order, whether they are the pieces of one archive."""
    return _is_beginning(heads[0]) and not any(map(_is_beginning, heads[1:]))


def _is_beginning(head: bytes) -> bool:
    return bool(codecs.kind_of(head[:16])) or sniff.is_zip(head) or sniff.is_tar(head)


def _read_head(path: Place) -> bytes:
    try:
        source = open_source(path)
        try:
            return source.pread(0, HEAD)
        finally:
            source.close()
    except (OSError, ValueError):
        return b""


def open_source(
    path: Place, on_read: Callable[[int], None] | None = None
) -> FileSource | RemoteFile:
    """Open one file for reading at any place. Raises OSError."""
    if isinstance(path, RemotePath):
        return path.source(None, on_read)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.fdopen(os.open(path, flags), "rb", buffering=0)
    return FileSource(handle, os.fstat(handle.fileno()).st_size, on_read)


class JoinedSource:
    """Some files as the bytes of one.

    size    of all of them together, at most `most`
    starts  where each begins: a zip that was cut into `.z01`, … counts its places from the start of a piece
    """

    def __init__(
        self, pieces: Sequence[Place], most: int, on_read: Callable[[int], None] | None = None
    ) -> None:
        self._pieces, self._on_read = pieces, on_read
        self.starts: list[int] = []
        self.whole = 0
        for path in pieces:
            self.starts.append(self.whole)
            self.whole += path.stat().st_size
        self.size = min(self.whole, most)
        self._open: dict[int, FileSource | RemoteFile] = {}

    def pread(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes at `offset`, out of as many pieces as they lie in."""
        out = bytearray()
        length = min(length, self.size - offset)
        while length > 0:
            number = bisect.bisect_right(self.starts, offset) - 1
            if number not in self._open:
                while len(self._open) >= _OPEN:
                    self._open.pop(next(iter(self._open))).close()
                self._open[number] = open_source(self._pieces[number], self._on_read)
            data = self._open[number].pread(offset - self.starts[number], length)
            end = self.starts[number + 1] if number + 1 < len(self.starts) else self.whole
            data = data[: end - offset]
            if not data:
                break
            out += data
            offset += len(data)
            length -= len(data)
        return bytes(out)

    def streams(self, numbers: Sequence[int]) -> list[tuple[int, Callable[[], Stream]]]:
        """Return what opens each piece, by its number, for a reader that notes which is missing."""
        ends = [*self.starts[1:], self.size]
        places = zip(numbers, self.starts, ends, strict=True)
        return [(number, partial(SliceStream, self, start, end)) for number, start, end in places]

    def close(self) -> None:
        """Close the pieces."""
        for source in self._open.values():
            source.close()
        self._open.clear()
