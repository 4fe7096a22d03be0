"""`backline esxtop`: what a loose capture says, without a case and without rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.places import InputPath
from analyzer.commands.plain import check_paths, speak_plainly
from analyzer.commands.standard_input import open_standard_input
from analyzer.runtime.errors import BacklineError
from analyzer.views.topview import describe_capture

if TYPE_CHECKING:
    from analyzer.sources.remote import Place


@click.command("esxtop")
@click.argument("path", metavar="FILE", type=InputPath())
@click.option("--vm", metavar="NAME", help="All of one VM: its worlds, memory, disks and ports.")
@speak_plainly
def command(path: Place, vm: str | None) -> None:
    """Show the worst value of each esxtop metric, and when it was.

    FILE is an esxtop CSV or a text with pasted screens; `-` is standard input.
    Names are those of esxtop: %RDY, DAVG/cmd, MCTLSZ. Nothing is judged; `backline triage` does that.

    \b
    Example:
      backline esxtop esxtop.csv --vm web01
    """

    with open_standard_input((path,)) as (given,):
        check_paths((given,), BacklineError)
        for line in describe_capture(given, vm):
            click.echo(line)
