"""The folder of the user that holds what can be made again: where it is, and who may write there.

Linux    $XDG_CACHE_HOME/backline, else ~/.cache/backline
         (https://specifications.freedesktop.org/basedir-spec/latest/)
macOS    ~/Library/Caches/backline
Windows  %LOCALAPPDATA%\\backline\\Cache

`BACKLINE_CACHE` names another folder, or is `off`. On systems with owners and permissions, folder and files belong to
the user and no one else may write to them, or they count as absent: another user must not be able to plant one.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

VARIABLE = "BACKLINE_CACHE"
# How the names of files begin: rules and facts, automata of Hyperscan, what follows from patterns, compiled templates.
RULES, PATTERNS, ANSWERS, TEMPLATES = "rules-", "patterns-", "answers-", "templates-"
ENDING, UNFINISHED = ".cache", ".unfinished"
MOST_FILES, MOST_DAYS = 100, 30  # the newest stay, as long as they are used
DAY = 86_400.0
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def find_folder() -> Path | None:
    """Return the folder, which need not exist; None when there shall be none."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted:
        return Path(wanted) if wanted != "off" and Path(wanted).is_absolute() else None
    if sys.platform == "win32":
        base, own = os.environ.get("LOCALAPPDATA", ""), "backline/Cache"
    elif sys.platform == "darwin":
        base, own = _find_home("Library/Caches"), "backline"
    else:
        base, own = os.environ.get("XDG_CACHE_HOME", ""), "backline"
        base = base if Path(base).is_absolute() else _find_home(".cache")
    return Path(base, own) if Path(base).is_absolute() else None


def _find_home(below: str) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    return str(Path(home, below)) if Path(home).is_absolute() else ""


def read_file(path: Path, most: int) -> bytes:
    """Return the bytes of a file of the folder; OSError when it is not there or may be another user's."""
    if not _is_own(path.parent.lstat(), folder=True):
        raise PermissionError
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as stream:
        state = os.fstat(handle)
        if not _is_own(state, folder=False) or state.st_size > most:
            raise PermissionError
        data = stream.read(most + 1)
    if time.time() - state.st_mtime > DAY:
        with suppress(OSError):
            os.utime(path)  # it is in use: not to be swept
    return data


def read_sealed(path: Path, form: str, most: int) -> bytes:
    """Return what `write_sealed` wrote; OSError as `read` raises it, ValueError where it is damaged or another form."""
    return unseal_data(form, read_file(path, most))


def write_sealed(path: Path, form: str, data: bytes) -> None:
    """Write a file of the folder, sealed."""
    write_file(path, seal_data(form, data))


def seal_data(form: str, data: bytes) -> bytes:
    """Return data behind a line with its form and its SHA-256."""
    return _write_head(form, data) + b"\n" + data


def unseal_data(form: str, sealed: bytes) -> bytes:
    """Return the data behind a seal; ValueError where it is damaged or of another form."""
    head, _, data = sealed.partition(b"\n")
    if head != _write_head(form, data):
        raise ValueError
    return data


def _write_head(form: str, data: bytes) -> bytes:
    return f"{form} {hashlib.sha256(data).hexdigest()}".encode()


def may_write(folder: Path) -> bool:
    """Say whether the folder is one to write to, before something is made for it alone."""
    try:
        missing, there = _list_missing(folder)
        state = there.stat() if missing else there.lstat()
        return _is_own(state, folder=True) and os.access(there, os.W_OK)
    except OSError:
        return False


def _list_missing(folder: Path) -> tuple[list[Path], Path]:
    """Return the folders that have to be made, the lowest first, and the one that is there."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    return missing, folder


def write_file(path: Path, data: bytes) -> None:
    """Write a file of the folder, whole or not at all, and sweep out old ones; what cannot be written is left."""
    unfinished = ""
    try:
        # Below a folder of the user only, not below the home of another
        missing, there = _list_missing(path.parent)
        if missing and not _is_own(there.stat(), folder=True):
            return
        for one in reversed(missing):
            one.mkdir(0o700, exist_ok=True)
        if not _is_own(path.parent.lstat(), folder=True):
            return
        handle, unfinished = tempfile.mkstemp(prefix=RULES, suffix=UNFINISHED, dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(unfinished).replace(path)
        _sweep_folder(path)
    except OSError:
        if unfinished:
            with suppress(OSError):
                Path(unfinished).unlink(missing_ok=True)


def _is_own(state: os.stat_result, *, folder: bool) -> bool:
    """Say whether a folder or a file belongs to this user, and no one else may write to it."""
    if not (stat.S_ISDIR if folder else stat.S_ISREG)(state.st_mode):
        return False
    return sys.platform == "win32" or (state.st_uid == os.geteuid() and not state.st_mode & _OTHERS)


def _sweep_folder(kept: Path) -> None:
    """Remove what was not used for long, and the oldest beyond a number; nothing but files of ours."""
    finished = []
    old = []
    for one in kept.parent.iterdir():
        if one == kept or not one.name.startswith((RULES, PATTERNS, ANSWERS, TEMPLATES)):
            continue
        age = time.time() - one.lstat().st_mtime
        if one.name.endswith(ENDING):
            finished.append((age, one))
        elif one.name.endswith(UNFINISHED) and age > DAY:
            old.append(one)
    for number, (age, one) in enumerate(sorted(finished), start=1):
        if age > MOST_DAYS * DAY or number >= MOST_FILES:
            old.append(one)
    for one in old:
        with suppress(OSError):
            one.unlink()
