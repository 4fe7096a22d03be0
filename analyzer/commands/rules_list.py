"""`backline rules list`: the catalog, one line a rule."""

from __future__ import annotations

import click

from analyzer.authoring.pages import listing
from analyzer.authoring.select import select_rules
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.plain import BROKEN_RULE, DONE, print_broken, speak_plainly
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal

STATUSES = ("draft", "test", "stable", "retired")
PRODUCTS = ("esxi", "esxtop", "guest", "nsx", "nsxt")


@click.command("list")
@kb_option
@click.option(
    "--status", type=click.Choice(STATUSES), help="Only rules of this status; else all but retired."
)
@click.option("--table", metavar="T", help="Only rules that look at this table.")
@click.option(
    "--product",
    type=click.Choice(PRODUCTS),
    help="Only rules about this product or over its tables.",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Only rules with this tag; several: with all.",
)
@click.option(
    "--owner", metavar="NAME", default="", help="Only rules of this owner, in upper or lower case."
)
@click.option("--json", "form", flag_value="json", help="One JSON object per line.")
@click.option("--csv", "form", flag_value="csv", help="CSV, safe for a spreadsheet.")
@click.option("-v", "--verbose", count=True, help="Also the tables, and where the rules come from.")
@local_options
@speak_plainly
def command(
    status: str | None,
    table: str | None,
    product: str | None,
    tags: tuple[str, ...],
    owner: str,
    form: str | None,
    verbose: int,
    choice: RuleChoice,
) -> None:
    """List the rules.

    Those that come with Backline, and those of packs, settings and --kb; drafts too.

    \b
    Example:
      backline rules list --product nsx
      backline rules list --table esxi.net_stats --csv
      backline rules list --tag packet-loss --owner "network team"
    """

    local = choice.load_local()
    catalog = select_rules(
        (), choice.kb, examples=False, local=local, tuned=True, retired=status == "retired"
    )
    if table is not None and table not in catalog.tables:
        raise UsageError(f"no parser makes table {table}", do=did_you_mean(table, catalog.tables))
    wanted = listing.RuleFilter(status or "", table or "", product or "", owner, tags)
    rows = listing.list_rows(catalog, local.settings, wanted)
    if form is not None:
        click.echo(listing.as_json(rows) if form == "json" else listing.as_csv(rows), nl=False)
    else:
        for line in listing.as_text(rows, verbose):
            click.echo(line)
        count = (
            f"{len(rows)} of {len(catalog.rules)} rules"
            if len(rows) < len(catalog.rules)
            else f"{len(rows)} rules"
        )
        click.echo(f"\n{count}")
        for line in listing.list_sources(catalog) if verbose or len(catalog.sources) > 1 else ():
            click.echo(for_terminal(line))
    print_broken(catalog)
    click.get_current_context().exit(BROKEN_RULE if catalog.broken else DONE)
