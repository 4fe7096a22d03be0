"""`esxcli network ip connection list`: TCP and UDP sockets of a host, with the world that owns each.

The row alone tells what it is, so lines picked with grep are read too; state, congestion control and name may be
empty. Port 1234 is the control plane agent's connection to the NSX Controllers.
"""

from __future__ import annotations

from dataclasses import replace

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.signs import lies_above, says_bad
from analyzer.artefacts.tables import Block, Column, Row, Table
from analyzer.forms import Field, json_twin, template_parser
from analyzer.forms.columns import bundle_files, esxcli_commands

TABLE = Table.of(
    "esxi.ip_connection",
    "TCP and UDP sockets of the host.",
    "esxcli network ip connection list",
    Column("protocol", "str", "tcp, udp"),
    Column("receive_queue", "int", "bytes received and not read", "bytes"),
    Column(
        "send_queue",
        "int",
        "bytes sent and not acknowledged",
        "bytes",
        sign=lies_above(100000, weight=3),
    ),
    Column("local_ip", "str", "local address; * for any"),
    Column("local_port", "int", "local port"),
    Column("remote_ip", "str", "remote address; * for any"),
    Column("remote_port", "int", "remote port; 0 for none"),
    Column(
        "state",
        "str",
        "ESTABLISHED, LISTEN, TIME_WAIT, …; none for UDP",
        sign=says_bad("syn_sent", "syn_rcvd", "close_wait", weight=3),
    ),
    Column("world_id", "int", "world that owns the socket; 0 for none"),
    Column("congestion_control", "str", "congestion control: newreno, cubic"),
    Column("world_name", "str", "name of that world: netcpa-worker"),
)


_ROW = r"(?:tcp|udp)\d?\s+\d+\s+\d+\s+\S+:[\d*]+\s+\S+:[\d*]+\s+(?:[A-Z][A-Z_0-9]+\s+)?\d+(?:\s|$)"

_SOCKET = Table.of(
    "esxi.socket",
    "A socket as JSON prints it.",
    TABLE.source,
    *TABLE.columns,
    Column("local", "str", "address and port"),
    Column("remote", "str", "address and port"),
    ask=TABLE.ask,
)
_LABELS = (
    Field("Proto", "protocol"),
    Field("Recv Q", "receive_queue", "int"),
    Field("Send Q", "send_queue", "int"),
    Field("Local Address", "local"),
    Field("Foreign Address", "remote"),
    Field("State", "state"),
    Field("World ID", "world_id", "int"),
    Field("CC Algo", "congestion_control"),
    Field("World Name", "world_name"),
)
_TEXT = template_parser(
    "ip_connection",
    TABLE,
    node="esxi",
    files=bundle_files("localcli network ip connection list", twin=True),
    commands=esxcli_commands("network ip connection list"),
    shape=rf"^\s*(?:Proto\s+Recv Q\s+Send Q\s+Local Address\s+Foreign Address\s+State\s+World ID\b|{_ROW})",
    body=rf"^\s*(?:Proto\s|-{{3,}}|(?:tcp|udp)\d?\s+\S+\s+\S+\s+\S+\s+\S+|{json_twin.LINE})",
)


def parse_block(block: Block) -> Output:
    """Read the sockets of a text or of its JSON, which prints address and port in one cell."""
    if not json_twin.is_json(block):
        yield from _TEXT.parse(block)
        return
    for item in json_twin.read_rows(_SOCKET, _LABELS, _TEXT.name, block, {}):
        if not isinstance(item, Row):
            yield item
            continue
        # The JSON prints the port behind the address
        values = dict(item.values)
        lines = dict(item.lines)
        for side in ("local", "remote"):
            address, _, port = str(values.pop(side) or "").rpartition(":")
            values[f"{side}_ip"] = address or None
            is_number = port.isdecimal() and len(port) < 6
            values[f"{side}_port"] = int(port) if is_number else None
            line = lines.pop(side, None)
            if line is not None:
                lines[f"{side}_ip"] = lines[f"{side}_port"] = line
        places = {name: line for name, line in lines.items() if name in values}
        yield Row(TABLE, values, block, item.line, places)


PARSER = replace(_TEXT, parse=parse_block)
