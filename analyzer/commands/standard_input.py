"""`-` among the paths: what comes on standard input, kept as one private file as long as a command reads it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from analyzer.runtime.errors import BacklineError, UsageError, WriteError

if TYPE_CHECKING:
    from analyzer.sources.remote import Place

    Given = TypeVar("Given", bound=Place)

DASH = Path("-")
NAME = "stdin"  # what addresses call it


@contextmanager
def open_standard_input(paths: Sequence[Given]) -> Iterator[list[Given | Path]]:
    """Yield the paths with a file in the place of `-`; it lies in a private folder and is deleted after the block.

    Without `-` nothing is read: a terminal would wait for input, and a shell's loop would lose the lines it still has.
    Archives are read from front to back and back again, so a pipe cannot be read in place. A file called `-` is `./-`.
    Raises UsageError when `-` is given twice, WriteError when there is no room for it.
    """
    if sum(path == DASH for path in paths) > 1:
        raise UsageError("`-` is given twice", do="Standard input can be read once.")
    if DASH not in paths:
        yield list(paths)
        return
    with tempfile.TemporaryDirectory(prefix="backline-stdin-") as folder:
        file = Path(folder) / NAME
        _save_input(file)
        try:
            yield [file if path == DASH else path for path in paths]
        except BacklineError as error:
            error.where = error.where.replace(str(file), "standard input")
            raise


def _save_input(file: Path) -> None:
    if sys.stdin is None:
        raise UsageError(
            "there is no standard input", why="it was closed", do="Give the path of a file."
        )
    if sys.stdin.isatty():
        click.echo(
            "backline: reading standard input; paste, then end with Ctrl-D (Windows: Ctrl-Z, Enter)",
            err=True,
        )
    try:
        with file.open("xb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream, 1 << 20)
    except OSError as error:
        why, do = error.strerror or str(error), "Save it to a file and give its path."
        raise WriteError(
            "standard input cannot be kept", where=str(file.parent), why=why, do=do
        ) from error
