"""The screen of `backline browse`: the table of findings left, the account of the chosen row and its log right.

It reads the case document and nothing else, writes nothing, and needs the keyboard alone: the mouse stays with the
terminal, so that what is shown can be marked and copied as in any other program. Colours are the sixteen of the
terminal, none with NO_COLOR; each repeats what a word says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from analyzer.case.document import CaseDocument
from analyzer.report import completeness, desk_rows, finding_rows, view
from analyzer.report.desk_rows import DeskRow
from analyzer.report.wording import join_few
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line
from analyzer.views import browse_account, browse_rows
from analyzer.views.browse_lines import PaneLine, make_text
from analyzer.views.browse_pane import LinePane
from analyzer.views.browse_rows import RowChoice

KEYS = "j/k  Tab pane  Enter larger  / find  s level  h host  t time  ? help  q quit"
HELP = (
    "j k, arrows        a line down, up",
    "Space b, PgDn PgUp a page down, up",
    "g G, Home End      the first, the last line",
    "Left Right         what is further to the side",
    "Tab, Shift+Tab     the next, the previous pane",
    "Enter              from the table to the account; there, the pane alone",
    "Esc                back: the find, the large pane, the table",
    "/                  find: in the table its rows, else the next line",
    "n N                the next, the previous line found",
    "s                  level: all, critical, major or worse, warning or worse",
    "h H                the next, the previous host; the log shows it alone too",
    "t                  by time, or worst first",
    "?                  these keys, or the account again",
    "q, Ctrl+C          quit",
)
SLACK = 16  # columns of two lines that are lost where the first breaks
NOTHING = "No finding."
NONE_CHOSEN = "No row is chosen by level, host and find: Esc shows all."
PANES = {"table": "Findings", "account": "Account", "log": "Log"}


class BrowseApp(App[None]):
    """One case on the screen."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; background: ansi_default; color: ansi_default; }
    .bar { height: 1; }
    #verdict { height: auto; max-height: 2; }
    #panes { height: 1fr; }
    LinePane { height: 1fr; background: ansi_default; scrollbar-size-vertical: 1;
               scrollbar-size-horizontal: 0; overflow-x: hidden; overflow-y: scroll; }
    #table { width: 50%; }
    #account, #log { width: 1fr; border-left: solid ansi_default; }
    Input, Input:focus { border: none; height: 1; padding: 0; background: ansi_default; color: ansi_default; }
    .away { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "go_pane(1)", "pane", priority=True),
        Binding("shift+tab", "go_pane(-1)", "pane", priority=True),
        Binding("enter", "enlarge", "larger"),
        Binding("escape", "go_back", "back", priority=True),
        Binding("slash", "ask_words", "find"),
        Binding("n", "find_next(1)", "next"),
        Binding("N", "find_next(-1)", "previous"),
        Binding("s", "change_level", "level"),
        Binding("h", "change_host(1)", "host"),
        Binding("H", "change_host(-1)", "host"),
        Binding("t", "change_order", "time"),
        Binding("question_mark", "show_keys", "keys"),
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", "quit", priority=True),
    ]

    def __init__(self, doc: CaseDocument) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self._doc = doc
        stories = finding_rows.list_stories(doc)
        self._verdict = desk_rows.write_verdict(stories) or view.write_headline(doc)
        self._rows = desk_rows.list_desk_rows(doc, stories)
        self._hosts = ["", *browse_rows.list_hosts(self._rows)]
        self._log_writer = browse_account.LogWriter(doc)
        self._choice = RowChoice()
        self._places: list[int] = []
        self._pane = "table"
        self._beside = "account"  # the pane that is beside the table
        self._is_large = False
        self._words = ""  # what was sought in account or log
        self._remark = ""
        self._shows_keys = False
        self.failure: Exception | None = None

    def compose(self) -> ComposeResult:
        """Make the parts of the screen."""
        yield Static(id="head", classes="bar", markup=False)
        yield Static(id="verdict", markup=False)
        yield Static(id="tabs", classes="bar", markup=False)
        with Horizontal(id="panes"):
            yield LinePane("table", chooses=True)
            yield LinePane("account", chooses=False)
            yield LinePane("log", chooses=True)
        yield Input(id="words", classes="away", select_on_focus=False)
        yield Static(id="status", classes="bar", markup=False)
        yield Static(id="keys", classes="bar", markup=False)

    def on_mount(self) -> None:
        """Show the case with the cursor on the worst row."""
        self._place_panes()
        self.call_after_refresh(self._show_rows)

    def on_resize(self) -> None:
        """Write the bars anew."""
        self._write_bars()

    @property
    def row(self) -> DeskRow | None:
        """The row of the cursor; None when none is shown."""
        line = self._get_pane("table").current
        if line is None or line.row < 0:
            return None
        return self._rows[line.row]

    def _get_pane(self, name: str) -> LinePane:
        return self.query_one(f"#{name}", LinePane)

    def _show_rows(self) -> None:
        """Show the chosen rows; the cursor stays on its row where that is still shown."""
        before = self.row
        self._places = browse_rows.choose_rows(self._rows, self._choice)
        table = self._get_pane("table")
        if self._places:
            table.show_lines(
                lambda width: browse_rows.list_row_lines(self._rows, self._places, width)
            )
            for place, line in enumerate(table.lines):
                if before is not None and line.row >= 0 and self._rows[line.row] is before:
                    table.set_cursor(place)
        else:
            text = NONE_CHOSEN if self._rows else NOTHING
            table.show_lines(lambda width: [PaneLine(make_text(bound_line(text, width)))])

    def _show_row(self) -> None:
        """Show account and log of the row of the cursor."""
        row = self.row
        log = self._get_pane("log")
        self._shows_keys = False
        if row is None:
            self._get_pane("account").show_lines(lambda _: [])
            log.show_lines(lambda _: [])
        else:
            doc, host = self._doc, self._choice.host
            self._get_pane("account").show_lines(
                lambda width: browse_account.write_account(doc, row, width)
            )
            log.show_lines(lambda width: self._log_writer.write_log(row, width, host))
        self._write_bars()

    def _place_panes(self) -> None:
        """Show the table and one pane beside it, or one pane alone, and give one the keys."""
        if self._pane != "table":
            self._beside = self._pane
        for name in PANES:
            shown = name == self._pane or (not self._is_large and name in ("table", self._beside))
            self._get_pane(name).set_class(not shown, "away")
        self._get_pane(self._pane).focus()
        self._write_bars()

    def _write_bars(self) -> None:
        """Write the lines above and below the panes."""
        width = self.size.width
        self._write_head(width)
        tabs = Text(no_wrap=True)
        for name, title in PANES.items():
            tabs.append(f" {title} ", "bold reverse" if name == self._pane else "dim")
            tabs.append(" ")
        row = self.row
        if row is not None:
            number = f"{row.number} " if row.number else ""
            tabs.append_text(make_text(f" {number}{row.what}", "bold"))
        tabs.truncate(width, overflow="ellipsis")
        self.query_one("#tabs", Static).update(tabs)
        self._write_status(width)
        self.query_one("#keys", Static).update(make_text(KEYS[:width], "dim"))

    def _write_head(self, width: int) -> None:
        """Write what the case is, what limits it, and how bad it is."""
        doc = self._doc
        head = make_text(bound_middle(doc.case.name or "case", width // 2), "bold")
        limits = [*doc.limits]
        if not completeness.is_complete(doc):
            limits.insert(0, completeness.describe_completeness(doc))
        if limits:
            room = max(1, width - head.cell_len - 2)
            head.append("  ")
            head.append_text(make_text(bound_line(join_few(limits, 2), room), "bold yellow"))
        self.query_one("#head", Static).update(head)
        verdict = one_line(f"{self._verdict}.", max(1, width * 2 - SLACK))
        self.query_one("#verdict", Static).update(Text(verdict))

    def _write_status(self, width: int) -> None:
        """Write what is shown of the table, or where the line of the log stands."""
        text = (
            f"{len(self._places):,} of {len(self._rows):,} rows | {self._choice.describe_choice()}"
        )
        if self._pane == "log":
            line = self._get_pane("log").current
            if line is not None and line.place:
                text = bound_middle(line.place, width)
        elif self._pane == "account":
            row = self.row
            if row is not None and row.place:
                text = bound_middle(row.place, width)
        if self._remark:
            text = self._remark
        self.query_one("#status", Static).update(make_text(bound_line(text, max(1, width)), "bold"))

    def on_line_pane_moved(self, message: LinePane.Moved) -> None:
        """Show account and log of another row; below a log, the address of its line."""
        self._remark = ""
        if message.pane.id == "table":
            self._show_row()
        else:
            self._write_bars()

    def action_go_pane(self, step: int) -> None:
        """Give the keys to the next pane or the previous one."""
        if self._is_asking:
            return
        names = list(PANES)
        self._pane = names[(names.index(self._pane) + step) % len(names)]
        self._remark = ""
        self._place_panes()

    def action_enlarge(self) -> None:
        """Go from the table to the account; of another pane, show it alone or beside the table again."""
        if self._pane == "table":
            self._pane = self._beside
        else:
            self._is_large = not self._is_large
        self._place_panes()

    def action_go_back(self) -> None:
        """Undo one thing: the question for words, the large pane, the pane, what chooses the rows."""
        self._remark = ""
        if self._is_asking:
            self._close_question()
        elif self._is_large:
            self._is_large = False
            if self._shows_keys:
                self._show_row()
        elif self._pane != "table":
            self._pane = "table"
        else:
            self._choice = RowChoice(by_time=self._choice.by_time)
            self._show_rows()
        self._place_panes()

    @property
    def _is_asking(self) -> bool:
        return not self.query_one("#words", Input).has_class("away")

    def action_ask_words(self) -> None:
        """Ask for the words to find."""
        words = self.query_one("#words", Input)
        words.value = self._choice.words if self._pane == "table" else ""
        words.remove_class("away")
        self.query_one("#status", Static).add_class("away")
        self.query_one("#keys", Static).update(
            make_text("Enter finds, Esc leaves; in the table all words of a row", "dim")
        )
        words.focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Show the rows with these words, or go to the next line that has them."""
        self._close_question()
        if self._pane == "table":
            self._choice = replace(self._choice, words=message.value.strip())
            self._show_rows()
            self._place_panes()
            return
        self._words = message.value.strip()
        self._place_panes()
        self.action_find_next(1)

    def _close_question(self) -> None:
        self.query_one("#words", Input).add_class("away")
        self.query_one("#status", Static).remove_class("away")

    def action_find_next(self, step: int) -> None:
        """Go to the next line with the words that were sought, or the previous one."""
        if self._pane == "table":
            return
        if not self._words:
            self._remark = "Nothing was sought yet: / asks for words."
        elif not self._get_pane(self._pane).find_words(self._words, step):
            self._remark = f"Not in this pane: {self._words}"
        self._write_bars()

    def action_change_level(self) -> None:
        """Show the next level and what is worse."""
        levels = browse_rows.LEVELS
        place = (levels.index(self._choice.level) + 1) % len(levels)
        self._choice = replace(self._choice, level=levels[place])
        self._show_rows()

    def action_change_host(self, step: int) -> None:
        """Show the rows of the next host or the previous one, after the last those of all."""
        place = (self._hosts.index(self._choice.host) + step) % len(self._hosts)
        self._choice = replace(self._choice, host=self._hosts[place])
        self._show_rows()

    def action_change_order(self) -> None:
        """Sort by time, or worst first."""
        self._choice = replace(self._choice, by_time=not self._choice.by_time)
        self._show_rows()

    def action_show_keys(self) -> None:
        """Show the keys in the place of the account, or the account again."""
        if self._shows_keys:
            self._is_large = False
            self._place_panes()
            self._show_row()
            return
        self._shows_keys = True
        self._pane, self._is_large = "account", True
        self._place_panes()
        self._get_pane("account").show_lines(lambda _: [PaneLine(make_text(line)) for line in HELP])

    def _handle_exception(self, error: Exception) -> None:
        """Keep an error for who called: Textual would print all that is in its variables, parts of the case."""
        self.failure = error
        super()._handle_exception(error)
        self._exit_renderables.clear()
