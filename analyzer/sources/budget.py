"""The limits on expansion and time, counted while bytes flow."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from analyzer.runtime.limits import LimitHit, Limits
from analyzer.sources.stream import Meter, StreamFault


@dataclass(slots=True)
class Budget:
    """What one run may still expand.

    expanded  bytes unpacked so far in the whole case
    nested    bytes unpacked inside archives in archives of the current source
    """

    limits: Limits
    expanded: int = 0
    nested: int = 0
    members: int = 0
    started: float = field(default_factory=time.monotonic)

    def next_source(self) -> None:
        """Start the clock and the count of nested bytes anew for the next top-level source."""
        self.nested = 0
        self.started = time.monotonic()

    def count_member(self, address: str) -> LimitHit | None:
        """Count one member; return the limit when there are too many."""
        self.members += 1
        if self.members > self.limits.members:
            return LimitHit(address, "members", self.limits.members, self.members)
        return None

    def find_spent(self, depth: int) -> str:
        """Return the name of the limit that forbids to unpack anything more at this depth, else ""."""
        if self.expanded > self.limits.expanded_bytes:
            return "expanded_bytes"
        if depth and self.nested > self.limits.nested_expanded:
            return "nested_expanded"
        if time.monotonic() - self.started > self.limits.bundle_wall_s > 0:
            return "bundle_wall_s"
        return ""

    def make_meter(self, address: str, depth: int, *, packed: bool) -> Meter:
        """Return the function that a Feed calls for each block of the archive at `address`."""
        limits = self.limits
        total = 0

        # The ratio is that to the whole packed file: a zero-filled core at the start of a large bundle is
        # no bomb, although the ratio up to there is that of one.
        def count_bytes(size: int, packed_bytes: int) -> StreamFault | None:
            nonlocal total
            total += size
            hit = None
            if packed:
                self.expanded += size
                if depth:
                    self.nested += size
                if self.expanded > limits.expanded_bytes:
                    hit = LimitHit(address, "expanded_bytes", limits.expanded_bytes, self.expanded)
                elif self.nested > limits.nested_expanded:
                    hit = LimitHit(address, "nested_expanded", limits.nested_expanded, self.nested)
                elif total > limits.ratio_floor and total > limits.ratio * max(1, packed_bytes):
                    hit = LimitHit(address, "ratio", limits.ratio, total // max(1, packed_bytes))
            if time.monotonic() - self.started > limits.bundle_wall_s:
                spent = int(time.monotonic() - self.started)
                hit = LimitHit(address, "bundle_wall_s", limits.bundle_wall_s, spent)
            if hit is None:
                return None
            what = f"limit {hit.name}={hit.value} reached"
            return StreamFault(what, packed_bytes, "cut", "the rest", limit=hit)

        return count_bytes
