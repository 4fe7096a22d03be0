"""`backline archive background`: what machines say though nothing is wrong, as a table that lowers its rank."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.archive.query.background import count_background, write_background
from analyzer.commands.archived import archive_option, open_archive, seconds_option
from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import speak_plainly
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.output import write_atomic
from analyzer.runtime.text import count_noun, for_terminal
from analyzer.signals.background import LEAST_SITES


@click.command("background")
@archive_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=ANY_PATH,
    help="File for the rows; triage takes them from facts/background.csv below a --kb folder.",
)
@seconds_option
@speak_plainly
def command(archive_url: str, output: Path, seconds: float) -> None:
    """Write what machines say though nothing is wrong.

    Signs of trouble that machines of three or more sites show all the time rank lower in reports, which say why.
    All signs of cases with the label healthy count, and of other cases those that were there all along. Cases that share
    a machine are one site, and one of them counts. The file has hashes and numbers: no text and no name.

    \b
    Example:
      backline archive label acme-2291 healthy --archive archive --confirm
      backline archive background --archive archive -o our-rules/facts/background.csv
      backline triage esx-host.tgz --kb our-rules
    """

    archive = open_archive(archive_url)
    found = count_background(archive, seconds=seconds)
    if not found.kinds:
        raise BacklineError(
            "there is no background to write",
            why=f"no sign is at {LEAST_SITES} sites all the time; the archive has {count_noun(found.sites, 'site')}",
            do="Label cases without trouble: `backline archive label CASE healthy --confirm`.",
        )
    write_atomic(output, write_background(found))
    machines = f"{count_noun(found.machines, 'machine')}, {found.healthy:,} of them healthy"
    kinds = count_noun(len(found.kinds), "kind of sign", "kinds of signs")
    click.echo(for_terminal(f"{output}: {kinds} of {count_noun(found.sites, 'site')}, {machines}"))
