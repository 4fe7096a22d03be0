"""The front page of a comparison: the same rows in the same order in every form, and one screen on a terminal."""

from __future__ import annotations

import fcntl
import html
import io
import json
import os
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec import convert
from rich.console import Console

from analyzer.case.comparison import Comparison
from analyzer.cli import main
from analyzer.compare.story import ORDER, count_cut, cut_list
from analyzer.report.comparison import list_lines, render_html, render_markdown
from analyzer.report.comparison_screen import ROWS, print_screen
from analyzer.report.comparison_words import count_verdicts, list_rows, name_verdict
from analyzer.report.printer import Printer
from tests.kit.compare_scenes import Scene, list_scenes
from tests.kit.terminal_kit import read_terminal, strip_codes

ROOT = Path(__file__).parents[2]
CASES = ROOT / "samples" / "cases"
SCENES = ("a finding is new", "nineteen of twenty VMs gone", "a boot", "a series", "two hosts")
AFTER = ("no longer judged", "same")  # what follows the news


def compare_sides(*sides: Path, out: Path) -> Comparison:
    """Return the document of a comparison that the command writes."""
    done = CliRunner().invoke(main, ["compare", *map(str, sides), "-o", str(out)])
    assert done.exit_code in (0, 5), done.output
    return convert(json.loads((out / "compare.json").read_text(encoding="utf-8")), Comparison)


def write_scene(scene: Scene, folder: Path) -> Comparison:
    """Write the sides of a scene and compare them."""
    sides = [side.write(folder / f"s{number}") for number, side in enumerate(scene.sides)]
    return compare_sides(*sides, out=folder / "out")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Comparison]:
    """The lab before and after, and a scene of each kind of news."""
    folder = tmp_path_factory.mktemp("front")
    made = {
        "lab": compare_sides(
            CASES / "lab-ring-before", CASES / "lab-ring-after", out=folder / "lab"
        )
    }
    for number, scene in enumerate(one for one in list_scenes() if one.name in SCENES):
        made[scene.name] = write_scene(scene, folder / str(number))
    return made


def show_screen(doc: Comparison, width: int = 80) -> list[str]:
    """Return what a terminal shows of a comparison."""
    console = Console(file=io.StringIO(), width=width, force_terminal=False, highlight=False)
    print_screen(doc, Printer(console))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def strip_marks(text: str) -> str:
    """Return what is read of a text, whatever its form."""
    return re.sub(r"[\\\s|]+", "", html.unescape(re.sub(r"<[^>]+>", "", text)))


def test_every_form_lists_the_same_rows_in_the_same_order(compared: dict[str, Comparison]) -> None:
    """Page and Markdown have each row of the document in its order, a pipe each sentence, a terminal the first of them."""
    for name, doc in compared.items():
        rows = list_rows(doc)
        assert rows, name
        for form in (render_html(doc), render_markdown(doc)):
            flat = strip_marks(form)
            at = 0
            for row in rows:
                words = (name_verdict(doc, row.verdict), row.who, row.what, row.went)
                at = flat.index(strip_marks("".join(words)), at) + 1
        piped = "\n".join(list_lines(doc))
        places = [piped.index(one.text) for one in doc.conclusion]
        assert places == sorted(places), name
        shown = [line for line in show_screen(doc) if line[:12].strip() and line[12:13] == " "]
        words_of = [name_verdict(doc, row.verdict, numbered=True) for row in rows]
        listed = [line[:12].strip() for line in shown if line[:12].strip() in words_of]
        assert listed == [word[:12] for word in words_of[: len(listed)]], name
        rest = count_verdicts(doc, rows[len(listed) :], numbered=True)
        assert (len(listed) == len(rows)) or any(
            line.startswith(f"MORE {rest}"[:80]) for line in show_screen(doc)
        ), name


def test_news_stand_first(compared: dict[str, Comparison]) -> None:
    """New, worse, better, replaced, changed; then what stayed."""
    for name, doc in compared.items():
        ranks = [(*ORDER, *AFTER, "not compared").index(row.verdict) for row in list_rows(doc)]
        assert ranks == sorted(ranks), name


def test_a_cut_list_counts_what_it_leaves_out(compared: dict[str, Comparison]) -> None:
    """Rows count every finding and every thing that came or went, listed or not."""
    doc = compared["nineteen of twenty VMs gone"]
    assert sum(row.count for row in list_rows(doc) if row.verdict == "removed") == 19
    assert "Nothing else changed" in "\n".join(list_lines(doc))


@pytest.mark.parametrize("most", [1, 6, 12])
def test_no_thing_is_neither_listed_nor_counted(most: int) -> None:
    """However long a list is: what is listed and what is counted as more are all of it, and no line counts one."""
    for count in range(3 * most):
        things = [*range(count)]
        assert len(cut_list(things, most)) + count_cut(things, most) == count
        assert count_cut(things, most) != 1


@pytest.mark.parametrize("width", [80, 60])
def test_a_terminal_shows_one_screen(compared: dict[str, Comparison], width: int) -> None:
    """At most 24 rows with the path and the prompt, none wider than the terminal."""
    for name, doc in compared.items():
        lines = show_screen(doc, width)
        assert len(lines) <= ROWS - 2, (name, lines)
        assert max(map(len, lines)) <= width, name


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
@pytest.mark.process
def test_the_command_fits_a_terminal_of_24_rows(tmp_path: Path) -> None:
    """As typed in a terminal of 80x24: verdict, who and what, and the figures of the lab, on one screen."""
    import pty

    inner, outer = pty.openpty()
    fcntl.ioctl(outer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    sides = [str(CASES / "lab-ring-before"), str(CASES / "lab-ring-after")]
    command = [sys.executable, "-m", "analyzer", "compare", *sides, "-o", str(tmp_path / "out")]
    child = subprocess.Popen(
        command, cwd=ROOT, stdin=outer, stdout=outer, env={**environment, "TERM": "xterm"}
    )
    os.close(outer)
    shown = read_terminal(inner)
    assert child.wait() == 0
    lines = strip_codes(shown).replace("\r", "").splitlines()
    assert len(lines) < ROWS
    assert (
        "better       iperf-test2: TCP segments retransmitted          0.171% → 0.000129%" in lines
    )
    assert lines[-1].startswith("comparison: ")
