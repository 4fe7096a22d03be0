"""`backline archive compact`: many stored cases in few objects, and what nobody needs swept away."""

from __future__ import annotations

import click

from analyzer.archive.upkeep.compaction import FEW, compact_archive
from analyzer.commands.archived import archive_option, open_archive
from analyzer.commands.counter import Counter
from analyzer.commands.plain import DONE, PARTIAL, speak_plainly
from analyzer.runtime.text import one_line

HOUR = 3600.0


@click.command("compact")
@archive_option
@click.option(
    "--target",
    type=click.IntRange(1, 10_000),
    default=500,
    show_default=True,
    help="Cases per segment.",
)
@click.option(
    "--all",
    "rewrite",
    is_flag=True,
    help="Also compact a few loose cases, and small or partly superseded segments.",
)
@click.option(
    "--older-than",
    type=click.FloatRange(0),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="Sweep only what is at least this old; newer objects may belong to a run.",
)
@click.option(
    "--drop-superseded",
    is_flag=True,
    help="Delete cases whose source was read again with changed content.",
)
@click.option("--quiet", is_flag=True, help="Print nothing but problems.")
@speak_plainly
def command(
    archive_url: str,
    target: int,
    rewrite: bool,
    older_than: float,
    drop_superseded: bool,
    quiet: bool,
) -> None:
    """Pack loose cases into segments, which are faster to search.

    It also removes leftovers of runs that were killed.
    Fewer than 50 loose cases (or fewer than --target) stay as they are: a segment takes about 45
    objects. A batch may run at the same time, and a kill at any moment leaves every case readable. A damaged case is
    named and left where it is; then the exit code is 5.

    \b
    Example:
      backline archive compact --archive archive
      backline archive compact --archive s3://bucket/cases --all
    """

    archive = open_archive(archive_url)
    few = min(FEW, target)
    with Counter("compacting", quiet) as counter:
        report = compact_archive(
            archive, target=target, few=few, all=rewrite, older_than=older_than * HOUR,
            drop_superseded=drop_superseded, progress=counter.show,
        )  # fmt: skip
    for name, why in sorted(report.damaged):
        click.echo(
            one_line(
                f"{name}: {why}. It was left unchanged; `backline archive verify` says what to do."
            )
        )
    if report.busy:
        click.echo(
            "backline: another compaction is running on this archive, so nothing was done", err=True
        )
    elif not quiet and not (report.cases or report.packs or report.swept or report.damaged):
        click.echo(_describe_left(report.left) if report.left else "nothing to do")
    elif not quiet:
        click.echo(
            f"{report.cases:,} cases into {report.segments:,} segment{'s' * (report.segments != 1)}, "
            f"{report.packs:,} packs deleted, {report.swept:,} objects swept"
        )
        if report.left:
            click.echo(_describe_left(report.left))
    click.get_current_context().exit(PARTIAL if report.damaged else DONE)


def _describe_left(left: int) -> str:
    return f"{left} loose case{'s' * (left != 1)} left as they are, too few for a segment (--all combines them)"
