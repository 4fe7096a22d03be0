"""The command line: exit codes, what goes to stdout and stderr, and how errors read."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from analyzer.cli import main
from analyzer.commands.late import LateGroup
from analyzer.commands.manual import write_cli_page
from analyzer.runtime import output

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"


def run(*args: str) -> Result:
    """Run the command in this process and return its result."""
    return CliRunner().invoke(main, list(args), catch_exceptions=False)


def list_late_groups(group: click.Group) -> list[LateGroup]:
    """Return a group and all groups below it, as far as they import their commands on demand."""
    context = click.Context(group)
    found = [group] if isinstance(group, LateGroup) else []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            found += list_late_groups(command)
    return found


def test_a_line_of_the_help_is_the_first_of_its_command() -> None:
    """`--help` imports no command: what it says of each stands in a table, and once more in the command."""
    groups = list_late_groups(main)
    assert len(groups) == 3
    for group in groups:
        context = click.Context(group)
        section = click.HelpFormatter(width=200)
        group.format_commands(context, section)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None, name
            assert f"{name} {command.get_short_help_str(200)}" in " ".join(
                section.getvalue().split()
            )


def test_a_path_alone_is_a_triage(tmp_path: Path) -> None:
    """`backline PATH -o DIR` writes the three results and ends with 0."""
    done = run(str(CASES / "healthy-host"), "-o", str(tmp_path / "out"), "--quiet")

    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "case.json",
        "report.html",
        "report.md",
    ]
    assert done.stdout == ""


def test_an_option_of_triage_may_come_first() -> None:
    """`backline --severity X PATH` is a triage as `backline PATH --severity X` is; other options stay unknown."""
    assert (
        "Invalid value for '--severity'"
        in run("--severity", "bad", str(CASES / "healthy-host")).output
    )
    assert "No such option '--verison'" in run("--verison", str(CASES / "healthy-host")).output


def test_json_goes_to_stdout_alone(tmp_path: Path) -> None:
    """`--json -` prints one valid JSON document and nothing before or after it."""
    done = run("triage", str(CASES / "lab-ring-before"), "--json", "-")

    document = json.loads(done.stdout)
    assert document["schema"] == "backline/case-1"


def test_fail_on_is_an_exit_code(tmp_path: Path) -> None:
    """A finding at or above --fail-on ends with 1; below it with 0."""
    case = str(CASES / "lab-ring-before")

    assert (
        run("triage", case, "-o", str(tmp_path / "a"), "--quiet", "--fail-on", "warning").exit_code
        == 1
    )
    assert (
        run("triage", case, "-o", str(tmp_path / "b"), "--quiet", "--fail-on", "critical").exit_code
        == 0
    )


def test_a_cut_bundle_is_partial(tmp_path: Path) -> None:
    """Something that could not be read ends with 5, and the report exists."""
    done = run("triage", str(CASES / "cut-bundle"), "-o", str(tmp_path / "out"))

    assert done.exit_code == 5
    assert (tmp_path / "out" / "report.html").stat().st_size > 1000


def test_a_path_that_does_not_exist_is_refused() -> None:
    """A missing path ends with 3 and one line that names it; it is never a success."""
    done = run("triage", "/nonexistent-bundle.tgz")

    assert done.exit_code == 3
    assert "/nonexistent-bundle.tgz" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_readable_is_refused(tmp_path: Path) -> None:
    """A file that is not support material ends with 3, without a report, and says what it looks like."""
    page = tmp_path / "bundle.tgz"
    page.write_text("<!DOCTYPE html><html><body>Session expired</body></html>")
    done = run("triage", str(page), "-o", str(tmp_path / "out"))

    assert done.exit_code == 3
    assert "HTML" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_broken_rule_is_reported_and_the_others_run(tmp_path: Path) -> None:
    """One invalid rule file ends with 4, its place is on stderr, and the other rules have judged."""
    kb = tmp_path / "kb"
    kb.mkdir()
    (kb / "mine.yaml").write_text(
        "rule: mine\ntitle: t\neach: a in esxi.net_stats\nwhenn: true\noutcomes: []\n"
    )
    case = CASES / "lab-ring-before"
    done = run("triage", str(case), "-o", str(tmp_path / "out"), "--quiet", "--kb", str(kb))

    assert done.exit_code == 4
    assert "mine.yaml:4" in done.stderr
    assert "whenn" in done.stderr
    document = json.loads((tmp_path / "out" / "case.json").read_text())
    assert any(finding["rule"] == "kb-2039495" for finding in document["findings"])


def test_an_unknown_table_suggests_a_name() -> None:
    """`backline tables` with a misspelt table ends with 2 and says what was meant."""
    done = run("tables", str(CASES / "lab-ring-before"), "esxi.net_stat")

    assert done.exit_code == 2
    assert "esxi.net_stats" in done.stderr


def test_tables_print_origin_and_rows() -> None:
    """A table as JSON carries node, source and line of each row."""
    done = run("tables", str(CASES / "lab-ring-before"), "esxi.vmxnet3_rx_summary", "--json")

    row = json.loads(done.stdout)
    assert row["ring1_full"] == 7086
    assert row["node"] == "esx0"
    assert row["_source"].endswith("esx0.txt")


def test_show_renders_a_saved_case(tmp_path: Path) -> None:
    """`backline show` needs no bundle: the saved case gives the same Markdown as the triage wrote."""
    run("triage", str(CASES / "lab-ring-before"), "-o", str(tmp_path), "--quiet")
    done = run("show", str(tmp_path / "case.json"), "--format", "md")

    assert done.stdout == (tmp_path / "report.md").read_text(encoding="utf-8")


@pytest.mark.size
def test_the_same_case_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two runs over one case write the same case.json and report, byte for byte."""
    for name in ("a", "b"):
        run("triage", str(CASES / "nsx-633-site"), "-o", str(tmp_path / name), "--quiet")
    for file in ("case.json", "report.html", "report.md"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_help_starts_without_heavy_modules() -> None:
    """`backline --help` loads none of numpy, pandas, duckdb, jinja2, textfsm, rich."""
    code = (
        "import sys\nfrom analyzer.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'duckdb', 'jinja2', 'textfsm', 'rich', 'hyperscan'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_question_to_an_archive_loads_nothing_that_reads_a_bundle() -> None:
    """The commands that ask or tend an archive load neither the pipeline nor the declarations of the parsers."""
    code = (
        "import importlib, sys\n"
        "for name in 'compact heatmap label list remove search similar sql verify'.split():\n"
        "    importlib.import_module(f'analyzer.commands.archive_{name}')\n"
        "reading = ('analyzer.pipeline', 'analyzer.ingest', 'analyzer.judge', 'analyzer.parsers', 'parsers.')\n"
        "print(*(name for name in sys.modules if name.startswith(reading)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.mark.process
def test_it_runs_from_a_checkout_without_installing(tmp_path: Path) -> None:
    """`python -m analyzer` in a checkout finds parsers, templates and rules."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "analyzer", "triage", str(CASES / "lab-ring-after"), "-o", str(tmp_path), "--quiet"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("command", main.list_commands(click.Context(main)))
def test_commands_are_documented_with_an_example(command: str) -> None:
    """Every command has help with an example and is on the page of the command line."""
    found = main.get_command(click.Context(main), command)
    assert found is not None
    text = found.help or ""
    assert "Example:" in text
    assert f"## backline {command}" in write_cli_page(main)


STARTED = """
import gc, json, sys
from analyzer import __main__
__main__._end_at_once = lambda status: None  # the process goes on and looks at itself
from analyzer.runtime.garbage import OBJECTS
try:
    __main__.run()
except SystemExit:
    pass
heavy = {"duckdb", "pandas", "numpy", "hyperscan", "yaml", "s3fs", "fsspec", "dask"}
ours = [name for name in sys.modules if name.startswith("analyzer.") and "parsers" not in name]
print(json.dumps([sorted(heavy & set(sys.modules)), gc.get_threshold()[0] == OBJECTS, len(ours)]))
"""


@pytest.mark.process
def test_a_small_case_starts_little(tmp_path: Path) -> None:
    """Three small files load no heavy library, and no more modules than their work needs."""
    command = [
        sys.executable,
        "-c",
        STARTED,
        "triage",
        str(CASES / "lab-ring-before"),
        "-o",
        str(tmp_path),
    ]
    environment = {**os.environ, "BACKLINE_CACHE": str(tmp_path / "cache")}
    for _ in range(2):  # the first run writes the cache of the rules
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
    heavy, seldom, modules = json.loads(done.stdout.splitlines()[-1])
    assert (heavy, seldom) == ([], True)
    assert modules <= 265  # measured: 263


@pytest.mark.parametrize("words", ["--help", "--version", "show --help"])
def test_help_to_a_full_disk_is_one_line(words: str) -> None:
    """`backline --help > /dev/full` says so in one line with status 6, as do the version and the help of a command."""
    done = subprocess.run(f"{sys.executable} -m analyzer {words} > /dev/full", shell=True, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
    assert done.returncode == 6
    assert done.stderr.startswith(
        "backline: standard output: cannot be written (No space left on device)."
    )
    assert done.stderr.count("\n") == 1


def test_a_result_written_into_a_pipe_leaves_the_pipe_in_its_place(tmp_path: Path) -> None:
    """`--json /dev/null` and `--json PIPE` write there; a file renamed over them would take the device away."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    told: list[str] = []
    reader = threading.Thread(
        target=lambda: told.append(pipe.read_text(encoding="utf-8")), daemon=True
    )
    reader.start()
    output.write_all(tmp_path, {"pipe": "the case", "file": "beside it"})
    reader.join(10)
    assert told == ["the case"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "beside it"
    assert all(
        output._is_stream(Path(name)) for name in ("/dev/null", "/dev/stdout")
    )  # never tried for real


@pytest.mark.process
def test_a_command_ends_with_all_it_has_written() -> None:
    """What goes to a pipe is whole, what was registered for the end runs, and the status is that of the command."""
    code = (
        "import tempfile, weakref, atexit, sys\nfrom analyzer import __main__\natexit.register(print, 'registered')\n"
        "sys.argv = ['backline', 'rules', 'show', 'kb-2039495', '-vv']\n__main__.run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    plain = subprocess.run([sys.executable, "-m", "analyzer", "rules", "show", "kb-2039495", "-vv"], cwd=ROOT, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == plain.returncode == 0
    assert done.stdout == plain.stdout + "registered\n" and len(plain.stdout) > 2000
