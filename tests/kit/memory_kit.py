"""How much memory a command takes, measured in a process of its own."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from pathlib import Path

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
    """Run a command and return the most memory that it or any process it started had, in MB (Linux); `code`: its exit.

    The rules are compiled before, which is done once after an update and takes 30 MB.
    """
    _compile_rules()
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


@functools.cache
def _compile_rules() -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "vmkernel.log")
        text.write_text("2026-01-20T09:00:00.000Z cpu0:2097152)Boot\n", encoding="utf-8")
        command = [sys.executable, "-m", "analyzer", "triage", str(text), "-o", folder, "--quiet"]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
