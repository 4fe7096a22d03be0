"""The identity of a case: the hashes of its files."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from analyzer.runtime.paths import full
from analyzer.sources.folder import find_earlier_results
from analyzer.sources.remote import Place, RemotePath

MOST_FILES = 200  # of an unpacked bundle only so many are listed with a hash


class Hashed(NamedTuple):
    """One input file: its path, name relative to the folder of what was given, state on the disk, hash.

    sha256   "" for a file that could not be read
    made_ns  time of day before it was opened; 0 when it changed while it was read
    """

    path: str
    name: str
    size: int
    mtime_ns: int
    sha256: str
    made_ns: int


def list_input_files(paths: Sequence[Place]) -> Iterator[Place]:
    """Yield the regular files below `paths` in order of name; links and devices are not followed.

    The results of an earlier run are left out.
    """
    waiting = list(reversed(list(paths)))
    while waiting:
        path = waiting.pop()
        try:
            mode = path.lstat().st_mode if path not in paths else path.stat().st_mode
            if stat.S_ISDIR(mode):
                entries = {entry.name: entry for entry in path.iterdir()}
                old = find_earlier_results(path, entries.keys())
                waiting += [entries[name] for name in sorted(entries.keys() - old, reverse=True)]
            elif stat.S_ISREG(mode):
                yield path
        except OSError:
            continue


class FileHashes:
    """SHA-256 of the input files, computed next to the analysis (hashing releases the lock).

    Files of a storage are hashed while the walk reads them, and finished when the result is asked for.

    every  hash all files, also those that are not listed; `collect_all` returns them
    """

    def __init__(self, paths: Sequence[Place], *, every: bool = False) -> None:
        self._listed: list[dict[str, object]] = []
        self._all: list[Hashed] = []
        self._every = every
        on_disk = [path for path in paths if isinstance(path, Path)]
        self._base: dict[Place, Path] = {path: full(path).parent for path in on_disk}
        self.paths = paths
        self._thread = threading.Thread(target=self._hash_files, daemon=True)
        self._started = len(on_disk) == len(paths)
        if self._started:
            self._thread.start()

    def _hash_files(self) -> None:
        for path in self.paths:
            for number, file in enumerate(list_input_files([path])):
                if number >= MOST_FILES and not self._every:
                    return
                hashed = hash_file(file, self._base.get(path))
                if hashed is None:
                    continue
                self._all.append(hashed)
                if hashed.sha256 and number < MOST_FILES:
                    record = {"name": hashed.name, "size": hashed.size, "sha256": hashed.sha256}
                    self._listed.append(record)

    def collect_listed(self) -> list[dict[str, object]]:
        """Wait for the last hash and return name, size and sha256 of each file that is listed."""
        self._wait()
        return self._listed

    def collect_all(self) -> list[Hashed]:
        """Wait for the last hash and return every file, readable or not."""
        self._wait()
        return self._all

    def collect_content(self) -> list[tuple[str, int, str]]:
        """Wait for the last hash and return (name with forward slashes, size in bytes, SHA-256) of every file."""
        hashed = self.collect_all()
        return [(one.name.replace(os.sep, "/"), one.size, one.sha256) for one in hashed]

    def _wait(self) -> None:
        if not self._started:
            self._thread.start()
            self._started = True
        self._thread.join()


def hash_file(file: Place, base: Path | None) -> Hashed | None:
    """Return a file with its hash, None for one that is gone; `base`: the folder its name is relative to."""
    made = time.time_ns()
    try:
        if isinstance(file, RemotePath):
            path, name = str(file), file.within
        else:
            assert base is not None
            path, name = str(full(file)), str(full(file).relative_to(base))
        before = file.stat()
    except (OSError, ValueError):
        return None
    try:
        if isinstance(file, RemotePath):
            digest = file.sha256()
        else:
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        after = file.stat()
    except OSError:
        return Hashed(path, name, before.st_size, before.st_mtime_ns, "", made)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        made = 0
    return Hashed(path, name, after.st_size, after.st_mtime_ns, digest, made)
