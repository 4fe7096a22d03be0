"""Names that mean one thing: the id, the address and the name of a member of an NSX site or cluster.

A Manager speaks of `host-42`, its log of `esx42.lab.example`, a host of `192.0.2.31`, an alarm of the id of a node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.artefacts.tables import Row
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


def same_name(text: str) -> str:
    """Return a name as it is compared with others: lower case, single spaces, an NFS volume by its short id."""
    name = " ".join(text.lower().split())
    volume = _NFS_VOLUME.fullmatch(name)
    return volume[1] if volume else name


def other_names(facts: Facts) -> dict[str, str]:
    """Return name -> the name its member goes by, both as `same_name` gives them; a name of two members is left out."""
    found: dict[str, str] = {}
    shared: set[str] = set()
    for table, columns in SAME.items():
        for row in facts.store(table).rows if table in facts.tables and facts.count(table) else ():
            names = list(_names(facts, row, columns))
            best = (
                names[0].partition(".")[0]
                if names and not _address(names[0])
                else "".join(names[:1])
            )
            for name in (best, *names) if best else ():
                if found.setdefault(name, best) != best:
                    shared.add(name)
    return {name: best for name, best in found.items() if name not in shared}


def _names(facts: Facts, row: Row, columns: tuple[str, ...]) -> Iterator[str]:
    for column in columns:
        cell = row.values.get(column) if column else facts.name(row.block.node)
        if cell:
            yield same_name(str(cell))


def _address(name: str) -> bool:
    return ":" in name or name.replace(".", "").isdigit()
