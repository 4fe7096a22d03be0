"""`show control-cluster history`: the steps of an NSX Controller on its way into the cluster.

Source: posts of 2013 and 2014 (J. M. Rey and others) on NSX Controllers: `Host NAME`, `Node UUID (ADDRESS)`, a line a
step. Stamps have no year and stay as printed. The other form of the command, lines of logs, is in nsx.controller_glog.
"""

from functools import partial

from analyzer.artefacts.tables import IP_FORM, Column, Table
from analyzer.forms import template_parser
from analyzer.forms.headings import drop_stale_headings

TABLE = Table.of(
    "nsx.controller_step",
    "Steps of an NSX Controller on its way into the cluster, one row a step.",
    "show control-cluster history (on each controller)",
    Column("node_uuid", "str", "id of this node"),
    Column("ip", "str", "address of the controller", form=IP_FORM),
    Column("since", "str", "month/day and time, as printed"),
    Column("step", "str", "Joining cluster via node …, Waiting to join cluster, Join complete, …"),
    ask="`show control-cluster history` on each NSX Controller",
)

PARSER = template_parser(
    "nsx_controller_history",
    TABLE,
    node="nsx_controller",
    shape=r"^\s*Node [0-9a-f]{8}-[0-9a-f-]{27} \(\S+\)\s*$",
    body=r"^\s*(?:Node [0-9a-f-]{36} \(|[\w*]+/[\w*]+ \d\d:\d\d:\d\d: |-{3,}\s*$)",
    answers=partial(drop_stale_headings, heading=("node_uuid", "ip"), once=("since", "step")),
)
