"""Uploads of the drag-in page: streamed to numbered files with flat memory, bounded, and never half."""

from __future__ import annotations

import contextlib
import errno
import json
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.web.cases import upload
from analyzer.web.cases.upload import Uploads
from analyzer.web.guard import wire
from analyzer.web.guard.bounds import MIB, Bounds
from analyzer.web.guard.wire import Refusal, new_case
from tests.kit.web_kit import PATIENCE, Process, Running, ask, client_of, serving_at, status_of

FREE = Bounds(reserve=0, stop=1)
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")


def files_of(running: Running) -> dict[str, int]:
    """Return what lies in the private folder: names below it and sizes, without the lock."""
    folder = running.serving.place.folder
    found = {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file()
    }
    found.pop("lock")
    return found


def wait_until(true: Any) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# --- what is announced ---

WRONG: list[tuple[Any, int]] = [
    ({}, 400), ({"files": []}, 400), ({"files": {}}, 400), ({"files": [1]}, 400), ({"files": [{"name": "x"}]}, 400),
    ({"files": [{"name": 1, "size": 1}]}, 400), ({"files": [{"name": "x", "size": -1}]}, 400),
    ({"files": [{"name": "x", "size": True}]}, 400), ({"files": [{"name": "x", "size": 1.5}]}, 400),
    ({"files": [{"name": "x", "size": "1"}]}, 400), ({"name": 5, "files": [{"name": "x", "size": 1}]}, 400),
    ({"path": "relative/x"}, 400), ({"path": ""}, 400), ({"path": "/x\0y"}, 400), ({"path": 5}, 400),
    ({"path": "/x", "files": []}, 400), ({"files": [{"name": "a/" * 65 + "x", "size": 1}]}, 400),
    ({"files": [{"name": "x", "size": 101}]}, 413), ({"files": [{"name": "x", "size": 60}] * 3}, 413),
    ({"files": [{"name": "x", "size": 1}] * 11}, 413), ({"files": [{"name": "x", "size": 10**400}]}, 413),
]  # fmt: skip
SMALL = replace(FREE, file_bytes=100, case_bytes=150, server_bytes=200, files=10, waiting=2)


@pytest.mark.parametrize(("data", "status"), WRONG, ids=range(len(WRONG)))
def test_what_makes_no_sense_is_not_taken(tmp_path: Path, data: Any, status: int) -> None:
    """An announcement that is wrong or too large is refused with a reason, and no case comes of it."""
    serving = serving_at(tmp_path, bounds=SMALL)
    with client_of(serving) as client:
        answer = client.post("/cases", json=data)
        assert answer.status_code == status
        assert answer.json()["error"]["why"] or answer.json()["error"]["do"]
        assert client.get("/cases").json() == {"cases": []}
        assert [path.name for path in serving.place.folder.iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("bound", "value"), [("file_bytes", 1000), ("case_bytes", 1000), ("server_bytes", 1000), ("files", 1000),
                         ("waiting", 1000)],
)  # fmt: skip
def test_each_bound_is_what_refuses(tmp_path: Path, bound: str, value: int) -> None:
    """Of five announcements each breaks one bound; with that bound raised it is taken, so each bound works alone."""
    loose = replace(
        FREE,
        **dict.fromkeys(("file_bytes", "case_bytes", "server_bytes", "files", "waiting"), 10**6),
    )
    tight = {
        "file_bytes": [101],
        "case_bytes": [60, 60, 60],
        "server_bytes": [90],
        "files": [1] * 11,
        "waiting": [1],
    }
    bounds = replace(loose, **{bound: getattr(SMALL, bound)})
    before = [[90], [90]] if bound in ("server_bytes", "waiting") else []
    for allowed, status in (
        (bounds, 413 if bound != "waiting" else 429),
        (replace(bounds, **{bound: value}), 201),
    ):
        with client_of(serving_at(tmp_path, bounds=allowed)) as client:
            for sizes in before:
                assert client.post("/cases", json=announced(sizes)).status_code == 201
            assert client.post("/cases", json=announced(tight[bound])).status_code == status


def announced(sizes: list[int]) -> dict[str, Any]:
    """Return an announcement of files of these sizes."""
    return {
        "name": "case",
        "files": [{"name": f"{n}.log", "size": size} for n, size in enumerate(sizes)],
    }


def test_a_removed_case_makes_room(tmp_path: Path) -> None:
    """What a removed case held counts no longer, and its folder is gone."""
    serving = serving_at(tmp_path, bounds=SMALL)
    with client_of(serving) as client:
        first = client.post("/cases", json=announced([100])).json()["id"]
        assert client.post("/cases", json=announced([90])).status_code == 201
        assert client.post("/cases", json=announced([90])).status_code == 413
        assert client.delete(f"/cases/{first}").status_code == 200
        assert not serving.place.case_folder(first).exists()
        assert client.post("/cases", json=announced([90])).status_code == 201


JSON_ATTACKS = [
    (
        b'{"files":[{"name":"x","size":1}]}',
        "text/plain",
        415,
    ),  # what a form of another page could send
    (b"[" * 100_000, "application/json", 400),
    (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "application/json", 400),
    (b"[]", "application/json", 400),
    (b"", "application/json", 400),
    (b"\xff\xfe", "application/json", 400),
    (b'{"files":[{"name":"x","size":' + b"9" * 5000 + b"}]}", "application/json", 400),
    (b'{"files":[{"name":"x","size":NaN}]}', "application/json", 400),
    (b'{"name":"' + b"a" * 300_000 + b'"}', "application/json", 413),
]


@pytest.mark.parametrize(("body", "kind", "status"), JSON_ATTACKS, ids=range(len(JSON_ATTACKS)))
@pytest.mark.parametrize("told", [True, False], ids=["length told", "chunked"])
def test_hostile_json_is_refused(
    tmp_path: Path, body: bytes, kind: str, status: int, told: bool
) -> None:
    """Nested, long, wrong or mistyped JSON gets one plain refusal, whether its length is told or not."""
    with client_of(serving_at(tmp_path, bounds=replace(FREE, json_bytes=200_000))) as client:
        content: Any = body if told else iter([body[:10], body[10:]])
        answer = client.post("/cases", content=content, headers={"content-type": kind})
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"what", "where", "why", "do"}


@pytest.mark.size
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) |
                    st.dictionaries(st.sampled_from(["name", "files", "size", "path", "modified"]), inner)))  # fmt: skip
def test_any_json_is_a_case_or_a_refusal(data: Any) -> None:
    """No JSON at all leads to another exception, and what is taken can be written as UTF-8."""
    try:
        case = new_case(data if isinstance(data, dict) else {"files": data}, FREE)
    except Refusal as refusal:
        assert refusal.status in (400, 413)
    else:
        for text in (case.name, *(file.name for file in case.files)):
            text.encode()


def test_half_a_surrogate_in_a_name_is_replaced() -> None:
    """JSON can carry names that no encoding can write; they are taken with a sign of replacement."""
    data = json.loads(
        '{"name": "\\ud800x", "files": [{"name": "a\\udc80/b", "size": 1, "modified": 5}]}'
    )
    case = new_case(data, FREE)
    assert (case.name, case.files[0].name, case.files[0].modified) == ("\ufffdx", "a\ufffd/b", 5.0)


# --- what comes ---


def test_files_lie_under_their_numbers(tmp_path: Path) -> None:
    """Uploaded bytes lie as they came in files named by number, whatever names were told, and the desk is told."""
    with Running(tmp_path, FREE) as running:
        names = ["../../etc/passwd", "/abs", "a\0b", "con", "x" * 5000, "..", "", "C:\\x"]
        files = [{"name": name, "size": 3} for name in names]
        status, told = running.ask("POST", "/cases", {"files": files})
        assert status == 201
        for number in range(len(names)):
            assert running.ask(
                "PUT", f"/cases/{told['id']}/files/{number}", body=b"ab%d" % number
            ) == (200, {})
        assert files_of(running) == {f"{told['id']}/{number}": 3 for number in range(len(names))}
        assert running.serving.place.find_file(told["id"], 5).read_bytes() == b"ab5"
        assert running.ask("GET", f"/cases/{told['id']}")[1]["done"] == list(range(len(names)))
        everything = [path.name for path in tmp_path.rglob("*")]
        assert not [name for name in everything if "passwd" in name or "con" in name]


def test_an_empty_file_and_a_shorter_one_are_taken(tmp_path: Path) -> None:
    """A file of no bytes is a file; one that shrank since it was announced is taken as it is."""
    with Running(tmp_path, FREE) as running:
        case = running.new_case(0, 10)
        assert running.ask("PUT", f"/cases/{case}/files/0", body=b"")[0] == 200
        assert running.ask("PUT", f"/cases/{case}/files/1", body=b"abc")[0] == 200
        assert files_of(running) == {f"{case}/0": 0, f"{case}/1": 3}
        assert running.ask("POST", f"/cases/{case}/start")[0] == 200


def test_a_case_does_not_start_before_its_files_are_here(tmp_path: Path) -> None:
    """Start says how many files are missing, also while one is on its way; without the count it would start."""
    with Running(tmp_path, FREE) as running:
        case = running.new_case(1, 1000)
        assert running.ask("PUT", f"/cases/{case}/files/0", body=b"a")[0] == 200
        with running.begin_put(case, 1000, 1):
            status, told = running.ask("POST", f"/cases/{case}/start")
            assert (status, told["error"]["why"]) == (409, "1 are missing")
        running.serving.uploads.count_missing = lambda case: 0  # type: ignore[method-assign]
        assert running.ask("POST", f"/cases/{case}/start")[0] == 200


def put_table(running: Running) -> list[tuple[str, str, Any, dict[str, str], int]]:
    """Return uploads that are refused: what, path, body, headers, answer."""
    case = running.new_case(10, 10)
    assert running.ask("PUT", f"/cases/{case}/files/1", body=b"x")[0] == 200
    return [
        ("more than announced", f"/cases/{case}/files/0", b"x" * 11, {}, 413),
        ("no length", f"/cases/{case}/files/0", iter([b"x"]), {}, 411),
        ("a file that was not announced", f"/cases/{case}/files/2", b"x", {}, 404),
        ("a file that is here", f"/cases/{case}/files/1", b"x", {}, 409),
        ("no number", f"/cases/{case}/files/-1", b"x", {}, 404),
        ("a number that is long", f"/cases/{case}/files/{'9' * 100}", b"x", {}, 404),
        ("a name", f"/cases/{case}/files/x", b"x", {}, 404),
        ("a path", f"/cases/{case}/files/%2e%2e%2f%2e%2e%2fx", b"x", {}, 404),
        ("a case of dots", "/cases/%2e%2e/files/0", b"x", {}, 404),
        ("an unknown case", f"/cases/{'0' * 32}/files/0", b"x", {}, 404),
    ]


def test_uploads_that_were_not_announced_are_refused(tmp_path: Path) -> None:
    """Each row is answered with its status and nothing of it lies on the disk afterwards."""
    with Running(tmp_path, FREE) as running:
        table = put_table(running)
        before = files_of(running)
        for what, path, body, headers, status in table:
            assert running.ask("PUT", path, body=body, **headers)[0] == status, what
            assert files_of(running) == before, what


def test_the_announced_size_is_what_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the look at Content-Length switched off, more than announced is written."""
    with Running(tmp_path, FREE) as running:
        case = running.new_case(10)
        monkeypatch.setattr(Uploads, "_read_length", staticmethod(lambda request, announced: 11))
        assert running.ask("PUT", f"/cases/{case}/files/0", body=b"x" * 11)[0] == 200
        assert files_of(running) == {f"{case}/0": 11}


def test_one_file_is_not_written_by_two(tmp_path: Path) -> None:
    """A second upload of a file that is on its way is refused and does not disturb the first."""
    with Running(tmp_path, FREE) as running:
        case = running.new_case(6)
        with running.begin_put(case, 6) as first:
            first.sendall(b"abc")
            wait_until(lambda: files_of(running))
            assert running.ask("PUT", f"/cases/{case}/files/0", body=b"xyzxyz")[0] == 409
            first.sendall(b"def")
            assert status_of(first) == 200
        assert running.serving.place.find_file(case, 0).read_bytes() == b"abcdef"


@pytest.mark.parametrize(("told", "sent"), [(5, b"abcdefgh"), (8, b"abc")])
def test_a_body_of_another_length_is_refused(tmp_path: Path, told: int, sent: bytes) -> None:
    """Should a server in front pass on more or less than Content-Length says, nothing of it stays."""
    serving = serving_at(tmp_path, bounds=FREE)
    with client_of(serving) as client:
        case = client.post("/cases", json=announced([10])).json()["id"]
        headers = {"content-length": str(told)}
        assert (
            client.put(f"/cases/{case}/files/0", content=sent, headers=headers).status_code == 400
        )
        assert list(serving.place.case_folder(case).iterdir()) == []


# --- clients that go, or hardly send ---


@pytest.mark.parametrize("guard", [True, False], ids=["guarded", "guard off"])
def test_half_a_file_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guard: bool
) -> None:
    """A client that goes in the middle leaves nothing and may come again; without the removal half a file stays."""
    ended: list[Path] = []
    real = upload._remove_half

    def remove(part: Path) -> None:
        if guard:
            real(part)
        ended.append(part)

    monkeypatch.setattr(upload, "_remove_half", remove)
    with Running(tmp_path, FREE) as running:
        case = running.new_case(1 << 20)
        with running.begin_put(case, 1 << 20) as client:
            client.sendall(b"x" * 1000)
            wait_until(lambda: files_of(running))
        wait_until(lambda: ended)
        assert bool(files_of(running)) is not guard
        if guard:
            assert running.ask("PUT", f"/cases/{case}/files/0", body=b"y" * (1 << 20))[0] == 200
            assert files_of(running) == {f"{case}/0": 1 << 20}


SLOW = replace(FREE, idle=0.5, drain=0.5)


@pytest.mark.size
@pytest.mark.parametrize("guard", [True, False], ids=["guarded", "guard off"])
def test_a_client_that_stops_sending_is_given_up(tmp_path: Path, guard: bool) -> None:
    """Nothing for longer than the bound gets 408, the half file goes and the connection is closed."""
    with Running(tmp_path, SLOW if guard else replace(SLOW, idle=1000)) as running:
        case = running.new_case(1000)
        with running.begin_put(case, 1000) as client:
            client.sendall(b"abc")
            client.settimeout(PATIENCE if guard else 2)
            if guard:
                assert status_of(client) == 408
                assert files_of(running) == {}
                assert read_to_end(client)
            else:
                with pytest.raises(TimeoutError):
                    client.recv(1)
                assert files_of(running) == {f"{case}/0.part": 0}


@pytest.mark.size
@pytest.mark.parametrize("guard", [True, False], ids=["guarded", "guard off"])
def test_a_client_that_drips_is_given_up(tmp_path: Path, guard: bool) -> None:
    """A byte now and then, which no time-out sees, gets 408 for being slower than the least rate."""
    bounds = replace(FREE, stretch=0.5, slowest=1000 if guard else 0, drain=0.5)
    with Running(tmp_path, bounds) as running:
        case = running.new_case(100_000)
        with running.begin_put(case, 100_000) as client:
            client.settimeout(0.05)
            began, received = time.monotonic(), b""
            while not received and time.monotonic() - began < (PATIENCE if guard else 2):
                client.sendall(b"x")
                try:
                    received = client.recv(100)
                except TimeoutError:
                    continue
            assert received.startswith(b"HTTP/1.1 408") is guard


def test_a_slow_list_of_files_is_given_up_as_well(tmp_path: Path) -> None:
    """The JSON of an announcement is under the same clock as a file."""
    with (
        Running(tmp_path, SLOW) as running,
        socket.create_connection(("127.0.0.1", running.port), PATIENCE) as client,
    ):
        lines = [f"{name}: {value}" for name, value in running.headers.items()]
        lines += ["Content-Type: application/json", "Content-Length: 100"]
        client.sendall(
            (
                "\r\n".join([f"POST {running.session.home}/cases HTTP/1.1", *lines]) + "\r\n\r\n{"
            ).encode()
        )
        assert status_of(client) == 408


def read_to_end(client: socket.socket) -> bool:
    """Tell that the server closed a connection, whatever came before."""
    client.settimeout(PATIENCE)
    try:
        while client.recv(4096):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.size
def test_our_own_slow_disk_is_not_the_clients_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of a client stands still while we write."""
    real = upload._write_all

    def slowly(file: int, data: bytearray) -> None:
        time.sleep(1.0)
        real(file, data)

    monkeypatch.setattr(upload, "_write_all", slowly)
    with Running(tmp_path, replace(FREE, stretch=0.3, slowest=8 * MIB)) as running:
        case = running.new_case(3 * MIB)
        assert running.ask("PUT", f"/cases/{case}/files/0", body=b"x" * (3 * MIB))[0] == 200


def test_a_removed_case_ends_its_upload(tmp_path: Path) -> None:
    """Removing or cancelling a case in the middle of its upload ends it with 410, and nothing of it stays."""
    with Running(tmp_path, FREE) as running:
        for way in (("DELETE", ""), ("POST", "/cancel")):
            case = running.new_case(1 << 20)
            with running.begin_put(case, 1 << 20) as client:
                client.sendall(b"x" * 1000)
                wait_until(lambda: files_of(running))
                assert running.ask(way[0], f"/cases/{case}{way[1]}")[0] == 200
                client.sendall(b"x" * 1000)
                assert status_of(client) == 410
            wait_until(lambda: not files_of(running))


def test_an_abandoned_case_is_found(tmp_path: Path) -> None:
    """A case that waits and gets nothing for long is abandoned; one that is complete, or receiving, is not."""
    with Running(tmp_path, replace(FREE, abandoned=0)) as running:
        complete, waits, receives = running.new_case(1), running.new_case(1), running.new_case(9)
        assert running.ask("PUT", f"/cases/{complete}/files/0", body=b"x")[0] == 200
        with running.begin_put(receives, 9) as client:
            client.sendall(b"x")
            wait_until(lambda: len(files_of(running)) == 2)
            assert running.serving.uploads.list_abandoned() == [waits]


# --- room ---


@pytest.mark.parametrize("guard", [True, False], ids=["guarded", "guard off"])
def test_what_does_not_fit_is_refused_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guard: bool
) -> None:
    """Less free space than was announced, what other cases still await included, is said at once with 507."""
    if not guard:
        monkeypatch.setattr(Uploads, "_check_disk", lambda self, more: None)
    with Running(tmp_path, replace(FREE, reserve=100)) as running:
        monkeypatch.setattr(running.serving.place, "count_free", lambda: 1100)
        running.new_case(600)
        status, told = running.ask("POST", "/cases", announced([600]))
        assert status == (507 if guard else 201)
        if guard:
            assert told["error"]["what"] == "the disk is full"
            assert "--work-dir" in told["error"]["do"]
            assert len(running.ask("GET", "/cases")[1]["cases"]) == 1


@pytest.mark.parametrize("guard", [True, False], ids=["guarded", "guard off"])
def test_a_disk_that_fills_up_ends_an_upload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guard: bool
) -> None:
    """When another program takes the space meanwhile, the upload ends with 507 before nothing at all is left."""
    with Running(tmp_path, replace(FREE, reserve=1000, look=MIB if guard else 1 << 40)) as running:
        case = running.new_case(4 * MIB)
        with running.begin_put(case, 4 * MIB) as client:
            client.sendall(b"x" * 1000)
            wait_until(lambda: files_of(running))
            monkeypatch.setattr(running.serving.place, "count_free", lambda: 500)
            client.sendall(b"x" * (4 * MIB - 1000))
            assert status_of(client) == (507 if guard else 200)
        assert files_of(running) == ({} if guard else {f"{case}/0": 4 * MIB})


@pytest.mark.parametrize(
    ("number", "status"),
    [(errno.ENOSPC, 507), (errno.EDQUOT, 507), (errno.EFBIG, 507), (errno.EIO, 500)],
)
@pytest.mark.parametrize("size", [10, 4 * MIB])
def test_a_write_that_fails_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, status: int, size: int
) -> None:
    """An error of the disk in the middle or at the end is told in words; the half file goes, the server lives."""

    def fail(file: int, data: bytearray) -> None:
        raise OSError(number, "no luck")

    with Running(tmp_path, FREE) as running:
        case = running.new_case(size)
        with monkeypatch.context() as patch:
            patch.setattr(upload, "_write_all", fail)
            told = running.ask("PUT", f"/cases/{case}/files/0", body=b"x" * size)
        assert (told[0], told[1]["error"]["why"]) == (status, "no luck")
        assert files_of(running) == {}
        assert running.ask("PUT", f"/cases/{case}/files/0", body=b"x" * size)[0] == 200


@linux
def test_a_real_refusal_of_the_system_is_said(tmp_path: Path) -> None:
    """Where the system itself lets no file grow beyond 1 MiB, an upload of 3 MiB gets 507 and leaves nothing."""
    with Process(tmp_path, "small-files") as server:
        server.enter()
        case = server.new_case(3 * MIB, 10)
        status, told = ask(
            server.port,
            "PUT",
            f"{server.home}/cases/{case}/files/0",
            server.headers,
            body=b"x" * (3 * MIB),
        )
        assert (status, told["error"]["what"]) == (507, "the disk is full")
        assert not [
            path for path in tmp_path.rglob("0*") if path.is_file()
        ]  # the folder of a case may begin so
        assert (
            ask(
                server.port,
                "PUT",
                f"{server.home}/cases/{case}/files/1",
                server.headers,
                body=b"x" * 10,
            )[0]
            == 200
        )


def test_progress_is_told_now_and_then(tmp_path: Path) -> None:
    """While bytes come it is told how many are here of how many, growing, and not for every piece."""
    with Running(tmp_path, FREE) as running:
        told: list[tuple[str, int, int]] = []
        running.serving.uploads.on_progress = lambda *news: told.append(news)
        case = running.new_case(20 * MIB, 5)
        assert running.ask("PUT", f"/cases/{case}/files/0", body=b"x" * (20 * MIB))[0] == 200
        assert 1 <= len(told) < 100
        assert told == sorted(told)
        assert {(one, total) for one, _, total in told} == {(case, 20 * MIB + 5)}


# --- more files of a case that waits ---


def test_more_files_get_the_next_numbers_and_what_is_here_stays(tmp_path: Path) -> None:
    """A queued case takes more files, also of a name it has: they get further numbers, nothing is sent a second time."""
    with Running(tmp_path, FREE) as running:
        case = running.new_case(1, 2)
        for number, body in enumerate((b"a", b"bb")):
            assert running.ask("PUT", f"/cases/{case}/files/{number}", body=body)[0] == 200
        assert running.ask("POST", f"/cases/{case}/start")[0] == 200
        more = announced([3, 0])["files"]
        more[0]["name"] = "0.log"
        assert running.ask("POST", f"/cases/{case}/files", {"files": more}) == (201, {"first": 2})
        assert running.ask("POST", f"/cases/{case}/start")[0] == 409
        assert running.ask("PUT", f"/cases/{case}/files/0", body=b"x")[0] == 409
        for number, body in ((3, b""), (2, b"ccc")):
            assert running.ask("PUT", f"/cases/{case}/files/{number}", body=body)[0] == 200
        assert running.ask("POST", f"/cases/{case}/start")[0] == 200
        lying = [running.serving.place.find_file(case, number).read_bytes() for number in range(4)]
        assert lying == [b"a", b"bb", b"ccc", b""]


@pytest.mark.parametrize(
    ("held", "more", "status"),
    [
        ([60], [101], 413), ([60, 60], [31], 413), ([60], [90], 201), ([1] * 10, [1], 413), ([1] * 9, [1], 201),
        ([60], [], 400),
    ],
)  # fmt: skip
def test_bounds_hold_for_a_case_with_what_is_added(
    tmp_path: Path, held: list[int], more: list[int], status: int
) -> None:
    """What a case has already counts when files are added; what is refused changes nothing."""
    with client_of(serving_at(tmp_path, bounds=SMALL)) as client:
        case = client.post("/cases", json=announced(held)).json()["id"]
        for number, size in enumerate(held):
            client.put(f"/cases/{case}/files/{number}", content=b"x" * size).raise_for_status()
        assert client.post(f"/cases/{case}/files", json=announced(more)).status_code == status
        assert client.post(f"/cases/{case}/start").status_code == (409 if status == 201 else 200)


def test_adding_counts_all_cases_and_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound of the server, that of waiting cases and the room on the disk hold for added files as well."""
    serving = serving_at(tmp_path, bounds=SMALL)
    with client_of(serving) as client:
        whole = client.post("/cases", json=announced([10])).json()["id"]
        client.put(f"/cases/{whole}/files/0", content=b"x" * 10).raise_for_status()
        waiting = [client.post("/cases", json=announced([size])).json()["id"] for size in (90, 50)]
        assert client.post(f"/cases/{waiting[1]}/files", json=announced([51])).status_code == 413
        assert client.post(f"/cases/{whole}/files", json=announced([1])).status_code == 429
        assert client.post(f"/cases/{waiting[0]}/files", json=announced([1])).status_code == 201
        monkeypatch.setattr(serving.place, "count_free", lambda: 0)
        assert client.post(f"/cases/{waiting[0]}/files", json=announced([1])).status_code == 507


def test_nothing_is_added_to_what_is_over_gone_or_a_path(tmp_path: Path) -> None:
    """A case that was cancelled, removed or never was, and one that is a path, take no files."""
    with client_of(serving_at(tmp_path, bounds=FREE)) as client:
        cancelled, removed = (
            client.post("/cases", json=announced([1])).json()["id"] for _ in range(2)
        )
        path = client.post("/cases", json={"path": str(tmp_path)}).json()["id"]
        client.post(f"/cases/{cancelled}/cancel").raise_for_status()
        client.delete(f"/cases/{removed}").raise_for_status()
        for case, status in ((cancelled, 409), (removed, 404), ("0" * 32, 404), (path, 409)):
            assert client.post(f"/cases/{case}/files", json=announced([1])).status_code == status
        assert client.post(f"/cases/{path}/files", json={"path": "/x"}).status_code == 400


def test_a_case_removed_while_more_files_come_is_gone(tmp_path: Path) -> None:
    """Removal in the middle of an added file ends it with 410 and leaves nothing, neither the new nor the old."""
    with Running(tmp_path, FREE) as running:
        case = running.new_case(1)
        assert running.ask("PUT", f"/cases/{case}/files/0", body=b"a")[0] == 200
        assert running.ask("POST", f"/cases/{case}/files", announced([1 << 20]))[0] == 201
        with running.begin_put(case, 1 << 20, 1) as client:
            client.sendall(b"x" * (1 << 19))
            wait_until(lambda: bool(list(tmp_path.rglob("1.part"))))
            assert running.ask("DELETE", f"/cases/{case}")[0] == 200
            with contextlib.suppress(OSError):
                client.sendall(b"x" * (1 << 19))
            assert status_of(client) in (0, 410)
        assert not list(tmp_path.rglob("[01]*.part"))
        assert not running.serving.place.case_folder(case).exists()


def test_the_files_of_a_cancelled_case_that_was_whole_still_count(tmp_path: Path) -> None:
    """What lies on the disk for another try is counted, and after that try more can be added; removal frees it."""
    with client_of(serving_at(tmp_path, bounds=SMALL)) as client:
        case = client.post("/cases", json=announced([90])).json()["id"]
        client.put(f"/cases/{case}/files/0", content=b"x" * 90).raise_for_status()
        client.post(f"/cases/{case}/cancel").raise_for_status()
        assert client.post("/cases", json=announced([100, 11])).status_code == 413
        client.post(f"/cases/{case}/start").raise_for_status()
        assert client.post(f"/cases/{case}/files", json=announced([61])).status_code == 413
        assert client.post(f"/cases/{case}/files", json=announced([60])).json() == {"first": 1}
        client.delete(f"/cases/{case}").raise_for_status()
        assert client.post("/cases", json=announced([100, 11])).status_code == 201


# --- memory ---


def zeros(size: int) -> Any:
    """Yield zeros as http.client takes them."""
    piece = bytes(MIB)
    return (piece for _ in range(size // MIB))


def growth(server: Process, size: int) -> int:
    """Upload so many zeros and return by how many bytes the server's peak grew."""
    server.enter()
    warm = server.new_case(8 * MIB, size)
    path = f"{server.home}/cases/{warm}/files/"
    sent = {**server.headers, "Content-Length": str(8 * MIB)}
    assert ask(server.port, "PUT", f"{path}0", sent, body=zeros(8 * MIB))[0] == 200
    before = server.peak()
    sent["Content-Length"] = str(size)
    assert ask(server.port, "PUT", f"{path}1", sent, body=zeros(size))[0] == 200
    return server.peak() - before


@pytest.mark.process
@linux
def test_memory_is_flat(tmp_path: Path) -> None:
    """300 MB go through without the server growing by more than 8 MiB."""
    with Process(tmp_path) as server:
        assert growth(server, 300 * MIB) < 8 * MIB
        assert sum(path.stat().st_size for path in tmp_path.rglob("1")) == 300 * MIB


@pytest.mark.process
@linux
def test_pieces_keep_memory_flat(tmp_path: Path) -> None:
    """Held whole before it is written, an upload of 100 MB makes the server grow by as much: the test above can fail."""
    with Process(tmp_path, "pieces") as server:
        assert growth(server, 100 * MIB) > 50 * MIB


@pytest.mark.release
@pytest.mark.process
@linux
def test_memory_is_flat_for_large_files(tmp_path: Path) -> None:
    """2 GB go through without the server growing by more than 8 MiB."""
    with Process(tmp_path) as server:
        assert growth(server, 2048 * MIB) < 8 * MIB
    assert not list(tmp_path.iterdir()) or server.popen.returncode != 0


def test_errors_are_safe_to_show() -> None:
    """What a refusal repeats of a client's text has no control or bidi signs in it and is bounded."""
    told = wire.error_record(Refusal(400, "no", where="a\x1b[2J\u202eb" + "x" * 5000))
    assert "\x1b" not in told["error"]["where"]
    assert "\u202e" not in told["error"]["where"]
    assert len(told["error"]["where"]) == 1000
