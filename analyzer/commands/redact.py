"""`backline redact`: put the names back into an answer to a redacted report."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import check_paths, speak_plainly
from analyzer.redact import namemap
from analyzer.redact.reversing import reverse_text
from analyzer.runtime.errors import UsageError

LARGEST = 64 << 20  # characters of standard input


@click.command("redact")
@click.option(
    "--reverse",
    "path",
    required=True,
    metavar="MAP",
    type=ANY_PATH,
    help="The map of names that --redact wrote.",
)
@click.argument("text", nargs=-1, required=True)
@speak_plainly
def command(path: Path, text: tuple[str, ...]) -> None:
    """Put the real names back into a redacted text.

    TEXT holds pseudonyms; `-` reads it from standard input.

    \b
    Example:
      backline redact --reverse case-1234.redact-map.json "Reset vmnic2 of host01anon"
      backline redact --reverse case-1234.redact-map.json - < answer.txt
    """

    check_paths((path,), UsageError)
    known = namemap.load_map(path)
    if text == ("-",):
        sys.stdout.write(reverse_text(known, sys.stdin.read(LARGEST)))
    else:
        click.echo(reverse_text(known, " ".join(text)))
