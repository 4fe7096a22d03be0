"""A wheel brings what follows from its patterns, and a run that finds it there finds the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analyzer.commands.wheel import note_patterns
from analyzer.runtime import pattern_notes
from analyzer.runtime.pattern_notes import Noted, noted
from analyzer.scan.compiled_pattern import Needle, list_expressions


@noted
def _length(pattern: str) -> list[int]:
    return [len(pattern), 2 * len(pattern)]


def fresh(function: Noted[Any]) -> Noted[Any]:
    """The same function at the start of another process."""
    return Noted(function.__wrapped__)  # type: ignore[attr-defined]


def brought(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Noted[Any]:
    """The function in a package that lies in a folder."""
    monkeypatch.setattr(pattern_notes, "__file__", str(folder / "runtime" / "pattern_notes.py"))
    return fresh(_length)


def test_an_answer_of_the_wheel_is_not_worked_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has the answer for a pattern; for another one the function is asked."""
    assert _length("abc") == [3, 6]
    pattern_notes.write(tmp_path)
    file = next(tmp_path.glob("*test_pattern_notes._length.json"))
    size, answers = json.loads(file.read_text())
    file.write_text(json.dumps([size, answers | {"abc": [7, 7]}]))

    function = brought(tmp_path, monkeypatch)

    assert function.knows("abc") and not function.knows("abcd")
    assert function("abc") == [7, 7]
    assert function("abcd") == [4, 8]


@pytest.mark.parametrize("damage", ["another module", "cut", "no list", "gone"])
def test_a_file_that_does_not_fit_counts_as_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """Notes of another version of the module, and what is no JSON of ours, are worked out anew."""
    _length("abc")
    pattern_notes.write(tmp_path)
    file = next(tmp_path.glob("*test_pattern_notes._length.json"))
    size, answers = json.loads(file.read_text())
    text = json.dumps([size + (damage == "another module"), {**answers, "abc": [7, 7]}])
    file.write_text({"cut": text[:-9], "no list": "7"}.get(damage, text))
    if damage == "gone":
        file.unlink()

    assert brought(tmp_path, monkeypatch)("abc") == [3, 6]


def test_every_answer_survives_the_file(tmp_path: Path) -> None:
    """What JSON gives back is what was worked out, for all patterns of the parsers and of the rules."""
    note_patterns()
    pattern_notes.write(tmp_path)

    counts = {}
    for name, function in pattern_notes.FUNCTIONS.items():
        if name.startswith("analyzer."):
            counts[name] = len(function.known or {})
            _, answers = json.loads(
                (tmp_path / f"{name.removeprefix('analyzer.')}.json").read_text()
            )
            assert answers == json.loads(json.dumps(function.known))
    declarations = counts.pop("analyzer.rules.fact_files._toml")
    assert len(counts) == 6 and min(counts.values()) > 100 and declarations > 10, counts


def test_a_pattern_that_is_known_is_compiled_when_a_line_is_proposed() -> None:
    """Its expressions need no look at it; what is no regex is refused at once."""
    Needle.of("known to all: (?P<what>.+)")
    needle = Needle.of("known to all: (?P<what>.+)")

    assert list_expressions(needle) == ["known to all: "]
    found = needle.search("it is known to all: nothing")
    assert found is not None and found["what"] == "nothing"
    with pytest.raises(re.error):
        Needle.of("(?<=a+)b")  # only the compiler refuses it
