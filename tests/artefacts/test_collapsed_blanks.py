"""An output whose runs of blanks were made one gives the rows it gave before, or its lines are counted as not read.

Tickets, mails and web pages make one blank of several. A cell may be lost so, but none may become another's.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.forms.columns import Field, Key
from analyzer.forms.tables import localcli_table
from tests.kit.sample_kit import ALL, Sample, recognised, run
from tests.kit.together import together

_RUN = re.compile(r"[ \t]{2,}")
# Where a blank more or less is all that tells what a text belongs to: the reason why a cell may be another's.
KNOWN = {
    "localcli_values/unknown": "the lines of a table without known labels are kept as they are",
    "localcli_values/blocks": "the indent alone tells of which object a value is",
    "esxcfg_info/plain": "the indent alone tells of which group a value is",
    "smbios/plain": "the indent alone tells of which part a value is",
}
# Outputs of which no row is left: their cells have blanks of their own, and nothing else parts them.
ALL_LOST = frozenset(
    [
        "localcli_values/any_list",
        "localcli_values/table",
        "nsx_central_cli/clusters",
        "nsx_vxlan_networks/odd",
        "nsxt_host_tunnels/guide",
        "nsxt_host_tunnels/odd",
        "satp_rules/pasted",
        "satp_rules/plain",
        "vmfs_lockmodes/pasted",
        "vmfs_lockmodes/plain",
        "vxlan_vmknics/odd",
    ]
)
Cells = tuple[str, dict[str, Any], int]


def collapse_line(line: str, *, with_indent: bool) -> str:
    text = line.lstrip(" \t")
    indent = line[: len(line) - len(text)]
    if with_indent and indent:
        indent = " "
    return indent + _RUN.sub(" ", text)


def read_rows(sample: Sample, block: Block) -> tuple[list[Cells], set[int]]:
    """Return the rows of a block, texts with single blanks, and the lines that were not understood."""
    rows: list[Cells] = []
    faults = set()
    for item in run(registry()[sample.parser], block):
        if isinstance(item, Fault):
            faults.add(item.line)
        elif isinstance(item, Row):
            cells = {name: value for name, value in item.values.items() if value is not None}
            for name, value in cells.items():
                if isinstance(value, str):
                    cells[name] = " ".join(value.split())
            rows.append((item.table.name, cells, item.line))
    return rows, faults


def is_part(row: Cells, rows: list[Cells]) -> bool:
    """Say whether a row has no cell that the row of its line did not have."""
    table, cells, line = row
    for other, known, at in rows:
        if (table, line) == (other, at) and all(
            known.get(name) == value for name, value in cells.items()
        ):
            return True
    return False


SHOWN = [
    sample
    for sample in ALL
    if not registry()[sample.parser].log and not registry()[sample.parser].stream
]


@pytest.mark.size
@pytest.mark.parametrize("with_indent", [False, True], ids=["inside", "indent too"])
@together("sample", SHOWN, ids=str, parts=6)
def test_no_cell_becomes_another(sample: Sample, with_indent: bool) -> None:
    """Each row is one that the output has, whole or with cells missing, and a line that gave one is a row or counted."""
    block = recognised(registry()[sample.parser], sample)
    lines = [collapse_line(line, with_indent=with_indent) for line in block.lines]
    if lines == block.lines:
        return
    tight = Block(
        lines, block.first_line, block.address, command=block.command, params=block.params
    )
    rows, _ = read_rows(sample, block)
    found, faults = read_rows(sample, tight)
    wrong = [row for row in found if not is_part(row, rows)]
    assert not wrong or str(sample) in KNOWN, wrong
    silent = [row for row in rows if row[2] not in faults | {line for _, _, line in found}]
    assert not silent or found or faults, silent
    if rows and str(sample) not in ALL_LOST:
        assert found, "no row is left"


TABLE = """\
Name             Configured  Runtime  Default  Description
---------------  ----------  -------  -------  ---------------------------------
ring_size_limit         512      512     1024  the most that a queue may hold
a_very_long_name_of_it    1        1        0  wider than its column
bad row
"""


def test_widths_of_the_ruler_tell_cells_apart() -> None:
    """The dashes say how wide a cell is at most, the labels which column it is."""
    parser = localcli_table(
        "made_up",
        "made up list",
        "esxi.made_up",
        "A table for this test.",
        Key("Name", "made_name", "str", "name"),
        Field("Configured", "made_configured", "int", "set"),
        Field("Runtime", "made_runtime", "int", "now"),
        Field("Default", "made_default", "int", "as delivered"),
        Field("Description", "made_meaning", "str", "words"),
    )
    wide = list(parser.parse(Block(TABLE.splitlines(), 1)))
    tight = list(parser.parse(Block([_RUN.sub(" ", line) for line in TABLE.splitlines()], 1)))
    for items in (wide, tight):
        rows = [item.values for item in items if isinstance(item, Row)]
        assert [row["made_name"] for row in rows] == ["ring_size_limit", "a_very_long_name_of_it"]
        assert rows[0]["made_default"] == 1024
        assert rows[0]["made_meaning"] == "the most that a queue may hold"
        assert [item.line for item in items if isinstance(item, Fault)] == [5]


def test_a_hostile_row_takes_no_time() -> None:
    """Thousands of words, and as many columns as a line has room for."""
    ruler = " ".join(["--"] * 300)
    heading = " ".join(["aa"] * 300)
    lines = [heading, ruler, *["a " * 2000, "a a " * 20] * 3]
    list(registry()["kernel_settings"].parse(Block(lines, 1)))
    lines = ["Name Type Configured Runtime Default Description", "---- ---- ---- ---- ---- ----"]
    list(registry()["kernel_settings"].parse(Block([*lines, *["a " * 79] * 50], 1)))
