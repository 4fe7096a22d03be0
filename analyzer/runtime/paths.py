"""Paths of this machine, however they were written."""

from __future__ import annotations

import os
import re
from pathlib import Path


def full(path: Path | str) -> Path:
    """Return the absolute path without following links, which may lead nowhere or in a circle."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links


# Devices of Windows: no file and no folder may have their name, with or without an ending.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def folder_name(case: str, most: int = 100) -> str:
    """Return the name of a case as that of a folder, of letters, digits, dots, dashes and underscores.

    Every system takes it: it is no device of Windows and does not end in a dot.
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", case).strip(".-")[:most].rstrip(".-") or "case"
    return f"case-{name}"[:most] if _DEVICE.fullmatch(name) else name
