"""Rows below a heading: an output that comes a second time may have lost it, and is not of the heading before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Fault, Row


def drop_stale_headings(
    found: Iterable[Row | Fault], heading: Sequence[str], once: Sequence[str]
) -> Output:
    """Take the cells of a heading from rows that repeat, on another line, what was below that very heading.

    heading  columns that the heading fills, the first always
    once     columns of what comes once below one heading (a port of a VM, a step): its repetition shows a second output
    From the first repetition on, whose rows they are is not known, up to the next heading.
    """
    seen: dict[tuple[object, ...], int] = {}
    stale: set[int] = set()
    for item in found:
        if (
            isinstance(item, Row)
            and item.values[heading[0]] is not None
            and item.values[once[0]] is not None
        ):
            above, at = item.line_of(heading[0]), item.line_of(once[0])
            key = (above, *(item.values[name] for name in once))
            if seen.setdefault(key, at) != at:
                stale.add(above)
            if above in stale:
                lines = {}
                for name, line in item.lines.items():
                    if name not in heading and item.values.get(name) is not None:
                        lines[name] = line
                item.values.update(dict.fromkeys(heading))
                item.lines = lines
                item.line = min(lines.values(), default=item.line)
        yield item
