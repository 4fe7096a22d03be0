"""The records of an NSX site in the case document: its members, its channels, its clocks; NSX-v and NSX-T alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.artefacts.tables import Row, Value
from analyzer.facts import Facts, site_signs
from analyzer.facts.site_members import list_rows

Record = dict[str, Any]

_STATES: dict[Value, str] = {True: "up", False: "down", None: ""}
MOST = 5000  # statements; those of channels that are down first


def site_records(facts: Facts) -> list[Record]:
    """Return the members of a site, what is said of its channels, and its clocks; nothing of a case without one."""
    channels = sorted(_both(facts, site_signs.CHANNEL, site_signs.NSXT_CHANNEL), key=_order)
    members = map(_member, _both(facts, site_signs.MEMBER, site_signs.NSXT_MEMBER))
    found = [*_once(members), *map(_channel, channels[:MOST])]
    skews = map(_skew, _both(facts, site_signs.SKEW, site_signs.NSXT_SKEW))
    return [*found, *skews, *_left_out(len(channels))]


def _both(facts: Facts, *tables: str) -> list[Row]:
    return [row for table in tables for row in list_rows(facts, table)]


def _once(members: Iterator[Record]) -> Iterator[Record]:
    """Yield each member once: a host may belong to a site of NSX-v and to one of NSX-T."""
    seen: set[tuple[str, str]] = set()
    for one in members:
        if (key := (one["channel"], one["name"])) not in seen:
            seen.add(key)
            yield one


def _left_out(channels: int) -> Iterator[Record]:
    if channels > MOST:
        yield {
            "what": "left out",
            "state": f"{channels - MOST:,} more statements on channels are in no picture",
        }


def _order(row: Row) -> tuple[Any, ...]:
    return (
        row.values.get("up") is not False,
        str(row.values["from_member"]),
        str(row.values["to_member"]),
    )


def _member(row: Row) -> Record:
    values = row.values
    return {
        "what": "member",
        "name": values["member"],
        "channel": values["member_kind"],
        "other": ", ".join(str(values[key]) for key in ("ip", "object_id") if values.get(key)),
        "state": values["collected"],
        "note": values["rests_on_it"] or "",
        **_place(row),
    }


def _channel(row: Row) -> Record:
    values = row.values
    return {
        "what": "channel",
        "name": values["from_member"],
        "other": values["to_member"],
        "channel": values["channel"],
        "state": "idle" if _unused(str(values["said"])) else _STATES[values.get("up")],
        "said": values["said"],
        "said_by": values["said_by"],
        "at": values.get("told_at") or "",
        **_place(row),
    }


def _unused(said: str) -> bool:
    """Tell whether a channel is not meant to be used: another manager or controller serves the node."""
    return said.endswith(site_signs.SERVED) or said.casefold() in site_signs.IDLE


def _skew(row: Row) -> Record:
    values = row.values
    return {
        "what": "skew",
        "name": values["member"],
        "other": values["other"],
        "state": f"{values['ahead_s']:+,.3f} s",
        "said": f"{values['error_s']:,.3f} s",
        "note": f"{values['means']}; shared events: {values['shared_events']}",
        **_place(row),
    }


def _place(row: Row) -> Record:
    return {"address": row.block.address, "line": row.line}
