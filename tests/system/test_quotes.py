"""Readers see plain quotes: in what the program prints, in the report and the page, and in the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.commands.made_pages import list_page_makers

ROOT = Path(__file__).resolve().parents[2]
# But for the sign that a strict redaction puts in the place of a word: no log of a product has it.
_HIDDEN = "\u2039word\u203a"
_GUILLEMETS = re.compile("[\u00ab\u00bb\u2039\u203a]|&[lr]a?quo;")
# a line of a log in an example: the host's words, not ours
_EVENT = re.compile(
    r"\[esx\.problem\.[\w.]+\] |\bqlnativefc: vmhba\d+\(|Highavailability Interface\(s\): "
)
_OPEN_PLURAL = re.compile(r"[ \"'][A-Za-z]+\((?:es|ies|s)\)(?![\w.)])(?!`)")
# Where messages, texts and pages come from: the sources of the program, what it ships, and what is written about it.
_SOURCES = ("analyzer", "parsers", "templates", "tools", "docs", "samples")
_TEXT = {
    ".py",
    ".js",
    ".css",
    ".html",
    ".yaml",
    ".yml",
    ".toml",
    ".textfsm",
    ".md",
    ".json",
    ".txt",
    ".svg",
    ".csv",
}


def shipped() -> list[Path]:
    """Return every text file whose words can reach a reader."""
    found = [path for part in _SOURCES for path in (ROOT / part).rglob("*")
             if path.suffix in _TEXT and "node_modules" not in path.parts]  # fmt: skip
    return sorted(found + list(ROOT.glob("*.md")))


def commands(command: click.Command, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the words of a command and of all commands below it."""
    if not isinstance(command, click.Group):
        return [words]
    context = click.Context(command)
    below = ((name, command.get_command(context, name)) for name in command.list_commands(context))
    return [words] + [
        one for name, child in below if child is not None for one in commands(child, (*words, name))
    ]


def test_no_source_of_words_holds_guillemets() -> None:
    """Messages, templates, rules, the page, generated pages and the guides have plain quotes."""
    files = shipped()
    assert {
        "page.js",
        "report.html",
        "codes.csv",
        "rule-guide.md",
        "README.md",
    } <= {path.name for path in files}
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in files
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), 1
        )
        if _GUILLEMETS.search(line.replace(_HIDDEN, ""))
    ]
    assert not wrong, "\n".join(wrong)


def test_no_source_of_words_leaves_a_plural_open() -> None:
    """No message, text, page or guide writes line(s): a number brings its noun in the right form."""
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in shipped()
        if path.name != "R036.md" and "vendor" not in path.parts and "samples" not in path.parts
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), 1
        )
        if _OPEN_PLURAL.search(line) and not _EVENT.search(line)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", list_page_makers(main))
def test_no_made_page_holds_guillemets(name: str) -> None:
    """Catalog, tables, schemas and manual have plain quotes and no open plural, though no file of them is in git."""
    for line in list_page_makers(main)[name]().splitlines():
        assert not _GUILLEMETS.search(line), line
        assert not _OPEN_PLURAL.search(line) or _EVENT.search(line), line


@pytest.mark.parametrize("words", commands(main), ids=" ".join)
def test_no_help_holds_guillemets(words: tuple[str, ...]) -> None:
    """The help of each command has plain quotes."""
    done = CliRunner().invoke(main, [*words, "--help"])
    assert done.exit_code == 0
    assert not _GUILLEMETS.search(done.output)
