"""vsish `/config/<group>/intOpts/<name>`: one advanced option with default and limits.

Source: `vsish -e get /config/Net/intOpts/CoalesceTxTimeout`; the option's path without `intOpts`
is the one esxcli prints.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, without_subject
from analyzer.artefacts.tables import Block, Record, Value
from analyzer.forms import record_parser
from analyzer.forms.blocks import vsish_body

from ._options import OPTIONS, option_row, read_integer


def read_record(block: Block, record: Record) -> Output:
    """Yield the option of a dump; its path comes from the command, which names the first one alone."""
    if record.again:
        yield from without_subject(record, PARSER.name, block)
        return
    group = block.params.get("group")
    name = block.params.get("name")
    text = str(record.values["TEXT"])
    default = str(record.values["DEFAULT_TEXT"])
    number = read_integer(text)
    values: dict[str, Value] = {
        "option": f"/{group}/{name}" if group and name else None,
        "option_type": {"int": "integer", "str": "string"}.get(block.params.get("kind", "")),
        "value": number,
        "default_value": read_integer(default),
        "text": text if number is None else None,
        "default_text": default if read_integer(default) is None else None,
        "delta_only": False,
    }
    yield option_row(block, record.line, values)


PARSER = record_parser(
    "vsish_config",
    (OPTIONS,),
    read_record,
    node="esxi",
    commands=(
        r"\b(?:get|cat)\s+\S*?/config/(?P<group>[\w/]+?)/(?P<kind>int|str)(?:ing)?Opts/(?P<name>\w+)",
    ),
    shape=r"^\s*Vmkernel Config Option\s*\{?\s*$",
    body=vsish_body("Vmkernel Config Option"),
)
