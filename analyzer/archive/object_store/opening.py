"""Opens or creates the object store of an archive at a folder or URL."""

from __future__ import annotations

import json
import re
from pathlib import Path

from analyzer.archive.object_store.local_store import LocalStore, path_of
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
from analyzer.archive.object_store.remote_store import RemoteStore
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
    scheme = _URL.match(str(url))
    objects: ObjectStore
    if scheme is None:
        objects = LocalStore(Path(url))
    elif scheme[1].lower() == "file":
        objects = LocalStore(path_of(str(url)))
    else:
        objects = RemoteStore(str(url))
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
    try:
        found = json.loads(head)["format"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise _no_archive(objects, f"its {HEAD} cannot be read") from None
    if found not in FORMATS:
        if isinstance(found, str) and found.startswith("backline/archive-"):
            raise NotAnArchiveError(
                "the archive was made by a newer version",
                where=show_url(objects.url),
                why=f"its format is {one_line(found, 40)}, this version reads {FORMAT} and older",
                do="Use the version of Backline that made it, or a newer one.",
            )
        raise _no_archive(objects, f"its {HEAD} is of something else")
    return objects


def _no_archive(objects: ObjectStore, why: str, do: str = "") -> NotAnArchiveError:
    do = do or "Check the name; `backline batch PATH... --archive DIR` makes an archive."
    return NotAnArchiveError(
        "this is not a case archive", where=show_url(objects.url), why=why, do=do
    )
