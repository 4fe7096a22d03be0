"""The log drawer of the page: all lines around a moment, read from the files of a case by a process of its own.

All log lines are synthetic, in the forms of the logs they stand in.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from analyzer.case.document import GivenFile
from analyzer.cli import main
from analyzer.views.log_reading import MergedLine, list_nearest
from analyzer.web import log_lines
from analyzer.web.cases.app import Serving
from analyzer.web.cases.original_files import find_files_beside
from analyzer.web.guard.wire import Refusal
from tests.kit.case_factory import rich_case
from tests.kit.web_kit import client_of, serving_at
from tests.views.test_log_command import bundle, vmkernel

ROOT = Path(__file__).resolve().parents[2]
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


def test_what_cannot_be_read_is_said(client: TestClient, serving: Serving) -> None:
    """No time, no case, and a case without material: each is refused with its reason."""
    case = given(client, serving.place.folder)
    for wrong in ("", "now", "nan", "inf", "../../etc"):
        assert client.get(f"/cases/{case}/log", params={"around": wrong}).status_code == 400
    assert client.get(f"/cases/{'0' * 32}/log?around=1").status_code == 404
    (serving.place.case_folder(case) / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert asked(client, case, MOMENT.timestamp())[-1]["state"] == "failed"


@pytest.mark.parametrize("how", ["stored", "opened"])
def test_the_logs_of_a_case_read_before_come_from_where_its_files_still_are(
    client: TestClient, serving: Serving, tmp_path: Path, how: str
) -> None:
    """Of a stored case and of a case.json beside its material; files that changed or went are named, with the reason."""
    case = given(client, serving.place.folder)
    material = tmp_path / "material" / "host.tgz"
    material.parent.mkdir()
    bundle(material, {"vmkernel.log": vmkernel(12)})
    results = material.parent / "out"
    document = CliRunner().invoke(main, ["triage", str(material), "-o", str(results), "--quiet"])
    assert document.exit_code == 0, document.output
    known = {"name": "", "files": [], "path": str(results / "case.json"), how: True}
    known |= {"source": str(material)} if how == "stored" else {"beside": str(results)}
    serving.manager.describe_material = lambda _case: known  # type: ignore[method-assign]

    def refused() -> str:
        answer = client.get(f"/cases/{case}/log?around={MOMENT.timestamp()}")
        assert answer.status_code == 404
        return str(answer.json()["error"]["why"])

    lines, end = asked(client, case, MOMENT.timestamp())[-2:]
    assert (end["shown"], lines["lines"][0][2]) == (1, "esx7.lab.example")
    material.write_bytes(material.read_bytes() + b"more")
    assert f"{material} was changed since" in refused()
    material.unlink()
    assert refused() == f"{material} is not there"
    for gone in ({"source": "dropped:1"}, {"source": "s3://b/x.tgz"}, {"source": ""}):
        known |= gone | {"beside": ""}
        assert refused()


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "", "a\0b"])
def test_a_name_in_a_document_leads_out_of_no_folder(tmp_path: Path, name: str) -> None:
    """A case.json is what somebody sent: its names are looked for below its own place only."""
    document = rich_case()
    document.case.files = [GivenFile(name=name, size=None, sha256="")]
    with pytest.raises(Refusal, match="not here"):
        find_files_beside(document, tmp_path / "out" / "case.json")


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


def test_a_rule_is_drafted_from_a_line_of_a_case(client: TestClient, serving: Serving) -> None:
    """The draft of `rules new --from-lines`, names masked; an address that is none of the case is refused."""
    case = given(client, serving.place.folder)
    folder = serving.place.case_folder(case)
    sample = ROOT / "samples" / "cases" / "slow-storage"
    (member,) = sample.glob("*.tgz")
    shutil.copy(member, folder)
    answer = client.post(f"/cases/{case}/draft", json={"address": "vobd.log:3"})
    assert answer.status_code == 200, answer.text
    text = answer.json()["text"]
    assert "\nrule: my-rule\n" in text
    assert "examples:" in text
    assert "esx71.lab.example" not in text
    for wrong, status in (("no-such.log:3", 422), ("vobd.log", 422), (7, 400), ("x" * 6000, 400)):
        refused = client.post(f"/cases/{case}/draft", json={"address": wrong})
        assert refused.status_code == status, wrong
        assert refused.json()["error"]["what"]
