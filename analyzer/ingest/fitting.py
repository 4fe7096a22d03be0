"""Whether an output is of the form of a parser that only the name of its command speaks for."""

from __future__ import annotations

import re

from analyzer.ingest.guarding import guarded
from analyzer.parsing import Parser, may_record
from analyzer.tables import Block, Row

BEGINNING = 30  # lines of an output that are looked at
LEAST = 20  # fewer lines may be a message, or a list of nothing
# A first line of JSON, CSV, XML or named values, and the dashes of a table: forms that are not read by a template.
_IN_ANOTHER_FORM = re.compile(r"\s*[\[{<\"]|.*[,=]|\s*\w+\s+:")
_RULER = "--"


def fits(parser: Parser, begun: Block) -> bool:
    """Tell whether a parser makes a row of the first lines of an output; of a few lines it need not."""
    told = [line for line in begun.lines if line.strip()]
    if len(told) < LEAST:
        return True
    by_template = parser.template and not _IN_ANOTHER_FORM.match(told[0]) and not any(_RULER in line for line in told)
    if by_template and not may_record(parser, told):
        return False  # what the whole parser would say as well, ten times as slowly
    return any(isinstance(item, Row) for item in guarded(parser, begun))
