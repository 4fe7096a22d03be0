"""What goes wrong on the first day: the material is locked, cut in pieces, empty or not ours to read; a pipe ends early.

All material is made here or taken from the synthetic samples.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.sources import folder as folders

CASES = Path(__file__).resolve().parents[2] / "samples" / "cases"
HOST = next((CASES / "nsx-633-site").glob("esx-esx41*.tgz"))


def refused(path: Path) -> str:
    """Return what the command says of material that it cannot read: one line, exit code 3, nothing written."""
    out = path.parent / "never"
    done = CliRunner().invoke(main, ["triage", str(path), "-o", str(out), "--no-settings"])
    assert (done.exit_code, done.stdout, out.exists()) == (3, "", False), done.output
    assert done.stderr.count("\n") == 1 and done.stderr.startswith(f"backline: {path}: ")
    return done.stderr


def test_a_zip_with_a_password_says_so(tmp_path: Path) -> None:
    """Where all members are encrypted, that is the reason, and not an unknown format; the next step is to unpack it."""
    path = tmp_path / "upload.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.write(HOST, "case/host.tgz")
    data = bytearray(path.read_bytes())
    for head, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(head) + flags] |= 1
    path.write_bytes(data)
    said = refused(path)
    assert "1 member, encrypted with a password" in said and said.endswith(
        "when you unpack it with the password.\n"
    )


@pytest.mark.parametrize("name", ["host.tgz.part01", "host.tgz.002", "xab"])
def test_a_piece_of_a_split_file_asks_for_the_others(tmp_path: Path, name: str) -> None:
    """A later piece of a split archive is noise by itself: by its name it is a piece, and all pieces are asked for."""
    path = tmp_path / name
    path.write_bytes(HOST.read_bytes()[20_000:30_000])
    assert ("Give all pieces together" in refused(path)) is (name != "xab")


def test_joined_pieces_are_read_from_standard_input(tmp_path: Path) -> None:
    """What `cat x.tgz.part*` gives is the bundle."""
    out = ["-o", str(tmp_path / "out"), "--no-settings"]
    done = CliRunner().invoke(main, ["triage", "-", *out], input=HOST.read_bytes())
    assert done.exit_code == 0 and "material complete" in done.stdout


def test_an_empty_file_is_to_be_fetched_again(tmp_path: Path) -> None:
    """Nothing in a file means that its copy failed; a file that PGP made is to be decrypted."""
    for name, content, said in (
        ("host.tgz", b"", "fetch it again"),
        ("host.tgz.asc", b"-----BEGIN PGP MESSAGE-----\n\nhQEMA\n", "decrypt it first"),
    ):
        (tmp_path / name).write_bytes(content)
        assert said in refused(tmp_path / name)


@pytest.mark.parametrize("below", [False, True])
def test_a_folder_that_may_not_be_read_is_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, below: bool
) -> None:
    """A folder without the right to read is told as such, whether it was given or lies in the one that was."""
    locked = tmp_path / "case" / "locked" if below else tmp_path / "case"
    locked.mkdir(parents=True)
    (locked / HOST.name).write_bytes(HOST.read_bytes())
    scan = folders.scan

    def guarded(path: Path) -> object:
        if path == locked:
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(folders, "scan", guarded)
    said = refused(tmp_path / "case")
    assert "folder cannot be read: Permission denied" in said and "no file was found" not in said
    assert said.endswith("with an account that has it.\n")


def test_a_file_that_may_not_be_read_names_the_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next step after a refused read is the right to read, not another file."""
    path = tmp_path / HOST.name
    path.write_bytes(HOST.read_bytes())
    opened = os.open

    def guarded(name: object, *rest: object, **more: object) -> int:
        if str(name) == str(path):
            raise PermissionError(13, "Permission denied")
        return opened(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", guarded)
    assert refused(path).endswith("with an account that has it.\n")


@pytest.mark.process
def test_a_reader_that_stops_early_does_not_change_the_exit_code(tmp_path: Path) -> None:
    """`backline … | head -1` ends as it would have: 5 for a cut bundle, 1 for --fail-on."""
    cut = tmp_path / "cut.tgz"
    cut.write_bytes(HOST.read_bytes()[: HOST.stat().st_size // 2])
    read, write = os.pipe()
    os.close(read)  # the reader has gone before the first line
    for path, more, status in ((cut, (), 5), (HOST, ("--fail-on", "major"), 1)):
        words = [
            sys.executable,
            "-m",
            "analyzer",
            "triage",
            path,
            "-o",
            tmp_path / "out",
            "--no-settings",
            *more,
        ]
        done = subprocess.run(
            list(map(str, words)), stdout=write, stderr=subprocess.PIPE, check=False
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (status, False), done.stderr
    os.close(write)


@pytest.mark.size
def test_tables_say_what_is_lost_and_end_as_the_readme_says(tmp_path: Path) -> None:
    """`tables` ends with 5 for cut material and 3 for nothing, and refuses a machine that has no such rows."""
    cut, text = tmp_path / "cut.tgz", tmp_path / "hello.txt"
    cut.write_bytes(HOST.read_bytes()[: HOST.stat().st_size // 2])
    text.write_text("hello\n")
    for words, status, said in (
        ((HOST, "esxi.host", "--node", "ESX41"), 0, ""),
        (
            (HOST, "esxi.host", "--node", "esx4"),
            2,
            "no machine with such rows is called esx4. esxi.host has esx41.lab",
        ),
        ((cut, "esxi.host"), 5, "compressed data ends early"),
        ((cut,), 5, "compressed data ends early"),
        ((text,), 3, "no table was filled"),
    ):
        done = CliRunner().invoke(main, ["tables", *map(str, words)])
        assert (done.exit_code, said in done.stderr) == (status, True), done.output
        assert bool(done.stderr) is bool(said) and bool(done.stdout) is (status != 2)


@pytest.mark.parametrize("other", ["file", "folder"])
def test_the_page_refuses_a_place_that_is_no_archive(tmp_path: Path, other: str) -> None:
    """`serve --archive` of a file, or a folder of other things, ends before a case could be lost in it."""
    place = tmp_path / "notes"
    if other == "folder":
        place.mkdir()
        (place / "a.txt").write_text("x")
    else:
        place.write_text("x")
    done = CliRunner().invoke(main, ["serve", "--no-open", "--archive", str(place)])
    assert (done.exit_code, "this is not a case archive" in done.stderr, done.stdout) == (
        3,
        True,
        "",
    )


def test_what_is_no_case_document_says_what_to_give(tmp_path: Path) -> None:
    """`show` of a bundle or of a text says that it is none, without words of the JSON reader alone."""
    text = tmp_path / "hello.txt"
    text.write_text("hello\n")
    for path, why in (
        (HOST, "perhaps a bundle"),
        (text, "it is not JSON"),
        (tmp_path, "it holds no case.json"),
    ):
        said = CliRunner().invoke(main, ["show", str(path)])
        assert (said.exit_code, why in said.stderr, "backline triage" in said.stderr) == (
            3,
            True,
            True,
        )
