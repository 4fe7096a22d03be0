"""The routes of the page: cases and their files, events, results. Other modules add their own.

A further room (archive, rules) gives a function `routes(serving: Serving) -> list[BaseRoute]`; `application`
puts all lists together behind the gate.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from analyzer.archive.batches.many_cases import cases_among, cases_below
from analyzer.case import case_file
from analyzer.redact.redaction import Redaction
from analyzer.report import html, short_note
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import BacklineError, describe_fault
from analyzer.runtime.text import one_line
from analyzer.web.cases.upload import Uploads
from analyzer.web.guard import wire
from analyzer.web.guard.bounds import Bounds
from analyzer.web.guard.gate import RequestGate
from analyzer.web.guard.pagefiles import PAGE, read_page_file
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.guard.session import PageSession

if TYPE_CHECKING:
    from analyzer.archive.batches.many_cases import ManyCases

KEEP_ALIVE = 15.0  # seconds between signs of life on a stream of events
CHECK_ABANDONED = 60.0
RESULTS = {
    "report": ("report.html", "text/html"),
    "case.json": ("case.json", "application/json"),
    "report.md": ("report.md", "text/markdown"),
}
# A report shows what strangers wrote: it gets an origin of its own, so that nothing in it can speak to us.
# The policy in its head, which names its scripts by their hashes, holds as well; both must allow what is done.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox allow-modals; "
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)


class CaseApi(Protocol):
    """What the routes ask of a case."""

    @property
    def id(self) -> str:
        """32 hex digits."""

    def record(self) -> dict[str, Any]:
        """Return what the page shows: id, name, state, ..."""


class CaseManagerApi(Protocol):
    """What the routes ask of the case manager; errors are BacklineErrors (wire.Refusal to choose the status)."""

    def add_case(self, name: str, files: Sequence[wire.NewFile] | Path) -> CaseApi:
        """Take a new case: files that will come, or a path on this machine."""

    def add_files(self, case_id: str, files: Sequence[wire.NewFile]) -> int:
        """Take more files of a case that is not read yet; return the number of the first."""

    def file_done(self, case_id: str, number: int) -> None:
        """Note that a file is here."""

    def start_case(self, case_id: str) -> None:
        """Put a case into the queue."""

    def cancel_case(self, case_id: str) -> None:
        """Stop a case."""

    def remove_case(self, case_id: str) -> None:
        """Stop a case and remove what is kept of it."""

    async def rename_case(self, case_id: str, name: str, sr: str) -> CaseApi:
        """Give a case that was read another name and an SR number."""

    def set_incident(self, case_id: str, incident: str) -> CaseApi:
        """Say when the trouble was; the report is made anew."""

    def find_case(self, case_id: str) -> CaseApi:
        """Return one case; Refusal (404) when there is none."""

    def list_cases(self) -> Iterable[CaseApi]:
        """Return the cases, newest first."""

    def look_again(self) -> None:
        """Look at the archive again: something else is stored in it now."""

    def find_result(self, case_id: str, name: str) -> Path:
        """Return where a result lies (report.html, case.json, report.md); Refusal (404) before it is there."""

    def describe_material(self, case_id: str) -> dict[str, Any]:
        """Return where the files of a case that was read lie: name, files, path; Refusal when it was not."""

    def follow_events(self, since: int) -> AsyncIterator[tuple[int, Mapping[str, Any]]]:
        """Yield number and content of every event after `since`, those to come included."""

    async def close(self) -> None:
        """End the process of the analysis."""


@dataclass(slots=True)
class Serving:
    """Everything the routes of one server share."""

    session: PageSession
    place: PrivatePlace
    uploads: Uploads
    manager: CaseManagerApi
    archive: str = ""  # folder or URL, "" for none
    bounds: Bounds = field(default_factory=Bounds)
    how: RunOptions = field(default_factory=RunOptions)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    made_pages: Mapping[str, Callable[[], str]] = field(
        default_factory=dict
    )  # of the help, by the name of the file


Handler = Callable[[Request], Awaitable[Response]]
Routes = Callable[[Serving], list[BaseRoute]]


def make_application(serving: Serving, *others: Routes) -> ASGIApp:
    """Return the whole application: our routes, those of `others`, and the gate in front of all."""
    lists = [case_routes(serving), *(other(serving) for other in others)]
    router = Router(
        [route for one in lists for route in one],
        redirect_slashes=False,
        lifespan=lambda _app: _run_lifespan(serving),
    )
    handlers: dict[Any, Any] = {
        BacklineError: _answer_error,
        HTTPException: _answer_http_error,
        Exception: _answer_fault,
    }
    answering = ExceptionMiddleware(router, handlers)

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = (
            router  # so that an unknown address or method is an exception and gets an answer in our form
        )
        await answering(scope, receive, send)

    return RequestGate(inner, serving.session)


def case_routes(serving: Serving) -> list[BaseRoute]:
    """Return the routes of the page and of its cases."""
    cases = _Cases(serving)
    found: list[BaseRoute] = [Route(path, _make_page_handler(*what)) for path, what in PAGE.items()]
    found += [
        Route("/enter", cases.sign_in, methods=["POST"]),
        Route("/info", cases.send_info, methods=["GET"]),
        Route("/cases", cases.send_cases, methods=["GET"]),
        Route("/cases", cases.take_case, methods=["POST"]),
        Route("/cases/{case}", cases.send_case, methods=["GET"]),
        Route("/cases/{case}", cases.remove_case, methods=["DELETE"]),
        Route("/cases/{case}/files", cases.take_more_files, methods=["POST"]),
        Route("/cases/{case}/files/{number:int}", cases.take_file, methods=["PUT"]),
        Route("/cases/{case}/start", cases.start_case, methods=["POST"]),
        Route("/cases/{case}/cancel", cases.cancel_case, methods=["POST"]),
        Route("/cases/{case}/name", cases.rename_case, methods=["POST"]),
        Route("/cases/{case}/incident", cases.set_incident, methods=["POST"]),
        Route("/cases/{case}/note", cases.send_note, methods=["GET"]),
        Route("/events", cases.send_events, methods=["GET"]),
    ]
    found += [
        Route(f"/cases/{{case}}/{name}", cases.make_result_handler(*what), methods=["GET"])
        for name, what in RESULTS.items()
    ]
    return found


class _Cases:
    """The routes of cases."""

    def __init__(self, serving: Serving) -> None:
        self._serving, self._config, self._uploads = serving, serving.manager, serving.uploads

    async def sign_in(self, request: Request) -> Response:
        """Give the cookie, and tell the path below which it is asked for, to who knows the token."""
        session = self._serving.session
        if not session.admits_token(request.headers.get("x-backline-token", "")):
            do = "Open the URL that `backline serve` printed."
            raise wire.Refusal(401, "the token is not that of this server", do=do)
        answer = wire.json_answer({"path": session.home})
        answer.headers["set-cookie"] = session.set_cookie()
        return answer

    async def send_info(self, request: Request) -> Response:
        """Tell what this server has: which pages the navigation shows."""
        del request
        return wire.json_answer({"archive": bool(self._serving.archive)})

    async def send_cases(self, request: Request) -> Response:
        """List the cases."""
        del request
        return wire.json_answer({"cases": [case.record() for case in self._config.list_cases()]})

    async def send_case(self, request: Request) -> Response:
        """Tell of one case."""
        return wire.json_answer(self._config.find_case(request.path_params["case"]).record())

    async def take_case(self, request: Request) -> Response:
        """Take a case that is announced; of a folder of many cases nothing is taken: the page asks what is meant."""
        bounds = self._serving.bounds
        asked = wire.new_case(await wire.read_json(request, bounds, bounds.json_bytes), bounds)
        if not asked.together and (many := await asyncio.to_thread(_find_many_cases, asked)).names:
            question = {"many": many.names, "kind": many.case_kind, "beside": many.beside[:50]}
            return wire.json_answer(question | {"archive": bool(self._serving.archive)})
        if asked.path is not None:
            case = self._config.add_case(asked.name, asked.path)
        else:
            sizes = [file.size for file in asked.files]
            self._uploads.check_room(sizes)
            case = self._config.add_case(asked.name, asked.files)
            self._uploads.expect_files(case.id, sizes)
        if asked.incident:
            self._config.set_incident(case.id, asked.incident)
        return wire.json_answer({"id": case.id}, 201)

    async def take_more_files(self, request: Request) -> Response:
        """Take more files of a case that is not read yet; tell the number of the first. What is here stays here."""
        bounds, case = self._serving.bounds, request.path_params["case"]
        asked = wire.new_case(await wire.read_json(request, bounds, bounds.json_bytes), bounds)
        if asked.path is not None:
            raise wire.Refusal(
                400, "the request is not understood", why="a path is a separate case"
            )
        sizes = [file.size for file in asked.files]
        self._uploads.check_room(sizes, case)
        first = self._config.add_files(case, asked.files)
        self._uploads.expect_more(case, sizes)
        return wire.json_answer({"first": first}, 201)

    async def take_file(self, request: Request) -> Response:
        """Take one file."""
        case, number = request.path_params["case"], request.path_params["number"]
        await self._uploads.receive_file(case, number, request)
        self._config.file_done(case, number)
        return wire.json_answer({})

    async def start_case(self, request: Request) -> Response:
        """Let the analysis begin when its turn comes."""
        case = request.path_params["case"]
        missing = self._uploads.count_missing(case)
        if missing:
            raise wire.Refusal(
                409, "the case still waits for files", why=f"{missing:,} are missing"
            )
        self._config.start_case(case)
        return wire.json_answer({})

    async def cancel_case(self, request: Request) -> Response:
        """Stop a case, also its uploads; the files of one that was whole stay for another try, and count."""
        case = request.path_params["case"]
        self._config.cancel_case(case)
        if self._uploads.count_missing(case):
            self._uploads.forget_case(case)
        return wire.json_answer({})

    async def rename_case(self, request: Request) -> Response:
        """Give a case another name and an SR number; tell its record."""
        data = await wire.read_json(request, self._serving.bounds)
        name, number = wire.read_title(data)
        case = await self._config.rename_case(request.path_params["case"], name, number)
        return wire.json_answer(case.record())

    async def set_incident(self, request: Request) -> Response:
        """Take when the trouble was; the case is read again with it. Tell its record."""
        data = await wire.read_json(request, self._serving.bounds)
        incident = wire.read_incident(data)
        return wire.json_answer(
            self._config.set_incident(request.path_params["case"], incident).record()
        )

    async def remove_case(self, request: Request) -> Response:
        """Forget a case and remove its files."""
        case = request.path_params["case"]
        self._config.remove_case(case)
        self._uploads.forget_case(case)
        return wire.json_answer({})

    async def send_events(self, request: Request) -> Response:
        """Send events as they come; a browser that lost the connection tells the last number it saw."""
        last = request.headers.get("last-event-id", "0")
        since = int(last) if last.isascii() and last.isdigit() and len(last) < 16 else 0
        return StreamingResponse(
            _stream_events(self._serving, since), media_type="text/event-stream"
        )

    async def send_note(self, request: Request) -> Response:
        """Send the note that fits a ticket, made of the case document."""
        document = await asyncio.to_thread(
            self._config.find_result, request.path_params["case"], "case.json"
        )
        return Response(await asyncio.to_thread(_render_note, document), media_type="text/markdown")

    async def _send_strict_page(self, case: str) -> Response:
        """Send the page for somebody else, to be saved under a name that does not tell the case."""
        document = await asyncio.to_thread(self._config.find_result, case, "case.json")
        page = await asyncio.to_thread(_render_strict_page, document)
        saved = attachment_header("redacted", "report.html")
        headers = {"content-security-policy": REPORT_POLICY, "content-disposition": saved}
        return Response(page, media_type="text/html", headers=headers)

    def make_result_handler(self, name: str, kind: str) -> Handler:
        """Return the handler that sends one kind of result."""

        async def send(request: Request) -> Response:
            case = request.path_params["case"]
            if name == "report.html" and request.query_params.get("redact") == "strict":
                return await self._send_strict_page(case)
            path = await asyncio.to_thread(
                self._config.find_result, case, name
            )  # a stored case is rendered first
            headers = {"content-security-policy": REPORT_POLICY}
            if request.query_params.get("download") == "1":
                headers["content-disposition"] = attachment_header(
                    self._config.find_case(case).record().get("name", ""), name
                )
            return FileResponse(path, media_type=kind, headers=headers)

        return send


def _find_many_cases(asked: wire.NewCase) -> ManyCases:
    """Return the folders and archives that are cases of their own in what is announced as one; none as a rule."""

    if asked.path is not None:
        return cases_below(asked.path)
    names = [file.name.replace("\\", "/") for file in asked.files]
    one_folder = len({name.partition("/")[0] for name in names}) == 1
    return (
        cases_among(name.partition("/")[2] for name in names) if one_folder else cases_among(names)
    )


def _render_note(document: Path) -> str:
    return short_note.render_short_note(case_file.read_case(document))


def _render_strict_page(document: Path) -> str:
    """Return the page of a case redacted as `--redact=strict` does; LeftNameError when a name would be left."""
    redaction = Redaction(strict=True)
    page = html.render_page(redaction.redact_document(case_file.read_case(document)))
    redaction.check_results({"report.html": page})
    return page


def attachment_header(case: str, name: str) -> str:
    """Return the header by which a browser saves a result; the name of the case is only a proposal."""
    plain = "".join(
        sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in case[:80]
    )
    return f'attachment; filename="{plain.strip("._") or "case"}-{quote(name)}"'


async def _stream_events(serving: Serving, since: int) -> AsyncIterator[bytes]:
    """Yield events, and a sign of life when there are none, until the server stops."""
    coming = aiter(serving.manager.follow_events(since))
    stop = asyncio.ensure_future(serving.stopping.wait())
    fetch: asyncio.Future[tuple[int, Mapping[str, Any]]] | None = None
    yield b"retry: 1000\n\n"
    try:
        while not stop.done():
            fetch = fetch or asyncio.ensure_future(_await_next(coming))
            done, _ = await asyncio.wait(
                (fetch, stop), timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED
            )
            if fetch in done:
                try:
                    number, data = fetch.result()
                except StopAsyncIteration:
                    return
                fetch = None
                yield wire.event_message(number, data)
            elif not done:
                yield b": still here\n\n"
    finally:
        stop.cancel()
        if fetch is not None:
            fetch.cancel()


async def _await_next(
    coming: AsyncIterator[tuple[int, Mapping[str, Any]]],
) -> tuple[int, Mapping[str, Any]]:
    return await anext(coming)


def _make_page_handler(name: str, kind: str) -> Handler:
    """Return the handler of one of the files of the page."""

    async def send(request: Request) -> Response:
        del request
        return Response(read_page_file(name), media_type=kind)

    return send


@contextlib.asynccontextmanager
async def _run_lifespan(serving: Serving) -> AsyncIterator[None]:
    """Remove abandoned cases while the server lives; end the analysis when it stops."""
    sweep = asyncio.create_task(_remove_abandoned(serving))
    try:
        yield
    finally:
        sweep.cancel()
        await serving.manager.close()


async def _remove_abandoned(serving: Serving) -> None:
    while True:
        await asyncio.sleep(CHECK_ABANDONED)
        for case in serving.uploads.list_abandoned():
            with contextlib.suppress(BacklineError):
                serving.manager.remove_case(case)
            serving.uploads.forget_case(case)


async def _answer_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, BacklineError)
    return wire.error_answer(error)


async def _answer_http_error(request: Request, error: Exception) -> Response:
    """Tell of an address or method that is not known, in our form."""
    assert isinstance(error, HTTPException)
    return wire.error_answer(
        wire.Refusal(error.status_code, error.detail.lower(), where=request.url.path)
    )


async def _answer_fault(request: Request, error: Exception) -> Response:
    """Tell of a fault of ours; what it says of our inside goes to the terminal only."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{request.method} {request.url.path}, {Path(place.filename).name}:{place.lineno}"
    sys.stderr.write(f"backline: {describe_fault(one_line(f'{where}: {error!r}', 500))}\n")
    do = "This is a fault of Backline, please report it with what the terminal shows."
    return wire.error_answer(wire.Refusal(500, "internal error", do=do))
