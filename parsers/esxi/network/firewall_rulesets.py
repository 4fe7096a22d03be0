"""`esxcli network firewall ruleset list`: services of the host's firewall, and which are open."""

from dataclasses import replace

from analyzer.forms import Field, Key, localcli_table

_LIST = localcli_table(
    "firewall_rulesets",
    "network firewall ruleset list",
    "esxi.firewall_ruleset",
    "Rule sets of the host's firewall, one row a service.",
    Key("Name", "ruleset_name", "str", "service: sshServer, syslog, nfsClient", pattern=r"[\w.-]+"),
    Field("Enabled", "enabled", "bool", "its ports are open"),
)
# other lists begin with the same two labels and go on with others
PARSER = replace(_LIST, shape=r"^\s*Name\s+Enabled(?:\s+Enable/Disable.*)?\s*$")
