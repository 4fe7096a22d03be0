"""Finds runs of lines in the texts of examples that one repeated line says as well."""

from __future__ import annotations

from datetime import datetime

from analyzer.rules.repeats import REPEATS_MOST, STAMP, UNITS, repeat_line

LEAST = 3  # lines that are worth it


def fold_repeats(raw: str, value: str) -> tuple[str, str]:
    """Return a block text with runs of lines written as one each: its writing, head included, and its value."""
    rows = value.split("\n")
    runs = list(_find_runs(rows))
    if not runs:
        return raw, value
    head, *body = raw.split("\n")
    if len(body) < len(rows) - 1 or any(
        row and not line.endswith(row) for row, line in zip(rows, body, strict=False)
    ):
        return raw, value
    for start, count, words in reversed(runs):
        margin = body[start][: len(body[start]) - len(rows[start])]
        folded = f"(repeat: {count} in {words}) {rows[start]}"
        body[start : start + count] = [margin + folded]
        rows[start : start + count] = [folded]
    return "\n".join([head, *body]), "\n".join(rows)


def _find_runs(rows: list[str]) -> list[tuple[int, int, str]]:
    """Return (first line, number of lines, span in words) of each run that can be written out again to the letter."""
    found = []
    start = 0
    bare = [STAMP.sub("\0", row, count=1) for row in rows]
    while start < len(rows):
        end = start + 1
        while end < len(rows) and bare[end] == bare[start] and end - start < REPEATS_MOST:
            end += 1
        took = 1
        if "\0" in bare[start] and not rows[start].startswith(("(", " ", "\t")):
            for count in range(end - start, LEAST - 1, -1):
                words = _read_span(rows[start], rows[start + count - 1])
                if (
                    words
                    and repeat_line(rows[start], count, words[0]) == rows[start : start + count]
                ):
                    found.append((start, count, words[1]))
                    took = count
                    break
        start += took
    return found


def _read_span(first: str, last: str) -> tuple[int, str] | None:
    """Return the milliseconds between the stamps of two lines, and their shortest words."""
    times = []
    for line in (first, last):
        stamp = STAMP.search(line)
        if stamp is None:
            return None
        digits = (stamp[5] or "").ljust(6, "0")
        try:
            times.append(datetime.fromisoformat(f"{stamp[1]} {stamp[3]}.{digits}"))
        except ValueError:
            return None
    span = round((times[1] - times[0]).total_seconds() * 1000)
    if span < 0:
        return None
    unit = next((one for one in ("h", "m", "s") if span and span % UNITS[one] == 0), "ms")
    if not span:
        unit = "s"
    return span, f"{span // UNITS[unit]}{unit}"
