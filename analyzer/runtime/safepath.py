"""Keep Python from importing what lies in the current folder, which may be one of downloads: a stranger's files.

`python -m` and `python -c` put the current folder in front of all other places, also in front of Python's own
library, and so do an empty or a relative entry of PYTHONPATH. Processes of `multiprocessing` begin with `python -c`.
See https://docs.python.org/3/using/cmdline.html#cmdoption-P.

This module is read before the folder is off the path: it imports nothing that Python has not loaded by then.
"""

import os
import sys

SAFE, PATH = "PYTHONSAFEPATH", "PYTHONPATH"
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def started_as_module() -> bool:
    """Say whether this is `python -m analyzer…`, at the moment in which Python looks for it."""
    return sys.argv[:1] == ["-m"] and any("analyzer" in word for word in sys.orig_argv[1:])


def hold_path() -> None:
    """Take the current folder off the search path of this process and of all that it starts.

    The folder stays when Backline itself lies there (a checkout that is not installed).
    """
    words = os.environ[PATH].split(os.pathsep) if os.environ.get(PATH) else []
    try:
        here = os.path.abspath("")
        unsafe = {os.path.abspath(word) for word in words if not os.path.isabs(word)}
    except OSError:  # the folder was removed: nothing can be imported from it
        here, unsafe = "", set()
    first = 0 if sys.flags.safe_path else 1  # where `-m` and `-c` put the folder
    kept = [path for path in sys.path[:first] if path != here]
    kept += [path for path in sys.path[first:] if path not in unsafe]
    if _ROOT in {here, *unsafe}:
        kept.insert(0, _ROOT)
    sys.path[:] = [path for path in dict.fromkeys(kept) if os.path.isabs(path)]
    if words:
        ours = [_ROOT] if _ROOT in unsafe else []
        os.environ[PATH] = os.pathsep.join(
            [*ours, *(word for word in words if os.path.isabs(word))]
        )
    for_children()


def for_children() -> None:
    """See to it that processes started from now on do not import from the current folder.

    The variable holds for their children as well. Python with -E does not look at it, and `multiprocessing` hands
    -E on; what Python was started with cannot be changed, so the options it hands on are.
    """
    os.environ[SAFE] = "1"
    if sys.flags.ignore_environment and not sys.flags.safe_path:
        from multiprocessing import util  # noqa: PLC0415 - seldom needed, and not before the path is safe

        util._args_from_interpreter_flags = _list_options  # type: ignore[attr-defined]


def _list_options() -> list[str]:
    """Return the options that `multiprocessing` starts its processes with: those of this one, and -P."""
    from subprocess import _args_from_interpreter_flags as ours  # type: ignore[attr-defined]  # noqa: PLC0415

    return ["-P", *ours()]
