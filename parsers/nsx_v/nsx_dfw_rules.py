"""`vsipioctl getrules -f <filter>`, and `show dfw host … filter … rules` of the Central CLI: the rules of one filter.

Source: the command on hosts of NSX 6.1 to 6.4, as captured. A rule of the Manager is there once for each protocol
and port. Two lines of comment with generation and time of realization came with a later release.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "nsx.dfw_rule",
    "Rules of the distributed firewall as one filter of a host has them.",
    "vsipioctl getrules -f <filter>; show dfw host <host> filter <filter> rules",
    Column("filter", "str", "name of the filter"),
    Column("ruleset", "str", "domain-c7; domain-c7_L2 for layer 2"),
    Column("dfw_rule", "int", "number of the rule"),
    Column("place", "int", "place in the rule set, from 1"),
    Column("way", "str", "in, out or inout"),
    Column("matches", "str", "protocol, source and destination, as printed"),
    Column("verdict", "str", "accept, drop, reject, …"),
    Column("logged", "str", "with log, where its packets are logged"),
    Column("rule_tag", "str", "tag of the rule, which its lines in dfwpktlogs end with"),
    ask="`vsipioctl getrules -f <filter>` on the host; `vsipioctl getfilters` lists the filters",
)
_ROW = r"rule \d+ at \d+ (?:in|out|inout) \S"

PARSER = template_parser(
    "nsx_dfw_rules",
    TABLE,
    node="esxi",
    commands=(
        r"\bvsipioctl\s+get(?:fw)?rules\s+-f\s+(?P<filter>\S+)\s*$",
        r"^\s*show dfw host \S+ filter (?P<filter>\S+) rules\b",
    ),
    shape=r"^\s*ruleset [\w:-]+ \{\s*$",
    body=rf"^\s*(?:ruleset [\w:-]+ \{{|# |{_ROW}|\}})",
)
