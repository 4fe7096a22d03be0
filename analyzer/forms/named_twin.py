"""An output of `esxcli` as named values: `--formatter=xml`, `--formatter=keyvalue`, and the lists of PowerCLI.

XML has `<structure typeName="Nic">` with `<field name="Name"><string>vmnic0</string></field>`, keyvalue a line
`structure[0].Nic.Name.string=vmnic0` a value, PowerShell `Name : vmnic0` with a blank line between two records. The
labels are those of the text without their blanks. A cell keeps its line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from analyzer.artefacts.parsing import MOST_LINE, Output, fault_at
from analyzer.artefacts.tables import Block, Table, Value
from analyzer.forms.columns import Field, make_row, normalize_label

# What such a line begins with, for the body of an output in a transcript.
LINE = r"</?[a-z?][^<>]*>.*|\w+(?:\[\d+\])?(?:\.\w+){2,}=.*|[A-Z]\w*\s+:(?:\s.*)?"
_FIRST = re.compile(rf"\s*(?:{LINE})$")
_TAG = re.compile(r"<\?[^<>]*>|<(?P<end>/?)(?P<name>\w+)(?P<rest>[^<>]*)>|(?P<text>[^<]+)")
_NAME = re.compile(r"\bname=\"(?P<name>[^\"]*)\"")
_PAIR = re.compile(r"\s*(?P<path>\w+(?:\[\d+\])?(?:\.\w+)*)\.(?P<label>\w+)\.\w+=(?P<text>.*)$")
_ITEM = re.compile(r"\s*(?P<label>\w+)\s*:(?:\s(?P<text>.*))?$")
_HOLDERS = frozenset(("output", "root", "list", "structure", "field"))
_MORE = 4  # blanks before the rest of a value that the console of PowerShell has wrapped

Cells = list[tuple[str, str, int]]  # label, text, line


def is_named(block: Block) -> bool:
    """Say whether the first line of a block is one of named values."""
    first = next((line for line in block.lines if line.strip()), "")
    return len(first) <= MOST_LINE and _FIRST.match(first) is not None


def read_rows(
    table: Table, fields: Sequence[Field], parser: str, block: Block, params: dict[str, Value]
) -> Output:
    """Yield a row for each record, and a fault for each line that is of none."""
    by_label = {normalize_label(label): field for field in fields for label in field.labels}
    first = next(line for line in block.lines if line.strip()).lstrip()
    strange: list[int] = []
    if first.startswith("<"):
        records = _read_xml(block, strange)
    elif _PAIR.match(first):
        records = _read_pairs(block, strange)
    else:
        records = _read_items(block, strange)
    for cells in records:
        known = []
        for label, text, line in cells:
            field = by_label.get(normalize_label(label))
            if field is not None:
                known.append((field, text, line))
        if known:
            yield from make_row(table, block, known, known[0][2], parser, params)
        elif cells:
            yield fault_at(
                block, cells[0][2], parser, "a record with none of the labels of this output"
            )
    for line in strange:
        yield fault_at(block, line, parser, "no named value")


def _read_xml(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the structures of the outermost list; what is inside a structure belongs to it."""
    reader = _Structures()
    for line, text in enumerate(block.lines, block.first_line):
        if len(text) > MOST_LINE:
            strange.append(line)
            continue
        refused = [tag for tag in _TAG.finditer(text) if not reader.take_tag(tag, line)]
        if refused:
            strange.append(line)
        yield from reader.complete
        reader.complete.clear()
    if reader.cells:  # the text was cut inside a structure
        yield reader.cells


class _Structures:
    """The structures of an XML text, tag by tag: those that ended, and the cells of the one that is open."""

    def __init__(self) -> None:
        self.complete: list[Cells] = []
        self.cells: Cells = []
        self._depth = 0
        self._open: list[list[str]] = []  # label and value of each field

    def take_tag(self, found: re.Match[str], line: int) -> bool:
        """Take a tag or the text between two; False for a text outside of all fields."""
        name, ends = found["name"], bool(found["end"])
        if found["text"] is not None:
            text = found["text"]
            text = html.unescape(text.strip())
            if self._open and self._depth:
                self._open[-1][1] += text
            return bool(self._open) or not text
        if name is None:  # <?xml …?>
            return True
        if name == "structure":
            self._depth += -1 if ends else 1
            if ends and self._depth == 0:
                self.complete.append(self.cells)
                self.cells = []
        elif name == "field" and not ends:
            label = _NAME.search(found["rest"])
            self._open.append([label["name"] if label else "", ""])
        elif name == "field" and self._open:
            field, value = self._open.pop()
            if field and value:
                self.cells.append((field, value.strip(", "), line))
        elif name not in _HOLDERS and ends and self._open and self._open[-1][1]:
            self._open[-1][1] += ", "  # a further value of a list may come
        return True


def _read_pairs(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the records of lines `structure[0].Nic.Name.string=vmnic0`: one for each number."""
    record, cells = "", Cells()
    for line, text in enumerate(block.lines, block.first_line):
        found = _PAIR.match(text) if len(text) <= MOST_LINE else None
        if found is None:
            if text.strip():
                strange.append(line)
            continue
        own_record = found["path"].partition(".")[0]
        if own_record != record:
            yield cells
            record, cells = own_record, Cells()
        cells.append((found["label"], found["text"].strip(), line))
    yield cells


def _read_items(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the records of lines `Name : vmnic0`, which blank lines part."""
    cells = Cells()
    for line, text in enumerate(block.lines, block.first_line):
        indent = len(text) - len(text.lstrip())
        found = _ITEM.match(text) if len(text) <= MOST_LINE else None
        if found is not None:
            value = (found["text"] or "").strip()
            if value.startswith("{") and value.endswith("}") and "=" not in value:
                value = value[1:-1]  # PowerShell puts a list in braces: {vmnic0, vmnic1}
            cells.append((found["label"], value, line))
        elif not text.strip():
            yield cells
            cells = Cells()
        elif cells and indent >= _MORE and len(text) <= MOST_LINE:
            label, before, at = cells[-1]
            cells[-1] = (label, f"{before} {text.strip()}", at)
        else:
            strange.append(line)
    yield cells
