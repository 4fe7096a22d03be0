"""vsish `/config/<group>/intOpts/<name>`: one advanced option with default and limits.

Source: `vsish -e get /config/Net/intOpts/CoalesceTxTimeout`; the option's path without `intOpts`
is the one esxcli prints.
"""

from __future__ import annotations

from analyzer.forms.blocks import vsish_body
from analyzer.parsing import Output, Parser, run_template, without_subject
from analyzer.tables import Block, Fault, Value

from ._options import OPTIONS, integer, option_row


def parse(block: Block) -> Output:
    """Read one dump into one row; the option's path comes from the command."""
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            yield record
            continue
        if record.again:  # the command names the first one
            yield from without_subject(record, PARSER.name, block)
            continue
        group, name = block.params.get("group"), block.params.get("name")
        text, default = str(record.values["TEXT"]), str(record.values["DEFAULT_TEXT"])
        number = integer(text)
        values: dict[str, Value] = {
            "option": f"/{group}/{name}" if group and name else None,
            "option_type": {"int": "integer", "str": "string"}.get(block.params.get("kind", "")),
            "value": number,
            "default_value": integer(default),
            "text": text if number is None else None,
            "default_text": default if integer(default) is None else None,
            "delta_only": False,
        }
        yield option_row(block, record.line, values)


PARSER = Parser(
    name="vsish_config",
    tables=(OPTIONS,),
    parse=parse,
    node="esxi",
    commands=(r"\b(?:get|cat)\s+\S*?/config/(?P<group>[\w/]+?)/(?P<kind>int|str)(?:ing)?Opts/(?P<name>\w+)",),
    shape=r"^\s*Vmkernel Config Option\s*\{?\s*$",
    body=vsish_body("Vmkernel Config Option"),
)
