"""The passes over a pasted text, in their order: each undoes what one kind of program did to the lines.

What reaches an engineer was copied from a terminal, a mail, a ticket or a web page, often through several of them.
`PASSES` lists what is undone before anyone looks for prompts and outputs. To add a pass, write a function that changes
a `PastedText` and put it where it belongs in that list.

Two steps are no passes. The bytes of a saved web page or of a mail become text earlier, while the source is opened
(`webpage.read_page`), since line numbers then count the lines of that text. Prompts and the starts of outputs are found
later, line by line (`output_extent.Text`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from analyzer.sources import doubled, margins, markup, ruled, wrapped


@dataclass(slots=True)
class PastedText:
    """The lines of a text, and what the passes found out about them.

    lines          changed in place; after the first pass their number stays the same
    starts_output  says whether an output that is no log may start with a line
    places         index in the source of each line, empty when no line was dropped
    searched       indexes of the lines that grep had put a file name or a line number before
    rests          indexes of the rests of wrapped log lines, which are blank now
    heads          indexes of the upper rules of commands between rules, in order
    """

    lines: list[str]
    starts_output: Callable[[str], bool]
    places: list[int] = field(default_factory=list)
    searched: set[int] = field(default_factory=set)
    rests: frozenset[int] = frozenset()
    heads: list[int] = field(default_factory=list)


def drop_doubled_line_ends(text: PastedText) -> None:
    """Drop the blank line that a mail or a word processor put below every line."""
    kept, text.places = doubled.drop_gaps(text.lines)
    text.lines = list(kept)


def clean_signs(text: PastedText) -> None:
    """Remove terminal escapes, web blanks, quote marks and the marks of a page."""
    text.lines = list(markup.clean_lines(text.lines))


def remove_margin(text: PastedText) -> None:
    """Remove line numbers, times of a terminal's log, remark signs and Markdown escapes."""
    text.lines = margins.remove_margin(text.lines)


def remove_origins(text: PastedText) -> None:
    """Remove the file name and the line number that grep puts before log lines."""
    text.searched = margins.remove_origins(text.lines)


def join_log_lines(text: PastedText) -> None:
    """Join log lines that a mail or a terminal wrapped."""
    text.rests = wrapped.join_log_lines(text.lines)


def join_tables(text: PastedText) -> None:
    """Join the heading, ruler and rows of tables that were wrapped."""
    wrapped.join_tables(text.lines)


def find_ruled_heads(text: PastedText) -> None:
    """Find the commands that stand between two rules of dashes."""
    text.heads = ruled.find_heads(text.lines)


def join_headings(text: PastedText) -> None:
    """Join headings that a mail broke; only together do their parts start an output."""
    wrapped.join_headings(text.lines, text.starts_output)


PASSES: tuple[Callable[[PastedText], None], ...] = (
    drop_doubled_line_ends,
    clean_signs,
    remove_margin,
    remove_origins,
    join_log_lines,
    join_tables,
    find_ruled_heads,
    join_headings,
)


def run_passes(lines: Sequence[str], starts_output: Callable[[str], bool]) -> PastedText:
    """Return a text after all passes; `lines` stay as they are."""
    text = PastedText(list(lines), starts_output)
    for run_pass in PASSES:
        run_pass(text)
    return text
