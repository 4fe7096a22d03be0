"""`esxcfg-advcfg -g OPTION`: the value of one advanced option, in one line.

The line names the option without its path; the path comes from the command.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Record, Value
from analyzer.forms import record_parser

from ._options import OPTIONS, option_row, read_integer


def read_record(block: Block, record: Record) -> Output:
    """Yield the option of `Value of X is N`; with no path known the bare name stands for it."""
    name = str(record.values["OPTION"])
    text = str(record.values["TEXT"])
    path = block.params.get("option", "")
    number = read_integer(text)
    values: dict[str, Value] = {
        "option": path if path.rsplit("/", 1)[-1] == name else name,
        "value": number,
        "text": text if number is None else None,
        "delta_only": False,
    }
    yield option_row(block, record.line, values)


PARSER = record_parser(
    "advcfg",
    (OPTIONS,),
    read_record,
    node="esxi",
    commands=(r"\besxcfg-advcfg\s+(?:-q\s+)?(?:-g|--get)\s+(?P<option>/\S+)",),
    shape=r"^\s*Value of \w+ is\b",
    body=r"^\s*(?:Value of \w+ is\b.*|Unable\b.*|Error\b.*)$",
)
