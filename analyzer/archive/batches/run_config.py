"""How a run reads and judges, and what each worker builds from that once: rules, settings, the archive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.archive.prints import judging_print, reading_print
from analyzer.errors import BacklineError
from analyzer.limits import Limits

if TYPE_CHECKING:
    from analyzer.archive.store import Archive
    from analyzer.rules import Catalog
    from analyzer.rules.run_catalog import Local
    from analyzer.scan.hits import Signature


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How a run reads and judges; the same for all its processes, each of which checks that it sees the same.

    archive   URL or folder of the archive
    kb        folders of further rules; settings: path of the settings file, "" for none
    catalog   hash of the rules as the command saw them; reading, judging: fingerprints (prints.py)
    run       id of the run
    """

    archive: str
    kb: tuple[str, ...] = ()
    settings: str = ""
    packs: bool = True
    drafts: bool = False
    limits: Limits = field(default_factory=Limits)
    engine: str = "auto"
    catalog: str = ""
    reading: str = ""
    judging: str = ""
    run: str = ""


def desk_of(
    archive: str,
    local: Local,
    catalog: Catalog,
    limits: Limits,
    kb: Iterable[Path | str] = (),
    *,
    drafts: bool = False,
    run: str = "",
) -> RunConfig:
    """Return the desk of a run with these settings, rules and limits."""
    reading = reading_print(limits)
    judging = judging_print(reading, catalog.hash, local.settings, limits, drafts=drafts)
    return RunConfig(
        archive, tuple(map(str, kb)), local.settings.file, local.packs, drafts, limits,
        catalog=catalog.hash, reading=reading, judging=judging, run=run,
    )  # fmt: skip


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
    own = desk_of(desk.archive, local, catalog, desk.limits, drafts=desk.drafts)
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
    from analyzer.rules import run_catalog  # noqa: PLC0415 - heavy

    path = Path(desk.settings) if desk.settings else None
    local, _ = run_catalog.local(path, settings=path is not None, packs=desk.packs)
    kb = [Path(folder) for folder in desk.kb]
    return local, run_catalog.load(local, kb, limits=desk.limits, drafts=desk.drafts)
