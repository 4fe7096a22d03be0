"""The guide to the archive: its commands print what the page shows, and it names the tables and columns there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analyzer.archive.query import views
from analyzer.commands.archive import COMMANDS
from tools import guide

PAGE = guide.ARCHIVE.read_text(encoding="utf-8")


@pytest.mark.process
def test_the_page_says_what_the_commands_print(tmp_path: Path) -> None:
    """Running every command of the page in a fresh folder prints what it shows."""
    guide.copy_cases(tmp_path)
    assert guide.play_page(PAGE, tmp_path) == PAGE, (
        "run python tools/guide.py and look at what changed"
    )


def test_the_page_speaks_of_every_command() -> None:
    """Each command of `backline archive` stands on the page, and the archive is filled by a batch."""
    for name in COMMANDS:
        assert f"archive {name}" in PAGE, name
    assert "$ backline batch " in PAGE and "rules backtest" in PAGE


def test_the_page_names_every_column_of_sql() -> None:
    """The table of tables has each table of the archive with exactly its columns, in their order."""
    rows = {
        cells[1].strip(" `"): cells[3]
        for cells in (line.split("|") for line in PAGE.splitlines())
        if len(cells) == 5
    }
    for view in views.SYSTEM:
        assert re.findall(r"`(\w+)`", rows[view.name]) == [
            column.name for column in view.every_column
        ], view.name
