"""`fdm.log`: the agent of vSphere HA on the host.

Source: `var/run/log/fdm.log` of a vm-support bundle; no real sample was at hand, the forms are
those of hostd, which writes with the same library.
"""

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Table

from ._log import family, log_rows, viewing
from ._vmacore import columns, shape

TABLE = Table(
    name="esxi.fdm",
    meaning="Lines of the vSphere HA agent, UTC.",
    source="var/run/log/fdm.log with its rotated copies",
    ask="/var/log/fdm.log with its rotated copies",
    columns=columns(),
    log=True,
)

_SHAPE = shape("[Ff]dm")


def parse(block: Block) -> Output:
    """Read lines of fdm.log, one row each; `-->` lines join the row before."""
    return log_rows(TABLE, PARSER.name, block, more="MORE")


PARSER = Parser(
    name="fdm",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(family("fdm"),),
    commands=(viewing("fdm"),),
    shape=rf"^{_SHAPE}",
    body=rf"^(?:{_SHAPE}|-->|\s+\S|backtrace|error: )",
    log=True,
)
