"""`backline rules backtest`: rules over all stored cases, against their released versions and against labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.archived import archive_option, opened, time_options
from analyzer.commands.counter import Counter
from analyzer.commands.local import RuleChoice, local_options
from analyzer.commands.places import RuleName
from analyzer.commands.plain import DONE, FAILED, PARTIAL, Interrupt, sound, speaks_plainly
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from analyzer.archive.backtests.backtest import BacktestRequest
    from analyzer.archive.backtests.report import BacktestReport
    from analyzer.rules import Catalog, Rule
    from analyzer.rules.run_catalog import Local


@click.command("backtest")
@click.argument("rules", nargs=-1, required=True, type=RuleName(), metavar="RULE...")
@archive_option
@click.option(
    "--kb",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="More rules: a folder.",
)
@click.option(
    "--against",
    default="",
    metavar="FOLDER|REF",
    help="Compare with the rules of a folder or a git commit.",
)
@click.option("--cases", default="", metavar="GLOB", help="Only cases with names like acme-*.")
@time_options
@click.option(
    "--jobs",
    type=click.IntRange(0, 256),
    default=0,
    metavar="N",
    help="Processes; 0 for one per processor.",
)
@click.option(
    "--fail-on-lost",
    is_flag=True,
    help="Exit 1 when a confirmed finding is lost or a rejected one gained.",
)
@click.option(
    "--all", "everything", is_flag=True, help="All items of each list, not only the first five."
)
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
@local_options
@speaks_plainly
def command(
    rules: tuple[str, ...],
    archive_url: str,
    against: str,
    cases: str,
    since: str,
    until: str,
    jobs: int,
    fail_on_lost: bool,
    everything: bool,
    as_json: bool,
    choice: RuleChoice,
) -> None:
    """Judge rules over all stored cases.

    It says what RULES (ids or files) find, what changed, and how often they are right.
    A file is compared with the installed rule of the same id over the same cases, or with the one from
    --against: a folder, or a commit of the git repository that holds the file. Confirmed and
    rejected findings (`backline archive label`) give the precision. --since and --until look at a
    case's time: the newest moment in its material.

    \b
    Example:
      backline rules backtest my-rules/kb-2039495.yaml --archive archive
      backline rules backtest kb-2039495 --archive archive --since 2026 --json
      backline rules backtest my-rules --against HEAD~1 --archive archive --fail-on-lost
    """
    from analyzer.archive.backtests import backtest
    from analyzer.archive.query import browse

    asked = _asked(rules, choice.kb, choice.local(), against)
    archive = opened(archive_url)
    window = browse.window(since, until)
    with Interrupt() as stop, Counter("judging", silent=False) as bar:
        reports = backtest.backtest(
            asked, archive, cases=cases, window=window, jobs=jobs, progress=bar.show
        )
        stop.check()
    if as_json:
        click.echo(json.dumps([report.record() for report in reports], indent=1))
    else:
        _print(reports, everything=everything)
    click.get_current_context().exit(_status(reports, fail_on_lost=fail_on_lost))


def _status(reports: Sequence[BacktestReport], *, fail_on_lost: bool) -> int:
    if fail_on_lost and any(report.failed for report in reports):
        return FAILED
    return PARTIAL if any(report.damaged for report in reports) else DONE


def _print(reports: Sequence[BacktestReport], *, everything: bool) -> None:
    from analyzer.archive.backtests import text as backtest_text

    for number, report in enumerate(reports):
        click.echo("\n" if number else "", nl=False)
        for line in backtest_text.lines(report, 0 if everything else backtest_text.SHOWN):
            click.echo(for_terminal(line))


def _asked(
    names: tuple[str, ...], kb: tuple[Path, ...], local: Local, against: str
) -> list[BacktestRequest]:
    """Return the rules with those they are compared with; a broken rule ends the command."""
    from analyzer.archive.backtests.backtest import BacktestRequest
    from analyzer.authoring.select import select

    catalog = sound(select(names, kb, examples=False, local=local, tuned=True))
    if not catalog.rules:
        raise UsageError("there is no rule to judge", do="Name a rule by its id or its file.")
    chosen = {rule.id: rule for rule in catalog.rules}
    by_id = {rule.id: rule for rule in _others(list(chosen.values()), local, against).rules}
    if against and not by_id.keys() & chosen.keys():
        why = f"it holds none of {', '.join(sorted(chosen)[:5])}"
        raise UsageError(
            "there is nothing to compare with", where=against, why=why, do="Check what it names."
        )
    return [BacktestRequest(rule, by_id.get(rule.id), against) for rule in chosen.values()]


def _others(chosen: list[Rule], local: Local, against: str) -> Catalog:
    """Return the rules that others are compared with: installed ones, or those of --against."""
    from analyzer.archive.backtests import against as other
    from analyzer.rules import run_catalog

    settings = replace(local.settings, kb=())
    if not against:
        return run_catalog.load_run_catalog(
            replace(local, settings=settings), drafts=True, retired=True, tuned=False
        )
    return sound(other.catalog(against, chosen, replace(local, settings=settings)))
