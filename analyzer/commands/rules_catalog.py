"""`backline rules catalog`: what the tables of facts know, and how new they are."""

from __future__ import annotations

import click

from analyzer.authoring.pages import fact_listing, listing
from analyzer.authoring.select import select_rules
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.plain import BROKEN_RULE, DONE, print_broken, speak_plainly


@click.command("catalog")
@kb_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@local_options
@speak_plainly
def command(as_json: bool, choice: RuleChoice) -> None:
    """Show what each table of facts knows, and its date.

    The rows of each table, the releases or things it speaks of, its newest
    day, and the day on which its sources were last read. What is newer than
    that day is "cannot tell".

    \b
    Example:
      backline rules catalog
    """

    catalog = select_rules((), choice.kb, examples=False, local=choice.load_local(), tuned=True)
    listed = fact_listing.list_facts(catalog.tables)
    if as_json:
        click.echo(listing.as_json(listed), nl=False)
    else:
        for line in fact_listing.write_lines(listed):
            click.echo(line)
    print_broken(catalog)
    click.get_current_context().exit(BROKEN_RULE if catalog.broken else DONE)
