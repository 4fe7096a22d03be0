"""A driver's own counters of a physical NIC, asked alone: `nic privstats get`, `ethtool -S vmnicN`.

Each driver prints its own names and form. The text does not name the NIC: the command does, or the
section of `nicinfo.sh.txt` it was cut from; pasted without either it is a NIC without a name. Native drivers may
print the general counters first, under `Uplink Stats:`.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Row

from ._pnic import PRIVATE, STATS, private_stats, uplink_stats


def parse_block(block: Block) -> Output:
    """Read one dump: a row for each counter, and a row of the general counters where they are among them."""
    found = list(private_stats(block))
    yield from found
    yield from uplink_stats(block, (item for item in found if isinstance(item, Row)))


PARSER = Parser(
    name="nic_private",
    tables=(PRIVATE, STATS),
    parse=parse_block,
    node="esxi",
    commands=(
        r"\bnetworkinternal\s+nic\s+privstats\s+get\s+(?:-n\s*|--nic-name[= ])(?P<pnic>\w+)",
        r"\bethtool\s+(?:-S|--statistics)\s+(?P<pnic>vmnic\d+)\b",
    ),
    # headings, or a queue as i40en and ixgben print it: rxq0: totalPkts=5 …, txq1 (hwq1): ringSize=2048 …
    shape=(
        r"^\s*(?:NIC Private statistics:|Uplink Stats:|Uplink Private Stats:|Packets assigned to an invalid queue: \d+"
        r"|[rt]xq\d{1,4}(?: \(hwq\d{1,4}\))?: \w+=\d+(?: \w+=\w+)+)\s*$"
    ),
    body=(
        r"^\s*(?:[A-Za-z_#][^:=]{0,60}\s?:\s*(?:-?\w*|\w[\w -]{0,40}:\s*\w+|[^\s=]+=\S*(?:\s+[^\s=]+=\S*)*)"
        r"|[^\s=]+=\S*(?:\s+[^\s=]+=\S*)*|(?:[^\s:={}][^:={}]*)?[{}]|Error\b.*)\s*$"
    ),
)
