"""Tables whose runs of blanks were made one, as a ticket, a mail or a web page does.

The ruler of such a table still says how wide each column is, and its labels which column that is: a row is read where its
words can be shared out among the columns in one way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from analyzer.artefacts.parsing import Output, convert_params, fault_at, read_rows
from analyzer.artefacts.tables import Block, Row
from analyzer.forms.columns import REFUSED, Field, make_row, normalize_label
from analyzer.forms.form import Form

IS_REFUSED = re.compile(rf"\s*{REFUSED}$")
NO_ROW = "not a row of the table"
_TIGHT_RULER = re.compile(r"\s*-+(?: -+)+\s*$")
_DOUBTFUL = "runs of blanks were made one, so that its cells cannot be kept apart"
_MOST_WORDS = 80  # of a row whose cells are sought


class TightColumn(NamedTuple):
    """A column of a table whose blanks were made one: how wide its ruler is, and its field."""

    width: int
    field: Field | None

    def fits(self, text: str, *, has_end: bool) -> bool:
        """Say whether a text may be a cell of it; has_end: its width is one that no cell goes over."""
        if not text:  # a number is hardly ever missing: a strange text stands in its place
            return self.field is None or self.field.kind == "str"
        return (len(text) <= self.width or not has_end) and self.takes(text)

    def takes(self, text: str) -> bool:
        """Say whether a text has the form of its cells, however wide it is."""
        if self.field is None or text in self.field.none:
            return True
        return re.fullmatch(f"(?:{self.field.regex}){self.field.behind}", text) is not None


class TightTable(NamedTuple):
    """Such a table: the place of its ruler, and its columns."""

    ruler: int
    columns: list[TightColumn]


def find_tight_columns(fields: Sequence[Field], block: Block) -> TightTable | None:
    """Return the columns of a table whose ruler has single blanks; None where it has no such ruler and heading."""
    ruler = next((at for at, line in enumerate(block.lines) if _TIGHT_RULER.match(line)), 0)
    if not ruler:
        return None
    widths = list(map(len, block.lines[ruler].split()))
    by_label = {normalize_label(label): field for field in fields for label in field.labels}
    plain = [TightColumn(width, None) for width in widths]
    words = block.lines[ruler - 1].split()
    choices = share_out_words(words, plain, known=by_label.keys())
    if len(choices) != 1:
        return None
    found = [by_label.get(normalize_label(label)) for label in choices[0]]
    if sum(field is not None for field in found) < min(2, len(found)):
        return None
    columns = [TightColumn(*one) for one in zip(widths, found, strict=True)]
    return TightTable(ruler, columns)


def share_out_words(
    words: Sequence[str],
    columns: Sequence[TightColumn],
    known: Collection[str] = (),
    least: int = 1,
) -> list[list[str]]:
    """Return the ways to share the words of a line out among columns: two at most.

    known  labels of a heading: a way with more of them is the only one
    least  words of a cell: 0 where texts may be missing, but for the first
    """
    if not least * len(columns) <= len(words) <= _MOST_WORDS:
        return []
    # by the number of words that are shared out: the ways so far
    ways: dict[int, list[list[str]]] = {0: [[]]}
    for number, column in enumerate(columns):
        is_last = number + 1 == len(columns)
        left = least * (len(columns) - number - 1)
        first = least if number else 1
        longer: dict[int, list[list[str]]] = {}
        for used, some in ways.items():
            ends = [len(words)] if is_last else range(used + first, len(words) - left + 1)
            for end in ends:
                text = " ".join(words[used:end])
                # the last column has no end, and a name may be wider than its own
                has_end = not is_last and (number > 0 or " " in text)
                if not column.fits(text, has_end=has_end):
                    continue
                longer.setdefault(end, []).extend([*way, text] for way in some)
        ways = {end: keep_best_ways(some, known) for end, some in longer.items()}
    return ways.get(len(words), [])


def keep_best_ways(ways: list[list[str]], known: Collection[str]) -> list[list[str]]:
    """Return two of some ways at most, of a heading those with the most labels that are known."""
    if not known:
        return ways[:2]
    counts = [sum(normalize_label(text) in known for text in way) for way in ways]
    return [way for way, count in zip(ways, counts, strict=True) if count == max(counts)][:2]


def choose_cells(words: Sequence[str], columns: Sequence[TightColumn]) -> list[list[str]] | None:
    """Return the ways to share the words of a row out, those without an empty cell before others.

    None where cells are missing and the widths do not tell which.
    """
    found = share_out_words(words, columns)
    if found:
        return found
    if len(words) == len(columns):  # a cell may be wider than its column
        pairs = zip(columns, words, strict=True)
        if all(column.takes(text) for column, text in pairs):
            return [list(words)]
    if len(words) < min(2, len(columns)):  # the rest of its line was lost
        return []
    lacking = share_out_words(words, columns, least=0)
    return lacking if len(lacking) == 1 else None


def keeps_widths(row: Row, columns: Sequence[TightColumn]) -> bool:
    """Say whether no text of a row is wider than its column; the first may be, and the last has no end."""
    for column in columns[1:-1]:
        text = row.values.get(column.field.name) if column.field is not None else None
        if isinstance(text, str) and len(text) > column.width:
            return False
    return True


def read_tight_rows(form: Form, block: Block, table: TightTable) -> Output:
    """Read the rows in which only one way to share out the words fits the widths and the forms of the columns."""
    params = convert_params(block.params, form.table)
    for number, line in enumerate(block.lines):
        at = block.first_line + number
        if not line.strip() or number in (table.ruler, table.ruler - 1):
            continue
        words = line.split()
        is_strange = number < table.ruler or IS_REFUSED.match(line) is not None
        choices = [] if is_strange else choose_cells(words, table.columns)
        if choices is None:
            single = replace(block, lines=[line], first_line=at)  # by the forms of its cells
            for item in read_rows(form.table, form.name, single, params, form.template):
                is_doubtful = isinstance(item, Row) and not keeps_widths(item, table.columns)
                yield fault_at(block, at, form.name, _DOUBTFUL) if is_doubtful else item
            continue
        if len(choices) == 1:
            pairs = []
            for column, text in zip(table.columns, choices[0], strict=True):
                if column.field is not None and text:
                    pairs.append((column.field, text, at))
            yield from make_row(form.table, block, pairs, at, form.name, params)
        else:
            yield fault_at(block, at, form.name, NO_ROW if is_strange else _DOUBTFUL)
