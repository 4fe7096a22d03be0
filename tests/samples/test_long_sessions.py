"""Sessions at the size engineers save them: a wide capture deep in a paste, and outputs far behind 16 MB.

All of it is synthetic: the capture of tests/kit/esxtop_kit.py, the dumps of tests/kit/many_hosts.py, made-up output between.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.sources.encoding import LineReader, shorten_line
from tests.kit.esxtop_kit import Capture
from tests.kit.full_size import FULL
from tests.kit.many_hosts import session
from tests.kit.memory_kit import peak

PROMPT = "[root@esx00:~] "
MIB = 1 << 20
MOST_MB = 200  # of the whole command


def triage(text: str, folder: Path, code: int) -> dict[str, Any]:
    """Run the command on a session and return its case document."""
    (folder / "session.txt").write_text(text)
    done = CliRunner().invoke(
        main, ["triage", str(folder / "session.txt"), "-o", str(folder / "out"), "--no-settings"]
    )
    assert done.exit_code == code, done.output
    document: dict[str, Any] = json.loads((folder / "out" / "case.json").read_text("utf-8"))
    return document


def found(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return rule and object of each finding."""
    return [(one["rule"], one["object"]) for one in document["findings"]]


@pytest.mark.size
@pytest.mark.parametrize("columns", [700, 20_000, 60_000])
def test_a_capture_deep_in_a_session_is_read_at_any_width(tmp_path: Path, columns: int) -> None:
    """Commands, two thousand lines of output, then a CSV whose heading has up to 4 MB: the VM in trouble is found."""
    body = b"".join(Capture(columns, 6).chunks()).decode()
    other = f"{PROMPT}date\nMon Mar 2 10:00:00 UTC 2021\n" * 1000
    document = triage(
        f"{PROMPT}uname -a\n{other}{PROMPT}cat /tmp/esxtop.csv\n{body}{PROMPT}exit\n", tmp_path, 0
    )

    assert found(document) == [("cpu-limit-starves-vm", "web-ill")]
    assert document["limits"] == []
    assert sum(source["faults"] for source in document["sources"]) == 0


def test_a_long_line_of_another_output_is_cut_and_said(tmp_path: Path) -> None:
    """A line of 100 KB that belongs to no capture costs its end, with its number and the limit; the rest is read."""
    body = b"".join(Capture(700, 6).chunks()).decode()
    text = f"{PROMPT}cat x\n{'A' * 100_000}\n{PROMPT}cat /tmp/esxtop.csv\n{body}"
    document = triage(text, tmp_path, 5)

    assert found(document) == [("cpu-limit-starves-vm", "web-ill")]
    (limit,) = document["limits"]
    assert "session.txt:2: limit line_bytes=65536 reached" in limit
    assert "1 longer line was read up to there" in limit


def filler(size: int) -> str:
    """Return commands that no parser reads and their output, so many bytes of it."""
    one = (
        f"{PROMPT}ls -l /vmfs/volumes\n"
        + f"-rw-------    1 root     root         4096 Mar  2 10:00 {'made-up-' * 100}.vmdk\n" * 50
    )
    return one * (size // len(one) + 1)


@pytest.mark.release
@pytest.mark.size
def test_what_was_typed_behind_16_mb_is_read(tmp_path: Path) -> None:
    """In a session of 20 MB the dump of a ring that was full stands at the end: it is found, with its line."""
    before = filler(20 * MIB)
    document = triage(before + session(0, 1, lambda *_: 5000), tmp_path, 0)

    assert [rule for rule, _ in found(document)] == ["kb-2039495"]
    assert document["limits"] == []
    (source,) = document["sources"]
    assert (source["state"], source["faults"]) == ("read", 0)
    lines = {item["line"] for item in document["findings"][0]["evidence"]}
    assert min(lines) > before.count("\n")


@pytest.mark.release
@pytest.mark.size
def test_an_output_over_16_mb_costs_its_end_and_nothing_else(tmp_path: Path) -> None:
    """One output of 20 MB is read up to the limit, which is said with its line; what was typed behind it is read."""
    row = f"-rw-------    1 root     root         4096 Mar  2 10:00 {'made-up-' * 100}.vmdk\n"
    large = f"{PROMPT}find / -ls\n" + row * (20 * MIB // len(row))
    document = triage(filler(1000) + large + session(0, 1, lambda *_: 5000), tmp_path, 5)

    assert [rule for rule, _ in found(document)] == ["kb-2039495"]
    (limit,) = document["limits"]
    assert "limit block_bytes=16777216 reached" in limit
    assert "was not read further" in limit


@pytest.mark.size
def test_a_secret_is_hidden_wherever_a_stretch_ends(tmp_path: Path) -> None:
    """The first secret of a session may come with its last command: what is told of lines there holds none."""
    text = (
        filler(20 * MIB)
        + f"{PROMPT}uname -a\nVMkernel esx00 6.7.0 #1 SMP Release build-14320388 Aug 5 2019 x86_64\n"
    )
    document = triage(f"{text}   password: Kq001vZ7xPl\n", tmp_path, 0)
    assert any("password: *****" in fault["text"] for fault in document["faults"])
    shown = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert "Kq001" not in shown


@pytest.mark.release
@pytest.mark.process
@pytest.mark.parametrize("size", [18, 36] if FULL else [18])
def test_a_session_takes_no_more_than_its_bound_of_memory(tmp_path: Path, size: int) -> None:
    """The whole command stays below its bound, at 18 MB and at twice that."""
    path = tmp_path / "session.txt"
    path.write_text(filler(size * MIB) + session(0, 1, lambda *_: 5000))
    words = ("-m", "analyzer", "triage", str(path), "-o", str(tmp_path / "out"), "--quiet")
    assert peak(sys.executable, *words) < MOST_MB


@pytest.mark.parametrize("sign", ["a", "é", "€", "\U0001f600"])
@pytest.mark.parametrize("most", [7, 8, 9, 10])
def test_a_line_is_cut_as_the_reader_cuts_it(sign: str, most: int) -> None:
    """What cuts a line that was read whole gives what the reader of lines gives, to the character."""
    reader = LineReader(most)
    lines = reader.feed((sign * 20 + "\n").encode()) + reader.close()
    assert lines == [shorten_line(sign * 20, most)]
