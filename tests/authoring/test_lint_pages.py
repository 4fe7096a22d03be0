"""The pages of the lint codes: each proves itself, and the tool prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.authoring.fmt.layout import format_rule
from analyzer.authoring.lint import codes as lint_codes
from analyzer.authoring.lint.codes import CODES, PROOF
from analyzer.runtime.errors import UsageError
from tests.kit.lint_kit import (
    PAGES,
    Piece,
    base,
    blocks,
    check,
    check_facts,
    check_shared,
    laid,
    piece,
    unmarked,
)

# Pieces are short: they are not laid out, and a bare counter stands for a condition.
BESIDE = ("R007", "R089")


def page(code: str) -> str:
    """Return the page of a code."""
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def apart(own: Piece) -> bool:
    """Tell whether a piece is a file of its own, and no part of a rule."""
    return own.language == "csv" or own.info.get("file") == "shared.yaml"


def found(own: Piece, code: str, folder: Path) -> list[tuple[str, int]]:
    """Return codes and lines that a piece gives; those of the layout and of shares only on their own page."""
    if own.language == "csv":
        return [
            (one.code, one.place.line) for one in check_facts(unmarked(own.text)[0] + "\n", folder)
        ]
    if own.info.get("file") == "shared.yaml":
        return [
            (one.code, one.place.line) for one in check_shared(unmarked(own.text)[0] + "\n", folder)
        ]
    text, _ = unmarked(laid(own.text))
    beside = base() if "rule" in blocks(own.text) and "file" not in own.info else ""
    complaints = check(
        text, folder, own.info.get("file", ""), beside=beside, thorough=CODES[code].stage == PROOF
    )
    return [
        (one.code, one.place.line)
        for one in complaints
        if one.code not in BESIDE or one.code == code
    ]


@pytest.mark.parametrize("code", CODES)
def test_the_wrong_piece_gives_the_code_where_the_page_marks_it(code: str, tmp_path: Path) -> None:
    """The example of each page gives its code once, at the marked line, and no other code unnamed."""
    own = piece(page(code), "wrong")
    told = found(own, code, tmp_path)
    _, marked = unmarked(own.text if apart(own) else laid(own.text))

    assert marked
    assert [one for one in told if one[0] == code] == [(code, marked)]
    assert {one for one, _ in told} == {code, own.info.get("also", code)}


@pytest.mark.parametrize("code", CODES)
def test_the_mended_piece_gives_nothing(code: str, tmp_path: Path) -> None:
    """What the page advises is sound, and laid out as the formatter lays it out."""
    own = piece(page(code), "mended")

    assert found(own, code, tmp_path) == []
    if apart(own):
        return
    kept = format_rule(laid(own.text))
    for lines in blocks(own.text).values():
        assert "\n".join(lines) in kept


def test_the_rule_of_the_pages_is_sound(tmp_path: Path) -> None:
    """The rule that all pieces are laid into gives no complaint at all, its examples included."""
    assert check(base(), tmp_path, thorough=True) == []


def test_the_index_is_fresh() -> None:
    """The table in docs/lint/README.md is that of the code."""
    rows = ["| code | level | what it means |", "|---|---|---|"]
    for one in CODES.values():
        rows.append(f"| [{one.code}]({one.code}.md) | {one.level} | {one.title} |")
    assert "\n".join(rows) + "\n" in (PAGES / "README.md").read_text(encoding="utf-8")


def test_every_page_belongs_to_a_code() -> None:
    """There is a page for each code and no page besides; each begins with its code, title and level."""
    assert sorted(path.stem for path in PAGES.glob("R0*.md")) == list(CODES)
    for code, one in CODES.items():
        lines = page(code).splitlines()
        assert lines[0] == f"# {code}: {one.title}"
        assert lines[2].startswith(one.level.capitalize())
        for head in ("## Why it matters", "## Wrong", "## Fixed", "## When to allow it"):
            assert head in lines
        assert lint_codes.read_page(code.lower()) == page(code)


def test_a_code_that_does_not_exist_has_no_page() -> None:
    """A slip gets the nearest code, anything else the range there is."""
    with pytest.raises(UsageError, match=r"no code `R10`.*did you mean `R01"):
        lint_codes.read_page("R10")
    with pytest.raises(UsageError, match=r"no code `\.\./x`.*R001 to R\d\d\d"):
        lint_codes.read_page("../x")
