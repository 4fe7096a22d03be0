"""`vmkfstools -D FILE`: who holds the lock of a file on VMFS; the last twelve digits of an owner are a MAC of its host.

Source: outputs of 4.x to 6.x that administrators published, and KB 10051. `mode 0` is no lock, 1 an exclusive one, 2
one for reading, which several hosts may hold (`RO Owner[0] …`), 3 one for several writers. The text may break anywhere
between the brackets. `--activehosts` is another output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.tables import MAC_FORM, Block, Column, Fault, Row, Table, Value

TABLE = Table.of(
    "esxi.file_lock",
    "Locks of files on VMFS, one row for each host that holds one, or one row where nobody does.",
    "vmkfstools -D <file>",
    Column("locked_file", "str", "file as it was asked for"),
    Column("lock_mode", "int", "0 none, 1 exclusive, 2 for reading, 3 for several writers"),
    Column("lock_owner", "str", "id of the host that holds it"),
    Column("holder_mac", "str", "MAC address of a NIC of that host, out of its id", form=MAC_FORM),
    ask="`vmkfstools -D <file>` for the file that is said to be locked",
)

_ID = r"[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{4}-\*{0,2}[0-9a-f]{12}\*{0,2}"
_BEGIN = re.compile(r"\s*Lock \[type [0-9a-f]{8} offset \d+")
_MODE = re.compile(rf"\bmode (?P<mode>\d), owner (?P<owner>{_ID})")
_READER = re.compile(rf"\s*RO Owner\[\d+\] HB Offset \d+ (?P<owner>{_ID})\s*$")
_REST = re.compile(
    r"\s*(?:gen \d+, |num \d+ |mtime \d+|hb offset \d+|Addr <|len \d+, |affinityFD|preAlloc|\d+\]|$)"
)
_SHARED = 2  # the mode whose owners are on lines of their own
_NOBODY = "00000000-00000000-0000-000000000000"


def parse_block(block: Block) -> Output:
    """Read the locks; a lock without its mode and a line that is none of it are faults."""
    open_at, found = 0, False
    mode: int | None = None
    for number, line in enumerate(block.lines, block.first_line):
        if len(line) > MOST_LINE:
            yield fault_at(block, number, PARSER.name, "a line that is too long")
            continue
        if _BEGIN.match(line):
            yield from _skip_frames(block, open_at, found)
            open_at, found, mode = number, False, None
        if open_at and (lock := _MODE.search(line)):
            found, mode = True, int(lock["mode"])
            if mode != _SHARED or lock["owner"].replace("*", "") != _NOBODY:
                yield _make_row(block, number, mode, lock["owner"])
        elif open_at and (reader := _READER.match(line)):
            yield _make_row(block, number, mode, reader["owner"])
        elif not _BEGIN.match(line) and not _REST.match(line):
            yield fault_at(block, number, PARSER.name, "no line of a lock")
    yield from _skip_frames(block, open_at, found)


def _skip_frames(block: Block, at: int, found: bool) -> Iterator[Fault]:
    if at and not found:
        yield fault_at(block, at, PARSER.name, "a lock without its mode")


def _make_row(block: Block, line: int, mode: int | None, owner: str) -> Row:
    owner = owner.replace("*", "")  # a page prints the MAC in bold
    held = mode != 0 and owner != _NOBODY
    mac = owner.rpartition("-")[2]
    values: dict[str, Value] = {
        "locked_file": block.params.get("locked_file"),
        "lock_mode": mode,
        "lock_owner": owner if held else None,
        "holder_mac": ":".join(mac[at : at + 2] for at in range(0, 12, 2)) if held else None,
    }
    return Row(TABLE, values, block, line)


PARSER = Parser(
    name="file_locks",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(r"\bvmkfstools\s+-D\s+(?P<locked_file>[^\s|;>][^|;>]*?)\s*(?=$|[|;>])",),
    shape=r"^\s*Lock \[type [0-9a-f]{8} offset \d+ v \d+",
    body=(
        r"^\s*(?:Lock \[type .*|gen \d+, mode .*|num \d+ .*|RO Owner\[\d+\] .*|hb offset \d+.*|mtime \d+.*"
        r"|Addr <\d.*|len \d+, .*|affinityFD.*|preAlloc.*)$"
    ),
)
