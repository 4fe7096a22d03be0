"""Each kind of trouble of tools/sick.py is read as what it is, in small; the sizes are measured by `make bench`."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.artefacts import loghost
from analyzer.pipeline.triage import Options, triage
from tools.sick import find_exponent, write_bytes, write_noise, write_objects, write_snmp


@pytest.mark.parametrize("write", [write_noise, write_bytes, write_snmp])
def test_lines_that_nothing_understands_are_no_finding(write: object, tmp_path: Path) -> None:
    """A text of such lines is read to its end and says nothing."""
    assert callable(write)
    path, *_ = write(tmp_path, 1200)

    document = triage([Path(path)], Options()).document

    assert document.findings == []
    assert [one.state for one in document.sources] != []


def test_each_of_many_objects_has_its_own_finding(tmp_path: Path) -> None:
    """Events of twelve volumes are twelve objects: none takes the place of another."""
    path, *_ = write_objects(tmp_path, 12)

    found = triage([Path(path)], Options()).document.findings

    named = {one.object for one in found if "5b0c1c39" in one.object}
    assert len(named) == 12


def test_a_repeated_text_is_answered_from_memory() -> None:
    """The same text of an event is looked at once: a storm writes it a million times."""
    loghost._name_object_once.cache_clear()
    for _ in range(100):
        assert loghost.name_object("vmnic3 is down") == "vmnic3"

    assert loghost._name_object_once.cache_info().misses == 1


def test_the_exponent_tells_linear_from_quadratic() -> None:
    """Twice the size: twice the time above the empty case is 1, four times is 2."""
    assert find_exponent(2.0, 3.0, 1.0) == 1.0
    assert find_exponent(2.0, 5.0, 1.0) == 2.0
