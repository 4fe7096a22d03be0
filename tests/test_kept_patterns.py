"""Regular expressions kept for the next run: each is what `re` makes of its text, and none tells of a case."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer import kept_patterns, parsing
from analyzer.kept_patterns import compiled, compiled_bytes
from analyzer.machine import Machine

ROOT = Path(__file__).parents[1]
CASE = ROOT / "samples" / "cases" / "lab-ring-before"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty cache folder that is used from now on."""
    monkeypatch.setenv("BACKLINE_CACHE", str(tmp_path / "cache"))
    kept_patterns._kept.cache_clear()
    yield tmp_path / "cache"
    kept_patterns._kept.cache_clear()


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the patterns that `re` compiled for us from now on."""
    found: list[Any] = []
    plain = re.compile

    def counted(pattern: Any, flags: int = 0) -> Any:
        found.append(pattern)
        return plain(pattern, flags)

    monkeypatch.setattr(kept_patterns.re, "compile", counted)
    return found


def next_run() -> None:
    """End the run, as the process would, and begin another."""
    kept_patterns._kept().save()
    kept_patterns._kept.cache_clear()


def patterns() -> list[str]:
    """Return all patterns of all parsers, and those of the rules of their templates."""
    found: list[str] = []
    for parser in parsing.registry().values():
        found += [*parser.files, *parser.commands]
        found += [one for one in (parser.shape, parser.body, parser.entire, parser.lead) if one]
        if parser.template:
            states = Machine(parser.template).states
            found += [rule.regex for state in states.values() for rule in state]
    return list(dict.fromkeys(found))


@pytest.mark.size
def test_a_kept_pattern_is_the_compiled_one(folder: Path, compiles: list[Any]) -> None:
    """Text, flags, groups and code of a thousand patterns are as `re` makes them, and none is compiled again."""
    some = patterns()[:1000]
    first = {pattern: compiled(pattern) for pattern in some}
    assert len(some) == 1000
    assert set(some) <= set(compiles)
    next_run()

    compiles.clear()
    for pattern in some:
        again = compiled(pattern)
        assert again == first[pattern]  # text, flags and code
        assert (again.groups, again.groupindex) == (first[pattern].groups, first[pattern].groupindex)
    assert compiles == []


def test_flags_and_bytes_are_told_apart(folder: Path, compiles: list[Any]) -> None:
    """One text with other flags, or of bytes, is another pattern, also out of the file."""

    def made() -> list[re.Pattern[Any]]:
        return [compiled("(?P<x>é)|b"), compiled("(?P<x>é)|b", re.IGNORECASE), compiled_bytes(b"(?P<x>\xe9)|b")]

    before = made()
    next_run()
    compiles.clear()
    assert made() == before
    assert compiles == []
    assert len(set(before)) == 3
    found = compiled("(?P<x>é)|b", re.IGNORECASE).search("É")
    assert found is not None
    assert found["x"] == "É"
    assert compiled_bytes(b"(?P<x>\xe9)|b").search(b"\xe9") is not None


@pytest.mark.parametrize("harm", ["cut", "turned", "empty", "gone"])
def test_a_damaged_file_counts_as_absent(folder: Path, compiles: list[Any], harm: str) -> None:
    """A file that is not as it was written is not used: the pattern is compiled as ever."""
    compiled("a+b")
    next_run()
    (file,) = folder.iterdir()
    data = file.read_bytes()
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes({"cut": data[:-4], "turned": data[:-1] + bytes([data[-1] ^ 1]), "empty": b""}[harm])

    compiles.clear()
    assert compiled("a+b").fullmatch("aab")
    assert compiles == ["a+b"]


def test_the_insides_of_re_need_not_be_those_we_know(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `re` is made in another way, patterns are compiled and nothing is written."""
    insides = kept_patterns._insides

    def other(name: str) -> Any:
        if name == "re._compiler":
            raise ImportError(name)
        return insides(name)

    monkeypatch.setattr(kept_patterns, "_insides", other)
    assert compiled("a{2}").fullmatch("aa")
    next_run()
    assert not folder.exists()


def test_without_a_cache_folder_nothing_is_kept(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`BACKLINE_CACHE=off` is obeyed."""
    monkeypatch.setenv("BACKLINE_CACHE", "off")
    kept_patterns._kept.cache_clear()
    assert compiled("ab?").fullmatch("a")
    kept_patterns._kept().save()
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_kept_patterns_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond it the file begins anew with what the last run had to compile."""
    monkeypatch.setattr(kept_patterns, "MOST", 3)
    for pattern in ("a", "b", "c"):
        compiled(pattern)
    next_run()
    compiled("d")
    next_run()
    assert [key[0] for key in kept_patterns._kept().known] == ["d"]


@pytest.mark.process
def test_no_word_of_a_case_is_kept(tmp_path: Path) -> None:
    """A case may be a customer's: after its triage the cache folder holds no name of its host, and no line of it."""
    case = tmp_path / "case"
    shutil.copytree(CASE, case)
    log = "".join(f"2024-03-01T10:00:{n:02}.000Z zebra-17 vmkernel: cpu1:{n}) quagga {n}\n" for n in range(30))
    (case / "more.txt").write_text(f"[root@zebra-17:~] grep quagga /var/log/vmkernel.log\n{log}[root@zebra-17:~] \n")
    environment = {**os.environ, "BACKLINE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "analyzer", "triage", str(case), "-o", str(tmp_path / "out")]
    for _ in range(2):
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)

    written = {file.name: file.read_bytes() for file in (tmp_path / "cache").iterdir()}
    assert any(name.startswith("patterns-") and b"backline/regexes" in data[:40] for name, data in written.items())
    assert b"zebra-17" in (tmp_path / "out" / "case.json").read_bytes()
    assert not [name for name, data in written.items() if b"zebra" in data or b"quagga" in data]
