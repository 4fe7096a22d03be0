"""What a row of the catalog gives a finding: title, KB articles, text, source, what is not it, what explains it."""

from __future__ import annotations

from analyzer.judge.trace import TraceContext
from analyzer.tables import Value
from analyzer.verdicts import Finding


def fill_from_row(finding: Finding, why: TraceContext) -> None:
    """Put what the row behind `fact` says into a finding; without such a row it stays as the rule has it."""
    name = why.rule.fact
    row = why.detail.row(name) if name else None
    if row is None:
        return
    table = why.rule.aliases[name].table

    def cell(column: str) -> str:
        value: Value = why.facts.value(table.name, row, column)
        return "" if value is None else str(value)

    finding.id = " ".join(cell(column) for column in table.key)  # tells rows apart until the ids are made
    finding.title = cell("title") or finding.title
    finding.about = cell("text") or finding.about
    finding.kb = list(dict.fromkeys([*map(int, cell("kb").split()), *finding.kb]))
    finding.source = [f"{table.name}, {finding.id}: {cell('source')} ({cell('mark')})", *finding.source]
    finding.explained_by = cell("explained_by").split()  # rules, until findings are related to one another
    finding.not_this = [*filter(None, [cell("not_this")]), *finding.not_this]
