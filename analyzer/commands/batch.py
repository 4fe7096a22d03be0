"""`backline batch`: triage many cases and keep them in an archive."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.archive.batches.run_config import config_of
from analyzer.archive.store import Archive
from analyzer.commands.local import RuleChoice, jobs_option, judging_options
from analyzer.commands.plain import (
    BROKEN_RULE,
    DONE,
    INTERRUPTED,
    PARTIAL,
    print_broken,
    speak_plainly,
)
from analyzer.commands.redacting import RedactChoice, redact_options, redacted_summary
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import UsageError
from analyzer.runtime.output import write_atomic
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.text import for_terminal, one_line

if TYPE_CHECKING:
    from analyzer.archive.batches.find import FindSummary, FoundCase
    from analyzer.archive.batches.run_config import RunConfig
    from analyzer.archive.batches.runner import Runner
    from analyzer.archive.batches.summary import Summary
    from analyzer.rules import Catalog

LAYOUTS = ("auto", "folders", "files")
SHOWN = 10  # troubles, rules and folders named on the terminal


@click.command("batch")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--archive",
    "place",
    metavar="DIR",
    help="The case archive: a folder or URL; created if missing.",
)
@click.option(
    "--list", "list_only", is_flag=True, help="Print what would be taken as cases, then stop."
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default="auto",
    help="What a case is: a folder, or a file.",
)
@jobs_option
@click.option(
    "--scheduler", metavar="URL|local", help="Work on a Dask cluster: tcp://HOST:PORT, or local."
)
@click.option(
    "--tls", nargs=3, metavar="CA CERT KEY", help="PEM files for a scheduler at tls://HOST:PORT."
)
@click.option(
    "--rescan",
    is_flag=True,
    help="Read stored cases again if new rules search their logs for more.",
)
@click.option("--retry", is_flag=True, help="Try refused and failed cases again.")
@click.option(
    "--checksum", is_flag=True, help="Hash the files again, even if size and time are unchanged."
)
@click.option("--no-compact", is_flag=True, help="Do not compact the archive at the end.")
@click.option(
    "--json",
    "json_to",
    metavar="-",
    help="Write the summary as JSON to stdout (`--json -`) or to a file.",
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@judging_options
@redact_options
@speak_plainly
def command(
    paths: tuple[str, ...],
    place: str | None,
    list_only: bool,
    layout: str,
    jobs: int | None,
    scheduler: str | None,
    tls: tuple[str, str, str] | None,
    rescan: bool,
    retry: bool,
    checksum: bool,
    no_compact: bool,
    json_to: str | None,
    quiet: bool,
    choice: RuleChoice,
    redact: RedactChoice,
) -> None:
    """Triage every case below PATHS and keep it in an archive.

    Cases that are already stored are skipped.
    A folder below a PATH is a case, and so is a file directly in a PATH; --list shows what would be
    taken, and --layout helps where that is wrong. A PATH may be a URL such as s3://bucket/cases. New rules are
    applied to stored cases without opening the bundles; without PATHS, to the whole archive.

    Exits with 5 when a case it reads or judges is partial, or one is refused or failed, now or before;
    with 4 when a rule is invalid; with 130 when interrupted: what was stored stays, and the next
    run continues from there.

    \b
    Example:
      backline batch /cases/2024 --archive /cases/archive
      backline batch /cases/2024 --archive /cases/archive --rescan --kb my-rules
      backline batch --archive /cases/archive
    """
    from analyzer.archive.batches.batch import Batch
    from analyzer.archive.batches.find import FindSummary, cases_in
    from analyzer.archive.batches.plan import Wishes
    from analyzer.archive.batches.progress import choose_progress

    limits = choice.limits
    choice.check_words()
    redaction = redact.begin_redaction()
    _check_options(paths, place, list_only, rescan=rescan or retry or checksum)
    _check_tls(scheduler, tls)
    count = FindSummary()
    found = list(cases_in(paths, layout=layout, skip=[place] if place else [], count=count))
    if list_only:
        _list_cases(found, count)
        return
    assert place is not None
    _check_outside(place, found)
    local = choice.load_local([Path(path) for path in paths if "://" not in path], quiet=quiet)
    config, catalog = _make_config(place, choice, local, limits)
    archive = _open_archive(place, create=bool(paths))
    runner = _make_runner(config, scheduler, jobs, tls)
    with choose_progress(_print_line, quiet=quiet or json_to == "-") as watch, _Signals(runner):
        batch = Batch(
            archive, config, runner, Wishes(checksum, retry, rescan), watch, catalog.signatures()
        )
        summary = batch.triage_cases(found) if paths else batch.judge_stored()
    if not (no_compact or summary.interrupted):
        summary.packed = _compact_loose(archive)
    if redaction is not None:
        summary, count = redacted_summary(summary, count, redaction)
    _print_summary(summary, count, catalog, json_to, archive=place, quiet=quiet)
    if choice.draft and not quiet:
        back = shlex.join(["backline", "batch", "--archive", place])
        _print_line(
            f"drafts were judged too: the archive shows their findings until `{back}` judges without them"
        )
    click.get_current_context().exit(_exit_status(summary, catalog))


def _check_options(
    paths: Sequence[str], place: str | None, list_only: bool, *, rescan: bool
) -> None:
    """Refuse options that do not go together."""
    if place is None and not list_only:
        raise UsageError(
            "--archive DIR is missing",
            do="Name the folder of the case archive; it is made if needed.",
        )
    if not paths and list_only:
        raise UsageError("--list needs a PATH")
    if not paths and rescan:
        what = "--rescan, --retry and --checksum need PATHs"
        raise UsageError(
            what, why="they read cases again, and an archive does not hold the bundles"
        )


def _check_tls(scheduler: str | None, tls: tuple[str, str, str] | None) -> None:
    if tls and not (scheduler or "").startswith("tls://"):
        raise UsageError("--tls goes with --scheduler tls://HOST:PORT")


def _check_outside(place: str, found: Sequence[FoundCase]) -> None:
    """Refuse an archive that lies inside a case."""
    from analyzer.archive.batches.batch import find_enclosing_case

    if (around := find_enclosing_case(str(absolute_path(place)), found)) is not None:
        why = f"it is inside the case {one_line(around.source)} and would be read as part of it"
        raise UsageError(
            "the archive is inside a case",
            where=place,
            why=why,
            do="Name another folder with --archive.",
        )


def _make_config(
    place: str, choice: RuleChoice, local: Any, limits: Any
) -> tuple[RunConfig, Catalog]:
    """Return how this run reads and judges, and its rules."""

    options = RunOptions(tuple(map(str, choice.kb)), drafts=choice.draft, limits=limits)
    catalog = options.catalog(local)
    archive = place if "://" in place else str(absolute_path(place))
    return config_of(archive, local, catalog, options, run=secrets.token_hex(8)), catalog


def _open_archive(place: str, *, create: bool) -> Archive:
    return Archive.open(place, create=create)


def _make_runner(
    config: RunConfig, scheduler: str | None, jobs: int | None, tls: tuple[str, str, str] | None
) -> Runner:
    if scheduler is not None:
        from analyzer.archive.clusters.cluster import Cluster
        from analyzer.archive.clusters.dasklink import Tls

        return Cluster(
            config, scheduler, jobs or 0, tls=Tls(*tls) if tls else None, tell=_print_line
        )
    from analyzer.archive.batches.runner import start_processes

    return start_processes(config, jobs or 0)


def _compact_loose(archive: Archive) -> int:
    """Put many loose objects together; return how many cases."""
    from analyzer.archive.batches.batch import LOOSE

    loose = sum(entry.place < 0 for entry in archive.take_snapshot().entries)
    if loose < LOOSE:
        return 0
    from analyzer.archive.upkeep.compaction import FEW, compact_archive

    return compact_archive(archive, few=min(FEW, LOOSE)).cases


class _Signals:
    """Ctrl-C and SIGTERM end a run so that what is stored stays; the second one ends it at once."""

    NAMES = ("SIGINT", "SIGTERM")

    def __init__(self, runner: Runner) -> None:
        self._runner, self._asked = runner, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        for name in self.NAMES:
            number = getattr(signal, name)
            self._before[number] = signal.signal(number, self._take_signal)
        return self

    def _take_signal(self, *_: object) -> None:
        if self._asked:
            os._exit(INTERRUPTED)  # the processes notice that no one waits for them
        self._asked = True
        raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)


def _print_line(line: str) -> None:
    click.echo(f"backline: {for_terminal(line)}", err=True)


def _list_cases(found: Sequence[FoundCase], count: FindSummary) -> None:
    for one in found:
        click.echo(
            f"{one_line(one.source)}  ({len(one.files)} file{'s' * (len(one.files) != 1)}, {one.disk_size} bytes)"
        )
    _tell_count(count, _print_line, len(found))


def _tell_count(count: FindSummary, say: Callable[[str], None], found: int) -> None:
    """Tell what was met and is no case."""
    for path in count.mixed:
        say(
            f"{one_line(path)} holds bundles and loose files; each became a case of its own. "
            "If they belong together: --layout folders"
        )
    for path, why in count.unreadable[:SHOWN]:
        say(f"{one_line(path)}: cannot be read ({one_line(why)})")
    for some, one, more in (
        (count.empty, "empty folder, no case", "empty folders, no case"),
        (
            count.left_out,
            "file whose name is not that of support material, left out",
            "files whose names are not those of support material, left out",
        ),
        (count.archives, "case archive, skipped", "case archives, skipped"),
    ):
        if some:
            names = ", ".join(one_line(path.rpartition("/")[2], 40) for path in some[:3])
            say(
                f"{len(some)} {one if len(some) == 1 else more} ({names}{', …' if len(some) > 3 else ''})"
            )
    if not found:
        say("no case was found")


def _print_summary(
    summary: Summary,
    count: FindSummary,
    catalog: Catalog,
    json_to: str | None,
    *,
    archive: str,
    quiet: bool,
) -> None:
    """Print the summary, or write it as JSON."""
    from analyzer.archive.batches.summary import as_record, summary_lines

    print_broken(catalog)
    if not quiet:
        _tell_count(count, _print_line, summary.found)
    if json_to is not None:
        text = json.dumps(as_record(summary, count), indent=1, ensure_ascii=True) + "\n"
        if json_to == "-":
            sys.stdout.write(text)
            return

        write_atomic(Path(json_to), text)
    if not quiet:
        for line in summary_lines(summary, archive):
            click.echo(line)


def _exit_status(summary: Summary, catalog: Catalog) -> int:
    if summary.interrupted:
        return INTERRUPTED
    if catalog.broken:
        return BROKEN_RULE
    return (
        PARTIAL
        if summary.partial or summary.refused or summary.failed or summary.no_result
        else DONE
    )
