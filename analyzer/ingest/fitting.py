"""Whether an output is of the form of a parser that only the name of its command speaks for."""

from __future__ import annotations

from analyzer.ingest.guarding import guarded
from analyzer.parsing import Parser
from analyzer.tables import Block, Row

BEGINNING = 30  # lines of an output that are looked at
LEAST = 20  # fewer lines may be a message, or a list of nothing


def fits(parser: Parser, begun: Block) -> bool:
    """Tell whether a parser makes a row of the first lines of an output; of a few lines it need not."""
    if sum(map(bool, map(str.strip, begun.lines))) < LEAST:
        return True
    return any(isinstance(item, Row) for item in guarded(parser, begun))
