"""A place that holds only drafts says that it judged nothing."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from analyzer.cli import main

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "analyzer" / "kb" / "nsx" / "nsx-1961105.yaml"
CASE = ROOT / "samples" / "cases" / "lab-ring-before"


def triaged(tmp_path: Path, status: str, *options: str) -> list[str]:
    """Return the notes of a case judged with a folder of one rule with this status."""
    folder = tmp_path / "my-rules"
    folder.mkdir()
    lines = SHIPPED.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = {"rule:": f"rule: my-own\nstatus: {status}\n"}
    text = "".join(changed.get(line.split(" ")[0], line) for line in lines)
    (folder / "my-own.yaml").write_text(text, encoding="utf-8")
    words = [
        "triage",
        str(CASE),
        "--kb",
        str(folder),
        "--no-packs",
        "-o",
        str(tmp_path / "out"),
        *options,
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code in (0, 1), done.output
    notes: list[str] = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))[
        "notes"
    ]
    assert all(note[:40] in done.output for note in notes)
    return notes


def test_a_folder_of_drafts_says_that_it_judged_nothing(tmp_path: Path) -> None:
    """Without --draft such a folder is named, with the option that judges it."""
    assert triaged(tmp_path, "draft") == [
        "folder my-rules judged nothing: it holds only drafts (1); --draft judges them too"
    ]


def test_drafts_that_are_judged_need_no_word(tmp_path: Path) -> None:
    """With --draft nothing is said."""
    assert triaged(tmp_path, "draft", "--draft") == []


def test_a_rule_in_use_needs_no_word(tmp_path: Path) -> None:
    """A folder with a rule that is judged is not named."""
    assert triaged(tmp_path, "test") == []
