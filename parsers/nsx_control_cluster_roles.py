"""`show control-cluster roles` on an NSX Controller: which node is master of which role.

Source: NSX Controller CLI (NSX for vSphere). "Last-Changed" has neither year nor zone and stays as printed.
"""

from analyzer.parsing import Output, Parser, rows
from analyzer.tables import Block, Column, Table

from ._nsx import answers

TABLE = Table(
    name="nsx.controller_role_master",
    meaning="Roles of the cluster as one NSX Controller sees them: master or not, number of changes.",
    source="show control-cluster roles (on each controller)",
    ask="`show control-cluster roles` on each NSX Controller",
    key=("role",),
    columns=(
        Column(
            "role",
            "str",
            "api_provider, persistence_server, switch_manager, logical_manager, directory_server",
        ),
        Column("listen_ip", "str", 'address the role listens on; "Not configured" and "N/A" as printed'),
        Column("is_master", "bool", "this controller is master of the role"),
        Column("last_changed", "str", "month/day and time of the last change, as printed"),
        Column("changes", "int", "times the role changed", "times"),
    ),
)


def parse(block: Block) -> Output:
    """Read the roles, one row each."""
    return answers(rows(TABLE, PARSER.name, block))


PARSER = Parser(
    name="nsx_control_cluster_roles",
    tables=(TABLE,),
    parse=parse,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster roles\b",),
    shape=r"^\s*Listen-IP\s+Master\?\s+Last-Changed\s+Count\s*$",
    body=r"^\s*(?:Listen-IP\s|-{3,}|[a-z][a-z_-]+\s+\S.*\s(?:Yes|No)\s|error: |%)",
)
