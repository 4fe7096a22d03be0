"""No command reads standard input unless `-` is typed: a terminal would wait, a shell's loop would lose its lines."""

from __future__ import annotations

import html
import io
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.commands import show

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
RULE = ROOT / "analyzer" / "kb" / "network" / "kb-2039495.yaml"
BACKLINE = [sys.executable, "-m", "analyzer"]
# Words behind each command that takes some; {…} are made by `material`. A command of the tree that is not here fails.
LINES = {
    "archive list": "--archive {archive}",
    "archive show": "{case} --archive {archive}",
    "archive search": "vmnic2 --archive {archive}",
    "archive sql": "'select 1' --archive {archive}",
    "archive similar": "{case} --archive {archive}",
    "archive heatmap": "--archive {archive} -o {out}",
    "archive background": "--archive {archive} -o {out}",
    "archive export": "--archive {archive} -o {out}",
    "archive label": "{case} kb-2039495 --confirm --archive {archive}",
    "archive remove": "{case} --archive {archive} --yes",
    "archive verify": "--archive {archive}",
    "archive compact": "--archive {archive}",
    "batch": "{bundle} --archive {archive} --jobs 1",
    "browse": "--help",  # needs a terminal: tests/views/test_browse.py
    "compare": "{bundle} {other} -o {out}",
    "completion": "bash",
    "doctor": "",
    "esxtop": "{csv}",
    "launcher": "--help",  # what it makes starts the page of the server
    "log": "{bundle}",
    "mcp": "--help",  # standard input is its protocol
    "redact": "--reverse {map} host01anon",
    "rules new": "kb-1 --kb {out}",
    "rules list": "",
    "rules show": "kb-2039495",
    "rules lint": "{rule}",
    "rules fmt": "{rule} --check",
    "rules test": "kb-2039495",
    "rules explain": "kb-2039495 {bundle}",
    "rules watch": "--help",  # runs until it is ended
    "rules profile": "{bundle}",
    "rules update": "--help",  # takes a signed file
    "rules backtest": "kb-2039495 --archive {archive}",
    "rules diff": "{rule} {rule}",
    "rules catalog": "",
    "rules schema": "",
    "rules doc": "kb-2039495",
    "serve": "--help",  # runs until it is ended
    "show": "{json}",
    "tables": "{bundle}",
    "triage": "{bundle} -o {out}",
    "watch": "--help",  # runs until it is ended
}


class Untouched(io.TextIOBase):
    """A terminal at which no one types: to read from it is the fault that the test looks for."""

    def isatty(self) -> bool:
        """Say that somebody could be asked."""
        return True

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"standard input was touched: {name}")

    def read(self, *_: Any) -> str:
        """Fail."""
        raise AssertionError("standard input was read")

    readline = readlines = __next__ = read  # type: ignore[assignment]


def list_commands(
    command: click.Command, context: click.Context, words: tuple[str, ...] = ()
) -> Iterator[str]:
    """Give the words of every command of the tree."""
    if not isinstance(command, click.Group):
        yield " ".join(words)
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from list_commands(found, context, (*words, name))


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make what the commands are given: two cases, a stored one, its document, a capture of esxtop, a map of names."""
    folder = tmp_path_factory.mktemp("material")
    names = folder / "names.redact-map.json"
    names.write_text("{}", encoding="utf-8")
    given = {
        "bundle": str(CASES / "lab-ring-before"), "other": str(CASES / "lab-ring-after"), "out": str(folder / "out"),
        "archive": str(folder / "archive"), "rule": str(RULE), "json": str(folder / "made" / "case.json"),
        "csv": str(next((ROOT / "samples" / "esxtop" / "esxtop_csv").glob("*.csv"))), "map": str(names), "case": "lab-ring-before",
    }  # fmt: skip
    run_quietly("triage", given["bundle"], "-o", str(folder / "made"))
    run_quietly("batch", given["bundle"], "--archive", given["archive"], "--jobs", "1")
    return given


def run_quietly(*words: str) -> None:
    """Run a command in a process of its own."""
    subprocess.run(
        [*BACKLINE, *words, "--quiet"], stdin=subprocess.DEVNULL, capture_output=True, check=True
    )


def test_every_command_has_a_line_here() -> None:
    """A new command joins the sweep, or its reading of standard input would be seen by users first."""
    assert set(list_commands(main, click.Context(main))) == set(LINES)


@pytest.mark.process
@pytest.mark.parametrize("command", sorted(LINES))
def test_no_command_reads_standard_input_by_itself(
    command: str, material: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given its material, each command does its work without a look at standard input."""
    words = shlex.split(LINES[command].format(**material | {"out": str(tmp_path / "out")}))
    monkeypatch.setattr(sys, "stdin", Untouched())
    monkeypatch.chdir(tmp_path)
    try:
        main.main([*command.split(), *words], prog_name="backline", standalone_mode=False)
    except (click.ClickException, click.exceptions.Exit) as error:
        assert not isinstance(error, click.UsageError), error.format_message()


@pytest.mark.process
@pytest.mark.parametrize(
    "words", ["log {bundle}", "tables {bundle}", "triage {bundle} -o {out} --quiet", "show {json}"]
)
def test_a_loop_keeps_its_lines(words: str, material: dict[str, str], tmp_path: Path) -> None:
    """`while read n; do backline …; done < list` comes to the last line of the list."""
    command = shlex.join(
        [*BACKLINE, *shlex.split(words.format(**material | {"out": str(tmp_path / "out")}))]
    )
    script = f"while read n; do {command} > /dev/null 2>&1; echo line $n; done"
    done = subprocess.run(
        ["sh", "-c", script],
        input="1\n2\n3\n",
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.split() == ["line", "1", "line", "2", "line", "3"]


def run_in_terminal(words: list[str], folder: Path, seconds: float = 60) -> str:
    """Run a command in a terminal of 80 columns and return its screen; fail when it hangs.

    Nothing is typed but the `q` that ends the pager.
    """
    child, handle = pty.fork()
    if child == 0:  # pragma: no cover - another program from here on
        os.chdir(folder)
        os.environ.update(COLUMNS="80", LINES="24", TERM="xterm", PYTHONPATH=str(ROOT))
        os.execv(words[0], words)
    screen, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([handle], [], [], 0.5)[0]:
            continue
        try:
            part = os.read(handle, 1 << 16)
        except OSError:  # the other side is closed
            part = b""
        if not part:
            os.waitpid(child, 0)
            os.close(handle)
            return screen.decode("utf-8", "replace")
        screen += part
        if b"(END)" in screen[-40:]:
            os.write(handle, b"q")
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise AssertionError(
        f"still running after {seconds} s: {shlex.join(words)}\n{screen.decode('utf-8', 'replace')}"
    )


def find_printed_commands(text: str) -> list[str]:
    """Return the commands of ours that a text shows."""
    found = re.findall(r"backline (?:log|show|tables|triage|compare) [^`<\"\r\n]+", text)
    return [html.unescape(command).rstrip(" .,)") for command in found]


@pytest.mark.process
def test_every_command_that_a_case_prints_ends_by_itself(tmp_path: Path) -> None:
    """What the summary and each form of the report tell an engineer to type runs in a terminal and comes back."""
    screen = run_in_terminal(
        [*BACKLINE, "triage", str(CASES / "slow-storage"), "-o", "out"], tmp_path
    )
    commands = find_printed_commands(screen)
    (form,) = (one for one in show.command.params if one.name == "form")
    assert isinstance(form.type, click.Choice)
    for choice in form.type.choices:
        words = [*BACKLINE, "show", "out/case.json", "--format", str(choice)]
        commands += find_printed_commands(run_in_terminal(words, tmp_path))
    assert any(" log " in command for command in commands)
    for command in dict.fromkeys(commands):
        words = [*BACKLINE, *shlex.split(command)[1:]]
        assert "Traceback" not in run_in_terminal(words, tmp_path)


@pytest.mark.process
def test_a_dash_without_standard_input_is_a_mistake_that_is_explained() -> None:
    """A service may start a program without standard input; `-` then says so and is no bug of ours."""
    command = f"{shlex.join([*BACKLINE, 'log', '-'])} <&-"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 2 and "there is no standard input" in done.stderr, done.stderr


@pytest.mark.parametrize("command", ["triage", "log", "tables", "esxtop"])
def test_a_pipe_without_a_dash_says_what_to_type(command: str) -> None:
    """`cat x | backline log` reads nothing and names the `-`; a command that takes no `-` does not."""
    done = CliRunner().invoke(main, [command], prog_name="backline", input="x\n")
    assert done.exit_code == 2 and f"command | backline {command} -" in done.stderr
    assert "standard input" not in CliRunner().invoke(main, ["compare"]).stderr
