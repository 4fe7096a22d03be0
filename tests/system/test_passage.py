"""The count of the functions that a value passes sees what it is meant to see."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from tools import passage


@dataclass
class Record:
    """A row with cells, as records of the product are."""

    cells: dict[str, int] = field(default_factory=dict)


def test_a_value_is_seen_in_itself_in_texts_and_in_records() -> None:
    """A number, a text or bytes with it, a list, and a record with a mapping; not deeper, and no other number."""
    number = int(passage.SOUGHT)
    assert passage.holds_value(number, 0)
    assert passage.holds_value(f"full:{number} times", 0)
    assert passage.holds_value(f"full:{number}".encode(), 0)
    assert passage.holds_value([number], 1) and not passage.holds_value([number], 0)
    assert passage.holds_value(Record({"full": number}), 2)
    assert not passage.holds_value([Record({"full": number})], 2)
    assert not passage.holds_value([number + 1, True, None, "x"], 2)


# Signals read every value and every line as well: 21 and some functions on top of what rules need. The gate for times
# outside 1970-2100, the newest bundle of a host and the words of a mixed log took three more of a value, two of a line.
BOUNDS = {"a ring counter": (227, 54), "a log line": (252, 69)}


@pytest.mark.process
def test_a_value_passes_no_more_functions_than_it_did() -> None:
    """From the drop-in to the report; the bounds only ever move down, to 140 in 35 and 180 in 40."""
    command = [sys.executable, passage.__file__]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^(.+): (\d+) functions in (\d+) files$", printed, re.MULTILINE)
    assert {what for what, _, _ in found} == set(BOUNDS)
    for what, functions, files in found:
        assert int(functions) <= BOUNDS[what][0] and int(files) <= BOUNDS[what][1], printed
