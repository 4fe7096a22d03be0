"""The OpenAPI document of the page: it names every route and no other, and each documented call is answered."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from starlette.routing import Route

from analyzer.web import api_page, comparisons, help_pages, log_lines
from analyzer.web.cases.app import PAGE, case_routes
from analyzer.web.questions import library
from analyzer.web.rules import rule_editor
from tests.kit.page_kit import SAMPLES, Served, served
from tests.kit.web_kit import PATIENCE, client_of, serving_at

ROUTES = (
    library.library_routes,
    rule_editor.rule_routes,
    comparisons.comparison_routes,
    log_lines.log_routes,
    help_pages.help_routes,
    api_page.api_routes,
)


@pytest.mark.parametrize("archive", ["", "archive"])
def test_each_documented_call_is_a_route_and_is_answered(tmp_path: Path, archive: str) -> None:
    """The document and the routes are the same set; a client gets an answer of ours to each call, and no fault."""
    serving = serving_at(tmp_path)
    serving.archive = archive and str(tmp_path / archive)
    routes = set()
    for make in (case_routes, *ROUTES):
        for route in make(serving):
            assert isinstance(route, Route)
            if route.path not in PAGE:
                path = re.sub(r":\w+}", "}", route.path)
                routes |= {(method, path) for method in (route.methods or set()) - {"HEAD"}}
    with client_of(serving, *ROUTES) as client:
        document = client.get("/openapi.json").raise_for_status().json()
        calls = {
            (method.upper(), path) for path, one in document["paths"].items() for method in one
        }
        assert calls == routes
        if archive:  # its calls are asked by test_web_library
            calls = {one for one in calls if not one[1].startswith("/archive")}
        for method, path in sorted(calls - {("GET", "/events"), ("POST", "/enter")}):
            given = re.sub(r"{\w+}", "0", path)
            answer = client.request(method, given)
            assert answer.status_code not in (405, 500), (method, path, answer.text)


class Caller:
    """A client of a served page that holds each answer to the schema that the page documents for its call."""

    def __init__(self, server: Served) -> None:
        origin, _, token = server.url.partition("/#")
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
        self._client = httpx.Client(base_url=origin, headers=headers, timeout=120)
        self._document: dict[str, Any] = {}
        self.made: set[tuple[str, str]] = set()
        entered = self._client.post("/enter", headers={"X-Backline-Token": token})
        self._client.base_url = origin + entered.raise_for_status().json()["path"]
        self._document = self._client.get("/openapi.json").json()
        self.check("POST", "/enter", entered)
        self.call("GET", "/openapi.json")

    @property
    def documented(self) -> set[tuple[str, str]]:
        """Every call of the document."""
        paths = self._document["paths"]
        return {(method.upper(), path) for path, one in paths.items() for method in one}

    def call(self, method: str, path: str, sent: Any = None, **blanks: Any) -> Any:
        """Make a call, hold what is sent and answered to its schemas; return the answer: JSON, its lines, or text."""
        described = self._document["paths"][path][method.lower()]
        query = blanks.pop("query", {})
        allowed = {one["name"] for one in described["parameters"] if one["in"] == "query"}
        assert query.keys() <= allowed
        body = described.get("requestBody", {}).get("content", {})
        more: dict[str, Any] = {}
        if isinstance(sent, bytes):
            assert "application/octet-stream" in body
            more["content"] = sent
        elif sent is not None:
            self._validate(sent, body["application/json"]["schema"])
            more["json"] = sent
        at = path.format(**blanks)
        return self.check(method, path, self._client.request(method, at, params=query, **more))

    def check(self, method: str, path: str, answer: httpx.Response) -> Any:
        """Hold an answer to what its call documents; return it."""
        responses = self._document["paths"][path][method.lower()]["responses"]
        content = responses[f"{answer.status_code // 100}XX"]["content"]
        kind = answer.headers["content-type"].partition(";")[0]
        if path.endswith("{name}"):  # the name decides
            assert answer.is_success
        else:
            assert kind in content, (method, path, kind, answer.text[:300])
        if answer.is_success:
            self.made.add((method, path))
        schema = content.get(kind, {}).get("schema")
        if kind == "application/x-ndjson":
            lines = [json.loads(line) for line in answer.text.splitlines()]
            for line in lines:
                self._validate(line, schema)
            return lines
        if kind != "application/json":
            return answer.text
        if schema:
            self._validate(answer.json(), schema)
        return answer.json()

    def _validate(self, value: Any, schema: Any) -> None:
        whole = {**schema, "components": self._document["components"]}
        error = best_match(Draft202012Validator(whole).iter_errors(value))
        assert error is None, error.message[:500] if error else ""

    def wait_until_read(self, case: str) -> dict[str, Any]:
        """Wait for the end of a case; return its row."""
        end = time.monotonic() + PATIENCE
        while True:
            row: dict[str, Any] = self.call("GET", "/cases/{case}", case=case)
            if row["state"] in ("done", "partial"):
                return row
            assert time.monotonic() < end, row
            time.sleep(0.1)


@pytest.mark.process
def test_a_client_makes_each_documented_call_and_gets_what_is_documented(tmp_path: Path) -> None:
    """From the sign-in to the removal of a stored case; requests and answers have the schemas of the document."""
    (bundle,) = (SAMPLES / "slow-storage").glob("*.tgz")
    data = bundle.read_bytes()
    file = {"name": bundle.name, "size": len(data)}
    rule = "storage-latency-over-a-second"
    with served(tmp_path / "work", "--archive", str(tmp_path / "archive")) as server:
        caller = Caller(server)
        call = caller.call
        assert call("GET", "/info")["archive"]
        case = call("POST", "/cases", {"name": "mine", "files": [file], "incident": "15:17"})["id"]
        assert call("POST", "/cases/{case}/files", {"files": [file]}, case=case)["first"] == 1
        for number in (0, 1):
            call("PUT", "/cases/{case}/files/{number}", data, case=case, number=number)
        call("POST", "/cases/{case}/start", case=case)
        row = caller.wait_until_read(case)
        assert row["incident"] == "2017-10-14T15:17:00Z"
        assert call("POST", "/cases/{case}/name", {"name": "b", "sr": "1"}, case=case)["sr"] == "1"
        refused = call("POST", "/cases/{case}/name", {"name": ""}, case=case)
        assert refused["error"]["what"] == "the case needs a name"
        for name in ("note", "report", "report.md"):
            assert "ATS miscompares" in call("GET", f"/cases/{{case}}/{name}", case=case)
        assert call("GET", "/cases/{case}/case.json", case=case)["findings"]
        around = {"around": "1507993800"}
        assert call("GET", "/cases/{case}/log", case=case, query=around)[-1]["state"] == "done"
        address = f"{bundle.name}!{bundle.stem}/var/run/log/vobd.log:3"
        draft = call("POST", "/cases/{case}/draft", {"address": address}, case=case)
        assert "rule: my-rule" in draft["text"]
        many = tmp_path / "many"
        for host in (f"case-{number}" for number in range(6)):
            (many / host).mkdir(parents=True)
            (many / host / bundle.name).write_bytes(data)
        assert call("POST", "/cases", {"path": str(many)})["many"]
        other = call("POST", "/cases", {"path": str(bundle)})["id"]
        call("POST", "/cases/{case}/start", case=other)
        call("POST", "/cases/{case}/cancel", case=other)
        call("POST", "/cases/{case}/incident", {"incident": ""}, case=other)
        call("DELETE", "/cases/{case}", case=other)
        assert call("GET", "/cases")["cases"]
        text = call("GET", "/rules/text/{rule}", rule=rule)["text"]
        assert call("GET", "/rules")["rules"]
        shown = call("POST", "/rules/judge", {"text": text, "case": case})["shown"]
        assert shown["counts"] == {"match": 1}
        assert call("POST", "/rules/backtest", {"text": text})[-1]["report"]["judged"] == 1
        assert call("GET", "/archive")["cases"] == 1
        for question in ({"q": rule}, {"severity": "major", "order": "worst"}, {"q": "no.table:"}):
            assert call("GET", "/archive/search", query=question)
        for name in ("tables", "facets", "heatmap"):
            assert call("GET", f"/archive/{name}")
        stored = row["stored"]
        label = {"rule": rule, "label": "confirmed", "note": "seen"}
        assert call("POST", "/archive/cases/{case}/labels", label, case=stored)["labels"]
        assert call("GET", "/archive/cases/{case}", case=stored)["no_log"] != ""
        pair = {"cases": [case, {"place": stored}]}
        made = call("POST", "/comparisons", pair)["id"]
        assert call("GET", "/comparisons/{id}/{name}", id=made, name="compare.html")
        assert call("GET", "/help/{name}", name="page")
        assert call("DELETE", "/archive/cases/{case}", case=stored)["gone"] == [stored]
        assert caller.documented - caller.made == {("GET", "/events")}  # test_web_desk follows them
