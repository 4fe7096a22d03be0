"""Paths of this machine, however they were written."""

from __future__ import annotations

import os
import re
from pathlib import Path


def full(path: Path | str) -> Path:
    """Return the absolute path without following links, which may lead nowhere or in a circle."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links


def folder_name(case: str, most: int = 100) -> str:
    """Return the name of a case as that of a folder, of letters, digits, dots, dashes and underscores."""
    return (re.sub(r"[^A-Za-z0-9._-]+", "-", case).strip(".-") or "case")[:most]
