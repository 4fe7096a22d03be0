"""Outputs of `esxcli` and `localcli` whose labels no real output has confirmed yet: every label with its value.

Blocks (`   Label: value`, deeper with more blanks, a line above that names the object), tables with a line of dashes,
and JSON. No label is known beforehand, so a label that a release spells in another way is read as well. So is any
further `commands/localcli_….txt`: each release collects other ones (NVMe and components since 7.0), and what any other
`esxcli … list` or `… get` printed below its prompt. Of files a line
that is in none of these forms is a row as it was printed, for no one has seen what they hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.signs import named_by
from analyzer.artefacts.tables import Block, Column, Row, Table, Value
from analyzer.forms import json_twin
from analyzer.forms.columns import REFUSED, any_esxcli, bundle_files, file_name

COMMANDS = (
    "hardware trustedboot get",
    "hardware ipmi bmc get",
    "hardware ipmi sel get",
    "hardware ipmi sdr get",
    "hardware ipmi sdr list",
    "hardware ipmi fru get",
    "hardware ipmi fru list",
    "graphics device stats list",
    "system slp stats get",
    "system slp search",
    "system wbem get",
    "system wbem provider list",
    "system visorfs get",
    "system visorfs tardisk list",
    "system account list",
    "system settings encryption get",
    "system settings keyboard layout get",
    "system coredump network get",
    "hardware clock get",
    "hardware bootdevice list",
    "hardware power policy get",
    "network ip dns server list",
    "network ip dns search list",
    "network ip netstack list",
    "network multicast group list",
    "network vswitch dvs vmware lacp config get",
    "network vswitch dvs vmware lacp status get",
    "network vswitch dvs vmware lacp stats get",
    "rdma device list",
)
IN_BUNDLE = (
    *(f"localcli {path}" for path in COMMANDS),
    *(
        f"localcli hardware ipmi {part} {verb} -p -i -n all"
        for part in ("sel", "sdr", "fru")
        for verb in ("get", "list")
        if (part, verb) != ("sel", "list")
    ),
    "localcli --plugin-dir /usr/lib/vmware/esxcli/int systemInternal coredump configuration check",
    "localcli --plugin-dir /usr/lib/vmware/esxcli/int device driver list",
)

TABLE = Table.of(
    "esxi.command_value",
    "Values of esxcli outputs that have no table of their own, one row a label.",
    "esxcli, localcli: hardware ipmi, trustedboot, lacp, firewall rulesets, …",
    Column("asked", "str", "command behind esxcli; of a bundle the name of its file"),
    Column("of_object", "str", "line above the block, or first cell of the row of a table"),
    Column(
        "label",
        "str",
        "label as printed, behind those it is nested in: a/b; none for a line in no known form",
    ),
    Column("cell_text", "str", "value as printed", sign=named_by("label")),
    Column("cell_number", "int", "value where it is a whole number", sign=named_by("label")),
    ask="`vm-support`",
)

MOST_VALUES = 20_000  # of one output
MOST_LABELS = 25  # that an output of an unknown command begins with, to see whether they are names of anything
KNOWN = tuple(name for command in IN_BUNDLE for name in bundle_files(command, twin=True))
_LISTED = frozenset(map(file_name, IN_BUNDLE))
_MEMBER = re.compile(
    r"(?:^|/)(?:commands(?=.*\.txt$)|json(?=.*\.json$))/(?:\d+\.)?(?P<name>[^/]*)\.\w+$"
)
_LABEL = re.compile(r"(?P<indent>\s*)(?P<label>[A-Za-z#][^:]{0,79}):(?:\s+(?P<value>.*?))?\s*$")
_RULER = re.compile(r"\s*-+(?: +-+)*\s*$")
_NAME = re.compile(r"[\w(][^:]{0,59}$")  # of an object
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"-?\d{1,18}$")
_FILE = re.compile(r"(?:\d+\.)?localcli_(?P<name>[^/]+)\.(?:txt|json)$")
_PATH = re.compile(r"\b(?:esxcli|localcli)\s+(?:--\S+\s+)*(?P<path>[\w][\w ]*\w)")


def parse_block(block: Block) -> Output:
    """Read an output into rows, whatever its labels."""
    member = _MEMBER.search(block.address)
    is_listed = member is not None and member["name"] in _LISTED
    is_known = bool(block.command) or is_listed
    # The command behind esxcli, or the name of a bundle's file
    in_command = _PATH.search(block.command)
    if in_command is not None:
        asked = in_command["path"]
    else:
        in_address = _FILE.search(block.address)
        asked = in_address["name"] if in_address is not None else None
    cells = _read_cells(block)
    if is_known:
        first = []
    else:
        first = list(islice(cells, MOST_LABELS))
    # Whether an output begins with labels that come again and again below no name
    labels = [(cell.of_object, cell.label) for cell in first if cell.label]
    lacks_subjects = len(labels) == MOST_LABELS and len(set(labels)) * 2 < MOST_LABELS
    if lacks_subjects:
        yield fault_at(
            block, block.first_line, PARSER.name, "the same labels again, and no line says of what"
        )
        return
    for count, cell in enumerate(chain(first, cells)):
        if count == MOST_VALUES:
            why = f"more than {MOST_VALUES:,} values in one output; the rest is not read"
            yield fault_at(block, cell.line, PARSER.name, why)
            return
        if cell.label is None and is_known:
            yield fault_at(block, cell.line, PARSER.name, cell.text)
            continue
        if cell.label:
            text = cell.text
        else:
            text = block.lines[cell.line - block.first_line].strip()
        values: dict[str, Value] = {
            "asked": asked,
            "of_object": cell.of_object or None,
            "label": cell.label,
            "cell_text": text,
            "cell_number": int(text) if _NUMBER.match(text) else None,
        }
        yield Row(TABLE, values, block, cell.line)


class Cell(NamedTuple):
    """A value of an output; without a label the line was not understood, and `text` says why."""

    of_object: str
    label: str | None
    text: str
    line: int


def _read_cells(block: Block) -> Iterator[Cell]:
    """Yield the cells of an output, in whichever of the known forms it is."""
    if json_twin.is_json(block):
        yield from _read_json(block)
        return
    for number, line in enumerate(block.lines):
        if number and _RULER.match(line):
            yield from _read_table(block, number)
            return
    # Which line of an output holds its one word, where a command printed no more (Enabled)
    if not block.command or "|" in block.command:
        word = None
    else:
        words = [
            number
            for number, line in enumerate(block.lines)
            if re.fullmatch(r"\s*[\w.:-]+\s*", line)
        ]
        if len(words) != 1 or any(_LABEL.match(line) for line in block.lines):
            word = None
        else:
            word = words[0]
    if word is not None:
        for number, line in enumerate(block.lines):
            at = block.first_line + number
            if number == word:
                yield Cell("", "value", line.strip(), at)
            elif line.strip():
                yield Cell("", None, "beside the one word of the output", at)
    else:
        yield from _read_blocks(block)


def _read_json(block: Block) -> Iterator[Cell]:
    for line in json_twin.list_strange_lines(block):
        yield Cell("", None, "not a line of JSON", line)
    try:
        cells = list(json_twin.read_cells(block))
    except ValueError as error:
        yield Cell("", None, str(error), block.first_line)
        return
    names = {path[0]: text for path, text, _ in cells if path[1:] == ("Name",)}
    for path, text, line in cells:
        if not text:
            continue
        of_object, keys = "", path
        if len(path) > 1:
            of_object = names.get(path[0], path[0])
            keys = path[1:]
        label = "/".join(_WORDS.sub(" ", key) for key in keys)
        yield Cell(of_object, label or "value", text, line)


def _read_table(block: Block, ruler: int) -> Iterator[Cell]:
    """Yield the cells of a table by the widths of its ruler; where texts are too long, by two blanks."""
    dashes = list(re.finditer("-+", block.lines[ruler]))
    cuts = [one.start() for one in dashes]
    widths = [len(one[0]) for one in dashes]
    # The heading: no cell of it is empty or wider than its dashes
    heading = -1
    labels: list[str] = []
    for number in range(ruler - 1, -1, -1):
        texts = _cut_cells(block.lines[number], cuts)
        if texts and all(0 < len(text) <= width for text, width in zip(texts, widths, strict=True)):
            heading, labels = number, texts
            break
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if number in (ruler, heading) or not line.strip():
            continue
        if number > ruler and len(line) <= MOST_LINE:
            cells = _cut_cells(line, cuts)
        else:
            cells = None
        if cells is None or not labels or (len(cuts) > 1 and sum(map(bool, cells)) < 2):
            yield Cell("", None, "not a row of the table", at)
            continue
        for label, text in zip(labels, cells, strict=True):
            if text:
                yield Cell(cells[0], label, text, at)


def _cut_cells(line: str, cuts: list[int]) -> list[str] | None:
    if all(not line[start - 2 : start].strip() for start in cuts[1:]):
        ends = [*cuts[1:], None]
        found = []
        for start, end in zip(cuts, ends, strict=True):
            found.append(line[start:end].strip())
        return found
    parts = re.split(r"\s{2,}", line.strip())
    if len(parts) == len(cuts):
        return parts
    return None


def _read_blocks(block: Block) -> Iterator[Cell]:
    """Yield the labels of blocks; a label without a value that deeper ones follow is the head of a block inside."""
    of_object = ""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(block.lines, block.first_line):
        if len(line) <= MOST_LINE:
            found = _LABEL.match(line)
        else:
            found = None
        if found is None:
            if line.strip() and _NAME.match(line) and not re.match(REFUSED, line):
                of_object, above = line.strip(), []
            elif line.strip():
                yield Cell(of_object, None, "neither a label nor the name of a block", number)
            continue
        depth = len(found["indent"])
        above = [one for one in above if one[0] < depth]
        if found["value"]:
            labels = [label for _, label in above]
            yield Cell(of_object, "/".join([*labels, found["label"]]), found["value"], number)
            continue
        below = block.lines[number - block.first_line + 1 :][:20]
        next_label = next((line for line in below if _LABEL.match(line)), "")
        if depth == 0 and re.match(r"\s", next_label):
            of_object, above = found["label"], []  # localcli ends the name of a block with a colon
        else:
            above.append((depth, found["label"]))


PARSER = Parser(
    name="localcli_values",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=(*KNOWN, r"(?:^|/)commands/(?:\d+\.)?localcli_[^/]+\.txt$"),
    commands=(any_esxcli(),),
    body=(
        r"^(?:\s*[A-Za-z#][^:]{0,79}:(?:\s.*)?|\s*-[- ]+|\s*\S.{0,300}?\s{2,}\S.*"
        rf"|\s*{json_twin.LINE}|{REFUSED}|\S{{1,80}}|)$"
    ),
    rest=True,
)
