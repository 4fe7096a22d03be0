"""The card of each ESXi host: what it is, from the tables of the case. The rows are declared in `host_card_rows`.

A row whose table was not sent says what to ask for; one whose table was read and holds nothing says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from analyzer.artefacts import builds, parsing
from analyzer.artefacts.loghost import BOOT
from analyzer.artefacts.tables import Row, Table
from analyzer.facts import Facts, made
from analyzer.facts.records import LOSSY
from analyzer.pipeline.host_card_rows import ROWS, CardRow, Cells, Part
from analyzer.runtime.text import natural_key

Record = dict[str, Any]

ITEMS = 100  # of one row
BOOTS = 5
TEXT = 300  # characters of an item
END = 4  # characters of a serial number
COLUMN = re.compile(r"\{(?P<name>\w+)(?::(?P<how>[^}]*))?\}")


def host_cards(facts: Facts, nodes: Sequence[Record], events: Sequence[Record]) -> list[Record]:
    """Return one card for each ESXi host of which something is known, in the order of the nodes.

    nodes, events  records of the case document: version, uptime and capture; what the hosts say of their boots
    """
    cards = []
    made.put_tables(facts, {part.table for row in ROWS for part in row.parts})
    for node in nodes:
        if node["kind"] != "esxi":
            continue
        rows = [_row(facts, node["id"], row) for row in ROWS]
        if any(row["items"] for row in rows):
            cards.append(
                {"node": node["id"], "rows": [*_release(node), *_boots(node, events), *rows]}
            )
    return cards


def _release(node: Record) -> Iterator[Record]:
    """Yield version, patch level, and how old that was when the bundle was made."""
    build = str(node["build"])
    said = (
        [" ".join(filter(None, ["ESXi", node["version"], f"build {build}" if build else ""]))]
        if node["version"]
        else []
    )
    known = (
        builds.find_release("esxi", int(build)) if build.isdecimal() and len(build) < 12 else None
    )
    if said and known is not None and known.version == node["version"]:
        said.append(known.name)
        said += [f"released {known.date}{_age(known.date, node['captured'])}"] if known.date else []
    elif said and build:
        said.append("this build is in no list of public releases")
    yield _card_row(
        "Release", [_item(", ".join(said))] if said else [], [] if said else [_ask("esxi.version")]
    )


def _age(released: str, captured: str) -> str:
    try:
        days = (date.fromisoformat(captured[:10]) - date.fromisoformat(released)).days
    except ValueError:
        return ""
    return f", {days:,} days before the capture" if days >= 0 else ""


def _boots(node: Record, events: Sequence[Record]) -> Iterator[Record]:
    """Yield the uptime and the last boots, as uptime and vobd tell of them."""
    uptime, items = node["uptime_s"], []
    if isinstance(uptime, int | float):
        said = f"up {uptime / 86400:,.1f} days"
        if boot := _before(node["captured"], uptime):
            said += f", since {boot}"
        items.append(_item(said))
    mine = [one for one in events if one["node"] == node["id"] and BOOT in one["text"]]
    boots = sorted(mine, key=lambda one: (one["time"], one["address"], one["line"]), reverse=True)
    items += [
        _item(f"booted {_stamp(one['time'])}", one["address"], one["line"]) for one in boots[:BOOTS]
    ]
    yield _card_row(
        "Uptime and boots",
        items,
        [] if items else [_ask("esxi.uptime")],
        len(items) + len(boots[BOOTS:]),
    )


def _before(captured: str, seconds: float) -> str:
    try:
        return (datetime.fromisoformat(captured) - timedelta(seconds=seconds)).strftime(
            "%Y-%m-%d %H:%M UTC"
        )
    except (ValueError, OverflowError):
        return ""


def _stamp(time: str) -> str:
    return f"{time[:10]} {time[11:16]} UTC"


def _row(facts: Facts, node: str, row: CardRow) -> Record:
    """Return a row of the card; cells of the same object from several tables stand together."""
    items: dict[str, Record] = {}
    missing = []
    for part in row.parts:
        found = _rows(facts, node, part.table, every=part.only is not None)
        state = facts.coverage(node, part.table).state
        if state in LOSSY or not (found or state == "read"):
            missing.append(_ask(part.table))
        for one in found:
            if part.only is None or part.only(one.values):
                _add(items, row, part, one)
    some = [items[name] for name in sorted(items, key=natural_key)]
    return _card_row(row.title, some[:ITEMS], list(dict.fromkeys(missing)), len(some))


def _add(items: dict[str, Record], row: CardRow, part: Part, one: Row) -> None:
    name = "" if not row.by else str(one.values.get(row.by) or "")
    said = ", ".join(filter(None, (cell(text, one.values, one.table) for text in part.cells)))
    if not (said or name):
        return
    known = items.get(name)
    if known is None:
        items[name] = _item(said, one.block.address, one.line, name)
    else:
        known["text"] = _short(
            "; ".join(dict.fromkeys(filter(None, [*known["text"].split("; "), said])))
        )


def _rows(facts: Facts, node: str, table: str, *, every: bool) -> list[Row]:
    """Return the rows of a table on a node; of several with one key the last, which is the newest.

    Of a table without a key the last one is meant, or with `every` each.
    """
    if table not in facts.tables:
        return []
    store = facts.store(table)
    kept: dict[Any, Row] = {}
    for number, row in enumerate(store.rows):
        if row.block.node == node:
            key = (
                tuple(row.values.get(name) for name in store.table.key) if store.table.key else None
            )
            alone = every if key is None else None in key
            kept[number if alone else key] = row
    return list(kept.values())


def cell(text: str, values: Cells, table: Table) -> str:
    """Return a cell of the card, "" when a column of it is not known; see `host_card_rows`."""
    told: list[str] = []
    for found in COLUMN.finditer(text):
        value = values.get(found["name"])
        if value is None or value == "":
            return ""
        told.append(_said(value, found["how"], _unit(table, found["name"])))
    if len(told) == 1 and not told[0]:
        return ""
    parts = iter(told)
    return COLUMN.sub(lambda _: next(parts), text)


def _unit(table: Table, name: str) -> str:
    column = table.column(name)
    return column.unit if column is not None else ""


def _said(value: Any, how: str | None, unit: str) -> str:
    """Return a value as the card shows it."""
    if how == "end":
        return f"…{value[-END:]}" if len(str(value)) > END else str(value)
    yes, bar, no = (how or "").partition("|")
    if isinstance(value, bool):
        return (yes if value else no) if how else ("yes" if value else "no")
    if not isinstance(value, int | float):
        return str(value)
    if how:  # a word instead of the unit: before the number, or one for one and one for many
        return f"{value:,} {yes if value == 1 else no}" if bar else f"{yes} {value}"
    if unit == "bytes":
        return _bytes(value)
    return f"{value:,} {unit}" if unit else str(value)


def _bytes(number: float) -> str:
    """Return bytes in powers of 1024, as the clients of vSphere do."""
    for unit, step in (("TB", 2**40), ("GB", 2**30), ("MB", 2**20)):
        if number >= step:
            return f"{number / step:,.1f} {unit}"
    return f"{number:,} bytes"


def _ask(table: str) -> str:
    return parsing.tables()[table].ask


def _item(text: str, address: str = "", line: int = 0, name: str = "") -> Record:
    return {"name": _short(name), "text": _short(text), "address": address, "line": line}


def _short(text: str) -> str:
    """Return a text of the card; one that is cut says so."""
    return text if len(text) <= TEXT else f"{text[: TEXT - 2]} …"


def _card_row(
    title: str, items: list[Record], missing: list[str], total: int | None = None
) -> Record:
    return {
        "title": title,
        "items": items,
        "total": len(items) if total is None else total,
        "missing": missing,
    }
