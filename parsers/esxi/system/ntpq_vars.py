"""`ntpq -c readvar` and `ntpq -c kerninfo`: what the time daemon and the kernel's clock say of themselves.

Source: `commands/ntpq_-c-readvar.txt`, `commands/ntpq_-c-kerninfo.txt` or the command: `name=value` by commas, and
`name:   value` of the kernel. Names are those of ntpd; `offset` is in milliseconds there, `pll offset` in seconds.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.signs import NOTHING, lies_above, named_by
from analyzer.artefacts.tables import Block, Column, Row, Table
from analyzer.forms.columns import bundle_files

TABLE = Table.of(
    "esxi.ntp_variable",
    "Variables of the time daemon and of the kernel's clock, one row a variable.",
    "ntpq -c readvar; ntpq -c kerninfo",
    Column(
        "ntp_name",
        "str",
        "name as printed: stratum, offset, leap, pll offset; words: what the status says",
    ),
    Column("ntp_text", "str", "value as printed"),
    Column(
        "ntp_number",
        "float",
        "value where it is a number",
        sign=named_by(
            "ntp_name",
            stratum=lies_above(15),
            leap=lies_above(2),
            rootdisp=lies_above(15_999),
            **dict.fromkeys(("maximum error", "estimated error"), NOTHING),
        ),
    ),
    ask="`ntpq -c readvar`",
)

_PAIR = re.compile(r'(?P<name>[a-z][\w ]{0,40}?)=(?P<value>"[^"]*"|[^,]*)')
_KERNEL = re.compile(r"\s*(?P<name>[a-z][\w ]{0,40}?):\s+(?P<value>\S.*?)\s*$")
_HEAD = re.compile(
    r"\s*(?:associd|assID)=(?P<id>\d+) status=(?P<status>[0-9a-f]{4}) (?P<words>.*?),?\s*$"
)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?$")
_DATE = re.compile(r"(?<=[0-9a-f]) {1,2}[A-Z][a-z]{2}, ")  # the comma of a date ends no value


def parse_block(block: Block) -> Output:
    """Read the variables; a line that holds none is a fault."""
    for number, line in enumerate(block.lines, block.first_line):
        if not line.strip():
            continue
        if len(line) <= MOST_LINE:
            found = list(_read_pairs(line))
        else:
            found = []
        if not found:
            yield fault_at(block, number, PARSER.name, "no variable of ntpq")
        for name, text in found:
            if name != "status" and _NUMBER.match(text):
                value = float(text)
            else:
                value = None
            yield Row(
                TABLE,
                {"ntp_name": name, "ntp_text": text or None, "ntp_number": value},
                block,
                number,
            )


def _read_pairs(line: str) -> list[tuple[str, str]]:
    """Return names and values of a line."""
    if head := _HEAD.match(line):
        return [("status", head["status"]), ("words", head["words"])]
    if kernel := _KERNEL.match(line):
        return [(kernel["name"], kernel["value"])]
    plain = _DATE.sub(
        lambda found: found[0].replace(",", ";"), line
    )  # a date holds the comma that parts pairs
    pairs = []
    for pair in _PAIR.finditer(plain):
        value = pair["value"].strip().strip('"')
        pairs.append((pair["name"].strip(), value.replace(";", ",")))
    return pairs


PARSER = Parser(
    name="ntpq_vars",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=(*bundle_files("ntpq -c readvar"), *bundle_files("ntpq -c kerninfo")),
    commands=(r"\bntpq\s+-c\s*[\"']?(?:readvar|rv|kerninfo)\b",),
    body=r"^\s*(?:[a-z][\w ]{0,40}=\S|[a-z][\w ]{0,40}:\s+\S)",
    common=True,
)
