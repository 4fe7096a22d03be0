"""What the tests of the drag-in page share: a desk that does nothing, a server in a thread, one in a process."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from analyzer.cli import main
from analyzer.commands.made_pages import list_page_makers
from analyzer.web.cases.app import Routes, Serving, make_application
from analyzer.web.cases.upload import Uploads
from analyzer.web.guard.bounds import Bounds
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.guard.session import PageSession
from analyzer.web.guard.wire import NewFile, Refusal
from analyzer.web.server import Server, bind_socket, port_of

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds for what is there at once on a machine that is not busy


class StandInCase:
    """A case of which nothing is known but its files."""

    def __init__(self, id: str, name: str, files: int = 0) -> None:
        self.id, self.name, self.state, self.files = id, name, "waiting", files
        self.done: list[int] = []
        self.incident = ""

    def record(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "done": self.done,
            "incident": self.incident,
        }


class StandInDesk:
    """A desk that keeps cases and analyses nothing."""

    def __init__(self, place: PrivatePlace, archive: str = "") -> None:
        self._place = place
        self._cases: dict[str, StandInCase] = {}
        self.closed = False

    def add_case(self, name: str, files: Sequence[NewFile] | Path) -> StandInCase:
        case = StandInCase(
            self._place.new_case(), name, 0 if isinstance(files, Path) else len(files)
        )
        self._cases[case.id] = case
        return case

    def add_files(self, case_id: str, files: Sequence[NewFile]) -> int:
        case = self.find_case(case_id)
        if case.state not in ("waiting", "queued") or not case.files:
            raise Refusal(409, "the case takes no more files")
        case.state, case.files = "waiting", case.files + len(files)
        return case.files - len(files)

    def file_done(self, case_id: str, number: int) -> None:
        self._cases[case_id].done.append(number)

    def start_case(self, case_id: str) -> None:
        self.find_case(case_id).state = "queued"

    def cancel_case(self, case_id: str) -> None:
        self.find_case(case_id).state = "cancelled"

    def remove_case(self, case_id: str) -> None:
        self.find_case(case_id)
        del self._cases[case_id]
        self._place.remove_case(case_id)

    def find_case(self, case_id: str) -> StandInCase:
        if case_id not in self._cases:
            raise Refusal(404, "no such case")
        return self._cases[case_id]

    def list_cases(self) -> list[StandInCase]:
        return list(self._cases.values())[::-1]

    def describe_material(self, case_id: str) -> dict[str, Any]:
        case = self.find_case(case_id)
        return {"name": case.name, "files": [], "path": str(self._place.case_folder(case.id))}

    async def rename_case(self, case_id: str, name: str, sr: str) -> StandInCase:
        case = self.find_case(case_id)
        case.name = f"{sr}: {name}"
        return case

    def set_incident(self, case_id: str, incident: str) -> StandInCase:
        case = self.find_case(case_id)
        case.incident = incident
        return case

    def find_result(self, case_id: str, name: str) -> Path:
        return self._place.case_folder(self.find_case(case_id).id) / name

    async def follow_events(self, since: int) -> AsyncIterator[tuple[int, Mapping[str, Any]]]:
        for number in range(since + 1, 4):
            yield number, {"n": number}
        await asyncio.Event().wait()

    async def close(self) -> None:
        self.closed = True


def serving_at(folder: Path, port: int = 8770, bounds: Bounds | None = None) -> Serving:
    """Return what a server shares, with a private place below `folder`."""
    bounds = bounds or Bounds(reserve=0)
    place = PrivatePlace.make_folder(folder)
    made = list_page_makers(main)
    return Serving(
        PageSession(port),
        place,
        Uploads(place, bounds),
        StandInDesk(place),
        "",
        bounds,
        made_pages=made,
    )


@contextlib.contextmanager
def client_of(serving: Serving, *others: Routes, signed_in: bool = True) -> Iterator[TestClient]:
    """Give a client without a network; it sends what our page in a browser sends, below the secret path if signed in."""
    base = f"http://127.0.0.1:{serving.session.port}"
    headers = {"origin": base, "sec-fetch-site": "same-origin"}
    with TestClient(make_application(serving, *others), base_url=base, headers=headers) as client:
        if signed_in:
            entered = client.post(
                "/enter", headers={"x-backline-token": serving.session.token}
            ).raise_for_status()
            client.base_url = base + entered.json()["path"]
        yield client
    serving.place.remove_all()


class Running:
    """A real server on loopback in a thread of its own."""

    def __init__(self, folder: Path, bounds: Bounds | None = None, *others: Routes) -> None:
        self._listener = bind_socket(0)
        self.port = port_of(self._listener)
        self.serving = serving_at(folder, self.port, bounds)
        ready = threading.Event()
        self.server = Server(
            make_application(self.serving, *others), self.serving.bounds,
            on_ready=ready.set, on_stop=self.serving.stopping.set,
        )  # fmt: skip
        self._thread = threading.Thread(target=self.server.run, args=([self._listener],))
        self._thread.start()
        assert ready.wait(PATIENCE)
        self.session = self.serving.session
        self.cookie = self.session.set_cookie().partition(";")[0]

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        self.serving.place.remove_all()

    @property
    def headers(self) -> dict[str, str]:
        """What our page sends."""
        host = f"127.0.0.1:{self.port}"
        return {
            "Host": host,
            "Origin": f"http://{host}",
            "Sec-Fetch-Site": "same-origin",
            "Cookie": self.cookie,
        }

    def ask(
        self, method: str, path: str, data: Any = None, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        """Send one request below the secret path; return status and JSON."""
        return ask(
            self.port, method, self.session.home + path, {**self.headers, **headers}, data, body
        )

    def new_case(self, *sizes: int) -> str:
        """Announce a case with files of these sizes; return its id."""
        files = [{"name": f"{number}.log", "size": size} for number, size in enumerate(sizes)]
        status, told = self.ask("POST", "/cases", {"name": "case", "files": files})
        assert status == 201, told
        return str(told["id"])

    def begin_put(self, case: str, length: int, number: int = 0) -> socket.socket:
        """Send the head of an upload and return the connection."""
        return begin_put(self.port, self.session.home, self.headers, case, length, number)


def begin_put(
    port: int, home: str, headers: Mapping[str, str], case: str, length: int, number: int = 0
) -> socket.socket:
    """Send the head of an upload and return the connection."""
    wire = socket.create_connection(("127.0.0.1", port), PATIENCE)
    lines = [f"PUT {home}/cases/{case}/files/{number} HTTP/1.1", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    return wire


def ask(
    port: int,
    method: str,
    path: str,
    headers: Mapping[str, str],
    data: Any = None,
    body: Any = None,
) -> tuple[int, Any]:
    """Send one request to a port of loopback; return status and JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    sent = dict(headers)
    if data is not None:
        body, sent["Content-Type"] = json.dumps(data).encode(), "application/json"
    try:
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None
    finally:
        connection.close()


def status_of(wire: socket.socket) -> int:
    """Read an answer from a connection; return its status, 0 when the connection was closed without one."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while b"\r\n" not in received:
            piece = wire.recv(4096)
            if not piece:
                break
            received += piece
    return int(received.split()[1]) if received else 0


class Process:
    """`serve` in a process of its own, with the stand-in for the desk; `guards` names what is switched off."""

    def __init__(self, folder: Path, *guards_off: str) -> None:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.kit.web_kit", str(folder), *guards_off]
        self.home = ""
        self.popen = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
        assert self.popen.stdout is not None
        self.url = self.popen.stdout.readline().strip()
        address, _, self.token = self.url.partition("/#")
        self.port = int(address.rpartition(":")[2])
        self.headers = {
            "Host": f"127.0.0.1:{self.port}",
            "Origin": address,
            "Sec-Fetch-Site": "same-origin",
        }

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.popen.kill()
        self.popen.communicate(timeout=PATIENCE)

    def enter(self) -> None:
        """Exchange the token for the path and the cookie."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(
            "POST", "/enter", headers={**self.headers, "X-Backline-Token": self.token}
        )
        answer = connection.getresponse()
        assert answer.status == 200
        self.home = json.loads(answer.read())["path"]
        self.headers["Cookie"] = str(answer.getheader("set-cookie")).partition(";")[0]
        connection.close()

    def new_case(self, *sizes: int) -> str:
        """Announce a case with files of these sizes; return its id."""
        files = [{"name": f"{number}.log", "size": size} for number, size in enumerate(sizes)]
        status, told = ask(self.port, "POST", f"{self.home}/cases", self.headers, {"files": files})
        assert status == 201, told
        return str(told["id"])

    def begin_put(self, case: str, length: int, number: int = 0) -> socket.socket:
        """Send the head of an upload and return the connection."""
        return begin_put(self.port, self.home, self.headers, case, length, number)

    def peak(self) -> int:
        """Return the most memory it ever used, in bytes (Linux)."""
        text = Path(f"/proc/{self.popen.pid}/status").read_text()
        return (
            int(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1])
            * 1024
        )


def _main(folder: str, guards_off: Sequence[str]) -> None:
    from analyzer.web import serving
    from analyzer.web.cases import upload
    from analyzer.web.guard import place

    if "pieces" in guards_off:
        upload.PIECE = 1 << 40
    if "leftovers" in guards_off:
        serving.remove_leftovers = lambda parent=None: []
    if "cleanup" in guards_off:
        place.PrivatePlace.remove_all = lambda self: None  # type: ignore[method-assign]
    if "small-files" in guards_off:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    def say(line: str) -> None:
        print(line, flush=True)

    serving.serve_page(
        work_dir=Path(folder),
        say=say,
        open_browser=False,
        make_manager=StandInDesk,
        bounds=Bounds(reserve=0, stop=1),
    )


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
