"""Something to open: where it is and what its container says about it."""

from __future__ import annotations

from analyzer.lazy_dataclass import dataclass


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
    """The file is neither archive nor text; carries what it looks like."""
