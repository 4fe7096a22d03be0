"""What a command writes to a terminal: the other end of a pseudo-terminal, and its text without the codes."""

from __future__ import annotations

import os
import re
import select

PATIENCE = 60.0  # seconds without a sign
_CODES = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")


def read_terminal(handle: int) -> str:
    """Return all that is written to a terminal until the last program on it ends; the handle is closed."""
    shown = b""
    while select.select([handle], [], [], PATIENCE)[0]:
        try:
            part = os.read(handle, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(handle)
    return shown.decode("utf-8", "replace")


def strip_codes(shown: str) -> str:
    """Return the text without the codes that colour it and move the cursor."""
    return _CODES.sub("", shown)
