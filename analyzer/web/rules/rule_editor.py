"""The routes of the rule editor: the catalog, a rule judged while it is typed, a back-test over the archive.

GET  /rules                 all rules, with how often they matched in the archive
GET  /rules/text/<id>       the text of an installed rule; of `new` a skeleton
POST /rules/judge           {text, case}: verdicts, complaints, examples; `case` is the id of a case, or
                            `examples` for a rule that is judged over its own examples alone
POST /rules/backtest        {text, cases, since, until}: a line of JSON for each step, the report last
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from analyzer.archive.object_store.object_store import NotAnArchiveError
from analyzer.archive.object_store.opening import open_store
from analyzer.archive.query import ask, browse
from analyzer.archive.store import Archive
from analyzer.authoring.draft import skeleton
from analyzer.authoring.pages import listing
from analyzer.authoring.select import select_rules
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.text import one_line
from analyzer.web.cases.app import Serving
from analyzer.web.cases.web_case import Past, WebCase
from analyzer.web.guard import wire
from analyzer.web.guard.wire import Refusal
from analyzer.web.questions.library import run_aside
from analyzer.web.rules.preview_processes import PreviewProcesses

if TYPE_CHECKING:
    from analyzer.rules import Catalog
    from analyzer.rules.settings import Settings

TEXT_BYTES = 1 << 20  # of a request; a rule is a few kilobytes
LONGEST = 200_000  # characters of a rule
NEW = "new"  # stands for a rule that is to be written
EXAMPLES = "examples"  # stands for no case
SECONDS = 30.0  # of the question how often rules matched
_HITS = (
    'SELECT rule, sum("match"), count(*) FILTER ("match" > 0), count(*) FILTER (cannot_tell > 0), count(*)'
    " FROM verdicts GROUP BY rule"
)


def rule_routes(serving: Serving) -> list[BaseRoute]:
    """Return the routes of the rules."""
    room = RuleRoutes(serving)
    return [
        Route("/rules", room.send_rules, methods=["GET"]),
        Route("/rules/text/{rule}", room.send_text, methods=["GET"]),
        Route("/rules/judge", room.judge_text, methods=["POST"]),
        Route("/rules/backtest", room.run_backtest, methods=["POST"]),
    ]


class RuleRoutes:
    """The handlers."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._trials = PreviewProcesses(serving.place)
        self._closer: asyncio.Task[None] | None = None

    async def send_rules(self, request: Request) -> Response:
        """Tell of all rules."""
        del request
        return wire.json_answer(
            await run_aside(lambda: catalog_record(self._serving.archive, self._serving.how))
        )

    async def send_text(self, request: Request) -> Response:
        """Send the text of an installed rule, known by its id."""
        rule = str(request.path_params["rule"])
        return wire.json_answer(await run_aside(lambda: rule_text(rule, self._serving.how)))

    async def judge_text(self, request: Request) -> Response:
        """Judge a text over a case."""
        data = await self._read_request(request)
        case = data.get("case", "")
        order = self._find_case(case if isinstance(case, str) else "") | self._serving.how.record()
        self._watch_for_end()
        return wire.json_answer(
            await self._trials.judge_text(
                str(case), order, data["text"], lambda: _await_leaving(request)
            )
        )

    async def run_backtest(self, request: Request) -> Response:
        """Judge a text over all stored cases."""
        data = await self._read_request(request)
        if not self._serving.archive:
            do = "Start `backline serve --archive DIR`."
            raise Refusal(404, "this server has no archive to test a rule on", do=do)
        order = {name: str(data.get(name, ""))[:200] for name in ("cases", "since", "until")}
        await run_aside(lambda: _check_archive(self._serving.archive, order))
        self._watch_for_end()
        order |= {"archive": self._serving.archive, **self._serving.how.record()}
        coming = self._trials.run_backtest(order, data["text"])
        first = await anext(coming)  # a refusal is answered as one
        return StreamingResponse(_encode_lines(first, coming), media_type="application/x-ndjson")

    async def _read_request(self, request: Request) -> dict[str, Any]:
        data = await wire.read_json(request, self._serving.bounds, TEXT_BYTES)
        text = data.get("text")
        if not isinstance(text, str) or not text.strip():
            raise Refusal(400, "there is no rule to judge", do="Choose one, or type it.")
        if len(text) > LONGEST:
            raise Refusal(
                413, "the rule is too long", why=f"at most {LONGEST:,} characters are accepted"
            )
        return data

    def _find_case(self, case: str) -> dict[str, Any]:
        """Return where a case lies: dropped files, a path of this machine, the archive, or nowhere; Refusal (404)."""

        if case == EXAMPLES:
            return {"examples": True}
        found = self._serving.manager.find_case(case)
        if isinstance(found, Past):
            return {"stored": found.id, "archive": self._serving.archive}
        if not isinstance(found, WebCase):
            raise Refusal(404, "no such case")
        if found.result.get("opened"):
            why = "it was opened from its case.json, which has no rows for a rule to judge"
            raise Refusal(409, "no rule can be tried on this case", why=why, do="Drop the bundle.")
        if found.path is not None:
            return {"path": str(found.path)}
        if len(found.here) < len(found.files):
            raise Refusal(
                409, "the case still waits for files", do="Wait until all of them are here."
            )
        place = self._serving.place
        return {
            "files": [
                (file.name, str(place.find_file(found.id, number)), file.modified)
                for number, file in enumerate(found.files)
            ]
        }

    def _watch_for_end(self) -> None:
        if self._closer is None:
            self._closer = asyncio.create_task(self._close_at_stop())

    async def _close_at_stop(self) -> None:
        try:
            await self._serving.stopping.wait()
        finally:
            self._trials.close()


async def _await_leaving(request: Request) -> None:
    """Wait until the browser does not wait any more."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return


async def _encode_lines(
    first: dict[str, Any], coming: AsyncIterator[dict[str, Any]]
) -> AsyncIterator[bytes]:
    try:
        yield _encode_line(first)
        async for line in coming:
            yield _encode_line(line)
    finally:
        await coming.aclose()  # type: ignore[attr-defined]


def _encode_line(data: dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def _check_archive(archive: str, order: dict[str, Any]) -> None:
    """Refuse a time that is none, and an archive that is not there."""

    browse.parse_window(order["since"], order["until"])
    try:
        open_store(archive)
    except NotAnArchiveError:
        raise Refusal(
            404, "nothing is stored in the archive yet", do="Drop a case first."
        ) from None


# --- the catalog ---


def _load_catalog(how: RunOptions) -> tuple[Catalog, Settings]:
    local, _ = how.local()
    return select_rules(
        (), how.folders(), examples=False, local=local, tuned=True, retired=True
    ), local.settings


def catalog_record(archive: str, how: RunOptions) -> dict[str, Any]:
    """Return all rules with what they said in the archive; an archive that cannot be asked is a note."""

    catalog, settings = _load_catalog(how)
    hits, note = _count_hits(archive)
    rows = []
    for one in listing.list_rows(catalog, settings):
        said = hits.get(one.rule)
        names = ("findings", "cases", "untold", "judged")
        rows.append(
            {
                "rule": one.rule,
                "title": one_line(one.title, 300),
                "status": one.status,
                "kb": one.kb,
                "from": one_line(one.origin, 100),
                "tables": one.tables,
                "muted": [one_line(text, 300) for text in one.muted],
                "hits": dict(zip(names, said, strict=True)) if said else None,
            }
        )
    broken = [str(error)[:2000] for error in catalog.broken[:20]]
    return {"rules": rows, "broken": broken, "archive": bool(archive), "note": note}


def _count_hits(archive: str) -> tuple[dict[str, tuple[int, ...]], str]:
    """Return rule -> findings, cases with one, cases of which it cannot tell, cases it judged; and what went wrong."""
    if not archive:
        return {}, "To see how often they matched, give an archive: `backline serve --archive DIR`."

    try:
        answer = ask.run_sql(Archive.open(archive), _HITS, seconds=SECONDS)
        return {row[0]: tuple(int(cell or 0) for cell in row[1:]) for row in answer.rows}, ""
    except NotAnArchiveError:
        return {}, "Nothing is stored in the archive yet."
    except BacklineError as error:
        return {}, one_line(f"The archive cannot be searched: {error}", 500)


def rule_text(rule: str, how: RunOptions) -> dict[str, Any]:
    """Return the text of an installed rule, of `new` a skeleton; Refusal (404) for an id that none has."""
    if rule == NEW:
        return {
            "rule": NEW,
            "file": "",
            "status": "draft",
            "text": skeleton.write_skeleton("my-rule", title=""),
        }
    catalog, _ = _load_catalog(how)
    found = next((one for one in catalog.rules if one.id == rule), None)
    if found is None:
        raise Refusal(404, "there is no such rule", do="Choose one from the list.")
    name = Path(found.path).name if found.path else f"{found.id}.yaml"
    return {
        "rule": found.id,
        "file": one_line(name, 200),
        "status": found.status,
        "text": found.text.text,
    }
