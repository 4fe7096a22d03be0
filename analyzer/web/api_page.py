"""The calls of the drag-in page as an OpenAPI document, for programs on this machine that drive the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from analyzer import __version__
from analyzer.case.document import CaseDocument
from analyzer.web import api_records as records
from analyzer.web.cases.app import RESULTS, Serving
from analyzer.web.guard import wire

_REFERENCE = "#/components/schemas/{name}"
_BLANK = re.compile(r"\{(\w+)\}")


class ApiCall(NamedTuple):
    """One call: method, path, what it does.

    answer    record of the answer, or several of which it is one; for x-ndjson that of each line; None for no JSON
    request   record of what is sent, None for nothing
    kind      of the answer
    query     parameters that must be given; optional: those that may be
    """

    method: str
    path: str
    summary: str
    answer: Any = None
    request: Any = None
    kind: str = "application/json"
    query: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


NDJSON, HTML, BYTES = "application/x-ndjson", "text/html", "application/octet-stream"
CALLS = (
    ApiCall(
        "POST",
        "/enter",
        "Sign in: header X-Backline-Token; sets the cookie, answers the secret `path`",
        records.Entered,
    ),
    ApiCall("GET", "/openapi.json", "This document", dict[str, Any]),
    ApiCall("GET", "/info", "What the server has", records.ServerInfo),
    ApiCall("GET", "/cases", "All cases of this start", records.CaseRows),
    ApiCall(
        "POST",
        "/cases",
        "Announce a case: its name and files, or a path of this machine",
        (records.CaseTaken, records.ManyAsked),
        records.CaseToTake,
    ),
    ApiCall("GET", "/cases/{case}", "One case and its state", records.ApiCaseRow),
    ApiCall("DELETE", "/cases/{case}", "Forget a case and remove its files", records.ApiNothing),
    ApiCall(
        "POST",
        "/cases/{case}/files",
        "Announce more files of a case that is not read yet",
        records.FilesTaken,
        records.FilesToSend,
    ),
    ApiCall(
        "PUT",
        "/cases/{case}/files/{number}",
        "Send the bytes of one file",
        records.ApiNothing,
        BYTES,
    ),
    ApiCall(
        "POST",
        "/cases/{case}/start",
        "Let the analysis begin when its turn comes",
        records.ApiNothing,
    ),
    ApiCall("POST", "/cases/{case}/cancel", "Stop a case, also its uploads", records.ApiNothing),
    ApiCall(
        "POST",
        "/cases/{case}/name",
        "Give a case that was read a name and an SR number",
        records.ApiCaseRow,
        records.CaseTitle,
    ),
    ApiCall(
        "POST",
        "/cases/{case}/incident",
        "Say when the trouble was; the report is made anew",
        records.ApiCaseRow,
        records.IncidentTime,
    ),
    ApiCall(
        "POST",
        "/cases/{case}/draft",
        "Draft a rule from a line of a case",
        records.RuleDraft,
        records.LineAddress,
    ),
    ApiCall("GET", "/cases/{case}/note", "The note that fits a ticket", kind="text/markdown"),
    ApiCall(
        "GET",
        "/cases/{case}/log",
        "Lines of all logs around a moment, seconds since 1970",
        records.ApiLogAnswer,
        kind=NDJSON,
        query=("around",),
    ),
    ApiCall("GET", "/events", "Events as they come", kind="text/event-stream"),
    ApiCall(
        "POST",
        "/comparisons",
        "Compare cases; answers when it is done",
        records.CaseTaken,
        records.CasesToCompare,
    ),
    ApiCall(
        "GET",
        "/comparisons/{id}/{name}",
        "A result of a comparison: compare.html, compare.md or compare.json",
        kind=HTML,
        optional=("download",),
    ),
    ApiCall("GET", "/rules", "The rules of the catalog", records.RuleRows),
    ApiCall("GET", "/rules/text/{rule}", "The text of one rule", records.ApiRuleText),
    ApiCall(
        "POST", "/rules/judge", "Try the text of a rule", records.RuleVerdict, records.RuleToJudge
    ),
    ApiCall(
        "POST",
        "/rules/backtest",
        "Try the text of a rule on stored cases",
        records.BacktestAnswer,
        records.RuleToTest,
        NDJSON,
    ),
    ApiCall("GET", "/archive", "What the archive holds", records.ArchiveCounts),
    ApiCall(
        "GET",
        "/archive/search",
        "Search the archive",
        records.ArchiveAnswer,
        optional=(
            "q",
            "since",
            "until",
            "severity",
            "state",
            "by",
            "order",
            "unknown",
            "most",
        ),
    ),
    ApiCall("GET", "/archive/tables", "The tables that can be asked", records.TableRows),
    ApiCall("GET", "/archive/facets", "What stored cases can be filtered by", records.ApiFacets),
    ApiCall("GET", "/archive/heatmap", "The map of findings by month", kind=HTML),
    ApiCall("GET", "/archive/cases/{case}", "One stored case", records.StoredCase),
    ApiCall("DELETE", "/archive/cases/{case}", "Remove a stored case", records.CasesRemoved),
    ApiCall(
        "POST",
        "/archive/cases/{case}/labels",
        "Confirm or refuse a finding of a stored case",
        records.StoredCase,
        records.LabelToSet,
    ),
    ApiCall("GET", "/help/{name}", "A page of the documentation", kind=HTML),
)


def list_calls(results: Mapping[str, str], *, archived: bool) -> list[ApiCall]:
    """Return the calls of a server: CALLS, those below /archive where it has one, and the results of a case.

    results   name of the address of a result -> its media type
    """
    calls = [call for call in CALLS if archived or not call.path.startswith("/archive")]
    for name, kind in results.items():
        answer = CaseDocument if name == "case.json" else None
        path = f"/cases/{{case}}/{name}"
        summary = f"The result `{name}`"
        calls.append(ApiCall("GET", path, summary, answer, kind=kind, optional=("download",)))
    return calls


def make_openapi(results: Mapping[str, str], *, archived: bool) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of `list_calls`, with the schemas of their records."""
    calls = list_calls(results, archived=archived)
    kinds = [records.ApiRefused]
    for call in calls:
        kinds += [*_list_kinds(call.answer), *_list_kinds(call.request)]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    by_kind = list(zip(kinds, schemas, strict=True))
    paths: dict[str, Any] = {}
    for call in calls:
        names = [(name, "path", True) for name in _BLANK.findall(call.path)]
        names += [(name, "query", True) for name in call.query]
        names += [(name, "query", False) for name in call.optional]
        parameters = [
            {"name": name, "in": place, "required": required, "schema": {"type": "string"}}
            for name, place, required in names
        ]
        answers = {
            "2XX": {
                "description": _describe_answer(call),
                "content": {call.kind: _find_schema(by_kind, call.answer)},
            },
            "4XX": {
                "description": "Refused: `error` says what, why and what to do",
                "content": {"application/json": _find_schema(by_kind, records.ApiRefused)},
            },
        }
        described = {"summary": call.summary, "parameters": parameters, "responses": answers}
        if call.request is not None:
            kind = BYTES if call.request == BYTES else "application/json"
            content = {kind: _find_schema(by_kind, call.request)}
            described["requestBody"] = {"required": True, "content": content}
        paths.setdefault(call.path, {})[call.method.lower()] = described
    info = {"title": "backline serve", "version": __version__}
    return {
        "openapi": "3.1.0",
        "info": info,
        "paths": paths,
        "components": {"schemas": components},
    }


def _find_schema(by_kind: list[tuple[Any, dict[str, Any]]], kind: Any) -> dict[str, Any]:
    wanted = _list_kinds(kind)
    schemas = [schema for known, schema in by_kind if known in wanted]
    if len(wanted) > 1:
        return {"schema": {"anyOf": schemas}}
    return {"schema": schemas[0]} if schemas else {}


def _list_kinds(kind: Any) -> list[Any]:
    """Return the records of an answer or of a request; bytes have none."""
    if kind is None or kind == BYTES:
        return []
    return list(kind) if isinstance(kind, tuple) else [kind]


def _describe_answer(call: ApiCall) -> str:
    return "Done; the schema is that of each line" if call.kind == NDJSON else "Done"


def api_routes(serving: Serving) -> list[BaseRoute]:
    """Return the route of the document."""
    made = make_openapi(
        {name: kind for name, (_, kind) in RESULTS.items()}, archived=bool(serving.archive)
    )

    async def send(request: Request) -> Response:
        del request
        return wire.json_answer(made)

    return [Route("/openapi.json", send, methods=["GET"])]
