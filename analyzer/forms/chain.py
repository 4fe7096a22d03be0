"""Chains: tables that follow an object through other tables, declared link by link.

A chain begins with the rows of one table and looks up each further one by equal columns: the port of a VM, its
switch, the uplinks of that switch, their drivers. It is an outer join: a row whose next link is not there stays, its
further cells are unknown, and `missing_link` says which link that is and what to ask for. analyzer/facts/chains.py
makes the rows; no row is made before it is asked for.

    CHAIN = chain("esxi.vm_network", "…", Start("esxi.net_stats", take=(…), only=…), ChainLink("esxi.pnic", …), …)
    MADE = (CHAIN.table,)

The module is named after the table: `esxi.vm_network` is declared in parsers/esxi/vm/vm_network.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from analyzer.artefacts.tables import Column, Table, Value

Cells = Mapping[str, Value]

MISSING = Column(
    "missing_link",
    "str",
    "what could not be followed, and what would tell; empty: the chain is whole",
)


@dataclass(frozen=True, slots=True)
class Start:
    """The rows a chain begins with: one for each object, the last of those with one key.

    only     rows of the table that count
    renamed  column of the chain -> its column there, where the two have different names
    """

    table: str
    take: tuple[Column, ...]
    only: Callable[[Cells], bool] | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """Columns worked out of others: the volume of a path. They are not in the table unless `shown`.

    of  the columns they are worked out of: what these lack, they lack
    """

    of: tuple[str, ...]
    make: Callable[[Cells], Mapping[str, Value]]
    shown: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class Apart:
    """One row of the chain for each name in a column that lists them by commas; it becomes the column `into`."""

    names: str
    into: Column


@dataclass(frozen=True, slots=True)
class Source:
    """One table that can tell a link: a column of the chain -> the column it equals there.

    only     rows of the table that count
    renamed  column of the chain -> its column there, where the two have different names
    """

    table: str
    on: Mapping[str, str]
    only: Callable[[Cells], bool] | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The next link: the first of some sources that has a row gives its columns.

    many  each row of it makes one of the chain; otherwise it is one row, of those with one key the nearest
    ends  where this holds, the chain is whole without the link: an NFS datastore has no device
    """

    sources: tuple[Source, ...]
    take: tuple[Column, ...]
    many: bool = False
    ends: Callable[[Cells], bool] | None = None


Part = Made | Apart | ChainLink


@dataclass(frozen=True, slots=True)
class Chain:
    """A declared chain: its table, and how its rows are made."""

    table: Table
    start: Start
    parts: tuple[Part, ...]


def chain(
    name: str, meaning: str, start: Start, *parts: Part, key: Sequence[str], ask: str
) -> Chain:
    """Return a chain and its table: the columns of its links in their order, and `missing_link`.

    name  of the table, product.artefact
    key   columns that tell one row from another
    ask   what to request from a customer when nothing of it is there
    """
    columns = {column.name: column for column in start.take}
    sources = [start.table]
    for part in parts:
        added: tuple[Column, ...]
        if isinstance(part, Apart):
            added = (part.into,)
        elif isinstance(part, Made):
            added = part.shown
        else:
            added = part.take
            sources += [source.table for source in part.sources]
        for column in added:
            columns[column.name] = column
    made_of = tuple(dict.fromkeys(sources))
    table = Table(
        name=name,
        meaning=meaning,
        source=f"made of {', '.join(made_of)}",
        ask=ask,
        columns=(*columns.values(), MISSING),
        key=tuple(key),
        made_of=made_of,
    )
    return Chain(table, start, parts)
