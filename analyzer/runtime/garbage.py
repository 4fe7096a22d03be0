"""How often Python looks for circles among its objects."""

from __future__ import annotations

import gc

# New objects until it looks. Its own 700 cost a tenth of a case: nearly all that reading makes is kept, and looked
# through in vain. A small case makes fewer; of a large one no more than this many wait to be found.
OBJECTS = 100_000


def look_seldom() -> None:
    """Hold this whole process to it; called where a program or a child process of ours begins."""
    gc.set_threshold(OBJECTS, 20, 20)
