"""`backline archive show`: the report of a stored case, or where it comes from."""

from __future__ import annotations

import click

from analyzer.archive import labels
from analyzer.archive.query import browse
from analyzer.archive.query.redacting import collect_names
from analyzer.commands.archived import archive_option, open_archive
from analyzer.commands.plain import speak_plainly
from analyzer.commands.redacting import RedactChoice, redact_form_options
from analyzer.commands.showing import form_option, show_form
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal


@click.command("show")
@click.argument("case")
@archive_option
@form_option("text")
@click.option(
    "--source", is_flag=True, help="Show its source, revisions and labels instead of the report."
)
@click.option("-v", "--verbose", count=True, help="-v shows evidence, -vv the whole trace.")
@redact_form_options
@speak_plainly
def command(
    case: str, archive_url: str, form: str | None, source: bool, verbose: int, redact: RedactChoice
) -> None:
    """Show the report of a stored case.

    CASE is its name, or the first characters of its id.

    \b
    Example:
      backline archive show acme-2291 --archive archive
      backline archive show 3fa91c --archive archive --format html > report.html
    """

    redaction = redact.begin_redaction(form=form) or redact.begin_handover(form)
    form = form or "text"
    archive = open_archive(archive_url)
    snapshot, found = browse.find_stored_case(archive, case)
    if source:
        if redaction is not None:
            raise UsageError(
                "--source tells where a case comes from",
                do="Leave --redact out, and keep the result.",
            )
        for line in browse.origin_lines(browse.find_origin(archive, snapshot, found)):
            click.echo(line)
        return
    if redaction is not None:
        collect_names(archive, [found], redaction)
        show_form(
            form, redaction.redact_taken(browse.read_document(archive, found)), verbose, redaction
        )
        return
    if form == "json":
        click.echo(browse.document_text(archive, found), nl=False)
        return
    show_form(form, browse.read_document(archive, found), verbose, None)
    for line in labels.label_lines(browse.labels_of(archive, found)) if form == "text" else ():
        click.echo(f"label: {for_terminal(line)}")
