"""What of the things that rules ask for is in a case already, on each machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from analyzer.artefacts import parsing
from analyzer.case.asks import AskItem
from analyzer.facts import Facts

_BUNDLE = "vm-support"
_BATCH = "esxtop -b"
_CAPTURE = (
    "esxtop.capture"  # one row for each batch capture; what was pasted from the screen has none
)
_BAD = frozenset({"cut", "damaged", "refused", "unknown"})
_READ = frozenset({"read", "searched"})


class GivenThings:
    """Tells of the machines of a case, by the names that verdicts give them, what they sent."""

    def __init__(
        self, facts: Facts, nodes: Iterable[Mapping[str, Any]], sources: Iterable[Any]
    ) -> None:
        self._facts = facts
        self._keys: dict[str, list[str]] = {}
        for key in facts.nodes:
            self._keys.setdefault(facts.name(key), []).append(key)
        self._bundles = {node.get("id") for node in nodes if node.get("bundle")}
        self._files: dict[str, set[str]] = {}
        self._hurt: set[str] = set()
        for source in sources:
            address, state, node = (
                read_value(source, name) for name in ("address", "state", "node")
            )
            if state in _BAD:
                self._hurt.add(node)
            elif state in _READ:
                name = re.split(r"[/!\\]", address)[-1]
                self._files.setdefault(node, set()).add(name)

    def was_sent(self, item: AskItem, node: str) -> bool:
        """Say whether a machine sent a thing whole; for no machine, whether one of the case did."""
        if node:
            keys = self._keys.get(node, [])
        else:
            keys = list(self._facts.nodes)
        return any(self.has_sent(item, key) for key in keys)

    def has_sent(self, item: AskItem, key: str) -> bool:
        """Say whether one machine sent a thing whole."""
        if item.command and item.what == _BUNDLE:
            if key not in self._bundles:
                return False
            if key in self._hurt:
                return False
            return self._facts.nodes[key].complete
        if item.blank:
            return False
        if not item.command:
            name = item.what.rpartition("/")[2]
            if "rotated" in item.remark:
                return False
            if not name:
                return False
            return name in self._files.get(key, ())
        return any(self.was_read_whole(table, key) for table in find_tables(item.what))

    def was_read_whole(self, table: str, key: str) -> bool:
        """Say whether a table of a machine was read without a loss."""
        there = self._facts.has_rows(table, key) or self._facts.coverage(key, table).state == "read"
        return there and not self._facts.lossy(key, table)


def read_value(source: Any, name: str) -> str:
    """Return a text of a source, a dictionary or an object."""
    if isinstance(source, Mapping):
        found = source.get(name)
    else:
        found = getattr(source, name, "")
    return str(found or "")


@cache
def find_tables(command: str) -> frozenset[str]:
    """Return the tables that the output of a command fills."""
    if command.startswith(_BATCH):
        return frozenset({_CAPTURE})
    tables = parsing.tables().values()
    return frozenset(
        table.name for table in tables if not table.log and f"`{command}`" in table.ask
    )
