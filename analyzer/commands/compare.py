"""`backline compare`: two or more cases beside each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.local import RuleChoice, draft_option, kb_option, limits_option, local_options
from analyzer.commands.places import CasePath
from analyzer.commands.plain import DONE, PARTIAL, Interrupt, check_paths, speaks_plainly
from analyzer.commands.redacting import RedactChoice, redact_options, released, told_of_map
from analyzer.errors import BacklineError, UsageError
from analyzer.text import for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.compare.sides import CaseSide
    from analyzer.redact.redaction import Redaction
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
@redact_options
@speaks_plainly
def command(
    paths: tuple[Place, ...],
    output: Path | None,
    hosts: bool,
    json_to: str | None,
    quiet: bool,
    choice: RuleChoice,
    redact: RedactChoice,
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
    redaction = redact.begin(beside="" if json_to else "the results")
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
    if redaction is not None:
        document = _redacted(document, sides, redaction)
        if folder is not None and output is None:
            folder = _folder_of([str(side["name"]) for side in document["sides"]])
    text = comparison.dumps(document)
    if json_to:
        _print(text, redaction)
    if folder is not None:
        made = (text, comparison.html(document), comparison.markdown(document))
        results = dict(zip(comparison.FILES, made, strict=True))
        if redaction is not None:
            released(redaction, results, beside=folder)
            told_of_map(redaction)
        write_all(folder, results)
        if not quiet and not json_to:
            for line in comparison.terminal(document):
                click.echo(line)
            click.echo(f"\ncomparison: {for_terminal(str(folder / 'compare.html'))}")
    broken = list(dict.fromkeys(line for side in sides for line in side.broken))
    for line in broken:
        click.echo(f"backline: {for_terminal(line)}", err=True)
    click.get_current_context().exit(4 if broken else PARTIAL if any(side.partial for side in sides) else DONE)


def _redacted(document: dict[str, Any], sides: Sequence[CaseSide], redaction: Redaction) -> dict[str, Any]:
    """Return the comparison without the names of its sides: those of their facts, if any, and documents."""
    for side in sides:
        if side.facts is not None:
            redaction.facts(side.facts)
        redaction.document(side.document)
    return redaction.replaced(document)


def _print(text: str, redaction: Redaction | None) -> None:
    if redaction is not None:
        released(redaction, {"compare.json": text})
    click.echo(text, nl=False)


def _default_output(paths: tuple[Place, ...]) -> Path:
    return _folder_of([path.name for path in paths])


def _folder_of(sides: list[str]) -> Path:
    names = [re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:40] or "case" for name in (sides[0], sides[-1])]
    return Path("backline-out") / "-to-".join(names)
