"""The records of an NSX site in the case document: its members, its channels, its clocks; NSX-v and NSX-T alike."""

from __future__ import annotations

from typing import Any

from analyzer.artefacts.tables import Row, Value
from analyzer.case.document import SiteRow
from analyzer.facts import Facts, site_signs
from analyzer.facts.site_members import list_rows

_STATES: dict[Value, str] = {True: "up", False: "down", None: ""}
MOST = 5000  # statements; those of channels that are down first


def site_records(facts: Facts) -> list[SiteRow]:
    """Return the members of a site, what is said of its channels, and its clocks; nothing of a case without one."""
    members: dict[tuple[str, str], SiteRow] = {}
    for row in read_both(facts, site_signs.MEMBER, site_signs.NSXT_MEMBER):
        member = make_member(row)
        # a host may belong to a site of NSX-v and to one of NSX-T
        members.setdefault((member.channel, member.name), member)
    channels = sorted(read_both(facts, site_signs.CHANNEL, site_signs.NSXT_CHANNEL), key=down_first)
    skews = read_both(facts, site_signs.SKEW, site_signs.NSXT_SKEW)
    found = [*members.values(), *map(make_channel, channels[:MOST]), *map(make_skew, skews)]
    if len(channels) > MOST:
        more = f"{len(channels) - MOST:,} more statements on channels are in no picture"
        found.append(make_site_row("left out", state=more))
    return found


def read_both(facts: Facts, *tables: str) -> list[Row]:
    """Return the rows of several tables."""
    return [row for table in tables for row in list_rows(facts, table)]


def down_first(row: Row) -> tuple[Any, ...]:
    """Order statements so that channels that are down come first."""
    values = row.values
    return (
        values.get("up") is not False,
        str(values.get("from_member")),
        str(values.get("to_member")),
    )


def make_member(row: Row) -> SiteRow:
    """Return the row of a member; a row out of the archive has no cell that is empty."""
    values = row.values
    parts = []
    for key in ("ip", "object_id"):
        if values.get(key):
            parts.append(str(values[key]))
    return make_site_row(
        "member",
        row,
        name=values.get("member"),
        channel=values.get("member_kind"),
        other=", ".join(parts),
        state=values.get("collected"),
        note=values.get("rests_on_it"),
    )


def make_channel(row: Row) -> SiteRow:
    """Return the row of a statement on a channel."""
    values = row.values
    text = str(values.get("said") or "")
    # another manager or controller serves the node
    unused = text.endswith(site_signs.SERVED) or text.casefold() in site_signs.IDLE
    return make_site_row(
        "channel",
        row,
        name=values.get("from_member"),
        other=values.get("to_member"),
        channel=values.get("channel"),
        state="idle" if unused else _STATES[values.get("up")],
        said=values.get("said"),
        said_by=values.get("said_by"),
        at=values.get("told_at"),
    )


def make_skew(row: Row) -> SiteRow:
    """Return the row of a difference between two clocks."""
    values = row.values
    return make_site_row(
        "skew",
        row,
        name=values["member"],
        other=values["other"],
        state=f"{values['ahead_s']:+,.3f} s",
        said=f"{values['error_s']:,.3f} s",
        note=f"{values['means']}; shared events: {values['shared_events']}",
    )


def make_site_row(what: str, row: Row | None = None, **cells: Value) -> SiteRow:
    """Return a row of the picture; cells that are not given or not known are empty."""
    texts = dict.fromkeys(
        ("name", "other", "channel", "state", "said", "said_by", "at", "note"), ""
    )
    texts |= {name: str(value) for name, value in cells.items() if value is not None}
    return SiteRow(
        what=what,
        **texts,
        address=row.block.address if row is not None else "",
        line=row.line if row is not None else 0,
    )
