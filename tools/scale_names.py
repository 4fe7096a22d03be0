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

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.scale_run import Failed, measured  # noqa: E402 - found through the line above


class _Names:
    """A shelf that only lists, and gives manifests: what it holds is sorted by name, as a store gives it."""

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.url = "made up"
        self.objects = objects

    def list(self, prefix: str = "") -> Iterator[Any]:
        """Yield the objects below a prefix."""
        from analyzer.archive.object_store.object_store import Object  # noqa: PLC0415 - heavy

        return (
            Object(name, len(body), 1.7e9)
            for name, body in self.objects.items()
            if name.startswith(prefix)
        )

    def get(self, name: str) -> bytes:
        """Return the bytes of an object."""
        return self.objects[name]


def _made_up(count: int) -> list[str]:
    """Return `count` entries as names and manifests write them."""
    dice = random.Random(count)
    prints = f"{dice.getrandbits(48):012x}-{dice.getrandbits(48):012x}"
    ids = sorted(f"{dice.getrandbits(128):032x}" for _ in range(count))
    return [
        f"{one}-{dice.getrandbits(64):016x}-{prints}-{1_700_000_000_000 + n:011x}"
        for n, one in enumerate(ids)
    ]


def _segments(entries: list[str], size: int) -> dict[str, bytes]:
    """Return the manifests of segments of `size` cases."""
    from analyzer.archive.entries import SEGMENT_FORMAT  # noqa: PLC0415 - heavy
    from analyzer.archive.seal import sealed_json  # noqa: PLC0415 - heavy

    out = {}
    for start in range(0, len(entries), size):
        some = [
            {"entry": entry, "facts": True, "case": True} for entry in entries[start : start + size]
        ]
        manifest = {"format": SEGMENT_FORMAT, "entries": some, "files": []}
        out[f"segments/{start:011x}-00000000/manifest.json"] = sealed_json(manifest)
    return out


def _one(count: int, size: int) -> dict[str, float]:
    """Measure a snapshot of `count` cases, loose (`size` 0) or in segments of `size`."""
    from analyzer.archive.entries import take_snapshot  # noqa: PLC0415 - heavy

    entries = _made_up(count)
    loose = {f"packs/{entry[:2]}/{entry}.full.zip": b"" for entry in entries} if not size else {}
    objects = _segments(entries, size) if size else loose
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
            run = measured([sys.executable, __file__, str(count), str(size)])
            if run.code:
                raise Failed(
                    run.err.strip().splitlines()[-1] if run.err.strip() else f"exit code {run.code}"
                )
            out[f"{count}/{size}"] = json.loads(run.out)
    return out


if __name__ == "__main__":
    print(json.dumps(_one(int(sys.argv[1]), int(sys.argv[2]))))
