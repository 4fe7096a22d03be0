"""Short ways of reading give what the long ones give: places, first lines, markers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.artefacts.parsing import Parser, registry
from analyzer.ingest.known_files import KnownFiles
from analyzer.sources import kinds, tarheader
from analyzer.sources.encoding import decode, first_lines

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
NAMES = (
    "vmkernel.log",
    "hostd.3.gz",
    "vmware-12.log",
    "nicinfo.sh.txt",
    "boot.cfg",
    "a.vmx",
    "README",
    "xvmx",
    "messages",
)
FOLDERS = (
    "esx-h-2021-03-08--14.49-1",
    "commands",
    "var/run/log",
    "etc/vmware",
    "vmfs/volumes/x/vm1",
    "var/log",
)


def _places() -> list[str]:
    made = [f"{folder}/{name}" for folder in FOLDERS for name in NAMES]
    return [
        *made,
        *NAMES,
        *(str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*") if path.is_file()),
    ]


def test_one_search_knows_the_parsers_of_all_places() -> None:
    """The files of all samples, and made-up paths, go to the parsers whose own patterns take them, in their order.

    A parser of what no other knows takes a file only then.
    """
    known = KnownFiles(registry().values())
    every = {
        path: [one for one in registry().values() if one.matches_file(path)] for path in _places()
    }
    taken = {path: [one for one in found if not one.rest] or found for path, found in every.items()}

    assert {path: known.find_parsers(path) for path in taken} == taken
    assert sum(map(bool, taken.values())) > 25


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (r"(?:^|/)a\.txt$|\.cut$", "x.cut"),  # a branch outside the group
        (r"(?i:NAMES)$", "top/names"),
        (r"(?P<one>x)y(?P=one)$", "top/xyx"),
        (r"(?:^|/)(a|b)\1$", "top/bb"),
        (r"(?:^|/)[|(]+$", "top/|("),
    ],
)
def test_patterns_that_cannot_stand_beside_others(pattern: str, path: str) -> None:
    """Branches, flags, named groups and references in the patterns of one parser hide no file of it or of another."""
    parsers = [
        Parser(name, (), lambda _block: [], files=files)
        for name, files in (("one", (pattern,)), ("two", (r"b$",)))
    ]

    known = KnownFiles(parsers)

    assert known.find_parsers(path)[0].name == "one"
    assert [one.name for one in known.find_parsers("x/zb")] == ["two"]
    assert known.find_parsers("top/other.log") == []


@given(
    st.lists(
        st.sampled_from(
            (
                b"a",
                b"",
                b"\r",
                b"\r\n",
                b"\n",
                b"\0",
                b"\xff\xfe",
                b"\xef\xbb\xbf",
                b"\xe9",
                b"name: 1",
            )
        )
    ),
    st.integers(1, 6),
)
def test_first_lines_are_those_of_the_whole(parts: list[bytes], most: int) -> None:
    """Whatever the encoding and the line ends, the first lines alone are the first of all."""
    raw = b"".join(parts)

    assert first_lines(raw, most) == decode(raw)[:most]


def test_first_lines_of_a_text_with_two_bytes_a_sign() -> None:
    """A text in UTF-16 without a mark, of many lines, is told by more than its first ones."""
    raw = "\n".join(f"line {number}" for number in range(400)).encode("utf-16-le")

    assert first_lines(raw, 3) == ["line 0", "line 1", "line 2"]


def test_each_marker_of_a_tree_is_found() -> None:
    """One search finds of a path every marker that a search for it alone finds."""
    markers = [re.compile(kinds._START + one.name) for one in kinds._MARKERS]
    for path in _places():
        alone = {number for number, marker in enumerate(markers) if marker.search(path)}
        together = kinds.find_markers(path)
        assert together == alone, path
    assert not any(marker.groups for marker in markers)


@pytest.mark.parametrize("count", [10, 1000])
def test_markers_are_found_behind_any_number_of_others(count: int) -> None:
    """Thousands of outputs of one command hide no marker behind them, and no hint of a file met a second time."""
    found = kinds.KindFinder()
    for number in range(count):
        found.see_member("h", f"commands/localcli_storage-core-path-list--p-{number}.txt")
    for number in range(3):
        found.see_member(
            "h",
            f"{number}/README",
            b"vm-support version: v3.3\nCaptured on: 2021-03-08 14:49:25\n"[number * 27 :],
        )
    found.see_member("h", "var/run/log/vmkernel.log")

    assert found.is_sure("h")
    assert not found.is_sure("other")
    assert len(found.find_kind("h").why) == 3
    assert found.find_hints("h").keys() == {"vm-support version", "captured on"}


@given(st.binary(min_size=512, max_size=512))
def test_the_sum_of_a_header_is_that_of_its_bytes(block: bytes) -> None:
    """The sum of a block by Adler-32 is its sum."""
    assert tarheader._sum_bytes(block) == sum(block)


def test_the_sum_of_the_largest_bytes() -> None:
    """No sum is cut off at the modulus of Adler-32."""
    assert tarheader._sum_bytes(b"\xff" * 512) == 512 * 255
