"""`vpxa.log`: the agent of vCenter on the host.

Source: `var/run/log/vpxa.log` of a vm-support bundle with its rotated copies, line forms 4.x to 9.0.
"""

from analyzer.forms.logs import log
from analyzer.tables import Table

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


PARSER = log(
    "vpxa",
    TABLE,
    stem="vpxa",
    shape=_SHAPE,
    more_lines=r"-->|\s+\S|backtrace|error: ",
    more="MORE",
)
