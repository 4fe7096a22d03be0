"""What the vsish parsers share: columns of a port, and the shape of a dump's lines.

vsish prints `key:value` without a blank, indents by three, and closes with a brace
(format strings of vsish, ESXi 6.7). In transcripts indents and braces get lost and
remarks are typed after values.
"""

from analyzer.tables import Column

SWITCH = Column("switch", "str", "portset (virtual switch) the port belongs to, as the vmkernel names it")
PORT_ID = Column("port_id", "int", "PortNum of the port on its switch")
QUEUE = Column("queue", "int", "number of the receive queue, from 0")

# Where a port lives in the vsish tree; the groups become Block.params. The first word may be
# the prompt of an interactive session, and `vsish -c FILE -e get PATH` reads a VSI cache.
PORT = r"\b(?:get|cat)\s+\S*?/net/portsets/(?P<switch>[^/\s]+)/ports/(?P<port_id>\d+)"


def body(heading: str) -> str:
    """Return the regex of the lines of a dump: its heading again, keys, braces, vsish errors.

    Prose has a blank after its colon and no number there, vsish has none.
    """
    return (
        r"^\s*(?:[#A-Za-z0-9][^:]{1,70}:(?:\S.*|\s*|\s+-?(?:0x)?[0-9a-f]+(?:\s.*)?)|[{}]\s*"
        rf"|{heading}(?:\s*\{{)?\s*|<snip>|\.\.\.|VSISH\w*\(\):.*|.*Command not found.*)$"
    )
