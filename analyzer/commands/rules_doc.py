"""`backline rules doc`: pages about rules and tables in Markdown."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.authoring.pages import pages
from analyzer.authoring.select import select_rules
from analyzer.commands.local import kb_option
from analyzer.commands.places import ANY_PATH, RuleName
from analyzer.commands.plain import BROKEN_RULE, DONE, check_paths, speak_plainly
from analyzer.commands.showing import write_text
from analyzer.runtime.errors import UsageError
from analyzer.runtime.output import check_folder, write_all
from analyzer.runtime.text import for_terminal, one_line


@click.command("doc")
@click.argument("rules", nargs=-1, type=RuleName(), metavar="[RULES]...")
@click.option(
    "-o",
    "--output",
    type=ANY_PATH,
    help="Folder for the two pages.",
)
@kb_option
@speak_plainly
def command(rules: tuple[str, ...], output: Path | None, kb: tuple[Path, ...]) -> None:
    """Describe rules in Markdown.

    RULES are ids, files or folders; without them, the whole catalog.
    With -o, writes the pages rules.md and tables.md into a folder; otherwise prints the page of the rules.

    \b
    Example:
      backline rules doc --kb my-rules -o pages
      backline rules doc my-rules
    """

    check_paths(kb, UsageError)
    catalog = select_rules(rules, kb, retired=True)
    page = pages.rules_page(catalog)
    if output is None:
        write_text(page)
    else:
        texts = {
            "rules.md": page,
            "tables.md": pages.tables_page(catalog.tables, pages.RULES_COMMAND),
        }
        check_folder(output, tuple(texts))
        write_all(output, texts)
        click.echo("\n".join(f"written: {one_line(str(output / name))}" for name in texts))
    for error in catalog.broken:
        click.echo(for_terminal(str(error)), err=True)
    click.get_current_context().exit(BROKEN_RULE if catalog.broken else DONE)
