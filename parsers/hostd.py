"""`hostd.log`: the host agent.

Source: `var/run/log/hostd.log` of a vm-support bundle with its rotated copies, line forms 4.x to
9.0. The stamps of 4.x are local time of the console without a zone; they are taken as UTC.
"""

from analyzer.forms.logs import log
from analyzer.tables import Table

from ._vmacore import columns, shape

TABLE = Table(
    name="esxi.hostd",
    meaning="Lines of the host agent, UTC; 4.x prints no zone and is taken as UTC.",
    source="var/run/log/hostd.log with its rotated copies",
    ask="/var/log/hostd.log with its rotated copies",
    columns=columns(),
    log=True,
)

_SHAPE = shape("[Hh]ostd(?:-probe)?", own_5x=r"(?! ?\[Vpx)", section=True)


PARSER = log(
    "hostd",
    TABLE,
    stem="hostd",
    shape=_SHAPE,
    more_lines=r"-->|\s+\S|backtrace|error: ",
    more="MORE",
)
