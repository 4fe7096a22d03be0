"""`backline rules lint`: every complaint about rule files in one run."""

from __future__ import annotations

import click

from analyzer.authoring.lint import codes as lint_codes
from analyzer.authoring.lint import printing as lint_print
from analyzer.authoring.lint import run as lint
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.places import RuleName
from analyzer.commands.plain import DONE, FAILED, speak_plainly
from analyzer.runtime.text import for_terminal


@click.command("lint")
@click.argument("rules", nargs=-1, type=RuleName(), metavar="[RULES]...")
@kb_option
@click.option(
    "--thorough", is_flag=True, help="Also run the examples and move every threshold; takes longer."
)
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings as well.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "github")),
    default="text",
    show_default=True,
    help="For people, for programs, or as annotations of a GitHub workflow.",
)
@click.option("--explain", metavar="CODE", help="Print the page of a code and do nothing else.")
@local_options
@speak_plainly
def command(
    rules: tuple[str, ...],
    thorough: bool,
    strict: bool,
    form: str,
    explain: str | None,
    choice: RuleChoice,
) -> None:
    """Check rules as a careful reviewer would.

    RULES are ids, files or folders; without them, all rules except those of packs.
    Exits with 1 when there is an error. A comment `# lint: allow R014 because <reason>` on the line above
    silences one complaint.

    \b
    Example:
      backline rules lint my-rules/kb-2039495.yaml --thorough
      backline rules lint --explain R014
    """

    if explain is not None:
        click.echo(for_terminal(lint_codes.read_page(explain)), nl=False)
        return
    local = choice.load_local()
    files = lint.choose_files(rules, choice.kb, local)
    complaints = lint.check_files(files, choice.kb, thorough=thorough, local=local)
    if form == "json":
        click.echo(lint_print.write_json(len(files), complaints), nl=False)
    elif form == "github":
        click.echo(lint_print.write_github(complaints), nl=False)
        click.echo(lint_print.write_summary(len(files), complaints), err=True)
    else:
        click.echo(lint_print.write_text(complaints), nl=False)
        click.echo(lint_print.write_summary(len(files), complaints))
    bad = any(one.level == "error" or (strict and one.level == "warning") for one in complaints)
    click.get_current_context().exit(FAILED if bad else DONE)
