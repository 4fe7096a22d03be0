"""Outputs of small tools whose form no real output has confirmed: each line as it was printed.

They hold facts that people look for (links and their neighbours, interrupts, USB, firmware of devices, options of the
boot, processes, the daemon that places vSAN objects, Active Directory, vFlash, CIM, the cluster as HA knows it) and no
labels that a table could be made of without guessing. Those of HA are in bundles of 6.5 (a public list of names), the
rest in the manifests of 6.7.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, Row, Table
from analyzer.forms.columns import bundle_files

TOOLS = (
    "bootOption -oC",
    "cim-diagnostic.sh",
    "clom-tool fitness-config get",
    "clom-tool fitness-stats get",
    "clom-tool stats",
    "dump-cswitch-info.py",
    "esxcfg-module -q",
    "esxcfg-resgrp -l",
    "fdisk -lu",
    "fdm-dump.sh",
    "indcfg --list --debug",
    "irqinfo",
    "lldpnetmap",
    "lspci -v",
    "lsusb",
    "lsusb -t",
    "lsusb -v",
    "lw-lsa get-metrics",
    "lw-lsa get-status",
    "lw-lsa trace-info",
    "memstats -r uw-stats",
    "ntpq -c version",
    "prettyPrint.sh clusterconfig",
    "prettyPrint.sh hostlist",
    "prettyPrint.sh vmmetadata",
    "ps -Cc --tree",
    "ps -cPTgjstz",
    "python /usr/lib/vmware/vsan/bin/vsan-health-status.pyc base_info",
    "python /usr/lib/vmware/vsan/perfsvc/vsan-perfsvc-status.pyc svc_info",
    "rdmainfo.sh",
    "sensord -v -l -D",
    "summarize-dvfilter",
    "swfw.sh",
    "tpm-dump-info.py",
    "tracenet",
    "vFlash.sh",
    "vmkload_mod -v10 -l",
    "vmkmgmt_keyval -a",
    "vmkping -D -v",
    "vobbuf -h",
)

TABLE = Table.of(
    "esxi.tool_line",
    "Lines of small tools that have no table of their own, as printed.",
    "lldpnetmap, lsusb, lspci -v, irqinfo, swfw.sh, ps, …",
    Column(
        "tool_file", "str", "name of the file in the bundle, which is that of the command: lsusb_-t"
    ),
    Column("tool_above", "str", "nearest line above that stands less deep"),
    Column("tool_text", "str", "the line without blanks at its ends"),
    ask="`vm-support`",
)

MOST_LINES = 20_000  # of one output
_FILE = re.compile(r"(?:\d+\.)?(?P<name>[^/]+)\.txt$")


def parse_block(block: Block) -> Output:
    """Yield a row for each line that is not blank."""
    found = _FILE.search(block.address)
    above: list[tuple[int, str]] = []
    count = 0
    for number, line in enumerate(block.lines, block.first_line):
        text = line.strip()
        if not text:
            continue
        count += 1
        if len(line) > MOST_LINE or count > MOST_LINES:
            yield fault_at(
                block, number, PARSER.name, f"a longer line, or more than {MOST_LINES:,} of them"
            )
            continue
        depth = len(line) - len(line.lstrip())
        above = [one for one in above if one[0] < depth]
        values = {
            "tool_file": found["name"] if found else None,
            "tool_above": above[-1][1] if above else None,
        }
        yield Row(TABLE, {**values, "tool_text": text}, block, number)
        above.append((depth, text))


PARSER = Parser(
    name="tool_lines",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=tuple(name for tool in TOOLS for name in bundle_files(tool)),
    rest=True,
)
