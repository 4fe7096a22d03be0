"""What is handed out is built for real and used without a package index."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.kit.batch_kit import ROOT

fcntl = pytest.importorskip("fcntl", reason="the build is tried on Linux and macOS")
pytest.importorskip("pex", reason="the single file is built by pex")

pytestmark = [
    pytest.mark.process,  # the build takes about a minute on two cores, once in a session
    pytest.mark.release,
]
CASE = ROOT / "samples" / "cases" / "lab-ring-before"
PATIENCE = 900
EPOCH = 1_700_000_000  # what the build takes from the last commit when it is not told


def dist(output: Path, *words: str) -> None:
    """Run the build as `make dist` does."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "dist.py", "-o", output, *words], capture_output=True, text=True,
        timeout=PATIENCE, check=False, env=os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what the build makes; it is made once, however many processes run the tests."""
    top = tmp_path_factory.getbasetemp()
    top = top.parent if "PYTEST_XDIST_WORKER" in os.environ else top
    made = top / "dist"
    with (top / "dist.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            dist(made, "--no-cluster")
    return made


@pytest.fixture
def away(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return the environment of a machine that reaches no index: proxies that do not exist, an empty home."""
    nowhere = "http://127.0.0.1:9"
    (tmp_path / "home").mkdir()
    yield {
        "HOME": str(tmp_path / "home"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "http_proxy": nowhere, "https_proxy": nowhere, "HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere,
        "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1",
    }  # fmt: skip
    shutil.rmtree(tmp_path / "home", ignore_errors=True)  # half a GB of unpacked packages


def run(words: Sequence[str | Path], env: dict[str, str], cwd: Path) -> str:
    """Run a command without network, where the system lets us take it away; return its output."""
    alone = ["unshare", "--map-root-user", "--net"]
    try:
        closed = subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        closed = False
    done = subprocess.run(
        [*(alone if closed else []), *words], env=env, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def triaged(backline: Path, env: dict[str, str], folder: Path) -> None:
    """Show that a command triages a sample, alone and in the processes of a batch."""
    shutil.copytree(CASE, folder / "cases" / "one")
    assert run([backline, "--version"], env, folder).startswith("backline, version ")
    run(
        [backline, "triage", folder / "cases" / "one", "-o", folder / "out", "--quiet"], env, folder
    )
    assert (folder / "out" / "report.html").stat().st_size > 10_000
    assert "1 read" in run(
        [backline, "batch", folder / "cases", "--archive", folder / "archive"], env, folder
    )


def test_the_single_file_runs_anywhere(built: Path, away: dict[str, str], tmp_path: Path) -> None:
    """One file, without network and with an empty home, triages a case; PEX_ROOT says where it unpacks itself.

    From the second start on nothing is unpacked, and an icon made by it starts the file, not its unpacked copy.
    """
    single = next(built.glob("*.pex"))
    env = away | {"PEX_ROOT": str(tmp_path / "home" / "unpacked")}
    triaged(single, env, tmp_path)
    assert (tmp_path / "home" / "unpacked" / "venvs").is_dir()
    cache = tmp_path / "home" / ".cache"  # none: the file brings the snapshot of its rules
    assert not cache.exists() or [one.name for one in cache.iterdir()] == ["backline"]
    began = time.monotonic()
    run([single, "--version"], env, tmp_path)
    again = time.monotonic() - began
    shutil.rmtree(tmp_path / "home" / "unpacked")
    began = time.monotonic()
    run([single, "--version"], env, tmp_path)
    assert again < time.monotonic() - began
    run([single, "launcher", "--system", "linux", "-o", tmp_path], env, tmp_path)
    assert f"\nExec={single} launcher --start %F\n" in (tmp_path / "backline.desktop").read_text(
        encoding="utf-8"
    )


def test_the_wheelhouse_installs_without_an_index(
    built: Path, away: dict[str, str], tmp_path: Path
) -> None:
    """The one line of docs/install.md fills an empty environment from the wheelhouse alone, web server included."""
    run([sys.executable, "-m", "venv", tmp_path / "venv"], away, tmp_path)
    pip = tmp_path / "venv" / "bin" / "pip"
    run(
        [
            pip,
            "install",
            "--quiet",
            "--no-index",
            "--find-links",
            built / "wheelhouse",
            "backline[web]",
        ],
        away,
        tmp_path,
    )
    triaged(tmp_path / "venv" / "bin" / "backline", away, tmp_path)
    run(
        [tmp_path / "venv" / "bin" / "python", "-c", "import starlette, uvicorn, analyzer.web"],
        away,
        tmp_path,
    )


def test_the_checksums_are_right_and_complete(built: Path) -> None:
    """SHA256SUMS names every other file with its hash."""
    lines = (built / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    told = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    found = {
        path.relative_to(built).as_posix(): path for path in built.rglob("*") if path.is_file()
    }
    assert told.keys() == found.keys() - {"SHA256SUMS"}
    for name, digest in told.items():
        assert hashlib.sha256(found[name].read_bytes()).hexdigest() == digest, name


def test_the_wheel_is_the_same_again(built: Path, tmp_path: Path) -> None:
    """A second build with the versions of the first gives the same bytes, wheel and single file."""
    dist(tmp_path / "again", "--no-cluster", "--constraint", str(built / "constraints.txt"))
    for pattern in ("*.whl", "*.pex", "constraints.txt", "SHA256SUMS"):
        first, second = next(built.glob(pattern)), next((tmp_path / "again").glob(pattern))
        assert (
            hashlib.sha256(first.read_bytes()).digest()
            == hashlib.sha256(second.read_bytes()).digest()
        ), pattern
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again"], (
        "nothing is left beside it"
    )
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        assert {item.date_time for item in wheel.infolist()} == {time.gmtime(EPOCH)[:6]}


@pytest.mark.process
def test_a_failing_step_is_told(tmp_path: Path) -> None:
    """A version that does not exist ends the build with what pip says, and leaves nothing half made."""
    (tmp_path / "c.txt").write_text("click==0.0.0.1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "dist.py", "-o", tmp_path / "dist", "--no-cluster", "--constraint",
         tmp_path / "c.txt"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "dist: the wheels of the dependencies could not be built" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["c.txt"]
