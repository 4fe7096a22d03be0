"""`backline rules list`: the catalog, one line a rule."""

from __future__ import annotations

from collections import Counter

import click

from analyzer.authoring.pages import listing, stale
from analyzer.authoring.select import select_rules
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.plain import BROKEN_RULE, DONE, print_broken, speak_plainly
from analyzer.rules import Catalog
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.rules.settings import Settings
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import count_noun, for_terminal

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
@click.option(
    "--stale",
    "days",
    type=click.IntRange(0, 36_500),
    metavar="DAYS",
    help="Rules and tables of facts whose sources were last read longer ago, or never.",
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
    days: int | None,
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
      backline rules list --stale 365
    """

    local = choice.load_local()
    catalog = select_rules(
        (), choice.kb, examples=False, local=local, tuned=True, retired=status == "retired"
    )
    if table is not None and table not in catalog.tables:
        raise UsageError(f"no parser makes table {table}", do=did_you_mean(table, catalog.tables))
    wanted = listing.RuleFilter(status or "", table or "", product or "", owner, tags)
    if days is not None:
        show_stale(catalog, days, wanted, form)
    else:
        show_rules(catalog, local.settings, wanted, form, verbose)
    print_broken(catalog)
    click.get_current_context().exit(BROKEN_RULE if catalog.broken else DONE)


def show_stale(catalog: Catalog, days: int, wanted: listing.RuleFilter, form: str | None) -> None:
    """Print what was not read against its sources for that many days."""
    meant = stale.filter_stale(catalog, wanted)
    found = stale.list_stale(catalog, days, stale.read_today(), meant)
    if form is not None:
        click.echo(listing.as_json(found) if form == "json" else stale.as_csv(found), nl=False)
        return
    for line in stale.as_text(found):
        click.echo(line)
    counts = Counter(entry.kind for entry in found)
    rules = count_noun(counts[stale.RULE], "rule")
    tables = count_noun(counts[stale.FACTS], "table of facts", "tables of facts")
    click.echo(f"\n{rules} and {tables} not read for {count_noun(days, 'day')}")


def show_rules(
    catalog: Catalog, settings: Settings, wanted: listing.RuleFilter, form: str | None, verbose: int
) -> None:
    """Print the rules that are meant, a line a rule or in a form for other programs."""
    rows = listing.list_rows(catalog, settings, wanted)
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
