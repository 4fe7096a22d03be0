"""`backline tables`: what was parsed, with the origin of every row."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.made_pages import make_tables_page, printing_option
from analyzer.commands.places import InputPath, parse_moment
from analyzer.commands.plain import DONE, PARTIAL, check_paths, speak_plainly
from analyzer.commands.standard_input import open_standard_input
from analyzer.merged_log.around import center_window, parse_span
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.text import count_noun, for_terminal
from analyzer.views.tableview import RowFilter, print_coverage, print_table, write_parquet

if TYPE_CHECKING:
    from analyzer.sources.remote import Place

SHOWN_FAULTS = 3  # faults of the material


@click.command("tables")
@click.argument("path", type=InputPath())
@click.argument("table", required=False)
@click.option("--csv", "form", flag_value="csv", help="Rows as CSV, safe for a spreadsheet.")
@click.option("--json", "form", flag_value="json", help="Rows as JSON.")
@click.option(
    "--parquet", metavar="FILE", type=click.Path(path_type=Path), help="Write the rows as Parquet."
)
@click.option(
    "--node",
    multiple=True,
    metavar="NAME",
    help="Only rows of this machine; * and ? are wildcards.",
)
@click.option(
    "--where",
    default="",
    metavar="SQL",
    help='Only rows for which this is true: "speed_mbps < 10000".',
)
@click.option(
    "--around",
    metavar="TIME",
    callback=parse_moment,
    help="Only rows with a time near this one (UTC).",
)
@click.option(
    "--for",
    "length",
    default="10m",
    show_default=True,
    metavar="SPAN",
    help="How long that stretch is.",
)
@click.option(
    "--limit",
    "most",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Show at most N rows; 0 for all.",
)
@printing_option(
    "--doc", make_tables_page, "Print a page of all tables there are, with their columns and units."
)
@speak_plainly
def command(
    path: Place,
    table: str | None,
    form: str | None,
    parquet: Path | None,
    node: tuple[str, ...],
    where: str,
    around: str,
    length: str,
    most: int,
) -> None:
    """List the tables that were read, or print one.

    Each row of TABLE comes with its file and line. `-` is standard input. --doc needs no PATH.

    \b
    Example:
      backline tables esx-host.tgz esxi.net_stats --csv
      backline tables esx-host.tgz esxi.vmkernel --around 2017-10-14T09:12:46Z --where "level = 'warning'"
      backline tables --doc
    """

    since = until = None
    if around:
        stretch = center_window(datetime.fromisoformat(around), parse_span(length))
        since, until = stretch.start, stretch.end
    wanted = RowFilter(nodes=node, where=where, since=since, until=until, most=most)
    if table is None and (wanted or parquet):
        raise UsageError("these options need a table", do="Name the table after the path.")
    with open_standard_input((path,)) as (given,):
        check_paths((given,), BacklineError)
        if table is None:
            lost = print_coverage(given, form)
        elif parquet is not None:
            count, lost = write_parquet(given, table, parquet, wanted)
            click.echo(f"{for_terminal(str(parquet))}: {count_noun(count, 'row')}")
        else:
            lost = print_table(given, table, form, wanted)
    for line in lost[:SHOWN_FAULTS]:
        click.echo(f"backline: {for_terminal(line)}", err=True)
    if len(lost) > SHOWN_FAULTS:
        click.echo(
            f"backline: and {len(lost) - SHOWN_FAULTS:,} more; `backline triage` lists them",
            err=True,
        )
    click.get_current_context().exit(PARTIAL if lost else DONE)
