"""Shortens a line to a width: names lose their middle, then plain words at its end are left out; values stay.

A value is what a line is read for: a figure with its unit, a time, a state in capitals, an error code, the id of
an event. A name (a device, a file, a host, an address) is still known by its beginning and its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from analyzer.runtime.text import one_line

MARK = "…"  # in the place of what is left out
NAME = 14  # characters of a name that keep its beginning and its end apart from others
HOLES = 2  # in a sentence that is still read at a glance
LONG_WORD = 24  # letters of a word of a language; longer ones are names
LONG_VALUE = 40  # characters of a value; a longer one is no figure that anybody reads

_WORD = re.compile(r"\S+")
_EDGE = r"[\s\"'`“”‘’()\[\]{}<>,;:.!?]"
_FIGURE = re.compile(
    r"[-+~±<>=≤≥≈$#v]*\d[\d.,:/%×–+-]*"
    r"(?:[TZ]\d[\d:.]*Z?|[a-zA-Zµ%°]{1,4}(?:/[a-z]{1,4})?)?$"
)
_CODE = re.compile(r"0x[0-9a-fA-F]+|^[A-Z][A-Z0-9_]+$|^(?:esx|vob)\.\w+\.|^\w+=[-+]?\d")
_UNIT = re.compile(r"[a-zA-Zµ%/]+$")


class LineCut(NamedTuple):
    """A stretch of a line that is left out; the mark is in its place."""

    start: int
    end: int


class _Part(NamedTuple):
    """A word of a line without the signs around it."""

    start: int
    end: int
    kind: str  # value, name, word


def shorten_line(line: str, width: int, mark: str = MARK) -> str:
    """Return a line in at most `width` characters, as long as its values and what is left of its names are not longer.

    Names lose their middle, then words are left out from the end; no value is. A line whose values need more room
    comes back longer than `width`: whoever prints it gives it more rows.
    """
    return apply_cuts(line, find_cuts(line, width, mark), mark)


def bound_line(line: str, width: int, mark: str = MARK) -> str:
    """Return visible text on one line in at most `width` characters: shortened, and cut off where values are longer."""
    short = shorten_line(one_line(line), width, mark)
    return short if len(short) <= width else short[: max(0, width - len(mark))] + mark


def bound_middle(name: str, width: int, mark: str = MARK) -> str:
    """Return a name or a quoted line in at most `width` characters: its beginning and its end, both as they are."""
    shown = one_line(name)
    if len(shown) <= width:
        return shown
    cut = _find_middle(_Part(0, len(shown), "name"), width, mark)
    return apply_cuts(shown, [cut], mark)[:width]


def terminal_mark(encoding: str | None) -> str:
    """Return the mark that a terminal of this encoding can write."""
    try:
        MARK.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "..."
    return MARK


def apply_cuts(line: str, cuts: list[LineCut], mark: str = MARK) -> str:
    """Return a line without what is left out."""
    shown, at = [], 0
    for cut in cuts:
        shown += [line[at : cut.start], mark]
        at = cut.end
    return "".join([*shown, line[at:]])


def find_cuts(line: str, width: int, mark: str = MARK) -> list[LineCut]:
    """Return what to leave out of a line for it to fit, in order; nothing where it fits."""
    if len(line) <= width:
        return []
    parts = list(_read_parts(line))
    names = [part for part in parts if part.kind == "name"]
    cuts = _cut_names(names, len(line) - width, mark)
    if _measure_gain(cuts, mark) >= len(line) - width:
        return cuts
    return _leave_words_out(line, width, parts, cuts, mark)


def _read_parts(line: str) -> Iterator[_Part]:
    """Yield the words of a line with what they are; the word behind a figure is its unit, and part of the value."""
    after_figure = False
    for found in _WORD.finditer(line):
        start, end = found.span()
        while start < end and re.match(_EDGE, line[start]):
            start += 1
        while start < end and re.match(_EDGE, line[end - 1]):
            end -= 1
        word = line[start:end]
        figure = bool(_FIGURE.match(word)) and end - start <= LONG_VALUE
        value = figure or (bool(_CODE.search(word)) and end - start <= 2 * LONG_VALUE)
        unit = after_figure and bool(_UNIT.match(word)) and end - start <= LONG_WORD
        if value or unit:
            yield _Part(start, end, "value")
        elif end - start > (LONG_WORD if word.isalpha() else NAME):
            yield _Part(start, end, "name")
        else:
            yield _Part(start, end, "word")
        after_figure = figure and found.end() == end


def _cut_names(names: list[_Part], excess: int, mark: str) -> list[LineCut]:
    """Return cuts in the middle of the longest names: as little of each as makes the line fit, or all there is."""
    longest = max((name.end - name.start for name in names), default=0)
    low, high = NAME, max(NAME, longest)

    def cut_to(most: int) -> list[LineCut]:
        return [_find_middle(name, most, mark) for name in names if name.end - name.start > most]

    while low < high:  # the most room for each name with which the line still fits
        middle = (low + high + 1) // 2
        if _measure_gain(cut_to(middle), mark) >= excess:
            low = middle
        else:
            high = middle - 1
    return cut_to(low)


def _find_middle(name: _Part, most: int, mark: str) -> LineCut:
    """Return the middle of a name that leaves it `most` characters with the mark."""
    room = max(0, most - len(mark))
    tail = room // 2
    return LineCut(name.start + room - tail, name.end - tail)


def _measure_gain(cuts: list[LineCut], mark: str) -> int:
    return sum(cut.end - cut.start - len(mark) for cut in cuts)


def _leave_words_out(
    line: str, width: int, parts: list[_Part], cuts: list[LineCut], mark: str
) -> list[LineCut]:
    """Return the cuts with words left out besides, from the end of the line on, as many as it takes.

    Names stay, and so does the first word of a line.
    """
    order = [place for place in range(len(parts) - 1, 0, -1) if parts[place].kind == "word"]

    def leave_out(number: int) -> list[LineCut]:
        """Return the cuts in names with the words that are left out: neighbours become one cut."""
        out = set(order[:number])
        made: list[LineCut] = []
        for place, part in enumerate(parts):
            if place not in out:
                made += [cut for cut in cuts if part.start <= cut.start < part.end]
            elif place - 1 in out and made:
                made[-1] = LineCut(made[-1].start, part.end)
            else:
                made.append(LineCut(part.start, part.end))
        if made and len(parts) - 1 in out:
            made[-1] = LineCut(made[-1].start, len(line))
        return made

    low, high = 0, len(order)
    while low < high:  # the fewest that are enough
        middle = (low + high) // 2
        if len(line) - _measure_gain(leave_out(middle), mark) <= width:
            high = middle
        else:
            low = middle + 1
    return leave_out(low)


def fit_rows(
    line: str, takes: Callable[[str], int], rows: int, width: int, mark: str = MARK
) -> list[LineCut]:
    """Return the cuts with which a line takes `rows` rows of `width`, or a row more where its values need it.

    A sentence with a row more is read sooner than one with many holes.

    takes  gives the rows that a text takes, broken at blanks
    """
    for most, holes in ((rows, HOLES), (rows + 1, HOLES), (rows + 1, len(line))):
        room = min(most * width, len(line))
        for smaller in range(room, room - width // 2, -1):
            cuts = find_cuts(line, smaller, mark)
            short = apply_cuts(line, cuts, mark)
            if len(short) > smaller:
                break  # there is nothing more to leave out
            if takes(short) > most:
                continue
            made_holes = 0  # cuts that are not inside a name
            for cut in cuts:
                around = line[cut.start - 1 : cut.end + 1]
                if cut.end >= len(line) or any(sign.isspace() for sign in around):
                    made_holes += 1
            if made_holes <= holes:
                return cuts
            break
    return find_cuts(line, width, mark)
