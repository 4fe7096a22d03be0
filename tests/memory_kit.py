"""How much memory a command takes, measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys

MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def peak(*command: str, code: int = 0) -> int:
    """Run a command in a process of its own and return the most memory it had, in MB (Linux); `code`: its exit."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], check=True, capture_output=True, text=True, timeout=600
    )
    exited, most = map(int, done.stdout.split())
    assert exited == code
    return most
