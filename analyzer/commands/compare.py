"""`backline compare`: two or more cases beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.local import RuleChoice, draft_option, kb_option, limits_option, local_options
from analyzer.commands.places import CasePath
from analyzer.commands.plain import DONE, PARTIAL, Interrupt, check_paths, speaks_plainly
from analyzer.commands.redacting import RedactChoice, redact_options, released, told_of_map
from analyzer.errors import BacklineError, UsageError
from analyzer.paths import folder_name
from analyzer.text import for_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.compare import CaseSide
    from analyzer.redact.redaction import Redaction
    from analyzer.sources.remote import Place

# Keys of the document whose texts are the program's own.
_OWN_WORDS = frozenset(
    {"section", "column", "meaning", "printed", "mode", "paired_by", "since", "ask", "of_words", "tables"}
)


@click.command("compare")
@click.argument("paths", nargs=-1, required=True, type=CasePath())
@click.option("-o", "--output", type=click.Path(path_type=Path, readable=False), help="Folder for the results.")
@click.option("--hosts", is_flag=True, help="The sides are different hosts: tell what differs, not what changed.")
@click.option("--json", "json_to", type=click.Choice(["-"]), help="Write compare.json to stdout and nothing else.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@kb_option
@draft_option
@local_options
@redact_options
@limits_option
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
    if output is not None:
        check_folder(output, comparison.FILES)
    local = choice.local(paths, quiet=quiet or bool(json_to))
    with Interrupt() as stop:
        sides = read_sides(
            [[path] for path in paths], Options(choice.limits, choice.kb, local, with_drafts=choice.draft)
        )
        stop.check()
    document = compare(sides, hosts=hosts)
    if redaction is not None:
        document = _redacted(redaction, document, sides)
    results = {comparison.FILES[0]: comparison.dumps(document)}
    said = "" if quiet or json_to else "\n".join(comparison.terminal(document))
    folder = output or (None if json_to else _default_output(document))
    if folder is not None:
        results |= dict(
            zip(comparison.FILES[1:], (comparison.html(document), comparison.markdown(document)), strict=True)
        )
    if redaction is not None:
        released(redaction, {**results, "what is printed": said}, beside=folder)
    if json_to:
        click.echo(results[comparison.FILES[0]], nl=False)
    if folder is not None:
        write_all(folder, results)
    if said:
        click.echo(f"{said}\n\ncomparison: {for_terminal(str((folder or Path()) / comparison.FILES[1]))}")
    if redaction is not None:
        told_of_map(redaction)
    broken = list(dict.fromkeys(line for side in sides for line in side.broken))
    for line in broken:
        click.echo(f"backline: {for_terminal(line)}", err=True)
    click.get_current_context().exit(4 if broken else PARTIAL if any(side.partial for side in sides) else DONE)


def _redacted(redaction: Redaction, document: dict[str, Any], sides: Sequence[CaseSide]) -> dict[str, Any]:
    """Return a comparison without the names that any of its sides holds."""
    from analyzer.redact.redaction import KEPT

    for side in sides:
        redaction.document(side.document)
        if side.facts is not None:
            redaction.facts(side.facts)
    made: dict[str, Any] = redaction.replacer.document(document, KEPT | _OWN_WORDS)
    return made


def _default_output(document: Mapping[str, Any]) -> Path:
    sides = document["sides"]
    names = [folder_name(side["name"], 40) for side in (sides[0], sides[-1])]
    return Path("backline-out") / "-to-".join(names)
