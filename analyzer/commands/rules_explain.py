"""`backline rules explain`: why a rule says what it says of a case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.authoring.explain import casework, explain, explain_text
from analyzer.authoring.explain.console import Console, announce_reading
from analyzer.authoring.select import select_rules
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.places import ANY_PATH, RuleName
from analyzer.commands.plain import (
    BROKEN_RULE,
    DONE,
    FAILED,
    Interrupt,
    check_paths,
    print_broken,
    speak_plainly,
)
from analyzer.runtime.errors import BacklineError, UsageError

if TYPE_CHECKING:
    from analyzer.authoring.explain.explain import Explanation
    from analyzer.rules.run_catalog import Local


@click.command("explain")
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
    metavar="TEXT",
    help="Only subjects that contain TEXT; a single one with its whole tree.",
)
@kb_option
@click.option(
    "-v", "--verbose", count=True, help="-v shows the lines of evidence, -vv the whole trees."
)
@click.option("--all", "everything", is_flag=True, help="Every subject, not only the first twenty.")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
@local_options
@speak_plainly
def command(
    rule: str,
    paths: tuple[Path, ...],
    subject: str | None,
    verbose: int,
    everything: bool,
    as_json: bool,
    choice: RuleChoice,
) -> None:
    """Explain why a rule matches a case, or why not.

    For every subject of RULE (an id or a file) it says why, and what was missing.
    PATH is a bundle, a file or a folder; for a case.json, the stored findings are shown.

    \b
    Example:
      backline rules explain kb-2039495 esx-host.tgz
      backline rules explain my-rules/kb-2039495.yaml esx-host.tgz --subject lin-rx
    """

    check_paths(paths, BacklineError)
    local = choice.load_local(paths)
    with Interrupt() as stop:
        found = _explain_rule(rule, paths, choice.kb, local)
        stop.raise_if_pressed()
    subjects = explain.find_subjects(found, subject) if subject is not None else None
    if as_json:
        click.echo(json.dumps(explain.make_record(found, subjects), indent=1))
    else:
        console = Console()
        depth = 2 if subjects is not None and len(subjects) == 1 else verbose
        most = 0 if everything else explain_text.SHOWN
        console.print_lines(
            explain_text.write_lines(found, subjects, depth=depth, most=most, width=console.width)
        )
    click.get_current_context().exit(FAILED if found.failed else DONE)


def _explain_rule(
    rule: str, paths: tuple[Path, ...], kb: tuple[Path, ...], local: Local
) -> Explanation:
    document = explain.load_case(paths)
    try:
        catalog = select_rules([rule], kb, examples=False, local=local, tuned=True)
    except UsageError:
        if document is not None and explain.is_named(rule, document):  # a rule of another desk
            return explain.explain_stored(rule, "", document, str(paths[0]))
        raise
    print_broken(catalog)
    if catalog.broken:
        click.get_current_context().exit(BROKEN_RULE)
    if len(catalog.rules) != 1:
        raise UsageError(
            f"`{rule}` matches {len(catalog.rules)} rules",
            do="Name one rule by its id or its file.",
        )
    one = catalog.rules[0]
    if document is not None:
        return explain.explain_stored(one.id, one.title, document, str(paths[0]))
    announce_reading(paths)
    return explain.explain_rule(one, casework.read_case(paths, catalog.signatures()))
