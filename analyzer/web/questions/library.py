"""The routes of the archive: search, one stored case with its labels, the heat map.

GET  /archive                      how much there is
GET  /archive/search?q=&since=&…   a table, see answers.py; a mistake in the field comes with its caret
GET  /archive/tables               what terms can speak of
GET  /archive/facets               hosts, rules, articles, … with the number of their cases
GET  /archive/heatmap              the map, for a sandboxed frame
GET  /archive/cases/<id>           a stored case and its labels
POST /archive/cases/<id>/labels    {rule, node, subject, label, note, by}
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from analyzer.archive.query import terms
from analyzer.artefacts import parsing
from analyzer.runtime.limits import Limits
from analyzer.web.cases.app import REPORT_POLICY, Serving
from analyzer.web.guard import wire
from analyzer.web.guard.wire import Refusal
from analyzer.web.questions import answers, question, stored
from analyzer.web.questions.answers import Library
from analyzer.web.questions.stored import Map

AT_ONCE = 2  # questions; each may use all processors
WAIT = 20.0  # seconds that a further one waits for its turn
Result = TypeVar("Result")


def library_routes(serving: Serving) -> list[BaseRoute]:
    """Return the routes of the archive; none when the server has none."""
    if not serving.archive:
        return []
    room = LibraryRoutes(serving)
    return [
        Route("/archive", room.send_counts, methods=["GET"]),
        Route("/archive/search", room.send_answer, methods=["GET"]),
        Route("/archive/tables", room.send_tables, methods=["GET"]),
        Route("/archive/facets", room.send_facets, methods=["GET"]),
        Route("/archive/heatmap", room.send_heatmap, methods=["GET"]),
        Route("/archive/cases/{case}", room.send_case, methods=["GET"]),
        Route("/archive/cases/{case}", room.remove_case, methods=["DELETE"]),
        Route("/archive/cases/{case}/labels", room.set_label, methods=["POST"]),
    ]


class LibraryRoutes:
    """The handlers; what they need is imported when it is first asked for."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._library: Library | None = None
        self._map: Map | None = None

    @property
    def library(self) -> Library:
        """The archive of the server."""
        if self._library is None:
            self._library = Library(self._serving.archive)
        return self._library

    async def send_counts(self, request: Request) -> Response:
        """Tell how much the archive holds."""
        del request

        return wire.json_answer(await self._run_aside(lambda: stored.count_cases(self.library)))

    async def send_answer(self, request: Request) -> Response:
        """Answer a question; a mistake in it comes with the place in the field."""

        given = request.query_params
        text = given.get("most", "")
        most = answers.SHOWN
        if text.isascii() and text.isdigit() and len(text) < 9:
            most = max(1, min(answers.MOST, int(text)))
        asked = answers.FieldQuestion(
            given.get("q", ""), given.get("since", ""), given.get("until", ""), given.get("severity", ""),
            given.get("state", ""), given.get("by", ""), given.get("order", ""), given.get("unknown") == "1",
            most,
        )  # fmt: skip
        try:
            return wire.json_answer(
                await self._run_aside(lambda: answers.answer_question(self.library, asked))
            )
        except question.Misread as error:
            answer = wire.error_record(error)
            answer["error"]["mistake"] = question.mistake_record(error, asked.field)
            return wire.json_answer(answer, 400)

    async def send_tables(self, request: Request) -> Response:
        """Tell which tables and columns a term can speak of."""
        del request
        return wire.json_answer({"tables": await self._run_aside(_describe_tables)})

    async def send_facets(self, request: Request) -> Response:
        """Tell what the cases can be searched by."""
        del request

        return wire.json_answer(await self._run_aside(lambda: answers.list_facets(self.library)))

    async def send_heatmap(self, request: Request) -> Response:
        """Send the map; it shows what strangers wrote and is sandboxed as a report is."""
        del request
        if self._map is None:
            self._map = Map(self.library, Limits().report_bytes, self._serving.how)
        page = await self._run_aside(self._map.make_page)
        return Response(
            page, media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
        )

    async def send_case(self, request: Request) -> Response:
        """Tell of a stored case."""

        case = _read_id(request)
        return wire.json_answer(
            await self._run_aside(lambda: stored.describe_case(self.library, case))
        )

    async def set_label(self, request: Request) -> Response:
        """Take a label."""

        case, bounds = _read_id(request), self._serving.bounds
        data = await wire.read_json(request, bounds, bounds.small_json)
        return wire.json_answer(
            await self._run_aside(lambda: stored.set_label(self.library, case, data))
        )

    async def remove_case(self, request: Request) -> Response:
        """Take a case out of the archive; the page has asked."""

        case = _read_id(request)
        removed = await self._run_aside(lambda: stored.remove_case(self.library, case))
        self._serving.manager.look_again()
        return wire.json_answer(removed)

    async def _run_aside(self, act: Callable[[], Result]) -> Result:
        """Do something slow in a thread, not too many at once."""
        try:
            async with asyncio.timeout(WAIT):
                await self._turns.acquire()
        except TimeoutError:
            raise Refusal(
                503, "the archive is busy with other questions", do="Try again in a moment."
            ) from None
        future = run_aside(act)
        future.add_done_callback(
            lambda _done: self._turns.release()
        )  # a thread goes on when no one waits any more
        return await asyncio.shield(future)


def run_aside(act: Callable[[], Result]) -> asyncio.Future[Result]:
    """Do something slow in a thread of its own; the end of the server does not wait for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def run() -> None:
        try:
            result, failed = act(), None
        except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
            result, failed = None, error
        with contextlib.suppress(RuntimeError):  # the loop is closed: no one waits any more
            loop.call_soon_threadsafe(_settle_future, future, result, failed)

    threading.Thread(target=run, daemon=True, name="backline-archive").start()
    return future


def _settle_future(future: asyncio.Future[Any], result: Any, failed: BaseException | None) -> None:
    if future.done():
        return
    if failed is not None:
        future.set_exception(failed)
    else:
        future.set_result(result)


def _read_id(request: Request) -> str:
    """Return the id of a case as it was given, or the beginning of one; Refusal (404) for anything else."""
    case = str(request.path_params["case"])
    if not 12 <= len(case) <= 32 or set(case) - set("0123456789abcdef"):
        raise Refusal(404, "there is no such case in the archive")
    return case


def _describe_tables() -> list[dict[str, Any]]:
    tables = [
        terms.NODES,
        *(table for _, table in sorted(parsing.tables().items()) if not table.log),
    ]
    return [
        {
            "name": table.name,
            "meaning": table.meaning,
            "columns": [
                {
                    "name": column.name,
                    "type": column.kind,
                    "unit": column.unit,
                    "meaning": column.meaning,
                }
                for column in table.columns
            ],
        }
        for table in tables
    ]
