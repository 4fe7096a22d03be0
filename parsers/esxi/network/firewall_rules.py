"""`esxcli network firewall ruleset rule list`: ports and directions of each service of the host's firewall."""

from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "firewall_rules",
    "network firewall ruleset rule list",
    "esxi.firewall_rule",
    "Rules of the host's firewall, one row a range of ports.",
    Key(
        "Ruleset",
        "ruleset_name",
        "str",
        "service: sshServer, syslog, nfsClient",
        pattern=r"[\w.-]+",
    ),
    Key("Direction", "traffic_direction", "str", "Inbound, Outbound", pattern=r"[A-Z][a-z]+"),
    Key("Protocol", "ip_protocol", "str", "TCP, UDP, ESP, …", pattern=r"\S+"),
    Field(
        "Port Type",
        "port_side",
        "str",
        "Dst: the port of the receiver; Src: of the sender",
        pattern=r"[A-Z]\w*",
        maybe=True,
    ),
    Key("Port Begin", "first_port", "int", "first port of the range"),
    Field("Port End", "last_port", "int", "last port of the range"),
)
