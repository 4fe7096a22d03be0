"""Differences between clocks, from events that two machines both hold; nothing is ever corrected by them.

The distributed firewall logs the first packet of a TCP connection on the host of the sender (OUT) and on that of the
receiver (IN), within milliseconds: the difference of the two stamps is that of the clocks. Ports are used again, so the
middle of all pairs counts, and the spread of the inner half of them is the error. Source of the form: NSX 6.2
to 6.4. Two edges of NSX-T both log when the tunnel between them changes (KB 438022); BFD takes up to three intervals to
notice, so that an estimate from them is never better than that.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from analyzer.artefacts import logtime
from analyzer.artefacts.tables import Row
from analyzer.facts.site_members import ClockSkew, SiteMembers, read_text
from analyzer.facts.site_signs import PACKETS, TUNNEL
from analyzer.scan.hits import Hit

FEWEST = 3  # pairs; fewer may be one port that was used again
PRINTED_S = 0.001  # the stamps have milliseconds
NOTICED_S = 3.0  # three intervals of BFD, one second each


class TunnelChange(NamedTuple):
    """A line that says how the state of a tunnel changed."""

    state: str
    time: float
    hit: Hit


def compare_connections(site: SiteMembers) -> Iterator[Row]:
    """Yield a row for each pair of hosts that logged connections between them."""
    sent = read_packets(site, "OUT")
    received = read_packets(site, "IN")
    for sender in sorted(sent):
        for receiver in sorted(received):
            flows = sorted(sent[sender].keys() & received[receiver].keys())
            if sender == receiver or len(flows) < FEWEST:
                continue
            apart = []
            for flow in flows:
                arrived = received[receiver][flow][0]
                apart.append(arrived - sent[sender][flow][0])
            names = []
            for key in (receiver, sender):
                names.append(site.name_member("host", name=site.facts.name(key)).name)
            origin = site.make_origin(receiver, received[receiver][flows[0]][1])
            means = "first packets of TCP connections in dfwpktlogs"
            yield site.state_skew(
                origin, (names[0], names[1]), measure_skew(apart, PRINTED_S), means
            )


def read_packets(site: SiteMembers, way: str) -> dict[str, dict[str, tuple[float, Hit]]]:
    """Return node -> flow -> time and line of its first packet in one direction."""
    found: dict[str, dict[str, tuple[float, Hit]]] = {}
    for node, hit in site.find_hits(PACKETS):
        at = None
        if hit.groups["way"] == way:
            at = logtime.log_time(hit.text)
        if at is not None:
            flow = str(hit.groups["flow"])
            found.setdefault(node, {}).setdefault(flow, (at.when.timestamp(), hit))
    return found


def compare_controllers(site: SiteMembers) -> Iterator[Row]:
    """Yield a row for the clock of each controller, of NSX for vSphere."""
    means = "systemTime against syncTime of the Manager's answer; that these are the two clocks is inferred"
    for row in site.list_rows("nsx.controller_node"):
        mine = parse_seconds(row.values.get("system_time"))
        theirs = parse_seconds(row.values.get("sync_time"))
        if mine is None or theirs is None:
            continue
        ip = read_text(row, "ip")
        object_id = read_text(row, "controller_id")
        member = site.name_member("controller", ip=ip, object_id=object_id, row=row)
        manager = site.find_only("manager")
        other = "NSX Manager"
        if manager is not None:
            other = manager.name
        yield site.state_skew(row, (member.name, other), ClockSkew(mine - theirs, 1.0, 1), means)


def parse_seconds(time: object) -> float | None:
    """Return a time of a row, UTC, as seconds; None where it is none."""
    if not isinstance(time, str):
        return None
    try:
        return datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def compare_tunnels(site: SiteMembers) -> Iterator[Row]:
    """Yield a row for each pair of edges of NSX-T that logged changes of the tunnel between them."""
    seen = read_tunnel_changes(site)
    means = "changes of the tunnel between them, which both ends log; BFD may notice three seconds apart"
    for key in sorted(seen):
        node, local, remote = key
        others = []
        for other in seen:
            if other[1:] == (remote, local) and other[0] > node:
                others.append(other)
        if len(others) != 1:
            continue
        mine = seen[key]
        theirs = seen[others[0]]
        if len(mine) < FEWEST or [one.state for one in mine] != [one.state for one in theirs]:
            continue
        apart = [own.time - other.time for own, other in zip(mine, theirs, strict=True)]
        names = []
        for end in (node, others[0][0]):
            member = site.find_by_node(end)
            if member is None:
                names.append(site.facts.name(end))
            else:
                names.append(member.name)
        origin = site.make_origin(node, mine[0].hit)
        yield site.state_skew(origin, (names[0], names[1]), measure_skew(apart, NOTICED_S), means)


def read_tunnel_changes(site: SiteMembers) -> dict[tuple[str, str, str], list[TunnelChange]]:
    """Return (node, own address, address of the other end) -> changes of the tunnel, by time."""
    found: dict[tuple[str, str, str], list[TunnelChange]] = {}
    for node, hit in site.find_hits(TUNNEL):
        at = logtime.log_time(hit.text)
        if at is not None:
            key = node, str(hit.groups["local"]), str(hit.groups["remote"])
            change = TunnelChange(str(hit.groups["now"]), at.when.timestamp(), hit)
            found.setdefault(key, []).append(change)
    for changes in found.values():
        changes.sort(key=lambda change: change.time)
    return found


def measure_skew(apart: list[float], least: float) -> ClockSkew:
    """Return the middle of differences, and half the spread of their inner half but at least `least`."""
    apart = sorted(apart)
    quarter = len(apart) // 4
    inner = apart[quarter : len(apart) - quarter]
    spread = (inner[-1] - inner[0]) / 2
    return ClockSkew(median(apart), max(spread, least), len(apart))
