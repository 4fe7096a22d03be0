"""`backline watch`: triage what lands in a download folder."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.archive.batches.run_config import config_of
from analyzer.archive.batches.runner import start_processes
from analyzer.archive.store import Archive
from analyzer.commands.local import RuleChoice, jobs_option, judging_options
from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import (
    BROKEN_RULE,
    DONE,
    PARTIAL,
    Interrupt,
    print_broken,
    speak_plainly,
)
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import UsageError
from analyzer.runtime.output import check_folder
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.text import for_terminal, one_line
from analyzer.watch_folder.state import WatchState, lock_results
from analyzer.watch_folder.watcher import FolderWatcher
from analyzer.watch_folder.work import triage_landed

if TYPE_CHECKING:
    from analyzer.archive.batches.run_config import RunConfig
    from analyzer.archive.batches.runner import Runner
    from analyzer.rules import Catalog
    from analyzer.rules.run_catalog import Local
    from analyzer.watch_folder.folder_scan import Arrival
    from analyzer.watch_folder.state import DoneCase

OUT = "backline-out"
PAGES = 3  # reports opened in a minute; a storm of files must not become one of windows
MINUTE = 60.0


@click.command("watch")
@click.argument("folder", type=ANY_PATH)
@click.option(
    "-o",
    "--output",
    type=ANY_PATH,
    help="Folder for the results.",
)
@click.option(
    "--archive", "place", metavar="DIR", help="Keep the cases in this archive too: a folder or URL."
)
@click.option("--once", is_flag=True, help="Handle what is there now, then exit.")
@click.option("--only-new", is_flag=True, help="Skip what is already there.")
@click.option("--still", type=click.FloatRange(0.0, 3600.0), default=5.0, show_default=True, metavar="SECONDS",
              help="Take a file once it has not changed for this long.")  # fmt: skip
@click.option("--open", "open_it", is_flag=True, help="Open each report in the browser.")
@jobs_option
@judging_options
@speak_plainly
def command(
    folder: Path,
    output: Path | None,
    place: str | None,
    once: bool,
    only_new: bool,
    still: float,
    open_it: bool,
    jobs: int | None,
    choice: RuleChoice,
) -> None:
    """Triage whatever arrives in a folder.

    Each file and each new subfolder of FOLDER is one case. Ctrl-C ends it.
    A file is taken when its download is complete: no partial name, no program that writes to it, and
    no change for --still seconds. Whatever is not a case is reported once. Nothing in FOLDER is changed. The
    results (by default in backline-out in the current folder) include a file that remembers what
    was done, so a restart continues from there; --once exits with 5 when a case is partial or refused.

    \b
    Example:
      backline watch ~/Downloads --open
      backline watch /srv/incoming -o /srv/reports --archive /srv/archive
    """

    choice.check_words()
    folder, out = _check_folders(folder, output)
    archive = place if place is None or "://" in place else str(absolute_path(place))
    make = _Maker(archive or "", choice, choice.load_local([folder], quiet=False))
    _, catalog = make.make_config()
    print_broken(catalog)
    # Open the archive, where there is one, or make it: a wrong name is reported before the first
    # case.

    if archive is not None:
        Archive.open(archive, create=True)
    skip = [str(out), *([archive] if archive else [])]
    with lock_results(out), Interrupt() as stop:
        state, lines = WatchState.load_state(out, str(folder)), _Lines(out, stop, open_it=open_it)
        watcher = FolderWatcher(
            folder, state, lambda: make.make_runner(jobs or 0), lines, skip=skip, still=still
        )
        # What is watched, and leave alone what is to be left alone
        what = f"{folder}, results in {out}"
        if only_new:
            _print_line(f"{watcher.skip_present()} files and folders already here are skipped")
        if not once:
            _print_line(f"watching {what}; Ctrl-C ends")
        watcher.watch_folder(once=once)
    click.get_current_context().exit(
        BROKEN_RULE if catalog.broken else PARTIAL if watcher.bad else DONE
    )


def _check_folders(folder: Path, output: Path | None) -> tuple[Path, Path]:
    """Return the watched folder and that of the results; UsageError when they do not go together."""

    folder = absolute_path(folder)
    if not folder.is_dir():
        why = "it is not a folder" if os.path.lexists(folder) else "it does not exist"
        raise UsageError(
            "no such folder",
            where=str(folder),
            why=why,
            do="Give the folder that downloads land in.",
        )
    out = absolute_path(output or Path(OUT))
    if out.resolve() == folder.resolve():
        raise UsageError(
            "the results cannot go into the watched folder", where=str(out), do="Name another -o."
        )
    if output is None and out.resolve().is_relative_to(folder.resolve()):
        why = "the current folder is the watched one, or lies in it"
        raise UsageError("no folder for the results", why=why, do="Name a folder with -o.")
    check_folder(out, ())
    return folder, out


class _Maker:
    """Makes how cases are read and judged, with rules and settings as they are on the disk then."""

    def __init__(self, archive: str, choice: RuleChoice, local: Local) -> None:
        self.archive = archive
        self.options = RunOptions(
            tuple(map(str, choice.kb)),
            local.settings.file,
            local.packs,
            choice.draft,
            choice.limits,
        )

    def make_config(self) -> tuple[RunConfig, Catalog]:
        """Return the run configuration and its rules."""

        local, _ = self.options.local()
        catalog = self.options.catalog(local)
        return config_of(self.archive, local, catalog, self.options), catalog

    def make_runner(self, jobs: int) -> Runner:
        """Return processes that work at such a run."""

        return start_processes(self.make_config()[0], jobs, triage_landed)


class _Lines:
    """One line a case on stdout; what goes on besides on stderr."""

    def __init__(
        self,
        out: Path,
        stop: Interrupt,
        *,
        open_it: bool,
        launch: Callable[[str], int] = click.launch,
    ) -> None:
        self.out, self.stop, self.open_it, self.launch = out, stop, open_it, launch
        self.opened: list[float] = []

    def case_begun(self, thing: Arrival) -> None:
        """Say that a case is being read."""
        self.stop.raise_if_pressed()
        _print_line(f"reading {one_line(thing.name)} ({_format_bytes(thing.disk_size)})")

    def case_done(self, thing: Arrival, known: DoneCase, same: str) -> None:
        """Print the line of a case."""
        report = self.out / known.results / "report.html" if known.results else None
        said = known.why if report is not None else f"{known.state}: {known.why}"
        if same:
            said = f"same content as {same}: {said}"
        when = datetime.fromisoformat(known.at).strftime("%Y-%m-%d %H:%M:%S")
        words = [
            when,
            one_line(thing.name),
            one_line(said),
            *([one_line(_relative_path(report))] if report else []),
        ]
        click.echo("  ".join(words))
        sys.stdout.flush()
        if report is not None and self.open_it and not same:
            # Open a report, but not more than a few in a minute
            now = datetime.now().timestamp()
            self.opened = [at for at in self.opened if now - at < MINUTE]
            if len(self.opened) < PAGES:
                self.opened.append(now)
                self.launch(report.resolve().as_uri())
            elif len(self.opened) == PAGES:
                self.opened.append(now)
                _print_line(f"more than {PAGES} reports in a minute: the others are not opened")

    def say_line(self, line: str) -> None:
        """Say something else."""
        _print_line(line)


def _relative_path(path: Path | None) -> str:
    """Return a path, relative to the current folder when it lies in it."""
    assert path is not None
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _format_bytes(size: int) -> str:
    if size < 1024:
        return f"{size} bytes"
    power = min((size.bit_length() - 1) // 10, 4)
    return f"{size / (1 << 10 * power):.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"


def _print_line(line: str) -> None:
    click.echo(f"backline: {for_terminal(re.sub(chr(10), ' ', line))}", err=True)
