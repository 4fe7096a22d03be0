"""`backline archive …`: the stored cases; each command is a module `archive_<name>` with its `command`."""

from __future__ import annotations

import click

from analyzer.commands.late import LateGroup

# In the order of an engineer's work, which is the order of the help.
COMMANDS = (
    "list",
    "show",
    "search",
    "sql",
    "heatmap",
    "export",
    "label",
    "remove",
    "verify",
    "compact",
)


@click.group("archive", cls=LateGroup, prefix="archive_", names=COMMANDS)
def command() -> None:
    """Search and manage stored cases.

    An archive is a folder or a URL that `backline batch` fills.

    \b
    Example:
      backline batch cases/ --archive archive
      backline archive list --archive archive
    """
