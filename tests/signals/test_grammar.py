"""Facts about what lines say of trouble: words, codes, SCSI status, levels, and what only looks like trouble."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analyzer.signals.grammar import find_longest_time, weigh_text
from analyzer.signals.heads import ERROR, INFO, WARNING, read_head
from analyzer.signals.stems import LEAST, STEMS
from analyzer.signals.templates import mask_text
from tests.kit.trouble_texts import WORDS, make_text

# Synthetic, in the forms of the logs that the module names.
HEADS = {
    "2017-03-08T05:55:26.210Z cpu7:66012)WARNING: NMP: nmp: it broke": ("vmkernel", WARNING, "NMP", "nmp: it broke"),
    "2017-03-08T05:55:26.210Z error hostd[2B4C1B70] [Originator@6876 sub=Vimsvc] it broke": ("agent", ERROR, "Vimsvc", "it broke"),
    "2024-10-17T16:08:22.488Z Er(163) Hostd[2099000]: [Originator@6876 sub=Vimsvc] it broke": ("agent", ERROR, "Vimsvc", "it broke"),
    "2017-03-08T05:55:26.210Z| vmx| E105: DISK: it broke": ("vmx", ERROR, "vmx", "DISK: it broke"),
    "2017-03-08T05:55:26.210Z: [scsiCorrelator] 123us: it broke": ("vobd", None, "scsiCorrelator", "it broke"),
}  # fmt: skip


@pytest.mark.parametrize("line", HEADS)
def test_the_head_of_a_line_is_no_part_of_what_it_says(line: str) -> None:
    """Form, printed level and module are known, and the words begin behind them."""
    head = read_head(line)
    assert (head.form, head.level, head.module, head.text) == HEADS[line]


@pytest.mark.parametrize(
    ("text", "heavy"),
    [
        ("@BlueScreen: #PF Exception 14 in world 66012", 6),
        ("device naa.6 reported medium error", 6),
        ("cannot open the volume: not found", 4),
        ('Cmd 0x2a to dev "naa.6" failed H:0x5 D:0x0 P:0x0', 4.5),
        ('Cmd 0x2a to dev "naa.6" failed H:0x0 D:0x2 P:0x0 Valid sense data: 0x3 0x11 0x0', 6),
        ("receive bad status code 500", 4),
        ("HOST_MUX_MISSING_REPORT", 2.5),
    ],
)
def test_what_says_trouble_weighs(text: str, heavy: float) -> None:
    """A line of a kind weighs at least what its class weighs, and says why."""
    reading = weigh_text(text)
    assert reading.weight >= heavy and reading.why


@pytest.mark.parametrize(
    "text",
    [
        "connection opened, 0 errors, timeout=30",
        "link is up, full duplex",
        "no errors found",
        'Cmd 0x1a to dev "naa.6" failed H:0x0 D:0x2 P:0x0 Valid sense data: 0x5 0x20 0x0',
        "[esx.clear.net.vmnic.linkstate.up] Physical NIC vmnic2 linkstate is up.",
        "Processor Deasserted",
    ],
)
def test_what_only_looks_like_trouble_weighs_nothing(text: str) -> None:
    """Counts of nothing, settings, refusals of optional commands and ends of trouble are no trouble."""
    assert weigh_text(text).weight < LEAST


def test_a_printed_level_lifts_and_information_lowers() -> None:
    """An error weighs more than the same words without a level, information of a levelled log less."""
    text = "failed to open"
    plain = weigh_text(text).weight
    assert weigh_text(text, ERROR).weight > plain > weigh_text(text, INFO, "agent").weight
    assert weigh_text("all is well", ERROR).weight >= LEAST


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("took 3500 ms", 3.5), ("stopped for 2 minutes", 120), ("runs for 30 seconds", 0), ("", 0)],
)
def test_the_longest_time_is_the_one_that_something_took(text: str, seconds: float) -> None:
    """Times count in seconds, and only where something stood still."""
    assert find_longest_time(text) == pytest.approx(seconds)


@settings(max_examples=400)
@given(make_text(), st.sampled_from(["module: {} of the thing", "{}", "held {}."]))
def test_the_search_misses_no_line_that_weighs(text: str, around: str) -> None:
    """Whatever a pattern of the grammar takes, a stem proposes: the search of logs reads nothing else."""
    line = around.format(text)
    if weigh_text(line).weight >= LEAST:
        assert re.search(STEMS, line, re.IGNORECASE), line


@settings(max_examples=400)
@given(make_text(WORDS))
def test_the_search_misses_no_name_that_weighs(text: str) -> None:
    """The same of words inside the name of an event, a function or a constant."""
    parts = re.findall(r"[A-Za-z]+", text)
    assume(len("".join(parts)) > 4 and parts[0].lower() != "no")  # OOM, PDL; «no NAME available»
    camel = "".join(part.capitalize() for part in parts)
    for name in (
        f"vob.host.{'.'.join(parts).lower()}",
        f"Host{camel}Set",
        f"X_{'_'.join(parts).upper()}_Y",
    ):
        line = f"module: {name} seen"
        if weigh_text(line).weight >= LEAST:
            assert re.search(STEMS, line, re.IGNORECASE), line


@given(st.text())
def test_any_text_has_a_weight_and_a_template(text: str) -> None:
    """No text breaks the grammar; the weight of words is bounded, a template is short and stable."""
    head = read_head(text)
    reading = weigh_text(head.text, head.level, head.form)
    assert 0 <= reading.weight < 12
    template = mask_text(head.text)
    assert len(template) <= 240 and mask_text(head.text) == template


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_two_numbers_are_one_kind_and_two_codes_are_two(one: int, other: int) -> None:
    """Names and numbers are masked; the status that decides what a line says is kept."""
    assert mask_text(f"port {one} lost") == mask_text(f"port {other} lost")
    assert mask_text("failed H:0x5 D:0x0 P:0x0") != mask_text("failed H:0x1 D:0x0 P:0x0")
