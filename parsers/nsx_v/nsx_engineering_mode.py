"""Engineering mode (root shell) of NSX Manager, as a saved CLI session shows it.

Source: the command `st eng` in enable mode, and the disclaimer that 6.3.2 and later print (KB 2149630).
Only these two lines are read; what was typed after them is never looked at, for it may hold the
diagnostics password.
"""

from analyzer.artefacts.parsing import Output, Parser, run_template
from analyzer.artefacts.signs import says_rows
from analyzer.artefacts.tables import Block, Column, Record, Row, Table

TABLE = Table.of(
    "nsx.engineering_mode",
    "Signs that engineering mode of NSX Manager was asked for.",
    "a saved CLI session of NSX Manager",
    Column(
        "sign",
        "str",
        "how it shows: the command typed, or the disclaimer printed",
        sign=says_rows(4),
    ),
    ask="the saved CLI session of the NSX Manager, or its tech-support bundle",
)

COMMAND = r"^\s*st(?:art)?\s+eng\w*\s*$"
DISCLAIMER = "Engineering Mode: The authorized NSX Manager system administrator"


def parse_block(block: Block) -> Output:
    """Yield a row for each disclaimer or typed command; only that line is kept as evidence."""
    for item in run_template(PARSER.name, block):
        if isinstance(item, Record):
            typed = item.values["SIGN"] != "Engineering Mode"
            sign = "command st eng" if typed else "disclaimer of engineering mode"
            if typed:
                text = block.lines[item.line - block.first_line]
            else:
                text = DISCLAIMER + " …"
            alone = Block([text], item.line, block.address, block.scope, order=block.order)
            yield Row(TABLE, {"sign": sign}, alone, item.line)


PARSER = Parser(
    name="nsx_engineering_mode",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_manager",
    commands=(COMMAND,),
    typed=COMMAND,
    shape=rf"^\s*{DISCLAIMER}",
    body=rf"^\s*(?:{DISCLAIMER}|which is able|diagnostics and|VMware asks|Please enter|Type (?:Exit|y))",
)
