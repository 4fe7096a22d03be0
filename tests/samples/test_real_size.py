"""Outputs as large as real hosts print them go through a triage whole: every port, every NIC, nothing cut.

The texts are made by the forms of the format reference; every eleventh MAC is masked, as customers do.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzer.pipeline.triage import Options, read_case, triage
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder

PROMPT = "[root@esx1:~] "
NIC_HEAD = "Name     PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address        MTU   Description"


def port(number: int) -> Iterator[str]:
    """Yield what a session prints for one port: its client statistics by vsish."""
    at = f"/net/portsets/DvsPortset-0/ports/{67108864 + number}/clientStats"
    yield f"{PROMPT}vsish -e get {at}"
    yield "port client stats {"
    counters = ("pktsTxOK", "bytesTxOK", "droppedTx", "pktsRxOK", "bytesRxOK", "droppedRx")
    yield from (f"   {name}:{number * 7 + place}" for place, name in enumerate(counters))
    yield "}"


def nic(number: int) -> str:
    """Return one line of the NIC list."""
    mac = (
        "XX:XX:XX:XX:XX:XX"
        if number % 11 == 0
        else f"00:50:56:00:{number // 256:02x}:{number % 256:02x}"
    )
    pci = "Pseudo      " if number % 50 == 49 else f"0000:{number % 256:02x}:00.0"
    return f"vmnic{number:<4} {pci}  ixgben  Up            Up           10000  Full    {mac}  1500  Acme X550"


@pytest.mark.size
def test_a_session_over_eight_thousand_ports(tmp_path: Path) -> None:
    """8,000 dumps of vsish in one session: a row each, no line lost, no line misunderstood."""
    session = tmp_path / "session.txt"
    lines = [line for number in range(8000) for line in port(number)]
    session.write_text("\n".join(lines) + "\n", encoding="utf-8")

    outcome = triage([session], Options())
    rows = read_case([session], Ledger(), KindFinder(), Scanner([]), Options()).rows

    assert [row.values["port_id"] for row in rows] == [67108864 + number for number in range(8000)]
    assert all(row.values["dropped_rx"] == number * 7 + 5 for number, row in enumerate(rows))
    (record,) = outcome.document.sources
    assert (record.lines, record.faults) == (len(lines), 0)
    assert not outcome.partial
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000


def test_a_list_of_many_nics(tmp_path: Path) -> None:
    """Every masked address is counted, and only these: no NIC ends the list."""
    session = tmp_path / "nics.txt"
    nics = [nic(number) for number in range(600)]
    text = [
        f"{PROMPT}esxcli network nic list",
        NIC_HEAD,
        "-------  ------------",
        *nics,
        f"{PROMPT}date",
    ]
    session.write_text("\n".join(text) + "\n", encoding="utf-8")

    document = triage([session], Options()).document

    masked = [number + 4 for number, line in enumerate(nics) if "XX:" in line]
    assert document.faults_total == len(masked)
    assert [fault.line for fault in document.faults] == masked[: len(document.faults)]
    assert all(fault.why.startswith("mac is masked") for fault in document.faults)
