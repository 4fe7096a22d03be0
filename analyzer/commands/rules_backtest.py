"""`backline rules backtest`: rules over all stored cases, against their released versions and against labels."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.archived import archive_option, opened, time_options
from analyzer.commands.local import local_of, local_options
from analyzer.commands.plain import BROKEN_RULE, DONE, FAILED, PARTIAL, Stop, check_paths, speaks_plainly
from analyzer.errors import UsageError
from analyzer.text import for_terminal

if TYPE_CHECKING:
    from analyzer.archive.backtests.backtest import Asked
    from analyzer.catalogs import Local


@click.command("backtest")
@click.argument("rules", nargs=-1, required=True, metavar="RULE...")
@archive_option
@click.option("--kb", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Where else rules lie.")
@click.option("--cases", default="", metavar="GLOB", help="Only cases with names like acme-*.")
@time_options
@click.option("--jobs", type=click.IntRange(0, 256), default=0, metavar="N", help="Processes; 0 for one a processor.")
@click.option("--fail-on-lost", is_flag=True, help="Exit 1 when a confirmed finding is lost or a rejected one gained.")
@click.option("--all", "everything", is_flag=True, help="All items of each list, not only the first five.")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
@local_options
@speaks_plainly
def command(
    rules: tuple[str, ...],
    archive_url: str,
    kb: tuple[Path, ...],
    cases: str,
    since: str,
    until: str,
    jobs: int,
    fail_on_lost: bool,
    everything: bool,
    as_json: bool,
    settings_file: Path | None,
    no_settings: bool,
    no_packs: bool,
) -> None:
    """Judge RULE... (ids or files) over the stored cases: what they find, what changed, and how right they are.

    A file is compared with the installed rule of the same id over the same cases. Confirmed and
    rejected findings (`backline archive label`) give the precision. --since and --until look at a
    case's time: the newest moment in its material.

    \b
    Example:
      backline rules backtest my-rules/kb-2039495.yaml --archive archive
      backline rules backtest kb-2039495 --archive archive --since 2026 --json
    """
    from analyzer.archive.backtests import backtest
    from analyzer.archive.backtests import text as backtest_text
    from analyzer.archive.questions import browse

    check_paths(kb, UsageError)
    local = local_of(settings_file, no_settings, no_packs)
    asked = _asked(rules, kb, local)
    archive = opened(archive_url)
    window = browse.window(since, until)
    with Stop() as stop:
        reports = backtest.backtest(asked, archive, cases=cases, window=window, jobs=jobs, progress=_progress())
        stop.check()
    if as_json:
        click.echo(json.dumps([report.record() for report in reports], indent=1))
    else:
        for number, report in enumerate(reports):
            click.echo("\n" if number else "", nl=False)
            for line in backtest_text.lines(report, 0 if everything else backtest_text.SHOWN):
                click.echo(for_terminal(line))
    failed = fail_on_lost and any(report.failed for report in reports)
    damaged = any(report.damaged for report in reports)
    click.get_current_context().exit(FAILED if failed else PARTIAL if damaged else DONE)


def _asked(names: tuple[str, ...], kb: tuple[Path, ...], local: Local) -> list[Asked]:
    """Return the rules with the installed ones of the same ids; a broken rule ends the command."""
    from analyzer import catalogs
    from analyzer.archive.backtests.backtest import Asked
    from analyzer.authoring.select import select

    catalog = select(names, kb, examples=False, local=local, tuned=True)
    for error in catalog.broken:
        click.echo(f"backline: {for_terminal(str(error))}", err=True)
    if catalog.broken:
        click.get_current_context().exit(BROKEN_RULE)
    if not catalog.rules:
        raise UsageError("there is no rule to judge", do="Name a rule by its id or its file.")
    settings = replace(local.settings, kb=())
    installed = catalogs.load(replace(local, settings=settings), drafts=True, retired=True, tuned=False)
    by_id = {rule.id: rule for rule in installed.rules}
    return [Asked(rule, by_id.get(rule.id)) for rule in {rule.id: rule for rule in catalog.rules}.values()]


def _progress() -> Callable[[int, int], None]:
    """Return what tells of progress on a terminal; without one nothing does."""
    if not sys.stderr.isatty():
        return lambda _done, _total: None

    def tell(done: int, total: int) -> None:
        end = "\r" + " " * 40 + "\r" if done >= total else ""
        click.echo(f"\rjudged {done:,} of {total:,} cases{end}", nl=False, err=True)

    return tell
