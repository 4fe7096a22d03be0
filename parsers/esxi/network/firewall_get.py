"""`esxcli network firewall get`: whether the firewall of the host is on."""

from analyzer.artefacts.signs import says_bad
from analyzer.forms import Field, get_block

PARSER = get_block(
    "firewall_get",
    "network firewall get",
    "esxi.firewall",
    "The firewall of the host.",
    Field("Default Action", "default_action", "str", "DROP, PASS"),
    Field("Enabled", "enabled", "bool", "the firewall filters", sign=says_bad("false", weight=2)),
    Field("Loaded", "loaded", "bool", "its module is loaded"),
    sign="Default Action",
)
