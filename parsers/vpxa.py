"""`vpxa.log`: the agent of vCenter on the host.

Source: `var/run/log/vpxa.log` of a vm-support bundle with its rotated copies, line forms 4.x to 9.0.
"""

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Table

from ._log import family, log_rows, viewing
from ._vmacore import columns, shape

TABLE = Table(
    name="esxi.vpxa",
    meaning="Lines of the vCenter agent on the host, UTC; 4.x prints no zone and is taken as UTC.",
    source="var/run/log/vpxa.log with its rotated copies",
    ask="/var/log/vpxa.log with its rotated copies",
    columns=columns(),
    log=True,
)

_SHAPE = shape("[Vv]pxa", own_5x=r"(?= ?\[Vpx)")


def parse(block: Block) -> Output:
    """Read lines of vpxa.log, one row each; `-->` lines join the row before."""
    return log_rows(TABLE, PARSER.name, block, more="MORE")


PARSER = Parser(
    name="vpxa",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(family("vpxa"),),
    commands=(viewing("vpxa"),),
    shape=rf"^{_SHAPE}",
    body=rf"^(?:{_SHAPE}|-->|\s+\S|backtrace|error: )",
    log=True,
)
