"""How a run reads and judges its cases, as the words of its command say it; the same for all its processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.rules import run_catalog
from analyzer.runtime.limits import Limits

if TYPE_CHECKING:
    from analyzer.rules.catalog import Catalog
    from analyzer.rules.run_catalog import Local


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What is chosen before a file is read. It can be pickled, and written as JSON.

    kb        folders of further rules
    settings  path of the settings file; None takes a backline.toml of the current folder, "" none
    packs     whether installed rule packs are used; drafts: whether draft rules are judged
    memory    bytes that the analysis of one case may hold (Linux), 0 for no bound
    engine    that searches logs
    """

    kb: tuple[str, ...] = ()
    settings: str | None = None
    packs: bool = True
    drafts: bool = False
    limits: Limits = field(default_factory=Limits)
    memory: int = 0
    engine: str = "auto"

    def local(self, material: Sequence[Path] = ()) -> tuple[Local, str]:
        """Return settings and packs, and a warning or ""; settings that lie in the material are not used."""

        file = Path(self.settings) if self.settings else None
        return run_catalog.read_local(
            file, settings=self.settings != "", packs=self.packs, material=material
        )

    def folders(self) -> list[Path]:
        """Return the folders of further rules."""
        return [Path(folder) for folder in self.kb]

    def catalog(self, local: Local) -> Catalog:
        """Return the rules of the run; raises BadSettingsError when the settings speak of a rule that is not there."""

        return run_catalog.load_run_catalog(
            local, self.folders(), limits=self.limits, drafts=self.drafts
        )

    def successors(self) -> dict[str, tuple[str, ...]]:
        """Return the rules that took the place of others, by the former id; drafts and retired rules are looked at."""

        local, _ = self.local()
        catalog = run_catalog.load_run_catalog(
            local, self.folders(), limits=self.limits, drafts=True, retired=True
        )
        return run_catalog.map_successors(catalog)

    def record(self) -> dict[str, Any]:
        """Return the options as JSON holds them."""
        return asdict(self)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> RunOptions:
        """Return the options that a record tells among other things; what it does not tell is as usual."""
        values = {one.name: record[one.name] for one in fields(cls) if one.name in record}
        limits = Limits(**(values.pop("limits", None) or {}))
        return cls(**{**values, "kb": tuple(values.get("kb", ())), "limits": limits})
