"""Write results: into the output folder only, whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from analyzer.runtime.errors import WriteError

PART = 1 << 20
ELSEWHERE = "Give another folder with -o."


def check_folder(folder: Path, names: tuple[str, ...]) -> None:
    """Tell before the work whether results can be written below `folder`; nothing is created.

    Raises WriteError that names path and reason.
    """
    nearest = folder
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    why = ""
    if not nearest.is_dir():
        why = "it is a file" if nearest.is_file() else "it is not a folder"
    elif not os.access(nearest, os.W_OK | os.X_OK):
        why = "the folder cannot be written to"
    if why:
        raise WriteError("cannot write results here", where=str(nearest), why=why, do=ELSEWHERE)
    for name in names:
        if (folder / name).is_dir():
            raise WriteError(
                "cannot write the result",
                where=str(folder / name),
                why="it is a folder",
                do=ELSEWHERE,
            )


def write_all(folder: Path, texts: Mapping[str, str | Iterable[str]]) -> None:
    """Write UTF-8 texts, whole or in parts, by their names: all to temporary files next to them first, then renamed.

    What is no file (`/dev/null`, a pipe) is written to as it is: a rename would put a file in its place.

    Raises WriteError that names path and reason (disk full, read-only folder, …); then no text
    was written.
    """
    written: dict[Path, str] = {}
    path = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            path = folder / name
            if _is_stream(path):
                with path.open("w", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(_cut_parts(text) if isinstance(text, str) else text)
            else:
                handle, written[path] = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
                with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(_cut_parts(text) if isinstance(text, str) else text)
                    stream.flush()
                    os.fsync(stream.fileno())
                Path(written[path]).chmod(0o644)
        for path, temporary in written.items():  # the path is named in the error
            Path(temporary).replace(path)
    except OSError as error:
        why = error.strerror or str(error)
        raise WriteError(
            "cannot write the result", where=str(path), why=why, do=ELSEWHERE
        ) from error
    finally:
        for temporary in written.values():
            Path(temporary).unlink(missing_ok=True)


def write_atomic(path: Path, text: str) -> None:
    """Write one text as `write_all` does."""
    write_all(path.parent, {path.name: text})


def _is_stream(path: Path) -> bool:
    """Say whether a path is a device or a pipe, or what the system names one by (`/dev/stdout`, `/dev/fd/3`)."""
    if path.absolute().is_relative_to("/dev") and not path.absolute().is_relative_to("/dev/shm"):
        return path.exists()
    try:
        mode = path.lstat().st_mode  # a link in a folder of results is replaced, never followed
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _cut_parts(text: str) -> Iterator[str]:
    """Yield a text in parts: as bytes a long one would be in memory a second time."""
    return (text[start : start + PART] for start in range(0, len(text), PART))
