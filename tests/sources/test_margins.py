"""What tools put before every line of a text, or make of its signs, costs no row: the rows and their lines stay."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer import open_case
from analyzer.scan.blocks import LineBlocks
from analyzer.sources.passes import drop_gaps, remove_margin

SAMPLES = Path(__file__).parents[2] / "samples"
SESSION = SAMPLES / "cases" / "lab-ring-before" / "esx0.txt"
LISTS = (
    SAMPLES / "esxi" / "storage" / "storage_path" / "two_paths.txt",
    SAMPLES / "nsx_t" / "nsxt_cluster_status" / "stable.txt",
)


def each(change: Callable[[int, str], str]) -> Callable[[str], str]:
    """Change every line of a text, given its number."""
    return lambda text: "\n".join(
        change(number, line) for number, line in enumerate(text.splitlines(), 1)
    )


def escaped(text: str) -> str:
    """Write a text as pandoc writes it in Markdown: a backslash before signs, and before all but the last of a rule."""
    text = re.sub(r"([\[\]~|<>*#])", r"\\\1", text)
    return re.sub(r"-{2,}", lambda rule: r"\-" * (len(rule[0]) - 2) + r"\--", text)


# Synthetic; each follows what the tool prints.
WAYS = {
    "cat -n": each(lambda number, line: f"{number:6}\t{line}"),
    "less -N": each(lambda number, line: f"{number:7} {line}"),
    "SecureCRT": each(lambda _, line: f"[2021-03-02 10:11:12] {line}"),
    "MobaXterm": each(lambda _, line: f"[2021-03-02 10:11.12] {line}"),
    "Tera Term": each(lambda _, line: f"[Tue Mar 02 10:11:12.345 2021] {line}"),
    "a mail's answer": each(lambda _, line: f"> {line}"),
    "a script's remarks": each(lambda _, line: f"# {line}"),
    "remarks without a blank": each(lambda _, line: f"  #{line}"),
    "colours": each(lambda _, line: f"\x1b[0m{line}\x1b[K"),
    "the source of a page": html.escape,
    "a blog": lambda text: text.replace("--", "–").replace('"', "”"),
    "pandoc": escaped,
    "Notepad": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
}


def rows(path: Path) -> dict[str, list[tuple[int, str]]]:
    """Every row of every table of a text with the line it stands on, but for where the text itself lies."""
    case = open_case(path)
    found = {}
    for name in case.tables:
        table = case.table(name)
        cells = table.drop(columns=["node", "member", "line"]).to_numpy().tolist()
        found[name] = [
            (line, str(row)) for line, row in zip(table["line"].tolist(), cells, strict=True)
        ]
    return found


@pytest.fixture(scope="module")
def plain() -> dict[Path, dict[str, list[tuple[int, str]]]]:
    """The rows of the texts as they are."""
    return {path: rows(path) for path in (SESSION, *LISTS)}


@pytest.mark.size
@pytest.mark.parametrize("way", WAYS)
def test_a_text_gives_the_same_rows_on_the_same_lines(
    way: str, plain: dict[Path, dict[str, list[tuple[int, str]]]], tmp_path: Path
) -> None:
    """A session and bare outputs, with known file names or not, are read whichever tool has had them."""
    for path, expected in plain.items():
        changed = tmp_path / path.name
        changed.write_text(
            WAYS[way](path.read_text(encoding="utf-8")), encoding="utf-8", newline=""
        )
        assert expected
        assert rows(changed) == expected


LOG = [
    f"2023-03-01T10:00:0{n}.000Z cpu{n}:410{n})vmnic{n} : 02:00.{n} Link Down" for n in range(1, 6)
]  # synthetic


@pytest.mark.parametrize(
    "change",
    [
        WAYS["SecureCRT"],
        WAYS["MobaXterm"],
        WAYS["cat -n"],
        lambda text: f"{{noformat}}\n{text}{{noformat}}\n",
    ],
)
def test_a_log_gives_the_same_rows(change: Callable[[str], str], tmp_path: Path) -> None:
    """A loose log has every line read when a tool put times or numbers before them, or a ticket its marks around them."""
    (log := tmp_path / "some.txt").write_text("\n".join(LOG) + "\n", encoding="utf-8")
    (copy := tmp_path / "copy" / "some.txt").parent.mkdir()
    copy.write_text(change(log.read_text(encoding="utf-8")), encoding="utf-8")
    told, found = (
        open_case(path).table("esxi.vmkernel").drop(columns="line") for path in (log, copy)
    )
    assert len(told) == len(LOG)
    assert found.astype(str).to_numpy().tolist() == told.astype(str).to_numpy().tolist()


def test_what_a_writer_underlined_and_said_of_it() -> None:
    """Brackets that pandoc leaves around an underlined part are no part of it, nor are the words behind an arrow."""
    rule = r"\-\-\--  \-\--"
    lines = [
        rule,
        r"[   State: AGENT   ]\-\--\> a remark",
        r"[   State: MASTER][  \--\> ]a remark",
        r"is 0[   \--] a remark",
        "   a: b",
    ]
    assert remove_margin(lines) == [
        "----  ---",
        "   State: AGENT   ",
        "   State: MASTER",
        "is 0",
        "   a: b",
    ]


def test_the_head_of_a_log_line_tells_that_signs_have_a_backslash() -> None:
    """A note of a log alone has neither ruler nor prompt; the brackets of its lines tell that pandoc wrote it."""
    line = "2014-06-14T20:33:00.566Z [FFF6BB90 verbose 'Cluster' opID=SWI-b1d2bb4e] is bad ip"  # synthetic
    for text in (
        line,
        "2020-06-26T05:18:33.404Z warning vpxa[2100448] [Originator@6876 sub=Default] took 1800006 ms",
    ):
        assert remove_margin(["words", escaped(text).replace("'", "\\'")]) == ["words", text]


def test_remarks_between_other_lines_stay() -> None:
    """A # is left out where every line of a text has one; a script with remarks stays as it is."""
    script = ["# esxcli vm process list", "a=1", "# b", "# c"]
    assert remove_margin(script) == script
    assert (
        remove_margin(["#web1", "#   World ID: 5", "#", "#   Process ID: 0"])[1] == "   World ID: 5"
    )


def test_bold_words_of_a_page_are_the_words() -> None:
    """Asterisks of Markdown around a cell are left out; those that mask a part of a name stay."""
    lines = [
        "vmnic0 02:01 e1000 Up **00:0c:29:d3:3d:34** 1500",
        "naa.**345** **:12:** db-**-01 ****",
        "Status: **degraded**",
    ]
    assert remove_margin(lines) == [
        "vmnic0 02:01 e1000 Up 00:0c:29:d3:3d:34 1500",
        lines[1],
        "Status: degraded",
    ]


@pytest.mark.parametrize("change", [str, escaped])
def test_a_blank_line_below_each_line_costs_no_row(
    change: Callable[[str], str],
    plain: dict[Path, dict[str, list[tuple[int, str]]]],
    tmp_path: Path,
) -> None:
    """A copy of a word processor or a note program gives the rows of the text, each on the line where it stands now."""
    for path, told in plain.items():
        copy = tmp_path / path.name
        copy.write_text(
            "\n\n".join(change(path.read_text(encoding="utf-8")).split("\n")), encoding="utf-8"
        )
        assert rows(copy) == {
            name: [(2 * line - 1, cells) for line, cells in own] for name, own in told.items()
        }


def test_paragraphs_keep_their_gaps() -> None:
    """Sentences with a blank line between them are no copy of an output, and neither are two or three lines of one."""
    prose = "The host lost its storage.\n\nWe booted it again.\n\nThen it came back to life.\n\nWhat was it?\n"
    switch = [
        "vSwitch0 128 4 128 1500 vmnic0",
        "VM Network 1 1 vmnic0",
        "96 1 vmnic3",
        "97 0 ",
        "98 1 a",
        "99 1 b",
    ]
    assert list(drop_gaps("\n\n".join(switch).split("\n"))[0]) == switch
    for text in (prose, "Name: vmnic0\n\nState: up\n\nSpeed: 10\n"):
        assert drop_gaps(text.split("\n"))[0] == text.split("\n")


@given(
    st.lists(
        st.sampled_from(["", " ", "a: b", "  c  d", "The end of it.", "vmnic0  up"]), max_size=16
    )
)
def test_a_gap_is_a_blank_line_and_nothing_else(lines: list[str]) -> None:
    """What is left out is blank, the rest keeps its order and its places."""
    kept, places = drop_gaps(lines)
    assert list(kept) == ([lines[place] for place in places] if places else lines)
    assert not any(
        lines[place].strip() for place in range(len(lines)) if places and place not in places
    )


@pytest.mark.parametrize(
    "text",
    [
        "1 vmnic0\n2 vmnic1",
        "1 vmnic0\n2 vmnic1\n4 vmnic3\n5 vmnic4",
        "  vmnic0: 1\n  vmnic1: 2",
        "2021-03-02 10:11:12 vmnic0 is down\n2021-03-02 10:11:13 vmnic0 is up",
        "[2021-03-02 10:11:12] one line of a tool alone has it\nand no other",
    ],
)
def test_what_stands_before_some_lines_belongs_to_them(text: str) -> None:
    """A list with numbers of its own, a table and the times of a log stay as they are."""
    assert remove_margin(text.splitlines()) == text.splitlines()


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=30), max_size=12
    )
)
def test_no_line_is_lost_or_added(lines: list[str]) -> None:
    """Whatever a text holds, each line stays where it is, so that evidence names the right one."""
    assert len(remove_margin(lines)) == len(lines)


def test_the_mark_of_notepad_is_no_part_of_the_first_line_of_a_log() -> None:
    """A log saved with a byte order mark has its first line searched."""
    blocks = [
        bytes(block.data[: block.end])
        for block in LineBlocks(["\ufefffirst\nsecond\n".encode()], 1000)
    ]
    assert b"".join(blocks) == b"first\nsecond\n"
