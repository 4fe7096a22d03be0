"""`esxcli network ip connection list`: TCP and UDP sockets of a host, with the world that owns each.

The row alone tells what it is, so lines picked with grep are read too; state, congestion control and name may be
empty. Port 1234 is the control plane agent's connection to the NSX Controllers.
"""

from analyzer.forms import written
from analyzer.tables import Column, Table

TABLE = Table(
    name="esxi.ip_connection",
    meaning="TCP and UDP sockets of the host.",
    source="esxcli network ip connection list",
    ask="`esxcli network ip connection list`",
    columns=(
        Column("protocol", "str", "tcp, udp"),
        Column("receive_queue", "int", "bytes received and not read", "bytes"),
        Column("send_queue", "int", "bytes sent and not acknowledged", "bytes"),
        Column("local_ip", "str", "local address; * for any"),
        Column("local_port", "int", "local port"),
        Column("remote_ip", "str", "remote address; * for any"),
        Column("remote_port", "int", "remote port; 0 for none"),
        Column("state", "str", "ESTABLISHED, LISTEN, TIME_WAIT, …; none for UDP"),
        Column("world_id", "int", "world that owns the socket; 0 for none"),
        Column("congestion_control", "str", "congestion control: newreno, cubic"),
        Column("world_name", "str", "name of that world: netcpa-worker"),
    ),
)


_ROW = r"(?:tcp|udp)\d?\s+\d+\s+\d+\s+\S+:[\d*]+\s+\S+:[\d*]+\s+(?:[A-Z][A-Z_0-9]+\s+)?\d+(?:\s|$)"

PARSER = written(
    "ip_connection",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/localcli_network-ip-connection-list\.txt$",),
    commands=(r"\b(?:esxcli|localcli)\s+network\s+ip\s+connection\s+list\b",),
    shape=rf"^\s*(?:Proto\s+Recv Q\s+Send Q\s+Local Address\s+Foreign Address\s+State\s+World ID\b|{_ROW})",
    body=r"^\s*(?:Proto\s|-{3,}|(?:tcp|udp)\d?\s+\S+\s+\S+\s+\S+\s+\S+)",
)
