"""`get control-cluster status` of an NSX-T controller up to 2.3: its cluster as this controller sees it.

Source: the NSX-T 2.x documents and an output in public test code. From 2.4 on controllers are a part of the managers
(`get cluster status`). `get control-cluster status verbose` adds ZooKeeper's own list, which is passed over.
"""

from __future__ import annotations

import re

from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import IP_FORM, Column, KeyColumn, Table

from ..common._cli_lines import line_parser
from ..common._nsxt import MANAGER, UUID

TABLE = Table.of(
    "nsxt.control_node",
    "Controllers of NSX-T up to 2.3 as one of them lists them, one row a controller.",
    "get control-cluster status",
    Column("asked_is_master", "bool", "the controller that was asked is the master"),
    Column(
        "in_majority",
        "bool",
        "the controller that was asked belongs to the majority",
        sign=says_bad("false", weight=6),
    ),
    KeyColumn("node_uuid", "str", "id of the controller"),
    Column("ip", "str", "address of the controller", form=IP_FORM),
    Column("status", "str", "active, inactive, not active, …, as printed"),
    ask="`get control-cluster status` on each NSX-T controller",
)
_MASTER = re.compile(r"\s*is master:\s*(?P<asked_is_master>\w+)\s*$")
_MAJORITY = re.compile(r"\s*in majority:\s*(?P<in_majority>\w+)\s*$")
_ROW = re.compile(
    rf"\s*(?P<node_uuid>{UUID})\s+(?P<ip>[\w.:*]+[.:][\w.:*]+)\s+(?P<status>\w[\w -]*?)\s*$"
)
_REST = re.compile(r"\s*(?:uuid\s+address\s+status\s*$|-{5,}\s*$|get control-cluster status)")
PARSER = line_parser(
    "nsxt_control_nodes",
    TABLE,
    _ROW,
    _REST,
    (_MASTER, _MAJORITY),
    node=MANAGER,
    commands=(r"^\s*get control-cluster status(?: verbose)?\s*$",),
    shape=r"^\s*is master:\s*\w+\s*$",
    body=rf"^\s*(?:is master:|in majority:|uuid\s+address\s+status\s*$|-{{5,}}\s*$|{UUID}\s+\S|$|%)",
    lead=r"^\s*-{5,}\s*$",
)
