"""Whether one cell says trouble, by the sign of its column, and the sentence that tells it with its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from analyzer.artefacts.signs import CellSign, How
from analyzer.artefacts.tables import Value
from analyzer.runtime.text import one_line
from analyzer.signals.cell_words import find_trouble, is_ordinary, weigh_state
from analyzer.signals.columns import find_whole, says_loss, says_state
from analyzer.signals.severities import SURE, weigh_severity

Cells = Mapping[str, Value]

SHOWN = 120  # characters of a value in a sentence
SWITCHED_OFF = 1.5  # weight of what is down because somebody switched it off
_SWITCHES = ("admin_up", "admin_status", "enabled", "port_admin_status", "admin_state")
_OFF = frozenset({"false", "down", "disabled"})
_NEARLY_ALL = 0.97  # of a size, or 97 %
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s./:-]+")
_PLAIN_NUMBER = re.compile(r"-?[\d.]+\s*")
_LONGEST_WORD_ALONE = 3  # a word as short as this must be the whole cell


class BadCell(NamedTuple):
    """A cell that says trouble.

    weight  how much: 4.5 a loss that users feel, 2 worth a look
    reason  cells of one column with one reason say the same
    sign    that of the column, or of the name that the row has for it
    name    what the value is called: the column, or the name in the row
    value   as the table has it
    share   of what it is a part of, None where that is not known
    growth  of a counter that moved between two outputs: `grew by 1,204 within 5 min`
    """

    weight: float
    reason: str
    sign: CellSign
    name: str
    value: Value
    share: float | None = None
    growth: str = ""


class RowCell(NamedTuple):
    """A cell with its row.

    captured  ISO 8601 stamp of the capture, "" when unknown
    """

    sign: CellSign
    column: str
    value: Value
    cells: Cells
    captured: str = ""

    def make_bad(self, weight: float, reason: str = "", share: float | None = None) -> BadCell:
        """Return what this cell says."""
        return BadCell(weight, reason, self.sign, self.column, self.value, share)


def judge_cell(cell: RowCell) -> BadCell | None:
    """Return what a cell says of trouble, None where it says none."""
    if cell.value is None or cell.value == "":
        return None
    sign = cell.sign
    bad = _JUDGES[sign.how](cell)
    if bad is None or not is_meant(sign, cell.cells):
        return None
    if sign.how in ("bad", "good", "state") and is_switched_off(cell.column, cell.cells):
        return bad._replace(weight=min(bad.weight, SWITCHED_OFF))
    return bad


def is_meant(sign: CellSign, cells: Cells) -> bool:
    """Tell whether the other cells of the row let a sign speak."""
    if sign.only and not holds_word(cells, sign.only):
        return False
    return not sign.unless or not holds_word(cells, sign.unless)


def holds_word(cells: Cells, condition: tuple[str, ...]) -> bool:
    """Tell whether the cell of a column, which comes first, holds one of some words."""
    column, *words = condition
    text = str(cells.get(column)).lower()
    return any(word in text for word in words)


def is_switched_off(column: str, cells: Cells) -> bool:
    """Tell whether the row says that somebody switched the object off; the switch itself says no more than that."""
    if column in _SWITCHES:
        return True
    return any(str(cells[name]).lower() in _OFF for name in _SWITCHES if name in cells)


def judge_nothing(_cell: RowCell) -> None:
    """Say nothing: the name says trouble, and there is none."""


def judge_rows(cell: RowCell) -> BadCell:
    """Take every row for trouble."""
    return cell.make_bad(cell.sign.weight)


def judge_loss(cell: RowCell) -> BadCell | None:
    """Weigh a counter of loss: 1 % of the whole is much, 0.1 % is trouble; without a whole its number tells."""
    value = read_number(cell.value)
    if value is None or value <= 0:
        return None
    whole = read_number(cell.cells.get(cell.sign.of))
    if whole is None or whole <= 0:
        return cell.make_bad(cell.sign.weight or (3.5 if value >= 10 else 2.8))
    share = value / whole
    if share > 1:  # it counts something else
        return cell.make_bad(4.5)
    return cell.make_bad(4.5 if share >= 0.01 else 3.5 if share >= 0.001 else 2.2, share=share)


def read_number(value: Value) -> float | None:
    """Return a value that is a number, None for any other."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


def judge_good(cell: RowCell) -> BadCell | None:
    """Take every word for trouble but the good ones."""
    text = str(cell.value).strip().lower()
    if text in cell.sign.words or text in ("", "-"):
        return None
    return cell.make_bad(cell.sign.weight, text[:SHOWN])


def judge_bad(cell: RowCell) -> BadCell | None:
    """Take the bad words for trouble, also at the beginning of a word in a longer text."""
    text, words = str(cell.value).strip().lower(), cell.sign.words
    if text in words or compile_words(words).search(text):
        return cell.make_bad(cell.sign.weight, text[:SHOWN])
    return None


@lru_cache(maxsize=256)
def compile_words(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of words at the beginning of a word in a text."""
    some = [re.escape(word) for word in words if len(word) > _LONGEST_WORD_ALONE]
    return re.compile(rf"(?<![\w.])(?:{'|'.join(some)})" if some else r"(?!)")


def judge_state(cell: RowCell) -> BadCell | None:
    """Weigh a state by its words; unknown and pending weigh less."""
    text = str(cell.value)
    weight = cell.sign.weight * weigh_state(text)
    return cell.make_bad(weight, text.strip().lower()[:SHOWN]) if weight else None


def judge_message(cell: RowCell) -> BadCell | None:
    """Weigh a sentence by its words of trouble."""
    words = find_trouble(str(cell.value))
    return cell.make_bad(words.weight, ", ".join(words.names)) if words.weight else None


def judge_entry(cell: RowCell) -> BadCell | None:
    """Weigh an entry of a closed list: by the severity that is printed, else by its words; an ordinary one is none."""
    text = str(cell.value)
    printed = cell.cells.get(cell.sign.severity)
    if printed is not None and printed != "":
        weight = weigh_severity(str(printed))
    else:
        said = find_trouble(text).weight
        named = weigh_severity(text) or 0.0
        weight = max(said, named if named >= SURE else 0.0) or None
        if weight is None and is_ordinary(text):
            return None
    if weight is None:
        weight = cell.sign.weight
    return cell.make_bad(weight, text[:SHOWN]) if weight else None


def judge_above(cell: RowCell) -> BadCell | None:
    """Weigh a number above its bar, or that is nearly all of its size."""
    sign, value = cell.sign, read_number(cell.value)
    if value is None:
        return None
    if not sign.of:
        nearly_all = cell.column.endswith("_pct") and value >= 100 * _NEARLY_ALL
        return cell.make_bad(sign.weight + nearly_all) if abs(value) > sign.bar else None
    whole = read_number(cell.cells.get(sign.of))
    if whole is None or whole <= 0 or value < sign.bar * whole:
        return None
    share = value / whole
    return cell.make_bad(sign.weight + (share >= _NEARLY_ALL), share=share)


def judge_below(cell: RowCell) -> BadCell | None:
    """Weigh a number below its bar, or of which nearly nothing is left."""
    sign, value = cell.sign, read_number(cell.value)
    if value is None:
        return None
    if not sign.of:
        nearly_none = cell.column.endswith("_pct") and value <= 100 * (1 - _NEARLY_ALL)
        return cell.make_bad(sign.weight + nearly_none) if value < sign.bar else None
    whole = read_number(cell.cells.get(sign.of))
    if whole is None or whole <= 0 or value >= sign.bar * whole:
        return None
    share = value / whole
    return cell.make_bad(sign.weight + (share <= 1 - _NEARLY_ALL), share=share)


def judge_difference(cell: RowCell) -> BadCell | None:
    """Weigh a value that differs from the column it should equal."""
    other = cell.cells.get(cell.sign.of)
    if other is None or other == "" or str(other).lower() == str(cell.value).lower():
        return None
    return cell.make_bad(cell.sign.weight)


def judge_date(cell: RowCell) -> BadCell | None:
    """Weigh a date against the capture; an end that is still to come weighs less than one that is over."""
    try:
        now = str(cell.cells.get(cell.sign.of) or cell.captured)
        age = read_moment(now) - read_moment(str(cell.value))
    except ValueError:
        return None
    days = age / timedelta(days=1)
    if days <= cell.sign.bar:
        return None
    if days < 0:
        return cell.make_bad(cell.sign.weight - 2, "soon")
    reason = f"more than {cell.sign.bar:g} days ago" if cell.sign.bar > 0 else "in the past"
    return cell.make_bad(cell.sign.weight, reason)


def read_moment(stamp: str) -> datetime:
    """Return an ISO 8601 stamp without fractions and zone, which tables have in UTC."""
    return datetime.fromisoformat(stamp[:19].rstrip("Z"))


def judge_named(cell: RowCell) -> BadCell | None:
    """Weigh the value of a row whose name says what it counts."""
    name = cell.cells.get(cell.sign.of)
    if not isinstance(name, str):
        return None
    own = find_named_sign(cell.sign, name, isinstance(cell.value, str))
    if own is None:
        return None
    if own.how == "state" and _PLAIN_NUMBER.fullmatch(str(cell.value)):
        return None  # a table of numbers has them as numbers as well
    return _JUDGES[own.how](cell._replace(sign=own, column=name))


@lru_cache(maxsize=4096)
def find_named_sign(sign: CellSign, name: str, is_text: bool) -> CellSign | None:
    """Return what a name in a row means: as its column declares it, or by the words of the name."""
    for known, own in sign.names:
        if known == name:
            return own
    plain = _CAMEL.sub("_", name).lower()
    if not is_text:
        return CellSign("loss") if says_loss(plain) else None
    return CellSign("state", weight=3.5) if says_state(plain) else None


@lru_cache(maxsize=4096)
def find_named_whole(name: str, names: tuple[str, ...]) -> str:
    """Return which of the names of an object counts what a counter of loss is a part of, "" for none."""
    return find_whole(_CAMEL.sub("_", name).lower(), names)


_JUDGES: dict[How, Callable[[RowCell], BadCell | None]] = {
    "fine": judge_nothing,
    "rows": judge_rows,
    "loss": judge_loss,
    "good": judge_good,
    "bad": judge_bad,
    "state": judge_state,
    "message": judge_message,
    "above": judge_above,
    "below": judge_below,
    "differs": judge_difference,
    "older": judge_date,
    "named": judge_named,
    "entry": judge_entry,
}


def describe_cell(bad: BadCell, cells: Cells) -> str:
    """Return the sentence of a cell that says trouble: what it is called, its value, and what it is held against."""
    sign, name = bad.sign, one_line(bad.name, SHOWN)
    shown = format_cell(bad.value)
    if sign.how == "loss":
        growth = f", {bad.growth}" if bad.growth else ""
        return f"{name} is {shown}{format_share(bad)}{growth}"
    if sign.how in ("above", "below"):
        if sign.of and sign.bar == 1:
            return f"{name} is {shown}, {sign.of} is {format_cell(cells.get(sign.of))}"
        if sign.of:
            return f"{name} is {shown}{format_share(bad)}"
        if not sign.bar:
            return f"{name} is {shown}"
        where = "beyond" if shown.startswith("-") else sign.how
        return f"{name} is {shown}, {where} {sign.bar:,g}"
    if sign.how == "differs":
        return f"{name} is {shown}, {sign.of} is {format_cell(cells.get(sign.of))}"
    if sign.how == "entry":
        return describe_entry(bad, cells)
    if sign.how in ("message", "rows"):
        return f"{name}: {shown}"
    if sign.how == "older":
        return f"{name} is {shown[:10]}, {bad.reason}"
    return f"{name} is {shown}"


def describe_entry(bad: BadCell, cells: Cells) -> str:
    """Return an entry in the words of its source: `alarm frob_stuck: Frob 3 is stuck (HIGH)`."""
    sign = bad.sign
    parts = [f"{sign.title} {one_line(str(bad.value), SHOWN)}"]
    words, severity = cells.get(sign.of), cells.get(sign.severity)
    if words:
        parts.append(f": {one_line(str(words), SHOWN)}")
    if severity:
        parts.append(f" ({format_cell(severity)})")
    return "".join(parts)


def format_share(bad: BadCell) -> str:
    """Return `, 0.4 % of rx_packets`, "" where the whole is not known."""
    if bad.share is None:
        return ""
    percent = 100 * bad.share
    if not percent:
        return f" of {bad.sign.of}"
    digits = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
    return (
        f", {digits} % of {bad.sign.of}"
        if percent >= 0.001
        else f", under 0.001 % of {bad.sign.of}"
    )


def format_cell(value: Value) -> str:
    """Return a value as a sentence shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return one_line(str(value), SHOWN)
