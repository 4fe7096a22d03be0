"""`backline rules fmt`: format rule files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.local import kb_option
from analyzer.commands.places import RuleName
from analyzer.commands.plain import BROKEN_RULE, DONE, FAILED, check_paths, speaks_plainly
from analyzer.runtime.errors import BacklineError, RuleFileError, UsageError
from analyzer.runtime.text import for_terminal, one_line

if TYPE_CHECKING:
    from analyzer.authoring.fmt.layout import Layout


@click.command("fmt")
@click.argument("rules", nargs=-1, type=RuleName(), metavar="[RULES]...")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 when a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option(
    "--short", is_flag=True, help="Write a long rule in the short form where it says the same."
)
@kb_option
@speaks_plainly
def command(
    rules: tuple[str, ...], check: bool, diff: bool, short: bool, kb: tuple[Path, ...]
) -> None:
    """Format rules: order of keys, blank lines, indent, width.

    The meaning of a rule does not change, and no comment is lost. `-` reads from standard input and prints the
    result, for editors. A symbolic link is never written through.

    \b
    Example:
      backline rules fmt my-rules/kb-2039495.yaml
      backline rules fmt my-rules --check
      backline rules fmt my-rules --short --diff
    """
    ctx = click.get_current_context()
    check_paths(kb, UsageError)
    if rules == ("-",):
        ctx.exit(_standard_input(check))
    if not rules and not kb:
        raise UsageError(
            "no rule is named",
            do="Give files, folders or ids, as in `backline rules fmt my-rules`.",
        )
    ctx.exit(_files(rules, kb, check, diff, short=short))


def _standard_input(check: bool) -> int:
    from analyzer.authoring.fmt.layout import formatted

    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("standard input is not UTF-8", why=f"at byte {error.start}") from None
    result = formatted(text, "standard input")
    if not check:
        sys.stdout.buffer.write(result.encode())
    return FAILED if check and result != text else DONE


def _files(
    names: tuple[str, ...], kb: tuple[Path, ...], check: bool, diff: bool, *, short: bool = False
) -> int:
    """Format each file by itself: a broken one is told and stops no other."""
    from analyzer.authoring.fmt import layout as fmt
    from analyzer.authoring.lint.run import chosen

    paths = chosen(names, kb) if names else chosen([str(folder) for folder in kb])
    status, changed = DONE, 0
    for path in paths:
        try:
            layout = fmt.look(path)
            if short:
                layout = _shortened(layout)
            if layout.changed and not check and not diff:
                fmt.write(layout)
        except RuleFileError as error:
            click.echo(for_terminal(str(error)), err=True)
            status = BROKEN_RULE
            continue
        except BacklineError as error:
            click.echo(f"backline: {one_line(str(error))}", err=True)
            status = max(status, FAILED)
            continue
        if layout.changed:
            changed += 1
            status = max(status, FAILED) if check else status
            click.echo(_told(layout, check, diff), nl=not diff)
    verb = "would change" if check or diff else "changed"
    click.echo(f"{len(paths)} {'file' if len(paths) == 1 else 'files'}, {changed} {verb}", err=True)
    return status


def _shortened(layout: Layout) -> Layout:
    """Return a file in the short form, or say why it stays long; in both, with nothing that goes without saying."""
    from dataclasses import replace

    from analyzer.authoring.fmt.compact import compacted
    from analyzer.authoring.fmt.shorten import shortened
    from analyzer.rules import shared_files
    from analyzer.runtime.limits import Limits

    shared = shared_files.read_next_to(layout.path, Limits())
    text, why = shortened(layout.after.decode().replace("\r\n", "\n"), layout.path.name, shared)
    if why:
        click.echo(f"stays long: {one_line(str(layout.path))}: {one_line(why)}", err=True)
    return replace(layout, after=compacted(text, layout.path.name, shared).encode())


def _told(layout: Layout, check: bool, diff: bool) -> str:
    if diff:
        return for_terminal(layout.diff())
    return f"{'would change' if check else 'formatted'}: {one_line(str(layout.path))}"
