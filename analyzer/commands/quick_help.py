"""The help of `backline` alone, printed from a file: importing click takes four times as long as Python takes to start.

`help.txt` is what click prints 80 columns wide; `python tools/docs.py` writes it. A narrower terminal asks click.
"""

import os
import sys

ASKED = (["--help"], ["-h"])
COLUMNS = 80
UNWRITTEN = 6


def printed(words: list[str]) -> bool:
    """Print the help when `words` ask for nothing else; return whether that was so.

    SystemExit with 6, as of every command, when standard output cannot be written.
    """
    if words not in ASKED or sys.stdout is None or _columns() < COLUMNS:
        return False
    with open(os.path.join(os.path.dirname(__file__), "help.txt"), encoding="ascii") as stream:
        text = stream.read()
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # Python would try once more at its end
        if not isinstance(error, BrokenPipeError):  # there the reader has seen enough
            sys.stderr.write(f"backline: standard output: cannot be written ({error.strerror}).\n")
            raise SystemExit(UNWRITTEN) from None
    return True


def _columns() -> int:
    """Return how wide the terminal is, found as `shutil.get_terminal_size` finds it."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return (
            os.get_terminal_size(sys.__stdout__.fileno()).columns
            if sys.__stdout__ is not None
            else COLUMNS
        )
    except (AttributeError, ValueError, OSError):
        return COLUMNS
