"""The log drawer of the page: all lines around a moment, read from the files of a case by a process of its own.

All log lines are synthetic, in the forms of the logs they stand in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from analyzer.views.log_reading import MergedLine
from analyzer.web import log_lines
from analyzer.web.cases.app import Serving
from analyzer.web.cases.log_reader import list_nearest
from tests.kit.web_kit import client_of, serving_at
from tests.views.test_log_command import bundle, vmkernel

MOMENT = datetime(2017, 10, 14, 9, 12, tzinfo=UTC)


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    """A server without a network whose cases are folders."""
    return serving_at(tmp_path)


@pytest.fixture
def client(serving: Serving) -> Iterator[TestClient]:
    with client_of(serving, log_lines.log_routes) as made:
        yield made


def given(client: TestClient, folder: Path) -> str:
    identity: str = (
        client.post("/cases", json={"path": str(folder)}).raise_for_status().json()["id"]
    )
    return identity


def asked(client: TestClient, case: str, around: object) -> list[dict[str, Any]]:
    answer = client.get(f"/cases/{case}/log?around={around}")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_the_lines_around_a_moment_come_from_the_files_of_all_hosts(
    client: TestClient, serving: Serving
) -> None:
    """Ten minutes of a bundle and of a loose log, in order, with host and address; secrets are hidden; the end counts."""
    case = given(client, serving.place.folder)
    folder = serving.place.case_folder(case)
    bundle(
        folder / "host.tgz",
        {"vmkernel.log": "".join(vmkernel(minute) for minute in (1, 8, 12, 16, 40))},
    )
    loose = "2017-10-14T09:11:00Z info hostd[2099] [Originator@6876 sub=Default] Synthetic: password=hunter2\n"
    (folder / "hostd.log").write_text(loose, encoding="utf-8")

    *before, end = asked(client, case, MOMENT.timestamp())

    lines = [line for one in before if one["type"] == "lines" for line in one["lines"]]
    assert [line[1][11:16] for line in lines] == ["09:08", "09:11", "09:12", "09:16"]
    assert {line[2] for line in lines} >= {"esx7.lab.example"}
    assert {line[3] for line in lines} == {"vmkernel", "hostd"}
    assert lines[0][8].endswith("/var/run/log/vmkernel.log:2")
    assert "hunter2" not in json.dumps(before)
    assert (end["state"], end["shown"], end["lines"]) == ("done", 4, 4)
    assert any(one["type"] == "progress" and one["bytes"] for one in before)


def test_what_cannot_be_read_is_said(
    client: TestClient, serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No time, no case, a stored case, and a case without material: each is refused with its reason."""
    case = given(client, serving.place.folder)
    for wrong in ("", "now", "nan", "inf", "../../etc"):
        assert client.get(f"/cases/{case}/log", params={"around": wrong}).status_code == 400
    assert client.get(f"/cases/{'0' * 32}/log?around=1").status_code == 404
    (serving.place.case_folder(case) / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert asked(client, case, MOMENT.timestamp())[-1]["state"] == "failed"
    monkeypatch.setattr(
        serving.manager,
        "describe_material",
        lambda _case: {"name": "", "files": [], "path": "", "stored": True},
    )
    answer = client.get(f"/cases/{case}/log?around=1")
    assert (answer.status_code, answer.json()["error"]["why"]) == (
        404,
        "only its results are stored",
    )


@pytest.mark.parametrize(
    ("most", "minutes"),
    [(4, [10, 11, 12, 13]), (8, [8, 9, 10, 11, 12, 13, 14, 15]), (99, [*range(5, 20)])],
)
def test_of_too_many_lines_the_nearest_are_sent_and_all_are_taken(
    most: int, minutes: list[int]
) -> None:
    """Half of the lines lie before the moment, and the others are read to the end, so that they are counted."""
    taken = []

    def lines() -> Iterator[MergedLine]:
        for minute in range(5, 20):
            taken.append(minute)
            yield MergedLine(f"2017-10-14T09:{minute:02}:00Z", "", "", "", "", "", "", "", 1)

    assert [int(one.time[14:16]) for one in list_nearest(lines(), MOMENT, most)] == minutes
    assert taken == [*range(5, 20)]
