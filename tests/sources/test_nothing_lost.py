"""No row and no line of an output is lost in silence: every sample is spoiled in many ways and read again.

What a parser cannot read costs its own line or cell, is counted as a fault there, and changes no other row.
The samples are those of `samples/`; the strange lines, masks and words put into them are made up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from analyzer.artefacts.parsing import Output, registry
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.ingest.intake import Intake
from analyzer.pipeline.triage import Options, read_case, triage
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from tests.kit.sample_kit import ALL, Sample, recognised
from tests.kit.together import together

STRANGE = "@@ no output has such a line @@"
WORD = "zz"
# These read a few lines of a text that belongs to others, and say so in their templates.
PASS_OVER = {
    "collector": "the errors of vm-support: a line that no form takes is an error too, and a row of its own",
    "esxi_bundle": "the manifest of a bundle: options and the description of files",
    "certificates": "keys, extensions and signatures of a certificate",
    "nsxt_certificates": "keys, extensions and signatures of a certificate",
    "esxi_image_profile": "the description of the image profile",
    "esxi_section_head": "lines of a log, which the log's own parser reads",
    "nsxt_syslog_head": "lines of a log, which the log's own parser reads",
    "nsx_engineering_mode": "what was typed after the disclaimer may be a password: it is never kept",
    "tool_lines": "each line is a row: a strange one as well",
    "nsx_manager": "sys_info and answers of the vCenter extension hold other things as well",
}
# A strange line here belongs to something that is no row: a block of a form nobody published, a tag that never ends.
PASS_OVER_IN = {("net_vdl2/dump", 36), ("nsx_host_connection/cut", 1), ("nsx_controllers/rest", 16)}
# An output of a command that nobody knows: each line is a row, a strange one as well.
EACH_LINE_A_ROW = {"localcli_values/unknown", "localcli_values/strange"}
# Below an error stands its reason, in words that nobody has listed: a strange line belongs to it.
FREE_TEXT = {"update_results/refused"}
# The masked address is the row's name, or all the line holds: the line is counted and gives no row.
NAMED_BY_ADDRESS = {"nsx_control_cluster_startup_nodes", "nsx_vdr", "nsx_manager", "nsxt_node"}

OUTPUTS = [
    one
    for one in ALL
    if not registry()[one.parser].log
    and registry()[one.parser].stream is None
    and not registry()[one.parser].anywhere  # its rows stand among lines of anything
]
_ADDRESS = re.compile(r"(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}|\d+\.\d+\.\d+\.\d+")
_NUMBER = re.compile(r"(?<![\w.:#-])\d+(?![\w.:-])")


@dataclass
class Read:
    """What a parser made of a text: rows, and how often each line was reported."""

    rows: list[Row]
    faults: Counter[int]

    def values(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the rows as table and filled cells, in order."""
        return [
            (row.table.name, {k: v for k, v in row.values.items() if v is not None})
            for row in self.rows
        ]

    def cells(self) -> Counter[tuple[str, str]]:
        """Return how many rows of each table have a value in each column."""
        return Counter((table, column) for table, values in self.values() for column in values)

    def says(self, text: str) -> bool:
        """Tell whether a cell holds a text."""
        return any(text in str(cell) for _, values in self.values() for cell in values.values())


def read(sample: Sample, block: Block, lines: list[str] | None = None) -> Read:
    """Read a block of a sample, or other lines in its place."""
    block = replace(block, lines=list(block.lines) if lines is None else lines)
    found: Output = registry()[sample.parser].parse(block)
    rows, faults = [], Counter[int]()
    for item in found:
        if isinstance(item, Row):
            rows.append(item)
        elif isinstance(item, Fault):
            faults[item.line] += 1
    return Read(rows, faults)


def changed(lines: list[str], at: int, pattern: re.Pattern[str], new: str) -> Iterator[list[str]]:
    """Yield the lines with one match of a pattern in one of them put another way, for the first six matches."""
    for found in list(pattern.finditer(lines[at]))[:6]:
        text = re.sub(r"[0-9a-fA-F]", "X", found[0]) if new == "X" else new
        yield [
            *lines[:at],
            lines[at][: found.start()] + text + lines[at][found.end() :],
            *lines[at + 1 :],
        ]


@together(
    "sample",
    [
        one
        for one in OUTPUTS
        if one.parser not in PASS_OVER and str(one) not in EACH_LINE_A_ROW | FREE_TEXT
    ],
    ids=str,
    parts=6,
)
def test_a_strange_line_costs_itself_and_is_counted(sample: Sample) -> None:
    """A line that no output has, put anywhere below the first, changes no row and is a fault of its own."""
    block = recognised(registry()[sample.parser], sample)
    rows = read(sample, block).values()

    for at in range(1, len(block.lines) + 1):
        spoiled = read(sample, block, [*block.lines[:at], STRANGE, *block.lines[at:]])
        assert spoiled.values() == rows, f"the line put in before line {at + 1} changes rows"
        inside = any(name == str(sample) and at >= first for name, first in PASS_OVER_IN)
        assert spoiled.faults[block.first_line + at] or inside, (
            f"the line put in before line {at + 1} is not counted"
        )


@together("sample", OUTPUTS, ids=str, parts=4)
def test_a_word_for_a_number_is_counted_or_kept(sample: Sample) -> None:
    """Where a number becomes a word, the cell keeps the word as text or the fault is counted: never a silent gap."""
    block = recognised(registry()[sample.parser], sample)
    whole = read(sample, block)

    for at in range(len(block.lines)):
        for lines in changed(block.lines, at, _NUMBER, WORD):
            spoiled = read(sample, block, lines)
            lost = whole.cells() - spoiled.cells()
            if lost and not spoiled.says(WORD):
                assert spoiled.faults.total() > whole.faults.total(), (
                    f"{lines[at]!r} silently loses {dict(lost)}"
                )


@together("sample", OUTPUTS, ids=str, parts=4)
def test_a_masked_address_keeps_its_row(sample: Sample) -> None:
    """An address masked with X costs at most its own cell, and that is counted."""
    block = recognised(registry()[sample.parser], sample)
    whole = read(sample, block)

    for at in range(len(block.lines)):
        for lines in changed(block.lines, at, _ADDRESS, "X"):
            spoiled = read(sample, block, lines)
            if sample.parser not in NAMED_BY_ADDRESS:
                assert len(spoiled.rows) == len(whole.rows), f"{lines[at]!r} loses its row"
            if whole.cells() - spoiled.cells() and not spoiled.says("X.X"):
                assert spoiled.faults.total() > whole.faults.total(), (
                    f"{lines[at]!r} is masked in silence"
                )


def mixed(found: Iterable[Row], border: int) -> list[Row]:
    """Return the rows that hold values from both sides of a line."""
    return [
        row for row in found if len({at < border for at in (row.line, *row.lines.values())}) > 1
    ]


@together("sample", OUTPUTS, ids=str, parts=6)
def test_no_record_inherits_from_the_one_before(sample: Sample) -> None:
    """The same output a second time, without any one of its lines (a heading perhaps): no row mixes the two."""
    block = recognised(registry()[sample.parser], sample)

    for at, line in enumerate(block.lines):
        if line.strip():
            twice = read(sample, block, [*block.lines, *block.lines[:at], *block.lines[at + 1 :]])
            assert not mixed(twice.rows, block.first_line + len(block.lines)), f"without {line!r}"


def parsed(name: str, text: str, **params: str) -> Read:
    """Read a text with one parser."""
    sample = next(one for one in OUTPUTS if one.parser == name)
    return read(sample, Block(text.splitlines(), 1, "a.txt", params=params))


def test_routers_without_their_headings_are_three() -> None:
    """6.2 prints no `VDR Instance:` title: each `Vdr Name:` is a router of its own, and no value leaks."""
    text = "VDR Instance Information :\n---\n" + "\n".join(
        f"Vdr Name: edge-{n}\nVdr Id: 0x0000138{n}\nNumber of Lifs: {n}\n"
        + ("Edge Active: Yes\n" if n == 1 else "")
        for n in (1, 2, 3)
    )

    routers = parsed("nsx_vdr", text)

    assert [row.values["vdr"] for row in routers.rows] == ["edge-1", "edge-2", "edge-3"]
    assert [row.values["vdr_id"] for row in routers.rows] == [0x1381, 0x1382, 0x1383]
    assert [row.values["edge_active"] for row in routers.rows] == [True, None, None]
    assert not routers.faults


def test_a_second_policy_without_its_heading_has_no_switch() -> None:
    """Values that come a second time belong to another object, not to the one the command names."""
    first = "Load Balancing: srcport\nNetwork Failure Detection: link\nNotify Switches: true\nFailback: true\n"

    policies = parsed(
        "teaming", first + "Network Failure Detection: beacon\nFailback: false\n", switch="vSwitch0"
    )

    assert [row.values["failure_detection"] for row in policies.rows] == ["link"]
    assert sorted(policies.faults) == [5, 6]


def test_ports_below_a_switch_that_cannot_be_read_have_none() -> None:
    """A port group does not inherit the switch before, when the line of its own switch is not understood."""
    text = (
        "Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks\n"
        "vSwitch0         128         4           128               1500    vmnic0\n\n"
        "  PortGroup Name        VLAN ID  Used Ports  Uplinks\n"
        "  Management Network    0        1           vmnic0\n\n"
        "Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks\n"
        "vSwitch1         lots        4           128               1500    vmnic1\n\n"
        "  PortGroup Name        VLAN ID  Used Ports  Uplinks\n"
        "  Storage               7        1           vmnic1\n"
    )

    switches = parsed("esxcfg_vswitch", text)

    groups = {
        row.values["portgroup"]: row.values["switch"]
        for row in switches.rows
        if "portgroup" in row.values
    }
    assert {name: switch for name, switch in groups.items() if name} == {
        "Management Network": "vSwitch0",
        "Storage": None,
    }
    assert list(switches.faults) == [8]


PROMPTS = {
    "esxi": "[root@esx1:~] ",
    "guest": "root@vm1:~# ",
    "nsx_manager": "nsxmgr> ",
    "nsx_controller": "nsx-controller # ",
    "nsx_edge": "vShield-edge-1-0> ",
    "nsxt_manager": "nsxt-mgr-01> ",
    "nsxt_edge": "nsxt-edge-01> ",
    "nsx_t": "nsxt-mgr-01> ",
    "vcenter": "PS C:\\> ",
    "": "[root@esx1:~] ",
}
MIDDLE = {
    "a line": ["@@ one strange line @@"],
    "four lines": ["@@ one", "@@ two", "@@ three", "@@ four"],
    "two dots": [".."],
    "below a blank line": ["", "@@ strange below a blank line @@"],
    "a sentence": ["This sentence was printed by the driver in the middle of its own output."],
}
# several commands on one line: what stands below may be the next one's output
TYPED = [
    one
    for one in OUTPUTS
    if ";" not in one.expected.get("command", ";")
    and one.parser not in PASS_OVER
    and str(one) not in FREE_TEXT
]


def pasted(tmp_path: Path, lines: list[str]) -> Intake:
    """Read lines as a pasted terminal session."""
    paste = tmp_path / "paste.txt"
    paste.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
    return read_case([paste], Ledger(), KindFinder(), Scanner([]), Options())


def session(sample: Sample, lines: list[str]) -> list[str]:
    """Return the lines as the whole output of the sample's command, with the next prompt below."""
    prompt = PROMPTS[registry()[sample.parser].node]
    if sample.expected["command"].startswith(("GET", "curl")):
        prompt = "[root@jump:~]# "
    return [prompt + sample.expected["command"], *lines, prompt + "date"]


def filled(rows: Iterable[Row]) -> list[tuple[str, dict[str, Any]]]:
    """Return rows as table and filled cells, in order."""
    return Read(list(rows), Counter()).values()


@pytest.mark.size
@together("sample", TYPED, parts=30)
@together("name", MIDDLE)
def test_the_output_of_a_command_goes_on_to_the_next_prompt(
    sample: Sample, name: str, tmp_path: Path
) -> None:
    """Strange lines in the middle of an output end nothing: rows below them are kept, or counted line by line."""
    block = recognised(registry()[sample.parser], sample)
    at = len(block.lines) // 2
    filtered = "|" in sample.expected["command"] or "grep" in sample.expected["command"]
    if not at or (filtered and "" in MIDDLE[name]):
        pytest.skip("an output of one line, or of grep, which prints no blank lines")

    whole = pasted(tmp_path, session(sample, block.lines))
    got = pasted(tmp_path, session(sample, [*block.lines[:at], *MIDDLE[name], *block.lines[at:]]))

    faults = {fault.line for fault in got.faults}
    lost = Counter(map(repr, filled(whole.rows))) - Counter(map(repr, filled(got.rows)))
    below = {
        number
        for number, line in enumerate(block.lines[at:], at + len(MIDDLE[name]) + 2)
        if line.strip()
    }
    assert not lost or below <= faults, (
        f"rows are lost, and only {len(below & faults)} of {len(below)} lines counted"
    )
    if whole.rows and registry()[sample.parser].name != "esxi_version":
        strange = {at + 2 + n for n, line in enumerate(MIDDLE[name]) if line.strip(". ")}
        assert strange <= faults or not registry()[sample.parser].body, (
            f"not counted: {strange - faults}"
        )


@together("sample", [one for one in TYPED if registry()[one.parser].body], ids=str, parts=8)
def test_lines_below_an_output_are_counted_up_to_the_next_prompt(
    sample: Sample, tmp_path: Path
) -> None:
    """What a command prints after the last line we know is not understood: each line is a fault with its number."""
    block = recognised(registry()[sample.parser], sample)
    before = pasted(tmp_path, session(sample, block.lines))
    if not before.rows:
        pytest.skip("a refusal, or another driver: no output that could go on")

    got = pasted(tmp_path, session(sample, [*block.lines, "@@ more", "@@ and more"]))

    assert {len(block.lines) + 2, len(block.lines) + 3} <= {fault.line for fault in got.faults}
    assert filled(got.rows) == filled(before.rows)


NICS = """Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description
------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  -----------
vmnic0  0000:18:00.0  ixgben  Up            Up           10000  Full    XX:XX:XX:XX:XX:01  1500  Acme X550
vusb0   Pseudo        cdc_ether  Up         Up             100  Full    00:50:56:00:00:01  1500  Acme LAN
vmnic1  0000:18:00.1  ixgben  Up            Down             0  Half    XX:XX:XX:XX:XX:02  1500  Acme X550
"""


def test_a_masked_mac_and_a_pseudo_address_keep_their_nics(tmp_path: Path) -> None:
    """All NICs of a masked list are there; each masked cell is counted, and nothing else."""
    got = pasted(
        tmp_path,
        ["[root@esx1:~] esxcli network nic list", *NICS.splitlines(), "[root@esx1:~] date"],
    )

    nics = {row.values["pnic"]: row.values for row in got.rows}
    assert list(nics) == ["vmnic0", "vusb0", "vmnic1"]
    assert nics["vusb0"]["pci"] == "Pseudo"
    assert nics["vmnic1"]["link_up"] is False
    assert [nics[name]["mac"] for name in nics] == [None, "00:50:56:00:00:01", None]
    assert [fault.line for fault in got.faults] == [4, 6]


def test_ethtool_of_a_host_is_about_its_physical_nic(tmp_path: Path) -> None:
    """`ethtool -i vmnic0` below the prompt of a host fills the table of physical NICs, not that of guests."""
    driver = [
        "driver: ixgben",
        "version: 1.7.1",
        "firmware-version: 0x800003e1",
        "bus-info: 0000:18:00.0",
    ]
    loop = "[root@esx1:~] for n in vmnic1; do ethtool -i $n; done"

    got = pasted(tmp_path, ["[root@esx1:~] ethtool -i vmnic0", *driver, loop, *driver])

    assert [row.table.name for row in got.rows] == ["esxi.pnic_info", "esxi.pnic_info"]
    assert [row.values["pnic"] for row in got.rows] == ["vmnic0", "vmnic1"]
    assert got.rows[0].values["driver_version"] == "1.7.1"


VXLAN = """VXLAN Global States:
        Control plane Out-Of-Sync:      No
VXLAN VDS:      Compute_VDS
        VDS ID: 1c ec 0e 50 02 9c a9 21-b6 d8 d0 fc 73 e5 79 69
        MTU:    1600
        Vmknic count:   1
"""


def test_the_vxlan_list_is_no_list_of_switches(tmp_path: Path) -> None:
    """`net-vdl2 -l` prints a VDS ID, yet only its own parser claims it, with its prompt or without."""
    paste = tmp_path / "vxlan.txt"
    (tmp_path / "host.txt").write_text(
        "[root@esx1:~] vmware -v\nVMware ESXi 6.5.0 build-5969303\n", encoding="utf-8"
    )
    for prompt in ("[root@esx1:~] net-vdl2 -l\n", ""):
        paste.write_text(prompt + VXLAN, encoding="utf-8")
        sources = triage([tmp_path], Options()).document.sources
        (record,) = [one for one in sources if one.address.endswith("vxlan.txt")]
        assert record.read_by == "net_vdl2"
        assert record.faults == 0


CUT_XML = """<hostConnStatusList><hostConnStatuses>
<hostConnStatus><hostId>host-31</hostId><hostToControllerConn>UP</hostToControllerConn></hostConnStatus>
<hostConnStatus>
<hostId>host-32</hostId>
<hostToControllerConn>DOWN</hostToControllerConn>
<hostToControllerConnectionErrors>
"""


def test_an_open_answer_is_cut_and_counts_nothing(tmp_path: Path) -> None:
    """XML with elements open at its end is incomplete material, and how many controllers failed is not known."""
    saved = tmp_path / "status.xml"
    saved.write_text(CUT_XML, encoding="utf-8")

    outcome = triage([saved], Options())
    rows = pasted(tmp_path, CUT_XML.splitlines()).rows

    assert outcome.partial
    assert outcome.document.sources[0].state == "cut"
    assert "still open where the text ends" in outcome.document.faults[0].why
    assert [row.values["failed_controllers"] for row in rows] == [0, None]
