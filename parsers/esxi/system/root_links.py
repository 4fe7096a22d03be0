"""`ls -l /`: where the links of a host's root lead; a boot bank that was not found leads into memory.

Source: public captures of 6.0 to 8.0 (Broadcom articles 301134 and 324231, a post on 8.0). Only the links are rows.
"""

from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import Column, KeyColumn, Row, Table
from analyzer.forms import template_parser

TABLE = Table.of(
    "esxi.root_link",
    "Links in the root of the host, one row a link.",
    "ls -l /, ls -ld /bootbank /altbootbank",
    KeyColumn("root_link", "str", "name of the link: bootbank, altbootbank, locker, scratch, …"),
    Column("link_target", "str", "where it leads, as printed"),
    Column(
        "link_in_memory",
        "bool",
        "it leads into /tmp, which is memory and empty after a restart",
        sign=says_bad("true", weight=4),
    ),
    ask="`ls -ld /bootbank /altbootbank`",
)


def finish_row(row: Row) -> None:
    """Say whether a link leads into memory."""
    row.values["link_in_memory"] = str(row.values["link_target"] or "").startswith("/tmp/")


_MODE = r"[dlcbps-][rwxsStT-]{9}[+.@]?"

PARSER = template_parser(
    "root_links",
    TABLE,
    node="esxi",
    commands=(r"\bls\s+-[a-zA-Z]*l[a-zA-Z]*\s+/(?:alt)?bootbank(?:\s|$)",),
    shape=r"^\s*l[rwx-]{9}[+.@]?\s+\d+\s+\S+\s+\S+\s+\d+\s.{1,30}\s/?(?:alt)?bootbank -> \S",
    body=rf"^\s*(?:total \d+\s*$|{_MODE}\s+\d+\s)",
    finish=finish_row,
)
