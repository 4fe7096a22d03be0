"""The patterns a log was searched for when its case was read, matched to the rules of today.

A signature is known by its table, its pattern and whether it minds case; its name may change.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from analyzer.archive.packs.lossless import load_lossless
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import LogScan, Signature

Key = tuple[str, str, bool]  # table, pattern, ignore_case


@dataclass(slots=True)
class Names:
    """How the signatures of one log are called now.

    now         stored id -> ids of today, in order; none when no rule of today searches for it
    unsearched  ids of today that nothing was searched for
    order       ids of today -> place in the list of signatures
    same        True when all stored ids are still those of today
    """

    now: dict[str, list[str]] = field(default_factory=dict)
    unsearched: frozenset[str] = frozenset()
    order: dict[str, int] = field(default_factory=dict)
    same: bool = True


class Searches:
    """Maps the ids under which hits are stored to those of a catalog."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._by_table: defaultdict[str, dict[Key, list[str]]] = defaultdict(dict)
        self._order = {one.id: place for place, one in enumerate(signatures)}
        for one in signatures:
            self._by_table[one.table].setdefault(_signature_key(one), []).append(one.id)
        self._known: dict[tuple[str, str], Names] = {}

    @property
    def log_tables(self) -> set[str]:
        """The logs that signatures look at."""
        return set(self._by_table)

    def current_names(self, table: str, searched: str) -> Names:
        """Return the names of today for a log of a table, given the `_searched` it is stored with."""
        found = self._known.get((table, searched))
        if found is None:
            names_searched = _read_searched(searched)
            wanted = dict(self._by_table.get(table, {}))
            names = Names(order=self._order)
            for stored, pattern, ignore_case in names_searched:
                names.now[stored] = wanted.pop(
                    (table, pattern, ignore_case), []
                )  # of two of one pattern the first
                names.same = names.same and names.now[stored] == [stored]
            names.unsearched = frozenset(one for ids in wanted.values() for one in ids)
            found = self._known[table, searched] = names
        return found


@lru_cache(1024)
def _read_searched(text: str) -> list[list[Any]]:
    return [
        [str(name), str(pattern), bool(ignore_case)]
        for name, pattern, ignore_case in load_lossless(text)
    ]


def _signature_key(signature: Signature) -> Key:
    return signature.table, signature.pattern, signature.ignore_case


def find_unsearched(
    searched: Iterable[Sequence[Any]], signatures: Iterable[Signature]
) -> list[Signature]:
    """Return the signatures that were not searched for.

    searched  as meta.json tells it: [id, table, pattern, ignore_case]
    """
    known = {
        (str(table), str(pattern), bool(ignore_case)) for _, table, pattern, ignore_case in searched
    }
    return [one for one in signatures if _signature_key(one) not in known]


# `address: limit hits_per_signature=9 reached at 9; rule/name: …`, of a stopped one `address:line: limit …`
_LIMIT = re.compile(
    r"(?P<where>.*): limit (?P<limit>hits_per_signature|pattern_steps|pattern_total)=(?P<value>\d+) reached at \d+; ",
    re.DOTALL,
)


def rename_limits(limits: Sequence[str], scans: Sequence[LogScan]) -> list[str]:
    """Return the limits that were reached, those of signatures as the scans tell them under the names of today."""
    found = [(text, _LIMIT.match(text)) for text in limits]
    values = {match["limit"]: int(match["value"]) for _, match in found if match}
    own = replace(Limits(), **values)
    told: dict[tuple[str, str], list[str]] = {}
    seen: set[tuple[str, str]] = set()
    for scan in scans:
        for hit in scan.list_limits(own):
            if (
                hit.name in values and (hit.address, hit.name) not in seen
            ):  # as Ledger.add_limit: once for each place
                seen.add((hit.address, hit.name))
                told.setdefault((scan.address, _limit_kind(hit.name)), []).append(str(hit))
    logs = {scan.address for scan in scans}
    out: list[str] = []
    for text, match in found:
        # The address of the log: where a signature was stopped, the number of the line stands
        # behind it.
        address = (
            (
                match["where"]
                if _limit_kind(match["limit"]) == "capped"
                else match["where"].rpartition(":")[0]
            )
            if match
            else ""
        )
        if match and address in logs:
            out += told.pop((address, _limit_kind(match["limit"])), [])
        else:
            out.append(text)
    return out


def _limit_kind(limit: str) -> str:
    return "capped" if limit == "hits_per_signature" else "stopped"
