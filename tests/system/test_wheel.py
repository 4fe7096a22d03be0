"""What the wheel holds beside the program: the pages of the help, the schema of a case, and the man page."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from analyzer.cli import main
from analyzer.commands.made_pages import list_page_makers
from tools import dist

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.process
def test_the_wheel_holds_what_the_installed_program_reads(tmp_path: Path) -> None:
    """Built from the files of git: every page of docs/, the schema, and the man page, which is made by the build.

    Pages that the program makes itself are left out, also where `make docs` has written them.
    """
    source = tmp_path / "work" / "source"
    dist.copy_source(source)
    (source / "docs" / "rules.md").write_text("old", encoding="utf-8")
    dist.run_module(
        "the wheel", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(source)
    )
    with zipfile.ZipFile(next(tmp_path.glob("backline-*.whl"))) as wheel:
        names = set(wheel.namelist())
        man = next(name for name in names if name.endswith("share/man/man1/backline.1"))
        assert wheel.read(man).decode("utf-8") == list_page_makers(main)["backline.1"]()
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")} - {
        *map(Path, list_page_makers(main))
    }
    packed = {re.sub(r"^lint/", "", path.as_posix()): path for path in pages}
    wanted = {
        f"analyzer/{'lintpages' if path.parent.name else 'docpages'}/{name}"
        for name, path in packed.items()
    }
    assert len(wanted) > 80 and wanted <= names
    assert not {name for name in names if name.startswith("analyzer/docpages/")} - wanted
