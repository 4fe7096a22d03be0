"""Changes by the cards of the hosts: all that a case.json tells of hardware, versions, networks, datastores and VMs."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.case.comparison import ComparedChange, Place
from analyzer.case.document import CardItem
from analyzer.compare.machines import ComparedMachine
from analyzer.compare.matching import Match
from analyzer.compare.sides import CaseSide

_MOVING = ("Uptime and boots",)


def card_changes(
    sides: Sequence[CaseSide], pairs: Sequence[Match[ComparedMachine]], mode: str
) -> list[ComparedChange]:
    """Return a change for each line of a card that reads otherwise on another side; lines of one side alone are left.

    mode  "hosts" leaves out the VMs: each host has its own
    """
    found = []
    for pair in pairs:
        cards = []
        for side, machine in zip(sides, pair.on, strict=True):
            cards.append(find_card(side, machine))
        for place in dict.fromkeys(place for card in cards for place in card):
            items = [card.get(place) for card in cards]
            texts = [item.text if item is not None else None for item in items]
            if len({text for text in texts if text is not None}) < 2 or (
                mode == "hosts" and place[0].startswith("VM")
            ):
                continue
            at: list[Place | None] = []
            for item in items:
                if item is not None and item.address:
                    at.append(Place(item.address, item.line))
                else:
                    at.append(None)
            found.append(
                ComparedChange(
                    table="",
                    column="",
                    meaning="",
                    unit="",
                    machine=pair.last.name,
                    subject=place[1] or place[0],
                    was="",
                    values=texts,
                    at=at,
                    section=place[0],
                    difference=None,
                    note="",
                )
            )
    return found


def find_card(side: CaseSide, machine: ComparedMachine | None) -> dict[tuple[str, str], CardItem]:
    """Return the items of a machine's card by title of the row and name of the item."""
    if machine is None:
        return {}
    cards = []
    for card in side.document.hosts:
        if card.node in (machine.key, machine.name):
            cards.append(card)
    return {
        (row.title, item.name): item
        for card in cards
        for row in card.rows
        if row.title not in _MOVING
        for item in row.items
    }
