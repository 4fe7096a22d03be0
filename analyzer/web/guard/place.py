"""The private folder of one server: uploads are kept there under numbers until it ends.

    backline-serve-<pid>-<chance>/    mode 0700
        lock                          held as long as the server lives
        <case>/<number>               an uploaded file; `<number>.part` while it comes

No name in it comes from a client. What a crashed server left is removed by the next one: a folder of
ours whose lock no one holds.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from analyzer.runtime.errors import UsageError, WriteError

PREFIX = "backline-serve-"
LOCK = "lock"
YOUNG = 600.0  # seconds: a folder without a lock may be one that is being made
_CASE = re.compile(r"[0-9a-f]{32}")


class PrivatePlace:
    """The folder of this server; use `PrivatePlace.make`, and `close` at the end."""

    def __init__(self, folder: Path, lock: IO[bytes]) -> None:
        self.folder, self._lock = folder, lock

    @classmethod
    def make_folder(cls, parent: Path | None = None) -> PrivatePlace:
        """Make a new private folder below `parent` (where large temporary files belong when None), and lock it.

        Raises UsageError when `parent` is no folder, WriteError when nothing can be written there.
        """
        parent = usual_parent() if parent is None else parent
        if not parent.is_dir():
            raise UsageError(
                "no such folder", where=str(parent), do="Give an existing folder with --work-dir."
            )
        try:
            folder = Path(
                tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent)
            )  # mode 0700
            return cls(folder.resolve(), _locked_new(folder))
        except OSError as error:
            why = error.strerror or str(error)
            do = "Give another folder with --work-dir."
            raise WriteError(
                "no private folder can be made", where=str(parent), why=why, do=do
            ) from None

    def new_case(self) -> str:
        """Make the folder of a new case; return its id, which no one can guess."""
        case = secrets.token_hex(16)
        self.case_folder(case).mkdir(mode=0o700)
        return case

    def case_folder(self, case: str) -> Path:
        """Return the folder of a case; ValueError for what is no id."""
        if not _CASE.fullmatch(case):
            raise ValueError("not the id of a case")
        return self.folder / case

    def find_file(self, case: str, number: int) -> Path:
        """Return where the file of that number of a case lies."""
        return self.case_folder(case) / str(int(number))

    def remove_case(self, case: str) -> None:
        """Remove everything of a case; nothing happens when it is gone."""
        _remove_tree(self.case_folder(case))

    def count_free(self) -> int:
        """Return how many bytes can still be written."""
        return shutil.disk_usage(self.folder).free

    def remove_all(self) -> None:
        """Remove the folder with all that lies in it; may be called twice."""
        if not self._lock.closed:
            if sys.platform == "win32":  # an open file cannot be removed there
                self._lock.close()
            _remove_tree(self.folder)
            self._lock.close()


def usual_parent() -> Path:
    """Return where large temporary files belong: what TMPDIR says, else /var/tmp, since /tmp is often in memory."""
    large = Path("/var/tmp")
    chosen = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    if not chosen and os.name == "posix" and large.is_dir() and os.access(large, os.W_OK):
        return large
    return Path(tempfile.gettempdir())


def remove_leftovers(parent: Path | None = None) -> list[Path]:
    """Remove the folders that crashed servers of this user left below `parent`; return them.

    A folder of another user, a link, and the folder of a server that lives are left alone.
    """
    parent = usual_parent() if parent is None else parent
    try:
        found = sorted(path for path in parent.iterdir() if path.name.startswith(PREFIX))
    except OSError:
        return []
    return [path for path in found if _is_ours(path) and _remove_left(path)]


def _is_ours(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (
        not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    )


def _remove_left(folder: Path) -> bool:
    """Remove a folder unless a server holds its lock; tell whether it is gone."""
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        lock = os.fdopen(os.open(folder / LOCK, flags), "r+b", buffering=0)
    except FileNotFoundError:  # crashed while it was made, or is being made
        try:
            young = time.time() - folder.stat().st_mtime < YOUNG
        except OSError:
            return False
        if young:
            return False
        _remove_tree(folder)
        return not folder.exists()
    except OSError:
        return False
    with lock:
        if not take_lock(lock):
            return False
        if sys.platform == "win32":
            lock.close()
        _remove_tree(folder)
    return not folder.exists()


def _locked_new(folder: Path) -> IO[bytes]:
    """Make the lock of a new folder; it gets its name when it is held, so that no one finds it free."""
    if sys.platform == "win32":
        lock = (folder / LOCK).open("x+b", buffering=0)  # an open file cannot be renamed there
        take_lock(lock)
        return lock
    new = folder / f"{LOCK}.new"
    lock = new.open("x+b", buffering=0)
    take_lock(lock)
    new.rename(folder / LOCK)
    return lock


def take_lock(lock: IO[bytes]) -> bool:
    """Take the lock on an open file; False when another holds it. It ends with the process, however that ends."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - of Windows only

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - of POSIX only

            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_tree(folder: Path) -> None:
    """Remove a folder; it does not follow links, and what cannot be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)
