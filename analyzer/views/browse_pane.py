"""A pane of `backline browse`: lines that scroll, with a cursor where they can be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from analyzer.views.browse_lines import LineMaker, PaneLine

SIDEWAYS = 20  # columns of a step to the side
CURSOR = Style(reverse=True)
FOUND = Style(underline=True)


class LinePane(ScrollView, can_focus=True):
    """Lines that are made anew for each width of the pane.

    chooses  whether it has a cursor; without one, up and down scroll it
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "down", show=False),
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("pagedown,space", "move_page(1)", "page down", show=False),
        Binding("pageup,b", "move_page(-1)", "page up", show=False),
        Binding("home,g", "move_to(0)", "top", show=False),
        Binding("end,G", "move_to(-1)", "end", show=False),
        Binding("right", "shift(1)", "right", show=False),
        Binding("left", "shift(-1)", "left", show=False),
    ]

    class Moved(Message):
        """The cursor is on another line."""

        def __init__(self, pane: LinePane) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, identity: str, *, chooses: bool) -> None:
        super().__init__(id=identity)
        self._chooses = chooses
        self._make_lines: LineMaker | None = None
        self._made_for = 0
        self.lines: Sequence[PaneLine] = []
        self.cursor = 0
        self.found = -1

    @property
    def current(self) -> PaneLine | None:
        """The line of the cursor; None in an empty pane."""
        if 0 <= self.cursor < len(self.lines):
            return self.lines[self.cursor]
        return None

    def show_lines(self, make_lines: LineMaker) -> None:
        """Show other lines; the cursor is on the first, or on the one that says so."""
        self._make_lines = make_lines
        self.found = -1
        self._renew_lines()
        self.scroll_to(0, 0, animate=False)
        self.cursor = -1
        self.set_cursor(next((place for place, line in enumerate(self.lines) if line.start), 0))

    def _renew_lines(self) -> None:
        if self._make_lines is None:
            return
        self._made_for = self.scrollable_content_region.width
        self.lines = self._make_lines(self._made_for)
        widest = max((line.text.cell_len for line in self.lines), default=0)
        self.virtual_size = Size(widest, len(self.lines))
        self.refresh()

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002 - textual's signature
        """Wrap the lines to the new width; the cursor stays on its line, above which the head may wrap otherwise."""
        if self.scrollable_content_region.width != self._made_for:
            below = len(self.lines) - self.cursor
            self._renew_lines()
            self.found = -1
            self.set_cursor(len(self.lines) - below)

    def set_cursor(self, cursor: int, step: int = 1) -> None:
        """Put the cursor on a line, on the next in the direction of `step` that can be chosen."""
        cursor = max(0, min(cursor, len(self.lines) - 1))
        if self._chooses and any(line.row >= 0 for line in self.lines):
            cursor = self._find_choosable(cursor, step)
        moved = cursor != self.cursor
        self.cursor = cursor
        self.call_after_refresh(self._show_cursor)
        self.refresh()
        if moved:
            self.post_message(self.Moved(self))

    def _find_choosable(self, cursor: int, step: int) -> int:
        for direction in (step, -step):
            place = cursor
            while 0 <= place < len(self.lines):
                if self.lines[place].row >= 0:
                    return place
                place += direction
        return cursor

    def _show_cursor(self) -> None:
        if self._chooses or self.found >= 0:
            at = Region(self.scroll_offset.x, self.cursor, 1, 1)
            self.scroll_to_region(at, animate=False, x_axis=False, force=True)

    def find_words(self, words: str, step: int) -> bool:
        """Go to the next line with these words, past the end on from the beginning; say whether there is one."""
        sought = words.casefold()
        start = self.cursor if self._chooses else max(self.found, self.scroll_offset.y - 1)
        for away in range(1, len(self.lines) + 1):
            place = (start + step * away) % len(self.lines)
            if sought and sought in self.lines[place].text.plain.casefold():
                self.found = place
                self.set_cursor(place)
                return True
        return False

    def action_move(self, step: int) -> None:
        """Go a line down or up."""
        if self._chooses:
            self.set_cursor(self.cursor + step, step)
        else:
            self.scroll_relative(y=step, animate=False)

    def action_move_page(self, step: int) -> None:
        """Go a page down or up."""
        self.action_move(step * max(1, self.scrollable_content_region.height - 1))

    def action_move_to(self, end: int) -> None:
        """Go to the first line, or to the last one."""
        if self._chooses:
            self.set_cursor(len(self.lines) - 1 if end else 0, -1 if end else 1)
        elif end:
            self.scroll_end(animate=False)
        else:
            self.scroll_home(animate=False)

    def action_shift(self, step: int) -> None:
        """Show what is further to the right or to the left."""
        self.scroll_relative(x=step * SIDEWAYS, animate=False)

    def render_line(self, y: int) -> Strip:
        """Return a row of the screen."""
        width = self.scrollable_content_region.width
        x, top = self.scroll_offset
        place = top + y
        if not 0 <= place < len(self.lines):
            return Strip.blank(width, self.rich_style)
        line = self.lines[place]
        strip = Strip(line.text.render(self.app.console)).crop_extend(x, x + width, Style.null())
        if self._chooses and place == self.cursor and (self.has_focus or line.row >= 0):
            return strip.apply_style(CURSOR)
        if place == self.found:
            return strip.apply_style(FOUND)
        return strip
