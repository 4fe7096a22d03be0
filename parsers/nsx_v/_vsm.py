"""What the logs of records in vsm.log share: the head of a line, and a parser that leaves all other lines alone."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Fault, Record, Table, Value
from analyzer.forms.logs import log_rows

HEAD = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (?:(?:GMT|UTC)[+-]\d\d:\d\d|[A-Z]{3,4}) "


def vsm_parser(
    name: str,
    table: Table,
    shape: str,
    word: str,
    finish: Callable[[Record, dict[str, Value]], None],
) -> Parser:
    """Return the parser of the records of one kind among the lines of vsm.log.

    shape  of the head of their lines; word: is in each of them, so that a line without it is no fault of theirs
    """

    def parse(block: Block) -> Output:
        found = log_rows(table, name, block, finish=finish)
        return [item for item in found if not (isinstance(item, Fault) and word not in item.text)]

    return Parser(
        name=name,
        tables=(table,),
        parse=parse,
        node="nsx_manager",
        shape=rf"^{shape}",
        body=rf"^{shape}",
        log=True,
    )
