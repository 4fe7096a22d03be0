"""Lines of a log that a mail or a terminal has wrapped are read whole, each on the line where it begins."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from analyzer import open_case
from analyzer.artefacts.tables import Value
from analyzer.cli import main
from analyzer.pipeline.triage import Options, read_case
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from analyzer.sources.passes import is_wrapped, join_log_lines, join_tables
from tools.nsxt_site import bgp_summary, cluster_status, controllers_of_node, transport_nodes

# Synthetic, in the form of vmkernel.log of 6.x and of a forwarded 8.x.
LOG = """\
2017-03-08T05:55:24.101Z cpu12:65938)NMP: nmp_ThrottleLogForDevice:3617: Cmd 0x2a (0x43a5c0a3b8c0, 68412) to dev \
"naa.600507680c80810ee000000000000a1b" on path "vmhba2:C0:T3:L12" Failed: H:0x0 D:0x28 P:0x0 Invalid sense data: 0x0
2017-03-08T05:55:25.007Z cpu3:65938)WARNING: ScsiDeviceIO: 1224: Device naa.600507680c80810ee000000000000a1b performance \
has deteriorated. I/O latency increased from average value of 1209 microseconds to 48211 microseconds.
2017-03-08T05:55:26.210Z cpu7:66012)Vol3: 950: Volume opened
2017-03-08T05:55:27.333Z cpu1:65633)HBX: 5760: Waiting for timed out [HB state abcdef02 offset 3444736 gen 29 stampUS \
81742339817 uuid 58bd1c34-6ab01c2f-2b21-0cc47a6d3f3a jrnl <FB 0> drv 24.81 lockImpl 3 ip 10.20.30.41] on vol 'datastore1'
""".splitlines()


def hard(width: int) -> Callable[[str], list[str]]:
    """Break a line after a column, as a terminal does."""
    return lambda line: [line[at : at + width] for at in range(0, len(line), width)]


def soft(width: int) -> Callable[[str], list[str]]:
    """Break a line between words, as a mail program does."""
    return lambda line: textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)


WAYS = {
    "terminal 80": hard(80),
    "terminal 132": hard(132),
    "mail 72": soft(72),
    "mail 78": soft(78),
}


def rows(text: str, folder: Path) -> list[tuple[int, str]]:
    """Each line of the log in a text that tables show, and the line of the file it begins on."""
    path = folder / "mail.txt"
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(path), "esxi.vmkernel", "--json"])
    assert done.exit_code in (0, 5), done.output
    return [(row["_line"], row["message"]) for row in map(json.loads, done.stdout.splitlines())]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "around", ["{}\n", "Hello,\n\nthis is what we see on the host:\n\n{}\n\nAny idea?\nJan\n"]
)
def test_the_lines_of_a_wrapped_log_are_read_whole(way: str, around: str, tmp_path: Path) -> None:
    """The same messages come of it as of the log itself, each from the line on which it begins."""
    expected = [message for _, message in rows("\n".join(LOG) + "\n", tmp_path)]
    assert len(expected) == len(LOG)
    parts = [WAYS[way](line) for line in LOG]
    text = around.format("\n".join(piece for part in parts for piece in part))
    found = rows(text, tmp_path)
    assert [message for _, message in found] == expected
    lines = text.splitlines()
    assert [number for number, _ in found] == [lines.index(part[0]) + 1 for part in parts]


@pytest.mark.parametrize(
    "text",
    [
        f"{LOG[2]}\nWhat does this line mean?\n",
        f"{LOG[2]}\n[root@esx01:~] esxcli storage core path list\n",
        f"{LOG[2]}\n```\nand then nothing\n",
        f"{LOG[0]}\n\nThe host hung after that line.\n",
        "   Name: vmnic0\n   Link: Up\n",
    ],
)
def test_what_was_typed_below_a_line_is_no_part_of_it(text: str) -> None:
    """A remark, a prompt, a fence, a paragraph and an output are not taken for the rest of a line."""
    lines = text.splitlines()
    assert not is_wrapped(lines)
    assert join_log_lines(lines) == frozenset()
    assert lines == text.splitlines()


@given(
    st.lists(
        st.sampled_from([*LOG, "", "some words", "[root@esx01:~] date", "--> more"]), max_size=8
    ),
    st.integers(50, 160),
)
def test_nothing_is_lost(picked: list[str], width: int) -> None:
    """Whatever is put together, every character stays, in its order, and so does the number of lines."""
    lines = [piece for line in picked for piece in (soft(width)(line) or [""])]
    before = "".join(lines).replace(" ", "")
    count = len(lines)
    join_log_lines(lines)
    assert len(lines) == count
    assert "".join(lines).replace(" ", "") == before


# Synthetic, in the form of esxcli of 6.x: the last column of a row is always filled.
NICS = """\
[root@esx0:~] esxcli network nic list
Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description
------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  ------------------------
vmnic0  0000:04:00.0  ixgben  Up            Up           10000  Full    00:50:56:00:00:01  1500  Synthetic 10 Gigabit NIC
vmnic1  0000:04:00.1  ixgben  Up            Down             0  Half    00:50:56:00:00:02  1500  Synthetic 10 Gigabit NIC

[root@esx0:~] esxcli network ip neighbor list
Neighbor    Mac Address        Vmknic    Expiry  State  Type
----------  -----------------  ------  --------  -----  -------
192.0.2.10  00:50:56:00:00:03  vmk1    1187 sec         Unknown
"""


@pytest.mark.parametrize("way", [*WAYS, "terminal 80, ends cut"])
def test_a_wrapped_table_gives_its_rows(way: str, tmp_path: Path) -> None:
    """Heading, ruler and rows of two lines each are a table; a table that fits stays as it is."""
    cut = WAYS[way.partition(",")[0]]
    parts = [(cut(line) or [""]) for line in NICS.splitlines()]
    lines = [part.rstrip() if "," in way else part for some in parts for part in some]
    (tmp_path / "esx0.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    case = open_case(tmp_path / "esx0.txt")

    nics = case.table("esxi.pnic")
    told = zip(
        nics["pnic"],
        nics["link_up"],
        nics["speed_mbps"],
        nics.mac,
        nics["description"],
        strict=True,
    )
    assert [(*map(str, one),) for one in told] == [
        ("vmnic0", "True", "10000", "00:50:56:00:00:01", "Synthetic 10 Gigabit NIC"),
        ("vmnic1", "False", "0", "00:50:56:00:00:02", "Synthetic 10 Gigabit NIC"),
    ]
    assert lines[nics.line[1] - 1].startswith("vmnic1")
    assert list(case.table("esxi.ip_neighbor")["ip"]) == ["192.0.2.10"]


def test_a_table_broken_where_a_column_ends_keeps_its_columns() -> None:
    """Whoever indents a table and breaks it at a column leaves the places of the cells: blanks inside of one stay."""
    lines = [
        "  VNI       Multicast IP               Control Plane",
        "        Connection             Ports",
        "  --------  -------------------------  -----------------------------------",
        "        ---------------------  -----",
        "  5000      N/A (headend replication)  Enabled (multicast proxy,ARP proxy)",
        "        192.0.2.101 (up)           2",
    ]
    join_tables(lines)
    assert re.split(r"\s{2,}", lines[4]) == [
        "5000",
        "N/A (headend replication)",
        "Enabled (multicast proxy,ARP proxy)",
        "192.0.2.101 (up)",
        "2",
    ]


@pytest.mark.parametrize(
    "text",
    ["a\n---\n---\n", "-" * 80 + "\n" + "-" * 80 + "\n", "one\ntwo\n" + "-" * 60 + "\nthree\n"],
)
def test_lines_of_dashes_alone_are_no_wrapped_table(text: str) -> None:
    """Rules of a mail, and a ruler that is whole, join nothing."""
    lines = text.splitlines()
    join_tables(lines)
    assert lines == text.splitlines()


NSXT_OUTPUTS = {
    "get controllers": ("nsxt.controller_channel", controllers_of_node(1)),
    "get bgp neighbor summary": ("nsxt.bgp_neighbor", bgp_summary()),
    "get cluster status": ("nsxt.cluster_member", cluster_status(down=[3])),
    "get transport-nodes status": ("nsxt.transport_node", transport_nodes(1)),
}


def cells(
    command: str, lines: list[str], folder: Path
) -> tuple[list[dict[str, Value]], list[str], int]:
    """Return the cells of a table, the lines of the file that its rows stand on, and how many were not understood."""
    path = folder / "session.txt"
    path.write_text("\n".join(["n1> " + command, *lines, "n1> ", ""]), encoding="utf-8")
    into = read_case([path], Ledger(), KindFinder(), Scanner([]), Options())
    own = [row for row in into.rows if row.table.name == NSXT_OUTPUTS[command][0]]
    text = path.read_text(encoding="utf-8").splitlines()
    return [row.values for row in own], [text[row.line - 1] for row in own], into.faults_total


@pytest.mark.parametrize("command", NSXT_OUTPUTS)
def test_a_table_without_a_ruler_that_a_terminal_broke_is_read_as_it_was(
    command: str, tmp_path: Path
) -> None:
    """At 80 and 100 columns the tables of NSX-T have the rows of the whole output, each where it begins."""
    whole = NSXT_OUTPUTS[command][1].splitlines()
    expected, begins, _ = cells(command, whole, tmp_path)

    assert len(expected) > 1
    for width in (80, 100):
        broken = [part for line in whole for part in (hard(width)(line) or [""])]
        found, stands, faults = cells(command, broken, tmp_path)
        assert (found, faults) == (expected, 0), width
        assert [line[:40] for line in stands] == [line[:40] for line in begins], width


def mailed(line: str, width: int) -> list[str]:
    """Return a line as a mail program breaks it: between words, without the blanks at the break."""
    parts = []
    while (
        len(line) > width
        and (at := line.rfind(" ", len(line) - len(line.lstrip()) + 1, width + 1)) > 0
    ):
        parts.append(line[:at].rstrip())
        line = line[at:].lstrip()
    return [*parts, line]


@pytest.mark.parametrize(
    "command", ["get controllers", "get bgp neighbor summary", "get cluster status"]
)
def test_a_table_without_a_ruler_that_a_mail_broke_has_its_rows(
    command: str, tmp_path: Path
) -> None:
    """Broken between words at 72 and 76 columns, the latter quoted in an answer, each row has its cells."""
    whole = NSXT_OUTPUTS[command][1].splitlines()
    expected, _, _ = cells(command, whole, tmp_path)

    for width, quote in ((72, ""), (76, "> ")):
        broken = [f"{quote}{part}" for line in whole for part in mailed(line, width)]
        found, _, faults = cells(command, broken, tmp_path)
        assert (found, faults) == (expected, 0), width


@pytest.mark.parametrize("odd", ["% a remark", "172.16.9.9 and more"])
def test_a_line_below_a_full_row_is_no_part_of_it(odd: str, tmp_path: Path) -> None:
    """A remark below rows that happen to fill the terminal stays a line that was not understood."""
    whole = [
        line.rstrip().ljust(100)
        for line in NSXT_OUTPUTS["get bgp neighbor summary"][1].splitlines()
    ]
    expected, _, _ = cells("get bgp neighbor summary", whole, tmp_path)
    found, _, faults = cells("get bgp neighbor summary", [*whole, odd], tmp_path)

    assert (found, faults) == (expected, 1)


def test_indented_rests_of_the_kernel_are_joined() -> None:
    """The VMkernel indents no line: what stands so below one of its own is the rest of it."""
    whole = (
        '2026-04-06T13:52:11.478Z cpu0:2098084)ScsiDeviceIO: 3469: Cmd(0x45a0) 0x1a, CmdSN 0x7 from world 0 to dev "naa.60" '
        "failed H:0x0 D:0x2 P:0x0 Valid sense data: 0x5 0x24 0x0."
    )
    broken = (
        whole.replace(" Cmd(", "\n  Cmd(")
        .replace(" to dev", "\n\tto dev")
        .replace(" failed", "\n      failed")
    )
    lines = broken.split("\n")
    assert is_wrapped(lines)
    rests = join_log_lines(lines)
    assert lines[0] == whole
    assert rests == {1, 2, 3}
    others = [
        "2026-04-06T13:52:11.478Z info hostd[1] a task",
        "   of its own",
        "",
        "  Record Id: 1",
    ]
    assert not join_log_lines(list(others))
    few = [whole] * 60 + ["   printed by a program"]
    assert not is_wrapped(few)
