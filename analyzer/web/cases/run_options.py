"""How the cases of one server are read and judged, and the rules tried on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.limits import Limits

if TYPE_CHECKING:
    from analyzer.rules.run_catalog import Local


@dataclass(frozen=True, slots=True)
class How:
    """How cases are read and judged.

    kb        folders of further rules
    settings  None takes a backline.toml of the current folder, "" none
    memory    bytes that an analysis may hold (Linux), 0 for no bound
    """

    kb: tuple[str, ...] = ()
    settings: str | None = None
    packs: bool = True
    drafts: bool = False
    limits: Limits = field(default_factory=Limits)
    memory: int = 0

    def order(self) -> dict[str, Any]:
        """Return what a process of ours is told of it."""
        return {
            "kb": self.kb,
            "settings": self.settings,
            "packs": self.packs,
            "drafts": self.drafts,
            "limits": asdict(self.limits),
        }


def local_of(settings: str | None, packs: bool, material: Sequence[Path] = ()) -> tuple[Local, str]:
    """Return settings and packs as the command line would use them, and a warning or ""."""
    from analyzer.rules import run_catalog  # noqa: PLC0415 - heavy

    file = Path(settings) if settings else None
    return run_catalog.local(file, settings=settings != "", packs=packs, material=material)


def ordered(order: Mapping[str, Any]) -> tuple[Local, list[Path]]:
    """Return settings and further rules of an order; settings that lie in the case are not used."""
    material = [Path(order["path"])] if order.get("path") else []
    local, _ = local_of(order.get("settings"), order.get("packs", True), material)
    return local, [Path(folder) for folder in order.get("kb", ())]
