"""`backline rules watch`: judge a rule again at every save."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.authoring.explain import watch, watch_text
from analyzer.authoring.explain.console import Console, announce_reading
from analyzer.authoring.explain.watch import RuleSession, watch_saves
from analyzer.authoring.lint import run as lint
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.places import ANY_PATH, RuleName
from analyzer.commands.plain import (
    BROKEN_RULE,
    DONE,
    FAILED,
    Interrupt,
    check_paths,
    speak_plainly,
)
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.authoring.explain.watch import WatchRun


@click.command("watch")
@click.argument("rule", type=RuleName())
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="PATH...",
    type=ANY_PATH,
)
@click.option(
    "--subject",
    default="",
    metavar="TEXT",
    help="Show the tree of the first subject that contains TEXT.",
)
@kb_option
@click.option(
    "--once", is_flag=True, help="Run once and end: 4 for a broken file, 1 for a failing example."
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each run.")
@local_options
@speak_plainly
def command(
    rule: str,
    paths: tuple[Path, ...],
    subject: str,
    once: bool,
    as_json: bool,
    choice: RuleChoice,
) -> None:
    """Judge a rule over a case again after every save.

    The case PATH... is read once. RULE is an id or a file.
    Shows the verdicts, the tree of one subject, near misses, the rule's own examples, mistakes with
    their place, and how long it took. Ctrl-C ends it.

    \b
    Example:
      backline rules watch my-rules/kb-2039495.yaml esx-host.tgz --subject lin-rx
    """

    check_paths(paths, BacklineError)
    local = choice.load_local(paths)
    files = lint.choose_files([rule], [*local.settings.kb, *choice.kb])
    if len(files) != 1:
        raise UsageError(
            f"`{rule}` matches {len(files)} rules", do="Name one rule by its id or its file."
        )
    session = RuleSession(files[0], paths, choice.kb, subject=subject, local=local)
    show = _make_printer(as_json=as_json)
    announce_reading(paths)
    with Interrupt() as stop:
        shown = session.run()
        stop.raise_if_pressed()
    show(shown)
    if not once:
        _watch_saves(session, show)
    session.close()
    click.get_current_context().exit(_find_status(shown) if once else DONE)


def _watch_saves(session: RuleSession, show: Callable[[WatchRun], None]) -> None:
    """Run at every save until Ctrl-C, which is the way to end it and no failure."""

    try:
        with Interrupt() as stop:
            click.echo(f"watching {for_terminal(str(session.path))}; Ctrl-C ends", err=True)
            for _ in watch_saves(session.path, session.digest):
                shown = session.run()
                stop.raise_if_pressed()
                show(shown)
    except KeyboardInterrupt:
        click.echo("", err=True)


def _make_printer(*, as_json: bool) -> Callable[[WatchRun], None]:
    if as_json:
        return lambda shown: click.echo(json.dumps(watch.record_run(shown)))
    console = Console()

    def show(shown: WatchRun) -> None:
        console.clear_page()
        console.print_lines(watch_text.write_lines(shown, console.width))

    return show


def _find_status(shown: WatchRun) -> int:
    if shown.state == "broken":
        return BROKEN_RULE
    failed = shown.explanation is not None and shown.explanation.failed
    return FAILED if failed or shown.failing else DONE
