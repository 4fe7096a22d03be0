"""`show network interface` of an NSX Controller: its network interfaces.

Source: NSX Controller CLI (NSX for vSphere).
"""

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import Block, Column, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_interface",
    meaning="Network interfaces of an NSX Controller.",
    source="show network interface (on each controller)",
    ask="`show network interface` on each NSX Controller",
    key=("interface",),
    columns=(
        Column("interface", "str", "name of the interface: breth0, eth0"),
        Column("address", "str", "address and length of the netmask; none where it has none"),
        Column("mtu", "int", "MTU", "bytes"),
        Column("admin_up", "bool", "it is switched on"),
        Column("link_up", "bool", "it has a link"),
    ),
)


def parse(block: Block) -> Output:
    """Read the table, one row an interface."""
    return answers(rows(TABLE, PARSER.name, block))


PARSER = Parser(
    name="nsx_controller_interface",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    commands=(r"^\s*show network interface",),
    shape=r"^\s*Interface\s+Address/Netmask\s+MTU\s+Admin-Status\s+Link-Status\s*$",
    body=r"^\s*(?:Interface\s|-{3,}|[A-Za-z][\w.:-]*\s.*\b(?:UP|DOWN|UNKNOWN)\s*$|error: |%)",
)
