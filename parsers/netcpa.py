"""`netcpa.log`: the NSX control plane agent of an ESXi host.

Source: `var/run/log/netcpa.log` of a vm-support bundle (NSX for vSphere). No real line was at
hand; the forms are those of hostd, which writes with the same library.
"""

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Table

from ._log import family, log_rows, viewing
from ._vmacore import columns, shape

TABLE = Table(
    name="nsx.netcpa",
    meaning="Lines of the NSX-v control plane agent on the host, UTC.",
    source="var/run/log/netcpa.log with its rotated copies",
    ask="/var/log/netcpa.log of the host, with its rotated copies",
    columns=columns(),
    log=True,
)

_SHAPE = shape("[Nn]etcpa(?:-worker)?")


def parse(block: Block) -> Output:
    """Read lines of netcpa.log, one row each; `-->` lines join the row before."""
    return log_rows(TABLE, PARSER.name, block, more="MORE")


PARSER = Parser(
    name="netcpa",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(family("netcpa"),),
    commands=(viewing("netcpa"),),
    shape=rf"^{_SHAPE}",
    body=rf"^(?:{_SHAPE}|-->|\s+\S|backtrace|error: )",
    log=True,
)
