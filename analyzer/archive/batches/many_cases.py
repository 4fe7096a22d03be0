"""Tells a folder of many cases from the folder of one, by names alone: a triage of it would be one giant case."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import islice
from pathlib import Path

from analyzer.archive.batches.find import MANY, is_archive, is_bundle, is_material
from analyzer.runtime.errors import UsageError

FEWEST = 5  # folders of cases: fewer may be the hosts of one
LOOKED_AT = 20_000  # names at most
DEPTH = 3
ONE_CAPTURE = timedelta(days=2)  # archives of one case were made within it
_OF_NSX = re.compile(
    r"(?i)\b(?:nsx|vsm|controller|edge)(?![a-z])|nsx-?(?:t|v|mgr|manager|controller|edge)"
)
_DAY = re.compile(r"(?<!\d)(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?([0-3]\d)(?!\d{3})")


@dataclass(frozen=True, slots=True)
class ManyCases:
    """What a folder of many cases holds.

    names   folders and archives that are a case each; none when the folder is one case
    beside  files with material that belong to none of them
    """

    names: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)

    @property
    def case_kind(self) -> str:
        """What the cases are: folders, archives, or both."""
        packed = sum(map(is_archive, self.names))
        return (
            "folders"
            if not packed
            else "archives"
            if packed == len(self.names)
            else "folders and archives"
        )


def cases_among(names: Iterable[str]) -> ManyCases:
    """Return the cases of a folder, of the names of all files below it (`case-1/esx.tgz`, `case-2.tgz`).

    It holds many when `FEWEST` of its folders look like a case, or when it has more than `MANY` archives. It is one
    case when a text lies next to the folders, as the notes of one case do; when it is an unpacked bundle; and when the
    names of its archives say that all were made within `ONE_CAPTURE`, or that those without a day are of the NSX that
    joins the others. Unpacked bundles next to one another are the
    hosts of one site.
    """
    inside: dict[str, set[str]] = {}
    archives: list[str] = []
    beside: list[str] = []
    for name in islice(names, LOOKED_AT):
        top, below, rest = name.replace("\\", "/").partition("/")
        if not is_material(name):
            continue
        if below:
            inside.setdefault(top, set()).add(rest.partition("/")[0])
        else:
            (archives if is_archive(top) else beside).append(top)
    if is_bundle(set(inside)):
        return ManyCases()
    folders = [
        top for top, below in inside.items() if not is_bundle(below) and not top.startswith("esx-")
    ]
    if (len(folders) < FEWEST or beside) and (len(archives) <= MANY or _at_once(archives)):
        return ManyCases()
    return ManyCases(sorted([*inside, *archives]), sorted(beside))


def _at_once(archives: Sequence[str]) -> bool:
    """Say whether all names have a day, and the days lie close together; a machine of NSX may have none.

    The Manager, the controllers and the Edges of a site name its hosts, and these name them, so they are one case.
    """
    days = []
    dated = [name for name in archives if _DAY.search(name)]
    if len(dated) < len(archives) and all(_OF_NSX.search(name) for name in {*archives} - {*dated}):
        archives = dated
    for name in archives:
        found = _DAY.search(name)
        try:
            days.append(date(*map(int, found.groups())) if found else None)
        except ValueError:
            days.append(None)
    known = [day for day in days if day is not None]
    return len(known) == len(archives) > 0 and max(known) - min(known) <= ONE_CAPTURE


def cases_below(path: Path) -> ManyCases:
    """Return the cases that a folder of this machine holds; none for a file, or one that cannot be read."""
    return cases_among(_names_below(path, "", DEPTH)) if path.is_dir() else ManyCases()


def refuse_many(paths: Sequence[object]) -> None:
    """Raise UsageError for a folder that holds many cases, or paths that are many; it names both ways on."""
    here = [path for path in paths if isinstance(path, Path)]
    for path in here:
        if (found := cases_below(path)).names:
            raise _many_error(
                f"this folder holds {len(found.names):,} cases",
                found,
                str(path),
                shlex.quote(str(path)),
            )
    if len(here) != len(paths):
        return
    names: list[str] = []  # as if all of them lay in one folder
    for path in here:
        if path.is_dir():
            names += _names_below(path, f"{path.name}/", DEPTH - 1)
        else:
            names.append(path.name)
    if (found := cases_among(names)).names:
        given = shlex.join(map(str, here[:2])) + (" …" if len(here) > 2 else "")
        raise _many_error(f"these are {len(found.names):,} cases", found, "", given)


def _many_error(what: str, found: ManyCases, where: str, given: str) -> UsageError:
    return UsageError(
        f"{what}: {found.case_kind} that each look like a case, such as {', '.join(found.names[:3])}",
        where=where,
        do=f"To triage each of them: `backline batch {given} --archive ARCHIVE`. If they are one case, add --one-case.",
    )


def _names_below(path: Path, before: str, depth: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            if depth > 1:
                yield from _names_below(Path(entry.path), f"{before}{entry.name}/", depth - 1)
        else:
            yield f"{before}{entry.name}"
