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

from analyzer.artefacts import logtime, parsing
from analyzer.artefacts.tables import Block, Row, Value
from analyzer.facts.site_names import SiteNames, rows, text
from analyzer.facts.site_rows import block_of, hits
from analyzer.facts.site_signs import NSXT_SKEW, PACKETS, SKEW, TUNNEL
from analyzer.facts.store import Facts
from analyzer.scan.hits import Hit

FEWEST = 3  # pairs; fewer may be one port that was used again
PRINTED_S = 0.001  # the stamps have milliseconds
NOTICED_S = 3.0  # three intervals of BFD, one second each
_Seen = dict[str, tuple[float, Hit]]
_Told = list[tuple[str, float, Hit]]  # new state, time, line
_Changes = dict[tuple[str, str, str], _Told]


def skews(facts: Facts, names: SiteNames) -> Iterator[Row]:
    """Yield a row for each pair of hosts that logged connections between them, and for each controller's clock."""
    yield from _connections(facts, names, SKEW)
    yield from _controllers(facts, names)


def nsxt_skews(facts: Facts, names: SiteNames) -> Iterator[Row]:
    """Yield a row for each pair of hosts that logged connections, and of edges that logged changes of their tunnel."""
    yield from _connections(facts, names, NSXT_SKEW)
    seen = _changes(facts)
    for node, local, remote in sorted(seen):
        others = [key for key in seen if key[1:] == (remote, local) and key[0] > node]
        for other in others if len(others) == 1 else ():
            mine, theirs = seen[(node, local, remote)], seen[other]
            if len(mine) == len(theirs) and [one[0] for one in mine] == [one[0] for one in theirs]:
                yield from _tunnel(facts, names, (node, other[0]), mine, theirs)


def _changes(facts: Facts) -> _Changes:
    """Return (node, own address, address of the other end) -> changes of the tunnel: new state, time, line."""
    found: _Changes = {}
    for node, hit in hits(facts, TUNNEL):
        if at := logtime.log_time(hit.text):
            key = node, str(hit.groups["local"]), str(hit.groups["remote"])
            found.setdefault(key, []).append((str(hit.groups["now"]), at.when.timestamp(), hit))
    for changes in found.values():
        changes.sort(key=lambda one: one[1])
    return found


def _tunnel(
    facts: Facts, names: SiteNames, nodes: tuple[str, str], mine: _Told, theirs: _Told
) -> Iterator[Row]:
    if len(mine) < FEWEST:
        return
    apart = [own[1] - other[1] for own, other in zip(mine, theirs, strict=True)]
    hit = mine[0][2]
    first, second = (_called(facts, names, key) for key in nodes)
    means = "changes of the tunnel between them, which both ends log; BFD may notice three seconds apart"
    yield _row(
        block_of(nodes[0], hit),
        hit.line,
        first,
        second,
        _middle(apart, NOTICED_S),
        means,
        NSXT_SKEW,
    )


def _middle(apart: list[float], least: float) -> tuple[float, float, int]:
    """Return the middle of differences, half the spread of their inner half but at least `least`, and their number."""
    apart = sorted(apart)
    inner = apart[len(apart) // 4 : len(apart) - len(apart) // 4]
    return median(apart), max((inner[-1] - inner[0]) / 2, least), len(apart)


def _called(facts: Facts, names: SiteNames, key: str) -> str:
    member = names.of_node(key)
    return member.name if member is not None else facts.name(key)


def _connections(facts: Facts, names: SiteNames, table: str) -> Iterator[Row]:
    sent, received = _packets(facts, "OUT"), _packets(facts, "IN")
    for one in sorted(sent):
        for other in sorted(received):
            if one != other and (
                row := _pair(facts, names, (one, other), sent[one], received[other], table)
            ):
                yield row


def _packets(facts: Facts, way: str) -> dict[str, _Seen]:
    """Return node -> flow -> time and line of its first packet in one direction."""
    found: dict[str, _Seen] = {}
    for node, hit in hits(facts, PACKETS):
        if hit.groups["way"] == way and (at := logtime.log_time(hit.text)):
            found.setdefault(node, {}).setdefault(
                str(hit.groups["flow"]), (at.when.timestamp(), hit)
            )
    return found


def _seconds(time: str) -> float | None:
    """Return a time of a row, UTC, as seconds; None where it is none."""
    try:
        return datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _pair(
    facts: Facts, names: SiteNames, nodes: tuple[str, str], sent: _Seen, received: _Seen, table: str
) -> Row | None:
    one, other = nodes
    both = sorted(set(sent) & set(received))
    if len(both) < FEWEST:
        return None
    found = _middle([received[flow][0] - sent[flow][0] for flow in both], PRINTED_S)
    hit = received[both[0]][1]
    member, partner = (names.known("host", name=facts.name(key)).name for key in (other, one))
    means = "first packets of TCP connections in dfwpktlogs"
    return _row(block_of(other, hit), hit.line, member, partner, found, means, table)


def _controllers(facts: Facts, names: SiteNames) -> Iterator[Row]:
    for row in rows(facts, "nsx.controller_node"):
        own, checked = row.values.get("system_time"), row.values.get("sync_time")
        if not isinstance(own, str) or not isinstance(checked, str):
            continue
        mine, theirs = _seconds(own), _seconds(checked)
        if mine is None or theirs is None:
            continue
        member = names.known(
            "controller", ip=text(row, "ip"), object_id=text(row, "controller_id"), row=row
        )
        manager = names.only("manager")
        means = "systemTime against syncTime of the Manager's answer; that these are the two clocks is inferred"
        other = manager.name if manager is not None else "NSX Manager"
        yield _row(row.block, row.line, member.name, other, (mine - theirs, 1.0, 1), means)


def _row(
    block: Block,
    line: int,
    member: str,
    other: str,
    found: tuple[float, float, int],
    means: str,
    table: str = SKEW,
) -> Row:
    values: dict[str, Value] = {
        "member": member,
        "other": other,
        "ahead_s": round(found[0], 3),
        "error_s": round(found[1], 3),
        "shared_events": found[2],
        "means": means,
    }
    return Row(parsing.tables()[table], values, block, line)
