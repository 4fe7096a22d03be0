"""NSX outputs through the command: each sample, given to `backline tables` as a file, gives its rows with their lines."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.artefacts.parsing import registry, tables
from analyzer.cli import main
from tests.kit.sample_kit import ALL, Sample
from tests.kit.together import together

PROMPTS = {
    "esxi": "[root@esx41:~] ",
    "nsx_controller": "nsx-controller # ",
    "nsx_manager": "nsxmgr01> ",
    "nsxt_manager": "nsxt-mgr-01> ",
    "nsxt_edge": "nsxt-edge-01(tier0_sr)> ",
    "": "nsxt-mgr-01> ",
}
TEXTS = [
    sample
    for sample in ALL
    if any(table.product in ("nsx", "nsxt") for table in registry()[sample.parser].tables)
    and registry()[sample.parser].node in PROMPTS
    and not registry()[sample.parser].log
    and sample.expected["rows"]
    and sample.parser
    != "nsxt_syslog_head"  # read beside the log it stands in, see test_nsxt_site.py
]


def given(sample: Sample, folder: Path) -> tuple[Path, int]:
    """Write a sample as it reaches a desk: named by its path, below its prompt, or alone; and tell its first line."""
    text, command = sample.text.read_bytes(), sample.expected.get("command", "")
    path = folder / Path(sample.expected.get("path", f"sample{sample.text.suffix}")).name
    typed = command and not command.startswith(("GET", "/"))
    head = f"{PROMPTS[registry()[sample.parser].node]}{command}\n".encode() if typed else b""
    path.write_bytes(head + text)
    return path, int(bool(head))


def read(path: Path, *table: str) -> str:
    """Return what `backline tables` prints as JSON."""
    done = CliRunner().invoke(main, ["tables", str(path), *table, "--json"])
    assert done.exit_code in (0, 5), done.output
    return done.stdout


def values(row: dict[str, Any], table: str) -> dict[str, Any]:
    """Return the cells of a row that are not empty, times as times."""
    kinds = {
        column.name: column.kind
        for column in tables()[table].columns
        if row.get(column.name) is not None
    }
    return {
        name: datetime.fromisoformat(row[name]) if kind == "time" else row[name]
        for name, kind in kinds.items()
    }


@pytest.mark.size
@together("sample", TEXTS, ids=str, parts=20)
def test_a_sample_gives_its_rows_through_the_command(sample: Sample, tmp_path: Path) -> None:
    """Rows and their lines are those beside the sample, for each table of it."""
    path, above = given(sample, tmp_path)
    for table, wanted in sample.expected["rows"].items():
        rows = [json.loads(line) for line in read(path, table).splitlines()]
        rows.sort(key=lambda row: row["_line"])
        assert [values(row, table) for row in rows] == [values(row, table) for row in wanted], table
        if lines := sample.expected.get("lines", {}).get(table):
            assert sorted(row["_line"] for row in rows) == [line + above for line in lines]


@pytest.mark.size
@together("sample", [one for one in TEXTS if one.expected.get("faults")], ids=str, parts=10)
def test_what_a_sample_holds_that_nothing_reads_is_counted(sample: Sample, tmp_path: Path) -> None:
    """Each line of a sample with a value that does not convert, or that no parser knows, is a fault of the case."""
    path, above = given(sample, tmp_path)
    done = CliRunner().invoke(
        main, ["triage", str(path), "-o", str(tmp_path / "out"), "--quiet", "--json", "-"]
    )
    faults = {fault["line"] for fault in json.loads(done.stdout)["faults"]}
    assert {line + above for line in sample.expected["faults"]} <= faults


def test_a_connection_that_ended_keeps_how_and_what_went_through(tmp_path: Path) -> None:
    """A TERM line keeps RST or FIN and its four counters; a line of a packet has none of them."""
    log = tmp_path / "dfwpktlogs.log"
    log.write_text(
        "2017-04-11T21:09:59.877Z esx41 dfwpktlogs: 50047 INET TERM domain-c1/1001 IN TCP RST "
        "192.0.2.3/33491->192.0.2.6/10001 22/14 7684/1070\n"
        "2017-04-11T21:10:02.101Z esx41 dfwpktlogs: 50047 INET TERM PASS domain-c1/1001 OUT TCP FIN "
        "192.0.2.3/33492->192.0.2.6/10001 5/6 700/800 WEB\n"
        "2017-04-11T21:10:03.000Z esx41 dfwpktlogs: 50047 INET match PASS domain-c1/1001 OUT 60 TCP "
        "192.0.2.3/33493->192.0.2.6/10001 S WEB\n",
        encoding="utf-8",
    )
    rows = [json.loads(line) for line in read(log, "nsx.dfwpktlogs").splitlines()]
    names = ("_line", "ended", "pkts_in", "pkts_out", "bytes_in", "bytes_out", "message")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, "RST", 22, 14, 7684, 1070, None),
        (2, "FIN", 5, 6, 700, 800, "WEB"),
        (3, None, None, None, None, None, "S WEB"),
    ]


@pytest.mark.parametrize(
    ("head", "said", "level"),
    [
        ("<187>", "", "error"),
        ("<187>", ' level="INFO"', "info"),
        ("", "", None),
        ("<999>", "", None),
    ],
)
def test_a_line_without_a_level_has_that_of_its_priority(
    head: str, said: str, level: str | None, tmp_path: Path
) -> None:
    """The priority of syslog tells the severity where the line states none; a number over 191 is no priority."""
    log = tmp_path / "nsx.log"
    log.write_text(
        f'{head}1 2016-03-15T22:53:00.114Z nsxmgr NSX - SYSTEM [nsx@6876 comp="nsx-manager"{said}] broker is unhealthy\n'
        if head
        else '2016-03-15T22:53:00.114Z nsxmgr NSX - SYSTEM [nsx@6876 comp="nsx-manager"] broker is unhealthy\n',
        encoding="utf-8",
    )
    (row,) = [json.loads(line) for line in read(log, "nsxt.syslog").splitlines()]
    assert (row["_line"], row["level"]) == (1, level)
