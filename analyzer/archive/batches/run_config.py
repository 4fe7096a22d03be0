"""How a run reads and judges, and what each worker builds from that once: rules, settings, the archive."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from analyzer.archive.prints import judging_print, reading_print
from analyzer.archive.store import Archive
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import BacklineError

if TYPE_CHECKING:
    from analyzer.rules import Catalog
    from analyzer.rules.run_catalog import Local
    from analyzer.scan.hits import Signature


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How a run reads and judges; the same for all its processes, each of which checks that it sees the same.

    archive   URL or folder of the archive, "" for none
    options   of the command line; settings: the file that it uses, "" for none
    catalog   hash of the rules as the command saw them; reading, judging: fingerprints (prints.py)
    run       id of the run
    """

    archive: str
    options: RunOptions = field(default_factory=lambda: RunOptions(settings=""))
    catalog: str = ""
    reading: str = ""
    judging: str = ""
    run: str = ""


def config_of(
    archive: str, local: Local, catalog: Catalog, options: RunOptions, *, run: str = ""
) -> RunConfig:
    """Return the configuration of a run with these settings, rules and options."""
    options = replace(options, settings=local.settings.file, packs=local.packs)
    reading = reading_print(options.limits)
    judging = judging_print(
        reading, catalog.hash, local.settings, options.limits, drafts=options.drafts
    )
    return RunConfig(archive, options, catalog.hash, reading, judging, run)


class ConfigError(BacklineError):
    """A process sees other rules or another tool than the command that started it."""


@dataclass(slots=True)
class WorkerContext:
    """What a process needs for all its jobs, made once."""

    config: RunConfig
    archive: Archive
    local: Local
    catalog: Catalog
    signatures: list[Signature]


def context_of(config: RunConfig, local: Local, catalog: Catalog) -> WorkerContext:
    """Return what the jobs of a run need; raises ConfigError when rules or tool are not those of the command."""

    archive = Archive.open(config.archive)
    own = config_of(config.archive, local, catalog, config.options)
    if (own.reading, own.catalog, own.judging) != (config.reading, config.catalog, config.judging):
        what = "tool" if own.reading != config.reading else "rules or settings"
        raise ConfigError(
            f"a process of this run sees other {what} than the command that started it",
            why="they changed during the run, or this machine has others",
            do="Start the run again: what is stored stays.",
        )
    return WorkerContext(config, archive, local, catalog, catalog.signatures())


def open_context(config: RunConfig) -> tuple[Local, Catalog]:
    """Return the settings and the rules that a run names."""
    local, _ = config.options.local()
    return local, config.options.catalog(local)
