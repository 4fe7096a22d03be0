"""`boot.cfg` of the two boot banks: which image each holds, how often it was updated, and the options of the vmkernel.

Source: `bootbank/boot.cfg` and `altbootbank/boot.cfg`, or `cat` of them. `bootstate` 0 boots, 3 is no valid bank; of
two valid banks the one with the higher `updated` boots.
"""

from __future__ import annotations

import re

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, Made, key_value

_BANK = re.compile(r"/?(altbootbank|bootbank)/boot\.cfg")


def finish_row(row: Row) -> None:
    """Take the boot bank from the command or the name of the file."""
    found = _BANK.search(row.block.command) or _BANK.search(row.block.address)
    row.values["bank"] = found[1] if found else None


PARSER = key_value(
    "boot_cfg",
    "esxi.boot_bank",
    Field("bootstate", "boot_state", "int", "0: boots; 1: to be tried; 2: tried; 3: not valid"),
    Field("title", "boot_title", "str", "title as shown at boot"),
    Field("kernelopt", "kernel_options", "str", "options of the vmkernel"),
    Field("build", "boot_build", "str", "image it holds: 6.7.0-1.28.10302608"),
    Field(
        "updated",
        "boot_updated",
        "int",
        "count of updates: the higher of two valid banks boots",
        "updates",
    ),
    Made("bank", "str", "bootbank or altbootbank", key=True),
    meaning="The boot banks of the host, one row a bank.",
    source="bootbank/boot.cfg, altbootbank/boot.cfg",
    ask="`cat /bootbank/boot.cfg /altbootbank/boot.cfg`",
    node="esxi",
    files=(r"(?:^|/)(?:alt)?bootbank/boot\.cfg$",),
    commands=(r"\b(?:cat|more|less)\s+\S*/(?:alt)?bootbank/boot\.cfg\s*$",),
    separator=r"=\s*",
    ignored=r"(?:timeout|prefix|kernel|modules|crypto|quickboot|nobootif|noquickboot|[a-z]\w{0,30})",
    begins="bootstate",
    finish=finish_row,
)
