"""`esxcli system ntp get`: the time service of the host, 7.0 and later."""

from analyzer.artefacts.signs import says_bad
from analyzer.forms import Field, get_block

PARSER = get_block(
    "ntp_get",
    "system ntp get",
    "esxi.ntp",
    "The NTP service of the host.",
    Field("Enabled", "enabled", "bool", "started with the host"),
    Field("Runtime Enabled", "running", "bool", "it runs", sign=says_bad("false", weight=3)),
    Field("Servers", "ntp_servers", "str", "servers by commas"),
)
