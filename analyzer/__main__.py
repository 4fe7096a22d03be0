"""The `backline` command, also as `python -m analyzer`."""

from __future__ import annotations

import atexit
import os
import sys

from analyzer.runtime import garbage, safepath

INTERRUPTED = 130


def run() -> None:
    """Start the command; Ctrl-C ends it with 130 and one line, from the first import on."""
    safepath.hold_path()
    garbage.look_seldom()
    try:
        from analyzer.cli import main  # noqa: PLC0415 - an interrupt while this is read is answered below

        main(prog_name="backline")
    except KeyboardInterrupt:
        sys.stderr.write("backline: interrupted\n")
        _leave_at_once(INTERRUPTED)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _leave_at_once(INTERRUPTED)
        _end_at_once(end.code)
        raise


def _end_at_once(status: object) -> None:
    """End at once with the status of a command that is done; return where Python has to end the process itself.

    To take all objects down one by one is a sixth of a small case, and nothing is left for it to do: threads have
    ended, output is written, and what was registered for the end has run.
    """
    last, threads = getattr(atexit, "_run_exitfuncs", None), sys.modules.get("threading")
    if (
        last is None
        or not isinstance(status, int)
        or (threads is not None and threads.active_count() > 1)
    ):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (
        OSError,
        ValueError,
        AttributeError,
    ):  # a full disk, a pipe that no one reads, no stream at all: as ever
        return
    last()
    os._exit(status)


def _leave_at_once(status: int) -> None:
    """End at once: what was interrupted is not asked to clean up after itself, which would print its troubles."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue
    os._exit(status)


if __name__ == "__main__":
    run()
