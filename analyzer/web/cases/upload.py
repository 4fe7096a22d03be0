"""Uploads: one request per file, its body streamed to a numbered file; memory stays flat, no half file remains.

What is refused before a byte is written: more than was announced, more than there is room for. What
ends it in the middle: a slow or gone client, a full disk, a case that was removed.
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import ClientDisconnect, Request

from analyzer.web.guard.bounds import Bounds
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.guard.wire import GONE, Pace, Refusal, too_many

PIECE = 1 << 20  # bytes written at once
TELL = 0.25  # seconds between two words of the progress of a case
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
WAITS, COMES, HERE = "waits", "comes", "here"


@dataclass(slots=True)
class _Announced:
    """One case: sizes that were announced, and how far each file is."""

    sizes: list[int]
    states: list[str]
    written: list[int]
    last: float = field(default_factory=time.monotonic)
    reported: float = 0.0  # when the page last got its progress
    gone: bool = False

    @property
    def is_complete(self) -> bool:
        return all(state == HERE for state in self.states)

    @property
    def count_outstanding(self) -> int:
        """Bytes that may still come."""
        pairs = zip(self.sizes, self.states, self.written, strict=True)
        return sum(size - written for size, state, written in pairs if state != HERE)


class Uploads:
    """All uploads of one server. Sizes in bytes; every refusal is a `Refusal` with a fitting status.

    on_progress  called a few times a second while bytes of a case come: its id, bytes here, bytes in all
    """

    def __init__(self, place: PrivatePlace, bounds: Bounds | None = None) -> None:
        self._place, self.bounds = place, bounds or Bounds()
        self.on_progress: Callable[[str, int, int], None] = lambda _case, _here, _all: None
        self._cases: dict[str, _Announced] = {}

    def check_room(self, sizes: Sequence[int], case: str = "") -> None:
        """Refuse files of these sizes, further ones of `case`, when they are too large or there is no room.

        Nothing is kept.
        """
        bounds, total = self.bounds, sum(sizes)
        before = self._cases[case].sizes if case in self._cases else []
        if len(before) + len(sizes) > bounds.files:
            raise too_many(len(before) + len(sizes), bounds)
        if max(sizes, default=0) > bounds.file_bytes:
            raise _too_large("a file is too large", max(sizes), bounds.file_bytes)
        if sum(before) + total > bounds.case_bytes:
            raise _too_large("the case is too large", sum(before) + total, bounds.case_bytes)
        held = sum(sum(one.sizes) for one in self._cases.values())
        if held + total > bounds.server_bytes:
            do = "Remove cases from the list, then try again."
            raise _too_large(
                "all cases together are too large", held + total, bounds.server_bytes, do
            )
        if (
            sum(not one.is_complete for name, one in self._cases.items() if name != case)
            >= bounds.waiting
        ):
            do = "Let their uploads finish, or remove them from the list."
            raise Refusal(429, f"{bounds.waiting} cases wait for files already", do=do)
        self._check_disk(total + sum(one.count_outstanding for one in self._cases.values()))

    def expect_files(self, case: str, sizes: Sequence[int]) -> None:
        """Expect files of these sizes, numbered from 0, for a case whose folder is there; refuses as `check`."""
        self.check_room(sizes)
        self._cases[case] = _Announced(list(sizes), [WAITS] * len(sizes), [0] * len(sizes))

    def expect_more(self, case: str, sizes: Sequence[int]) -> None:
        """Expect further files for a case that was announced, under the next numbers; `check` was asked before."""
        announced = self._cases[case]
        announced.sizes += sizes
        announced.states += [WAITS] * len(sizes)
        announced.written += [0] * len(sizes)
        announced.last = time.monotonic()

    def count_missing(self, case: str) -> int:
        """Return how many files of a case are not here yet; 0 for a case without uploads."""
        announced = self._cases.get(case)
        return sum(state != HERE for state in announced.states) if announced else 0

    def forget_case(self, case: str) -> None:
        """Expect nothing more for a case; an upload under way ends with its next bytes."""
        announced = self._cases.pop(case, None)
        if announced:
            announced.gone = True

    def list_abandoned(self) -> list[str]:
        """Return the cases that wait for files and got none for long."""
        latest = time.monotonic() - self.bounds.abandoned
        return [
            name for name, case in self._cases.items()
            if not case.is_complete and COMES not in case.states and case.last < latest
        ]  # fmt: skip

    async def receive_file(self, case: str, number: int, request: Request) -> int:
        """Take the body of a request as one file; return its size. Raises Refusal, and leaves no half file."""
        announced = self._cases.get(case)
        if announced is None:
            raise Refusal(404, "no such case waits for files", do="Drop the files again.")
        if not 0 <= number < len(announced.sizes):
            raise Refusal(404, "no such file was announced")
        if announced.states[number] != WAITS:
            how = "here" if announced.states[number] == HERE else "on its way"
            raise Refusal(409, f"file {number} is {how} already")
        length = self._read_length(request, announced.sizes[number])
        self._check_disk(length)
        announced.states[number] = COMES
        part = self._place.find_file(case, number).with_suffix(".part")
        try:
            await self._write_body(part, case, number, length, request)
            part.rename(self._place.find_file(case, number))
            announced.states[number], announced.sizes[number] = HERE, length
        except ClientDisconnect:
            raise Refusal(GONE, "the client disconnected") from None
        except OSError as error:
            if error.errno in FULL:
                raise _make_full_disk(error.strerror or "no space left") from None
            raise Refusal(
                500,
                "the file cannot be written",
                why=error.strerror or str(error),
                do="Look at the disk.",
            ) from None
        finally:
            announced.last = time.monotonic()
            if announced.states[number] != HERE:
                _remove_half(part)
                announced.states[number], announced.written[number] = WAITS, 0
        return length

    @staticmethod
    def _read_length(request: Request, announced: int) -> int:
        """Return the size a request tells of its body; it must tell one, and not more than was announced."""
        given = request.headers.getlist("content-length")
        if len(given) != 1 or not (given[0].isascii() and given[0].isdigit()) or len(given[0]) > 18:
            raise Refusal(
                411,
                "the request does not state the size of the file",
                why="Content-Length is needed",
            )
        if int(given[0]) > announced:
            why = f"{int(given[0]):,} bytes, announced were {announced:,}"
            raise Refusal(413, "the file is larger than announced", why=why, do="Drop it again.")
        return int(given[0])

    async def _write_body(
        self, part: Path, case: str, number: int, length: int, request: Request
    ) -> None:
        announced = self._cases[case]
        async with _Writer(part) as writer:
            looked = 0
            async for chunk in Pace(self.bounds).read_chunks(request):
                if announced.gone:
                    raise Refusal(410, "the case was removed")
                announced.last = time.monotonic()
                announced.written[number] += len(chunk)
                if announced.written[number] > length:
                    raise Refusal(400, "more bytes came than announced")
                if announced.written[number] - looked >= self.bounds.look:
                    looked = announced.written[number]
                    self._check_disk(length - looked)
                await writer.add(chunk)
                if announced.last - announced.reported >= TELL:
                    announced.reported = announced.last
                    self.on_progress(case, sum(announced.written), sum(announced.sizes))
        if announced.gone:
            raise Refusal(410, "the case was removed")
        if announced.written[number] != length:
            raise Refusal(
                400,
                "only part of the file arrived",
                why=f"{announced.written[number]:,} of {length:,} bytes",
            )

    def _check_disk(self, more: int) -> None:
        """Refuse when `more` bytes do not fit on the disk with something left."""
        free = self._place.count_free()
        if more + self.bounds.reserve > free:
            why = f"{more:,} bytes are still to come, {free:,} are free and {self.bounds.reserve:,} of them are kept free"
            raise _make_full_disk(why)


def _remove_half(part: Path) -> None:
    part.unlink(missing_ok=True)


class _Writer:
    """Writes in pieces, in a thread, while the next bytes come; one piece is on its way at most."""

    def __init__(self, path: Path) -> None:
        self._path, self._buffer = path, bytearray()
        self._going: asyncio.Future[None] | None = None

    async def __aenter__(self) -> _Writer:
        flags = (
            os.O_WRONLY
            | os.O_CREAT
            | os.O_EXCL
            | getattr(os, "O_NOFOLLOW", 0)
            | getattr(os, "O_BINARY", 0)
        )
        self._file = os.open(self._path, flags, 0o600)
        return self

    async def add(self, chunk: bytes) -> None:
        """Take bytes; OSError when earlier ones could not be written."""
        self._buffer += chunk
        if len(self._buffer) >= PIECE:
            await self._pass_on()

    async def _pass_on(self) -> None:
        await self._wait_for_thread()
        data, self._buffer = self._buffer, bytearray()
        self._going = asyncio.get_running_loop().run_in_executor(None, _write_all, self._file, data)

    async def _wait_for_thread(self) -> None:
        """Wait for the thread; also when we are cancelled, since it must not write to a closed file."""
        if self._going is not None:
            going, self._going = self._going, None
            try:
                await asyncio.shield(going)
            except asyncio.CancelledError:
                await asyncio.wait([going])
                raise

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                await self._pass_on()
                await self._wait_for_thread()
            elif self._going is not None:
                await asyncio.wait([self._going])
                self._going.exception()
        finally:
            os.close(self._file)


def _write_all(file: int, data: bytearray) -> None:
    with memoryview(data) as view:
        written = 0
        while written < len(view):
            written += os.write(file, view[written:])


def _too_large(what: str, size: int, most: int, do: str = "") -> Refusal:
    why = f"{size:,} bytes, at most {most:,} are taken"
    return Refusal(
        413,
        what,
        why=why,
        do=do or "Give its path on this machine instead; then nothing is copied.",
    )


def _make_full_disk(why: str) -> Refusal:
    do = "Free some space, start with --work-dir on another disk, or give the path of the file: nothing is copied then."
    return Refusal(507, "the disk is full", where="", why=why, do=do)
