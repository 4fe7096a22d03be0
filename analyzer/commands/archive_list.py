"""`backline archive list`: the stored cases, one line each."""

from __future__ import annotations

import sys

import click

from analyzer.archive.query import browse
from analyzer.commands.archived import (
    archive_option,
    case_filters,
    form_options,
    limit_option,
    list_replaced,
    open_archive,
    print_rows,
    time_options,
)
from analyzer.commands.plain import speak_plainly
from analyzer.runtime.text import for_terminal

ORDERS = ("created", "name", "worst", "unknowns", "stored")


@click.command("list")
@archive_option
@case_filters()
@time_options
@click.option(
    "--sort",
    type=click.Choice(ORDERS),
    default="created",
    show_default=True,
    help="Order, worst or newest first.",
)
@limit_option
@form_options
@speak_plainly
def command(
    archive_url: str,
    rule: str,
    severity: str,
    state: str,
    name: str,
    since: str,
    until: str,
    sort: str,
    limit: int | None,
    form: str | None,
) -> None:
    """List the stored cases.

    Name, id, state, time, machines, worst finding and counts of each.
    --since and --until look at a case's time: the newest moment in its material. A case that was read
    again with changed content is listed as it is now.

    \b
    Example:
      backline archive list --archive archive --severity major --since 2026
      backline archive list --archive archive --rule kb-2039495 --csv
    """

    wanted = browse.ListFilter(
        rule,
        severity,
        state,
        name,
        browse.parse_window(since, until),
        sort,
        former=list_replaced(rule),
    )
    notes: list[str] = []
    answer = browse.list_cases(open_archive(archive_url), wanted, notes=notes)
    count = print_rows(
        answer.head, answer.rows, form, limit, "cases", (browse.SHORT_HEAD, browse.shorten_row)
    )
    sys.stdout.flush()
    for note in [*([] if count else ["no case matches"]), *notes]:
        click.echo(for_terminal(note), err=True)
