"""A purple screen that somebody typed, pasted or read from a picture, and a dump as text without the heads of a log.

Source: the console of a host of 4.1 to 9.0 after a panic; `[Releasebuild-…]`, the panic, registers, then the backtrace.
Forms: the text of KB 303440 (ESX 4), of KB 2000091 (ESXi 5), of KB 318671 (ESXi 6) and the note of a reader on 7.0.3;
`Panic Details:` and `Panic Message:` of KB 387631, `BUG: failure at vmkdrivers/` of KB 2011474;
the same lines follow the heads of vmkernel.log in the text that `esxcfg-dumppart -L` writes. So this log has all
lines of vmkernel.log, and those of screens, which have no time and are no vmkernel.log: they prove nothing of its rest.
"""

from dataclasses import replace

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Row, Table
from analyzer.forms.logs import log_parser

from . import vmkernel

TABLE = Table.of(
    "esxi.purple_screen",
    "Lines among which a panic of the host may stand: those of vmkernel.log, and of purple screens as text.",
    "var/run/log/vmkernel.log with its rotated copies; the text of a dump or of a screen",
    *vmkernel.COLUMNS,
    ask="/var/log/vmkernel.log of the time; `esxcfg-dumppart -L <dump>` for the text of the dump, or the "
    "text of the purple screen",
    log=True,
    inside=("esxi.vmkernel",),
)

_FRAME = r"0x[0-9a-f]{8,16}:\[0x[0-9a-f]{8,16}\]"
# a frame as articles quote it, without the stack or without any address (KB 318512, 341164)
_QUOTED = r"(?:\[0x[0-9a-f]{8,16}\])?[A-Za-z_]\w{2,80}@(?:vmkernel#|\(|[\w.]{3,60}#)[\w.#<>)]{1,40}\+0x[0-9a-f]"
# a frame of which only the names are left, as articles and people who type a screen write it (KB 320796)
_NAMES = r"[A-Za-z_]\w{2,80}@(?:vmkernel|\([\w.-]{2,60}\))(?:#\S{0,40})?\s*$"
_HEAD = r"(?:VMware ESXi? .{0,60}\[Releasebuild-\d+|@BlueScreen: |#[A-Z]{2} Exception)"
_BEGIN = (
    rf"(?:{_HEAD}|{_FRAME}|{_QUOTED}"
    r"|(?:\d{1,2}\. )?Panic (?:Details|Message): |BUG: failure at vmkdrivers/"
    r"|UEFI Secure Boot failed"
    r"|ip_init: failed to allocate |tcp_syncache\.\w+ == NULL)"
)
# what goes on a screen; the template takes the panics among them for lines of their own
_REST = (
    r"(?:NMI IPI: Panic|UEFI Secure Boot failed|Failed to verify signatures? of"
    r"|PCPU \d+(?: locked up|: no heartbeat)|NOT_IMPLEMENTED bora/|ASSERT bora/|Failed at bora/"
    r"|Machine Check Exception|Spin count exceeded|LINT1/NMI|Module\(s\) involved in panic|0x[0-9a-f]{6,7}:\[0x"
    r"|cr[0-9]=|r[a-z0-9]{2}=|e[a-z]{1,2}=|frame=|err=|PTEs?:|\*?PCPU ?\d+[:/]|Code start:|Coredump"
    r"|No (?:place|port)|Debugger|Disk dump|Slot \d+ of|Finalized|DiskDump|[* ]?\d+:\d+/|Saved backtrace"
    rf"|VMK uptime:|Backtrace for|Starting coredump|Dump|{_NAMES})"
)


_SCREEN = log_parser(
    "purple_screen",
    TABLE,
    files=(r"(?:^|/)(?:psod|purple[\w-]*)\.(?:txt|log)$",),
    shape=rf"\s*{_BEGIN}",
    more_lines=rf"\s*{_REST}|\s{{2,}}\S",
)


def parse_block(block: Block) -> Output:
    """Read lines of vmkernel.log, and those of a screen, which have no head."""
    rows = [item for item in vmkernel.PARSER.parse(block) if isinstance(item, Row)]
    if rows:
        yield from (Row(TABLE, row.values, block, row.line) for row in rows)
    else:
        yield from _SCREEN.parse(block)


PARSER = replace(_SCREEN, parse=parse_block, entire=rf"\s*{_HEAD}")
