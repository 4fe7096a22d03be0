"""Names and texts are those of the trade: none of the words that only people of this house would understand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Word -> what an engineer would search for. A name is taken apart at `_` and at capitals.
INSTEAD = {
    "errand": "job",
    "errands": "worker_protocol",
    "ghost": "unseen",
    "haunted": "may_hold_unseen",
    "hitrows": "LineRows",
    "landing": "watch_folder",
    "nearwords": "near_miss_text",
    "offspring": "child process",
    "office": "run_config",
    "onecase": "rule_evaluation, models",
    "paper": "console",
    "recalled": "restore",
    "revived": "decode_facts",
    "settle": "apply",
    "shelf": "object_store",
    "shelves": "object_store",
    "strangers": "unknown_nodes",
    "stretches": "output_extent",
    "teller": "progress_writer",
    "told": "text, description, record",
    "trial": "preview",
    "trials": "preview_processes",
    "witness": "solver",
}
# Names that may keep a word, and why.
EXCEPTIONS = {
    "stranger_refused": "a stranger is who has no session of this page: the word of the text that he gets",
}
TEXTS = re.compile(
    r"[«»]|\bghosts?\b|\bhaunted\b|\berrands?\b|\bshel(?:f|ves)\b|\boffspring\b|\bnearwords\b|\bonecase\b|\brevived\b|"
    r"\bbe so kind\b|\bthat none must\b|\bwho comes anew\b|\bis well\b",
    re.IGNORECASE,
)


@cache
def modules() -> list[tuple[Path, ast.Module]]:
    """Return the modules of the program, parsed."""
    paths = [
        path for folder in ("analyzer", "parsers") for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def public_names() -> Iterator[tuple[str, str]]:
    """Yield the public names of modules, rooms, classes and functions, with where they stand."""
    for path, tree in modules():
        yield path.stem, str(path.relative_to(ROOT))
        yield path.parent.name, str(path.relative_to(ROOT))
        for holder in ast.walk(tree):
            if not isinstance(holder, ast.Module | ast.ClassDef):
                continue  # a name inside a function is nobody else's
            for node in holder.body:
                if (
                    isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                    and node.name[0] != "_"
                ):
                    yield node.name, f"{path.relative_to(ROOT)}:{node.lineno}"


def words(name: str) -> list[str]:
    """Return the words of a name: `told_of` and `ToldOf` have `told` and `of`."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


@pytest.mark.size
def test_names_and_texts_are_words_of_the_trade() -> None:
    """A stranger finds a thing by the word he knows; an exception whose name is gone needs no reason any more."""
    assert set(EXCEPTIONS) <= {name for name, _ in public_names()}
    odd = {
        f"{where}: {name}: {INSTEAD[word]}"
        for name, where in public_names()
        for word in words(name)
        if word in INSTEAD and name not in EXCEPTIONS
    }
    assert odd == set()

    # Messages, rules, pages and documents, as an engineer at work would write them; here the modules are parsed already.
    texts = [
        (where, found[0])
        for text, where in sentences()
        if (found := TEXTS.search(text)) is not None
    ]
    assert texts == []
    modules.cache_clear()  # a few hundred MB that no other test wants


def sentences() -> Iterator[tuple[str, str]]:
    """Yield the texts that a user may read: strings of the program that are sentences, rules, pages, templates."""
    for path, tree in modules():
        own = {
            id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
        }  # docstrings are not shown
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in own
            ):
                yield node.value, f"{path.relative_to(ROOT)}:{node.lineno}"
    for pattern in (
        "docs/*.md",
        "docs/lint/*.md",
        "analyzer/kb/**/*.yaml",
        "analyzer/report/*.html",
        "*.md",
    ):
        for path in ROOT.glob(pattern):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                yield line, f"{path.relative_to(ROOT)}:{number}"


def test_a_document_names_modules_that_exist() -> None:
    """Every path of a module in docs/ and README.md leads to a file; old names are gone."""
    lost = []
    for path in [*ROOT.glob("docs/*.md"), *ROOT.glob("*.md")]:
        for found in re.finditer(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", path.read_text(encoding="utf-8")):
            if not any((ROOT / base / found[1]).exists() for base in ("", "analyzer")):
                lost.append((path.name, found[1]))
    assert lost == []


def test_a_module_names_files_that_exist() -> None:
    """The first docstring of a module that refers to another file of ours refers to one that is there."""
    of_others = {"compactor_runner.py"}  # a file of Corfu
    files = {
        path.name
        for folder in ("analyzer", "parsers", "tests", "tools")
        for path in (ROOT / folder).rglob("*.py")
    }
    lost = []
    for path in [
        *ROOT.glob("analyzer/**/*.py"),
        *ROOT.glob("parsers/**/*.py"),
        *ROOT.glob("tools/*.py"),
    ]:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        named = {
            Path(name).name for name in re.findall(r"(?<![\w.-])[a-z_/0-9]+\.py(?!\w|\.\w)", text)
        }
        lost += [(path.name, name) for name in named - files - of_others - {"setup.py"}]
    assert lost == []
