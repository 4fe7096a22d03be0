"""The route of the log drawer: the lines of all logs of a case around a moment, read from its files on demand.

The server reads no bundle: a process of its own does (cases/log_reader.py), two at a time.

    GET /cases/ID/log?around=SECONDS    lines of JSON as they come, see log_reader.py; the last has the type "end"
    POST /cases/ID/draft                {address} of a line: {text}, the draft of a rule from it, see drafter.py

No path comes from the client: the id names a case of this server, and its files are those that were given with it.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from analyzer.case import case_file
from analyzer.web.cases.app import Serving
from analyzer.web.cases.original_files import find_files_beside, find_files_of_source
from analyzer.web.guard import wire
from analyzer.workers.line_process import Ended, LineProcess, command_of

COMMAND = command_of("analyzer.web.cases.log_reader")
DRAFT_COMMAND = command_of("analyzer.web.cases.drafter")
LONGEST_ADDRESS = 5_000
AT_ONCE = 2
GRACE = 60.0  # seconds beyond twice the time of a bundle, then the process is given up


def log_routes(serving: Serving) -> list[BaseRoute]:
    """Return the routes of the log drawer."""
    lines = _LogLines(serving)
    return [
        Route("/cases/{case}/log", lines.send_lines, methods=["GET"]),
        Route("/cases/{case}/draft", lines.send_draft, methods=["POST"]),
    ]


class _LogLines:
    """Reads the logs of the cases of one server."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._room = asyncio.Semaphore(AT_ONCE)

    async def send_lines(self, request: Request) -> Response:
        """Send the lines around a moment. Refusal for a case whose files are not here, or for what is no time."""
        moment = _read_seconds(request.query_params.get("around", ""))
        order = {**await self._find_files(request), "around": moment}
        return StreamingResponse(self._stream_lines(order), media_type="application/x-ndjson")

    async def send_draft(self, request: Request) -> Response:
        """Send the draft of a rule from a line. Refusal (422) where none can be made, with the reason."""
        data = await wire.read_json(request, self._serving.bounds)
        address = data.get("address")
        if not isinstance(address, str) or len(address) > LONGEST_ADDRESS:
            raise wire.Refusal(
                400, "the request is not understood", why="`address` must be that of a line"
            )
        order = {**await self._find_files(request), "address": address}
        last: Mapping[str, Any] = {}
        async with self._room:
            async for line in self._follow_process(order, DRAFT_COMMAND):
                last = line
        if last.get("state") != "done":
            error = last.get("error") or {"what": "the server stops"}
            what = str(error["what"])
            raise wire.Refusal(422, what, why=error.get("why", ""), do=error.get("do", ""))
        return wire.json_answer({"text": last["text"]})

    async def _find_files(self, request: Request) -> dict[str, Any]:
        """Return the order to read a case; Refusal for one whose files are not here."""
        given = await asyncio.to_thread(
            self._serving.manager.describe_material, request.path_params["case"]
        )
        if given.get("stored") or given.get("opened"):
            found = await asyncio.to_thread(_find_original_files, given)
            given = {**given, "paths": [str(path) for path in found]}
        return {**given, **self._serving.how.record(), "parent": os.getpid()}

    async def _stream_lines(self, order: Mapping[str, Any]) -> AsyncIterator[bytes]:
        async with self._room:
            async for line in self._follow_process(order):
                yield (
                    json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode("ascii")
                    + b"\n"
                )

    async def _follow_process(
        self, order: Mapping[str, Any], command: Sequence[str] = ()
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Yield what the process says, up to its end; whoever stops listening ends it."""
        loop, how = asyncio.get_running_loop(), self._serving.how
        said: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()

        def soon(line: Mapping[str, Any]) -> None:
            with suppress(RuntimeError):  # the loop is closed: no one is there any more
                loop.call_soon_threadsafe(said.put_nowait, line)

        def report_end(end: Ended) -> None:
            soon({"type": "end", "state": "failed", "error": end.describe_failure()})

        seconds = 2 * how.limits.bundle_wall_s
        child = LineProcess(
            order,
            soon,
            report_end,
            command=command or COMMAND,
            memory=how.memory,
            seconds=seconds + GRACE if seconds else 0.0,
        )
        stop = asyncio.ensure_future(self._serving.stopping.wait())
        child.start()
        try:
            while True:
                line = asyncio.ensure_future(said.get())
                await asyncio.wait((line, stop), return_when=asyncio.FIRST_COMPLETED)
                if not line.done():
                    line.cancel()
                    return
                yield line.result()
                if line.result().get("type") == "end":
                    return
        finally:
            stop.cancel()
            child.kill()


def _find_original_files(given: Mapping[str, Any]) -> list[Path]:
    """Return the files that a case was read from; Refusal (404) when they are gone."""
    document = case_file.read_case(Path(given["path"]))
    if given.get("stored"):
        return find_files_of_source(document, given["source"])
    return find_files_beside(document, Path(given["beside"]) if given["beside"] else None)


def _read_seconds(text: str) -> float:
    """Return seconds since 1970; Refusal (400) for another text."""
    with suppress(ValueError):
        if math.isfinite(seconds := float(text)):
            return seconds
    raise wire.Refusal(
        400, "the request is not understood", why="`around` must be seconds since 1970"
    )
