"""`vmware.log`: the log of one virtual machine, next to its .vmx.

Source: `vmfs/volumes/<uuid>/<vm>/vmware.log` of a vm-support bundle, older ones `vmware-N.log` (the
larger N, the newer). Up to 4.x the stamp has neither year nor zone. Workstation and Player
write the same lines: the first one names the product.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import names_entry
from analyzer.artefacts.tables import Block, Column, Fault, Table
from analyzer.forms.logs import LEVEL, MESSAGE, MON, TIME, TS, log_files, log_rows, view_command

TABLE = Table.of(
    "esxi.vm_log",
    "Lines of a VM's vmware.log, UTC; 4.x prints neither year nor zone.",
    "vmfs/volumes/<uuid>/<vm>/vmware.log and vmware-N.log",
    TIME,
    LEVEL,
    Column(
        "vm_folder",
        "str",
        "folder of the VM on its datastore; the name of the file where its path has none",
    ),
    Column("thread", "str", "vmx, vcpu-0, mks, svga, …"),
    Column("opid", "str", "operation id, where the line has one"),
    replace(
        MESSAGE, sign=names_entry("message to the user", quoted=r"\[(?P<entry>msg\.\w[\w.-]*)\] \S")
    ),
    ask="vmware.log and vmware-*.log from the folder of the VM",
    log=True,
)

_THREAD = r"[A-Za-z][\w#.-]*"  # vmx, vcpu-0, mks, svga, worker-12, PowerNotifyThread
_SHAPE = (
    rf"\s*(?:{TS}\| [\w#.-]+\|"
    rf"|{TS} (?:Em|Al|Cr|Er|Wa|No|In|Db|Tr)\(0\d\)(?:\[\+\]|\+)? {_THREAD} (?!<)"
    rf"|{MON} \d\d \d\d:\d\d:\d\d\.\d{{3}}: [\w#.-]+\|"
    r"|DISKLIB-[A-Z]+ *: |(?:vmx|mks|vcpu-\d+)\| [A-Z]\d{3}: )"  # as people quote lines
)
_PRODUCT = re.compile(r"\bLog for VMware ([A-Za-z]+)")
# a log that lost its head, or lines of one: the system below it, or the program that started it
_DESKTOP = re.compile(
    r"\bHost is (?:Windows|Linux|macOS|Mac OS|Darwin)\b|\bname=VMware (?:Workstation|Player|Fusion)\b"
    r"|\bHost: WIN32\b|[\\/]VMware (?:Workstation|Player|Fusion)\b"
)
# files of a VM where ESXi has none: on a drive of Windows, in a home of Linux or macOS
_DESKTOP_FILE = re.compile(
    r"(?:\b[A-Za-z]:[\\/]|(?<![\w/])/(?:home|Users|Volumes|media|mnt)/)[^\n'\"|]{0,300}?\.(?:vmxf?|vmdk|vmem|vmss|vmsn|nvram)\b"
)
_ESXI_FILE = "/vmfs/"
_FOLDER = re.compile(r"/vmfs/volumes/[^/]+/([^/]+)/[^/]+$|([^/!]+)/vmware(?:-\d+)?\.log[^/]*$")
_SHOWN = re.compile(
    r"/vmfs/volumes/[^/]+/([^/]+)/vmware(?:-\d+)?\.log"
)  # in the command of a transcript


def parse_block(block: Block) -> Output:
    """Read lines of vmware.log, one row each; a `+` after the level continues the line before."""
    found = _FOLDER.search(block.address) or _SHOWN.search(block.command)
    # A loose log names no folder: its own name is what the VM can be called by.
    if found:
        folder = next(filter(None, found.groups()))
    else:
        folder = re.split(r"[/!]", block.address)[-1] or None
    for item in log_rows(TABLE, PARSER.name, block):
        if not isinstance(item, Fault):
            item.values["vm_folder"] = folder
        yield item


def find_kind(lines: Sequence[str]) -> str:
    """Return hosted for the log of a VM under Workstation, Player or Fusion.

    A log without its head tells by the places of the VM's files; one file of a datastore speaks for ESXi.
    """
    placed = ""
    for line in lines:
        if found := _PRODUCT.search(line[:400]):
            if found[1].startswith("ESX"):
                return ""
            return "hosted"
        if _DESKTOP.search(line[:1000]):
            return "hosted"
        if _ESXI_FILE in line:
            return ""
        if _DESKTOP_FILE.search(line[:1000]):
            placed = "hosted"
    return placed


PARSER = Parser(
    name="vm_log",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    kind=find_kind,
    files=(log_files("vmware"),),
    commands=(view_command(r"vmware(?:-\d+)?"),),
    shape=rf"^{_SHAPE}",
    body=rf"^(?:{_SHAPE}|\s+\S)",
    log=True,
)
