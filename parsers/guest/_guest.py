"""What the parsers of guest commands share: the interface column and the ethtool command."""

from analyzer.artefacts.tables import Column

INTERFACE = Column("interface", "str", "network interface of the guest, e.g. eth0")


def ethtool_command(*options: str) -> str:
    """Return the regex of an `ethtool` command with one of `options`; the group is the interface."""
    either = "|".join(options)
    return rf"\bethtool\s+(?:{either})\s+(?P<interface>(?!vmnic\d)[\w.:@-]+)"
