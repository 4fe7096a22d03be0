"""`backline rules backtest`: rules over all stored cases, against their released versions and against labels."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.archive.backtests import against as other
from analyzer.archive.backtests import backtest
from analyzer.archive.backtests import text as backtest_text
from analyzer.archive.backtests.backtest import BacktestRequest
from analyzer.archive.query import browse
from analyzer.authoring.select import select_rules
from analyzer.commands.archived import archive_option, open_archive, time_options
from analyzer.commands.counter import Counter
from analyzer.commands.local import RuleChoice, local_options
from analyzer.commands.places import RuleName
from analyzer.commands.plain import DONE, FAILED, PARTIAL, Interrupt, require_sound, speak_plainly
from analyzer.rules import run_catalog
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
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
@speak_plainly
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

    asked = _read_requests(rules, choice.kb, choice.load_local(), against)
    archive = open_archive(archive_url)
    window = browse.parse_window(since, until)
    with Interrupt() as stop, Counter("judging", silent=False) as bar:
        reports = backtest.backtest_rules(
            asked, archive, cases=cases, window=window, jobs=jobs, progress=bar.show
        )
        stop.raise_if_pressed()
    if as_json:
        click.echo(json.dumps([report.to_record() for report in reports], indent=1))
    else:
        most = 0 if everything else backtest_text.SHOWN
        for number, report in enumerate(reports):
            click.echo("\n" if number else "", nl=False)
            for line in backtest_text.format_report(report, most):
                click.echo(for_terminal(line))
    status = DONE
    if fail_on_lost and any(report.has_failed for report in reports):
        status = FAILED
    elif any(report.damaged for report in reports):
        status = PARTIAL
    click.get_current_context().exit(status)


def _read_requests(
    names: tuple[str, ...], kb: tuple[Path, ...], local: Local, against: str
) -> list[BacktestRequest]:
    """Return the rules with those they are compared with; a broken rule ends the command."""

    catalog = require_sound(select_rules(names, kb, examples=False, local=local, tuned=True))
    if not catalog.rules:
        raise UsageError("there is no rule to judge", do="Name a rule by its id or its file.")
    chosen = {rule.id: rule for rule in catalog.rules}
    plain = replace(local, settings=replace(local.settings, kb=()))
    if against:
        others = require_sound(other.find_catalog(against, list(chosen.values()), plain))
    else:
        others = run_catalog.load_run_catalog(plain, drafts=True, retired=True, tuned=False)
    by_id = {rule.id: rule for rule in others.rules}
    if against and not by_id.keys() & chosen.keys():
        why = f"it holds none of {', '.join(sorted(chosen)[:5])}"
        raise UsageError(
            "there is nothing to compare with", where=against, why=why, do="Check what it names."
        )
    return [BacktestRequest(rule, by_id.get(rule.id), against) for rule in chosen.values()]
