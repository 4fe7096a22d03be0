"""Something to open: where it is and what its container says about it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """A file or member before it is opened; fields as in Member.

    top  given by the user or lying loose in a folder given by the user
    """

    address: str
    path: str
    root: str
    in_archive: bool = False
    size: int | None = None
    mtime: float | None = None
    top: bool = False


class Refused(Exception):
    """A file or folder given cannot be read; carries why, and in `do` the next step where the cause names one."""

    def __init__(self, why: str, do: str = "") -> None:
        super().__init__(why)
        self.do = do


MAY_READ = "Give yourself the right to read it, or copy it with an account that has it."
JOIN = (
    "By its name this is a piece of a file that was split. Give all pieces together, from the first to the last: "
    "they are read as one."
)
PIECE_INSIDE = "not text; by its name a piece of a split file: unpack the archive it lies in and give all pieces together"
AGAIN = "Check the size of the original: the copy or the download failed, so fetch it again."
# What `split`, archivers and upload pages name the pieces of a file: .part00, .part1, .001, .z01; `split` alone: .aa
_PIECE = re.compile(r"\.(?:part\w{1,4}|\d{2,4}|z\d\d|a[a-z])$", re.IGNORECASE)


def is_piece(name: str) -> bool:
    """Say whether a file that cannot be read by itself is named as a piece of a split one."""
    return bool(_PIECE.search(name))


def make_refusal(error: Exception, before: str = "") -> Refused:
    """Return the refusal of what the system did not let us read; `before` is what we tried, with a colon."""
    why = getattr(error, "strerror", None) or str(error)
    return Refused(f"{before}{why}", MAY_READ if isinstance(error, PermissionError) else "")
