"""`backline rules new`: a rule file to start from, empty or drafted from evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.authoring.draft import casecheck, draft, finding, skeleton
from analyzer.authoring.draft.mask import ASKED
from analyzer.authoring.select import select_rules
from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import check_paths, speak_plainly
from analyzer.pipeline.triage import Options
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import count_noun, one_line

if TYPE_CHECKING:
    from analyzer.authoring.draft.casecheck import CaseCheck
    from analyzer.authoring.draft.draft import Draft
    from analyzer.authoring.draft.source import DraftSource

WIDE = 160  # characters of a line that is shown


@click.command("new")
@click.argument("rule_id", metavar="ID")
@click.argument("bundles", nargs=-1, metavar="[BUNDLE]...", type=ANY_PATH)
@click.option(
    "--kb",
    type=ANY_PATH,
    default=Path(),
    help="Folder of the new file (default: here).",
)
@click.option("--title", default="", help="One line that names the fault.")
@click.option("--table", default="", help="Table whose rows are judged, e.g. esxi.client_stats.")
@click.option("--log", default="", help="Log that is searched, e.g. esxi.vmkernel.")
@click.option(
    "--from",
    "source",
    default="",
    metavar="CASE.json#FINDING",
    help="Draft it from a finding (id or number).",
)
@click.option(
    "--from-lines",
    "specs",
    multiple=True,
    metavar="MEMBER:120-124",
    help="Draft it from lines of BUNDLE, or of a log file here.",
)
@click.option(
    "--mask",
    "words",
    multiple=True,
    metavar="WORD",
    help="Mask this name too, spaces included; repeatable.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@speak_plainly
def command(
    rule_id: str,
    bundles: tuple[Path, ...],
    kb: Path,
    title: str,
    table: str,
    log: str,
    source: str,
    specs: tuple[str, ...],
    words: tuple[str, ...],
    force: bool,
) -> None:
    """Write ID.yaml, a rule to start from.

    Without --from it is a skeleton that explains each key. With --from or --from-lines it is
    drafted: signatures and conditions from the evidence, three examples that pass, customer data
    masked. Give several lines of one fault: what they share becomes the condition, what differs
    becomes a value.

    \b
    Example:
      backline rules new kb-2039495 --kb my-rules --table esxi.client_stats
      backline rules new kb-2113956 --kb my-rules --from-lines vmkernel.log:61-64 esx-host.tgz
      backline rules new nic-reset --from-lines vmkernel.log:120
      backline rules new slow-lun --from backline-out/esx-host/case.json#1
    """

    drafted = bool(source or specs)
    _check_options(drafted, source, specs, bundles, table or log)
    if words and not drafted:
        raise UsageError(
            "a skeleton holds nothing to mask",
            do="Leave --mask out, or draft it with --from-lines.",
        )
    for word in words:
        if not any(map(str.isalnum, word)):
            raise UsageError(
                "nothing to mask", where=f"--mask {word!r}", do="Give a name as the lines have it."
            )
    skeleton.check_id(rule_id)
    path = skeleton.find_target(kb, rule_id, force=force)
    if drafted:
        text = _draft_rule(
            rule_id, title, _find_source(source, specs, bundles, kb, words), specs, bundles
        )
    else:
        text = skeleton.write_skeleton(rule_id, table, log, title)
    skeleton.write_file(path, text)
    _print_next(path, bundles, drafted, named=bool(table or log))


def _check_options(
    drafted: bool, source: str, specs: tuple[str, ...], bundles: tuple[Path, ...], chosen: str
) -> None:
    if source and specs:
        raise UsageError("--from and --from-lines cannot be combined")
    if drafted and chosen:
        raise UsageError("a draft finds its table itself", do="Leave --table and --log out.")
    if bundles and not drafted:
        raise UsageError(
            "a skeleton takes no bundle",
            where=str(bundles[0]),
            do="Say which lines: --from-lines MEMBER:120-124",
        )
    check_paths(bundles, BacklineError)


def _find_source(
    source: str, specs: tuple[str, ...], bundles: tuple[Path, ...], kb: Path, words: tuple[str, ...]
) -> DraftSource:
    """Return what the draft is made of, with the words that the author wants masked."""

    made = _read_finding(source, kb) if source else _read_lines(specs, bundles)
    return replace(made, names={**made.names, ASKED: set(words)})


def _draft_rule(
    rule_id: str,
    title: str,
    made: DraftSource,
    specs: tuple[str, ...],
    bundles: tuple[Path, ...],
) -> str:
    found = draft.draft_rule(rule_id, title, made)
    paths = bundles or _find_bundles(specs)
    check = casecheck.check_draft(found, paths) if paths else None
    if check is not None and check.counts:
        found = draft.draft_rule(rule_id, title, made, check.list_remarks())
    _print_draft(found, check)
    return found.text


def _read_finding(source: str, kb: Path) -> DraftSource:
    document, one = finding.load_finding(source)
    try:
        rule = next(
            iter(select_rules([one.rule], [kb] if kb.is_dir() else [], examples=False).rules),
            None,
        )
    except BacklineError:
        rule = None  # a rule of another catalog: its evidence tells enough
    return finding.read_finding(document, one, rule)


def _read_lines(specs: tuple[str, ...], bundles: tuple[Path, ...]) -> DraftSource:
    from analyzer.authoring.draft import pick, source

    paths = bundles or _find_bundles(specs)
    if not paths:
        raise UsageError(
            "--from-lines needs the bundle that holds the lines",
            do="backline rules new ID --from-lines MEMBER:120-124 BUNDLE",
        )
    members = specs if bundles else tuple(map(_name_member, specs))
    picked = pick.pick_lines(paths, [pick.read_spec(text) for text in members], Options())
    try:
        return source.read_lines(picked)
    finally:
        picked.facts.close()


def _find_bundles(specs: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files that whole addresses begin with, or that are a log of their own, where they lie here."""
    names = dict.fromkeys(
        spec.partition("!")[0] if "!" in spec else spec.rpartition(":")[0] for spec in specs
    )
    return tuple(path for path in map(Path, names) if path.is_file())


def _name_member(spec: str) -> str:
    """Return the lines of a log that lies here as those of the member that it is read as: by its name alone."""
    name, colon, lines = spec.rpartition(":")
    return f"{Path(name).name}{colon}{lines}" if "!" not in spec and Path(name).is_file() else spec


# -- what the author sees; the case is his own, so lines are shown as they are


def _print_draft(found: Draft, check: CaseCheck | None) -> None:
    for count in check.counts if check else ():
        more = "at least " if count.at_least else ""
        hits = f"{more}{count.hits:,} of {count.lines:,} lines in {count_noun(count.members, 'member')}"
        click.echo(f"{count.signature.name}: {hits}, {count.chosen} of them chosen")
        for hit in count.shown:
            click.echo(f"  {one_line(f'{hit.address}:{hit.line}')}")
            click.echo(f"    {one_line(hit.text, WIDE)}")
        if count.too_general:
            click.echo(f"  too general: {count.too_general}")
            narrower = (
                f"narrower, {count_noun(count.narrow or 0, 'line')}: {count.proposal}"
                if count.proposal
                else ""
            )
            click.echo(f"  {narrower or 'take more words, or lines that are rarer'}")
    if check is not None:
        said = ", ".join(
            f"{number} {verdict.replace('_', ' ')}" for verdict, number in check.verdicts.items()
        )
        click.echo(
            f"in this case: {said or 'nothing to judge'}"
            + (f" ({bound_line(check.unsure, 200)})" if check.unsure else "")
        )
    held = sum(found.examples.values())
    click.echo(f"examples: {held} of {len(found.examples)} drafted, all of these hold")
    click.echo(
        f"masked: {', '.join(found.masked) or 'nothing needed it'}; read the file before you ship it"
    )
    for note in found.notes:
        click.echo(f"note: {bound_line(note, 300)}", err=True)


def _print_next(path: Path, bundles: tuple[Path, ...], drafted: bool, *, named: bool) -> None:
    shown = one_line(str(path))
    if not drafted and not named:
        click.echo(
            "no --table or --log was given: `backline tables BUNDLE` and `backline tables --doc` show which there are",
            err=True,
        )
    bundle = one_line(str(bundles[0])) if bundles else "BUNDLE"
    click.echo(shown)
    click.echo("next:")
    click.echo(f"  backline rules test {shown}")
    click.echo(f"  backline rules lint {shown}")
    click.echo(f"  backline rules explain {shown} {bundle}")
    click.echo(
        f"  backline rules backtest {shown} --archive DIR    (over what `backline batch` stored)"
    )
