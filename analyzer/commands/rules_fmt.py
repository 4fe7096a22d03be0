"""`backline rules fmt`: format rule files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from analyzer.authoring.fmt import layout as fmt
from analyzer.authoring.fmt.layout import format_rule
from analyzer.authoring.lint.run import choose_files
from analyzer.commands.local import kb_option
from analyzer.commands.places import RuleName
from analyzer.commands.plain import BROKEN_RULE, DONE, FAILED, check_paths, speak_plainly
from analyzer.runtime.errors import BacklineError, RuleFileError, UsageError
from analyzer.runtime.text import for_terminal, one_line


@click.command("fmt")
@click.argument("rules", nargs=-1, type=RuleName(), metavar="[RULES]...")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 when a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@kb_option
@speak_plainly
def command(rules: tuple[str, ...], check: bool, diff: bool, kb: tuple[Path, ...]) -> None:
    """Format rules: order of keys, blank lines, indent, width.

    The meaning of a rule does not change, and no comment is lost. `-` reads from standard input and prints the
    result, for editors. A symbolic link is never written through.

    \b
    Example:
      backline rules fmt my-rules/kb-2039495.yaml
      backline rules fmt my-rules --check
      backline rules fmt my-rules --diff
    """

    ctx = click.get_current_context()
    check_paths(kb, UsageError)
    if rules == ("-",):
        try:
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError("standard input is not UTF-8", why=f"at byte {error.start}") from None
        result = format_rule(text, "standard input")
        if not check:
            sys.stdout.buffer.write(result.encode())
        ctx.exit(FAILED if check and result != text else DONE)
    if not rules and not kb:
        raise UsageError(
            "no rule is named",
            do="Give files, folders or ids, as in `backline rules fmt my-rules`.",
        )
    ctx.exit(_format_files(rules, kb, check, diff))


def _format_files(names: tuple[str, ...], kb: tuple[Path, ...], check: bool, diff: bool) -> int:
    """Format each file by itself: a broken one is reported and stops no other."""

    paths = choose_files(names, kb) if names else choose_files([str(folder) for folder in kb])
    status, changed = DONE, 0
    for path in paths:
        try:
            layout = fmt.read_layout(path)
            if layout.is_changed and not check and not diff:
                fmt.write_layout(layout)
        except RuleFileError as error:
            click.echo(for_terminal(str(error)), err=True)
            status = BROKEN_RULE
            continue
        except BacklineError as error:
            click.echo(f"backline: {one_line(str(error))}", err=True)
            status = max(status, FAILED)
            continue
        if layout.is_changed:
            changed += 1
            status = max(status, FAILED) if check else status
            if diff:
                click.echo(for_terminal(layout.make_diff()), nl=False)
            else:
                verb = "would change" if check else "formatted"
                click.echo(f"{verb}: {one_line(str(layout.path))}")
    verb = "would change" if check or diff else "changed"
    click.echo(f"{len(paths)} {'file' if len(paths) == 1 else 'files'}, {changed} {verb}", err=True)
    return status
