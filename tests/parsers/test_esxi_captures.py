"""Real captures and the published text the measured case comes from, read where they are at hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.sources.encoding import decode
from analyzer.sources.transcript import split

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not (SHARED / "corpus").is_dir(), reason="the captures are kept outside the repository"
    ),
]


def read(path: str) -> tuple[list[Row], list[Fault]]:
    """Return rows and faults of a file, taken apart as a pasted text."""
    rows: list[Row] = []
    faults: list[Fault] = []
    for piece in split(decode((SHARED / path).read_bytes()), registry().values()):
        if piece.parser is not None:
            block = Block(
                piece.lines, piece.first_line, path, command=piece.command, params=piece.params
            )
            for item in registry()[piece.parser].parse(block):
                (rows if isinstance(item, Row) else faults).append(item)  # type: ignore[arg-type]
    return rows, faults


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("esxi/netstats/dixonly_esxi8_net-stats-l.txt", {"esxi.net_stats": 14}),
        ("esxi/netstats/nsx-controller-blog_net-stats-l.txt", {"esxi.net_stats": 14}),
        ("esxi/vsish/ipv6-mtu-blog_rxSummary.txt", {"esxi.vmxnet3_rx_summary": 1}),
        (
            "esxi/intel-mfd/fixtures_L510_Name-PCI-Driver-Link-Speed-Duplex-MAC-Ad.txt",
            {"esxi.pnic": 16},
        ),
        (
            "esxi/intel-mfd/test_mtu_esxi_L55_Name-PCI-Device-Driver-Admin-Status-Link.txt",
            {"esxi.pnic": 4},
        ),
        (
            "esxi/intel-mfd/test_stats_esxi_L53_NIC-statistics-for-vmnic9.txt",
            {"esxi.pnic_stats": 1},
        ),
        (
            "esxi/intel-mfd/test_driver_esxi_L18_Advertised-Auto-Negotiation-true.txt",
            {"esxi.pnic_info": 1},
        ),
        (
            "esxi/intel-mfd/fixtures_L577_encoding-UTF-8.txt",
            {"esxi.vm": 1, "esxi.vnic": 1, "esxi.vdisk": 1},
        ),
        (
            "esxi/vmware-log/euanhume/Euan_Hume_WebArcAss3.vmx",
            {"esxi.vm": 1, "esxi.vnic": 1, "esxi.vdisk": 1, "esxi.vcdrom": 1},
        ),
        ("esxi/vmware-log/zerjioang/other.vmx", {"esxi.vm": 1, "esxi.vdisk": 1, "esxi.vcdrom": 1}),
        (
            "esxi/intel-mfd/fixtures_L368_Switch-Name-Num-Ports-Used-Ports-Configu.txt",
            {"esxi.vswitch": 2, "esxi.portgroup": 3, "esxi.dvport": 2},
        ),
        (
            "nsx/esxi-cli/esxcfg-vswitch_-l.txt",
            {"esxi.vswitch": 2, "esxi.portgroup": 1, "esxi.dvport": 10},
        ),
        (
            "esxi/elatov/2012-09-09-vms-setup-to-use-windows-nlb-in-unicast-mode-lose_02.txt",
            {"esxi.vswitch": 1, "esxi.dvport": 17},
        ),
        (
            "esxi/elatov/2012-09-09-vms-setup-to-use-windows-nlb-in-unicast-mode-lose_03.txt",
            {"esxi.port_status": 17},
        ),
        (
            "esxi/elatov/2012-10-09-vcap5-dca-objective-2-1-implement-and-manage-comp_00.txt",
            {"esxi.vswitch": 4, "esxi.portgroup": 4},
        ),
        (
            "esxi/esxi90/esxcli_network.txt",
            {
                "esxi.version": 1,
                "esxi.pnic": 1,
                "esxi.pnic_info": 1,
                "esxi.vswitch": 1,
                "esxi.dvport": 2,
                "esxi.vmk": 1,
            },
        ),
    ],
)
def test_a_capture_is_read_whole_and_without_a_fault(path: str, counts: dict[str, int]) -> None:
    """Each object of a real output is a row of its table, and no line is left not understood."""
    rows, faults = read(f"corpus/{path}")
    assert dict(Counter(row.table.name for row in rows)) == counts
    assert faults == []


def test_private_statistics_of_three_drivers_name_their_losses() -> None:
    """Of ixgben, i40en and e1000 texts the documented counters of lost frames are told apart."""
    parser = registry()["nic_private"]
    found: dict[str, set[str]] = {}
    for path in (
        "corpus/esxi/intel-mfd/test_stats_esxi_L132_Uplink-Stats.txt",
        "corpus/esxi/intel-mfd/test_rss_esxi_L34_Packets-assigned-to-an-invalid-queue-0.txt",
        "corpus/esxi/elatov/2013-01-07-vcap5-dca-objective-6-3-troubleshoot-network-perf_12.txt",
    ):
        lines = [
            line for line in decode((SHARED / path).read_bytes()) if not line.startswith("~ #")
        ]
        for item in parser.parse(Block(lines, params={"pnic": "vmnic0"})):
            assert isinstance(item, Row), item
            assert item.values["pnic"] == "vmnic0"
            if item.values.get("meaning", "other") != "other":
                found.setdefault(str(item.values["meaning"]), set()).add(str(item.values["key"]))
    assert found == {
        "crc": {"rxCRCErrors", "rx_crc_errors"},
        "missed": {"rxMissErrors", "rx_missed_errors"},
        "fifo": {"rxFifoErrors", "rxOverflowErrors", "rx_over_errors"},
        "no_buffer": {"allocRxBufFail", "rx_no_buffer_count", "alloc_rx_buff_failed"},
    }


def _one(rows: list[Row], table: str, line: int) -> Row:
    return next(row for row in rows if row.table.name == table and row.line == line)


def test_the_measured_case_stands_on_its_lines() -> None:
    """In the published text the dumps of port 33554464 are found with numbers and line numbers."""
    rows, _ = read("seeds/000-vswitchzero.txt")
    stats = _one(rows, "esxi.client_stats", 314)
    assert (stats.values["port_id"], stats.values["pkts_rx_ok"], stats.values["dropped_rx"]) == (
        33554464,
        54807350,
        10312,
    )
    assert stats.line_of("dropped_rx") == 326
    before, after = (row for row in rows if row.table.name == "esxi.vmxnet3_rx_summary")
    assert (before.values["ring1_full"], before.values["ring2_full"]) == (7086, 3284)
    assert before.values["out_of_buffers"] == 7086 + 3284
    assert before.line_of("ring1_full") == 355
    assert (after.values["port_id"], after.values["ring1_full"], after.values["ring2_full"]) == (
        33554467,
        0,
        1656,
    )
    sizes = [
        (row.values["port_id"], row.values["ring1_size"], row.values["ring2_size"])
        for row in rows
        if row.table.name == "esxi.vmxnet3_rx_queue"
    ]
    assert sizes == [
        (33554464, 256, 256),
        (33554466, 512, 32),
        (33554464, 4096, 256),
        (33554466, 4096, 4096),
        (33554466, 4096, 4096),
    ]
    queues = Counter(
        row.values["port_id"] for row in rows if row.table.name == "esxi.vmxnet3_rx_queues"
    )
    assert queues == {33554464: 2, 33554466: 2}
    ports = [row.values["client_vm"] for row in rows if row.table.name == "esxi.net_stats"]
    assert ports == ["iperf-test1", "iperf-test2"]
