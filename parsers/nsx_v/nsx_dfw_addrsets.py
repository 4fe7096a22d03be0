"""`vsipioctl getaddrsets -f <filter>`: the address sets that the rules of one filter of a host use.

Source: the command on a host of NSX for vSphere, as an administrator published it: `addrset NAME {`, `ip ADDRESS,`,
`}`. A group without members has no lines between the braces; a rule that names it meets no packet.
"""

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at, typed
from analyzer.artefacts.tables import Block, Column, Row, Table, Value

_ASK = "`vsipioctl getaddrsets -f <filter>` on the host; `vsipioctl getfilters` lists the filters"
_FILTER = Column("filter", "str", "name of the filter")
_SET = Column("address_set", "str", "name of the set: ip-ipset-3, src1048, …")
SETS = Table.of(
    "nsx.dfw_address_set",
    "Address sets of one filter of the distributed firewall, one row a set.",
    "vsipioctl getaddrsets -f <filter>",
    _FILTER,
    _SET,
    Column("addresses_count", "int", "addresses in it", "addresses"),
    ask=_ASK,
    key=("filter", "address_set"),
)
ADDRESSES = Table.of(
    "nsx.dfw_address",
    "Addresses in the address sets of one filter of the distributed firewall, one row an address.",
    "vsipioctl getaddrsets -f <filter>",
    _FILTER,
    _SET,
    Column("address_kind", "str", "ip or mac"),
    Column("address", "str", "address and length of the netmask; none where it has none"),
    ask=_ASK,
)
_BEGIN = re.compile(r"\s*addrset\s+(?P<name>\S+)\s+\{\s*$")
_ADDRESS = re.compile(r"\s*(?P<kind>ip|mac)\s+(?P<address>\S+?),?\s*$")
_FORM = re.compile(r"[0-9A-Fa-f.:/-]+")


def parse_block(block: Block) -> Output:
    """Read the sets and their addresses; a set is a row where it ends, so that one that is cut is none."""
    fixed = {"filter": None, **typed(block.params, SETS)}
    name, begun, count = "", 0, 0
    for number, line in enumerate(block.lines, block.first_line):
        if found := _BEGIN.match(line):
            name, begun, count = found["name"], number, 0
        elif line.strip() == "}" and name:
            yield Row(SETS, {**fixed, "address_set": name, "addresses_count": count}, block, begun)
            name = ""
        elif (found := _ADDRESS.match(line)) and name:
            count += 1
            if not _FORM.fullmatch(found["address"]):
                yield fault_at(block, number, PARSER.name, "no address")
            cells: dict[str, Value] = {
                "address_set": name,
                "address_kind": found["kind"],
                "address": found["address"] if _FORM.fullmatch(found["address"]) else None,
            }
            yield Row(ADDRESSES, {**fixed, **cells}, block, number)
        elif line.strip() and not line.lstrip().startswith("#"):
            yield fault_at(block, number, PARSER.name, "not a line of an address set")
    if name:
        yield fault_at(block, begun, PARSER.name, "a set without its end")
        block.cut = True


PARSER = Parser(
    name="nsx_dfw_addrsets",
    tables=(SETS, ADDRESSES),
    parse=parse_block,
    node="esxi",
    commands=(r"\bvsipioctl\s+getaddrsets?\s+-f\s+(?P<filter>\S+)\s*$",),
    shape=r"^\s*addrset\s+\S+\s+\{\s*$",
    body=r"^\s*(?:addrset\s+\S+\s+\{|(?:ip|mac)\s+\S+|#|\})",
)
