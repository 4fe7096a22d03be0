"""What a watch has done, kept next to its results so that a restart does not repeat it.

`backline-watch.json`: {"format", "folder", "cases": {name: {look, content, bytes, mtime_ns, state, why, results,
tool, at}}}. `look` stands for names, sizes and times of the files; `content` for their names within the case,
sizes and SHA-256: a file that was renamed or touched is known by it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from analyzer import __version__
from analyzer.runtime.errors import BacklineError, UsageError, WriteError
from analyzer.runtime.output import write_atomic
from analyzer.runtime.paths import folder_name
from analyzer.runtime.text import one_line
from analyzer.sources.folder import find_earlier_results

FORMAT = "backline/watch-1"
STATE, LOCK = "backline-watch.json", "backline-watch.lock"
MOST = 10_000  # cases remembered; the oldest go first
HEAD = 8192  # characters of a case document in which the name of the case stands
LONGEST = 100  # characters of the name of a results folder
AGAIN = ("refused", "failed")  # tried again by another version of the tool


@dataclass(frozen=True, slots=True)
class DoneCase:
    """One case that was done; `results` is the folder of its report below the results, "" when it has none."""

    look: str
    content: str
    bytes: int
    mtime_ns: int
    state: str
    why: str
    results: str
    tool: str
    at: str


class WatchState:
    """What was done in one watched folder; `out` is the folder of the results."""

    def __init__(self, out: Path, folder: str) -> None:
        self.out, self.folder = out, folder
        self.cases: dict[str, DoneCase] = {}

    @classmethod
    def load_state(cls, out: Path, folder: str) -> WatchState:
        """Read the state, or begin one. Raises UsageError when the results are those of another watched folder."""
        state, path = cls(out, folder), out / STATE
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return state
        except (OSError, ValueError) as error:
            raise _damaged_error(path, getattr(error, "strerror", None) or str(error)) from None
        try:
            held = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _damaged_error(path, str(error)) from None
        is_state = isinstance(held, dict) and held.get("format") == FORMAT
        if not is_state or not isinstance(held.get("cases"), dict):
            raise _damaged_error(path, f"it is not of the form {FORMAT}")
        if held.get("folder") != folder:
            raise UsageError(
                "these results are those of another watched folder",
                where=str(out),
                why=one_line(str(held.get("folder"))),
                do="Name another folder for the results with -o.",
            )
        kinds: dict[str, type] = {field.name: str for field in fields(DoneCase)}
        kinds |= {"bytes": int, "mtime_ns": int}
        for name, one in held["cases"].items():
            if not isinstance(one, dict):
                raise _damaged_error(path, "an entry is not of its form")
            if any(type(one.get(key)) is not kind for key, kind in kinds.items()):
                raise _damaged_error(path, "an entry is not of its form")
            known = DoneCase(**{key: one[key] for key in kinds})
            if not re.fullmatch(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*)?", known.results):
                raise _damaged_error(path, "an entry names a folder that Backline did not make")
            state.cases[name] = known
        return state

    def save_state(self) -> None:
        """Write the state; raises BacklineError when that is not possible."""
        newest = sorted(self.cases.items(), key=lambda item: item[1].at)[-MOST:]
        self.cases = dict(newest)
        cases = {name: asdict(one) for name, one in sorted(newest)}
        held = {"format": FORMAT, "folder": self.folder, "cases": cases}
        write_atomic(self.out / STATE, json.dumps(held, indent=1, ensure_ascii=True) + "\n")

    def is_done(self, name: str, look: str) -> bool:
        """Say whether a case was done as it lies there now."""
        one = self.cases.get(name)
        return (
            one is not None
            and one.look == look
            and not (one.state in AGAIN and one.tool != __version__)
        )

    def find_alike(self, size: int) -> dict[str, str]:
        """Return the cases of that many bytes: content -> name. A case of other bytes has other content."""
        return {
            one.content: name
            for name, one in self.cases.items()
            if one.bytes == size
            and one.content
            and not (one.state in AGAIN and one.tool != __version__)
        }

    def results_of(self, name: str, also: Collection[str] = ()) -> str:
        """Return the name of the results folder of a case: its own from before, else one that no one has.

        A folder that holds the report of a case of this name is its own: a run may have ended before it was noted.
        also  names that are taken as well
        """
        taken = {
            one.results.lower()
            for other, one in self.cases.items()
            if other != name and one.results
        } | {*also}
        own = self.cases[name].results if name in self.cases else ""
        if own and own.lower() not in taken:
            return own
        plain = folder_name(name, LONGEST)
        for number in range(1, MOST):
            chosen = plain if number == 1 else f"{plain}-{number}"
            path = self.out / chosen
            if chosen.lower() not in taken and (
                not os.path.lexists(path) or _read_case_name(path) in (name, "")
            ):
                return chosen
        raise WriteError(
            "too many results of this name", where=str(self.out / plain), do="Clear the folder up."
        )


def content_of(name: str, files: Iterable[tuple[str, int, str]]) -> str:
    """Return what stands for the content of a case: (relative name, size, SHA-256) without the name of the case."""
    digest = hashlib.sha256()
    for path, size, sha256 in sorted(
        (path.removeprefix(name), size, sha256) for path, size, sha256 in files
    ):
        digest.update(json.dumps([path, size, sha256]).encode())
    return digest.hexdigest()


def _read_case_name(folder: Path) -> str | None:
    """Return the name of the case whose results lie in a folder, "" for an empty one, None for anything else."""
    try:
        names = {path.name for path in folder.iterdir()}
        if folder.is_symlink() or (names and not find_earlier_results(folder, names)):
            return None
        if not names:
            return ""  # the disk was full when results were to be written
        with (folder / "case.json").open(encoding="utf-8") as stream:
            head = stream.read(HEAD)
        found = re.search(r'^"case": \{"name":("(?:[^"\\]|\\.)*")', head, re.MULTILINE)
        return str(json.loads(found[1])) if found else None
    except (OSError, ValueError):
        return None


def _damaged_error(path: Path, why: str) -> BacklineError:
    what = "what was done before cannot be read"
    return BacklineError(
        what, where=str(path), why=one_line(why, 200), do="Delete the file to start over."
    )


@contextmanager
def lock_results(out: Path) -> Iterator[None]:
    """Keep the results folder for this process as long as the block runs; made if needed.

    Raises BacklineError when another process has it, or nothing can be written there.
    """
    path = out / LOCK
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    except OSError as error:
        why = error.strerror or str(error)
        raise WriteError(
            "nothing can be written here", where=str(out), why=why, do="Name another -o."
        ) from None
    try:
        try:
            if sys.platform == "win32":
                import msvcrt  # noqa: PLC0415 - only there

                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            else:
                import fcntl  # noqa: PLC0415 - not everywhere

                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            why = "one folder of results is for one watch at a time"
            raise BacklineError(
                "another watch is at work here", where=str(out), why=why, do="Name another -o."
            ) from None
        yield
    finally:
        os.close(handle)  # gives the lock free; the file stays, since another one may wait for it
