"""`esxcli system ntp get`: the time service of the host, 7.0 and later."""

from analyzer.forms import Field, get_block

PARSER = get_block(
    "ntp_get",
    "system ntp get",
    "esxi.ntp",
    "The NTP service of the host.",
    Field("Enabled", "enabled", "bool", "started with the host"),
    Field("Runtime Enabled", "running", "bool", "it runs"),
    Field("Servers", "ntp_servers", "str", "servers by commas"),
)
