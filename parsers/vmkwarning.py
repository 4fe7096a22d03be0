"""`vmkwarning.log`: the warnings and alerts of the VMkernel, a second copy.

Source: `var/run/log/vmkwarning.log` of a vm-support bundle. Every line also stands in
vmkernel.log: count an event in one of the two, never in both. A line alone cannot be told
from one of vmkernel.log, so this log is recognised by its name only.
"""

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Column, Table

from ._log import LEVEL, MESSAGE, TIME, family, log_rows, viewing
from .vmkernel import HEAD

TABLE = Table(
    name="esxi.vmkwarning",
    meaning="Warnings and alerts of the VMkernel, UTC; the same lines stand in esxi.vmkernel.",
    source="var/run/log/vmkwarning.log with its rotated copies",
    ask="/var/log/vmkwarning.log with its rotated copies",
    columns=(
        TIME,
        LEVEL,
        Column("uptime_s", "float", "time since boot, where the line prints it", "s"),
        Column("cpu", "int", "physical CPU the line was written on"),
        Column("world", "int", "world that wrote the line"),
        Column("opid", "str", "operation id, joins lines of one task"),
        Column("module", "str", "module or driver before the first colon of the message"),
        MESSAGE,
    ),
    log=True,
)


def parse(block: Block) -> Output:
    """Read lines of vmkwarning.log, one row each."""
    return log_rows(TABLE, PARSER.name, block, default_level="warning")


PARSER = Parser(
    name="vmkwarning",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(family("vmkwarning"),),
    commands=(viewing("vmkwarning"),),
    head=HEAD,
    log=True,
)
