"""Scans of the logs of some nodes: those of one are found without passing those of all others."""

from __future__ import annotations

from analyzer.facts import Facts
from analyzer.scan.hits import LogScan


def test_scans_of_one_node_are_found_as_among_all() -> None:
    """By table and node, in the order they were read, also after more were taken."""
    facts = Facts([])
    for number in range(6):
        scan = LogScan("esxi.vmkernel", f"{number}.log", "")
        scan.node = f"host{number % 3}"
        facts.add_hits(scan)
        for nodes in (["host1"], ["host0", "host2"], [], ["other"]):
            among = [one for one in facts.scans if one.node in nodes]
            assert facts.scans_on("esxi.vmkernel", nodes) == among
    assert facts.is_with("esxi.vmkernel", "host1") and not facts.is_with("esxi.vmkernel", "other")
    assert facts.scans_on("esxi.hostd", ["host1"]) == []
