"""How large the input of a test marked `size` is: a fifth of real size in every run, all of it by `make test-size`."""

from __future__ import annotations

import os

FULL = os.environ.get("BACKLINE_FULL_SIZE") == "1"


def scale_size(full: int) -> int:
    """Return a fifth of a size, a count or a number of rounds; the whole of it where full size is asked for."""
    return full if FULL else full // 5
