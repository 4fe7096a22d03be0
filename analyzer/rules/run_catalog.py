"""The rules of one run from all sources: shipped, installed packs, folders of the settings and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analyzer import rules
from analyzer.artefacts.tables import Tables
from analyzer.rules import packs
from analyzer.rules.catalog import Catalog
from analyzer.rules.language.rulefile import FileSpan
from analyzer.rules.model import ThresholdError
from analyzer.rules.settings import Settings, find_settings, read_settings
from analyzer.rules.sources import RuleSource
from analyzer.runtime.limits import Limits


@dataclass(frozen=True, slots=True)
class Local:
    """What a desk adds to the shipped rules: its settings file, and whether installed packs are used."""

    settings: Settings = field(default_factory=Settings)
    packs: bool = True


def read_local(
    file: Path | None = None,
    *,
    settings: bool = True,
    packs: bool = True,
    material: Sequence[Path] = (),
) -> tuple[Local, str]:
    """Return the settings of `file` or, without one, of the current folder; and a warning, or "".

    A file that lies inside `material` is used only when it was named. Raises BadSettingsError.
    """
    if not settings:
        return Local(packs=packs), ""
    path, warning = (file, "") if file is not None else find_settings(material)
    return Local(read_settings(path) if path is not None else Settings(), packs), warning


def map_successors(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Return the rules that took the place of each rule which is not in use any more: former id -> ids.

    catalog  with its retired rules
    """
    used = {rule.id for rule in catalog.rules if rule.status != "retired"}
    found: dict[str, tuple[str, ...]] = {}
    for rule in catalog.rules:
        for former in rule.replaces if rule.id in used else ():
            if former not in used:
                found[former] = (*found.get(former, ()), rule.id)
    return found


def load_run_catalog(
    here: Local,
    kb: Sequence[Path] = (),
    *,
    only: Sequence[Path | RuleSource] | None = None,
    limits: Limits | None = None,
    drafts: bool = False,
    retired: bool = False,
    examples: bool = False,
    tuned: bool = True,
    tables: Tables | None = None,
) -> Catalog:
    """Return all rules: shipped ones, packs, folders of the settings, then `kb`.

    only   files and folders to read instead of all that
    tuned  False leaves thresholds as they are written, as the examples of a rule expect them

    Raises BadSettingsError when the settings speak of a rule or a threshold that is not there;
    where packs are left out or broken, a rule that is not there may be one of theirs.
    """
    settings = here.settings
    everywhere = [
        *rules.default_paths(),
        *(packs.find_installed() if here.packs and only is None else ()),
    ]
    try:
        catalog = rules.load(
            [*everywhere, *settings.kb, *kb] if only is None else only,
            tables,
            limits=limits,
            drafts=drafts,
            retired=retired,
            examples=examples,
            thresholds=settings.thresholds if tuned else None,
        )
    except ThresholdError as error:
        place = next(
            (c.place for c in settings.changes if (c.rule, c.name) == (error.rule, error.name)),
            FileSpan(),
        )
        raise settings.error(error.message, place, error.help) from None
    whole = here.packs and only is None and not any(source.faults for source in catalog.sources)
    if whole:
        broken = {
            Path(error.file).stem for error in catalog.broken
        }  # a rule that is there, though not in use
        settings.check_rules({*catalog.known, *broken})
    return catalog
