"""What the container file builds runs without root's home, network or a folder to write to; the single file lacks no data.

No container engine is needed: the COPY and RUN lines are done in a folder that stands for the root.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.kit.batch_kit import ROOT
from tools import dist

if sys.platform == "win32":
    pytest.skip("the container is Linux", allow_module_level=True)

pytestmark = [pytest.mark.process, pytest.mark.release]
FILE = ROOT / "tools" / "container" / "Containerfile"
SPEC = ROOT / "tools" / "windows" / "backline.spec"
PLACES = re.compile(r"(?<![\w.])/(source|wheels|opt)\b")


def read_lines() -> list[tuple[str, str]]:
    """Return the instructions of the container file and their words."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line[:1] not in "# "]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines if line]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the lines of the build were done.

    Packages of others are those of this Python: what an index gives is no matter of the file.
    """
    top = tmp_path_factory.mktemp("root")
    dist.copy_source(top / "context")
    (top / "source").mkdir()
    env = os.environ | {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    for word, rest in read_lines():
        if word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            for source in sources:
                given = top / "context" / source
                if given.is_dir():
                    shutil.copytree(given, top / "source" / target)
                else:
                    shutil.copy(given, top / "source" / target)
        elif word == "RUN":
            command = PLACES.sub(rf"{top}/\1", rest)
            done = subprocess.run(
                ["sh", "-ec", command], cwd=top / "source", env=env, capture_output=True, text=True,
                timeout=300, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    site = next((top / "opt" / "backline" / "lib").glob("python*/site-packages"))
    (site / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return top


def list_state(folder: Path) -> set[tuple[str, int]]:
    """Return the files below a folder and when each was changed."""
    return {(str(path), path.lstat().st_mtime_ns) for path in folder.rglob("*")}


def test_the_container_triages_and_writes_only_results(root: Path, tmp_path: Path) -> None:
    """With the environment of the file it starts as a stranger would start it; only the mounted folder changes."""
    stated = dict(
        part.split("=", 1) for word, rest in read_lines() if word == "ENV" for part in rest.split()
    )
    assert {word for word, _ in read_lines()} >= {"USER", "ENTRYPOINT"}
    assert "USER 0" not in FILE.read_text(encoding="utf-8")
    cases, out = tmp_path / "cases", tmp_path / "out"
    shutil.copytree(ROOT / "samples" / "cases" / "lab-ring-before", cases)
    out.mkdir()
    env = {name: PLACES.sub(rf"{root}/\1", value) for name, value in stated.items()}
    before = list_state(root) | list_state(cases)
    done = subprocess.run(
        ["backline", "triage", str(cases), "-o", str(out), "--quiet"], env=env, cwd=cases,
        executable=root / "opt" / "backline" / "bin" / "backline", capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert (out / "report.html").stat().st_size > 10_000
    assert list_state(root) | list_state(cases) == before


def test_the_single_file_collects_the_whole_package(root: Path) -> None:
    """What the spec takes along is every file of the installed package, and every module that is imported by name."""
    pytest.importorskip("PyInstaller", reason="PyInstaller is not installed")
    stop = "\nanalysis = Analysis("
    spec = SPEC.read_text(encoding="utf-8")
    assert stop in spec
    code = (
        spec.partition(stop)[0] + "\nprint(*(source for source, _ in datas), *hidden, sep='\\n')\n"
    )
    done = subprocess.run(
        [root / "opt" / "backline" / "bin" / "python", "-c", code], cwd=root, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    collected = set(done.stdout.splitlines())
    package = next((root / "opt" / "backline" / "lib").glob("python*/site-packages/analyzer"))
    files = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert len(files) > 500
    assert {str(path) for path in files} <= collected
    assert {"analyzer.commands.triage", "analyzer.parsers.esxi.logs"} <= collected
