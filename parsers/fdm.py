"""`fdm.log`: the agent of vSphere HA on the host.

Source: `var/run/log/fdm.log` of a vm-support bundle; no real sample was at hand, the forms are
those of hostd, which writes with the same library.
"""

from analyzer.forms.logs import log
from analyzer.tables import Table

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


PARSER = log(
    "fdm",
    TABLE,
    stem="fdm",
    shape=_SHAPE,
    more_lines=r"-->|\s+\S|backtrace|error: ",
    more="MORE",
)
