"""Completion in shells, the man page, and `backline doctor`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.commands import doctor, manual

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def run(*words: str) -> str:
    """Run the command in this process and return what it prints."""
    done = CliRunner().invoke(main, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.skipif(
    shutil.which("bash") is None or not (BIN / "backline").exists(),
    reason="no bash, or not installed",
)
def test_bash_completes(tmp_path: Path) -> None:
    """Bash with the script completes a command, an option, a choice and the id of a rule."""
    (tmp_path / "script").write_text(run("completion", "bash"), encoding="utf-8")
    program = """
        source ./script
        ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _backline_completion backline; echo "${COMPREPLY[*]}"; }
        ask backline tri
        ask backline triage --sev
        ask backline completion po
        ask backline rules show kb-20394
    """
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["triage", "--severity", "powershell", "kb-2039495"], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_each_shell_has_a_script(shell: str) -> None:
    """Each script asks the command through the variable that click answers to."""
    text = run("completion", shell)
    assert "_BACKLINE_COMPLETE" in text and "backline" in text
    assert CliRunner().invoke(main, ["completion", "tcsh"]).exit_code == 2


def test_the_words_that_powershell_reads() -> None:
    """What its script sends, Windows paths with doubled backslashes, is answered with `plain,value` and a tab, or a file."""

    def asked(line: str, word: str) -> list[str]:
        environment = {
            **os.environ, "_BACKLINE_COMPLETE": "fish_complete", "COMP_WORDS": line.replace("\\", "\\\\"),
            "COMP_CWORD": word.replace("\\", "\\\\"),
        }  # fmt: skip
        command = [sys.executable, "-m", "analyzer"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout.splitlines()

    assert asked("backline com", "com")[0].startswith("plain,compare\t")
    assert [line.split("\t")[0] for line in asked("backline triage --form", "--form")] == [
        "plain,--format"
    ]
    assert asked("backline triage C:\\cases\\b", "C:\\cases\\b")[0].startswith("file,")


def test_the_man_page_says_all() -> None:
    """Every command and option is in the man page, and groff has nothing to complain about."""
    page = manual.write_man_page(main, "1")
    plain = page.replace("\\-", "-")
    context = main.make_context("backline", [], resilient_parsing=True)
    names = [name for name, _, _ in manual.list_commands(main, context)]
    assert len(names) > 30 and all(f'.SS "{name}"' in plain for name in names)
    options = {
        word
        for _, command, _ in manual.list_commands(main, context)
        for one in command.params
        for word in one.opts
        if word.startswith("--") and not getattr(one, "hidden", False)
    }
    assert all(word in plain for word in options)
    codes = re.findall(r"^\.B (\d+)$", page, re.MULTILINE)
    told = (
        (ROOT / "docs" / "commands.md")
        .read_text(encoding="utf-8")
        .partition("Exit codes:")[2]
        .partition("\n\n")[0]
    )
    assert codes == re.findall(r"(?<![\w.])(\d+) ", told)
    assert "share/man/man1" in (ROOT / "setup.py").read_text(encoding="utf-8")
    if shutil.which("groff"):
        command = ["groff", "-ww", "-man", "-Tascii"]
        assert (
            subprocess.run(command, input=page, capture_output=True, text=True, check=True).stderr
            == ""
        )


def test_the_man_page_does_not_hang_on_who_asked_first() -> None:
    """The help of a command that was asked on its own first, without the names of the group, changes no page."""

    @click.command()
    def child() -> None:
        """Do one thing."""

    group = click.Group(
        "group", {"child": child}, context_settings={"help_option_names": ["-h", "--help"]}
    )
    child.get_help(click.Context(child))
    assert manual.write_man_page(group, "1").count("\\-h, \\-\\-help") == 2


def test_the_doctor_tells_of_this_machine() -> None:
    """Versions, engines, cache, disk and terminal, as lines and as JSON, each part whole."""
    found = json.loads(run("doctor", "--json"))
    assert set(found) == {"Backline", "Engines", "Folders", "Terminal", "Packages"}
    assert found["Backline"]["python"].startswith(
        f"CPython {sys.version_info.major}.{sys.version_info.minor}"
    )
    assert not [part for part in found.values() if "failed" in part]
    assert "GB free" in found["Folders"]["current"]
    assert all(
        f"  {name}" in run("doctor") for name in ("backline", "cache", "hyperscan", "duckdb")
    )


@pytest.mark.size
def test_the_doctor_names_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the home folder, nor the current one, nor the value of a variable is in what goes into a bug report."""
    home = tmp_path / "home-of-acme"
    folder = tmp_path / "case-of-acme"
    home.mkdir()
    folder.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("BACKLINE_CACHE", str(home / "cache"))
    monkeypatch.setenv("BACKLINE_SECRET", "value-of-acme")
    monkeypatch.chdir(folder)
    said = run("doctor")
    assert "acme" not in said
    assert "BACKLINE_SECRET" in said and str(Path("~") / "cache") in said


def test_the_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not there, and a part that fails, end with 5 and are named; the other parts are told."""

    def broken() -> None:
        raise OSError(5, "the disk is gone")

    monkeypatch.setattr(doctor, "NEEDED", ("click", "no-such-package"))
    monkeypatch.setattr(doctor, "PARTS", {**doctor.PARTS, "Folders": broken})
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 5
    assert (
        "look at Packages: no-such-package" in done.stderr
        and "look at Folders: failed" in done.stderr
    )
    assert "the disk is gone" in done.stdout and "CPython" in done.stdout
