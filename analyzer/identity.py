"""What identifies a case for ever: the hashes of its files."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from analyzer.sources.folder import earlier_results

MOST_FILES = 200  # of an unpacked bundle only so many are listed with a hash


def full(path: Path) -> Path:
    """Return the absolute path without following links, which may lead nowhere or in a circle."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links


def input_files(paths: Sequence[Path]) -> Iterator[Path]:
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


def _entries(folder: Path) -> list[Path]:
    """Return what lies in a folder, last name first, without the results of an earlier run."""
    names = {path.name for path in folder.iterdir()}
    return [folder / name for name in sorted(names - earlier_results(folder, names), reverse=True)]


class FileHashes:
    """SHA-256 of the input files, computed beside the analysis (hashing releases the lock)."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: list[dict[str, object]] = []
        self._base = {path: full(path).parent for path in paths}
        self._paths = paths
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for path in self._paths:
            for number, file in enumerate(input_files([path])):
                if number >= MOST_FILES:
                    return
                try:
                    with file.open("rb") as stream:
                        digest = hashlib.file_digest(stream, "sha256").hexdigest()
                    name = str(full(file).relative_to(self._base[path]))
                    self._files.append({"name": name, "size": file.stat().st_size, "sha256": digest})
                except (OSError, ValueError):
                    continue

    def result(self) -> list[dict[str, object]]:
        """Wait for the last hash and return name, size and sha256 of each file."""
        self._thread.join()
        return self._files
