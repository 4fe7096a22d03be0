"""The content hashes an archive knows, as a batch run looks them up and adds to them."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from analyzer.archive.batches import plan
from analyzer.archive.batches.find import FoundCase
from analyzer.errors import BacklineError

if TYPE_CHECKING:
    from analyzer.archive.hashcache import HashCache
    from analyzer.archive.store import Archive
    from analyzer.ingest.file_hashes import Hashed


class Hashes:
    """The known content hashes, by the folder that holds a case."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._host = socket.gethostname()
        self._caches: dict[str, HashCache] = {}
        self._saved = time.monotonic()

    def id_of(self, found: FoundCase) -> str:
        """Return what a case is when all its files are as they were when hashed, else ""."""
        return plan.known_id(found, self._cache(found))

    def note(self, hashes: Sequence[Hashed], found: FoundCase | None) -> None:
        """Keep the hashes of a case's files."""
        if found is None:
            return
        cache = self._cache(found)
        for one in hashes:
            if one.sha256:
                cache.note(one.path, one.size, one.mtime_ns, one.sha256, one.made_ns)

    def save(self, after: float = 0.0) -> None:
        """Store what has changed, if the last time is `after` seconds ago; another run may have added its own."""
        if time.monotonic() - self._saved < after:
            return
        for root, cache in self._caches.items():
            if not cache.changed:
                continue
            with suppress(BacklineError):  # it is only a cache
                for path, known in self.archive.hashes(root).files.items():
                    cache.files.setdefault(path, known)
                self.archive.save_hashes(cache)
        self._saved = time.monotonic()

    def _cache(self, found: FoundCase) -> HashCache:
        above = found.source[: len(found.source) - len(found.name)]
        root = above if "://" in above else f"{self._host}:{above}"
        if root not in self._caches:
            self._caches[root] = self.archive.hashes(root)
        return self._caches[root]
