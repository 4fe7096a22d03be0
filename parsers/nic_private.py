"""A driver's own counters of a physical NIC, asked alone: `nic privstats get`, `ethtool -S vmnicN`.

Each driver prints its own names and form. The text does not name the NIC: the command does, or the
section of `nicinfo.sh.txt` it was cut from.
"""

from __future__ import annotations

from analyzer.parsing import Parser

from ._pnic import PRIVATE, private_stats

PARSER = Parser(
    name="nic_private",
    tables=(PRIVATE,),
    parse=private_stats,
    node="esxi",
    commands=(
        r"\bnetworkinternal\s+nic\s+privstats\s+get\s+(?:-n\s*|--nic-name[= ])(?P<pnic>\w+)",
        r"\bethtool\s+(?:-S|--statistics)\s+(?P<pnic>vmnic\d+)\b",
    ),
    shape=r"^\s*NIC Private statistics:\s*$",
    body=(
        r"^\s*(?:[A-Za-z_#][^:=]{0,60}\s?:\s*(?:-?\w*|\w[\w -]{0,40}:\s*\w+|[^\s=]+=\S*(?:\s+[^\s=]+=\S*)*)"
        r"|[^\s=]+=\S*(?:\s+[^\s=]+=\S*)*|(?:[^\s:={}][^:={}]*)?[{}]|Error\b.*)\s*$"
    ),
)
