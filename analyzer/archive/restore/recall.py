"""Restores stored cases: one case, many, or only the facts that one rule needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from analyzer.archive import documents
from analyzer.archive.documents import DamagedError, make_damaged_error
from analyzer.archive.entry import Stored
from analyzer.archive.packs.columns import BLOCKS, FRAMES, HITS, NODES, SCANS
from analyzer.archive.packs.encode import RECORDS
from analyzer.archive.packs.lossless import load_lossless
from analyzer.archive.restore.decode_facts import Revival
from analyzer.archive.restore.reading import Reading, open_cursor
from analyzer.archive.restore.searches import Searches, find_unsearched, rename_limits
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table
from analyzer.facts import Facts
from analyzer.ingest.timeline import TIMELINE_SIGNATURES
from analyzer.pipeline.case_data import CaseData
from analyzer.rules import Catalog, Rule
from analyzer.runtime.errors import BacklineError
from analyzer.scan.hits import Signature
from analyzer.sources.ledger import LOST

if TYPE_CHECKING:
    from analyzer.archive.store import Archive

__all__ = ["DamagedError", "find_unsearched", "recall_case", "recall_cases", "recall_facts"]

TOGETHER = 1000  # cases that are read at once
_LISTS = (
    "files",
    "nodes",
    "sources",
    "events",
    "topology",
    "faults",
    "damage",
    "limits",
    "advice",
    "notes",
    "problems",
    "harmless",
)
_KINDS: dict[str, type] = {
    **dict.fromkeys(_LISTS, list),
    "name": str,
    "created": str,
    "complete": bool,
}
_SYSTEM = (NODES, BLOCKS, SCANS, HITS, FRAMES)
_BROKEN = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    AssertionError,
)


def recall_case(archive: Archive, stored: Stored, signatures: Sequence[Signature]) -> CaseData:
    """Return all that was known of a case: `conclude` gives the bytes of its case.json again.

    signatures  those of the catalog that is to judge; one that was not searched for is noted in the logs
                (`LogScan.unsearched`), and rules that ask for it cannot tell
    Raises BacklineError when only a judgement is stored, GoneError, DamagedError.
    """
    return recall_cases(archive, [stored], signatures)[stored.id]


def recall_cases(
    archive: Archive, cases: Sequence[Stored], signatures: Sequence[Signature]
) -> dict[str, CaseData]:
    """Return the material of many cases by id; one question a table and holder, however many cases it has."""
    known = {one.id for one in signatures}
    searches = Searches([*signatures, *(one for one in TIMELINE_SIGNATURES if one.id not in known)])
    asked = _Asked(archive, [*parsing.tables().values()], searches, whole=True)
    found = {}
    for stored, records, own, has_other_names in asked.read_found(cases):
        material = CaseData(facts=own, **records)
        if has_other_names:
            material.limits = rename_limits(material.limits, own.scans)
            is_lost = any(source["state"] in LOST for source in material.sources)
            material.complete = not (material.damage or material.limits or is_lost)
        found[stored.id] = material
    return {stored.id: found[stored.id] for stored in cases}


def recall_facts(
    archive: Archive, cases: Sequence[Stored], rule: Rule | Sequence[Rule]
) -> dict[str, Facts]:
    """Return by id what one rule (or several) looks at: its tables and the lines of its logs, without lines of context.

    Enough for verdicts (`judge_cases(..., lean=True)`); evidence shows no text.
    """
    declared = parsing.tables()
    some = [rule] if isinstance(rule, Rule) else list(rule)
    tables = [
        declared[name]
        for name in sorted({name for one in some for name in one.tables()})
        if name in declared
    ]
    asked = _Asked(archive, tables, Searches(Catalog(some).signatures()), whole=False)
    found = {stored.id: own for stored, _, own, _ in asked.read_found(cases)}
    return {stored.id: found[stored.id] for stored in cases}


# Of each case: its records, its facts, and whether signatures of its logs are called otherwise now.
_Found = tuple[Stored, dict[str, Any], Facts, bool]


class _Asked:
    """One question to the archive, asked of many cases."""

    def __init__(
        self, archive: Archive, tables: Collection[Table], searches: Searches, *, whole: bool
    ) -> None:
        self.objects, self.tables, self.searches, self.whole = (
            archive.objects,
            tables,
            searches,
            whole,
        )

    def read_found(self, cases: Sequence[Stored]) -> Iterator[_Found]:
        """Yield each case with its records, its facts and the names of its signatures, those of one holder together."""
        cases = sorted(cases, key=_holder_key)
        for start in range(0, len(cases), TOGETHER):
            some = cases[start : start + TOGETHER]
            try:
                found = self._read_cases(some)
            except DamagedError:
                if len(some) == 1:
                    raise
                for one in some:  # the error shall name the one at fault
                    self._read_cases([one])
                raise
            yield from found

    def _read_cases(self, cases: Sequence[Stored]) -> list[_Found]:
        entries = []
        for stored in cases:
            if stored.facts is None:
                raise BacklineError(
                    "the facts of a case are not stored",
                    where=stored.id,
                    do="Read its source again: `backline batch --rescan`.",
                )
            entries.append(stored.facts)
        wanted = {*_SYSTEM, *(table.name for table in self.tables)}
        with (
            open_cursor() as con,
            Reading(self.objects, [*enumerate(entries)], wanted, con) as reading,
        ):
            revival = Revival(reading, self.tables, self.searches, whole=self.whole)
            bases = documents.texts_of(self.objects, entries, documents.BASE) if self.whole else {}
            try:
                found = revival.decode_facts()
                records = {entry: _read_records(text) for entry, text in bases.items()}
            except _BROKEN as error:
                raise make_damaged_error(
                    entries[0].holder, f"{type(error).__name__}: {error}"
                ) from error
        return [
            (stored, records.get(entry, {}), found[number], number in revival.renamed)
            for number, (stored, entry) in enumerate(zip(cases, entries, strict=True))
        ]


def _holder_key(stored: Stored) -> tuple[str, int]:
    entry = stored.facts or stored.judged
    return entry.holder, entry.place


def _read_records(text: str) -> dict[str, Any]:
    """Return the records of base.json; ValueError when some are missing or of another kind."""
    records = load_lossless(text)
    for key in ("notes", "problems", "harmless"):  # cases of earlier versions have none
        records.setdefault(key, [])
    kinds = [kind for kind in _KINDS if not isinstance(records[kind], _KINDS[kind])]
    if kinds or not all(
        isinstance(source, dict) and "state" in source for source in records["sources"]
    ):
        raise ValueError(f"base.json has something else under {', '.join(kinds) or 'sources'}")
    return {name: records[name] for name in RECORDS}
