"""Every command that a page shows exists as it is written there: its words, its options, the choices of an option."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from analyzer.cli import main
from analyzer.commands.made_pages import list_page_makers
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / name
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "samples/README.md", "Makefile")
] + sorted(
    path for path in (ROOT / "docs").rglob("*.md") if path.name not in list_page_makers(main)
)
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
_SPAN = re.compile(r"`(backline [^`\n]+(?:\n[^`\n]+)?)`")
_PROMPT = re.compile(r"^\s*(?:\$ )?(?:\.?[\w/$().-]*/)?(backline(?: .*)?)$", re.M)
_END = {"|", ">", ">>", "&&", ";", "2>", "#", "<"}
_OPTIONAL = re.compile(r"[\[\]…]|\.\.\.")


def commands(page: str) -> Iterator[str]:
    """Yield what a page shows as commands: lines of its code blocks, and spans of code in its text."""
    blocks = "\n".join(_FENCE.findall(page)).replace("\\\n", " ")
    indented = "\n".join(
        line for line in page.replace("\\\n", " ").splitlines() if line.startswith("    ")
    )
    for text in (blocks, indented):
        for match in _PROMPT.finditer(text):
            yield re.split(r" {3,}", match[1])[0]  # what stands far to the right is a remark
    for match in _SPAN.finditer(_FENCE.sub("", page)):
        yield match[1].replace("\n", " ")


@cache
def _options(command: click.Command) -> dict[str, click.Option]:
    given = [param for param in command.params if isinstance(param, click.Option)]
    return {name: param for param in given for name in (*param.opts, *param.secondary_opts)} | {
        name: click.Option([name], is_flag=True) for name in ("-h", "--help")
    }


def wrong(command: str) -> str:
    """Return what of a command does not exist, "" where all of it does."""
    try:
        words = shlex.split(
            _OPTIONAL.sub(" ", command).replace("<", "").replace("`", ""), comments=True
        )[1:]
    except ValueError:
        words = _OPTIONAL.sub(" ", command).split()[1:]
    context = click.Context(main)
    group: click.Command = main
    while words and isinstance(group, click.Group):
        if words[0] in _options(group):
            words = words[1:]
            continue
        found = group.get_command(context, words[0])
        if found is None:
            if group is not main or re.fullmatch(r"[a-z]+(?:-[a-z]+)*", words[0]):
                return f"no command {words[0]!r} of {group.name!r}"
            found = main.get_command(context, "triage")  # `backline PATH...`
            words = ["", *words]
        assert found is not None
        group, words = found, words[1:]
    return _wrong_options(group, words)


def _wrong_options(command: click.Command, words: list[str]) -> str:
    known = _options(command)
    for place, word in enumerate(words):
        if word in _END:
            return ""
        name, equals, value = word.partition("=")
        if not re.fullmatch(r"--?[a-z][\w-]*", name):
            continue
        if name not in known and (name.startswith("--") or set(name[1:]) - {"v"}):
            return f"no option {name} of {command.name}"
        choice = known[name].type if name in known else None
        value = value if equals else (words[place + 1] if place + 1 < len(words) else "")
        if (
            isinstance(choice, click.Choice)
            and re.fullmatch(r"[a-z]+", value)
            and value not in choice.choices
        ):
            return f"{name} of {command.name} does not take {value!r}"
    return ""


@together("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_of_a_page_exists(path: Path) -> None:
    """No page names a command, an option or a choice that the program does not have."""
    stale = [
        f"{command}: {why}"
        for command in commands(path.read_text(encoding="utf-8"))
        if (why := wrong(command))
    ]
    assert not stale, "\n".join(stale)


@pytest.mark.parametrize("name", ["cli.md", "tables.md"])
def test_every_command_of_a_made_page_exists(name: str) -> None:
    """Examples in the help of a command, and what a table is asked with, are commands that exist."""
    stale = [
        f"{command}: {why}"
        for command in commands(list_page_makers(main)[name]())
        if (why := wrong(command))
    ]
    assert not stale, "\n".join(stale)


def test_the_check_sees_commands_and_mistakes() -> None:
    """The pages show hundreds of commands, and each kind of mistake in one is found."""
    texts = [path.read_text(encoding="utf-8") for path in PAGES] + [
        make() for make in list_page_makers(main).values()
    ]
    assert sum(1 for text in texts for _ in commands(text)) > 300
    assert [bool(wrong(f"backline {words}")) for words in (
        "archive list --archive DIR", "x.tgz -o out", "rules test my.yaml -vv",
        "archive lost --archive DIR", "archive list --lost", "lost", "show case.json --format docx", "x.tgz --lost",
    )] == [False] * 3 + [True] * 5  # fmt: skip
