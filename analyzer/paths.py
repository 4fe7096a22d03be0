"""Paths of this machine, however they were written."""

from __future__ import annotations

import os
from pathlib import Path


def full(path: Path | str) -> Path:
    """Return the absolute path without following links, which may lead nowhere or in a circle."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links
