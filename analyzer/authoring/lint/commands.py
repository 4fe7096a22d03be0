"""Complaints about commands in the texts of rules and rows: unknown ones, and those that change something unsaid.

The commands are rows of `kb.host_command`; a folder of its own adds rows to it. Only a command of a family that the
table lists whole is called unknown: what a guest, an API or another machine takes is not asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from analyzer.artefacts.tables import Table, Tables
from analyzer.authoring.lint.complaints import RuleFile, is_empty
from analyzer.rules.language.rulefile import RuleItem, walk_items

TABLE = "kb.host_command"
# Families whose commands the table lists.
_FAMILY = re.compile(r"(?:esxcli|localcli|vim-cmd|vmkfstools|esxcfg-\w+|nsxcli|get|show)$")
_TICKED = re.compile(r"`([^`]+)`")
_PARTS = re.compile(r"[;|&]+")
_GLOBAL = re.compile(r"--(?:formatter|format-param|plugin-dir)\b")
_ASKED = ("fix", "ask", "about", "not_this", "caution")
# What is risky in a command that no row names, and in the name of a tool that no table lists.
_RISKY = (
    re.compile(r"\b(?:reboot|poweroff|halt|shutdown)\b"),
    re.compile(r"\brm\s"),
    re.compile(r"\bvsish\b.*\s-e\s+set\b"),
    re.compile(r"\besxcli\b.*\s(?:set|remove|delete|disable|unload|down)\b"),
    re.compile(r"\b(?:reset|restart)\b"),
    re.compile(r"\bkill(?:all)?\s"),
)


@dataclass(frozen=True, slots=True)
class CatalogCommand:
    """A row of the table: its words in order, the options it has to have, and what it does."""

    words: tuple[str, ...]
    options: frozenset[str]
    changes: bool
    caution: str


def read_commands(tables: Tables) -> Sequence[CatalogCommand]:
    """Return the known commands, those with the most words first."""
    table = tables.get(TABLE)
    return _read_rows(table) if table is not None else ()


@lru_cache(maxsize=8)  # each rule of a catalog asks for the same table
def _read_rows(table: Table) -> Sequence[CatalogCommand]:
    commands = []
    for row in table.own_rows:
        words, options = _split_words(str(row.get("command")))
        changes, caution = row.get("changes_state") is True, str(row.get("caution") or "")
        commands.append(CatalogCommand(words, frozenset(options), changes, caution))
    return tuple(sorted(commands, key=lambda one: -len(one.words) - len(one.options)))


def _split_words(text: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the words and the options of a command; `localcli` and `nsxcli -c` are what they call."""
    parts = [part for part in text.split() if not _GLOBAL.match(part)]
    if parts[:2] == ["nsxcli", "-c"]:
        parts = parts[2:]
    elif parts[:1] == ["localcli"]:
        parts[0] = "esxcli"
    words = tuple(part.strip("\"'") for part in parts if not part.startswith("-"))
    options = [part.partition("=")[0] for part in parts if part.startswith("-")]
    return words, options


def find_command(text: str, known: Sequence[CatalogCommand]) -> CatalogCommand | None:
    """Return the row that a command is, None where there is none."""
    words, options = _split_words(text)
    for one in known:
        if words[: len(one.words)] == one.words and one.options <= set(options):
            return one
    return None


def find_unknown(text: str, known: Sequence[CatalogCommand]) -> str:
    """Return the first part of a command line that no row is, "" where all of them are known.

    A namespace without its command (`esxcli software vib`) is known.
    """
    for part in _PARTS.split(text):
        words, _ = _split_words(part)
        if not words or not known or not _FAMILY.match(words[0]):
            continue
        of_namespace = any(one.words[: len(words)] == words for one in known)
        if not of_namespace and find_command(part, known) is None:
            return part.strip()
    return ""


def find_risk(text: str, known: Sequence[CatalogCommand]) -> str | None:
    """Return what to say of a command line that changes something, None where none of its parts does."""
    for part in _PARTS.split(text):
        one = find_command(part, known)
        if one is not None and one.changes:
            return one.caution
        if one is None and any(pattern.search(part) for pattern in _RISKY):
            return ""
    return None


def find_ticked(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the commands in backticks with their places."""
    for found in _TICKED.finditer(text):
        yield found.start(1), found.end(1), found[1]


def check_commands(file: RuleFile, tables: Tables) -> None:
    """Keep the complaints about the commands of one rule."""
    if file.is_retired:
        return
    known = read_commands(tables)
    for key in _ASKED:
        part = file.find_item(key)
        for item in walk_items(part) if part is not None else ():
            if isinstance(item.value, str):
                _check_names(file, item, known)
    for number, _ in enumerate(file.list_entries("fix")):
        run = file.find_item("fix", number, "run")
        if run is not None and (unknown := find_unknown(run.text, known)):
            _complain_unknown(file, run, unknown)
        _check_risk(file, number, known)


def _check_names(file: RuleFile, item: RuleItem, known: Sequence[CatalogCommand]) -> None:
    """Complain of a command in backticks that the table does not know."""
    for start, end, command in find_ticked(item.text):
        if unknown := find_unknown(command, known):
            _complain_unknown(file, item, unknown, start, end)


def _complain_unknown(
    file: RuleFile, item: RuleItem, unknown: str, start: int = 0, end: int = 0
) -> None:
    """Keep the complaint about a command that the table does not know."""
    place = file.text.within(item, start, end) if end else item.place
    help_text = f"correct it, or add a row to {TABLE} with the source that shows it"
    file.complain("R095", f"no row of {TABLE} is `{unknown}`", place, help_text)


def _check_risk(file: RuleFile, number: int, known: Sequence[CatalogCommand]) -> None:
    """Complain of a step that changes something, where neither it nor the rule has a caution."""
    cautions = [file.find_item("caution"), file.find_item("fix", number, "caution")]
    if any(not is_empty(item) for item in cautions):
        return
    risks: list[tuple[RuleItem, str | None]] = []
    run = file.find_item("fix", number, "run")
    if run is not None:
        risks.append((run, find_risk(run.text, known)))
    for key in ("do", "note"):
        item = file.find_item("fix", number, key)
        if item is not None:
            risks += [(item, find_risk(one, known)) for _, _, one in find_ticked(item.text)]
    for item, caution in risks:
        if caution is not None:
            text = "this command changes or stops something, and no `caution` says so"
            help_text = caution or "say what it interrupts, or that it interrupts nothing"
            file.complain("R063", text, item.place, help_text)
