"""`backline archive …`: the stored cases; each command is a module `archive_<name>` with its `command`."""

from __future__ import annotations

import click

from analyzer.commands.late import LateGroup

# In the order of an engineer's work, which is the order of the help.
COMMANDS = {
    "list": "List the stored cases.",
    "show": "Show the report of a stored case.",
    "search": "Search all stored cases.",
    "sql": "Query the stored cases in SQL.",
    "similar": "Show the stored cases that are most like CASE.",
    "background": "Write what machines say though nothing is wrong.",
    "heatmap": "Show what every rule said in every stored case, worst first.",
    "export": "Write stored cases into a folder.",
    "label": "Label the findings of RULE in CASE as right or wrong.",
    "remove": "Remove cases from the archive.",
    "verify": "Check that nothing in the archive is damaged or lost.",
    "compact": "Pack loose cases into segments, which are faster to search.",
}


@click.group("archive", cls=LateGroup, prefix="archive_", commands_help=COMMANDS)
def command() -> None:
    """Search and manage stored cases.

    An archive is a folder or a URL that `backline batch` fills.

    \b
    Example:
      backline batch cases/ --archive archive
      backline archive list --archive archive
    """
