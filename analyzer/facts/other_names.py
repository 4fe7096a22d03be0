"""Names that mean one thing: the id, the address and the name of a member of an NSX site or cluster.

A Manager speaks of `host-42`, its log of `esx42.lab.example`, a host of `192.0.2.31`, an alarm of the id of a node.
"""

from __future__ import annotations

import re

from analyzer.facts.site_members import list_rows
from analyzer.facts.store import Facts

# Table -> columns whose cells name one member, the best name first; "" is the node that the row belongs to.
SAME = {
    "site.member": ("member", "ip", "object_id"),
    "nsxt.site_member": ("member", "ip", "object_id"),
    "nsxt.edge_status": ("", "edge_uuid"),
    "nsxt.bfd_session": ("", "local_ip"),
    "nsxt.cluster_member": ("fqdn", "ip", "member_uuid"),
}
# An NFS volume: its events of All Paths Down give the first two parts of the id of its mount (KB 2004684, 1009566).
_NFS_VOLUME = re.compile(r"([0-9a-f]{8}-[0-9a-f]{8})-0{4}-0{12}")


def fold_name(text: str) -> str:
    """Return a name as it is compared with others: lower case, single spaces, an NFS volume by its short id."""
    name = " ".join(text.lower().split())
    volume = _NFS_VOLUME.fullmatch(name)
    if volume:
        return volume[1]
    return name


def map_other_names(facts: Facts) -> dict[str, str]:
    """Return name -> the name its member goes by, both as `fold_name` gives them; a name of two members is left out."""
    found: dict[str, str] = {}
    shared: set[str] = set()
    for table, columns in SAME.items():
        for row in list_rows(facts, table):
            names = []
            for column in columns:
                if column:
                    cell = row.values.get(column)
                else:
                    cell = facts.name(row.block.node)
                if cell:
                    names.append(fold_name(str(cell)))
            if not names:
                continue
            best = names[0]
            is_address = ":" in best or best.replace(".", "").isdigit()
            if not is_address:
                best = best.partition(".")[0]
            for name in (best, *names) if best else ():
                if found.setdefault(name, best) != best:
                    shared.add(name)
    return {name: best for name, best in found.items() if name not in shared}
