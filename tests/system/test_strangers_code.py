"""Every command is run in a folder full of modules that a stranger put there, and none of them is ever executed.

The names are those that Python, our code or a package of ours imports anywhere, so that whichever process looks for
a module in the current folder finds one there. A module that is executed leaves its name in a folder of marks.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.runtime import safepath
from analyzer.scan import engines

pytestmark = pytest.mark.process
ROOT = Path(__file__).resolve().parents[2]
BACKLINE = Path(sys.executable).with_name("backline")
PATIENCE = 300.0
IMPORT = re.compile(rb"^\s*(?:import|from)\s+([A-Za-z_]\w*)", re.MULTILINE)
MODULE = "import os, sys\nopen({marks!r} + '/' + {name!r}, 'a').write(repr(sys.argv) + repr(sys.orig_argv))\n"
EVIL = {
    "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
    "evil-1.0.dist-info/RECORD": "evilpack/evil.yaml,,\nevil-1.0.dist-info/RECORD,,\n",
    "evil-1.0.dist-info/entry_points.txt": "[backline.rules]\nevil = evilpack\n[fsspec.specs]\ns3 = evilpack.fs\n"
    "[dask.sizeof]\nevil = evilpack:register\n[distutils.commands]\nbuild = evilpack:build\n",
}


@dataclass
class Folder:
    """The hostile folder, the marks its modules leave, and a folder for results."""

    path: Path
    marks: Path
    work: Path
    names: int

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a shell without any advice for Python."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        home = self.work / "home"
        home.mkdir(exist_ok=True)
        return {
            **ours,
            "HOME": str(home),
            "BROWSER": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
            **(more or {}),
        }

    def run(
        self, *words: object, start: tuple[str, ...] = (str(BACKLINE),), env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> str:  # fmt: skip
        """Run a command in the folder; return its output, after it was seen that it did its work and nothing else."""
        done = subprocess.run(
            [*start, *map(str, words)], cwd=cwd or self.path, env=self.environment(env), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert self.executed() == {}, words
        assert done.returncode in (0, 1, 5), (words, done.stdout, done.stderr)
        return done.stdout

    def executed(self) -> dict[str, str]:
        """Return the modules that were executed since the last look, each with the process it was in."""
        marks = {mark: mark.read_text(encoding="utf-8") for mark in self.marks.iterdir()}
        for mark in marks:
            mark.unlink()
        return {mark.name: text for mark, text in marks.items()}


def imported_names() -> set[str]:
    """Return the top names that anything here may import: Python's own, ours, and those in the text of packages."""
    site = Path(click.__file__).parent.parent
    names = set(sys.stdlib_module_names) | {
        "sitecustomize",
        "usercustomize",
        "analyzer",
        "parsers",
        "templates",
    }
    names |= {path.name.partition(".")[0] for path in site.iterdir()}
    for folder in (site, ROOT / "analyzer", ROOT / "parsers"):
        for path in folder.rglob("*.py"):
            if not {"tests", "test"}.intersection(path.parts[len(folder.parts) :]):
                names |= {name.decode("ascii") for name in IMPORT.findall(path.read_bytes())}
    return {name for name in names if name.isidentifier()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """Return the folder, with a case, rules of a pack and an archive beside the modules."""
    top = tmp_path_factory.mktemp("stranger")
    found = Folder(top / "downloads", top / "marks", top / "work", 0)
    for path in (found.path, found.marks, found.work):
        path.mkdir()
    for name in imported_names():
        text = MODULE.format(marks=str(found.marks), name=name)
        (found.path / f"{name}.py").write_text(text, encoding="utf-8")
        found.names += 1
    (found.path / "evilpack").mkdir()
    (found.path / "evilpack" / "__init__.py").write_text(
        MODULE.format(marks=str(found.marks), name="evilpack")
    )
    for name, text in EVIL.items():
        (found.path / name).parent.mkdir(exist_ok=True)
        (found.path / name).write_text(text, encoding="utf-8")
    for name in ("lab-ring-after", "lab-ring-before"):
        shutil.copytree(ROOT / "samples" / "cases" / name, found.path / "cases" / name)
    shutil.copy(
        ROOT / "analyzer" / "kb" / "network" / "kb-2039495.yaml", found.work / "kb-2039495.yaml"
    )
    (found.work / "march").mkdir()
    shutil.copy(
        ROOT / "analyzer" / "kb" / "network" / "kb-2039495.yaml",
        found.work / "march" / "kb-2039495.yaml",
    )
    (found.path / "lines.log").write_text(
        "2024-03-01T10:00:00.000Z cpu1:2)ScsiDeviceIO: made up for this test\n", encoding="utf-8"
    )
    for number in range(60):  # a back-test begins processes from some fifty cases on
        one = found.work / "many" / f"case-{number}" / "ring.txt"
        one.parent.mkdir(parents=True)
        one.write_text(
            f"[root@esx-{number}:~] vmware -v\nVMware ESXi 6.0.0 build-{3620759 + number}\n",
            encoding="utf-8",
        )
    for words in (("batch", found.path / "cases", found.work / "many", "--archive", "archive", "--jobs", "2"),
                  ("triage", found.path / CASE, "-o", "case", "--quiet")):  # fmt: skip
        found.run(*words, cwd=found.work)
    yield found


# What is run for each command; {work} is a folder for results, {case} and {archive} lie there.
CASE, ARCHIVE, RULE = (
    "cases/lab-ring-after",
    ("--archive", "{work}/archive"),
    "{work}/kb-2039495.yaml",
)
RUNS: dict[str, list[tuple[str, ...]]] = {
    "triage": [
        ("triage", CASE),
        (CASE, "-o", "{work}/t", "--json", "-"),
        ("triage", ".", "-o", "{work}/all", "--open"),
    ],
    "show": [
        ("show", "{work}/case/case.json", "--format", form)
        for form in ("text", "html", "md", "json")
    ],
    "browse": [("browse", "--help")],  # the rest needs a terminal
    "completion": [("completion", shell) for shell in ("bash", "zsh", "fish", "powershell")],
    "doctor": [("doctor",), ("doctor", "--json")],
    "esxtop": [("esxtop", str(ROOT / "samples" / "esxtop" / "esxtop_csv" / "three_samples.csv"))],
    "log": [
        ("log", CASE, "--format", "csv"),
        ("log", ".", "--around", "2017-10-14T09:00:00", "--object", "vmnic3"),
    ],
    "compare": [("compare", CASE, "{work}/case/case.json", "-o", "{work}/compared")],
    "mcp": [("mcp", "--help")],
    "redact": [
        ("triage", CASE, "-o", "{work}/r", "--redact"),
        ("redact", "--reverse", "{work}/r.redact-map.json", "host01anon"),
    ],
    "tables": [("tables", CASE), ("tables", CASE, "esxi.net_stats", "--csv")],
    "batch": [
        ("batch", ".", "--archive", "{work}/b", "--jobs", "2"),
        ("batch", "cases", "--archive", "{work}/c", "--scheduler", "local", "--jobs", "1"),
    ],
    "watch": [
        (
            "watch",
            "cases",
            "--once",
            "--still",
            "0",
            "-o",
            "{work}/w",
            "--archive",
            "{work}/wa",
            "--open",
        )
    ],
    "launcher": [("launcher", "-o", "{work}"), ("launcher", "--start", CASE)],
    "rules new": [
        ("rules", "new", "made-up", "--kb", "{work}/new", "--log", "esxi.vmkernel"),
        ("rules", "new", "of-finding", "--kb", "{work}/new", "--from", "{work}/case/case.json#1"),
    ],
    "rules list": [("rules", "list", "--json")],
    "rules show": [("rules", "show", "kb-2039495")],
    "rules lint": [("rules", "lint", RULE)],
    "rules fmt": [("rules", "fmt", RULE)],
    "rules test": [("rules", "test", RULE, "--mutate")],
    "rules explain": [("rules", "explain", RULE, CASE)],
    "rules watch": [("rules", "watch", RULE, CASE, "--once")],
    "rules profile": [("rules", "profile", CASE)],
    "rules backtest": [("rules", "backtest", RULE, *ARCHIVE, "--jobs", "2")],
    "rules diff": [
        ("rules", "diff", "{work}/march", str(ROOT / "analyzer" / "kb" / "vm"), CASE, *ARCHIVE)
    ],
    "rules catalog": [("rules", "catalog")],
    "rules update": [("rules", "update", "--back", "--into", "{work}/catalogs")],
    "rules schema": [("rules", "schema")],
    "rules doc": [("rules", "doc", "kb-2039495")],
    "archive list": [("archive", "list", *ARCHIVE)],
    "archive show": [("archive", "show", "lab-ring-after", *ARCHIVE)],
    "archive search": [("archive", "search", *ARCHIVE, "esxi.net_stats: port_id > 1")],
    "archive sql": [
        ("archive", "sql", *ARCHIVE, "SELECT rule, count(*) FROM findings GROUP BY rule")
    ],
    "archive similar": [("archive", "similar", "lab-ring-after", *ARCHIVE)],
    "archive background": [("archive", "background", *ARCHIVE, "-o", "{work}/background.csv")],
    "archive heatmap": [("archive", "heatmap", *ARCHIVE, "-o", "{work}/map.html")],
    "archive export": [("archive", "export", "lab-ring-after", *ARCHIVE, "-o", "{work}/exported")],
    "archive label": [("archive", "label", "lab-ring-after", "kb-2039495", *ARCHIVE, "--confirm")],
    "archive verify": [("archive", "verify", *ARCHIVE)],
    "archive remove": [("archive", "remove", "case-59", *ARCHIVE, "--yes")],
    "archive compact": [("archive", "compact", *ARCHIVE)],
}
SERVED = "serve"  # has a test of its own


def commands(group: click.Group = main, before: str = "") -> Iterator[str]:
    """Yield the names of all commands."""
    context = click.Context(group)
    for name in group.list_commands(context):
        one = group.get_command(context, name)
        if isinstance(one, click.Group):
            yield from commands(one, f"{name} ")
        else:
            yield before + name


def test_each_command_is_tried() -> None:
    """A new command has to be added to the table above."""
    assert set(commands()) == {*RUNS, SERVED}


def test_the_folder_would_do_its_worst(folder: Folder) -> None:
    """The control: Python itself, started there without -P, executes such a module; and there are hundreds."""
    assert folder.names > 700
    control = [sys.executable, "-c", "from multiprocessing.forkserver import main"]
    subprocess.run(
        control, cwd=folder.path, env=folder.environment(), capture_output=True, check=False
    )
    assert "multiprocessing" in folder.executed()


# Runs commands one after another as `backline` begins each; what one of them loads is loaded for the next as well.
DRIVER = """
import json, sys
from analyzer.runtime import safepath
if __name__ == "__main__":
    safepath.hold_path()
    from analyzer.cli import main
    for words in json.loads(sys.argv[1]):
        try:
            main(words, prog_name="backline")
        except SystemExit as end:
            assert end.code in (0, 1, 5), (words, end.code)
"""


@pytest.mark.parametrize("group", range(GROUPS := 4))
def test_no_command_runs_what_lies_in_the_current_folder(folder: Folder, group: int) -> None:
    """Each command does its work in the folder, in its process and in children, and leaves no mark."""
    runs = [words for command in list(RUNS)[group::GROUPS] for words in RUNS[command]]
    assert len(runs) >= 8
    driver = folder.work / "driver.py"
    driver.write_text(DRIVER, encoding="utf-8")
    words = [[word.replace("{work}", str(folder.work)) for word in one] for one in runs]
    folder.run(json.dumps(words), start=(sys.executable, str(driver)))


@contextlib.contextmanager
def without(folder: Folder, *names: str) -> Iterator[None]:
    """Take modules out of the folder for a while."""
    for name in names:
        (folder.path / f"{name}.py").rename(folder.work / f"{name}.py")
    try:
        yield
    finally:
        for name in names:
            (folder.work / f"{name}.py").rename(folder.path / f"{name}.py")


@pytest.mark.parametrize(
    "start",
    [
        (sys.executable, "-P", "-m", "analyzer"),
        (sys.executable, "-E", str(BACKLINE)),
        (sys.executable, "-I", str(BACKLINE)),
        (sys.executable, "-m", "analyzer"),
        (sys.executable, "-E", "-m", "analyzer"),
    ],
    ids=["-P -m", "-E", "-I", "-m", "-E -m"],
)
def test_however_it_was_started(folder: Folder, start: tuple[str, ...]) -> None:
    """A batch and a back-test are safe with each way to start Python.

    `python -m analyzer` without -P asks Python for an `analyzer` of the folder: that one is left out.
    """
    archive = folder.work / f"archive{''.join(start[1:-1])}".replace("/", "")
    with without(
        folder, *(["analyzer"] if start[-2:] == ("-m", "analyzer") and "-P" not in start else [])
    ):
        folder.run("batch", CASE, "--archive", archive, "--jobs", "1", start=start)
        if start[1] == "-m":  # the processes of both are begun alike
            rule, stored = folder.work / "kb-2039495.yaml", folder.work / "archive"
            folder.run("rules", "backtest", rule, "--archive", stored, "--jobs", "2", start=start)


def test_python_dash_m_without_a_loaded_library(folder: Folder, tmp_path: Path) -> None:
    """`python -m analyzer` takes no `pathlib` or `re` of the folder, with nothing loaded by the site before.

    What Python itself asks for before any code of ours runs is left out; -P keeps that away too.
    """
    (tmp_path / "probe").mkdir()
    (tmp_path / "probe" / "__init__.py").write_text(
        "import sys\nprint(*sys.modules)\n", encoding="utf-8"
    )
    probe = [sys.executable, "-S", "-m", "probe"]
    loaded = set(
        subprocess.run(
            probe, cwd=tmp_path, capture_output=True, text=True, check=False
        ).stdout.split()
    )
    assert not {"pathlib", "re", "__future__"} & loaded
    here = sorted(name for name in loaded | {"analyzer"} if (folder.path / f"{name}.py").exists())
    places = os.pathsep.join([str(ROOT), str(Path(click.__file__).parent.parent)])
    with without(folder, *here):
        shown = folder.run(
            "--help", start=(sys.executable, "-S", "-m", "analyzer"), env={"PYTHONPATH": places}
        )
    assert "Usage: backline" in shown


def test_a_pack_of_the_current_folder_is_none(folder: Folder) -> None:
    """Metadata of a distribution that lies in the folder announces no rules."""
    for start in ((str(BACKLINE),), (sys.executable, "-P", "-m", "analyzer")):
        assert "evil" not in folder.run("rules", "list", "-v", start=start)


def test_the_probe_of_an_engine(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that tries hyperscan on an old processor imports the installed one."""
    monkeypatch.chdir(folder.path)
    monkeypatch.delenv(safepath.SAFE, raising=False)
    monkeypatch.setattr(engines.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(Path, "read_text", lambda *_args, **_named: "flags: sse2")
    engines._safe_to_import()
    monkeypatch.undo()
    assert folder.executed() == {}


def test_pools_of_a_program_are_safe(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that uses the pools without the command gets children with a safe path too."""
    monkeypatch.setenv("HOME", str(folder.work))
    program = folder.work / "program.py"
    program.write_text(
        "from analyzer.workers.pool import WorkerPool\n"
        "from analyzer.archive.batches.jobs import READ, Job, Work\n"
        "if __name__ == '__main__':\n"
        "    pool = WorkerPool(repr, 1, preload='analyzer.archive.batches.preload')\n"
        "    print([len(text) > 9 for text in pool.run(iter([Job(1, READ, (Work('a', '/a'),))]))])\n"
        "    pool.close()\n",
        encoding="utf-8",
    )
    assert folder.run(start=(sys.executable, str(program))) == "[True]\n"


@pytest.mark.parametrize("words", ["", ".", "lib"])
def test_relative_words_of_pythonpath(tmp_path: Path, words: str) -> None:
    """An empty or relative entry of PYTHONPATH reaches neither this process nor its children; others stay."""
    script = "import sys, os; from analyzer.runtime import safepath; safepath.hold_path(); print(sys.path); print(os.environ['PYTHONPATH'])"
    path = os.pathsep.join([str(ROOT), words, "/srv/lib"])
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    here, kept = done.stdout.splitlines()
    assert str(tmp_path) not in here
    assert "''" not in here
    assert "'/srv/lib'" in here
    assert kept == os.pathsep.join([str(ROOT), "/srv/lib"])


def test_a_checkout_that_is_not_installed_still_runs(tmp_path: Path) -> None:
    """`python -m analyzer` in a checkout finds its own code, in its processes as well."""
    places = str(
        Path(click.__file__).parent.parent
    )  # without .pth files: nothing says where the checkout lies
    words = [
        "batch",
        "samples/cases/lab-ring-after",
        "--archive",
        str(tmp_path / "a"),
        "--jobs",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, "-S", "-m", "analyzer", *words], cwd=ROOT, env={**os.environ, "PYTHONPATH": places},
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert "3 read" in done.stdout, done.stderr


def test_serve_runs_no_code_of_the_current_folder(folder: Folder) -> None:
    """The page, the process of a case, and the one that tries a rule leave no mark either."""
    (folder.work / "served").mkdir()
    process = subprocess.Popen(
        [BACKLINE, "serve", "--no-open", "--work-dir", folder.work / "served", "--archive", folder.work / "archive"],
        cwd=folder.path, env=folder.environment({"PYTHONUNBUFFERED": "1"}), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    kill = threading.Timer(PATIENCE, process.kill)
    kill.start()
    try:
        assert process.stdout is not None
        port, token = re.findall(r"http://127\.0\.0\.1:(\d+)/#(\S+)", process.stdout.readline())[0]
        page = _Page(int(port), token)
        case = page.ask("POST", "/cases", {"path": str(folder.path / CASE)})["id"]
        page.ask("POST", f"/cases/{case}/start")
        while (state := page.ask("GET", f"/cases/{case}")["state"]) not in (
            "done",
            "partial",
            "failed",
            "refused",
        ):
            time.sleep(0.2)
        assert state == "done"
        text = (folder.work / "kb-2039495.yaml").read_text(encoding="utf-8")
        for over in ("examples", case):
            assert page.ask("POST", "/rules/judge", {"text": text, "case": over})
    finally:
        kill.cancel()
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
    assert folder.executed() == {}


class _Page:
    """What a signed-in page sends."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.home = port, ""
        self.headers = {"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}
        self.headers["X-Backline-Token"] = token
        self.home = self.ask("POST", "/enter")["path"]

    def ask(self, method: str, path: str, data: Any = None) -> Any:
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        body = None if data is None else json.dumps(data)
        kind = {"Content-Type": "application/json"} if body else {}
        wire.request(method, self.home + path, body, {**self.headers, **kind})
        answer = wire.getresponse()
        told = answer.read()
        assert answer.status < 300, (method, path, told)
        if cookie := answer.getheader("Set-Cookie"):
            self.headers["Cookie"] = cookie.partition(";")[0]
        wire.close()
        return json.loads(told) if told else None


def test_settings_of_the_current_folder_name_rules_and_run_nothing(tmp_path: Path) -> None:
    """A backline.toml may name catalogs; a Python file in such a folder is no rule and is not executed."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "evil.py").write_text(
        MODULE.format(marks=str(tmp_path), name="ran"), encoding="utf-8"
    )
    shutil.copytree(ROOT / "samples" / "cases" / "lab-ring-after", tmp_path / "case")
    rule = (
        (ROOT / "analyzer" / "kb" / "network" / "kb-2039495.yaml")
        .read_text(encoding="utf-8")
        .replace("kb-2039495", "my-ring", 1)
    )
    (tmp_path / "rules" / "my-ring.yaml").write_text(rule, encoding="utf-8")
    settings = tmp_path / "desk.toml"
    settings.write_text('kb = ["rules"]\n', encoding="utf-8")
    words = [
        "triage",
        str(tmp_path / "case"),
        "-o",
        str(tmp_path / "out"),
        "--settings",
        str(settings),
    ]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert '"my-ring"' in (tmp_path / "out" / "case.json").read_text(encoding="utf-8"), (
        "its rules are in use"
    )
    assert not (tmp_path / "ran").exists()
