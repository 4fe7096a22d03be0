"""`netcpa.log`: the NSX control plane agent of an ESXi host.

Source: `var/run/log/netcpa.log` of a vm-support bundle (NSX for vSphere). No real line was at
hand; the forms are those of hostd, which writes with the same library.
"""

from analyzer.forms.logs import log
from analyzer.tables import Table

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


PARSER = log(
    "netcpa",
    TABLE,
    stem="netcpa",
    shape=_SHAPE,
    more_lines=r"-->|\s+\S|backtrace|error: ",
    more="MORE",
)
