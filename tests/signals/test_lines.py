"""Lines that say trouble are counted by kind; what is remembered of a kind never changes what the next line says."""

from __future__ import annotations

import re
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analyzer.ingest.problems import list_line_signatures
from analyzer.scan.engines import (
    HyperscanEngine,
    Needle,
)
from analyzer.signals.lines import LineCounter, classify_line
from tests.kit.trouble_texts import make_text

# Made up, in the forms of vmkernel, vpxa and NSX logs: what the numbers say decides what the line says.
SHAPES = (
    "2024-03-01T10:00:00.000Z cpu{0}:{1})ScsiDeviceIO: {2}: Cmd(0x45{3:x}) 0x2a to dev naa.600{4} failed H:0x{5} D:0x{6} P:0x0",
    "2024-03-01T10:00:00.000Z cpu{0}:{1})Uplink: {2}: vmnic{5}: errors: {6}, dropped={5}",
    "2024-03-01T10:00:00.000Z cpu{0}:{1})WARNING: J3: {2}: transaction took {3} ms",
    "2024-03-01T10:00:00.000Z info vpxa[{1}] [Originator@6876 sub=Default] request {2} answered, status {6}00",
    "2024-03-01T10:00:00.000Z cpu{0}:{1})Migrate: {2}: {3}: ended, error code {6}",
    "2024-03-01T10:00:00.000Z cpu{0}:{1})Net: {2}: {6} errors on port {3}",
)

HEAD = "2024-03-01T10:00:00.000Z cpu1:2)Net: 12: port "


@st.composite
def make_line(draw: st.DrawFn) -> str:
    """Return a line of one of the shapes."""
    small, large = st.integers(0, 9), st.integers(0, 99_999)
    numbers = [draw(one) for one in (small, large, large, large, small, small, small)]
    return draw(st.sampled_from(SHAPES)).format(*numbers)


@given(st.lists(make_line() | make_text(), min_size=2, max_size=8))
def test_what_was_read_before_never_changes_what_a_line_says(lines: list[str]) -> None:
    """A status 2 is not taken for the status 0 of a line with the same words, nor 3 s for 3 ms; lines may bear no time."""
    counter = LineCounter(lambda _line: False)
    for line in lines:
        alone = LineCounter(lambda _line: False)
        assert counter.name_kinds([line.encode()]) == alone.name_kinds([line.encode()]), line


@settings(max_examples=400)
@given(make_text(), st.sampled_from([HEAD, "", "esx1 "]), st.randoms(use_true_random=False))
def test_no_number_that_decides_is_taken_for_another(text: str, head: str, dice: Random) -> None:
    """After `signal 15` a `signal 11` still says crash, whatever the words: digits are all that differs."""
    assume(not re.search(r"\W{20}", text))  # so far from its word no number is looked for
    other = head + re.sub(r"[0-9](?![xX])", lambda _digit: dice.choice("0123456789"), text)
    counter = LineCounter(lambda _line: False)
    counter.name_kinds([f"{head}{text}".encode()])
    alone = LineCounter(lambda _line: False)
    assert counter.name_kinds([other.encode()]) == alone.name_kinds([other.encode()]), other


def test_the_shapes_say_different_things() -> None:
    """Else the property above would prove nothing."""
    for shape in SHAPES:
        lines = [
            shape.format(1, 2, 3, number, 4, number % 10, number % 10) for number in (0, 5, 40_005)
        ]
        assert len({classify_line(line) for line in lines}) > 1, shape


def test_the_engine_takes_every_pattern_that_proposes_lines() -> None:
    """A pattern that Hyperscan refuses is compiled anew by every process, and then each line of its log is tried."""
    needles = {Needle.of(one.pattern, re.IGNORECASE) for one in list_line_signatures()}
    for needle in needles:
        assert needle.approximation is not None
        assert HyperscanEngine({0: needle})._rest is None
