"""Events of an ESXi host, from whichever of its logs they are in.

vobd.log holds every event, its id in brackets. hostd.log and vpxa.log repeat some of them: with the id somewhere in
the line (VMware's log content pack for vSphere looks for `esx.problem.…` in lines of hostd, vpxa and vobd), or as
`Event <number> : <text>` without it, which is the text that vobd prints behind the id. Such a text is given its id only
where a capture or a KB article has both; a text that is not known is no line of this table. vmkernel.log tells a few
events in words of its own.
"""

import re

from analyzer.artefacts.loghost import name_object
from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, Row, Table, Value
from analyzer.forms.logs import LEVEL, MESSAGE, TIME

from . import hostd, vmkernel, vobd, vpxa

TABLE = Table.of(
    "esxi.event",
    "Events of the host (esx.problem.…, esx.clear.…, esx.audit.…), UTC; each counts once.",
    "var/run/log/vobd.log with its rotated copies; some also in hostd.log, vpxa.log and vmkernel.log",
    TIME,
    LEVEL,
    Column("log", "str", "log the line stands in: vobd, hostd, vpxa, vmkernel"),
    Column(
        "event_id", "str", "esx.problem.net.redundancy.lost, esx.clear.net.connectivity.restored, …"
    ),
    Column(
        "object",
        "str",
        "what its text is about: vSwitch1, vmnic2, naa.…, a volume, a VM, a RAM disk; else the host",
    ),
    Column("named_path", "str", "path its text names besides, vmhba2:C0:T1:L5; else the object"),
    Column(
        "named_adapter",
        "str",
        "adapter or NIC its text names besides, /bootbank for its volume; else the object",
    ),
    Column(
        "outage",
        "str",
        "id of the event that such trouble begins with: of a timeout the start; else its own",
    ),
    Column("object_label", "str", "name that people give the volume or datastore of the object"),
    Column("again", "bool", "another log of the host tells the same event, and that line counts"),
    MESSAGE,
    ask="/var/log/vobd.log with its rotated copies",
    log=True,
    inside=("esxi.vobd",),
    partly=("esxi.hostd", "esxi.vpxa", "esxi.vmkernel"),
    once=("event_id", "object"),
)

_LOGS = (vobd.PARSER, hostd.PARSER, vpxa.PARSER, vmkernel.PARSER)
_ID = re.compile(r"\besx\.(?:problem|clear|audit)\.\w+(?:\.\w+)*")
_EVENT = re.compile(r"Event \d+ : ")
NO_OBJECT = "the host"
# Up to 6.7 the end of a lost NFS server is called a problem; from 7.0 on it has the second name.
RENAMED = {
    "esx.problem.vmfs.nfs.server.restored": "esx.clear.vmfs.nfs.server.restored",
    "esx.problem.storage.apd.recovered": "esx.clear.storage.apd.exit",  # so in vmwareblogs.co.in, on the life of an APD
}
# Events that report how trouble goes on, and the one it began with: how long it lasts counts from that.
STAGES = {
    "esx.problem.storage.apd.timeout": "esx.problem.storage.apd.start",  # KB 2004684: 140 s later by default
    "esx.problem.bootdevice.apd.timeout": "esx.problem.bootdevice.apd.start",  # Broadcom article 380716
    # the names themselves; that the loss comes before them is inferred
    **{
        f"esx.problem.{module}.device.state.permanentloss.{stage}": f"esx.problem.{module}.device.state.permanentloss"
        for module in ("scsi", "psastor")
        for stage in ("pluggedback", "withreservationheld")
    },
    "esx.problem.vmfs.nfs.volume.io.latency.exceed.threshold.period": (
        "esx.problem.vmfs.nfs.volume.io.latency.high.exceed.threshold"
    ),
}
_PATH = re.compile(r"\bvmhba\d+:C\d+:T\d+:L\d+")
_ADAPTER = re.compile(r"\bvm(?:hba|nic)\d+")
_VOLUME = r"[0-9a-f]{8}(?:-[0-9a-f]{4,12}){3,4}"
_LABEL = re.compile(
    rf"^(?:\S+ (?!device )\S+ )?{_VOLUME} (?P<label>\S.*)$|[Dd]atastores?(?: \(if any\))?: \"(?P<of>[^\"]+)\""
)
_BOOT_VOLUME = re.compile(r"\bLOCKER-[0-9a-f]{8}-")
# Texts that hostd prints behind `Event <number> : `; the id is that of the line of vobd with the same text.
TEXTS = (
    (
        "Lost uplink redundancy on virtual switch",
        "esx.problem.net.redundancy.lost",
    ),  # a capture of 6.7
    (
        "Network connectivity restored on virtual switch",
        "esx.clear.net.connectivity.restored",
    ),  # the same
    (
        "Lost network connectivity on virtual switch",
        "esx.problem.net.connectivity.lost",
    ),  # a capture of vobd.log
    (
        "Lost connectivity to storage device",
        "esx.problem.storage.connectivity.lost",
    ),  # VMware's list of events
    (
        "Lost path redundancy to storage device",
        "esx.problem.storage.redundancy.lost",
    ),  # the same, a capture of 4.x
    ("Connectivity to storage device", "esx.clear.storage.connectivity.restored"),  # KB 328900
    ("Lost access to volume", "esx.problem.vmfs.heartbeat.timedout"),  # KB 1009557
    (
        "A duplicate IP address was detected for",
        "esx.problem.net.vmknic.ip.duplicate",
    ),  # KB 1020647
    (
        "performance has deteriorated. I/O latency increased",
        "esx.problem.scsi.device.io.latency.high",
    ),  # KB 2007236
    ("has entered the All Paths Down state", "esx.problem.storage.apd.start"),  # KB 2004684
    (
        "has entered the All Paths Down Timeout state",
        "esx.problem.storage.apd.timeout",
    ),  # KB 2004684
    (
        "The file table of the ramdisk '",
        "esx.problem.visorfs.ramdisk.inodetable.full",
    ),  # a public post of 5.x
    ("The ramdisk '", "esx.problem.visorfs.ramdisk.full"),  # KB 2033073; a public post of 6.0
    (
        "has been removed or is permanently inaccessible",
        "esx.problem.scsi.device.state.permanentloss",
    ),  # a post on 5.x
    (
        "Host had been powered off. The power off was not",
        "esx.audit.host.poweroff.reason.unavailable",
    ),  # KB 317245
    (
        "has exited the All Paths Down state",
        "esx.clear.storage.apd.exit",
    ),  # a capture of 6.5, and the list of events
)
_AT_LINE = (
    r"(?:\w{1,80}:)?\d+"  # from 7.0 on many modules print the function before the line of the code
)
# What comes before the text of an event in vmkernel.log, or the line that is written when it happens.
KERNEL = (
    (
        rf"ScsiDeviceIO: {_AT_LINE}: (?=Device \S+ performance has deteriorated\.)",
        "esx.problem.scsi.device.io.latency.high",
    ),
    (
        rf"StorageApdHandler: {_AT_LINE}: (?=APD start for |APD Start for ident )",
        "esx.problem.storage.apd.start",
    ),  # hostd: in the same ms; with `ident` in vmwareblogs.co.in, on the life of an APD
    (
        rf"StorageApdHandler: {_AT_LINE}: (?=APD timeout event for )",
        "esx.problem.storage.apd.timeout",
    ),  # a public paste
    (
        rf"ScsiDevice: {_AT_LINE}: (?=Device \S+ is Out of APD\b)",
        "esx.clear.storage.apd.exit",
    ),  # hostd: 10 ms later
)
_KERNEL = tuple((re.compile(form), event) for form, event in KERNEL)


def parse_block(block: Block) -> Output:
    """Read the events among the lines of a log of the host; other lines are not ours and no fault."""
    for log in _LOGS:
        rows = [item for item in log.parse(block) if isinstance(item, Row)]
        for row in rows:
            message = str(row.values.get("message") or "")
            event: Value = row.values.get("event_id")
            if log is vmkernel.PARSER:
                event = None
                for form, event_id in _KERNEL:
                    if found := form.search(message):
                        event, message = event_id, message[found.end() :]
                        break
            elif log is not vobd.PARSER:
                event = None
                if named := _ID.search(message):
                    event = named.group()
                elif head := _EVENT.match(message):
                    event = _event_by_text(message[head.end() :])
            elif event is None:  # pasted from a page or a mail that lost the id in brackets
                event = _event_by_text(message.lstrip())
            if isinstance(event, str) and _ID.fullmatch(event):
                event = RENAMED.get(event, event)
                thing = name_object(message) or NO_OBJECT
                path = _PATH.search(message)
                adapter = _ADAPTER.search(message)
                label = _LABEL.search(message)
                boot = "/bootbank" if _BOOT_VOLUME.search(message) else thing
                values = {
                    "time": row.values["time"],
                    "level": row.values["level"],
                    "log": log.name,
                    "event_id": event,
                    "again": False,
                    "message": message,
                    "outage": STAGES.get(event, event),
                    "object": thing,
                    "named_path": path.group() if path else thing,
                    "named_adapter": adapter.group() if adapter else boot,
                    "object_label": label.group(label.lastgroup or 0) if label else None,
                }
                yield Row(TABLE, values, block, row.line)
        if rows:
            return


def _event_by_text(text: str) -> str | None:
    """Return the id of the event that has this text."""
    return next((event for words, event in TEXTS if words in text), None)


PARSER = Parser(name="esx_event", tables=(TABLE,), parse=parse_block, node="esxi", log=True)
