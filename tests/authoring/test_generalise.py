"""Signatures from lines: they find the chosen lines, masked or not, and their siblings; they are safe and hold no name."""

from __future__ import annotations

import re
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.artefacts import parsing
from analyzer.authoring.draft.generalise import DraftSignature, draft_signatures
from analyzer.authoring.draft.mask import Mask
from analyzer.authoring.draft.tokens import cut_line
from analyzer.scan.careful import refused_by_re2

VMKERNEL = parsing.tables()["esxi.vmkernel"]
WORDS = st.lists(st.text(string.ascii_letters, min_size=2, max_size=9), min_size=2, max_size=6).map(
    " ".join
)
VALUE = st.one_of(
    st.integers(0, 10**12).map(str),
    st.floats(0, 10**6).map(lambda value: f"{value:.3f}"),
    st.integers(0, 2**40).map(hex),
    st.uuids().map(str),
    st.ip_addresses(v=4).map(str),
    st.from_regex(r"vm(?:nic|hba|k)[0-9]{1,2}", fullmatch=True),
    st.from_regex(r"naa\.6[0-9a-f]{31}", fullmatch=True),
    st.from_regex(
        r'"(naa\.6[0-9a-f]{31}|vmhba[0-9]:C0:T[0-9]:L[0-9]{1,3}|vmnic[0-9])"', fullmatch=True
    ),
    st.from_regex(r'"[a-zA-Z0-9 _.-]{1,20}"', fullmatch=True),
    st.from_regex(r"/[a-z]{2,8}/[a-z0-9]{2,8}", fullmatch=True),
    st.from_regex(r"[a-z]{3,8}=[0-9]{1,6}", fullmatch=True),
    st.datetimes().map(lambda when: when.isoformat() + "Z"),
    st.sampled_from(
        ["Aug 15 06:07:13", "Aug  5 06:07:13.285", "1:23:46:11.099", "2017-10-14 15:16:44,123"]
    ),
    st.from_regex(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}", fullmatch=True),
)
LINE = st.lists(st.tuples(WORDS, VALUE), min_size=1, max_size=4).map(
    lambda parts: " ".join(f"{words} {value}" for words, value in parts)
)


def drafted(*lines: str, names: dict[str, list[str]] | None = None) -> list[DraftSignature]:
    """Return the signatures of vmkernel messages."""
    mask = Mask(names or {})
    return draft_signatures([cut_line(line, mask) for line in lines], VMKERNEL)


def only(*lines: str) -> DraftSignature:
    """Return the one signature of lines."""
    (found,) = drafted(*lines)
    return found


@given(LINE)
def test_a_pattern_finds_its_line_and_the_masked_line(line: str) -> None:
    """What was drafted from a line finds it, as the log has it and as an example shows it."""
    for one in drafted(line):
        for pattern in (one.pattern, one.narrow):
            assert re.search(pattern, line), pattern
            assert re.search(pattern, one.lines[0].show_masked()), pattern


@given(st.text(max_size=200), st.integers(0, 60), st.integers(0, 60))
def test_any_line_gives_a_pattern_that_finds_it(line: str, start: int, length: int) -> None:
    """Control characters, quotes, NUL, bidi: the pattern compiles, is printable, finds the line and the masked line."""
    mask = Mask({"vm": [line[2:8]]})
    one = cut_line(line, mask, start, start + length)
    for found in draft_signatures([one], VMKERNEL):
        assert found.pattern.isprintable() and found.pattern.isascii()
        assert re.search(found.pattern, line), (found.pattern, line)
        assert re.search(found.pattern, one.show_masked()), (found.pattern, one.show_masked())


@given(WORDS, st.integers(1, 10**9), st.integers(1, 10**9), WORDS)
def test_lines_that_differ_in_values_share_a_signature(
    before: str, one: int, two: int, after: str
) -> None:
    """Siblings, whatever their numbers, make one signature that finds both and a third."""
    found = only(f"{before} {one} {after}", f"{before} {two} {after}")

    assert len(found.lines) == 2
    assert re.search(found.pattern, f"{before} {one + two} {after}")


@given(WORDS, WORDS, st.integers(0, 999))
def test_other_words_are_another_signature(one: str, two: str, number: int) -> None:
    """Lines with other plain words are kept apart, so that `up` is not taken for `down`."""
    if one == two:
        return
    assert len(drafted(f"link {number} {one}", f"link {number} {two}")) == 2


@given(st.lists(LINE, min_size=1, max_size=3))
def test_no_pattern_goes_back_and_forth(lines: list[str]) -> None:
    """Every drafted pattern is one that RE2 takes, whose work is linear."""
    for one in drafted(*lines):
        for pattern in (one.pattern, one.narrow):
            bad = refused_by_re2(pattern)
            assert not bad, (pattern, bad)


@given(
    st.from_regex(r"[a-z]{4,9}-[a-z]{3,6}[0-9]{2}", fullmatch=True), st.ip_addresses(v=4).map(str)
)
def test_no_name_stands_in_a_pattern(name: str, address: str) -> None:
    """A name of the case and an address are classes in the pattern, in its groups and in its narrow form."""
    line = f"Connection of {name} to {address} port 902 lost: host {name.upper()} (vm={name}.eth0)"
    for one in drafted(line, names={"vm": [name]}):
        text = " ".join([one.pattern, one.narrow, one.name, str(one.groups)]).lower()
        assert name not in text
        assert address not in text or address.startswith("192.0.2.")


def test_known_lines_become_what_an_engineer_would_write() -> None:
    """Device, path and status of the usual lines get names; codes of the source file are numbers."""
    found = only(
        "ScsiDeviceIO: 2338: Cmd(0x439d80ac9e40) 0x2a, CmdSN 0x800e from world 5572767 to dev "
        '"naa.600508b1001c0000000000000000a107" failed H:0x0 D:0x2 P:0x0 Valid sense data: 0x5 0x24 0x0.'
    )
    assert found.pattern.startswith(
        r"ScsiDeviceIO: \d+: Cmd\(0x[0-9A-Fa-f]+\) 0x[0-9A-Fa-f]+, CmdSN "
    )
    assert found.groups == {
        "device": ["naa.60000000000000000000000000000001"], "host_status": ["0x0"], "device_status": ["0x2"], "plugin_status": ["0x0"],
    }  # fmt: skip
    assert only('Cmd 0x2a to dev "eui.1" on path "vmhba1:C0:T0:L1" failed').groups == {
        "path": ["vmhba1:C0:T0:L1"]
    }

    found = only(
        "Path vmhba39:C0:T0:L0 of vmnic4 is down after 412004 us, latency=17 at port 0x2000010"
    )
    assert found.groups == {
        "path": ["vmhba39:C0:T0:L0"], "vmnic": ["vmnic4"], "us": ["412004"], "latency": ["17"], "port_id": ["0x2000010"],
    }  # fmt: skip


def test_a_group_never_takes_the_name_of_a_column_or_a_word_of_the_language() -> None:
    """A group named like a column of the log table would hide that column; words of expressions cannot be names."""
    found = only("world=12 count=7 from=9 time=5 lost")

    assert set(found.groups) == {"world_seen", "count_seen", "from_seen", "time_seen"}
    assert re.search(found.pattern, "world=1 count=2 from=3 time=4 lost")


def test_names_of_signatures_are_their_words_and_differ() -> None:
    """A signature is named by its first words; a name that is taken gets a number."""
    first, second = draft_signatures(
        [cut_line(line, Mask()) for line in ("Lost path 7 now", "Lost path 7 for good")],
        VMKERNEL,
        ["lost_path_now"],
    )
    assert (first.name, second.name) == ("lost_path_now_2", "lost_path_for_good")
    assert only("count 5 6").name == "count_line"


def test_what_all_lines_share_is_the_narrower_form() -> None:
    """The narrow form writes out the numbers all chosen lines share, and only those."""
    found = only("NetPort: 1879: disabled port 0x2000010", "NetPort: 1879: disabled port 0x2000011")

    assert found.narrow == r"NetPort: 1879: disabled port (?P<port_id>0x[0-9A-Fa-f]+)"
    assert found.literal == len(": disabled port 0x")


def test_the_words_that_end_in_digits_are_one_signature_only_where_digits_may_vary() -> None:
    """queue0 and queue1 are siblings; vmxnet3 keeps its digit, link up and link down stay two."""
    assert (
        only("ring of queue0 is full", "ring of queue1 is full").pattern
        == r"ring of queue\d+ is full"
    )
    assert only("vmxnet3 ring is full").pattern == "vmxnet3 ring is full"
    assert len(drafted("vmnic1 link up", "vmnic1 link down")) == 2


@pytest.mark.parametrize(
    "line",
    ["a" * 65536, "a b" * 20000, '"' * 65536, "1." * 30000, "/a" * 30000, "x=" * 30000],
    ids=len,
)
def test_a_huge_line_costs_little_and_its_pattern_stays_short(line: str) -> None:
    """A line of 64 KiB gives a short pattern in under two seconds, and an example line that fits on a page."""
    start = time.process_time()
    for one in drafted(line):
        assert len(one.pattern) < 3000
        assert len(one.lines[0].show_masked()) <= 2500
        assert re.search(one.pattern, line)
    assert time.process_time() - start < 2
