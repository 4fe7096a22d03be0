"""Write results: into the output folder only, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from analyzer.errors import BacklineError


def write_atomic(path: Path, text: str) -> None:
    """Write UTF-8 text to a temporary file beside `path`, sync it and rename it.

    Raises BacklineError that names path and reason (disk full, read-only folder, …).
    """
    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise BacklineError(
            "cannot write the result",
            where=str(path),
            why=error.strerror or str(error),
            do="Give another folder with -o.",
        ) from error
