"""Cases beside each other: the lab before and after its fix, a reboot, a vMotion, a replaced NIC, a rename, a series."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzer.cli import main

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "samples" / "cases"
Record = dict[str, Any]


def compared(*paths: Path, words: tuple[str, ...] = ()) -> Record:
    """Return the document that the command writes to stdout."""
    result = CliRunner().invoke(main, ["compare", *map(str, paths), "--json", "-", *words])
    assert result.exit_code in (0, 5), result.output
    found: Record = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare the lab before its fix with the lab after it."""
    folder = tmp_path_factory.mktemp("lab")
    paths = [str(CASES / name) for name in ("lab-ring-before", "lab-ring-after")]
    result = CliRunner().invoke(main, ["compare", *paths, "-o", str(folder)])
    assert result.exit_code == 0, result.output
    (folder / "terminal.txt").write_text(result.stdout, encoding="utf-8")
    return folder


def document(folder: Path) -> Record:
    """Return what compare.json holds."""
    found: Record = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    return found


def test_the_page_reads_like_the_conclusion_of_the_lab(lab: Path) -> None:
    """10,370 -> 1,656, ring #1 256 -> 4,096, ring #2 alone remains, 86,715 -> 48, and 18 MB: all of it on top."""
    summary = document(lab)["summary"]
    for words in (
        "Receive ring #1 of iperf-test1 (port 33554467) holds 4,096 descriptors instead of 256.",
        "ran out of receive buffers 1,656 times instead of 10,370, 0.004% instead of 0.020%",
        "All that remains is ring #2.",
        "iperf-test2 retransmitted 48 TCP segments instead of 86,715",
        "iperf-test1 uses 18 MB more guest memory.",
    ):
        assert words in summary
    for name in ("compare.html", "compare.md", "terminal.txt"):
        text = (lab / name).read_text(encoding="utf-8").replace("\\#", "#")
        assert "All that remains is ring #2" in text, name
        assert "18 MB more guest memory" in text, name


def test_every_value_has_its_line_on_both_sides(lab: Path) -> None:
    """The numbers of the counters stand on the very lines that are named, on either side."""
    checked = 0
    for one in [*document(lab)["counters"], *document(lab)["changes"]]:
        for side, value, place in zip(("before", "after"), one["values"], one["at"], strict=True):
            lines = (CASES / f"lab-ring-{side}" / place["address"]).read_text(encoding="utf-8").split("\n")
            assert str(value) in lines[place["line"] - 1], one
            checked += 1
    assert checked > 50


def test_counters_that_started_again_are_never_subtracted(lab: Path) -> None:
    """The port of the VM is another one after the restart: no difference, no rate, and the reason is named."""
    for one in document(lab)["counters"]:
        assert one["steps"][0]["state"] == "started again", one
        assert one["steps"][0]["difference"] is None
    buffers = next(one for one in document(lab)["counters"] if one["column"] == "out_of_buffers")
    assert "port 33554464 became port 33554467" in buffers["steps"][0]["why"]
    assert [place["line"] for place in buffers["steps"][0]["why_at"]] == [36, 12]


def test_a_table_of_one_side_alone_is_named(lab: Path) -> None:
    """The second side has no clientStats: the page says so and calls nothing better for it."""
    lacking = {one["table"]: one for one in document(lab)["uncompared"]}
    assert lacking["esxi.client_stats"]["lacks"] == [1]
    assert "clientStats" in lacking["esxi.client_stats"]["ask"]
    assert not [one for one in document(lab)["counters"] if one["table"] == "esxi.client_stats"]
    assert "That is no sign that nothing changed there" in (lab / "compare.html").read_text(encoding="utf-8")
