"""Boots, shutdowns and heartbeats of a host: the lines of vmksummary.log as events.

Source: vmksummary.log of 5.x to 8.x. `bootstop: Host has booted`, `Host is rebooting` and `Host is powering off` are
texts of captures; of the heartbeat (`heartbeat: up 14d2h49m59s, 6 VMs; …`) no capture was at hand. A host that stopped
without one of the two stop lines wrote none: a boot alone does not tell why the host was down.
"""

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, Row, Table, Value
from analyzer.forms.logs import LEVEL, MESSAGE, TIME

from . import host_logs

TABLE = Table.of(
    "esxi.boot",
    "Boots, shutdowns and heartbeats of the host, UTC, one row a line of vmksummary.log.",
    "var/run/log/vmksummary.log with its rotated copies",
    TIME,
    LEVEL,
    Column("boot_event", "str", "booted, rebooting, powering_off, heartbeat, mark, other"),
    Column("uptime_s", "float", "time since boot, in a heartbeat", "s"),
    Column("vms", "int", "running virtual machines, in a heartbeat"),
    MESSAGE,
    ask="/var/log/vmksummary.log with its rotated copies",
    log=True,
    inside=("esxi.vmksummary",),
)

_LOG = next(one for one in host_logs.PARSERS if one.name == "vmksummary")
_STOPS = (
    ("booted", re.compile(r"Host has booted")),
    ("rebooting", re.compile(r"Host is rebooting")),
    ("powering_off", re.compile(r"Host is (?:powering|halting|shutting)")),
)
_UP = re.compile(
    r"up (?:(?P<d>\d{1,5})d)?(?:(?P<h>\d{1,2})h)?(?:(?P<m>\d{1,2})m)?(?:(?P<s>\d{1,2})s)?(?:, (?P<vms>\d{1,6}) VMs?)?"
)
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def _read_event(program: str, message: str) -> dict[str, Value]:
    """Return what a line of a program says; a heartbeat gives the time since boot as well."""
    if program == "heartbeat":
        up = _UP.match(message)
    else:
        up = None
    if up is not None:
        seconds = 0
        for unit, size in _UNITS.items():
            seconds += int(up[unit] or 0) * size
        if up["vms"]:
            vms = int(up["vms"])
        else:
            vms = None
        return {"boot_event": "heartbeat", "uptime_s": float(seconds), "vms": vms}
    for event, form in _STOPS:
        if form.match(message):
            return {"boot_event": event}
    return {"boot_event": program if program in ("heartbeat", "mark") else "other"}


def parse_block(block: Block) -> Output:
    """Read the lines of vmksummary.log as events; what its parser does not take is its fault, not ours."""
    for row in _LOG.parse(block):
        if not isinstance(row, Row):
            continue
        values = TABLE.blank()
        for name in ("time", "level", "message"):
            values[name] = row.values[name]
        message = str(row.values.get("message") or "")
        values |= _read_event(str(row.values.get("program")), message)
        yield Row(TABLE, values, block, row.line)


PARSER = Parser(name="boot", tables=(TABLE,), parse=parse_block, node="esxi", log=True)
