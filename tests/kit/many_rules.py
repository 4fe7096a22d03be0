"""A catalog of any size, made of the shipped rules under other ids: the signatures of most copies are in no log."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

KB = Path(__file__).parents[2] / "analyzer" / "kb"
MATCH = re.compile(r"^( +match: +')(.*)('\s*)$", re.MULTILINE)


def write(folder: Path, wanted: int) -> int:
    """Write so many rules into a folder; return how many. All but the first copies look for lines nobody writes."""
    folder.mkdir()
    shipped = sorted(KB.glob("*/*.yaml"))
    numbers = count()
    while (number := next(numbers)) < wanted:
        path, copy = shipped[number % len(shipped)], number // len(shipped) + 1
        text = path.read_text(encoding="utf-8")
        text = re.sub(
            r"^rule: .*$", f"rule: {path.stem}-x{copy}", text, count=1, flags=re.MULTILINE
        )
        if copy > 1:
            text = MATCH.sub(
                lambda found, copy=copy: f"{found[1]}fault {copy}: (?:{found[2]}){found[3]}", text
            )
        (folder / f"{path.stem}-x{copy}.yaml").write_text(text, encoding="utf-8")
    return wanted
