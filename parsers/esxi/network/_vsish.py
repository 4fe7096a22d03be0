"""What dumps of a switch port share: where the port lives in the tree of vsish, and the columns that tells."""

from analyzer.forms import Param
from analyzer.forms.blocks import vsish_command

SWITCH = Param(
    ("switch",),
    "switch",
    "str",
    "portset (virtual switch) the port belongs to, as the vmkernel names it",
    r"[^/\s]+",
)
PORT_ID = Param(("port",), "port_id", "int", "PortNum of the port on its switch", r"\d+")
QUEUE = Param(("n",), "queue", "int", "number of the receive queue, from 0", r"\d+")

# Where a port lives in the vsish tree.
PORT = vsish_command("/net/portsets/<switch>/ports/<port>", (SWITCH, PORT_ID)).removesuffix(r"\b")
