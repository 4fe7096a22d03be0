"""The hosts of a case at a glance, as the page words them."""

from __future__ import annotations

from typing import Any

from analyzer.case.asks import AskPiece, pieces

Doc = dict[str, Any]

HEAD = ("Hardware", "Memory")  # what the line of a folded card tells


def head(card: Doc) -> str:
    """Return what a host is, in one line."""
    texts = {row["title"]: [item["text"] for item in row["items"]] for row in card["rows"]}
    return "; ".join(", ".join(texts[title][:1]) for title in HEAD if texts.get(title))


def rows_shown(card: Doc) -> list[Doc]:
    """Return the rows of a card that tell something: also that a table was read and holds nothing."""
    return [row for row in card["rows"] if row["items"] or not row["missing"]]


def lacking(card: Doc) -> list[tuple[str, list[list[AskPiece]]]]:
    """Return what would fill the rest of a card: the title of each row, and what to ask for."""
    return [
        (row["title"], [pieces(ask) for ask in row["missing"]])
        for row in card["rows"]
        if row["missing"]
    ]
