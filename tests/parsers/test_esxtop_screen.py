"""Pasted esxtop screens: what a sample beside a JSON cannot say. All texts are synthetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.cli import main
from analyzer.parsers.esxtop.esxtop_screen import PARSER, parse_block

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "esxtop" / "esxtop_screen"
NAMES = ("memory", "adapter_cut", "virtual_disks", "devices")


def mail(tmp_path: Path) -> Path:
    """Return a mail with four screens below their prompts, and sentences around."""
    parts = ["Hello, the host is slow. This is what we see:", ""]
    for name in NAMES:
        parts += ["[root@esx31:~] esxtop", (SAMPLES / f"{name}.txt").read_text(), "and then:", ""]
    path = tmp_path / "mail.txt"
    path.write_text("\n".join([*parts, "Thank you, please call 555 1234 10."]))
    return path


def rows(path: Path, table: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]


def test_screens_pasted_into_a_mail_fill_the_tables_of_the_batch_file(tmp_path: Path) -> None:
    """Keys m, d, v and u, each below a prompt: objects and counters, and no sentence taken for a row."""
    path = mail(tmp_path)
    assert [row["memctl_mb"] for row in rows(path, "esxtop.vm_memory")] == [2048.0, 0.0]
    assert [(row["free_mb"], row["minfree_mb"]) for row in rows(path, "esxtop.memory")] == [
        (3057.0, 1265.0)
    ]
    assert [row["hba"] for row in rows(path, "esxtop.disk_adapter")] == ["vmhba2", "vmhba64"]
    assert [row["qued"] for row in rows(path, "esxtop.disk_device")] == [31.0, 0.0]
    assert [row["volume_name"] for row in rows(path, "esxtop.nfs_volume")] == ["vm isos"]
    assert [row["disk"] for row in rows(path, "esxtop.virtual_disk")] == [None, None, "scsi0:1"]
    said = CliRunner().invoke(main, ["tables", str(path)]).output
    assert "lines not understood: 0" in said


def test_a_pasted_memory_screen_is_judged(tmp_path: Path) -> None:
    """A balloon on a host that has enough memory free: a limit, with the line of the screen as evidence."""
    text = (
        (SAMPLES / "memory.txt")
        .read_text()
        .replace("vmk,60078 other, 3057 free", "vmk,33078 other,30057 free")
    )
    (tmp_path / "screen.txt").write_text(f"[root@esx31:~] esxtop\n{text}")
    words = ["triage", str(tmp_path / "screen.txt"), "-o", str(tmp_path / "out"), "--quiet"]
    assert CliRunner().invoke(main, words).exit_code == 0
    findings = json.loads((tmp_path / "out" / "case.json").read_text("utf-8"))["findings"]
    assert [(one["rule"], one["object"]) for one in findings] == [
        ("memory-limit-takes-memory", "web 01 (prod)")
    ]
    assert "30,057 MB free" in findings[0]["say"]
    lines = {place["line"] for place in findings[0]["evidence"]}
    assert 12 in lines  # the row of the VM


def test_a_column_that_the_terminal_cut_is_unknown_and_not_the_next_one() -> None:
    """Under `GAVG/r` stands half a number: it is left out, and the columns before it keep their places."""
    lines = (SAMPLES / "adapter_cut.txt").read_text().splitlines()
    (first, *_) = [item for item in parse_block(Block(lines)) if isinstance(item, Row)]
    assert (first.values["qavg_ms"], first.values["davg_rd_ms"], first.values["kavg_rd_ms"]) == (
        0.05,
        9.15,
        0.02,
    )
    assert first.values["gavg_rd_ms"] is None


def test_a_row_that_lacks_numbers_is_a_fault_and_no_row() -> None:
    """One number less than the heading has columns: which is missing cannot be told."""
    lines = (SAMPLES / "virtual_disks.txt").read_text().splitlines()
    lines[3] = lines[3].rsplit(None, 1)[0]
    found = list(parse_block(Block(lines)))
    assert [item.line for item in found if isinstance(item, Fault)] == [4]
    assert [item.values["vm_name"] for item in found if isinstance(item, Row)] == [
        "db-limited",
        "web 01 (prod)",
    ]


def test_a_line_above_the_memory_screen_that_is_cut_is_a_fault_and_keeps_what_is_whole() -> None:
    """A terminal cut the last word, a number is negative: each line is counted, and its other numbers stay."""
    lines = (SAMPLES / "memory.txt").read_text().splitlines()
    lines[3] = (
        "PSHARE/MB:    1648  shared,     248  (common:    1400 saving)"  # a form with brackets
    )
    lines[4] = lines[4].replace("1.25 r/s", "-1.25 r/s")
    lines[6] = lines[6].removesuffix("x")
    found = list(parse_block(Block(lines)))
    (host,) = (
        item.values
        for item in found
        if isinstance(item, Row) and item.table.name == "esxtop.memory"
    )

    assert [item.line for item in found if isinstance(item, Fault)] == [5, 7]
    assert (host["common_mb"], host["share_savings_mb"]) == (248.0, 1400.0)
    assert (host["swap_used_mb"], host["swap_read_mb_s"], host["swap_write_mb_s"]) == (
        812.0,
        None,
        0.5,
    )
    assert (host["memctl_target_mb"], host["memctl_max_mb"]) == (4096.0, None)


def test_the_lines_above_the_next_memory_screen_are_another_sample() -> None:
    """The second screen lost its line of PMEM: it does not take over that of the first, nor change the first."""
    lines = (SAMPLES / "memory.txt").read_text().splitlines()
    found = [item for item in parse_block(Block([*lines, *lines[2:]])) if isinstance(item, Row)]
    hosts = [item.values for item in found if item.table.name == "esxtop.memory"]

    assert [(one["sample"], one["machine_mb"], one["managed_mb"]) for one in hosts] == [
        (1, 65398.0, 65073.0),
        (2, None, 65073.0),
    ]


PIECES = st.one_of(
    st.sampled_from(
        [line for name in NAMES for line in (SAMPLES / f"{name}.txt").read_text().splitlines()]
    ),
    st.text(st.sampled_from("GIDNAMEMSZ %/:-.0123456789YN{}\x00é\t"), max_size=60),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=30))
def test_no_mixture_of_lines_makes_it_raise(lines: list[str]) -> None:
    """Headings, rows and noise in any order give rows and faults; every row has the columns of its table."""
    for item in parse_block(Block(lines)):
        if isinstance(item, Row):
            assert set(item.values) == {column.name for column in item.table.columns}
            assert item.table in PARSER.tables
        else:
            assert 1 <= item.line <= len(lines)
