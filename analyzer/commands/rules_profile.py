"""`backline rules profile`: what each rule costs on a case."""

from __future__ import annotations

import json
from pathlib import Path

import click

from analyzer.authoring.explain import profile, profile_text
from analyzer.authoring.explain.console import Console, announce_reading
from analyzer.authoring.select import select_rules
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import (
    BROKEN_RULE,
    DONE,
    Interrupt,
    check_paths,
    print_broken,
    speak_plainly,
)
from analyzer.runtime.errors import BacklineError


@click.command("profile")
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="PATH...",
    type=ANY_PATH,
)
@kb_option
@click.option(
    "--all", "everything", is_flag=True, help="Every rule, not only those of 10 ms and more."
)
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
@local_options
@speak_plainly
def command(
    paths: tuple[Path, ...],
    everything: bool,
    as_json: bool,
    choice: RuleChoice,
) -> None:
    """Time every rule on a case, slowest first.

    Log search and judging are timed separately.

    \b
    Example:
      backline rules profile esx-host.tgz --kb my-rules
    """

    check_paths(paths, BacklineError)
    local = choice.load_local(paths)
    catalog = select_rules((), choice.kb, examples=False, local=local, tuned=True)
    announce_reading(paths)
    with Interrupt() as stop:
        found = profile.profile_rules(paths, catalog)
        stop.raise_if_pressed()
    costs = found.costs if everything else profile.list_slow(found.costs)
    if as_json:
        click.echo(json.dumps(profile.make_record(found, costs), indent=1))
    else:
        Console().print_lines(profile_text.write_lines(found, costs))
    print_broken(catalog)
    click.get_current_context().exit(BROKEN_RULE if catalog.broken else DONE)
