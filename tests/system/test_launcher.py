"""Icons to drop a case on: what is written for each desktop, and on Linux what happens when it is started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.commands.launcher import (
    find_program,
    parse_dropped,
    quote_exec_word,
    write_command_file,
    write_desktop_entry,
    write_droplet,
)
from analyzer.runtime.errors import UsageError
from tests.kit.batch_kit import PATIENCE, ROOT, backline, said

BUNDLE = ROOT / "samples" / "cases" / "lab-ring-before"
HARD = '/opt/my py (x86)/$a `b` "c" 50% \\d\'s;&|<>~*?#/python'
HARD_FILES = ["a b.txt", "c&d.txt", 'e(1)\'s "x" $HOME `id` 100%.txt']


def keys(text: str) -> dict[str, str]:
    """Return the keys of a desktop entry, with the escapes of strings undone, as the specification orders it."""
    found = {}
    for line in text.splitlines()[1:]:
        key, _, value = line.partition("=")
        parts = [
            part.replace("\\s", " ").replace("\\t", "\t").replace("\\n", "\n")
            for part in value.split("\\\\")
        ]
        found[key] = "\\".join(parts)
    return found


def exec_words(line: str, files: list[str]) -> list[str]:
    """Split an Exec value by the rules of the Desktop Entry Specification, then expand its field codes."""
    words: list[tuple[str, bool]] = []
    word, quoted, any_ = "", False, False
    signs = iter(line)
    for sign in signs:
        if quoted and sign == "\\":
            word += next(signs)
        elif sign == '"':
            quoted, any_ = not quoted, True
        elif sign == " " and not quoted:
            words += [(word, any_)] if word or any_ else []
            word, any_ = "", False
        else:
            assert quoted or sign not in "\t\n'\\><~|&;$*?#()`", f"{sign} is not quoted"
            word += sign
    words += [(word, any_)] if word or any_ else []
    expanded: list[str] = []
    for text, _ in words:
        expanded += files if text == "%F" else [text.replace("%%", "%")]
    return expanded


def test_the_exec_line_survives_any_path() -> None:
    """Spaces, quotes, dollars, backslashes and percent signs of the program's path reach the system as they are."""
    _, text, _ = write_desktop_entry([HARD, "-m", "analyzer"])
    assert exec_words(keys(text)["Exec"], HARD_FILES) == [
        HARD,
        "-m",
        "analyzer",
        "launcher",
        "--start",
        *HARD_FILES,
    ]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
def test_every_word_comes_back(word: str) -> None:
    """What the writer quotes, the rules of the specification give back; %F stays the only field code."""
    value = keys(f"\nExec={quote_exec_word(word)} %F")["Exec"]
    assert exec_words(value, ["f"]) == [word, "f"]


@pytest.mark.parametrize("word", ["a\nb", "a\x00b", "a\udcffb", "a\x1bb"])
def test_what_cannot_be_written_is_refused(word: str) -> None:
    """A path with a line break or an undecodable byte is refused on each system, not mangled."""
    for writer in (write_desktop_entry, write_command_file, write_droplet):
        with pytest.raises(UsageError, match="cannot be started from an icon"):
            writer([word])
    with pytest.raises(UsageError, match="holds a `="):
        write_desktop_entry(["/opt/a=b/python"])


def test_desktop_file_validate_agrees(tmp_path: Path) -> None:
    """The validator of freedesktop.org finds nothing, with a plain and a hard path."""
    if shutil.which("desktop-file-validate") is None:
        pytest.skip("desktop-file-utils is not installed")
    for number, words in enumerate((find_program(), [HARD])):
        path = tmp_path / f"backline{number}.desktop"
        path.write_text(write_desktop_entry(words)[1], encoding="utf-8")
        done = subprocess.run(
            ["desktop-file-validate", path], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("rest", "files"),
    [
        (r'""C:\d\Backline.cmd" C:\t\a&b.tgz"', [r"C:\t\a&b.tgz"]),
        (r'""C:\d\Backline.cmd" "C:\t\a b.tgz" C:\t\c^d.txt"', [r"C:\t\a b.tgz", r"C:\t\c^d.txt"]),
        (
            r'""C:\d e\Back (1).cmd" "C:\t\a & b (2)!.tgz" C:\t\%x%.txt"',
            [r"C:\t\a & b (2)!.tgz", r"C:\t\%x%.txt"],
        ),
        (r'""C:\d\Backline.cmd" "', []),
        (r"C:\d\Backline.cmd C:\a.tgz", [r"C:\a.tgz"]),
    ],
)
def test_the_line_of_the_explorer_is_read(rest: str, files: list[str]) -> None:
    """Dropped names come out whole, also those with & and no space, which the Explorer does not quote."""
    assert parse_dropped(rf"C:\WINDOWS\system32\cmd.exe /c {rest}") == files
    assert parse_dropped(rf'"C:\WINDOWS\system32\cmd.exe" /C {rest}') == files


@pytest.mark.parametrize(
    "line", ["", r"C:\WINDOWS\system32\cmd.exe", r'"C:\WINDOWS\system32\cmd.exe" ']
)
def test_a_shell_that_is_open_dropped_nothing(line: str) -> None:
    """The line of a shell in which somebody types names no files."""
    assert parse_dropped(line) == []


def test_the_command_file_keeps_its_promises() -> None:
    """Windows: line ends of DOS, percent signs doubled, the line of the Explorer never expanded by `%`."""
    name, text, _ = write_command_file([r"C:\Program Files (x86)\50% & co!\python.exe", "-P"])
    assert name == "Backline.cmd"
    assert text.count("\n") == text.count("\r\n") == len(text.splitlines())
    assert (
        r'"C:\Program Files (x86)\50%% & co!\python.exe" "-P" "launcher" "--start"'
        in text.splitlines()
    )
    assert 'set "BACKLINE_LINE=!cmdcmdline!"' in text
    assert "%*" not in text
    lines = text.splitlines()
    assert lines.index('set "NoDefaultCurrentDirectoryInExePath=1"') < lines.index(
        next(x for x in lines if ".exe" in x)
    )
    assert '"%SystemRoot%\\System32\\chcp.com" 65001 >nul' in lines, (
        "no chcp of a folder of downloads"
    )
    assert text.splitlines()[-1] == "exit", "the rest of a broken line is not run"


def test_the_droplet_quotes() -> None:
    """macOS: the dropped names go through `quoted form of`, the program through the shell's and AppleScript's quotes."""
    _, text, _ = write_droplet(['/opt/it\'s "here"/python', "-m", "analyzer"])
    assert "quoted form of (POSIX path of anItem)" in text
    line = next(line for line in text.splitlines() if 'set theCommand to "' in line)
    literal = line.partition('"')[2].rpartition('" & " --"')[0]
    shell = literal.replace('\\"', '"').replace("\\\\", "\\")
    script = f"printf '%s\\n' {shell} -- x"
    said_ = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert said_ == ['/opt/it\'s "here"/python', "-m", "analyzer", "launcher", "--start", "--", "x"]


@pytest.mark.parametrize(
    ("system", "name"),
    [("linux", "backline.desktop"), ("windows", "Backline.cmd"), ("macos", "Backline.applescript")],
)
def test_one_file_is_written(tmp_path: Path, system: str, name: str) -> None:
    """Each system gets one file in the folder that was named, and is told what to do with it."""
    code, out, _ = said(
        backline("launcher", "--system", system, "-o", tmp_path / "icons", cwd=tmp_path)
    )
    assert code == 0
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [name]
    assert out.splitlines()[0] == f"written: {tmp_path / 'icons' / name}"
    assert len(out.splitlines()) > 2
    if system == "linux":
        assert os.access(tmp_path / "icons" / name, os.X_OK)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A file where the folder should be is a plain error."""
    (tmp_path / "file").touch()
    code, _, err = said(backline("launcher", "-o", tmp_path / "file", cwd=tmp_path))
    assert code == 6
    assert "cannot write the result" in err


def db(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a desktop: a home, a browser that notes what it opens, a terminal that just runs."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in (
        ("xdg-open", f'printf "%s\\n" "$1" >> "{tmp_path}/opened"'),
        ("xterm", 'shift\nexec "$@"'),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    (tmp_path / "home").mkdir()
    hostile = tmp_path / "home" / "analyzer"  # what a folder of downloads may hold
    hostile.mkdir()
    (hostile / "__init__.py").write_text(
        "raise SystemExit('code of the current folder was run')", encoding="utf-8"
    )
    keep = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return keep | {
        "HOME": str(tmp_path / "home"), "PATH": f"{tools}:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "NO_COLOR": "1",
    }  # fmt: skip


def dropped_files(tmp_path: Path) -> list[str]:
    """Return the files of a case under hard names."""
    sources = sorted(path for path in BUNDLE.iterdir() if path.suffix == ".txt") or sorted(
        BUNDLE.iterdir()
    )
    (tmp_path / "my case").mkdir()
    files = [str(tmp_path / "my case" / name) for name in HARD_FILES[: len(sources)]]
    for source, file in zip(sources, files, strict=False):
        shutil.copyfile(source, file)
    return files


@pytest.mark.process
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="desktop entries are a matter of Linux"
)
def test_a_dropped_case_is_triaged(tmp_path: Path) -> None:
    """The Exec line, split by the specification and started with dropped files, triages them as one case and opens it.

    Nothing of the current folder is imported, and the report lies in the home folder.
    """
    files = dropped_files(tmp_path)
    line = keys(write_desktop_entry(find_program())[1])["Exec"]
    done = subprocess.run(
        exec_words(line, files), env=db(tmp_path), cwd=tmp_path / "home", capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = tmp_path / "home" / "backline-out" / "my-case" / "report.html"
    assert report.exists()
    assert (tmp_path / "opened").read_text(encoding="utf-8") == f"{report}\n"
    document = json.loads((report.parent / "case.json").read_text(encoding="utf-8"))
    assert sorted(file["name"] for file in document["case"]["files"]) == sorted(HARD_FILES)


@pytest.mark.process
@pytest.mark.skipif(shutil.which("gio") is None, reason="GLib's launcher is not installed")
def test_glib_starts_it(tmp_path: Path) -> None:
    """GLib, which GNOME and Xfce start desktop entries with, gives the files over as they are."""
    files = dropped_files(tmp_path)
    entry = tmp_path / "backline.desktop"
    entry.write_text(write_desktop_entry(find_program())[1], encoding="utf-8")
    done = subprocess.run(
        ["gio", "launch", entry, *files], env=db(tmp_path), cwd=tmp_path, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    until = time.monotonic() + PATIENCE
    while not (tmp_path / "opened").exists():
        assert time.monotonic() < until, "no report was opened"
        time.sleep(0.1)
    assert (tmp_path / "home" / "backline-out" / "my-case" / "report.html").exists()


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="sets the variable as Backline.cmd does")
def test_the_line_of_the_explorer_starts_a_triage(tmp_path: Path) -> None:
    """With the variable that Backline.cmd sets, the files named in it are triaged as one case."""
    (tmp_path / "my&case").mkdir()
    path = shutil.copyfile(next(BUNDLE.glob("*.txt")), tmp_path / "my&case" / "a&b.txt")
    line = rf'C:\WINDOWS\system32\cmd.exe /c ""C:\d\Backline.cmd" {path}"'
    done = subprocess.run(
        [*find_program(), "launcher", "--start"], env=db(tmp_path) | {"BACKLINE_LINE": line}, cwd=tmp_path,
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "home" / "backline-out" / "a-b.txt" / "report.html").exists()
