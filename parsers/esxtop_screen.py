"""esxtop screens pasted into a text: the cpu screen and the network screen, each as one sample.

Source: `esxtop`, keys `c` and `n`. Columns are taken by their heading, because versions and field
selections differ. A name is cut to 15 characters and may hold blanks. The screen does not tell how
many vCPUs a VM has (NWLD counts all its worlds), so `vcpus` stays empty. Groups that are no VM show
`-` under %VMWAIT; where that column is missing, known names of the vmkernel and of user worlds tell.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from analyzer.lazy_dataclass import dataclass
from analyzer.parsing import Output, Parser, run_template
from analyzer.tables import Block, Fault, Row, Table, Value

from ._esxtop_names import client, is_system_group
from ._esxtop_tables import PORT, VM, VM_CPU

_CPU = {counter.screen: counter.column for counter in VM_CPU.counters}
_PORT = {counter.screen: counter.column for counter in PORT.counters}
_NAMED = 4  # columns before the first counter: ID GID NAME NWLD, PORT-ID USED-BY TEAM-PNIC DNAME
_CPU_HEADING = r"ID\s+GID\s+NAME\s+NWLD"
_PORT_HEADING = r"PORT-ID\s+USED-BY\s+TEAM-PNIC\s+DNAME"


@dataclass(frozen=True, slots=True)
class _Line:
    """One row of a screen: cells by name, counters by heading, number of the screen."""

    block: Block
    line: int
    sample: int
    cells: dict[str, str]
    counters: dict[str, str]

    def row(self, table: Table, columns: dict[str, str], named: dict[str, Value]) -> Row:
        """Return the row of a table: what names the object, and the counters it has columns for."""
        values: dict[str, Value] = dict.fromkeys((column.name for column in table.columns), None)
        known: dict[str, Value] = {
            columns[title]: _number(text) for title, text in self.counters.items() if title in columns
        }
        return Row(table, values | named | known, self.block, self.line)


def parse(block: Block) -> Output:
    """Read the screens of a block into esxtop.vm, esxtop.vm_cpu and esxtop.port, a sample a screen."""
    numbered = list(enumerate(block.lines, block.first_line))
    starts = {
        heading: [number for number, text in numbered if re.match(rf"\s*{heading}\s", text)]
        for heading in (_CPU_HEADING, _PORT_HEADING)
    }
    seen: set[int] = set()
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            yield record
            continue
        cells = {name: str(text) for name, text in record.values.items()}
        network = bool(cells["PORT_ID"])
        line = record.lines["NUMBERS"]
        titles = cells["PORT_HEADING" if network else "CPU_HEADING"].split()[_NAMED:]
        numbers = cells["NUMBERS"].split()
        if len(numbers) != len(titles):
            text = block.lines[line - block.first_line]
            why = f"{len(numbers)} numbers under {len(titles)} headings"
            yield Fault(block.address, line, text, PARSER.name, why=why)
            continue
        sample = bisect_right(starts[_PORT_HEADING if network else _CPU_HEADING], line)
        read = _Line(block, line, sample, cells, dict(zip(titles, numbers, strict=True)))
        if network:
            yield _port(read)
        elif cells["ID"] == cells["GID"] and _is_vm(cells["NAME"], read.counters):
            yield from _vm(read, seen)  # another ID is a world of an expanded group


def _is_vm(name: str, counters: dict[str, str]) -> bool:
    return counters["%VMWAIT"] != "-" if "%VMWAIT" in counters else not is_system_group(name)


def _vm(read: _Line, seen: set[int]) -> Iterator[Row]:
    vm_id = int(read.cells["GID"])
    named: dict[str, Value] = {"vm_id": vm_id, "vm_name": read.cells["NAME"]}
    if vm_id not in seen:
        seen.add(vm_id)
        yield read.row(VM, {}, named | {"samples": 1})
    yield read.row(VM_CPU.table, _CPU, named | {"sample": read.sample})


def _port(read: _Line) -> Row:
    name, vm = client(read.cells["USED_BY"], set())
    named: dict[str, Value] = {
        "switch": read.cells["SWITCH"],
        "port_id": int(read.cells["PORT_ID"]),
        "used_by": read.cells["USED_BY"],
        "client_name": name,
        "client_vm": vm,
        "team_pnic": None if read.cells["TEAM_PNIC"] in ("-", "n/a") else read.cells["TEAM_PNIC"],
        "sample": read.sample,
    }
    return read.row(PORT.table, _PORT, named)


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", text) else None


_CELLS = r"(?:\s+(?:-|-?\d+\.\d+))+"

PARSER = Parser(
    name="esxtop_screen",
    tables=(VM, VM_CPU.table, PORT.table),
    parse=parse,
    node="esxi",
    shape=rf"^\s*(?:{_CPU_HEADING}(?:\s+%[A-Z_]+)+|{_PORT_HEADING}(?:\s+\S+)+)\s*$",
    body=(
        rf"^\s*(?:\d+\s+\d+\s+\S.{{0,99}}?\s+\d+{_CELLS}|\d+\s+\S.{{0,99}}?\s+\S+\s+\S+{_CELLS}"
        r"|\d+:\d\d:\d\d[ap]m up .*|(?:PCPU|CORE|CCPU)\b.*)\s*$"
    ),
)
