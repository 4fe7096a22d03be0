"""esxtop batch CSV (`esxtop -b`): CPU, memory, disks, network, power, NUMA, vSAN and interrupts, sample by sample.

The heading line is read once, columns are chosen by position, and only their cells become numbers
(those of a long plain row all at once, numpy.loadtxt for the others). Memory holds a batch of lines
and its frames, whatever the size of the file. The first sample of a capture holds averages since
boot and is left out.
Read as well: files re-saved by Excel or PowerShell (no quotes, semicolons, decimal commas, UTF-16,
CR alone), captures appended to one another, rows cut or of another width (left out, with a fault).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from analyzer.artefacts.parsing import Output, Parser, Wanted
from analyzer.artefacts.tables import Block, Fault, Frame, Row, Value
from analyzer.sources.encoding import LineReader

from . import _esxtop_header as header
from ._esxtop_capture import PARSER_NAME, Capture, Faults, Seen, format_time
from ._esxtop_tables import DEVICE, TABLES, VM

LINE_BYTES = 128 << 20  # a heading of a million columns is 90 MB

Item = Row | Frame | Fault


def stream(
    block: Block, chunks: Iterable[bytes | memoryview], wanted: Wanted = None
) -> Iterator[Item]:
    """Read a capture from chunks of bytes of any size, line ends kept; of counters those that are wanted.

    Yields faults and frames as they come, then one esxtop.capture row for each capture in the file and
    one esxtop.vm row for each VM. NaN and NaT in a frame mean "not there".
    """
    reading = _Reading(block, wanted)
    lines = LineReader(LINE_BYTES)
    number = block.first_line
    for chunk in chunks:
        for line in lines.feed(chunk):
            yield from reading.take_line(number, line)
            number += 1
    rest = lines.close()
    for index, line in enumerate(rest, 1):
        yield from reading.take_line(number, line, cut=index == len(rest) and lines.met.unfinished)
        number += 1
    yield from reading.close_file()


def parse_block(block: Block) -> Output:
    """Read a capture that was pasted into a text; samples come as rows."""
    chunks = (line.encode("utf-8", "replace") + b"\n" for line in block.lines)
    for item in stream(block, chunks):
        if isinstance(item, Frame):
            columns = {name: cells.tolist() for name, cells in item.columns.items()}
            for index, line in enumerate(item.line.tolist()):
                values = {name: _convert_cell(cells[index]) for name, cells in columns.items()}
                yield Row(item.table, values, item.block, line)
        else:
            yield item


def _convert_cell(cell: Any) -> Value:
    if isinstance(cell, datetime):
        return format_time(cell)
    if isinstance(cell, float) and math.isnan(cell):
        return None
    value: Value = cell
    return value


class _Reading:
    """One file: captures one behind the other, faults limited by kind."""

    def __init__(self, block: Block, wanted: Wanted) -> None:
        self.block, self.wanted = block, wanted
        self.faults = Faults(block)
        self.capture: Capture | None = None
        self.passing = False  # inside a capture that is left out as a whole
        self.host = ""
        self.samples = 0
        self.vms: dict[int, tuple[str, int | None, Seen]] = {}
        self.devices: dict[str, Seen] = {}
        self.captures: list[Row] = []

    def take_line(self, number: int, line: str, *, cut: bool = False) -> Iterator[Item]:
        """Take one line; `cut` when the file ended inside it or right behind it."""
        at = header.find_mark(line)
        if at < 0 and self.capture is not None:
            cells = self.capture.pick_cells(line, cut=cut)
        else:
            cells = None
        if at < 0 and cells is None:  # a capture appended to one that was cut inside a row
            at = line.find(f'"{header.MARK}')
        if at >= 0:
            if self.capture is not None and at > 0:
                yield from self.capture.drop_row(
                    number, line[:at], "the capture ends inside this row"
                )
            yield from self._finish_capture()
            yield from self._begin_capture(number, line[at:])
        elif self.passing or not line.strip():
            return
        elif self.capture is None:
            why = "no esxtop heading before this line: its columns have no names"
            yield from self.faults.add("lines without a heading", number, line, why)
        elif cells is not None:
            yield from self.capture.take_row(number, line, cells)
        else:
            why = "the file ends inside this row" if cut else self.capture.describe_difference(line)
            yield from self.capture.drop_row(number, line, why)

    def _begin_capture(self, number: int, line: str) -> Iterator[Item]:
        found = header.read_heading(line)
        self.passing = True
        if found is None or not found.objects:
            why = "the heading names no column"
            if found is not None:
                why = f"none of the {found.width - 1} columns of this heading is one that is read"
            yield from self.faults.add("headings without columns", number, line, why)
            if found is None:
                return
        if found.host and self.host and found.host != self.host:
            why = f"capture of another host ({found.host}) in the file of {self.host}: save it on its own"
            yield from self.faults.add("captures of other hosts", number, line, why)
            return
        self.passing = False
        self.host = self.host or found.host
        for note in found.notes:
            yield from self.faults.add("notes on headings", number, line, note)
        self.capture = Capture(self.block, self.faults, found, number, self.samples, self.wanted)

    def _finish_capture(self) -> Iterator[Item]:
        """End the capture that runs: its last frames, its row, its VMs."""
        capture, self.capture = self.capture, None
        if capture is None:
            return
        yield from capture.flush_frames()
        if not capture.seen.samples:
            why = "the heading is followed by no sample that could be read"
            yield from self.faults.add("captures without samples", capture.seen.line, "", why)
        self.samples = capture.sample
        self.captures.append(capture.make_row())
        for vm_id, (name, vcpus) in capture.header.vms.items():
            _, known, seen = self.vms.setdefault(vm_id, (name, vcpus, Seen(capture.seen.line)))
            seen.add(capture.seen)
            self.vms[vm_id] = (name, vcpus if vcpus is not None else known, seen)
        for device in capture.header.devices:
            self.devices.setdefault(device, Seen(capture.seen.line)).add(capture.seen)

    def close_file(self) -> Iterator[Item]:
        """End the file."""
        yield from self._finish_capture()
        yield from self.faults.close()
        yield from self.captures
        for vm_id, (name, vcpus, seen) in self.vms.items():
            values: dict[str, Value] = {"vm_id": vm_id, "vm_name": name, "vcpus": vcpus}
            values |= {
                "samples": seen.samples,
                "first": format_time(seen.first),
                "last": format_time(seen.last),
            }
            yield Row(VM, values, self.block, seen.line)
        for device, seen in self.devices.items():
            yield Row(
                DEVICE, {"storage_device": device, "samples": seen.samples}, self.block, seen.line
            )


PARSER = Parser(
    name=PARSER_NAME,
    tables=TABLES,
    parse=parse_block,
    node="esxi",
    # the heading, wherever in its first KB; or a row that has lost its heading
    shape=(
        r"^(?:.{0,1000}\(PDH-CSV[^\\]{0,80}[,;\t]\"?\\\\[^\\]"
        r"|\"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\",\"-?\d+(?:\.\d+)?\")"
    ),
    body=r"^(?:.{0,1000}\(PDH-CSV|\"?[\d/.:\- ]{5,25}\"?[,;\t]).*$",
    stream=stream,
)
