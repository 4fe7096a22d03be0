"""Outputs of guest commands and pasted esxtop screens: what a sample beside a JSON cannot say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row, Value

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"
CORPUS = ROOT.parent / "shared" / "corpus" / "esxi"


def read(name: str, lines: list[str], command: str = "", first: int = 1) -> list[Row | Fault]:
    """Run a parser over lines as the output of a command."""
    parser = registry()[name]
    found = parser.match_command(command) if command else None
    assert bool(found) == bool(command), command
    params = {key: text for key, text in found.groupdict().items() if text} if found else {}
    return list(parser.parse(Block(lines, first, command=command, params=params)))


def values(found: list[Row | Fault], *columns: str) -> list[tuple[Value, ...]]:
    """Return some columns of all rows; a fault fails the test."""
    rows = []
    for item in found:
        assert isinstance(item, Row), str(item)
        rows.append(tuple(item.values[column] for column in columns))
    return rows


def seed(name: str) -> list[str]:
    path = SEEDS / name
    if not path.is_file():
        pytest.skip("the seeds are kept outside the repository")
    return path.read_text(encoding="utf-8").split("\n")


def outputs(lines: list[str], name: str) -> list[tuple[int, str, list[Row | Fault]]]:
    """Return line, command and rows of each output behind a guest's prompt that a parser takes."""
    parser = registry()[name]
    found = []
    for at, line in enumerate(lines):
        prompt, sign, command = line.partition(":~# ")
        if sign and " " not in prompt and parser.match_command(command):
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or parser.goes_on(lines[end])):
                end += 1
            found.append((at + 1, command, read(name, lines[at + 1 : end], command, at + 2)))
    return found


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["000-vswitchzero.txt", "002-vswitchzero-esxi.txt"])
def test_the_measured_case_adds_up(name: str) -> None:
    """Guest OOB 7129 + 3241 = 10370, what the host counted; 86,715 segments again; drops 2305 + 979 apart."""
    lines = seed(name)
    found = [rows for _, command, rows in outputs(lines, "ethtool_stats") if "OOB" in command]
    before, after = ([row[0] for row in values(rows, "pkts_rx_oob")] for rows in found)
    assert before == [7129, 3241]
    assert sum(after) == 1656
    (drops,) = [rows for _, command, rows in outputs(lines, "ethtool_stats") if "drop" in command]
    assert values(drops, "direction", "queue", "drv_dropped_rx") == [
        ("tx", 0, None),
        ("tx", 1, None),
        ("rx", 0, 2305),
        ("rx", 1, 979),
    ]
    tcp = [rows for _, _, rows in outputs(lines, "tcp_stats")]
    assert values(tcp[0], "segments_retransmitted", "fast_retransmits", "lost_retransmits") == [
        (86715, 68040, 106)
    ]
    assert values(tcp[1], "data_loss_events", "sack_recoveries") == [(2710, 645)]
    assert values(tcp[2], "segments_retransmitted") == [(48,)]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["000-vswitchzero.txt", "002-vswitchzero-esxi.txt"])
def test_the_other_guest_outputs_of_the_case_are_read(name: str) -> None:
    """Ring sizes are the sum of two queues before and after, `free` grows by 18 MB, the driver is bundled."""
    lines = seed(name)
    rings = [
        values(rows, "interface", "rx_max", "rx", "tx")[0]
        for _, _, rows in outputs(lines, "ethtool_ring")
    ]
    assert rings == [("eth0", 4096, 512, 1024), ("eth0", 4096, 8192, 2048)]
    used = [values(rows, "mem_used_net_kb")[0][0] for _, _, rows in outputs(lines, "guest_memory")]
    assert used == [30008, 48256]
    ((_, _, driver),) = outputs(lines, "ethtool_driver")
    assert values(driver, "driver", "bus_info") == [("vmxnet3", "0000:03:00.0")]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["000-vswitchzero.txt", "002-vswitchzero-esxi.txt"])
def test_iperf_figures_agree_with_each_other(name: str) -> None:
    """Bytes counted in 1,024s and bits in 1,000s: transfer over time is the bandwidth printed."""
    ((_, _, rows),) = outputs(seed(name), "iperf")
    figures = values(rows, "stream", "start_s", "end_s", "transfer_bytes", "bandwidth_bps")
    assert len(figures) == 13
    assert figures[-1][0] == "SUM"
    for _, start, end, moved, rate in figures:
        assert moved * 8 / (end - start) == pytest.approx(rate, rel=0.01)  # type: ignore[operator]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["000-vswitchzero.txt", "002-vswitchzero-esxi.txt"])
def test_the_screen_of_the_limited_vm_is_read(name: str) -> None:
    """No-break blanks and a blank line behind the heading: %RDY 69.60 is %MLMTD 69.52; vCPUs stay unknown."""
    lines = seed(name)
    parser = registry()["esxtop_screen"]
    first = next(at for at, line in enumerate(lines) if parser.starts_at(line))
    end = first + 1
    while not lines[end].strip() or parser.goes_on(lines[end]):
        end += 1
    found = read("esxtop_screen", lines[first:end], first=first + 1)
    assert not any(isinstance(item, Fault) for item in found)
    rows = [item for item in found if isinstance(item, Row)]
    cpu = {row.values["vm_id"]: row for row in rows if row.table.name == "esxtop.vm_cpu"}
    assert (cpu[5572767].values["rdy_pct"], cpu[5572767].values["mlmtd_pct"]) == (69.6, 69.52)
    assert lines[cpu[5572767].line - 1].split()[2] == "iperf-test1"
    vms = [row.values for row in rows if row.table.name == "esxtop.vm"]
    assert [vm["vcpus"] for vm in vms] == [None] * 5
    assert [vm["vm_name"] for vm in vms].count("NSX_Controller_") == 2


@pytest.mark.corpus
def test_public_outputs_are_read_without_a_fault() -> None:
    """A guest's `ethtool -S` and `-g`, and a network screen of ESXi 4/5, as published."""
    ethtool = CORPUS / "ethtool" / "ens192_ethtool-S_and_g.txt"
    screen = CORPUS / "esxtop-screen" / "teampnic_n_view.txt"
    if not (ethtool.is_file() and screen.is_file()):
        pytest.skip("public captures are kept outside the repository")
    lines = ethtool.read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if "ethtool -g" in line)
    stats = read("ethtool_stats", lines[1:at], "ethtool -S ens192")
    assert values(stats, "direction", "queue", "ucast_pkts_tx", "bcast_pkts_rx", "giant_hdr") == [
        ("tx", 0, 7114, None, 0),
        ("rx", 0, None, 45, None),
    ]
    ring = read("ethtool_ring", lines[at + 1 :], "ethtool -g ens192 ")
    assert values(ring, "interface", "rx", "rx_mini", "rx_jumbo", "tx") == [
        ("ens192", 1024, 128, 512, 512)
    ]
    ports = read("esxtop_screen", screen.read_text(encoding="utf-8").splitlines())
    assert values(ports, "port_id", "client_vm")[-1] == (33554436, "Test")
    assert len(ports) == 7


def dump(counters: list[list[tuple[str, int]]], direction: str) -> list[str]:
    lines = []
    for queue, pairs in enumerate(counters):
        lines.append(f"     {direction} Queue#: {queue}")
        lines += [f"       {label}: {count}" for label, count in pairs]
    return lines


COUNT = st.integers(0, 10**12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(COUNT, COUNT, COUNT, COUNT, COUNT), min_size=1, max_size=8), st.data())
def test_a_filtered_output_gives_the_queues_of_the_whole(
    queues: list[tuple[int, ...]], data: st.DataObject
) -> None:
    """`| grep WORD` and lost indents change no number and no queue; `giant hdr` twice a queue neither."""
    tx = [
        [("drv dropped tx total", a), ("giant hdr", b), ("ring full", c), ("giant hdr", d)]
        for a, b, c, d, _ in queues
    ]
    rx = [
        [("pkts rx OOB", a), ("drv dropped rx total", b), ("rx buf alloc fail", e)]
        for a, b, _, _, e in queues
    ]
    lines = ["NIC statistics:", *dump(tx, "Tx"), *dump(rx, "Rx")]
    whole = read("ethtool_stats", lines, "ethtool -S eth0")
    assert len(whole) == 2 * len(queues)
    word = data.draw(st.sampled_from(["giant", "OOB", "drop", "full", "alloc", "dr"]))
    kept = [" " + line.strip() for line in lines if word in line]
    filtered = read("ethtool_stats", kept, f"ethtool -S eth0 | grep {word}")
    for part in filtered:
        assert isinstance(part, Row)
        cells = {key: value for key, value in part.values.items() if value is not None}
        assert any(isinstance(row, Row) and cells.items() <= row.values.items() for row in whole)
    counted = sum(
        v is not None for row in filtered if isinstance(row, Row) for v in row.values.values()
    )
    assert counted == len(kept) + 3 * len(
        filtered
    )  # interface, direction and queue stand in every row


@pytest.mark.parametrize(
    ("command", "factor"),
    [
        ("free", 1),
        ("free -k", 1),
        ("free -m", 1024),
        ("free -tm", 1024),
        ("free -g", 1 << 20),
        ("free --mebi", 1024),
    ],
)
def test_free_is_kilobytes_whatever_the_option(command: str, factor: int) -> None:
    """The unit comes from the command, because the numbers do not show it."""
    lines = [
        "              total        used        free      shared  buff/cache   available",
        "Mem:         400000      100000      200000          10      100000      300000",
    ]
    assert values(read("guest_memory", lines, command), "mem_used_kb") == [(100000 * factor,)]


@pytest.mark.parametrize(
    "command", ["freeze", "cat free.txt", "free.sh -m", "netstat -an", "iperf --version"]
)
def test_commands_that_only_look_alike_are_not_taken(command: str) -> None:
    """A guest parser takes its own command and no other."""
    names = ("guest_memory", "tcp_stats", "iperf", "ethtool_stats", "nic_boot")
    assert not any(registry()[name].match_command(command) for name in names)


def test_worlds_of_an_expanded_group_are_no_vms() -> None:
    """Behind `e` the cpu screen lists worlds under their group's GID: they have an ID of their own."""
    lines = [
        "      ID      GID NAME             NWLD   %USED    %RDY",
        "    7001     7001 web                 9   80.00    4.00",
        "    8004     7001 vmx-vcpu-0:web      1   70.00    3.00",
    ]
    found = read("esxtop_screen", lines)
    assert values(found[:1], "vm_id", "samples") == [(7001, 1)]
    assert values(found[1:], "vm_id", "rdy_pct") == [(7001, 4.0)]


@pytest.mark.parametrize(
    "name", ["esxtop_screen", "ethtool_stats", "ethtool_driver", "tcp_stats", "iperf", "nic_boot"]
)
def test_hostile_lines_cost_no_time(name: str) -> None:
    """Lines of 64 KiB made of blanks, digits or words are refused in less than two seconds each."""
    import time

    parser = registry()[name]
    fill = [" " * 65000, "1 " * 32000, "a " * 32000, "1" * 65000, ": " * 32000, "1.0 " * 16000]
    for head in ("1 1 a", "[ 3]  0.0- 1.0 sec ", "version: a", "     rx: ", "[    1.0] vmxnet3 "):
        for text in fill:
            line = f"{head}{text}x!"
            start = time.process_time()
            parser.starts_at(line)
            parser.goes_on(line)
            list(parser.parse(Block([line, "driver: a", line])))
            assert time.process_time() - start < 2, (head, text[:4])
