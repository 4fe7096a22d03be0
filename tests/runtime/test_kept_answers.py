"""In a checkout the answers about our own patterns are kept for the next start, and those about a case never."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzer.pipeline import triage
from analyzer.runtime import cache_folder, snapshot
from analyzer.runtime.snapshot import PatternAnswers, keep_own_answers
from tests.kit.batch_kit import ROOT

OWN, OF_A_CASE = "our own: .*", "host-17 of the customer"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of this test's own; what was read of another is forgotten."""
    monkeypatch.setenv(cache_folder.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(snapshot, "ANSWERS", dict(snapshot.ANSWERS))
    forget()
    yield tmp_path / "cache"
    forget()


def forget() -> None:
    """Forget what was read, as a process that has just started."""
    snapshot._read_answers.cache_clear()
    keep_own_answers.cache_clear()


class Question:
    """A function of a pattern as a new process has it, and what it was asked."""

    def __init__(self) -> None:
        forget()
        self.asked: list[str] = []
        self.ask = PatternAnswers(self.measure_pattern)

    def measure_pattern(self, pattern: str) -> list[int]:
        """Return a figure of a pattern."""
        self.asked.append(pattern)
        return [len(pattern)]

    def note_own(self) -> None:
        """Ask about the pattern of ours."""
        assert self.ask(OWN) == [len(OWN)]


def kept_in(folder: Path) -> Path:
    """Return the one file of answers."""
    (file,) = folder.glob(f"{cache_folder.ANSWERS}*")
    return file


def test_a_second_start_looks_at_no_pattern_of_ours(folder: Path) -> None:
    """The first works the answer out, the second has it, and writes nothing."""
    first = Question()
    keep_own_answers(first.note_own)
    written = kept_in(folder).stat().st_mtime_ns
    second = Question()
    keep_own_answers(second.note_own)
    second.note_own()

    assert (first.asked, second.asked) == ([OWN], [])
    assert kept_in(folder).stat().st_mtime_ns == written


@pytest.mark.size
def test_a_triage_asks_for_nothing_that_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is noted is all that a run of the tool's rules asks; a new question has to be noted too."""
    keep_own_answers(triage.note_patterns)
    forget()
    new: list[tuple[str, str]] = []
    for name, one in snapshot.ANSWERS.items():
        if name.startswith("analyzer."):
            monkeypatch.setattr(one, "_known", None)
            function = one._function
            monkeypatch.setattr(
                one, "_function", lambda text, name=name, ask=function: new.append((name, text)) or ask(text)
            )  # fmt: skip

    triage.triage([ROOT / "samples" / "cases" / "slow-storage"])

    assert new == []


def test_what_a_case_asks_is_never_kept(folder: Path) -> None:
    """Not what the process knew before, nor what another thread asks while ours are noted."""
    question = Question()
    question.ask(OF_A_CASE)

    def note_beside() -> None:
        other = threading.Thread(target=question.ask, args=(OF_A_CASE + "!",))
        other.start()
        other.join()
        question.note_own()

    keep_own_answers(note_beside)

    assert question.asked == [OF_A_CASE, OF_A_CASE + "!", OWN]
    data = kept_in(folder).read_bytes()
    assert OWN.encode() in data and OF_A_CASE.encode() not in data


@pytest.mark.parametrize("spoilt", ["a byte", "cut", "mode", "owner", "catalog", "code"])
def test_a_file_that_does_not_count_is_a_miss(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, spoilt: str
) -> None:
    """Damaged, of other hands, of another catalog or of other code: the pattern is looked at again."""
    if sys.platform == "win32" and spoilt in ("mode", "owner"):
        pytest.skip("owners and permissions of POSIX")
    keep_own_answers(Question().note_own)
    file = kept_in(folder)
    if spoilt == "a byte":
        file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    elif spoilt == "cut":
        file.write_bytes(file.read_bytes()[:-9])
    elif spoilt == "mode":
        file.chmod(0o606)
    elif spoilt == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    elif spoilt == "catalog":
        (tmp_path / "kb").mkdir()
        (tmp_path / "kb" / "mine.yaml").write_text("")
        monkeypatch.setattr(snapshot, "find_catalog", lambda: tmp_path / "kb")
    else:
        monkeypatch.setattr(snapshot, "hash_code", lambda times: f"other code {times}")
    question = Question()

    question.note_own()

    assert question.asked == [OWN]


@pytest.mark.parametrize("wanted", ["off", "a/relative/one", "file/cache"])
def test_without_a_folder_nothing_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    """Where nothing can be kept, no pattern is looked at for the next start, and nothing written, here neither."""
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    place = str(tmp_path / wanted) if wanted == "file/cache" else wanted
    monkeypatch.setenv(cache_folder.VARIABLE, place)
    question = Question()

    keep_own_answers(question.note_own)

    assert question.asked == []
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
