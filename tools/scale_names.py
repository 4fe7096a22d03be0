"""What a listing of many stored cases costs apart from the store: names are made up and held in memory.

Each size is measured in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzer.archive.entries import (
    SEGMENT_FORMAT,
    take_snapshot,
)
from analyzer.archive.object_store.object_store import Object
from analyzer.archive.seal import sealed_json
from tools.scale_run import Failed, measure_command


class _Names:
    """A shelf that only lists, and gives manifests: what it holds is sorted by name, as a store gives it."""

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.url = "made up"
        self.objects = objects

    def list(self, prefix: str = "") -> Iterator[Any]:
        """Yield the objects below a prefix."""
        return (
            Object(name, len(body), 1.7e9)
            for name, body in self.objects.items()
            if name.startswith(prefix)
        )

    def get(self, name: str) -> bytes:
        """Return the bytes of an object."""
        return self.objects[name]


def make_names(count: int) -> list[str]:
    """Return `count` entries as names and manifests write them."""
    dice = random.Random(count)
    prints = f"{dice.getrandbits(48):012x}-{dice.getrandbits(48):012x}"
    ids = sorted(f"{dice.getrandbits(128):032x}" for _ in range(count))
    found = []
    for n, one in enumerate(ids):
        found.append(f"{one}-{dice.getrandbits(64):016x}-{prints}-{1_700_000_000_000 + n:011x}")
    return found


def make_segments(entries: list[str], size: int) -> dict[str, bytes]:
    """Return the manifests of segments of `size` cases."""
    out = {}
    for start in range(0, len(entries), size):
        some = [
            {"entry": entry, "facts": True, "case": True} for entry in entries[start : start + size]
        ]
        manifest = {"format": SEGMENT_FORMAT, "entries": some, "files": []}
        out[f"segments/{start:011x}-00000000/manifest.json"] = sealed_json(manifest)
    return out


def measure_snapshot(count: int, size: int) -> dict[str, float]:
    """Measure a snapshot of `count` cases, loose (`size` 0) or in segments of `size`."""
    entries = make_names(count)
    if not size:
        loose = {f"packs/{entry[:2]}/{entry}.full.zip": b"" for entry in entries}
    else:
        loose = {}
    objects = make_segments(entries, size) if size else loose
    shelf = _Names(objects)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    found = len(take_snapshot(shelf).list_visible_cases())  # type: ignore[arg-type]  # a listing and manifests are all it asks for
    wall = time.perf_counter() - start
    assert found == count, f"{found} of {count} cases seen"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "wall": wall,
        "mb": (peak - before) / 1024,
        "read_mb": sum(map(len, objects.values())) / 1e6,
    }


def measure_names(counts: Sequence[int], sizes: Sequence[int] = (0, 500, 5000)) -> dict[str, Any]:
    """Return {"count/size": {wall in s, mb, read_mb}} of a snapshot over that many cases in segments of that size."""
    out = {}
    for count in counts:
        for size in sizes:
            run = measure_command([sys.executable, __file__, str(count), str(size)])
            if run.code:
                raise Failed(
                    run.err.strip().splitlines()[-1] if run.err.strip() else f"exit code {run.code}"
                )
            out[f"{count}/{size}"] = json.loads(run.out)
    return out


if __name__ == "__main__":
    print(json.dumps(measure_snapshot(int(sys.argv[1]), int(sys.argv[2]))))
