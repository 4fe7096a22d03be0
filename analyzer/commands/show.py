"""`backline show`: a saved case again, as text or in a form for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.case import case_file
from analyzer.commands.made_pages import make_case_schema, printing_option
from analyzer.commands.plain import check_paths, speak_plainly
from analyzer.commands.redacting import RedactChoice, redact_form_options
from analyzer.commands.showing import (
    FormHead,
    ShownPart,
    form_option,
    heading_options,
    part_options,
    show_form,
)
from analyzer.commands.standard_input import open_standard_input
from analyzer.runtime.errors import BacklineError


@click.command("show")
@click.argument("case_json", type=click.Path(path_type=Path, readable=False, allow_dash=True))
@form_option("text")
@part_options
@click.option("-v", "--verbose", count=True, help="-v shows evidence, -vv the whole trace.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also lines that look bad and are harmless, with their number.",
)
@printing_option("--schema", make_case_schema, "Print the JSON Schema of case.json.")
@heading_options
@redact_form_options
@speak_plainly
def command(
    case_json: Path,
    form: str | None,
    part: ShownPart,
    verbose: int,
    everything: bool,
    redact: RedactChoice,
    head: FormHead,
) -> None:
    """Print a saved case again, in any form; no bundle is needed.

    PATH is its case.json, or the folder that triage wrote. --schema needs none.

    \b
    Example:
      backline show case-1234/case.json --format md
      backline show case-1234 --format mail --sr 12345678 --language de
      backline show case-1234/case.json --format llm
      backline show --schema
    """

    head.check_form(form, redacted=redact.on)
    with open_standard_input((case_json,)) as (path,):
        check_paths((path,), BacklineError)
        redaction = redact.begin_redaction(form=form)
        handed = redact.begin_handover(form)
        document = case_file.read_case(path)
    if redaction is None and not document.case.masked:
        redaction = handed
    if redaction is not None:
        document = redaction.redact_document(document)
    show_form(
        form or "text",
        part.cut_document(document, redaction),
        verbose,
        redaction,
        everything=everything,
        head=head,
    )
