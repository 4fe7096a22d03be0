"""Tells a folder of many cases from the folder of one, by names alone: a triage of it would be one giant case."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from analyzer.archive.batches.find import is_archive, is_bundle, material
from analyzer.errors import UsageError

FEWEST = 5  # folders of cases: fewer may be the hosts of one
LOOKED_AT = 20_000  # names at most
DEPTH = 3


def case_folders(names: Iterable[str]) -> list[str]:
    """Return the folders that hold a case each, of the names of files below one folder (`case-1/esx.tgz`).

    None when fewer than `FEWEST` do, when a text lies beside them, as the notes of one case do, or when the folder is
    an unpacked bundle. Unpacked bundles beside one another are the hosts of one site and do not count.
    """
    inside: dict[str, set[str]] = {}
    for name in islice(names, LOOKED_AT):
        top, below, rest = name.replace("\\", "/").partition("/")
        if not below:
            if material(top) and not is_archive(top):
                return []
        elif material(name):
            inside.setdefault(top, set()).add(rest.partition("/")[0])
    if is_bundle(set(inside)):
        return []
    found = sorted(top for top, below in inside.items() if not is_bundle(below) and not top.startswith("esx-"))
    return found if len(found) >= FEWEST else []


def folders_of_cases(path: Path) -> list[str]:
    """Return the folders of cases that a folder of this machine holds; none for a file, or one that cannot be read."""
    return case_folders(_names(path, "", DEPTH)) if path.is_dir() else []


def refuse_many(paths: Iterable[object]) -> None:
    """Raise UsageError for a folder that holds many cases, with the two things that can be meant."""
    for path in paths:
        found = folders_of_cases(path) if isinstance(path, Path) else []
        if found:
            raise UsageError(
                f"this folder holds {len(found):,} cases",
                where=str(path),
                why=f"each of its folders looks like a case of its own ({', '.join(found[:3])}, …)",
                do=f"Batch them into an archive: `backline batch {path} --archive ARCHIVE`. If they are one case, "
                "say --one-case.",
            )


def _names(path: Path, before: str, depth: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            if depth > 1:
                yield from _names(Path(entry.path), f"{before}{entry.name}/", depth - 1)
        else:
            yield f"{before}{entry.name}"
