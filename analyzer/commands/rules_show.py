"""`backline rules show`: a rule in plain words."""

from __future__ import annotations

import shutil
import textwrap

import click

from analyzer.authoring.pages.telling import Exact, describe_rule
from analyzer.authoring.select import select_rules
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.places import RuleName
from analyzer.commands.plain import BROKEN_RULE, DONE, print_broken, speak_plainly
from analyzer.runtime.text import for_terminal

WIDEST = 110


@click.command("show")
@click.argument("rule", type=RuleName())
@kb_option
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Also notes, evidence, the columns, and the examples in full.",
)
@local_options
@speak_plainly
def command(rule: str, verbose: int, choice: RuleChoice) -> None:
    """Show a rule in plain words.

    What RULE (an id or a file) looks at, when it matches, what it says and what to do.

    \b
    Example:
      backline rules show kb-2039495
    """

    local = choice.load_local()
    catalog = select_rules(
        (rule,), choice.kb, examples=False, local=local, tuned=True, retired=True
    )
    width = min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)
    for number, one in enumerate(catalog.rules):
        if number:
            click.echo("")
        for line in describe_rule(one, local.settings, verbose):
            shown = for_terminal(line)
            click.echo(shown if isinstance(line, Exact) else _wrap_line(shown, width))
    print_broken(catalog)
    click.get_current_context().exit(BROKEN_RULE if catalog.broken else DONE)


def _wrap_line(line: str, width: int) -> str:
    """Return a line folded between words, its further rows indented two signs more than the first."""
    indent = " " * (len(line) - len(line.lstrip()))
    rows = textwrap.wrap(
        line.strip(),
        max(40, width),
        initial_indent=indent,
        subsequent_indent=f"{indent}  " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(rows)
