"""The machines of the synthetic NSX for vSphere site, and what of it is not as it should be."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

NOW = datetime(2017, 10, 2, 9, 0, tzinfo=UTC)
CLUSTER = "b20ddc88-0000-49ad-b120-572c23100001"
OTHER_CLUSTER = "b20ddc88-0000-49ad-b120-572c23100002"
CONTROLLERS = {1: "192.0.2.31", 2: "192.0.2.32", 3: "192.0.2.33"}
HOSTS = {41: "192.0.2.41", 42: "192.0.2.42"}
MANAGER = "192.0.2.15"
ROLES = (
    "api_provider",
    "persistence_server",
    "switch_manager",
    "logical_manager",
    "directory_server",
)
# Release -> (build of the Manager, version of the hosts' VIB esx-nsxv); the latter of 6.3.5 is made up.
RELEASES = {"6.3.3": (6276725, "6.5.0-0.0.6244264"), "6.3.5": (7119875, "6.5.0-0.0.7100000")}


@dataclass(frozen=True)
class Site:
    """What of a site is not as it should be.

    silent       controllers that do not answer the API of the Manager
    off          controllers that are off: they say nothing, and nobody reaches them
    minority     controllers that lost the majority
    split        the controllers that formed a cluster of their own
    slow         the controller whose disk is slow
    cut          hosts without a channel to the controllers
    clocks       node -> seconds its clock is ahead
    restarted    the Manager was started this morning
    manager      the bundle of the Manager is in the case
    arp          entries of the logical router's ARP table on each host
    arp_printed  how often the dump holds that table
    """

    release: str = "6.3.3"
    silent: frozenset[int] = frozenset()
    off: frozenset[int] = frozenset()
    minority: frozenset[int] = frozenset()
    split: frozenset[int] = frozenset()
    slow: frozenset[int] = frozenset()
    cut: frozenset[int] = frozenset()
    clocks: dict[str, float] = field(default_factory=dict)
    restarted: bool = False
    manager: bool = True
    arp: int = 12
    arp_printed: int = 1

    def clock(self, node: str, when: datetime) -> datetime:
        """Return what the clock of a node shows at a time."""
        return when + timedelta(seconds=self.clocks.get(node, 0.0))

    def up(self) -> list[int]:
        """Return the controllers that run."""
        return [number for number in CONTROLLERS if number not in self.off]
