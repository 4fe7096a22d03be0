"""`pam_tally2 --user NAME` on a host: how often logins of an account failed in a row, and from where the last came.

Source: outputs in public posts on a locked root account; the columns are those that pam_tally2 prints. A login that
succeeds, and the end of the lockout, set the number back to 0.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import NOTHING
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table

TABLE = Table.of(
    "esxi.login_failures",
    "Logins that failed in a row, one row an account.",
    "pam_tally2 --user NAME",
    KeyColumn("user", "str", "account"),
    Column(
        "failed_logins", "int", "logins that failed since the last one that succeeded", "logins"
    ),
    Column(
        "last_failure",
        "str",
        "time of the last one as printed, month first: 01/02/18 10:56:59",
        sign=NOTHING,
    ),
    Column("failed_from", "str", "address the last one came from, or unknown"),
    ask="`pam_tally2 --user root`",
)
_HEAD = re.compile(r"\s*Login\s+Failures\s+Latest failure\s+From\s*$")
_LINE = re.compile(
    r"\s*(?P<user>\S{1,64})\s+(?P<failed_logins>\d{1,5})(?:\s+(?P<last_failure>\d\d/\d\d/\d\d \d\d:\d\d:\d\d)"
    r"(?:\s+(?P<failed_from>\S+))?)?\s*$"
)


def parse_block(block: Block) -> Output:
    """Read the accounts."""
    for number, line in enumerate(block.lines, block.first_line):
        if found := _LINE.match(line):
            yield Row(
                TABLE,
                {**found.groupdict(), "failed_logins": int(found["failed_logins"])},
                block,
                number,
            )
        elif line.strip() and not _HEAD.match(line):
            yield fault_at(block, number, PARSER.name, "not a line of this output")


PARSER = Parser(
    name="login_failures",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    common=True,
    commands=(r"(?:^|[\s/;])pam_tally2\b",),
    shape=_HEAD.pattern.replace(r"\s*Login", r"^\s*Login", 1),
    body=r"^\s*(?:Login\s+Failures\s.*|\S{1,64}\s+\d{1,5}(?:\s+\d\d/\d\d/\d\d \d\d:\d\d:\d\d(?:\s+\S+)?)?)\s*$",
)
