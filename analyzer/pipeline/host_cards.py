"""The card of each ESXi host: what it is, from the tables of the case. The rows are declared in `host_card_rows`.

A row whose table was not sent says what to ask for; one whose table was read and holds nothing says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from analyzer.artefacts import builds, logtime, parsing
from analyzer.artefacts.loghost import BOOT
from analyzer.artefacts.tables import Row, Table
from analyzer.case.document import CardItem, CardRow, HostCard
from analyzer.facts import Facts, made
from analyzer.facts.records import LOSSY
from analyzer.pipeline.host_card_rows import ROWS, Cells, Part, RowForm
from analyzer.runtime.text import natural_key

ITEMS = 100  # of one row
BOOTS = 5
TEXT = 300  # characters of an item
END = 4  # characters of a serial number
COLUMN = re.compile(r"\{(?P<name>\w+)(?::(?P<how>[^}]*))?\}")


def host_cards(
    facts: Facts, nodes: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]]
) -> list[HostCard]:
    """Return one card for each ESXi host of which something is known, in the order of the nodes.

    nodes, events  records of the case document: version, uptime and capture; what the hosts say of their boots
    """
    cards = []
    made.put_tables(facts, {part.table for row in ROWS for part in row.parts})
    for node in nodes:
        if node["kind"] != "esxi":
            continue
        rows = [fill_row(facts, node["id"], row) for row in ROWS]
        if any(row.items for row in rows):
            rows = [describe_release(node), describe_boots(node, events), *rows]
            cards.append(HostCard(node=node["id"], rows=rows))
    return cards


def describe_release(node: Mapping[str, Any]) -> CardRow:
    """Return version, patch level, and how old that was when the bundle was made."""
    version = node["version"]
    build = str(node["build"])
    if not version:
        return make_card_row("Release", [], [parsing.tables()["esxi.version"].ask])
    words = ["ESXi", version]
    if build:
        words.append(f"build {build}")
    parts = [" ".join(words)]
    known = None
    if build.isdecimal() and len(build) < 12:
        known = builds.find_release("esxi", int(build))
    if known is not None and known.version == version:
        parts.append(known.name)
        if known.date:
            age = measure_age(known.date, node["captured"])
            parts.append(f"released {known.date}{age}")
    elif build:
        parts.append("this build is in no list of public releases")
    return make_card_row("Release", [make_item(", ".join(parts))])


def measure_age(released: str, captured: str) -> str:
    """Return in words how old a release was when the host was captured."""
    try:
        days = (date.fromisoformat(captured[:10]) - date.fromisoformat(released)).days
    except ValueError:
        return ""
    if days >= 0:
        return f", {days:,} days before the capture"
    return ""


def describe_boots(node: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> CardRow:
    """Return the uptime and the last boots, as uptime and vobd tell of them."""
    uptime = node["uptime_s"]
    items = []
    if isinstance(uptime, int | float):
        text = f"up {uptime / 86400:,.1f} days"
        boot = logtime.moment_before(node["captured"], uptime)
        if boot is not None:
            text += f", since {boot:%Y-%m-%d %H:%M UTC}"
        items.append(make_item(text))
    boots = []
    for one in events:
        if one["node"] == node["id"] and BOOT in one["text"]:
            boots.append(one)
    boots.sort(key=lambda one: (one["time"], one["address"], one["line"]), reverse=True)
    for one in boots[:BOOTS]:
        time = one["time"]
        text = f"booted {time[:10]} {time[11:16]} UTC"
        items.append(make_item(text, one["address"], one["line"]))
    missing = []
    if not items:
        missing = [parsing.tables()["esxi.uptime"].ask]
    hidden = len(boots[BOOTS:])
    return make_card_row("Uptime and boots", items, missing, len(items) + hidden)


def fill_row(facts: Facts, node: str, row: RowForm) -> CardRow:
    """Return a row of the card; cells of the same object from several tables stand together."""
    items: dict[str, CardItem] = {}
    missing = []
    for part in row.parts:
        found = find_rows(facts, node, part.table, every=part.only is not None)
        state = facts.coverage(node, part.table).state
        if state in LOSSY or not (found or state == "read"):
            missing.append(parsing.tables()[part.table].ask)
        for one in found:
            if part.only is None or part.only(one.values):
                add_cells(items, row, part, one)
    some = [items[name] for name in sorted(items, key=natural_key)]
    return make_card_row(row.title, some[:ITEMS], list(dict.fromkeys(missing)), len(some))


def add_cells(items: dict[str, CardItem], row: RowForm, part: Part, one: Row) -> None:
    """Add the cells that one row of a table gives to the item of its object."""
    name = ""
    if row.by:
        name = str(one.values.get(row.by) or "")
    cells = [fill_cell(text, one.values, one.table) for text in part.cells]
    text = ", ".join(cell for cell in cells if cell)
    if not (text or name):
        return
    known = items.get(name)
    if known is None:
        items[name] = make_item(text, one.block.address, one.line, name)
    else:
        parts = [part for part in (*known.text.split("; "), text) if part]
        known.text = cut_text("; ".join(dict.fromkeys(parts)))


def find_rows(facts: Facts, node: str, table: str, *, every: bool) -> list[Row]:
    """Return the rows of a table on a node; of several with one key the last, which is the newest.

    Of a table without a key the last one is meant, or with `every` each.
    """
    if table not in facts.tables:
        return []
    store = facts.store(table)
    kept: dict[Any, Row] = {}
    for number, row in enumerate(store.rows):
        if row.block.node != node:
            continue
        if store.table.key:
            key = tuple(row.values.get(name) for name in store.table.key)
            kept[number if None in key else key] = row
        else:
            kept[number if every else None] = row
    return list(kept.values())


def fill_cell(text: str, values: Cells, table: Table) -> str:
    """Return a cell of the card, "" when a column of it is not known; see `host_card_rows`."""
    shown: list[str] = []
    for found in COLUMN.finditer(text):
        value = values.get(found["name"])
        if value is None or value == "":
            return ""
        column = table.column(found["name"])
        shown.append(show_value(value, found["how"], column.unit if column is not None else ""))
    if len(shown) == 1 and not shown[0]:
        return ""
    parts = iter(shown)
    return COLUMN.sub(lambda _: next(parts), text)


def show_value(value: Any, how: str | None, unit: str) -> str:
    """Return a value as the card shows it."""
    if how == "end":
        if len(str(value)) > END:
            return f"…{value[-END:]}"
        return str(value)
    yes, bar, no = (how or "").partition("|")
    if isinstance(value, bool):
        if not how:
            if value:
                return "yes"
            return "no"
        if value:
            return yes
        return no
    if not isinstance(value, int | float):
        return str(value)
    if how and bar:  # a word instead of the unit: one for one and one for many
        return f"{value:,} {yes if value == 1 else no}"
    if how:  # before the number
        return f"{yes} {value}"
    if unit == "bytes":
        return show_bytes(value)
    if unit:
        return f"{value:,} {unit}"
    return str(value)


def show_bytes(number: float) -> str:
    """Return bytes in powers of 1024, as the clients of vSphere do."""
    for unit, step in (("TB", 2**40), ("GB", 2**30), ("MB", 2**20)):
        if number >= step:
            return f"{number / step:,.1f} {unit}"
    return f"{number:,} bytes"


def make_item(text: str, address: str = "", line: int = 0, name: str = "") -> CardItem:
    """Return an item of the card; texts that are too long are cut."""
    return CardItem(name=cut_text(name), text=cut_text(text), address=address, line=line)


def cut_text(text: str) -> str:
    """Return a text of the card; one that is cut says so."""
    if len(text) <= TEXT:
        return text
    return f"{text[: TEXT - 2]} …"


def make_card_row(
    title: str, items: list[CardItem], missing: Sequence[str] = (), total: int | None = None
) -> CardRow:
    """Return a row of the card; `total` counts items that it does not hold as well."""
    return CardRow(
        title=title,
        items=items,
        total=len(items) if total is None else total,
        missing=list(missing),
    )
