"""Reads a case once for the rule author's tools; the facts are those of a triage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from analyzer.artefacts.tables import Block
from analyzer.facts import Facts
from analyzer.ingest.nodes import resolve_nodes
from analyzer.pipeline import triage
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import Signature
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder


@dataclass(slots=True)
class CaseRead:
    """The facts of a case, the signatures its logs were searched for, and how long reading took.

    blocks  address -> the stretches of text that were parsed there
    lines   address and number -> a line of a log that a rule used as a row, once it was judged
    """

    facts: Facts
    signatures: tuple[Signature, ...] = ()
    seconds: float = 0.0
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    lines: dict[tuple[str, int], str] = field(default_factory=dict)

    def find_line(self, address: str, number: int) -> str:
        """Return a line of a parsed text, or of a log that is a row; "" where none is kept (samples)."""
        if (address, number) in self.lines:
            return self.lines[address, number]
        for block in self.blocks.get(address, ()):
            place = number - block.first_line
            if 0 <= place < len(block.lines):
                return block.lines[place]
        return ""


def read_case(
    paths: Sequence[Path],
    signatures: Sequence[Signature],
    *,
    limits: Limits | None = None,
    scanner: Scanner | None = None,
    into: Facts | None = None,
) -> CaseRead:
    """Read everything below `paths` as one case, its logs searched for `signatures` only.

    scanner  searches the logs in place of one made for the signatures
    into     takes the facts, in place of new ones

    Raises RefusedError when nothing could be read.
    """
    limits = limits or Limits()
    start = perf_counter()
    ledger, kinds = Ledger(), KindFinder()
    scanner = scanner or Scanner(signatures, limits=limits)
    intake = triage.read_case(paths, ledger, kinds, scanner, triage.Options(limits=limits))
    refused = triage.refuse_case(paths, ledger, intake, kinds)
    if refused:
        raise refused
    facts = triage.gather(intake, resolve_nodes(intake, kinds), ledger, into)
    blocks: dict[str, list[Block]] = {}
    for block in {id(row.block): row.block for row in intake.rows}.values():
        blocks.setdefault(block.address, []).append(block)
    return CaseRead(facts, tuple(signatures), perf_counter() - start, blocks)
