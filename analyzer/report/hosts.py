"""The hosts of a case at a glance, as the page words them."""

from __future__ import annotations

from analyzer.case.asks import AskPiece, pieces
from analyzer.report.wording import Doc

HEAD = ("Hardware", "Memory")  # what the line of a folded card tells


def describe_card(card: Doc) -> str:
    """Return what a host is, in one line."""
    texts = {row["title"]: [item["text"] for item in row["items"]] for row in card["rows"]}
    return "; ".join(", ".join(texts[title][:1]) for title in HEAD if texts.get(title))


def list_card_rows(card: Doc) -> list[Doc]:
    """Return the rows of a card that tell something: also that a table was read and holds nothing."""
    return [row for row in card["rows"] if row["items"] or not row["missing"]]


def list_card_gaps(card: Doc) -> list[tuple[str, list[list[AskPiece]]]]:
    """Return what would fill the rest of a card: the title of each row, and what to ask for."""
    return [
        (row["title"], [pieces(ask) for ask in row["missing"]])
        for row in card["rows"]
        if row["missing"]
    ]
