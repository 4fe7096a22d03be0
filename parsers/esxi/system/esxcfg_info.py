"""`esxcfg-info -a`: what the host knows of itself, as a tree: hardware, memory, storage, network, resources.

Source: `commands/esxcfg-info_-a.txt` or the command: `\\==+CPU Info :` opens a part, `|----Name......value` is a
leaf, three blanks more for each level. Vendor, model, processors and memory fill the tables of `esxcli hardware …
get` as well, which a default bundle does not hold; a published output of 8.0 has their names. All of a large host
is some hundred thousand leaves: parts on resource groups and worlds, which say how the host was at one moment, are
passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.signs import named_by
from analyzer.artefacts.tables import (
    Block,
    Column,
    ColumnValueError,
    Row,
    Table,
    Value,
    convert_cell,
)
from analyzer.forms.columns import bundle_files

from ..hardware import cpu_global, hardware_memory, hardware_platform

TABLE = Table.of(
    "esxi.info_value",
    "Leaves of esxcfg-info: hardware, memory, storage and network of the host, one row a value.",
    "esxcfg-info -a; commands/esxcfg-info_-a.txt",
    Column(
        "bundle",
        "str",
        "folder of its bundle, where a loop over several printed it: a host may have two",
    ),
    Column("info_path", "str", "parts the leaf stands in: Hardware Info/CPU Info"),
    Column(
        "info_of",
        "str",
        "what the part is about, where its first leaf is a name: MaxHeapSizeMB, vmnic0",
    ),
    Column("info_name", "str", "name of the leaf: BIOS Version, HV Support"),
    Column("info_text", "str", "value as printed", sign=named_by("info_name")),
    Column(
        "info_number",
        "int",
        "value where it begins with a whole number",
        sign=named_by("info_name"),
    ),
    ask="`esxcfg-info -a`",
)

MOST_VALUES = 20_000  # of one output
_PART = re.compile(r"(?P<indent>\s*)\\==\+(?P<name>.{1,120}?)\s*:?\s*$")
_LEAF = re.compile(r"(?P<indent>\s*)\|----(?P<name>[^.]{1,100}?)\.{2,}(?P<value>.*)$")
_BARE = re.compile(r"(?P<indent>\s*)\|----(?P<name>[^.]{1,100})\.?\s*$")
_BUNDLE = re.compile(r"(?:\S*/)?esx-\S+-\d{4}-\d\d-\d\d--\S+$")
_NUMBER = re.compile(r"(-?\d{1,18})(?:\s|$)")
_PASSED = ("Resource Group", "ResourceGroup", "World", "Sched", "VSCSI Handle", "User World")


(_PLATFORM,), (_CPU,), (_MEMORY,) = (
    one.PARSER.tables for one in (hardware_platform, cpu_global, hardware_memory)
)
# (last part of the path, leaf) -> table and column
_HARDWARE = {
    ("Hardware Info", "Product Name"): (_PLATFORM, "product_name"),
    ("Hardware Info", "Vendor Name"): (_PLATFORM, "platform_vendor"),
    ("Hardware Info", "Serial Number"): (_PLATFORM, "serial_number"),
    ("CPU Info", "Num Packages"): (_CPU, "cpu_packages"),
    ("CPU Info", "Num Cores"): (_CPU, "cpu_cores"),
    ("CPU Info", "Num Threads"): (_CPU, "cpu_threads"),
    ("CPU Info", "Hyperthreading Active"): (_CPU, "hyperthreading_active"),
    ("CPU Info", "Hyperthreading Supported"): (_CPU, "hyperthreading_supported"),
    ("CPU Info", "Hyperthreading Enabled"): (_CPU, "hyperthreading_enabled"),
    ("CPU Info", "HV Support"): (_CPU, "hv_support"),
    ("Memory Info", "Physical Mem"): (_MEMORY, "physical_bytes"),
}


@dataclass(slots=True)
class _Part:
    """A part that is open: how far it is indented, its title, and the name that its first leaf gives."""

    depth: int
    title: str
    named_by: str = ""
    name: str = ""
    empty: bool = True

    def note(self, leaf: str, text: str) -> None:
        """Take note of a leaf: the first one of a part names it when it is a name, and so does the same one again."""
        if leaf == self.named_by or (self.empty and leaf.endswith("Name")):
            self.named_by, self.name = leaf, text
        self.empty = False


def parse_block(block: Block) -> Output:
    """Read the leaves; a text that goes on over lines is known by its first line."""
    parts = [_Part(-1, "")]  # what stands outside of any part, as behind grep
    count = 0
    hardware: list[Row] = []
    for number, line in enumerate(block.lines, block.first_line):
        if not line.strip():
            continue
        if len(line) <= MOST_LINE and (part := _PART.match(line)):
            depth = len(part["indent"])
            parts = [*(one for one in parts if one.depth < depth), _Part(depth, part["name"])]
            continue
        if len(line) <= MOST_LINE:
            leaf = _LEAF.match(line) or _BARE.match(line)
        else:
            leaf = None
        if leaf is None:
            yield fault_at(block, number, PARSER.name, "neither a part nor a leaf of esxcfg-info")
            continue
        text = leaf.groupdict().get("value", "").strip()
        parts = [one for one in parts if one.depth < len(leaf["indent"])]
        parts[-1].note(leaf["name"], text)
        if not text or any(one.title.startswith(_PASSED) for one in parts):
            continue
        count += 1
        if count > MOST_VALUES:
            yield fault_at(
                block,
                number,
                PARSER.name,
                f"more than {MOST_VALUES:,} values: the rest is not read",
            )
            return
        found = _NUMBER.match(text)
        values: dict[str, Value] = {
            "bundle": block.command if _BUNDLE.match(block.command) else None,
            "info_path": "/".join(one.title for one in parts if one.title) or None,
            "info_of": next((one.name for one in reversed(parts) if one.name), None),
            "info_name": leaf["name"],
            "info_text": text,
            "info_number": int(found[1]) if found else None,
        }
        row = Row(TABLE, values, block, number)
        if (parts[-1].title, leaf["name"]) in _HARDWARE:
            hardware.append(row)
        yield row
    yield from _read_machine(block, hardware)


def _read_machine(block: Block, leaves: list[Row]) -> Iterator[Row]:
    """Yield what the leaves say of the machine, as the tables of `esxcli hardware` have it."""
    found: dict[str, Row] = {}
    for leaf in leaves:
        if leaf.values["bundle"] is not None:
            continue
        title = str(leaf.values["info_path"]).rpartition("/")[2]
        table, name = _HARDWARE[title, str(leaf.values["info_name"])]
        row = found.setdefault(table.name, Row(table, table.blank(), block, leaf.line))
        column = table.column(name)
        if column is None or row.values[name] is not None:
            continue
        cell = leaf.values["info_number" if column.kind == "int" else "info_text"]
        try:
            row.values[name] = convert_cell(column, str(cell))
        except ColumnValueError:
            continue
        row.lines = {**row.lines, name: leaf.line}
    yield from found.values()


PARSER = Parser(
    name="esxcfg_info",
    tables=(TABLE, _PLATFORM, _CPU, _MEMORY),
    parse=parse_block,
    node="esxi",
    files=bundle_files("esxcfg-info -a"),
    commands=(r"\besxcfg-info\b(?!.*\bxml\b)",),
    shape=r"^\s*(?:\\==\+\S|\|----\S[^.]{0,100}\.{2})",
    body=r"^\s*(?:\\==\+|\|----)",
)
