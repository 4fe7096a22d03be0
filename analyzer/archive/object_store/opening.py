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
    ObjectStore,
    head_of,
    show_url,
)
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C:\ is a drive


def open_store(url: str | Path, *, create: bool = False) -> ObjectStore:
    """Return the object store of the archive at a folder or URL; `create` makes the archive when there is none.

    Raises NotAnArchiveError (nothing there, something else there, made by a newer version), StorageError,
    BacklineError when an extra is missing.
    """
    if not str(url).strip():  # an unset variable of a shell: the current folder is not meant
        raise UsageError("no archive given", do="Name a folder or a URL with --archive.")
    objects = _choose_store(str(url))
    head = None
    try:
        head = objects.get(HEAD)
    except GoneError:
        if not create:
            raise _no_archive(objects, "it has no " + HEAD) from None
    if head is None:
        other = next(iter(objects.list()), None)
        if other is not None and not objects.exists(HEAD):  # a second run may have made it just now
            why = f"there are other things, such as {one_line(other.name, 80)}"
            raise _no_archive(objects, why, "Name an empty folder or one that does not exist yet.")
        objects.put_new(HEAD, head_of(FORMAT))
        head = objects.get(HEAD)
    _check_head(objects, head)
    return objects


def _choose_store(url: str) -> ObjectStore:
    scheme = _URL.match(url)
    if scheme is None:
        from analyzer.archive.object_store.local_store import LocalStore  # noqa: PLC0415 - one of the two is enough

        return LocalStore(Path(url))
    if scheme[1].lower() == "file":
        from analyzer.archive.object_store.local_store import LocalStore, path_of  # noqa: PLC0415 - the same

        return LocalStore(path_of(url))
    from analyzer.archive.object_store.remote_store import RemoteStore  # noqa: PLC0415 - the same

    return RemoteStore(url)


def _check_head(objects: ObjectStore, head: bytes) -> None:
    try:
        found = json.loads(head)["format"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise _no_archive(objects, f"its {HEAD} cannot be read") from None
    if found in FORMATS:
        return
    if isinstance(found, str) and found.startswith("backline/archive-"):
        raise NotAnArchiveError(
            "the archive was made by a newer version",
            where=show_url(objects.url),
            why=f"its format is {one_line(found, 40)}, this version reads {FORMAT} and older",
            do="Use the version of Backline that made it, or a newer one.",
        )
    raise _no_archive(objects, f"its {HEAD} is of something else")


def _no_archive(objects: ObjectStore, why: str, do: str = "") -> NotAnArchiveError:
    do = do or "Check the name; `backline batch PATH... --archive DIR` makes an archive."
    return NotAnArchiveError(
        "this is not a case archive", where=show_url(objects.url), why=why, do=do
    )
