"""JSON in and out, and errors that say what, where, why and what to do."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from analyzer.artefacts.logtime import read_given_clock, read_given_time
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.text import one_line
from analyzer.web.guard.bounds import Bounds

GONE = 499  # no one reads this answer; the number is the usual one for it in logs
LONGEST_NAME = 4096  # characters of a name that are kept
LONGEST_TITLE = 200  # of a name that a reader gives
LONGEST_SR = 40
_SR_NUMBER = re.compile(rf"[A-Za-z0-9](?:[A-Za-z0-9 ./#_-]{{0,{LONGEST_SR - 2}}}[A-Za-z0-9])?")


class Refusal(BacklineError):
    """A request that is not done, with the status of HTTP that fits."""

    def __init__(
        self, status: int, what: str, *, where: str = "", why: str = "", do: str = ""
    ) -> None:
        super().__init__(what, where=where, why=why, do=do)
        self.status = status


def json_answer(data: Any, status: int = 200) -> Response:
    """Return JSON; ASCII only, so that half a surrogate in a name can be sent as well."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def error_record(error: BacklineError) -> dict[str, Any]:
    """Return what a client gets of an error; all text is safe to show."""
    return {"error": error.show_parts()}


def error_answer(error: BacklineError) -> Response:
    """Return the answer that tells of an error."""
    return json_answer(error_record(error), error.status if isinstance(error, Refusal) else 400)


class Pace:
    """Watches how fast a body comes: a client that sends nothing, or next to nothing, is given up.

    Only the time spent waiting for the client counts, not that of our disk.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._waited, self._bytes = 0.0, 0

    async def read_chunks(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body; raises Refusal (408) for a slow client, ClientDisconnect for a gone one."""
        stream = request.stream()
        try:
            while True:
                before = time.monotonic()
                try:
                    async with asyncio.timeout(self._bounds.idle):
                        chunk = await anext(stream)
                except TimeoutError:
                    raise self._make_slow_refusal(
                        f"no data arrived for {self._bounds.idle:g} seconds"
                    ) from None
                except StopAsyncIteration:
                    return
                self._waited += time.monotonic() - before
                self._bytes += len(chunk)
                if self._waited >= self._bounds.stretch:
                    if self._bytes < self._bounds.slowest * self._waited:
                        raise self._make_slow_refusal(
                            f"only {self._bytes:,} bytes arrived in {self._waited:.0f} seconds"
                        )
                    self._waited, self._bytes = 0.0, 0
                if chunk:
                    yield chunk
        finally:
            await stream.aclose()

    @staticmethod
    def _make_slow_refusal(why: str) -> Refusal:
        return Refusal(
            408,
            "the upload was abandoned",
            why=why,
            do="Copy the file to this machine, then try again.",
        )


async def read_json(request: Request, bounds: Bounds, most: int = 0) -> dict[str, Any]:
    """Return the JSON object a request carries, of at most `most` bytes (bounds.small_json when 0); Refusal else."""
    most = most or bounds.small_json
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, "the request is not understood", why="it must be application/json")
    too_much = Refusal(413, "the request is too long", why=f"at most {most:,} bytes are accepted")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length[:18]) > most:
        raise too_much
    body = bytearray()
    try:
        async for chunk in Pace(bounds).read_chunks(request):
            body += chunk
            if len(body) > most:
                raise too_much
    except ClientDisconnect:
        raise Refusal(GONE, "the client disconnected") from None
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "the request is not understood", why="it is not JSON") from None
    if not isinstance(data, dict):
        raise Refusal(400, "the request is not understood", why="it must be a JSON object")
    return data


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that is announced: its name (a label, never a path here), size in bytes, time of change (UTC epoch)."""

    name: str
    size: int
    modified: float | None = None


@dataclass(frozen=True, slots=True)
class NewCase:
    """A case that is announced: files that will be uploaded, or a path on this machine.

    together  it is one case, also when it looks like a folder of many
    incident  when the trouble was, "" when nobody said
    """

    name: str
    files: tuple[NewFile, ...] = ()
    path: Path | None = None
    together: bool = False
    incident: str = ""


def new_case(data: dict[str, Any], bounds: Bounds) -> NewCase:
    """Return the case that a request announces; raises Refusal. The disk is not looked at."""
    name = data.get("name", "")
    if not isinstance(name, str):
        raise _make_wrong_request("`name` must be text")
    together, incident = data.get("together") is True, read_incident(data)
    if "path" in data:
        if "files" in data:
            raise _make_wrong_request("give `path` or `files`, not both")
        path = _read_path(data["path"])
        return NewCase(clean_name(name), path=path, together=together, incident=incident)
    files = data.get("files")
    if not isinstance(files, list) or not files:
        raise _make_wrong_request("`files` must be a list that is not empty")
    if len(files) > bounds.files:
        raise too_many(len(files), bounds)
    return NewCase(
        clean_name(name),
        tuple(_read_file_entry(one, bounds) for one in files),
        together=together,
        incident=incident,
    )


def too_many(files: int, bounds: Bounds) -> Refusal:
    """Return the refusal of a case of so many files."""
    do = "Pack the folder (zip or tar) and drop the archive, or give its path on this machine."
    return Refusal(
        413, f"too many files ({files:,})", why=f"at most {bounds.files:,} are accepted", do=do
    )


def read_title(data: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name and the SR number that a case is given, each one visible line; Refusal (400) for others."""
    name, number = data.get("name"), data.get("sr", "")
    if not isinstance(name, str) or not isinstance(number, str):
        raise _make_wrong_request("`name` and `sr` must be text")
    name = " ".join(one_line(clean_name(name), LONGEST_TITLE).split())
    if not name:
        raise Refusal(400, "the case needs a name", do="Type one, or close the window.")
    number = number.strip()
    if number and not _SR_NUMBER.fullmatch(number):
        raise Refusal(
            400,
            "this is no SR number",
            where=one_line(number, 80),
            why=f"it has letters, digits and - . / # _ only, {LONGEST_SR} signs at most",
        )
    return name, number


def read_incident(data: Mapping[str, Any]) -> str:
    """Return when the trouble was, as `place_incident` takes it; "" when nobody says; Refusal (400) for no time."""
    given = data.get("incident", "")
    if not isinstance(given, str):
        raise _make_wrong_request("`incident` must be text")
    given = given.strip()
    time = read_given_time(given) or read_given_clock(given)
    if given and not time:
        raise Refusal(
            400,
            "this is no time",
            where=one_line(given, 80),
            do="Write it as 06:15, or with its day as 2017-10-14 06:15; it is UTC.",
        )
    return time


def clean_name(text: str) -> str:
    """Return a name without halves of surrogates, which no encoding can write, and not longer than is sensible."""
    return text[:LONGEST_NAME].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _read_file_entry(one: object, bounds: Bounds) -> NewFile:
    if not isinstance(one, dict):
        raise _make_wrong_request("each of `files` must be an object with `name` and `size`")
    name, size, modified = one.get("name"), one.get("size"), one.get("modified")
    if not isinstance(name, str):
        raise _make_wrong_request("the `name` of a file must be text")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise _make_wrong_request("the `size` of a file must be a number of bytes")
    if modified is not None and (not isinstance(modified, int | float) or not 0 <= modified < 1e11):
        modified = None  # a file without a time is as good
    if name.count("/") + name.count("\\") > bounds.folders:
        raise Refusal(
            400,
            "a file is too deep",
            where=name[:200],
            why=f"at most {bounds.folders} folders are accepted",
        )
    return NewFile(clean_name(name), size, None if modified is None else float(modified))


def _read_path(given: object) -> Path:
    if not isinstance(given, str) or not given or "\0" in given:
        raise _make_wrong_request("`path` must be text")
    path = Path(given)
    if not path.is_absolute():
        raise Refusal(
            400, "the path is not complete", where=given, do="Start it at the root of the disk."
        )
    return path


def _make_wrong_request(why: str) -> Refusal:
    return Refusal(400, "the request is not understood", why=why)


def event_message(number: int, data: Any) -> bytes:
    """Return one message of a stream of events; `number` is what a browser resumes from."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return f"id: {number}\ndata: {text}\n\n".encode("ascii")
