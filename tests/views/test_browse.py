"""`backline browse`: the screen through Textual's own pilot, and the command over a real pseudo-terminal."""

from __future__ import annotations

import asyncio
import builtins
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs

from analyzer.case import case_file
from analyzer.case.document import CaseDocument, CaseLogLine
from analyzer.cli import main
from analyzer.report import desk_rows, finding_rows
from analyzer.runtime.text import UNSAFE
from analyzer.views.browse_app import BrowseApp
from analyzer.views.browse_pane import LinePane
from tests.kit.case_factory import BUNDLE, HOSTILE, hostile_case, quiet_case, rich_case

posix = pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal of POSIX")
SIZE = (80, 24)
PATIENCE = 60.0


class Seat:
    """Somebody at the keyboard, who sees the screen as text."""

    def __init__(self, app: BrowseApp, pilot: Any) -> None:
        self.app, self._pilot = app, pilot

    async def press(self, *keys: str) -> list[str]:
        """Press keys; return the rows of the screen."""
        await self._pilot.press(*keys)
        await self._pilot.pause()
        return self.read_rows()

    async def resize(self, width: int, height: int) -> list[str]:
        """Change the size of the terminal; return the rows of the screen."""
        await self._pilot.resize_terminal(width, height)
        await self._pilot.pause()
        return self.read_rows()

    def read_rows(self) -> list[str]:
        """Return the rows of the screen."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]

    def read_pane(self, name: str) -> str:
        """Return all lines of a pane, those out of sight as well."""
        pane = self.app.query_one(f"#{name}", LinePane)
        return "\n".join(line.text.plain for line in pane.lines)

    def read_cursor(self, name: str) -> str:
        """Return the line of the cursor of a pane."""
        line = self.app.query_one(f"#{name}", LinePane).current
        return line.text.plain if line is not None else ""


def sit_down(
    doc: CaseDocument, act: Callable[[Seat], Awaitable[None]], size: tuple[int, int] = SIZE
) -> None:
    """Open a case and do something with it."""

    async def run() -> None:
        app = BrowseApp(doc)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await act(Seat(app, pilot))

    asyncio.run(run())


def keep_log(doc: CaseDocument, number: int = 40) -> CaseDocument:
    """Return a case with lines of two hosts around the first time of its worst finding; the first is evidence."""
    lines = []
    worst = doc.findings[0].evidence[0]
    for place in range(number):
        node = "esx07.lab" if place % 2 == 0 else "esx08.lab"
        moment = f"2017-10-09T13:0{place // 10}:{place % 10:02}.500Z"
        lines.append(
            CaseLogLine(
                time=moment,
                node=node,
                log="vmkernel",
                level="warning",
                component="",
                object="",
                text=f"{moment} cpu1:33467)[bold]line {place}[/bold] of the log",
                address=worst.address if place == 20 else f"{BUNDLE}/var/log/vmkernel.log",
                line=worst.line if place == 20 else place + 1,
            )
        )
    return structs.replace(doc, log=lines)


def list_rows(doc: CaseDocument) -> list[desk_rows.DeskRow]:
    """Return the rows of the report."""
    return desk_rows.list_desk_rows(doc, finding_rows.list_stories(doc))


@pytest.mark.parametrize(
    ("doc", "size"),
    [
        (rich_case(), SIZE),
        (keep_log(hostile_case()), SIZE),
        (keep_log(hostile_case()), (30, 9)),
        (keep_log(hostile_case()), (200, 40)),
        (quiet_case(), SIZE),
    ],
    ids=["rich", "hostile", "tiny", "wide", "quiet"],
)
def test_no_case_breaks_the_screen(doc: CaseDocument, size: tuple[int, int]) -> None:
    """The keys leave whole rows in each pane, and nothing in them that steers a terminal."""

    async def act(seat: Seat) -> None:
        for _ in range(3):
            for keys in (["j", "end", "right", "s"], ["h", "t", "home"], ["enter", "n"]):
                rows = await seat.press(*keys)
                assert len(rows) == size[1]
                assert not UNSAFE.search("".join(rows)), keys
            await seat.press("escape", "question_mark", "question_mark", "tab")

    sit_down(doc, act, size)


def test_the_rows_are_those_of_the_report() -> None:
    """Same order, same numbers; what only the release tells stands behind a divider that no cursor stops at."""
    doc = rich_case()
    rows = list_rows(doc)

    async def act(seat: Seat) -> None:
        lines = seat.read_pane("table").splitlines()
        numbers = [line[:2].strip() for line in lines if not line.startswith("Known faults")]
        assert numbers == [row.number for row in rows]
        assert len(lines) == len(rows) + 1
        for row in rows:
            assert seat.read_cursor("table").startswith(f"{row.number:>2} ")
            assert row.what in " ".join(seat.read_pane("account").split())
            await seat.press("j")
        await seat.press("home")
        assert seat.read_cursor("table").startswith(f"{rows[0].number:>2} ")

    sit_down(doc, act)


def test_the_account_says_all_of_a_finding() -> None:
    """Sentence, evidence between its lines and marked, steps and commands, what it is not, cause and why."""
    doc = rich_case()

    async def act(seat: Seat) -> None:
        await seat.press("j", "enter", "enter")
        text = seat.read_pane("account")
        told = " ".join(text.split())
        finding = next(one for one in doc.findings if one.rule == "kb-2039495")
        assert finding.say in told and finding.about in told and finding.not_this[0] in told
        assert "\n> " in text and finding.evidence[1].text in text
        hit = text.index(f"> {finding.evidence[1].text}")
        assert 0 < text.index(finding.evidence[1].before[0]) < hit
        assert text.index(finding.evidence[1].after[1]) > hit
        assert "\n    ethtool -G eth0 rx 4096\n" in text
        assert "Caution: " in text and "7086 + 3284 = 10370" in told and "KB 2039495" in told

    sit_down(doc, act)


def test_the_log_around_a_finding() -> None:
    """A line a line: its time once, host as a letter that is explained, hits marked, at least 15 in sight."""
    doc = keep_log(rich_case())

    async def act(seat: Seat) -> None:
        rows = await seat.press("tab", "tab", "enter")
        lines = [
            row for row in rows if re.match(r"│[> ] ?\s*13:0\d:\d\d\.500 [A-Z]: vmkernel ", row)
        ]
        assert len(lines) >= 15
        text = seat.read_pane("log")
        assert "A = " in text and "40 of about " in text and "backline log " in text
        assert text.count("2017-10-09T13:02:00.500Z") == 0
        assert seat.read_cursor("log").startswith("> 13:02:00.500 ")
        assert "[bold]line 20[/bold]" in seat.read_cursor("log")
        assert "esxtop-esx07.csv.gz:412" in rows[-2]
        rows = await seat.press("j")
        assert "vmkernel.log:22" in rows[-2]

    sit_down(doc, act)


def test_the_log_of_one_host_keeps_the_evidence() -> None:
    """h leaves the rows and lines of one host; the line that a finding rests on stays."""
    doc = keep_log(rich_case())

    async def act(seat: Seat) -> None:
        rows = await seat.press("h")
        assert "host: esx07.lab" in rows[-2]
        text = seat.read_pane("log")
        assert "line 20[" in text and "line 21[" not in text and "line 22[" in text
        hosts = {row.host for row in list_rows(doc)}
        assert "NSX 6.3.3" not in seat.read_pane("table") and len(hosts) > 1
        rows = await seat.press("h", "h", "home")
        assert "host: all" in rows[-2] and "line 21[" in seat.read_pane("log")

    sit_down(doc, act)


def test_level_order_and_words_choose_rows() -> None:
    """s, t and / say below the table what is shown; Esc shows all again."""
    doc = rich_case()

    async def act(seat: Seat) -> None:
        rows = await seat.press("s", "s")
        assert "level: major or worse" in rows[-2]
        table = seat.read_pane("table")
        assert "MAJOR" in table and "BROKE" in table and "WARN" not in table
        await seat.press("escape", "t")
        times = [line[9:14] for line in seat.read_pane("table").splitlines() if ":" in line[9:14]]
        assert times == sorted(times) and len(times) == 3
        rows = await seat.press("slash", *"vmxnet3 ring", "enter")
        assert "with: vmxnet3 ring" in rows[-2]
        assert len(seat.read_pane("table").splitlines()) == 1
        rows = await seat.press("slash", *"qsht", "enter")  # letters that are keys elsewhere
        assert "No row is chosen" in seat.read_pane("table") and seat.read_pane("account") == ""
        rows = await seat.press("escape")
        assert "8 of 8 rows" in rows[-2] and "by time" in rows[-2]

    sit_down(doc, act)


def test_the_row_stays_chosen_when_the_order_changes() -> None:
    """Sorting moves the cursor with its row."""

    async def act(seat: Seat) -> None:
        await seat.press("j", "j")
        chosen = seat.read_cursor("table")[3:]
        await seat.press("t")
        assert seat.read_cursor("table")[3:] == chosen

    sit_down(rich_case(), act)


def test_words_are_found_in_account_and_log() -> None:
    """/ goes to the next line with the words, n and N on and back; what is not there is said."""
    doc = keep_log(rich_case())

    async def act(seat: Seat) -> None:
        await seat.press("tab", "tab", "slash", *"line 3", "enter")
        assert "line 30[" in seat.read_cursor("log")
        await seat.press("n")
        assert "line 31[" in seat.read_cursor("log")
        await seat.press("N", "N")
        assert "line 3[" in seat.read_cursor("log")
        rows = await seat.press("slash", *"no such", "enter")
        assert "Not in this pane: no such" in rows[-2]
        rows = await seat.press("shift+tab", "slash", *"limited >=", "enter")
        assert any("limited >= 0.3" in row for row in rows)

    sit_down(doc, act)


def test_a_pane_alone_and_back() -> None:
    """Enter gives a pane the whole width, Esc goes back a step at a time; ? shows the keys."""

    async def act(seat: Seat) -> None:
        rows = await seat.press("enter")
        assert any(row.startswith(" 1 MAJOR") for row in rows)
        rows = await seat.press("enter")
        assert not any(row.startswith(" 1 MAJOR") for row in rows)
        rows = await seat.press("escape")
        assert any(row.startswith(" 1 MAJOR") for row in rows)
        rows = await seat.press("question_mark")
        assert any("worst first" in row for row in rows)
        rows = await seat.press("escape", "escape")
        assert any("MAJOR confirmed" in row for row in rows)
        rows = await seat.resize(120, 40)
        assert len(rows) == 40 and all(len(row) == 120 for row in rows)

    sit_down(rich_case(), act)


class Terminal:
    """A program on a pseudo-terminal of 80x24."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        import fcntl
        import pty
        import termios

        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.settings = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(
            [sys.executable, "-m", "analyzer", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": "", **environment},
            start_new_session=True,
        )
        self.seen = ""

    def wait_for(self, words: str, *, new: bool = True) -> str:
        """Read until the program has written these words; return all that it wrote."""
        start = len(self.seen) if new else 0
        until = time.monotonic() + PATIENCE
        while words not in self.seen[start:]:
            assert time.monotonic() < until and self.process.poll() is None, self.seen[-2000:]
            self.read_some()
        return self.seen

    def read_some(self) -> bool:
        """Read what the program wrote in the last moment; say whether there was anything."""
        if not select.select([self.master], [], [], 0.1)[0]:
            return False
        self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
        return True

    def type_keys(self, keys: str) -> None:
        """Type keys."""
        os.write(self.master, keys.encode())

    def end(self) -> int:
        """Return the exit code of the program, all that it wrote read."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < until:
            self.read_some()
        while self.read_some():
            pass
        return self.process.wait(1)

    def close(self) -> None:
        """End what is still there."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def open_terminal() -> Iterator[Callable[..., Terminal]]:
    """Start the command on terminals, all of which are closed at the end."""
    opened: list[Terminal] = []

    def start(*words: str, **environment: str) -> Terminal:
        opened.append(Terminal(list(words), environment))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def save_case(folder: Path, doc: CaseDocument) -> Path:
    """Write a case as triage does; return its folder."""
    (folder / "case.json").write_text("".join(case_file.write_parts(doc)), encoding="utf-8")
    return folder


@posix
@pytest.mark.process
def test_over_a_terminal(tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """The folder of a case opens, keys work, q ends it with 0, and the terminal is as it was."""
    import termios

    save_case(tmp_path, keep_log(rich_case()))
    terminal = open_terminal("browse", str(tmp_path))
    terminal.wait_for("q quit")
    terminal.wait_for("MAJOR", new=False)
    terminal.type_keys("j")
    terminal.wait_for("VMXNET3 RX ring")
    terminal.type_keys("s")
    terminal.wait_for("critical")
    terminal.type_keys("q")
    assert terminal.end() == 0
    assert termios.tcgetattr(terminal.slave)[3] == terminal.settings[3]
    assert "\x1b[?1049l" in terminal.seen  # the screen that was there before
    assert not re.search(r"\x1b\[\?100[0236]h", terminal.seen)  # the mouse stays with the terminal


@posix
@pytest.mark.process
def test_no_color_over_a_terminal(tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """With NO_COLOR nothing has a colour; without it severities have."""
    doc = rich_case()
    for place, finding in enumerate(doc.findings):
        say = f"{HOSTILE} {finding.say}"
        doc.findings[place] = structs.replace(finding, say=say, title=f"{finding.title} {HOSTILE}")
    save_case(tmp_path, doc)
    colour = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")
    for environment, wanted in (({"NO_COLOR": "1"}, False), ({}, True)):
        terminal = open_terminal("browse", str(tmp_path / "case.json"), **environment)
        terminal.wait_for("q quit")
        terminal.wait_for("MAJOR", new=False)
        terminal.type_keys("\x03")  # Ctrl-C
        assert terminal.end() == 0
        assert bool(colour.search(terminal.seen)) is wanted
        assert "\x1b[31m`" not in terminal.seen


def test_a_pipe_is_refused_with_what_helps(tmp_path: Path) -> None:
    """Without a terminal nothing is drawn; a case that is not there is said first."""
    save_case(tmp_path, quiet_case())
    done = CliRunner().invoke(main, ["browse", str(tmp_path)])
    assert done.exit_code == 2
    assert "browse needs a terminal" in done.output and "backline show" in done.output
    done = CliRunner().invoke(main, ["browse", str(tmp_path / "none")])
    assert done.exit_code != 0 and "no such file or folder" in done.output


def test_without_textual_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing library is no bug: the line says what to install, and what works without."""
    real = builtins.__import__

    def refuse(name: str, *args: Any, **words: Any) -> Any:
        if name == "analyzer.views.browse_app":
            raise ModuleNotFoundError("No module named 'textual'", name="textual.app")
        return real(name, *args, **words)

    monkeypatch.setattr(builtins, "__import__", refuse)
    done = CliRunner().invoke(main, ["browse", str(tmp_path)])
    assert done.exit_code == 3
    assert "pip install 'backline[browse]'" in done.output and "backline show" in done.output


def test_an_error_inside_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What breaks on the screen reaches the command, without the variables of the program."""

    async def run() -> BrowseApp:
        app = BrowseApp(rich_case())
        monkeypatch.setattr(app, "_show_row", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            async with app.run_test(size=SIZE) as pilot:
                await pilot.press("j")
        return app

    app = asyncio.run(run())
    assert isinstance(app.failure, ZeroDivisionError)
    assert not app._exit_renderables
