"""`vsipioctl getfwrules -f <filter> -s` (later `getrules … -s`): how often each rule of a filter was asked and hit.

Source: the command on a host of NSX 6.1, as captured. A rule is there twice, once for each address family.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "nsx.dfw_rule_stats",
    "Counters of the rules of one filter of the distributed firewall.",
    "vsipioctl getfwrules -f <filter> -s",
    Column("filter", "str", "name of the filter"),
    Column("dfw_rule", "int", "number of the rule"),
    Column("evals", "int", "times it was looked at"),
    Column("pkts_in", "int", "packets to the VM", "packets"),
    Column("pkts_out", "int", "packets from the VM", "packets"),
    Column("bytes_in", "int", "bytes to the VM", "bytes"),
    Column("bytes_out", "int", "bytes from the VM", "bytes"),
    ask="`vsipioctl getfwrules -f <filter> -s` on the host; `vsipioctl getfilters` lists the filters",
    counts_since="boot",  # the name of a filter holds the world of its VM: it is another one after each start of it
    gauges=("dfw_rule",),
)
_ROW = r"rule\s+\d+:\s+\d+ evals, in \d+ out \d+ pkts, in \d+ out \d+ bytes"

PARSER = template_parser(
    "nsx_dfw_rule_stats",
    TABLE,
    node="esxi",
    commands=(r"\bvsipioctl\s+get(?:fw)?rules\s+-f\s+(?P<filter>\S+)\s+-s\b",),
    shape=rf"^\s*{_ROW}",
    body=rf"^\s*{_ROW}",
)
