"""What all commands share: one-line errors with an exit code, closed pipes, Ctrl-C, paths that must exist."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.runtime.errors import BacklineError, RuleFileError, WriteError
from analyzer.runtime.text import for_terminal, one_line

if TYPE_CHECKING:
    from analyzer.rules import Catalog
    from analyzer.sources.remote import Place

DONE, FOUND, USAGE, PARTIAL, INTERRUPTED, INTERNAL = 0, 1, 2, 5, 130, 70
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
FAILED, BROKEN_RULE = 1, 4
_ENDS_WITH = "backline.ends_with"
_HIDES = "backline.hides"
LISTED = 40  # lines of what can be given instead


def speak_plainly(command: Callable[..., None]) -> Callable[..., None]:
    """Turn our errors into one line and an exit code; a traceback only with --debug."""

    @wraps(command)
    def run_plainly(*args: Any, **kwargs: Any) -> None:
        ctx = click.get_current_context()
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
            return
        except KeyboardInterrupt:
            status = report_interrupt()
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except Exception as error:
            if (
                isinstance(error, BrokenPipeError) and _is_reader_gone()
            ):  # who has seen enough (`| head`)
                _silence_stdout()
                status = ctx.meta.get(_ENDS_WITH, DONE)
            elif ctx.find_root().params.get("debug"):
                raise
            else:
                text, status = _explain_error(error)
                hide = ctx.meta.get(_HIDES, str)
                click.echo(f"backline: {hide(text)}", err=True)
                choices = error.choices if isinstance(error, BacklineError) else ()
                for line in choices[:LISTED]:
                    click.echo(f"  {hide(one_line(line))}", err=True)
                if len(choices) > LISTED:
                    click.echo(f"  and {len(choices) - LISTED:,} more", err=True)
        ctx.exit(
            status
        )  # not inside `except`: the error would keep what it met, such as a database, to the end

    return run_plainly


def explain_unprinted(error: OSError) -> int:
    """Print why help or version could not be printed; return the exit code. Another error is raised again."""
    if isinstance(error, BrokenPipeError) and _is_reader_gone():
        _silence_stdout()
        return DONE
    if error.errno not in FULL or error.filename is not None:
        raise error
    text, status = _explain_error(error)
    click.echo(f"backline: {text}", err=True)
    return status


def keep_status(status: int) -> None:
    """Set how the command ends, before it prints: it ends so too when its reader has seen enough (`| head`)."""
    click.get_current_context().meta[_ENDS_WITH] = status


def hide_in_errors(hide: Callable[[str], str]) -> None:
    """Set what the command does to its errors and warnings before it prints them."""
    click.get_current_context().meta[_HIDES] = hide


def print_warning(text: str) -> None:
    """Print a warning on one line of standard error."""
    hide = click.get_current_context().meta.get(_HIDES, str)
    click.echo(f"backline: {for_terminal(hide(text))}", err=True)


def report_interrupt() -> int:
    """Print that Ctrl-C was pressed; return the exit code."""
    click.echo("backline: interrupted", err=True)
    return INTERRUPTED


def _is_reader_gone() -> bool:
    """Say whether the reader of our output has gone: a broken pipe may also be one to a process of our own."""
    if not hasattr(select, "poll"):  # Windows
        return True
    for stream in (sys.stdout, sys.stderr):
        try:
            number = stream.fileno()
        except (OSError, ValueError):  # no file below it
            continue
        watch = select.poll()
        watch.register(number, 0)
        if any(event & (select.POLLERR | select.POLLHUP) for _, event in watch.poll(0)):
            return True
    return False


def _explain_error(error: Exception) -> tuple[str, int]:
    """Return the line of an error, and the exit code."""
    if isinstance(error, RuleFileError):  # shows its line with a caret
        return for_terminal(str(error)), error.exit_code
    if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
        _silence_stdout()
        error = WriteError(
            "cannot be written",
            where="standard output",
            why=error.strerror or "",
            do="Free some space or send it elsewhere; a report already written is complete.",
        )
    if isinstance(error, BacklineError):
        return one_line(str(error)), error.exit_code
    name = one_line(f"{type(error).__name__}: {error}", 300)
    advice = "This is a bug in Backline: please report it with the output of --debug."
    return f"internal error ({name}). {advice}", INTERNAL


def _silence_stdout() -> None:
    """Keep what is still to be written from failing once more when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_broken(catalog: Catalog) -> None:
    """Print every mistake of a rule file."""
    for error in catalog.broken:
        click.echo(f"backline: {for_terminal(str(error))}", err=True)


def require_sound(catalog: Catalog) -> Catalog:
    """Return a catalog without a mistake; one with any ends the command."""
    print_broken(catalog)
    if catalog.broken:
        click.get_current_context().exit(BROKEN_RULE)
    return catalog


def check_paths(paths: Sequence[Place], error: type[BacklineError]) -> None:
    """Refuse a path or URL that is not there, before any work; what a path leads to is looked at later."""
    for path in paths:
        if not _is_there(path):
            raise error("no such file or folder", where=str(path), do="Check the path.")


def _is_there(path: Place) -> bool:
    if isinstance(path, Path):
        return os.path.lexists(path)
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError:  # reported by the walk, with the reason
        return True
    return True


class Interrupt:
    """Remembers Ctrl-C: libraries may turn it into an error of their own, which must not look like a result."""

    def __enter__(self) -> Interrupt:
        self.asked = False
        try:
            self.before = signal.signal(signal.SIGINT, self._take_signal)
        except ValueError:  # not in the main thread, where no signal arrives
            self.before = None
        return self

    def _take_signal(self, *_: object) -> None:
        self.asked = True
        raise KeyboardInterrupt

    def raise_if_pressed(self) -> None:
        """Raise KeyboardInterrupt when Ctrl-C was pressed."""
        if self.asked:
            raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
        self.raise_if_pressed()
