"""SCSI commands that failed, with their status as columns: lines of ScsiDeviceIO and NMP in the VMkernel's logs.

Source: vmkernel.log of 3.5 to 8.x, KB 289902 and captures. Forms:

    3.5      … vmhba1:0:4:0 status = 2/0 0x4 0x84 0x21
    4.x      Command 0x28 to device "naa.…" failed H:0x1 D:0x0 P:0x3 Possible sense data: 0x0 0x0 0x0.
             Command 0x2a (0x…) to NMP device "naa.…" failed on physical path "vmhba2:C0:T0:L4" H:…
    5.0 on   Cmd(0x…) 0x2a, CmdSN 0x51 from world 7 to dev "naa.…" failed H:0x0 D:0x2 P:0x0 Valid sense data: 0x5 …
             Cmd 0x28 (0x…, 0) to dev "naa.…" on path "vmhba2:C0:T0:L4" Failed: H:… Act:EVAL

vmkwarning.log repeats those that are warnings: they count once.
"""

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, Row, Table, Value
from analyzer.forms.logs import LEVEL, MESSAGE, TIME

from . import vmkernel

TABLE = Table.of(
    "esxi.scsi_error",
    "SCSI commands that failed, UTC, with their status as printed; each counts once.",
    "var/run/log/vmkernel.log with its rotated copies; some also in vmkwarning.log",
    TIME,
    LEVEL,
    Column("log", "str", "log the line stands in: vmkernel, vmkwarning"),
    Column(
        "storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…; 3.5: vmhba1:0:4:0"
    ),
    Column(
        "scsi_command",
        "str",
        "operation code: 0x28 read, 0x2a write, 0x12 inquiry, 0x16 reserve, …",
    ),
    Column("scsi_path", "str", "path, where the line names it: vmhba2:C0:T0:L4"),
    Column("scsi_world", "int", "world that sent the command, where the line names it"),
    Column(
        "host_status",
        "str",
        "status of the host adapter (H:): 0x0 good, 0x1 no connection, 0x5 abort, …",
    ),
    Column(
        "device_status",
        "str",
        "status of the device (D:): 0x2 check condition, 0x8 busy, 0x28 task set full, …",
    ),
    Column("plugin_status", "str", "status of the plug-in (P:): 0x0 good, 0x3 no path, …"),
    Column("sense", "str", "valid, possible or invalid: how far the sense data can be trusted"),
    Column(
        "sense_key",
        "str",
        "sense key: 0x2 not ready, 0x3 medium error, 0x5 illegal request, 0x6 unit attention, …",
    ),
    Column("asc", "str", "additional sense code"),
    Column("ascq", "str", "additional sense code qualifier"),
    Column("again", "bool", "another log of the host has the same line, and that one counts"),
    MESSAGE,
    ask="/var/log/vmkernel.log with its rotated copies (vmkernel.N.gz) from the time of the trouble",
    log=True,
    inside=("esxi.vmkernel",),
    partly=("esxi.vmkwarning",),
    once=("storage_device", "host_status", "device_status", "plugin_status"),
)

_HEX = r"0x[0-9a-f]{1,4}"
_STATUS = re.compile(
    rf"(?i)\bfailed(?: on (?:physical )?path [\"'](?P<at>[^\"']*)[\"'])?:?\s+H:(?P<host_status>{_HEX})"
    rf"\s+D:(?P<device_status>{_HEX})\s+P:(?P<plugin_status>{_HEX})\s*"
    rf"(?:(?P<sense>valid|possible|invalid) sense data:\s*(?P<sense_key>{_HEX})\s+(?P<asc>{_HEX})\s+(?P<ascq>{_HEX}))?"
)
_SENT = re.compile(
    r"(?i)\b(?:Cmd|Command):?\s?(?:\(0x[0-9a-f]+\)\s)?(?P<scsi_command>0x[0-9a-f]{1,2})\b[^\"']{0,120}?"
    r"(?:from world (?P<scsi_world>\d{1,18}) )?to (?:dev|device|NMP device) [\"'](?P<storage_device>[^\"']+)[\"']"
    r"(?: on path [\"'](?P<scsi_path>[^\"']*)[\"'])?"
)
_OLD = re.compile(
    rf"(?P<storage_device>\S+) status = (?P<device_status>[0-9a-f]{{1,2}})/(?P<host_status>[0-9a-f]{{1,2}})"
    rf"\s+(?P<sense_key>{_HEX})\s+(?P<asc>{_HEX})\s+(?P<ascq>{_HEX})"
)


def find_status(message: str) -> dict[str, Value] | None:
    """Return the columns that the text of a line of the VMkernel fills, None when it is no failed SCSI command."""
    if old := _OLD.search(message):
        found: dict[str, Value] = dict(old.groupdict())
        return {
            **found,
            "host_status": f"0x{found['host_status']}",
            "device_status": f"0x{found['device_status']}",
        }
    status = _STATUS.search(message)
    if status:
        sent = _SENT.search(message, 0, status.start())
    else:
        sent = None
    if status is None or sent is None:
        return None
    values = {}
    for name, text in status.groupdict().items():
        if text is not None:
            values[name] = text.lower()
    at = values.pop("at", None)
    world = sent["scsi_world"]
    return {
        **values,
        "storage_device": sent["storage_device"],
        "scsi_command": sent["scsi_command"].lower(),
        "scsi_path": status["at"] if at else sent["scsi_path"],
        "scsi_world": int(world) if world else None,
    }


def parse_block(block: Block) -> Output:
    """Read the failed commands among the lines of a log of the VMkernel; other lines are not ours and no fault."""
    if "vmkwarning" in block.address.rpartition("/")[2]:
        log = "vmkwarning"
    else:
        log = "vmkernel"
    for row in vmkernel.PARSER.parse(block):
        if isinstance(row, Row):
            message = str(row.values.get("message") or "")
        else:
            message = ""
        found = find_status(message)
        if isinstance(row, Row) and found is not None:
            own = {
                "time": row.values["time"],
                "level": row.values["level"],
                "log": log,
                "again": False,
                "message": message,
            }
            yield Row(TABLE, {**TABLE.blank(), **found, **own}, block, row.line)


PARSER = Parser(name="scsi_error", tables=(TABLE,), parse=parse_block, node="esxi", log=True)
