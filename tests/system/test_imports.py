"""Imports run one way, in the order of layers.py."""

from __future__ import annotations

import ast
import re
from configparser import ConfigParser
from pathlib import Path

import pytest

from tests.kit.together import together
from tools import house
from tools.layers import ARCHIVE, LAYERS

ROOT = Path(__file__).resolve().parents[2]

RANK = {module: rank for rank, (_, modules) in enumerate(LAYERS) for module in modules}
NAMES = [name for name, _ in LAYERS]


def modules() -> list[tuple[str, Path]]:
    """Return (room, file) of every module of the package: a room is a module or a sub-package."""
    found = []
    for path in sorted((ROOT / "analyzer").rglob("*.py")):
        parts = path.relative_to(ROOT / "analyzer").with_suffix("").parts
        if parts == ("__init__",) or parts[0] in ("kb", "templates"):
            continue
        found.append((parts[0], path))
    return found + [("parsers", path) for path in sorted((ROOT / "parsers").rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """Return the rooms of `analyzer` a module imports, late imports included."""
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module == "analyzer":
                rooms |= {alias.name for alias in node.names}
            elif node.module.startswith("analyzer."):
                rooms.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            rooms |= {
                alias.name.split(".")[1]
                for alias in node.names
                if alias.name.startswith("analyzer.")
            }
    return rooms - {"__version__"}


@pytest.mark.size
@together("room, path", modules())
def test_no_module_imports_downwards(room: str, path: Path) -> None:
    """A module imports its own layer or one above it in docs/architecture.md, never one below."""
    assert room in RANK, f"{path} is in no layer of docs/architecture.md"
    for other in imported(path):
        assert RANK[other] <= RANK[room], (
            f"{path.name} ({NAMES[RANK[room]]}) imports {other} ({NAMES[RANK[other]]}), which lies below it"
        )


@together("path", sorted((ROOT / "analyzer" / "archive").rglob("*.py")), ids=lambda path: path.stem)
def test_no_room_of_the_archive_imports_a_later_one(path: Path) -> None:
    """Within the archive imports run one way too, in the order of the table in docs/architecture.md."""
    room = path.parent.name if path.parent.name != "archive" else ""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("analyzer.archive"):
            inner = (node.module or "").split(".")[2:]
            other = inner[0] if inner and inner[0] in ARCHIVE else ""
            assert ARCHIVE.index(other) <= ARCHIVE.index(room), (
                f"{path.name} ({room}) imports {node.module}"
            )


def test_the_report_reads_the_case_document_and_nothing_else() -> None:
    """A module of the report imports what a case document is made of, texts and limits, and nothing that could read a case."""
    for path in sorted((ROOT / "analyzer" / "report").glob("*.py")):
        assert imported(path) <= {"runtime", "case", "report"}, path.name


@pytest.mark.size
def test_no_module_names_a_parser() -> None:
    """Parsers are found by the registry: outside `parsers/` nothing imports one by name."""
    for room, path in modules():
        if room != "parsers":
            assert "parsers" not in imported(path), path.name


def test_the_walk_sees_a_wrong_arrow(tmp_path: Path) -> None:
    """The check can fail: an import of the judge from a source is seen."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from analyzer.judge import judge\nimport analyzer.pipeline.triage\n", encoding="utf-8"
    )
    assert imported(wrong) == {"judge", "pipeline"}
    assert RANK["judge"] > RANK["sources"]


def files_of(root: Path) -> dict[str, Path]:
    """Return every module of the product by its dotted name."""
    found: dict[str, Path] = {}
    for path in sorted([*(root / "analyzer").rglob("*.py"), *(root / "parsers").rglob("*.py")]):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def run_imports(path: Path, known: dict[str, Path]) -> set[str]:
    """Return the modules among `known` that a module imports when it runs: late ones too, those for types alone not."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ]
    skipped = {id(inner) for node in typing for part in node.body for inner in ast.walk(part)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in inner}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(known)


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that reach each other, each sorted."""
    reach: dict[str, set[str]] = {}
    for start, first in arrows.items():
        seen: set[str] = set()
        waiting = list(first)
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += arrows[module]
        reach[start] = seen
    found = {
        tuple(sorted(other for other in reach[one] if one in reach[other]))
        for one in arrows
        if one in reach[one]
    }
    return [list(one) for one in sorted(found)]


@pytest.mark.size
def test_no_folders_import_each_other_in_a_circle() -> None:
    """No folder reaches itself by imports: late ones, those for types alone and those of tools included."""
    arrows = house.map_folder_imports(house.read_files())
    assert len(arrows) > 40
    assert house.find_circles(arrows) == []
    assert not [
        path.name
        for path in (ROOT / "tools").glob("*.py")
        if re.search(r"(from|import) tests\b", path.read_text(encoding="utf-8"))
    ]


@pytest.mark.size
def test_no_modules_import_each_other_in_a_circle() -> None:
    """No module reaches itself by imports, those inside functions included."""
    known = files_of(ROOT)
    assert len(known) > 300
    assert circles({name: run_imports(path, known) - {name} for name, path in known.items()}) == []


def test_a_late_import_closes_a_circle(tmp_path: Path) -> None:
    """The check can fail: an import inside a function closes a circle, one for types alone does not."""
    package = tmp_path / "analyzer"
    package.mkdir()
    (package / "two.py").write_text(
        "def late():\n    from analyzer.three import x\n", encoding="utf-8"
    )
    (package / "three.py").write_text("import analyzer.one\n", encoding="utf-8")
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from analyzer import one\n"
    (package / "four.py").write_text(typed, encoding="utf-8")
    (package / "one.py").write_text("from analyzer import two, four\n", encoding="utf-8")
    known = files_of(tmp_path)
    arrows = {name: run_imports(path, known) for name, path in known.items()}
    assert circles(arrows) == [["analyzer.one", "analyzer.three", "analyzer.two"]]


def public_classes(path: Path) -> list[str]:
    """Return the names of the public classes of a module."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return [
        node.name
        for node in body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


@pytest.mark.size
def test_no_public_class_name_stands_twice() -> None:
    """A stranger who searches for a class finds one: each public class has a name of its own."""
    places: dict[str, list[str]] = {}
    for module, path in files_of(ROOT).items():
        for name in public_classes(path):
            places.setdefault(name, []).append(module)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_the_wheel_holds_every_room() -> None:
    """Each folder of modules under `analyzer` is named in setup.cfg; one that is not would be missing when installed."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    named = set(config["options"]["packages"].split())
    rooms = {path.parent.relative_to(ROOT) for path in (ROOT / "analyzer").rglob("*.py")}
    assert {".".join(room.parts) for room in rooms} <= named


def test_nothing_imports_what_only_a_checkout_has() -> None:
    """Installed, `parsers` and `templates` lie inside the package: no module imports them from the top, not even late."""
    wrong = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("analyzer", "parsers")
        for path in (ROOT / folder).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith(
            (
                "from parsers",
                "import parsers",
                "from templates",
                "import templates",
                "from tools",
                "from tests",
            )
        )
    ]
    assert not wrong, wrong
