"""`backline browse`: a saved case to look through in the terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from analyzer.case import case_file
from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import check_paths, speak_plainly
from analyzer.runtime.errors import BacklineError, UsageError


@click.command("browse")
@click.argument("case_json", metavar="PATH", type=ANY_PATH)
@speak_plainly
def command(case_json: Path) -> None:
    """Look through a saved case in the terminal: findings left, detail and log right.

    PATH is its case.json, or the folder that triage wrote. Keys: j and k move, Tab goes to the next
    pane, / finds, s, h and t choose level, host and order, ? shows all keys, q quits. Needs pip
    install 'backline[browse]'.

    \b
    Example:
      backline browse case-1234
    """
    try:
        from analyzer.views.browse_app import BrowseApp
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        do = "Install it: pip install 'backline[browse]'. Without it: backline show PATH."
        raise BacklineError("browse needs textual, which is not installed", do=do) from None
    check_paths((case_json,), BacklineError)
    document = case_file.read_case(case_json)
    require_terminal(case_json)
    app = BrowseApp(document)
    app.run(mouse=False)
    if app.failure is not None:
        raise app.failure


def require_terminal(path: Path) -> None:
    """Refuse to draw where no one looks, or where nothing can be drawn."""
    do = f"For a pipe or a file: backline show {path}"
    for name, stream in (("input", sys.stdin), ("output", sys.stdout), ("error", sys.stderr)):
        if not stream.isatty():
            raise UsageError("browse needs a terminal", why=f"standard {name} is none", do=do)
    if os.environ.get("TERM") == "dumb":
        raise UsageError(
            "browse needs a terminal", why="this one cannot be drawn on (TERM=dumb)", do=do
        )
