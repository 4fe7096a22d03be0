"""Content hashes by path, size and mtime, so that a second run opens no file it knows.

A file written in the moment of its hashing may change again without a new time; such a hash is not
trusted (git's rule for its index). The cache is only a cache: what is damaged is left aside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from analyzer.archive.object_store.object_store import ObjectStore
from analyzer.archive.seal import sealed_json, unsealed_json
from analyzer.runtime.errors import BacklineError

HASHES = "hashes/"
FORMAT = "backline/hashes-1"
RACY_NS = 2_000_000_000  # the coarsest clock of a file system in use (FAT)


@dataclass(slots=True)
class HashCache:
    """Hashes of the files below one root of one host: path -> (size, mtime_ns, sha256, made_ns)."""

    root: str
    files: dict[str, tuple[int, int, str, int]] = field(default_factory=dict)
    changed: bool = False

    def find_hash(self, path: str, size: int, mtime_ns: int) -> str | None:
        """Return the SHA-256 of a file that is as it was when hashed, or None."""
        found = self.files.get(path)
        if found is None or found[:2] != (size, mtime_ns) or found[3] - mtime_ns < RACY_NS:
            return None
        return found[2]

    def note_hash(self, path: str, size: int, mtime_ns: int, sha256: str, made_ns: int) -> None:
        """Keep a hash; `made_ns` is the time of day (time.time_ns()) before the file was opened for it."""
        self.files[path] = (size, mtime_ns, sha256, made_ns)
        self.changed = True


def _name_cache(root: str) -> str:
    return f"{HASHES}{hashlib.sha256(root.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def load_hashes(objects: ObjectStore, root: str) -> HashCache:
    """Return the cache of a root; an empty one when there is none, or a damaged one."""
    try:
        found = unsealed_json(objects.get(_name_cache(root)))
        if found["format"] != FORMAT or found["root"] != root:
            return HashCache(root)
        files = {}
        for path, (size, mtime_ns, sha256, made_ns) in found["files"].items():
            files[path] = (size, mtime_ns, sha256, made_ns)
    except (BacklineError, ValueError, KeyError, TypeError, AttributeError):
        return HashCache(root)
    for size, mtime_ns, sha256, made_ns in files.values():
        numbers_are_sound = all(isinstance(number, int) for number in (size, mtime_ns, made_ns))
        if not numbers_are_sound or not isinstance(sha256, str) or len(sha256) != 64:
            return HashCache(root)
    return HashCache(root, files)


def forget_hashes(objects: ObjectStore, name: str, meant: Callable[[str], bool]) -> int:
    """Take the files whose path is meant out of a stored cache; return how many."""
    try:
        found = unsealed_json(objects.get(name))
        cache = HashCache(str(found["root"]), dict(found["files"]), changed=True)
    except (BacklineError, ValueError, KeyError, TypeError):
        return 0  # damaged: nothing in it is read
    gone = [path for path in cache.files if meant(path)]
    for path in gone:
        del cache.files[path]
    if gone:
        save_hashes(objects, cache)
    return len(gone)


def save_hashes(objects: ObjectStore, cache: HashCache) -> None:
    """Store a cache that has changed."""
    if not cache.changed:
        return
    data = sealed_json({"format": FORMAT, "root": cache.root, "files": cache.files})
    with suppress(BacklineError):
        objects.put(_name_cache(cache.root), data)
        cache.changed = False
