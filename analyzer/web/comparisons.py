"""The routes of comparisons: two or more cases of the page next to each other.

The server reads no bundle: a process of its own compares (cases/comparer.py), one at a time.

    POST /comparisons {"cases": [id, id, …]}   answers {"id"} when the page of the comparison is there
    GET  /comparisons/ID/compare.html          also compare.md, compare.json; `?download=1` to save it

In the place of an id may stand {"place": TEXT}: a path of this machine, or the name or id of a stored case.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from analyzer.web.cases.app import REPORT_POLICY, Serving, attachment_header
from analyzer.web.guard import wire
from analyzer.workers.line_process import Ended, LineProcess, command_of

COMMAND = command_of("analyzer.web.cases.comparer")
FILES = {
    "compare.html": "text/html",
    "compare.md": "text/markdown",
    "compare.json": "application/json",
}
MOST_SIDES, MOST_KEPT, MOST_PLACE = 12, 50, 4096
GRACE = 60.0  # seconds beyond twice the time of each bundle, then the process is given up


def comparison_routes(serving: Serving) -> list[BaseRoute]:
    """Return the routes of comparisons."""
    made = _Comparisons(serving)
    return [
        Route("/comparisons", made.compare_cases, methods=["POST"]),
        Route("/comparisons/{id}/{name}", made.send_result, methods=["GET"]),
    ]


class _Comparisons:
    """The comparisons of one server; the oldest is forgotten when there are too many."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._kept: dict[str, Path] = {}
        self._one = asyncio.Lock()

    async def compare_cases(self, request: Request) -> Response:
        """Compare cases; answer when it is done."""
        serving = self._serving
        asked = (await wire.read_json(request, serving.bounds)).get("cases")
        if (
            not isinstance(asked, list)
            or not 2 <= len(asked) <= MOST_SIDES
            or not all(isinstance(one, str) or _read_place(one) for one in asked)
        ):
            raise wire.Refusal(
                400, "the request is not understood", why=f"it must name 2 to {MOST_SIDES} cases"
            )
        if len({*map(str, asked)}) < len(asked):
            raise wire.Refusal(
                400, "a case cannot be compared with itself", do="Choose another case."
            )
        if self._one.locked():
            raise wire.Refusal(409, "another comparison is at work", do="Wait until it is done.")
        async with self._one:
            sides = [await asyncio.to_thread(self._find_side, one) for one in asked]
            name = await asyncio.to_thread(serving.place.new_case)
            out = serving.place.case_folder(name) / "comparison"
            try:
                await self._run_process(
                    {"sides": sides, "out": str(out), **serving.how.record(), "parent": os.getpid()}
                )
            except wire.Refusal:
                await asyncio.to_thread(serving.place.remove_case, name)
                raise
        self._kept[name] = out
        while len(self._kept) > MOST_KEPT:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            await asyncio.to_thread(serving.place.remove_case, oldest)
        return wire.json_answer({"id": name}, 201)

    def _find_side(self, asked: str | Mapping[str, str]) -> Mapping[str, Any]:
        """Return what the process takes of a side. Refusal (404) for a case that is not here."""
        archive = self._serving.archive
        if isinstance(asked, str):
            given = self._serving.manager.describe_material(asked)
            return (
                {"name": given["name"], "archive": archive, "case": asked}
                if given.get("stored")
                else given
            )
        place = _read_place(asked)
        path = Path(place)
        if path.is_absolute() and path.exists():
            return {"name": path.name, "files": [], "path": place}
        if not archive or path.is_absolute():
            raise wire.Refusal(
                404, "there is nothing at this path", where=place, do="Give a complete path."
            )
        return {"name": "", "archive": archive, "case": place}

    async def _run_process(self, order: Mapping[str, Any]) -> None:
        """Run the process; Refusal (422) with what it says when it fails."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[Ended] = loop.create_future()
        lines: list[Mapping[str, Any]] = []
        how = self._serving.how

        def settle(end: Ended) -> None:
            if not over.done():
                over.set_result(end)

        def report_end(end: Ended) -> None:
            with suppress(RuntimeError):  # the loop is closed: no one is there any more
                loop.call_soon_threadsafe(settle, end)

        seconds = 2 * len(order["sides"]) * how.limits.bundle_wall_s
        child = LineProcess(
            order,
            lines.append,
            report_end,
            command=COMMAND,
            memory=how.memory,
            seconds=seconds + GRACE if seconds else 0.0,
        )
        child.start()
        stop = asyncio.ensure_future(self._serving.stopping.wait())
        try:
            await asyncio.wait((over, stop), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
            if not over.done():
                child.kill()
        if not over.done():
            raise wire.Refusal(503, "the server stops")
        last = next((line for line in lines if line.get("type") == "end"), {})
        if last.get("state") != "done":
            error = last.get("error") or over.result().describe_failure()
            raise wire.Refusal(
                422, error["what"], where=error["where"], why=error["why"], do=error["do"]
            )

    async def send_result(self, request: Request) -> Response:
        """Send one of the results; 404 when there is none of that name."""
        out, name = self._kept.get(request.path_params["id"]), request.path_params["name"]
        if out is None or name not in FILES:
            raise wire.Refusal(404, "no such comparison", do="Compare the cases again.")
        headers = {"content-security-policy": REPORT_POLICY}
        if request.query_params.get("download") == "1":
            headers["content-disposition"] = attachment_header("comparison", name)
        return FileResponse(out / name, media_type=FILES[name], headers=headers)


def _read_place(asked: object) -> str:
    """Return the text that names a side outside the page, stripped; "" for another request."""
    place = asked.get("place") if isinstance(asked, dict) else None
    return (
        place.strip()
        if isinstance(place, str) and len(place) < MOST_PLACE and "\0" not in place
        else ""
    )
