"""Long output on a terminal goes through the pager of the user, as git's does: `PAGER`, else `less`."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import click

from analyzer.runtime.text import for_terminal

# As git has them, and -S: quit when all fits on the screen, keep it there, one row a line (arrows move sideways).
LESS = "FRSX"
_GONE = {errno.EPIPE, errno.EINVAL}  # the second one on Windows


def choose_pager() -> list[str]:
    """Return the command of the pager; none where standard output is no terminal, or the user wants none."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return []
    wanted = os.environ.get("PAGER")
    if wanted is None:
        found = shutil.which("less")
        return [found] if found else []
    try:
        words = shlex.split(wanted, posix=os.name != "nt")
    except ValueError:  # a quote that is not closed
        return []
    return [] if words in ([], ["cat"]) else words


def page_lines(lines: Iterable[str], pager: list[str]) -> bool:
    """Print lines through a pager, or as they come without one; say whether all were printed.

    The pager starts with the first line: what is said before, and while nothing is found, has the terminal.
    """
    coming = iter(lines)
    first = list(islice(coming, 1))
    if not first:
        return True
    given = (f"{line}\n" for line in chain(first, coming))
    process = start_pager(pager) if pager else None
    if process is None:
        sys.stdout.writelines(given)  # click.echo would flush each
        sys.stdout.flush()
        return True
    try:
        return feed_pager(process, given)
    finally:
        wait_for_pager(process)


def start_pager(pager: list[str]) -> subprocess.Popen[bytes] | None:
    """Return the pager that runs; None, with a word to the user, when it cannot be started."""
    words = {"LESS": LESS, "LV": "-c"} | dict(os.environ)
    sys.stdout.flush()
    try:
        return subprocess.Popen(pager, stdin=subprocess.PIPE, env=words)
    except OSError as error:
        why = for_terminal(f"{pager[0]}: {error.strerror}")
        click.echo(
            f"backline: the pager cannot be started ({why}); see PAGER, --no-pager", err=True
        )
        return None


def feed_pager(process: subprocess.Popen[bytes], lines: Iterator[str]) -> bool:
    """Write lines to a pager until it is quit; say whether it has them all."""
    stream = process.stdin
    if stream is None:
        return False
    is_complete = False
    try:
        for line in lines:
            stream.write(line.encode("utf-8", "backslashreplace"))
        stream.flush()
        is_complete = True
    except OSError as error:
        if error.errno not in _GONE or error.filename is not None:
            raise
    return is_complete


def wait_for_pager(process: subprocess.Popen[bytes]) -> None:
    """Wait until the user quits the pager; Ctrl-C is the pager's own then."""
    try:
        if process.stdin is not None:
            process.stdin.close()
    except OSError:  # it was quit with lines on their way
        pass
    while True:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue
        return
