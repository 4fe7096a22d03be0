"""A line that is shortened to a width keeps its figures, states and codes; names lose their middle."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from analyzer.report import fleetterm
from analyzer.report.printer import Printer
from analyzer.runtime.short_lines import bound_line, bound_middle, shorten_line

NAMES = st.sampled_from([
    "naa.60050768018105f1c000000000a10244", "esx-prod-frankfurt-rack12-0071.corp.customer.example",
    "esx-esx71.lab.example-2017-10-14--16.53-71234.tgz", "vmfs-datastore-gold-tier-01", "dvSwitch-production-frankfurt",
    "59e1f0a1-0aa70010-2233-001b2177aa01", "commands/localcli_storage-core-device-list.txt",
])  # fmt: skip
VALUES = st.sampled_from([
    "812", "4,512", "99.5%", "3.5", "0x5", "0x24", "H:0x0", "D:0x2", "1,204.75", "12:01:02", "2026-10-11", "DEAD",
    "FAILED", "APD", "80:1", "45ms", "-17", "10.20.0.8", "6.5.0", "100%",
])  # fmt: skip
PROSE = "the path of a device did not answer in time and was taken away by its array for good"
WORDS = st.sampled_from(PROSE.split())
SENTENCES = st.tuples(NAMES, st.lists(st.one_of(WORDS, WORDS, NAMES, VALUES), max_size=40))


def compose_line(parts: tuple[str, list[str]]) -> str:
    return f"{parts[0]}: {' '.join(parts[1])}."


def list_values(line: str) -> list[str]:
    """Return the figures and codes of a line, read by another way than the shortener does."""
    figure = r"(?<!\S)-?(?:[HD]:)?(?:0x)?\d[\d.,:-]*(?:%|ms)?(?=[ .]|$)|(?<!\S)(?:DEAD|FAILED|APD)(?=[ .]|$)"
    return [found.rstrip(".") for found in re.findall(figure, line)]


@given(SENTENCES, st.integers(60, 120))
def test_a_shortened_line_keeps_its_values(parts: tuple[str, list[str]], width: int) -> None:
    """All figures, states and codes are there in their order; the line fits, or it is nothing but values and names."""
    line = compose_line(parts)
    short = shorten_line(line, width)

    assert list_values(short) == list_values(line)
    assert short == line if len(line) <= width else len(short) < len(line) or " …" not in short
    if len(short) > width:
        left = [word.strip("….:") for word in short.split()[1:]]
        plain = [word for word in left if word.isalpha() and word.islower()]
        beside = [
            word
            for place, word in enumerate(left)
            if place and re.search(r"\d\S*$", left[place - 1])
        ]
        assert set(plain) <= set(beside)  # the unit of a figure
    assert len(bound_line(line, width)) <= width


@given(SENTENCES, st.integers(60, 120), st.integers(1, 2), st.sampled_from(["utf-8", "ascii"]))
def test_a_printed_paragraph_keeps_its_values(
    parts: tuple[str, list[str]], width: int, rows: int, encoding: str
) -> None:
    """No printed row is wider than the terminal, and all figures are printed."""
    line, out = compose_line(parts), io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=out, width=width)
    Printer(console).print_line(line, indent=2, rows=rows)
    out.seek(0)
    printed = out.read().splitlines()

    assert all(len(row) <= width for row in printed)
    assert list_values(" ".join(row.strip() for row in printed).replace("...", "…")) == list_values(
        line
    )


@given(NAMES, NAMES, st.integers(60, 120))
def test_a_name_keeps_its_ends(first: str, second: str, width: int) -> None:
    """What stands at the beginning and the end of a name tells it from others."""
    line = f"{first} and {second}: 812 reads of {first} took longer than 4,512 ms, since no path to {second} is left"
    short = shorten_line(line, width)

    assert short.startswith(first[:5])
    assert "812 reads" in short and "4,512 ms" in short
    assert first[-5:] in short


@given(st.text(max_size=300), st.integers(10, 120))
def test_any_text_is_bounded(text: str, width: int) -> None:
    """Whatever a text holds, its bounded form is on one line, not longer, and whole where it was short enough."""
    assert len(bound_line(text, width)) <= width
    middle = bound_middle(text, width)
    assert len(middle) <= width
    assert "\n" not in middle + bound_line(text, width)


def test_a_sentence_with_few_figures_keeps_its_beginning() -> None:
    """Words are left out from the end, not before the figures, when that is enough."""
    line = "vSwitch0: vSwitch0 has only vmnic0, and 6 of its ports are in use by virtual machines that run on it"
    assert (
        shorten_line(line, 70)
        == "vSwitch0: vSwitch0 has only vmnic0, and 6 of its ports are in use by …"
    )


def test_names_of_a_fleet_keep_their_ends() -> None:
    """Two hosts that differ in their last digits are told apart in the heat map."""
    long = [f"esx-frankfurt-production-rack-{number:02}" for number in (1, 2)]
    shown = [bound_middle(name, fleetterm.NAME - 1) for name in long]
    assert shown[0] != shown[1] and all(len(name) < fleetterm.NAME for name in shown)
