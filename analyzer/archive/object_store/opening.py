"""Opens or creates the object store of an archive at a folder or URL."""

from __future__ import annotations

import json
import re
from pathlib import Path

from analyzer.archive.object_store.object_store import (
    FORMAT,
    FORMATS,
    HEAD,
    GoneError,
    NotAnArchiveError,
    Shelf,
    head_of,
    shown,
)
from analyzer.errors import UsageError
from analyzer.text import one_line

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C:\ is a drive


def open_shelf(url: str | Path, *, create: bool = False) -> Shelf:
    """Return the shelf of the archive at a folder or URL; `create` makes the archive when there is none.

    Raises NotAnArchiveError (nothing there, something else there, made by a newer version), StorageError,
    BacklineError when an extra is missing.
    """
    if not str(url).strip():  # as an unset variable of a shell gives: the current folder is not meant
        raise UsageError("no archive is named", do="Name a folder or a URL with --archive.")
    shelf = _shelf(str(url))
    try:
        head = shelf.get(HEAD)
    except GoneError:
        if not create:
            raise _no_archive(shelf, "it has no " + HEAD) from None
        _create(shelf)
        return shelf
    _check_head(shelf, head)
    return shelf


def _shelf(url: str) -> Shelf:
    scheme = _URL.match(url)
    if scheme is None:
        from analyzer.archive.object_store.local_store import LocalShelf  # noqa: PLC0415 - one of the two is enough

        return LocalShelf(Path(url))
    if scheme[1].lower() == "file":
        from analyzer.archive.object_store.local_store import LocalShelf, path_of  # noqa: PLC0415 - the same

        return LocalShelf(path_of(url))
    from analyzer.archive.object_store.remote_store import RemoteShelf  # noqa: PLC0415 - the same

    return RemoteShelf(url)


def _create(shelf: Shelf) -> None:
    """Make an archive of an empty place."""
    other = next(iter(shelf.list()), None)
    if other is not None and not shelf.exists(HEAD):  # a second run may have made it just now
        why = f"there are other things, such as {one_line(other.name, 80)}"
        raise _no_archive(shelf, why, "Name an empty folder or one that does not exist yet.")
    shelf.put_new(HEAD, head_of(FORMAT))
    _check_head(shelf, shelf.get(HEAD))


def _check_head(shelf: Shelf, head: bytes) -> None:
    try:
        found = json.loads(head)["format"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise _no_archive(shelf, f"its {HEAD} cannot be read") from None
    if found in FORMATS:
        return
    if isinstance(found, str) and found.startswith("backline/archive-"):
        raise NotAnArchiveError(
            "the archive was made by a newer version",
            where=shown(shelf.url),
            why=f"its format is {one_line(found, 40)}, this version reads {FORMAT} and older",
            do="Use the version of Backline that made it, or a newer one.",
        )
    raise _no_archive(shelf, f"its {HEAD} is of something else")


def _no_archive(shelf: Shelf, why: str, do: str = "") -> NotAnArchiveError:
    do = do or "Check the name; `backline batch PATH... --archive DIR` makes an archive."
    return NotAnArchiveError("this is not a case archive", where=shown(shelf.url), why=why, do=do)
