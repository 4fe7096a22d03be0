"""`backline compare`: two or more cases beside each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.local import RuleChoice, draft_option, kb_option, limits_option, local_options
from analyzer.commands.places import CasePath
from analyzer.commands.plain import DONE, PARTIAL, Interrupt, check_paths, speaks_plainly
from analyzer.errors import BacklineError, UsageError
from analyzer.text import for_terminal

if TYPE_CHECKING:
    from analyzer.sources.remote import Place


@click.command("compare")
@click.argument("paths", nargs=-1, required=True, type=CasePath())
@click.option("-o", "--output", type=click.Path(path_type=Path, readable=False), help="Folder for the results.")
@click.option("--hosts", is_flag=True, help="The sides are different hosts: tell what differs, not what changed.")
@click.option("--json", "json_to", type=click.Choice(["-"]), help="Write compare.json to stdout and nothing else.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@kb_option
@draft_option
@local_options
@limits_option
@speaks_plainly
def command(
    paths: tuple[Place, ...], output: Path | None, hosts: bool, json_to: str | None, quiet: bool, choice: RuleChoice
) -> None:
    """Compare two or more cases: what changed, what counters really did, what became of each finding.

    A side is a folder of results, its case.json, or anything that triage takes. More than two are a series. Sides that
    are different hosts are told apart as such. Writes compare.json, compare.html and compare.md.

    \b
    Example:
      backline compare before.tgz after.tgz -o case-1234
    """
    from analyzer.compare import compare, read_sides
    from analyzer.output import check_folder, write_all
    from analyzer.report import comparison
    from analyzer.triage import Options

    if len(paths) < 2:
        raise UsageError("there is nothing to compare with", do="Give two cases: `backline compare BEFORE AFTER`.")
    check_paths(paths, BacklineError)
    folder = output or (None if json_to else _default_output(paths))
    if folder is not None:
        check_folder(folder, comparison.FILES)
    local = choice.local(paths, quiet=quiet or bool(json_to))
    with Interrupt() as stop:
        sides = read_sides(
            [[path] for path in paths], Options(choice.limits, choice.kb, local, with_drafts=choice.draft)
        )
        stop.check()
    document = compare(sides, hosts=hosts)
    text = comparison.dumps(document)
    if json_to:
        click.echo(text, nl=False)
    if folder is not None:
        made = (text, comparison.html(document), comparison.markdown(document))
        write_all(folder, dict(zip(comparison.FILES, made, strict=True)))
        if not quiet and not json_to:
            for line in comparison.terminal(document):
                click.echo(line)
            click.echo(f"\ncomparison: {for_terminal(str(folder / 'compare.html'))}")
    broken = list(dict.fromkeys(line for side in sides for line in side.broken))
    for line in broken:
        click.echo(f"backline: {for_terminal(line)}", err=True)
    click.get_current_context().exit(4 if broken else PARTIAL if any(side.partial for side in sides) else DONE)


def _default_output(paths: tuple[Place, ...]) -> Path:
    names = [re.sub(r"[^A-Za-z0-9._-]+", "-", path.name).strip(".-")[:40] or "case" for path in (paths[0], paths[-1])]
    return Path("backline-out") / "-to-".join(names)
