"""The private folder of a server: nobody else can look into it, and nothing of it stays, however the server ends."""

from __future__ import annotations

import os
import signal
import socket
import stat
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.web.guard import place as module
from analyzer.web.guard.place import LOCK, PREFIX, PrivatePlace, remove_leftovers, usual_parent
from tests.kit.web_kit import PATIENCE, Process, ask

posix = pytest.mark.skipif(os.name != "posix", reason="modes and signals of POSIX")


def places(folder: Path) -> list[Path]:
    """Return the private folders below a folder."""
    return sorted(path for path in folder.iterdir() if path.name.startswith(PREFIX))


@posix
def test_only_its_user_can_look_in(tmp_path: Path) -> None:
    """The folder and those of its cases have mode 0700, whatever the umask is, and the name tells the process."""
    before = os.umask(0)
    try:
        place = PrivatePlace.make_folder(tmp_path)
        case = place.new_case()
    finally:
        os.umask(before)
    for folder in (place.folder, place.case_folder(case)):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert place.folder.name.startswith(f"{PREFIX}{os.getpid()}-")
    place.remove_all()


def test_close_removes_everything_and_can_come_twice(tmp_path: Path) -> None:
    """After close nothing is left, and a second close does nothing."""
    place = PrivatePlace.make_folder(tmp_path)
    place.find_file(place.new_case(), 0).write_bytes(b"x")
    place.remove_all()
    place.remove_all()
    assert places(tmp_path) == []


def test_a_case_is_removed_alone(tmp_path: Path) -> None:
    """Removing a case leaves the others; to remove it again does nothing."""
    place = PrivatePlace.make_folder(tmp_path)
    first, second = place.new_case(), place.new_case()
    place.find_file(first, 0).write_bytes(b"x")
    place.remove_case(first)
    place.remove_case(first)
    assert not place.case_folder(first).exists()
    assert place.case_folder(second).is_dir()
    place.remove_all()


@given(
    st.text()
    | st.sampled_from(
        ["..", ".", "", "/etc", "a/../..", "A" * 32, "0" * 31, "0" * 32 + "\n", "lock"]
    )
)
def test_nothing_but_an_id_names_a_folder(text: str) -> None:
    """Text that is not the id of a case never becomes a path: nothing of a client is joined."""
    with tempfile.TemporaryDirectory() as folder:
        place = PrivatePlace.make_folder(Path(folder))
        with pytest.raises(ValueError, match="not the id"):
            place.case_folder(text)
        place.remove_all()


def test_without_the_check_a_path_would_lead_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the pattern of ids made to match everything, dots do lead out of the folder: the check is what holds."""
    place = PrivatePlace.make_folder(tmp_path)
    monkeypatch.setattr(module, "_CASE", module.re.compile(r"(?s).*"))
    assert place.folder not in place.case_folder("../x").resolve().parents
    place.remove_all()


def test_a_wrong_work_folder_is_one_sentence(tmp_path: Path) -> None:
    """A work folder that is not there, or in which nothing can be made, is told with what to do."""
    with pytest.raises(UsageError, match=r"no such folder.*--work-dir"):
        PrivatePlace.make_folder(tmp_path / "missing")
    with pytest.raises(BacklineError, match=r"no private folder can be made.*--work-dir"):
        PrivatePlace.make_folder(Path("/proc" if sys.platform == "linux" else "/dev"))


@posix
def test_large_files_do_not_go_to_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless TMPDIR says otherwise, uploads lie in /var/tmp: /tmp is in memory on many systems."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    if os.access("/var/tmp", os.W_OK):
        assert usual_parent() == Path("/var/tmp")
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    assert usual_parent() == Path(tempfile.gettempdir())


def test_the_folder_of_a_living_server_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another start does not touch a folder whose lock is held; without the lock it would be gone."""
    place = PrivatePlace.make_folder(tmp_path)
    assert remove_leftovers(tmp_path) == []
    assert place.folder.is_dir()
    monkeypatch.setattr(module, "take_lock", lambda lock: True)
    assert remove_leftovers(tmp_path) == [place.folder]
    place.remove_all()


def test_what_was_left_is_removed(tmp_path: Path) -> None:
    """A folder whose lock nobody holds is removed with its files; a folder of another name stays."""
    left = tmp_path / f"{PREFIX}1-dead"
    (left / "0").mkdir(parents=True)
    (left / LOCK).touch()
    (left / "0" / "0.part").write_bytes(b"x")
    other = tmp_path / "backline-other"
    other.mkdir()
    assert remove_leftovers(tmp_path) == [left]
    assert other.is_dir()


@posix
def test_a_folder_without_a_lock_stays_while_it_is_young(tmp_path: Path) -> None:
    """A folder that is being made has no lock yet and stays; one that is old crashed before it had one."""
    left = tmp_path / f"{PREFIX}1-new"
    left.mkdir()
    assert remove_leftovers(tmp_path) == []
    long_ago = time.time() - 2 * module.YOUNG
    os.utime(left, (long_ago, long_ago))
    assert remove_leftovers(tmp_path) == [left]


@posix
def test_a_link_with_our_name_is_not_followed(tmp_path: Path) -> None:
    """A link that somebody laid under our name, to a folder or as the lock, leads to nothing being removed."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / LOCK).touch()
    (precious / "thesis").touch()
    parent = tmp_path / "tmp"
    parent.mkdir()
    (parent / f"{PREFIX}1-link").symlink_to(precious)
    fake = parent / f"{PREFIX}2-fake"
    fake.mkdir()
    (fake / LOCK).symlink_to(precious / "thesis")
    assert remove_leftovers(parent) == []
    assert (precious / "thesis").exists()


@posix
def test_a_link_inside_what_was_left_is_not_followed(tmp_path: Path) -> None:
    """Removing what was left removes links in it, not what they lead to."""
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "page").touch()
    left = tmp_path / f"{PREFIX}1-dead"
    left.mkdir()
    (left / LOCK).touch()
    (left / "link").symlink_to(precious)
    assert remove_leftovers(tmp_path) == [left]
    assert (precious / "page").exists()


@posix
def test_the_folder_of_another_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another user left under our name is his to remove; without that look it would be removed."""
    left = tmp_path / f"{PREFIX}1-other"
    left.mkdir()
    (left / LOCK).touch()
    ours = os.geteuid()
    monkeypatch.setattr(module.os, "geteuid", lambda: ours + 1)
    assert remove_leftovers(tmp_path) == []
    monkeypatch.setattr(module.os, "geteuid", lambda: ours)
    assert remove_leftovers(tmp_path) == [left]


@pytest.mark.process
@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C, SIGTERM and a closed terminal end the server with 0, in the middle of an upload, and nothing stays."""
    with Process(tmp_path) as server:
        assert server.url.startswith(f"http://127.0.0.1:{server.port}/#")
        with half_an_upload(server, tmp_path):
            assert len(places(tmp_path)) == 1
            server.popen.send_signal(number)
            assert server.popen.wait(PATIENCE) == 0
    assert places(tmp_path) == []


@posix
def test_cleaning_up_is_what_removes_it(tmp_path: Path) -> None:
    """With the removal at the end switched off, the folder stays: the tests above can fail."""
    with Process(tmp_path, "cleanup") as server:
        server.popen.send_signal(signal.SIGTERM)
        assert server.popen.wait(PATIENCE) == 0
    assert len(places(tmp_path)) == 1


@pytest.mark.process
@posix
def test_the_next_start_removes_what_a_killed_server_left(tmp_path: Path) -> None:
    """kill -9 in the middle of an upload leaves the folder; the next server removes it, unless told not to."""
    with Process(tmp_path) as server, half_an_upload(server, tmp_path):
        server.popen.kill()
        server.popen.wait(PATIENCE)
    [left] = places(tmp_path)
    assert list(left.rglob("0.part"))
    with Process(tmp_path, "leftovers") as careless:
        assert left.exists()
        with Process(tmp_path) as server:
            assert not left.exists()
            assert len(places(tmp_path)) == 2
            for living in (careless, server):
                assert ask(living.port, "GET", "/cases", living.headers)[0] == 401


def half_an_upload(server: Process, folder: Path) -> socket.socket:
    """Begin an upload, send half of it, and return the connection once the server writes."""
    server.enter()
    wire = server.begin_put(server.new_case(1 << 20), 1 << 20)
    wire.sendall(b"x" * (1 << 19))
    deadline = time.monotonic() + PATIENCE
    while not list(folder.rglob("0.part")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return wire
