"""`esxcli system hostname get`: name and domain of the host; the whole name is what the machine is called."""

from dataclasses import replace

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Row
from analyzer.forms import Field, get_block

from ...common._host import HOST, make_host_row

_NAMES = get_block(
    "hostname_get",
    "system hostname get",
    "esxi.dns_name",
    "Name and domain of the host.",
    Field("Domain Name", "host_domain", "str", "domain of the host"),
    Field("Fully Qualified Domain Name", "fqdn", "str", "name of the host with its domain"),
    Field("Host Name", "hostname", "str", "name of the host as stated; may be fully qualified"),
    sign="Fully Qualified Domain Name",
)


def parse_block(block: Block) -> Output:
    """Read the names, and what the host is called."""
    for item in _NAMES.parse(block):
        yield item
        if isinstance(item, Row) and (name := item.values["fqdn"] or item.values["hostname"]):
            yield make_host_row(block, item.line, "hostname", str(name))


PARSER = replace(_NAMES, tables=(*_NAMES.tables, HOST), parse=parse_block)
