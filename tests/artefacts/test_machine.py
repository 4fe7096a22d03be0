"""The line-aware TextFSM gives the rows of the unmodified one, and knows the line of each value."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
import textfsm
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.artefacts import machine as machine_module
from analyzer.artefacts import parsing
from analyzer.artefacts.machine import Machine, first_characters
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = [
    (path.parent.name, path)
    for path in sorted((ROOT / "samples").rglob("*.txt"))
    if parsing.find_template(path.parent.name).exists()
    or ((parser := parsing.registry().get(path.parent.name)) is not None and parser.template)
]


def plain_rows(template: str, lines: list[str]) -> list[list[object]]:
    """Return the rows of the unmodified library, going on after an Error as we do."""
    machine = textfsm.TextFSM(StringIO(template))
    for line in lines:
        try:
            machine.ParseText(line + "\n", eof=False)
        except textfsm.TextFSMError:
            continue
        if machine._cur_state_name in ("End", "EOF"):
            break
    return [list(row) for row in machine.ParseText("", eof=True)]


def our_rows(template: str, lines: list[str]) -> list[list[object]]:
    """Return the rows of our machine over the same lines."""
    machine = Machine(template, begins_again=False)
    machine.begin()
    for number, line in enumerate(lines, 1):
        if machine.state in ("End", "EOF"):
            break
        try:
            machine.feed(line, number)
        except textfsm.TextFSMError:
            continue
    machine.finish()
    return [list(record.values.values()) for record in machine.records]


@pytest.mark.size
@together("name, path", SAMPLES)
def test_rows_are_those_of_the_library(name: str, path: Path) -> None:
    """On every sample, and on its lines indented or without indent, both give the same rows."""
    template = parsing.template_text(name)
    lines = path.read_bytes().decode("utf-8", "surrogateescape").splitlines()

    for variant in (
        lines,
        [line.strip() for line in lines],
        ["\t " + line for line in lines],
        lines[::-1],
    ):
        assert our_rows(template, variant) == plain_rows(template, variant)


TEMPLATE = """Value Filldown HEAD (\\w+)
Value Required KEY (\\w+)
Value List MORE (\\d+)

Start
  ^head ${HEAD}$$
  ^\\s*key:${KEY}$$
  ^\\s*key more:${MORE}$$
  ^\\s*(done|over)$$ -> Record
  ^ke -> Continue
  ^\\s*$$
  ^. -> Error
"""


@given(
    st.lists(
        st.sampled_from(
            [
                "head a",
                "head b",
                "  key:x",
                "key:y",
                " key more:7",
                "key more:8",
                "done",
                "\tover",
                "kex",
                "",
                "zzz",
            ]
        )
    )
)
def test_any_order_of_lines_gives_the_same_rows(lines: list[str]) -> None:
    """Filldown, Required, List, Continue and Error behave as in the library, whatever comes when."""
    assert our_rows(TEMPLATE, lines) == plain_rows(TEMPLATE, lines)


def test_every_value_knows_its_line() -> None:
    """A value's line is where it was read last; one that fills down keeps its own."""
    machine = Machine(TEMPLATE)
    machine.begin()
    for number, line in enumerate(["head a", "key:x", "done", "", "key:x", "done"], 1):
        machine.feed(line, number)

    first, second = machine.records
    assert first.lines == {"HEAD": 1, "KEY": 2}
    assert second.lines == {"HEAD": 1, "KEY": 5}


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^\s*pkts rx ok:\s*(\d+)", "pkts rx ok:"),
        (r"^ +RX: (\d+)", "RX: "),
        (r"^. -> x", None),
        (r"^\s*(a|b)", None),
        (r"x", None),
        (r"^ab*", "a"),
        (r"(?i)^\s*abc", None),
        (r"^\s*\}\s*$", "}"),
        (r"^\s*# of pkts \(all\)", "# of pkts (all)"),
        (r"^-+$", "-"),
        (r"^ab(c|d)", "ab"),
        (r"^ab|cd", None),
    ],
)
def test_first_characters_of_a_rule(pattern: str, text: str | None) -> None:
    """Only an anchored pattern with literal text behind its blanks leaves a rule out."""
    assert first_characters(pattern) == text


STATES = """Value Filldown HEAD (\\w*)
Value Required,List MORE (\\d+)
Value ONE (a|b)
Value TWO (\\S*)

Start
  ^head ${HEAD}$$
  ^more ${MORE} -> Continue.Record
  ^more \\d+ ${TWO}$$
  ^one( ${ONE})?$$
  ^clear$$ -> Clear
  ^clearall$$ -> Clearall
  ^go$$ -> Continue
  ^go -> Record Other
  ^stop$$ -> End
  ^bad -> Error

Other
  ^more ${TWO}$$
  ^one ${ONE} -> Next.Record
  ^back -> Clear Start
"""
STATE_LINES = [
    "head x",
    "head ",
    "more 1 y",
    "more 1 ",
    "more 22",
    "one a",
    "one",
    "one c",
    "clear",
    "clearall",
]
STATE_LINES += ["go", "gone", "back", "bad", "stop", "", " more 1"]


@given(st.lists(st.sampled_from(STATE_LINES), max_size=30), st.sampled_from([1, 3, 2000]))
@example(
    ["head x", "more 22", "go", "more 22", "one a", "back", "more 1 y"], 2000
)  # one line in two states
def test_what_is_remembered_of_a_line_changes_no_row(lines: list[str], most: int) -> None:
    """States, Continue, Clear, empty and missing groups give the library's rows, however little is kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.artefacts.machine.MOST_KNOWN", most)
        assert our_rows(STATES, lines) == plain_rows(STATES, lines)


def test_a_second_text_starts_without_the_first() -> None:
    """Nothing but what lines match is kept from one text to the next."""
    machine = Machine(STATES)
    for _ in range(2):
        machine.begin()
        for number, line in enumerate(["head x", "one a", "more 1 y"], 1):
            machine.feed(line, number)
        machine.finish()
        assert [record.values for record in machine.records] == [
            {"HEAD": "x", "MORE": ["1"], "ONE": "a", "TWO": ""}
        ]


def test_all_machines_remember_no_more_than_one_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are hundreds of templates: what they remember is bounded together, and each has its own of one line."""
    monkeypatch.setattr(machine_module, "MOST_KNOWN", 50)
    monkeypatch.setattr(machine_module, "_known", {})
    template = "Value ONE (\\S+)\nValue TWO (\\S+)\n\nStart\n  ^one ${%s} -> Record\n"
    machines = [Machine(template % "ONE"), Machine(template % "TWO")]
    for number in range(100):
        for machine in machines:
            machine.begin()
            machine.feed(f"one {number}", 1)
            assert len(machine_module._known) <= 50
    found = [machine.records[0].values for machine in machines]
    assert found == [{"ONE": "99", "TWO": ""}, {"ONE": "", "TWO": "99"}]
