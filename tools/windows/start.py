"""What the single file for Windows starts: the command, or what the program asks of its own Python.

A process of ours is `sys.executable -P -m MODULE`, and in a single file that executable is the file itself.
"""

from __future__ import annotations

import importlib
import multiprocessing
import runpy
import sys

from analyzer.__main__ import run


def start_program() -> None:
    """Run the module that stands behind -P -m, import what stands behind -P -c, or run the command."""
    multiprocessing.freeze_support()
    match sys.argv[1:]:
        case ["-P", "-m", "analyzer", *rest]:
            sys.argv[1:] = rest
            run()
        case ["-P", "-m", module, *rest]:
            sys.argv[1:] = rest
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-P", "-c", code] if code.startswith("import "):
            importlib.import_module(code.removeprefix("import "))
        case _:
            run()


if __name__ == "__main__":
    start_program()
