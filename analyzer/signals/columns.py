"""What each column of a table means for signals: as its parser declares it, by its name and type, or nothing.

The name decides where it is plain: counters of loss, states, flags, shares of a size, dates of an end. A table that is made
of others repeats their cells: of it only what is declared counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

from analyzer.artefacts.signs import (
    NOTHING,
    CellSign,
    counts_loss,
    dates_before,
    differs_from,
    lies_above,
    lies_below,
    reads_words,
    says_bad,
)
from analyzer.artefacts.tables import Column, Table

Source = Literal["declared", "name"]

_NUMBERS = ("int", "float")
_LOSS = re.compile(
    r"(?:^|_)(?:errors?|errs?|dropp?(?:ed|s)?|discards?|discarded|fail(?:ed|s|ures?)?|lost|loss(?:es)?"
    r"|overruns?|missed|collisions?|crcs?|full|out_of_buffers?|oob|no_buffers?|no_memory|no_match"
    r"|no_route|timeouts?|aborts?|aborted|resets?|retransmit(?:ted|s)?|rejects?|conflicts?|invalid"
    r"|bad|stalled|stopped|hangs?|congestion|uncorrectable|dumped|disparity|problems?|down|collapsed"
    r"|alerts?|unresolved|fifo|exceed|exceeded|absent|underruns?|pause_storm|stuck)(?:_|$)"
)
_NO_LOSS = re.compile(
    r"(?:^|_)(?:code|reason|text|message|name|action|policy|type|size|depth|sample|interval|timeout_s"
    r"|mark|mode|level|allowed|enabled|support\w*|capab\w*|option|setting|failover|failback|kind|last"
    r"|threshold|max|times_\w+|duplex)(?:_|$)|^reset_|_limit$|timeout_s$|crc_enabled"
)
_STATE = re.compile(
    r"(?:^|_)(?:state|status|health|link|rollup|compliance|remark|obstacle|diag|reason|result|severity"
    r"|failure|error|noncompliance|incompatibility)(?:_|$)|(?:^|_)(?:connectivity|sync|channel|detail)$"
)
_MESSAGE = re.compile(
    r"(?:^|_)(?:message|summary|error|failure|failure_text|sel_event|down_reason|vsan_reason"
    r"|noncompliance|offline_remark|mount_obstacle|fc_event|failure_reason|channel_detail|error_codes"
    r"|missing_link|tool_text|said)$"
)
_TRUE_IS_BAD = re.compile(
    r"(?:^|_)(?:out_of_sync|pdl|offline|failed|alert|needs_consolidation|too_long|stopped|broken|dead"
    r"|lost|degraded|expired|hung|full|missing|truncated|dropped|stuck)(?:_|$)"
)
_FALSE_IS_BAD = re.compile(
    r"(?:^|_)(?:accessible|up|online|running|connected|in_sync|checksum_ok|has_heartbeat|in_cmmds"
    r"|compliant|mac_valid|listening|in_majority|valid|persistent|has_uplink|synced|mounted|agreed"
    r"|failover_ready|activated|complete|is_forwarding|link_detected|healthy|supports_unicast"
    r"|can_mount|can_resignature)$"
)
_NO_FLAG = re.compile(
    r"hyperthreading|pause|auto|dump_|loaded$|intr_|tso|enabled$|licen|start_connected"
)
_USED_PCT = re.compile(r"(?:^|_)(?:used|usage|util)_pct$")
_FREE_PCT = re.compile(r"(?:^|_)free_(?:now_|max_|least_)?pct$")
_DATE_OF_END = re.compile(r"(?:^|_)until$")
_SOON = -60  # days before the end of a certificate

# what is used, of which size, from which share on it is nearly all
_USED_OF = (
    ("used_kib", "maximum_kib", 0.9),
    ("peak_kib", "maximum_kib", 0.97),
    ("used_inodes", "maximum_inodes", 0.9),
    ("used_bytes", "size_bytes", 0.9),
    ("used_bytes", "max_bytes", 0.9),
    ("storage_used_gb", "storage_gb", 0.85),
    ("memory_used_mb", "appliance_memory_mb", 0.95),
    ("memory_used_kb", "memory_total_kb", 0.97),
    ("swap_in_use_kb", "swap_kb", 0.1),
    ("used_ports", "num_ports", 0.95),
    ("neighbor_entries", "neighbor_limit", 0.9),
)
# what is free, of which size, below which share it is nearly nothing
_FREE_OF = (
    ("free_bytes", "total_bytes", 0.1),
    ("free_bytes", "size_bytes", 0.1),
    ("inodes_free", "inodes_total", 0.05),
    ("blocks_free", "blocks_total", 0.05),
    ("files_free", "files_max", 0.05),
    ("ptr_blocks_free", "ptr_blocks_max", 0.05),
    ("sub_blocks_free", "sub_blocks_max", 0.05),
    ("pool_free", "pool_size", 0.1),
    ("max_available_bytes", "max_bytes", 0.1),
    ("container_free_mb", "size_mb", 0.1),
    ("mem_available_kb", "mem_total_kb", 0.05),
)
# what should be all of the other
_LESS_THAN = (
    ("speed_mbps", "max_speed_mbps"),
    ("link_mbps", "max_link_mbps"),
    ("tunnels_up", "tunnels"),
    ("generation", "wanted_generation"),
    ("ping_received", "ping_sent"),
    ("smart_value", "smart_threshold"),
)
_DEFAULTS = (
    ("value", "default_value"),
    ("text", "default_text"),
    ("configured_value", "default_setting"),
    ("configured_dump", "active_dump"),
)
_OF_A_DEFAULT = 1.5
# what a counter of loss is a part of, as packets and commands are called
_WHOLES = (
    "pkts_rx_ok",
    "pkts_tx_ok",
    "rx_packets",
    "tx_packets",
    "rx_frames",
    "tx_frames",
    "cmds_ok",
    "cmds",
    "segments_sent",
    "segments_received",
    "pkts_in",
    "ping_sent",
    "command_pdus",
)
_RECEIVED = re.compile(r"rx|receiv|ring|buffer|bad_segments")
_SENT = re.compile(r"tx|sent|transm")
# Bars that engineers have for esxtop: https://knowledge.broadcom.com/external/article/318831, Interpreting esxtop Statistics
_TOP_BARS: dict[str, CellSign] = {
    **dict.fromkeys(("rdy_pct",), lies_above(20, weight=3.5)),
    **dict.fromkeys(("cstp_pct",), lies_above(3, weight=3.5)),
    **dict.fromkeys(("mlmtd_pct", "numa_remote_pct"), lies_above(0.5)),
    **dict.fromkeys(("swpwt_pct",), lies_above(5, weight=3.5)),
    **dict.fromkeys(("vmwait_pct",), lies_above(50, weight=2.5)),
    **dict.fromkeys(("lat_c_pct", "lat_m_pct"), lies_above(10)),
    **dict.fromkeys(("sys_pct",), lies_above(20)),
    **dict.fromkeys(("util_pct",), lies_above(85)),
    **dict.fromkeys(("davg_ms", "davg_rd_ms", "davg_wr_ms"), lies_above(20, weight=3.5)),
    **dict.fromkeys(("gavg_ms", "gavg_rd_ms", "gavg_wr_ms"), lies_above(20, weight=3.5)),
    **dict.fromkeys(("kavg_ms", "kavg_rd_ms", "kavg_wr_ms", "qavg_ms"), lies_above(2, weight=3.5)),
    **dict.fromkeys(("lat_rd_ms", "lat_wr_ms"), lies_above(30, weight=3.5)),
    **dict.fromkeys(("drop_tx_pct", "drop_rx_pct"), lies_above(0.1, weight=3.5)),
    **dict.fromkeys(("aborts_s", "resets_s"), lies_above(0.01, weight=3.5)),
    **dict.fromkeys(
        ("failed_cmds_s", "failed_reads_s", "failed_writes_s", "failed_reserves_s"),
        lies_above(0.1, weight=3.5),
    ),
    **dict.fromkeys(("swap_read_mb_s", "swap_write_mb_s"), lies_above(0.1, weight=3.5)),
    **dict.fromkeys(("memctl_mb", "swap_used_mb", "compressed_mb"), lies_above(0.5)),
    **dict.fromkeys(("numa_local_pct",), lies_below(80, weight=2.5)),
    **dict.fromkeys(("load_1m", "queue_load"), lies_above(1.5)),
    **dict.fromkeys(("qued",), lies_above(5)),
    **dict.fromkeys(("free_mb",), lies_below(1000, weight=3.5)),
    **dict.fromkeys(("used_pct", "rows_dropped", "cells_dropped"), NOTHING),
}
_BELOW_DEVICES = (
    "esxtop.disk_lun",
    "esxtop.disk_path",
    "esxtop.disk_partition",
    "esxtop.disk_world",
)


class Meaning(NamedTuple):
    """When a column says trouble, and where that comes from: its parser or its name."""

    sign: CellSign
    source: Source


@cache
def list_meanings(table: Table) -> dict[str, Meaning]:
    """Return the meaning of each column of a table that has one; what an entry of a list says stands with the entry."""
    signs = [column.sign for column in table.columns if column.sign is not None]
    spoken = {name for sign in signs if sign.how == "entry" for name in sign.columns}
    found = {}
    for column in table.columns:
        meaning = find_meaning(table, column)
        if meaning is not None and (meaning.source == "declared" or column.name not in spoken):
            found[column.name] = meaning
    return found


def find_meaning(table: Table, column: Column) -> Meaning | None:
    """Return what a column means for signals, None where it says nothing of trouble."""
    if column.sign is not None:
        sign = column.sign
        if sign.how == "loss" and not sign.of:
            sign = add_whole(table, column.name, sign)
        return Meaning(sign, "declared")
    if table.made_of or table.log or table.given is not None or column.name in table.key:
        return None
    sign_by_name = next(list_named_signs(table, column), None)
    return Meaning(sign_by_name, "name") if sign_by_name is not None else None


def list_named_signs(table: Table, column: Column) -> Iterator[CellSign]:
    """Yield what the name of a column says, the surest first."""
    name, kind = column.name, column.kind
    if table.product == "esxtop" and name in _TOP_BARS:
        yield NOTHING if _is_repeated(table, name) else _TOP_BARS[name]
    if kind in _NUMBERS:
        yield from list_number_signs(table, name)
    elif kind == "bool" and not _NO_FLAG.search(name):
        if _TRUE_IS_BAD.search(name):
            yield says_bad("true")
        if _FALSE_IS_BAD.search(name):
            yield says_bad("false", weight=3.5)
    elif kind == "time" and _DATE_OF_END.search(name):
        answered = "answered" if table.column("answered") is not None else ""
        yield dates_before(_SOON, of=answered, weight=4.5)
    elif kind == "str":
        yield from list_default_signs(table, name)
        if _MESSAGE.search(name):
            yield reads_words()
        if _STATE.search(name):
            yield CellSign("state", weight=4.0)


def _is_repeated(table: Table, name: str) -> bool:
    """Tell whether a latency of esxtop is in the table of devices as well, or is the sum of others of its row."""
    if not name.endswith("_ms"):
        return False
    return table.name in _BELOW_DEVICES or (
        name.startswith("gavg") and table.column("davg_ms") is not None
    )


def list_number_signs(table: Table, name: str) -> Iterator[CellSign]:
    """Yield what the name of a number says: a share, a part of a size, a counter of loss, a setting."""
    if _USED_PCT.search(name):
        yield lies_above(85, weight=3.5)
    if _FREE_PCT.search(name):
        yield lies_below(10, weight=3.5)
    for used, size, share in _USED_OF:
        if name == used and table.column(size) is not None:
            yield lies_above(share, of=size, weight=3.5)
    for free, size, share in _FREE_OF:
        if name == free and table.column(size) is not None:
            yield lies_below(share, of=size, weight=3.5)
    for less, more in _LESS_THAN:
        if name == less and table.column(more) is not None:
            yield lies_below(1, of=more)
    if says_loss(name):
        yield add_whole(table, name, counts_loss())
    yield from list_default_signs(table, name)


def list_default_signs(table: Table, name: str) -> Iterator[CellSign]:
    """Yield the sign of a setting that is not at its default."""
    for own, default in _DEFAULTS:
        if name == own and table.column(default) is not None:
            yield differs_from(default, weight=_OF_A_DEFAULT)


def says_loss(name: str) -> bool:
    """Tell whether the name of a number is that of a counter of loss."""
    return bool(_LOSS.search(name)) and not _NO_LOSS.search(name)


def says_state(name: str) -> bool:
    """Tell whether the name of a text is that of a state."""
    return bool(_STATE.search(name))


def add_whole(table: Table, name: str, sign: CellSign) -> CellSign:
    """Return the sign of a counter of loss with the column that it is a part of."""
    whole = find_whole(name, tuple(one.name for one in table.columns))
    return counts_loss(whole, sign.weight) if whole else sign


def find_whole(counter: str, names: tuple[str, ...]) -> str:
    """Return which of some names counts what a counter of loss is a part of: packets or commands of its direction."""
    some = [name for name in _WHOLES if name in names]
    direction = "rx" if _RECEIVED.search(counter) else "tx" if _SENT.search(counter) else ""
    own = [name for name in some if direction in name]
    return next(iter(own or some), "")
