"""`show control-cluster roles` on an NSX Controller: which node is master of which role.

Source: NSX Controller CLI (NSX for vSphere). "Last-Changed" has neither year nor zone and stays as printed.
"""

from analyzer.forms import Field, Key

from ..common._nsx import controller_table

PARSER = controller_table(
    "nsx_control_cluster_roles",
    "show control-cluster roles",
    "nsx.controller_role_master",
    "Roles of the cluster as one NSX Controller sees them: master or not, number of changes.",
    Key(
        "",
        "role",
        "str",
        "api_provider, persistence_server, switch_manager, logical_manager, directory_server",
        pattern=r"[a-z][\w-]*",
    ),
    Field(
        "Listen-IP",
        "listen_ip",
        "str",
        'address the role listens on; "Not configured" and "N/A" as printed',
        pattern=r"\S.*?",
    ),
    Field(
        "Master?", "is_master", "bool", "this controller is master of the role", pattern=r"Yes|No"
    ),
    Field(
        "Last-Changed",
        "last_changed",
        "str",
        "month/day and time of the last change, as printed",
        pattern=r"\d\d/\d\d \d\d:\d\d:\d\d|\S+",
    ),
    Field("Count", "changes", "int", "times the role changed", unit="times", pattern=r"\d+"),
    typed=r"^\s*show control-cluster roles\b",
    body=r"[a-z][a-z_-]+\s+\S.*\s(?:Yes|No)\s",
)
