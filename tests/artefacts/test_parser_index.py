"""The index of a wheel declares the same parsers as their modules do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from analyzer.artefacts import parser_index, parsing
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block
from tests.kit.batch_kit import ROOT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the parsers with their index, as in a wheel."""
    copy = tmp_path_factory.mktemp("wheel") / "parsers"
    shutil.copytree(ROOT / "parsers", copy, ignore=shutil.ignore_patterns("__pycache__"))
    parser_index.write(copy, parsing.modules())
    return copy


def functions_as_there(parser: Parser) -> Parser:
    """The parser with True for a function that it has."""
    has: dict[str, Any] = {
        name: getattr(parser, name) is not None for name in parser_index.FUNCTIONS
    }
    return replace(parser, **has)


def test_every_declaration_is_the_same(folder: Path) -> None:
    """Each field of each parser and table is as its module has it; only functions are asked for later."""
    found = parser_index.read(str(folder), Parser)

    assert found is not None
    parsers, made = found
    walked = {
        name: one
        for module in parsing.modules()
        for name, one in parser_index.declared(module).items()
    }
    assert list(parsers) == list(walked)
    for name, parser in parsers.items():
        assert functions_as_there(parser) == functions_as_there(walked[name]), name
        assert all(type(getattr(parser, one.name)) is type(getattr(walked[name], one.name))
                   for one in fields(Parser) if one.name not in parser_index.FUNCTIONS), name  # fmt: skip
    assert made == [table for module in parsing.modules() for table in getattr(module, "MADE", ())]


def test_a_parser_of_the_index_reads_as_its_module_does(folder: Path) -> None:
    """The function comes with the module when it is first called, and gives the same rows."""
    found = parser_index.read(str(folder), Parser)
    assert found is not None
    lines = (
        (ROOT / "samples" / "esxi" / "network" / "net_stats" / "esxi67.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )

    one = [
        (row.values, row.line)
        for row in found[0]["net_stats"].parse(Block(lines))
        if hasattr(row, "values")
    ]
    two = [
        (row.values, row.line)
        for row in parsing.registry()["net_stats"].parse(Block(lines))
        if hasattr(row, "values")
    ]

    assert one == two != []


@pytest.mark.parametrize(
    "damage",
    ["another size", "one more", "one less", "not JSON", "fields of another version", "gone"],
)
def test_an_index_of_other_modules_is_left_alone(folder: Path, tmp_path: Path, damage: str) -> None:
    """An index that was not made of the modules beside it, or is damaged, counts as absent."""
    copy = tmp_path / "parsers"
    shutil.copytree(folder, copy)
    index, module = copy / parser_index.FILE, copy / "esxi" / "network" / "net_stats.py"
    if damage == "another size":
        module.write_bytes(module.read_bytes() + b"\n")
    elif damage == "one more":
        (copy / "mine.py").write_text("PARSER = None\n")
    elif damage == "one less":
        module.unlink()
    elif damage == "not JSON":
        index.write_bytes(index.read_bytes()[:-10])
    elif damage == "fields of another version":
        index.write_text(
            index.read_text().replace(
                '["esxi.network.net_stats",', '["esxi.network.net_stats","more",', 1
            )
        )
    else:
        index.unlink()

    assert parser_index.read(str(copy), Parser) is None
    assert parser_index.read(str(folder), Parser) is not None


@pytest.mark.process
def test_a_small_case_imports_few_parsers(folder: Path) -> None:
    """With the index a triage imports the parsers of what is there, not all."""
    code = (
        "import sys, analyzer, analyzer.parsers as p\n"
        "p.__path__.insert(0, sys.argv[1])\n"
        "from analyzer.pipeline.triage import triage\n"
        "from pathlib import Path\n"
        "triage([Path(sys.argv[2])])\n"
        "print(*sorted(m.rpartition('.')[2] for m in sys.modules if m.startswith('analyzer.parsers.')))\n"
    )
    case = ROOT / "samples" / "cases" / "lab-ring-before"
    words = [sys.executable, "-c", code, str(folder), str(case)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True, cwd=ROOT)

    imported = [name for name in done.stdout.splitlines()[-1].split() if not name.startswith("_")]
    assert 0 < len(imported) <= 25, imported  # five of them are folders
