"""The tables of a case as they were read, without judging it: rows, frames, origins.

For `backline tables` and the library; a log has a row for each line here, where a triage keeps only hits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from analyzer.artefacts import parsing
from analyzer.artefacts.logtime import is_stamped
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Row, Table, name_blocks
from analyzer.facts import Facts, made
from analyzer.facts.site_signs import SITE_SIGNATURES
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import resolve_nodes
from analyzer.pipeline.triage import Options, gather, read_case
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import LogScan, Signature
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from analyzer.sources.ledger import LOST
from analyzer.sources.remote import Place

if TYPE_CHECKING:
    import pandas as pd

_TOGETHER = 500  # lines of a log that are parsed at once, and more until the next head
ORIGIN = ("node", "_source", "_line")
NAMES = {"_source": "member", "_line": "line"}  # of the origin, where columns have plain names


def find_table(name: str) -> Table:
    """Return a table by its name; UsageError with the nearest name for one that no parser makes."""
    known = parsing.tables()
    if name not in known:
        near = get_close_matches(name, list(known), 1)
        raise UsageError(
            f"no parser makes table {name}",
            do=f"Did you mean {near[0]}?" if near else "`backline tables PATH` lists the tables.",
        )
    return known[name]


def plain_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose origin is called `node`, `member` and `line`; a column of such a name is `value_line`."""
    own = {}
    for name in NAMES.values():
        if name in frame.columns:
            own[name] = f"value_{name}"
    return frame.rename(columns=own).rename(columns=NAMES)


class CaseTables:
    """The tables of some paths, or of facts that were kept; read when first asked for.

    The material is read once for all outputs, and once more for each log that is asked for.
    """

    def __init__(self, paths: Sequence[Place], kept: Callable[[], Facts] | None = None) -> None:
        self._paths, self._kept = list(paths), kept
        self._facts: Facts | None = None
        self.lost: list[
            str
        ] = []  # what of the material could not be read, so that a table may lack rows

    def counts(self) -> dict[str, int]:
        """Return how many rows each table has that holds any, logs left out."""
        facts = self.read_all()
        found = {}
        for name, table in parsing.tables().items():
            if not table.log:
                found[name] = facts.count(name)
        return {name: count for name, count in sorted(found.items()) if count}

    def frame(self, name: str) -> pd.DataFrame:
        """Return a table: its origin (ORIGIN), then its columns, in the order of the case; UsageError for none."""
        table = find_table(name)
        if table.log and self._kept is not None:
            raise UsageError(
                f"{name} is a log, and a stored case keeps no whole logs",
                do="Open the bundle itself.",
            )
        if table.log:
            facts = self._read(name)
        else:
            facts = self.read_all()
        frame = facts.frame(name)
        return frame[
            [
                *[one for one in ORIGIN if one in frame.columns],
                *[column.name for column in table.columns],
            ]
        ]

    def read_all(self) -> Facts:
        """Return the facts of all tables, read at the first question."""
        if self._facts is None:
            if self._kept is not None:
                self._facts = self._kept()
            else:
                self._facts = self._read(None)
        return self._facts

    def _read(self, log_table: str | None) -> Facts:
        """Read the facts of the material, with the lines of one log if any."""
        _, ledger, facts = read_tables(self._paths, log_table)
        self.lost = list_losses(ledger)
        return facts


def list_losses(ledger: Ledger) -> list[str]:
    """Return what of the material could not be read, a line each: damage, limits, sources that were cut or refused."""
    damage = [f"{one.address}: {one.what}" for one in ledger.damage]
    limits = [f"{one.address}: more than {one.name}" for one in ledger.limits]
    sources = []
    for one in ledger.sources:
        if one.state in LOST:
            sources.append(f"{one.address}: {one.why}")
    return list(dict.fromkeys([*damage, *limits, *sources]))


def row_counts(intake: Intake, facts: Facts) -> Counter[str]:
    """Return how many rows each table has, those of samples and of chains as well."""
    rows: Counter[str] = Counter(row.table.name for row in intake.rows)
    rows += Counter({name: facts.count(name) for name in made.list_made_tables()})
    for frame in intake.frames:
        rows[frame.table.name] += len(frame.line)
    return rows


def read_tables(paths: Sequence[Place], log_table: str | None) -> tuple[Intake, Ledger, Facts]:
    """Read a case without judging it; of one log every line is taken as a hit."""
    if log_table:
        signatures = [Signature("every line", log_table, r"\S")]
    else:
        signatures = [*SITE_SIGNATURES]
    options = Options(limits=Limits(hits_per_signature=10_000_000))
    ledger, kinds = Ledger(), KindFinder()
    intake = read_case(paths, ledger, kinds, Scanner(signatures, limits=options.limits), options)
    facts = gather(intake, resolve_nodes(intake, kinds), ledger, every=True)
    made.put_tables(facts)
    if log_table:
        parser = next(
            item
            for item in parsing.registry().values()
            if item.log and item.tables[0].name == log_table
        )
        for scan in intake.scans:
            for row in read_rows(parser, scan):
                facts.add(row)
    return intake, ledger, facts


def read_rows(parser: Parser, scan: LogScan) -> Iterator[Row]:
    """Yield the rows of a log of which every line was kept."""
    for block in read_messages(scan):
        rows = [item for item in parser.parse(block) if isinstance(item, Row)]
        name_blocks(rows, lambda _scope: scan.node)
        yield from rows


def read_messages(scan: LogScan) -> Iterator[Block]:
    """Yield the lines of a log that was searched, those that continue a message together with its head.

    Where other logs wrote lines in between there are blank ones: the numbers stay those of the file.
    """
    lines: list[str] = []
    first = 0
    for hit in scan.hits:
        far = hit.line - first - len(lines)
        if lines and (
            (len(lines) >= _TOGETHER and is_stamped(hit.text.encode("utf-8", "replace")))
            or far > _TOGETHER
        ):
            yield Block(lines, first, scan.address, scan.scope)
            lines = []
        if not lines:
            first = hit.line
        lines += [""] * (hit.line - first - len(lines))
        lines.append(hit.text)
    if lines:
        yield Block(lines, first, scan.address, scan.scope)
