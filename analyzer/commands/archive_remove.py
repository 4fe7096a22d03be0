"""`backline archive remove`: take cases out of an archive."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from analyzer.archive.upkeep import removal
from analyzer.commands.archived import archive_option, open_archive
from analyzer.commands.plain import DONE, speak_plainly
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import count_noun, for_terminal, one_line

if TYPE_CHECKING:
    from analyzer.archive.upkeep.removal import Removal


@click.command("remove")
@click.argument("case", nargs=-1, required=True)
@archive_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@speak_plainly
def command(case: tuple[str, ...], archive_url: str, yes: bool) -> None:
    """Remove cases from the archive.

    All revisions and labels of each CASE (a name, or the start of an id) go with it.
    It says what will be gone and asks first. The files that the cases were read from are never touched: a
    later `backline batch` over them stores the cases again.

    \b
    Example:
      backline archive remove acme-2291 --archive archive
      backline archive remove acme-2291 acme-2304 --archive archive --yes
    """

    archive = open_archive(archive_url)
    snapshot = archive.take_snapshot()
    cases = list({one.id: one for one in map(snapshot.find_case, case)}.values())
    found = removal.plan_removal(archive, cases)
    if not yes:
        # What would be gone, and ask; raises UsageError where no one can answer, Abort for a no
        for ask_line in _describe_removal(found, "to be removed"):
            click.echo(for_terminal(ask_line), err=True)
        if not can_answer():
            raise UsageError(
                "nobody can answer the question here", do="Add --yes to remove without asking."
            )
        if not click.confirm(f"Remove {count_noun(len(found.names), 'case')}?", err=True):
            click.echo("nothing was removed", err=True)
            raise click.exceptions.Exit(DONE)
    done = removal.remove_cases(archive, cases)
    for line in _describe_removal(done, "removed"):
        click.echo(for_terminal(line))
    if done.sources:
        click.echo(
            for_terminal(
                f"not touched: {', '.join(one_line(one, 200) for one in done.sources[:5])}"
            ),
            err=True,
        )
    click.get_current_context().exit(DONE)


def can_answer() -> bool:
    """Tell whether somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def _describe_removal(found: Removal, word: str) -> Iterator[str]:
    """Yield what belongs to the cases, a line each, and what it means for others."""
    for case, name in sorted(found.names.items(), key=lambda item: (item[1], item[0])):
        entries = [entry for entry in found.entries if entry.id == case]
        revisions = len({entry.entry_text for entry in entries})
        labels = sum(label.split("/")[1] == case for label in found.labels)
        parts = [
            count_noun(revisions, "revision"),
            *([count_noun(labels, "label")] if labels else []),
        ]
        yield f"{word}: {one_line(name or 'a case without a readable name', 80)}  {case[:12]}  ({', '.join(parts)})"
    if found.rewritten:
        verb = "are" if word.startswith("to") else "were"
        yield f"{count_noun(found.rewritten, 'other case')} in the same segment {verb} rewritten, otherwise unchanged"
