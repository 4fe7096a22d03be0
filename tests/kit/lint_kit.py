"""Pieces of rules for the tests of the linter: the pages of docs/lint, laid into their rule."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.authoring.fmt.layout import format_rule
from analyzer.authoring.lint import run as lint
from analyzer.authoring.lint.complaints import Complaint
from analyzer.rules.keys import KEYS

# The columns of which the pages about facts speak.
DRIVER = """\
meaning = "Drivers with a fault, made up."
source = "made up"
key = ["module"]
ordered = [["since", "fixed_in"]]
[columns.module]
meaning = "name of the VIB"
[columns.since]
kind = "version"
meaning = "first version with the fault"
[columns.fixed_in]
kind = "version"
meaning = "first version without"
[columns.build]
kind = "int"
meaning = "build that ships it"
names = "kb.esxi_build.build"
"""
PAGES = Path(__file__).resolve().parents[2] / "docs" / "lint"
_MARK = re.compile(r" *# <--$", re.MULTILINE)
_TOP = re.compile(r"([a-z_]+):")


@dataclass(frozen=True)
class Piece:
    """A piece of a page, the mark of its line still in it, and what stands in its fence."""

    text: str
    info: dict[str, str] = field(default_factory=dict)
    language: str = "yaml"


def piece(page: str, kind: str) -> Piece:
    """Return the piece of a page whose fence says `kind`."""
    found = re.search(rf"```(yaml|csv) {kind}([^\n]*)\n(.*?)```", page, re.DOTALL)
    assert found is not None, f'no piece "{kind}"'
    return Piece(
        found[3].rstrip("\n"), dict(pair.split("=") for pair in found[2].split()), found[1]
    )


def unmarked(text: str) -> tuple[str, int]:
    """Return a rule text without the mark, and the line it stood on (1-based; 0 for none)."""
    found = _MARK.search(text)
    return _MARK.sub("", text), text[: found.start()].count("\n") + 1 if found else 0


def base() -> str:
    """Return the rule that the pages speak of."""
    return piece((PAGES / "README.md").read_text(encoding="utf-8"), "base").text + "\n"


def blocks(text: str) -> dict[str, list[str]]:
    """Return the top-level keys of a rule text with their lines; comments above a key belong to it."""
    found: dict[str, list[str]] = {}
    waiting: list[str] = []
    last: list[str] = []
    for line in text.splitlines():
        if key := _TOP.match(line):
            last = found[key[1]] = [*waiting, line]
            waiting = []
        elif line.startswith("#"):
            waiting.append(line)
        else:
            last.append(line)
    return found


def laid(own: str) -> str:
    """Return the rule of the pages with the keys of a piece in the place of its own; a short rule is whole."""
    if "sign" in blocks(own):
        return own + "\n"
    parts = blocks(base())
    for key, lines in blocks(own).items():
        parts[key] = [
            *lines,
            *(line for line in parts.get(key, []) if not line),
        ]  # the blank line below stays
    order = [*KEYS, *parts]
    return "\n".join(line for key in sorted(parts, key=order.index) for line in parts[key]) + "\n"


def check(
    text: str, folder: Path, name: str = "", *, beside: str = "", thorough: bool = False
) -> list[Complaint]:
    """Return the complaints about a rule text as a file of its own, beside another rule when one is given."""
    found = re.search(r"^rule: (\S+)", text, re.MULTILINE)
    path = folder / "own" / (name or f"{found[1] if found else 'damaged-frames'}.yaml")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    kb = []
    if beside:
        kb = [folder / "beside"]
        kb[0].mkdir(exist_ok=True)
        (kb[0] / "damaged-frames.yaml").write_text(beside, encoding="utf-8")
    return lint.check_files([path], kb, thorough=thorough)


def check_facts(text: str, folder: Path) -> list[Complaint]:
    """Return the complaints about a CSV text as a table of facts beside the rule of the pages."""
    facts = folder / "own" / "facts"
    facts.mkdir(parents=True, exist_ok=True)
    (facts / "driver.toml").write_text(DRIVER, encoding="utf-8")
    (facts / "driver.csv").write_text(text, encoding="utf-8")
    return check(base(), folder)


def check_shared(text: str, folder: Path) -> list[Complaint]:
    """Return the complaints about a file of shared parts beside the rule of the pages, which names two texts."""
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "shared.yaml").write_text(text, encoding="utf-8")
    return check(format_rule(laid("not_this:\n  - $collect\n  - $collect_all")), folder)


def told(own: str) -> list[Complaint]:
    """Return the complaints that keys laid into the rule of the pages give; neither layout nor shares are asked for."""
    return [
        one
        for one in lint.check_text(laid(own), "damaged-frames.yaml")
        if one.code not in ("R007", "R089")
    ]


def codes(own: str) -> list[str]:
    """Return the codes that keys laid into the rule of the pages give; the layout is not asked for."""
    return [one.code for one in told(own)]
