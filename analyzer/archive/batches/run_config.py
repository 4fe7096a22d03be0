"""How a run reads and judges, and what each worker builds from that once: rules, settings, the archive."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from analyzer.archive.prints import judging_print, reading_print
from analyzer.errors import BacklineError
from analyzer.rules.run_options import RunOptions

if TYPE_CHECKING:
    from analyzer.archive.store import Archive
    from analyzer.rules import Catalog
    from analyzer.rules.run_catalog import Local
    from analyzer.scan.hits import Signature


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How a run reads and judges; the same for all its processes, each of which checks that it sees the same.

    archive   URL or folder of the archive, "" for none
    options   as the command was told; settings: the file that it uses, "" for none
    catalog   hash of the rules as the command saw them; reading, judging: fingerprints (prints.py)
    run       id of the run
    """

    archive: str
    options: RunOptions = field(default_factory=lambda: RunOptions(settings=""))
    catalog: str = ""
    reading: str = ""
    judging: str = ""
    run: str = ""


def desk_of(archive: str, local: Local, catalog: Catalog, options: RunOptions, *, run: str = "") -> RunConfig:
    """Return the desk of a run with these settings, rules and options."""
    options = replace(options, settings=local.settings.file, packs=local.packs)
    reading = reading_print(options.limits)
    judging = judging_print(reading, catalog.hash, local.settings, options.limits, drafts=options.drafts)
    return RunConfig(archive, options, catalog.hash, reading, judging, run)


class DeskError(BacklineError):
    """A process sees other rules or another tool than the command that started it."""


@dataclass(slots=True)
class Office:
    """What a process needs for all its jobs, made once."""

    desk: RunConfig
    archive: Archive
    local: Local
    catalog: Catalog
    signatures: list[Signature]


def office_of(desk: RunConfig, local: Local, catalog: Catalog) -> Office:
    """Return what the jobs of a desk need; raises DeskError when the rules or the tool are not those of the command."""
    from analyzer.archive.store import Archive  # noqa: PLC0415 - the command plans without what follows

    archive = Archive.open(desk.archive)
    own = desk_of(desk.archive, local, catalog, desk.options)
    if (own.reading, own.catalog, own.judging) != (desk.reading, desk.catalog, desk.judging):
        what = "tool" if own.reading != desk.reading else "rules or settings"
        raise DeskError(
            f"a process of this run sees other {what} than the command that started it",
            why="they were changed while it ran, or this machine has others",
            do="Start the run again: what is stored stays.",
        )
    return Office(desk, archive, local, catalog, catalog.signatures())


def open_desk(desk: RunConfig) -> tuple[Local, Catalog]:
    """Return the settings and the rules that a desk names."""
    local, _ = desk.options.local()
    return local, desk.options.catalog(local)
