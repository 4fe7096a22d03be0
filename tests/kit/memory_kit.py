"""How much memory a command takes, measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys

MEASURED = """
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what a command leaves behind is waited for here
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def peak(*command: str, code: int = 0) -> int:
    """Run a command and return the most memory that it or any process it started had, in MB (Linux); `code`: its exit."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    exited, most = map(int, done.stdout.split())
    assert exited == code
    return most
