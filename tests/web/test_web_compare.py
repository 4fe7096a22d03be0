"""Comparing two cases of the drag-in page: a process of its own does it, and the result is served apart from the page."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from analyzer.archive.store import Archive
from analyzer.web import comparisons
from analyzer.web.cases.app import REPORT_POLICY, Serving
from analyzer.web.cases.comparer import compare_sides
from analyzer.web.cases.order_process import finish_order
from analyzer.web.cases.progress_writer import ProgressWriter
from tests.kit.archive_kit import put, sample
from tests.kit.web_kit import client_of, serving_at

CASES = Path(__file__).resolve().parents[2] / "samples" / "cases"


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    """A server without a network whose cases are folders."""
    return serving_at(tmp_path)


@pytest.fixture
def client(serving: Serving) -> Iterator[TestClient]:
    with client_of(serving, comparisons.comparison_routes) as made:
        yield made


def given(client: TestClient, serving: Serving, name: str) -> str:
    """Take a sample as a case of the page; return its id."""
    announced = client.post("/cases", json={"path": str(CASES / name)}).raise_for_status()
    identity: str = announced.json()["id"]
    shutil.copytree(CASES / name, serving.place.case_folder(identity), dirs_exist_ok=True)
    return identity


@pytest.mark.process
def test_two_cases_become_a_page(client: TestClient, serving: Serving) -> None:
    """The conclusion of the lab stands on the page, which gets an origin of its own; JSON and Markdown lie beside it."""
    both = [given(client, serving, name) for name in ("lab-ring-before", "lab-ring-after")]
    answer = client.post("/comparisons", json={"cases": both})
    assert answer.status_code == 201, answer.text
    page = client.get(f"/comparisons/{answer.json()['id']}/compare.html")
    assert page.status_code == 200
    assert "Only ring #2 still runs full" in page.text
    assert page.headers["content-security-policy"] == REPORT_POLICY
    made = client.get(f"/comparisons/{answer.json()['id']}/compare.json?download=1")
    assert made.json()["schema"] == "backline/compare-1"
    assert "attachment" in made.headers["content-disposition"]


@pytest.mark.parametrize(
    "asked", [{}, {"cases": ["a" * 32]}, {"cases": [1, 2]}, {"cases": "ab"}, {"cases": ["a"] * 99}]
)
def test_a_request_that_names_no_two_cases_is_refused(
    client: TestClient, asked: dict[str, Any]
) -> None:
    """400, and nothing is started."""
    assert client.post("/comparisons", json=asked).status_code == 400


def test_a_case_that_is_not_here_is_told(client: TestClient, serving: Serving) -> None:
    """404 for a case nobody knows, for a comparison that was never made, and for a file that is none of its own."""
    one = given(client, serving, "lab-ring-before")
    assert client.post("/comparisons", json={"cases": [one, "b" * 32]}).status_code == 404
    assert client.get(f"/comparisons/{'c' * 32}/compare.html").status_code == 404
    assert client.get("/comparisons/../compare.html").status_code in (400, 404)
    assert (
        client.post("/comparisons", json={"cases": [one, one]})
        .json()["error"]["what"]
        .startswith("a case cannot")
    )


@pytest.mark.process
def test_a_case_is_compared_with_a_path_and_with_a_stored_case(
    client: TestClient, serving: Serving, tmp_path: Path
) -> None:
    """What is not on the page: a path of this machine, or a case of the archive by its name, with its rows."""
    archive = Archive.open(str(tmp_path / "archive"), create=True)
    put(archive, "lab-ring-after", sample("lab-ring-after"))
    serving.archive = str(tmp_path / "archive")
    before = given(client, serving, "lab-ring-before")
    for place in (str(CASES / "lab-ring-after"), "lab-ring-after"):
        answer = client.post("/comparisons", json={"cases": [before, {"place": place}]})
        assert answer.status_code == 201, answer.text
        page = client.get(f"/comparisons/{answer.json()['id']}/compare.html")
        assert "Only ring #2 still runs full" in page.text

    unknown = client.post("/comparisons", json={"cases": [before, {"place": "no-such-case"}]})
    assert (unknown.status_code, "no-such-case" in unknown.text) == (422, True)
    gone = client.post("/comparisons", json={"cases": [before, {"place": str(tmp_path / "gone")}]})
    assert (gone.status_code, gone.json()["error"]["what"]) == (
        404,
        "there is nothing at this path",
    )
    for odd in ({"place": ""}, {"place": 7}, {"path": "x"}, {"place": "x" * 5000}):
        assert client.post("/comparisons", json={"cases": [before, odd]}).status_code == 400


def test_strangers_do_not_compare(serving: Serving) -> None:
    """Without the cookie nothing is compared and nothing is shown."""
    with client_of(serving, comparisons.comparison_routes, signed_in=False) as client:
        assert client.post("/comparisons", json={"cases": ["a", "b"]}).status_code in (
            401,
            403,
            404,
        )


def test_what_fails_is_told_by_the_process(tmp_path: Path) -> None:
    """A side that cannot be read gives the last line a reason; nothing is written."""
    empty = tmp_path / "empty"
    empty.mkdir()
    sides = [
        {"name": "", "files": [], "path": str(path)} for path in (empty, CASES / "lab-ring-after")
    ]
    order = {"sides": sides, "out": str(tmp_path / "out")}
    said = finish_order(compare_sides, order, ProgressWriter(io.BytesIO()), "the comparison failed")
    assert said["state"] == "failed"
    assert "nothing could be read" in said["error"]["what"]
    assert not (tmp_path / "out").exists()


def test_dropped_files_keep_their_names(tmp_path: Path) -> None:
    """Uploaded files are numbers on the disk; the comparison names them as they were dropped."""
    sides = []
    for name in ("lab-ring-before", "lab-ring-after"):
        files = []
        for number, file in enumerate(sorted((CASES / name).glob("*.txt"))):
            stored = tmp_path / f"{name}-{number}"
            stored.write_bytes(file.read_bytes())
            files.append((file.name, str(stored), None))
        sides.append({"name": f"case {name}", "files": files, "path": ""})
    order = {"sides": sides, "out": str(tmp_path / "out")}
    assert compare_sides(order, ProgressWriter(io.BytesIO())) == {"state": "done"}
    made = json.loads((tmp_path / "out" / "compare.json").read_text(encoding="utf-8"))
    assert [side["name"] for side in made["sides"]] == [
        "case lab-ring-before",
        "case lab-ring-after",
    ]
    assert {place["address"] for one in made["counters"] for place in one["at"]} == {
        "esx0.txt",
        "receiver.txt",
        "sender.txt",
    }
