"""`backline compare`: two or more cases next to each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import convert, to_builtins

from analyzer.archive.query.sides import stored_side
from analyzer.case.comparison import Comparison
from analyzer.commands.archived import open_archive, optional_archive_option
from analyzer.commands.local import (
    RuleChoice,
    draft_option,
    kb_option,
    limits_option,
    local_options,
)
from analyzer.commands.places import ANY_PATH, CasePath
from analyzer.commands.plain import (
    BROKEN_RULE,
    DONE,
    PARTIAL,
    Interrupt,
    check_paths,
    print_warning,
    speak_plainly,
)
from analyzer.commands.redacting import (
    RedactChoice,
    redact_options,
    release_results,
    say_where_the_map_is,
)
from analyzer.commands.showing import make_console
from analyzer.compare import compare_cases, read_sides
from analyzer.compare.document import add_sentences
from analyzer.compare.sides import sides_of_machines
from analyzer.pipeline.triage import Options
from analyzer.redact.provenance import plan_record
from analyzer.redact.redaction import has_own_rules
from analyzer.report import comparison
from analyzer.report.comparison_screen import print_screen
from analyzer.report.printer import Printer
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.output import check_folder, write_all
from analyzer.runtime.paths import folder_name
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.compare import CaseSide
    from analyzer.compare.sides import Recall
    from analyzer.redact.redaction import Redaction
    from analyzer.sources.remote import Place


@click.command("compare")
@click.argument("paths", nargs=-1, required=True, type=CasePath())
@click.option(
    "-o",
    "--output",
    type=ANY_PATH,
    help="Folder for the results.",
)
@click.option(
    "--hosts",
    is_flag=True,
    help="The sides are different hosts: tell what differs, not what changed.",
)
@click.option(
    "--node",
    "nodes",
    multiple=True,
    metavar="NAME",
    help="Of one case: compare these machines of it.",
)
@optional_archive_option(
    "Archive to look in when PATH is no file: it is then the name or id of a stored case."
)
@click.option(
    "--json",
    "json_to",
    type=click.Choice(["-"]),
    help="Write compare.json to stdout and nothing else.",
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@kb_option
@draft_option
@local_options
@redact_options
@limits_option
@speak_plainly
def command(
    paths: tuple[Place, ...],
    output: Path | None,
    hosts: bool,
    nodes: tuple[str, ...],
    archive_url: str | None,
    json_to: str | None,
    quiet: bool,
    choice: RuleChoice,
    redact: RedactChoice,
) -> None:
    """Show what changed between cases, or differs between hosts.

    It also says what the counters really did and what became of each finding.
    A side is a folder of results, its case.json, or anything that triage takes. More than two are a series. Sides that
    are different hosts are told apart as such. With --archive a side may be a stored case, with --node the sides are
    machines of one case. Writes compare.json, compare.html and compare.md.

    \b
    Example:
      backline compare before.tgz after.tgz -o case-1234
      backline compare cluster/ --node esx01 --node esx02
      backline compare acme-2291 today.tgz --archive archive
    """

    _check_sides(paths, nodes)
    given = _find_sides(paths, archive_url)
    redaction = redact.begin_redaction(beside="" if json_to else "the results")
    if output is not None:
        check_folder(output, comparison.FILES)
    local = choice.load_local(paths, quiet=quiet or bool(json_to))
    with Interrupt() as stop:
        sides = read_sides(
            given, Options(choice.limits, choice.kb, local, with_drafts=choice.draft)
        )
        stop.raise_if_pressed()
    if nodes:
        sides = sides_of_machines(sides[0], nodes)
    document = compare_cases(sides, hosts=hosts or bool(nodes))
    if redaction is not None:
        document = _redact_comparison(redaction, document, sides)
    results = {comparison.FILES[0]: comparison.dump_document(document)}
    summary = "" if quiet or json_to else "\n".join(comparison.list_lines(document))
    folder = output
    if folder is None and not json_to:
        names = [folder_name(side.name, 40) for side in document.sides]
        folder = Path("backline-out") / f"{names[0]}-to-{names[-1]}"
    if folder is not None:
        results[comparison.FILES[1]] = comparison.render_html(document)
        results[comparison.FILES[2]] = comparison.render_markdown(document)
    if redaction is not None:
        release_results(redaction, {**results, "what is printed": summary}, beside=folder)
    if json_to:
        click.echo(results[comparison.FILES[0]], nl=False)
    if folder is not None:
        write_all(folder, results)
    if summary:
        _print_front(document, summary)
        page = (folder or Path()) / comparison.FILES[1]
        click.echo(f"comparison: {for_terminal(str(page))}")
    if redaction is not None:
        say_where_the_map_is(redaction)
    broken = list(dict.fromkeys(line for side in sides for line in side.broken))
    for line in broken:
        print_warning(line)
    status = PARTIAL if any(side.partial for side in sides) else DONE
    click.get_current_context().exit(BROKEN_RULE if broken else status)


def _print_front(document: Comparison, sentences: str) -> None:
    """Print one screen on a terminal, and into a pipe the whole sentences."""
    console = make_console()
    if console.is_terminal:
        print_screen(document, Printer(console))
    else:
        click.echo(f"{sentences}\n")


def _check_sides(paths: Sequence[Place], nodes: Sequence[str]) -> None:
    if nodes and (len(paths) > 1 or len(nodes) < 2):
        what = "--node compares machines of one case"
        raise UsageError(
            what, do="Give one case and two machines: `backline compare CASE --node A --node B`."
        )
    if not nodes and len(paths) < 2:
        raise UsageError(
            "there is nothing to compare with",
            do="Give two cases: `backline compare BEFORE AFTER`.",
        )


def _find_sides(paths: Sequence[Place], archive_url: str | None) -> list[Sequence[Place] | Recall]:
    """Return the sides: paths, and in the place of what is not there what recalls a case of the archive."""
    if archive_url is None:
        check_paths(paths, BacklineError)
        return [[path] for path in paths]

    archive = open_archive(archive_url)
    snapshot = archive.take_snapshot()
    sides: list[Sequence[Place] | Recall] = []
    for path in paths:
        if isinstance(path, Path) and not path.exists():
            sides.append(stored_side(archive, snapshot.find_case(str(path))))
        else:
            sides.append([path])
    return sides


def _redact_comparison(
    redaction: Redaction, document: Comparison, sides: Sequence[CaseSide]
) -> Comparison:
    """Return a comparison without the names that any of its sides holds."""

    for side in sides:
        redaction.take_document(side.document)
        if side.facts is not None:
            redaction.take_facts(side.facts)
    own = all(has_own_rules(side.document) for side in sides)
    plan = plan_record(Comparison)
    plain = to_builtins(document)
    redaction.take_naming(plain, plan)
    made = redaction.name_replacer.replace_record(plain, plan, own=own)
    return add_sentences(convert(redaction.hide_unmarked(made, plan), Comparison))
