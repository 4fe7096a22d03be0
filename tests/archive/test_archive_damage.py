"""Damaged objects of an archive: the questions are answered from the others, and what is missing is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from tests.kit.ask_kit import filled, run

QUESTIONS = [
    ("list",),
    ("search", "--rule", "pnic-loses-packets"),
    ("search", "--text", "connectivity"),
    ("search", "esxi.pnic_info: driver == 'ixgben'"),
    ("sql", "SELECT count(*) FROM cases"),
    ("heatmap",),
]


def packs(folder: Path) -> list[Path]:
    """Return the packs of an archive that hold a whole case."""
    return sorted((folder / "packs").rglob("*.full.zip"))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda words: " ".join(words)[:30])
def test_a_question_is_answered_without_the_damaged_packs(
    question: tuple[str, ...], tmp_path: Path
) -> None:
    """Two cut packs: every question still answers from the others, names both, and ends with exit code 5."""
    filled(tmp_path / "archive")
    broken = packs(tmp_path / "archive")[:2]
    for pack in broken:
        pack.write_bytes(pack.read_bytes()[:2000])
    result = run(question[0], "--archive", tmp_path / "archive", *question[1:])

    assert result.exit_code == 5, result.output
    told = result.output + result.stderr
    assert all(pack.name in told for pack in broken)
    assert "Traceback" not in told


def test_the_others_are_all_there(tmp_path: Path) -> None:
    """As many cases are listed as have a sound pack."""
    filled(tmp_path / "archive")
    before = run(
        "sql", "--archive", tmp_path / "archive", "--csv", "SELECT count(*) AS n FROM cases"
    ).stdout
    pack = packs(tmp_path / "archive")[0]
    pack.write_bytes(b"PK")
    after = run(
        "sql", "--archive", tmp_path / "archive", "--csv", "SELECT count(*) AS n FROM cases"
    ).stdout

    assert int(after.split()[-1]) == int(before.split()[-1]) - 1


@pytest.mark.parametrize("name", ["_case.parquet", "_findings.parquet", "manifest.json"])
def test_a_damaged_segment_is_told(name: str, tmp_path: Path) -> None:
    """A Parquet file or a manifest of a segment that cannot be read: its cases are missing, and that is said."""
    filled(tmp_path / "archive")
    compact_archive(Archive.open(tmp_path / "archive"))
    segment = next((tmp_path / "archive" / "segments").iterdir())
    (segment / name).write_bytes(b"damaged")
    result = run("search", "--archive", tmp_path / "archive", "--rule", "pnic-loses-packets")

    assert result.exit_code == 5, result.output
    assert segment.name in result.output + result.stderr
