"""An output of `esxcli` as named values: `--formatter=xml`, `--formatter=keyvalue`, and the lists of PowerCLI.

XML has `<structure typeName="Nic">` with `<field name="Name"><string>vmnic0</string></field>`, keyvalue a line
`structure[0].Nic.Name.string=vmnic0` a value, PowerShell `Name : vmnic0` with a blank line between two records. The
labels are those of the text without their blanks. A cell keeps the line it stands on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analyzer.forms.columns import Field, make_row, normalize_label
from analyzer.kept_patterns import compiled
from analyzer.parsing import MOST_LINE, Output, fault_at
from analyzer.tables import Block, Table, Value

# What such a line begins with, for the body of an output in a transcript.
LINE = r"</?[a-z?][^<>]*>.*|\w+(?:\[\d+\])?(?:\.\w+){2,}=.*|[A-Z]\w*\s+:(?:\s.*)?"
_FIRST = compiled(rf"\s*(?:{LINE})$")
_TAG = compiled(r"<\?[^<>]*>|<(?P<end>/?)(?P<name>\w+)(?P<rest>[^<>]*)>|(?P<text>[^<]+)")
_NAME = compiled(r"\bname=\"(?P<name>[^\"]*)\"")
_PAIR = compiled(r"\s*(?P<path>\w+(?:\[\d+\])?(?:\.\w+)*)\.(?P<label>\w+)\.\w+=(?P<text>.*)$")
_ITEM = compiled(r"\s*(?P<label>\w+)\s*:(?:\s(?P<text>.*))?$")
_HOLDERS = frozenset(("output", "root", "list", "structure", "field"))
_MORE = 4  # blanks before the rest of a value that the console of PowerShell has wrapped

Cells = list[tuple[str, str, int]]  # label, text, line


def is_named(block: Block) -> bool:
    """Tell whether the first line of a block is one of named values."""
    first = next((line for line in block.lines if line.strip()), "")
    return len(first) <= MOST_LINE and _FIRST.match(first) is not None


def read_rows(table: Table, fields: Sequence[Field], parser: str, block: Block, told: dict[str, Value]) -> Output:
    """Yield a row for each record, and a fault for each line that is of none."""
    by_label = {normalize_label(label): field for field in fields for label in field.labels}
    first = next(line for line in block.lines if line.strip()).lstrip()
    strange: list[int] = []
    read = _xml if first.startswith("<") else _pairs if _PAIR.match(first) else _items
    for cells in read(block, strange):
        known = [
            (by_label[normalize_label(label)], text, line)
            for label, text, line in cells
            if normalize_label(label) in by_label
        ]
        if known:
            yield from make_row(table, block, known, known[0][2], parser, told)
        elif cells:
            yield fault_at(block, cells[0][2], parser, "a record with none of the labels of this output")
    for line in strange:
        yield fault_at(block, line, parser, "no named value")


def _xml(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the structures of the outermost list; what is inside a structure belongs to it."""
    reader = _Structures()
    for line, text in enumerate(block.lines, block.first_line):
        tags = _TAG.finditer(text) if len(text) <= MOST_LINE else ()
        refused = [found for found in tags if not reader.take(found, line)]
        if len(text) > MOST_LINE or refused:
            strange.append(line)
        yield from reader.ended
        reader.ended.clear()
    if reader.cells:  # the text was cut inside a structure
        yield reader.cells


class _Structures:
    """The structures of an XML text, tag by tag: those that ended, and the cells of the one that is open."""

    def __init__(self) -> None:
        self.ended: list[Cells] = []
        self.cells: Cells = []
        self._depth = 0
        self._open: list[list[str]] = []  # label and value of each field

    def take(self, found: re.Match[str], line: int) -> bool:
        """Take a tag or the text between two; False for a text that stands in no field."""
        name, end = found["name"], bool(found["end"])
        if found["text"] is not None:
            import html  # noqa: PLC0415 - few outputs are XML

            text = html.unescape(found["text"].strip())
            if self._open and self._depth:
                self._open[-1][1] += text
            return bool(self._open) or not text
        if name is None:  # <?xml …?>
            return True
        if name == "structure":
            self._structure(end=end)
        elif name == "field":
            self._field(found["rest"], line, end=end)
        elif name not in _HOLDERS and end and self._open and self._open[-1][1]:
            self._open[-1][1] += ", "  # a further value of a list may come
        return True

    def _structure(self, *, end: bool) -> None:
        self._depth += -1 if end else 1
        if end and self._depth == 0:
            self.ended.append(self.cells)
            self.cells = []

    def _field(self, rest: str, line: int, *, end: bool) -> None:
        if not end:
            named = _NAME.search(rest)
            self._open.append([named["name"] if named else "", ""])
        elif self._open:
            label, text = self._open.pop()
            if label and text:
                self.cells.append((label, text.strip(", "), line))


def _pairs(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the records of lines `structure[0].Nic.Name.string=vmnic0`: one for each number."""
    record, cells = "", Cells()
    for line, text in enumerate(block.lines, block.first_line):
        found = _PAIR.match(text) if len(text) <= MOST_LINE else None
        if found is None:
            strange += [line] if text.strip() else []
            continue
        begun = found["path"].partition(".")[0]
        if begun != record:
            yield cells
            record, cells = begun, Cells()
        cells.append((found["label"], found["text"].strip(), line))
    yield cells


def _items(block: Block, strange: list[int]) -> Iterator[Cells]:
    """Yield the records of lines `Name : vmnic0`, which blank lines part."""
    cells = Cells()
    for line, text in enumerate(block.lines, block.first_line):
        found = _ITEM.match(text) if len(text) <= MOST_LINE else None
        if found is not None:
            cells.append((found["label"], _bare(found["text"] or ""), line))
        elif not text.strip():
            yield cells
            cells = Cells()
        elif cells and len(text) - len(text.lstrip()) >= _MORE and len(text) <= MOST_LINE:
            label, before, at = cells[-1]
            cells[-1] = (label, f"{before} {text.strip()}", at)
        else:
            strange.append(line)
    yield cells


def _bare(text: str) -> str:
    """Return a value without the braces in which PowerShell puts a list: {vmnic0, vmnic1}."""
    text = text.strip()
    return text[1:-1] if text.startswith("{") and text.endswith("}") and "=" not in text else text
