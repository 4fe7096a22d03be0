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

from analyzer.runtime.paths import absolute_path
from analyzer.sources.folder import find_earlier_results
from analyzer.sources.remote import Place, RemotePath

MOST_FILES = 200  # of an unpacked bundle only so many are listed with a hash


def input_files(paths: Sequence[Place]) -> Iterator[Place]:
    """Yield the regular files below `paths` in order of name; links and devices are not followed."""
    todo = list(reversed(list(paths)))
    while todo:
        path = todo.pop()
        try:
            mode = path.lstat().st_mode if path not in paths else path.stat().st_mode
            if stat.S_ISDIR(mode):
                todo += _entries(path)
            elif stat.S_ISREG(mode):
                yield path
        except OSError:
            continue


def _entries(folder: Place) -> list[Place]:
    """Return what lies in a folder, last name first, without the results of an earlier run."""
    found = {path.name: path for path in folder.iterdir()}
    old = find_earlier_results(folder, found.keys())
    return [found[name] for name in sorted(found.keys() - old, reverse=True)]


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


class FileHashes:
    """SHA-256 of the input files, computed beside the analysis (hashing releases the lock).

    Files of a storage are hashed while the walk reads them, and finished when the result is asked for.

    every  hash all files, also those that are not listed; `all` returns them
    """

    def __init__(self, paths: Sequence[Place], *, every: bool = False) -> None:
        self._files: list[dict[str, object]] = []
        self._all: list[Hashed] = []
        self._every = every
        on_disk = [path for path in paths if isinstance(path, Path)]
        self._base: dict[Place, Path] = {path: absolute_path(path).parent for path in on_disk}
        self.paths = paths
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._started = len(on_disk) == len(paths)
        if self._started:
            self._thread.start()

    def _run(self) -> None:
        for path in self.paths:
            for number, file in enumerate(input_files([path])):
                if number >= MOST_FILES and not self._every:
                    return
                one = self._one(path, file)
                if one is None:
                    continue
                self._all.append(one)
                if one.sha256 and number < MOST_FILES:
                    self._files.append({"name": one.name, "size": one.size, "sha256": one.sha256})

    def _one(self, path: Place, file: Place) -> Hashed | None:
        made = time.time_ns()
        try:
            if isinstance(file, RemotePath):
                where, name = str(file), file.within
            else:
                where, name = (
                    str(absolute_path(file)),
                    str(absolute_path(file).relative_to(self._base[path])),
                )
            before = file.stat()
        except (OSError, ValueError):
            return None
        try:
            digest = _sha256(file)
            status = file.stat()
        except OSError:
            return Hashed(where, name, before.st_size, before.st_mtime_ns, "", made)
        made = (
            made
            if (before.st_size, before.st_mtime_ns) == (status.st_size, status.st_mtime_ns)
            else 0
        )
        return Hashed(where, name, status.st_size, status.st_mtime_ns, digest, made)

    def result(self) -> list[dict[str, object]]:
        """Wait for the last hash and return name, size and sha256 of each file."""
        self._wait()
        return self._files

    def all(self) -> list[Hashed]:
        """Wait for the last hash and return every file, readable or not."""
        self._wait()
        return self._all

    def content(self) -> list[tuple[str, int, str]]:
        """Wait for the last hash and return (name with forward slashes, size in bytes, SHA-256) of every file."""
        return [(one.name.replace(os.sep, "/"), one.size, one.sha256) for one in self.all()]

    def _wait(self) -> None:
        if not self._started:
            self._thread.start()
            self._started = True
        self._thread.join()


def _sha256(file: Place) -> str:
    if isinstance(file, RemotePath):
        return file.sha256()
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
