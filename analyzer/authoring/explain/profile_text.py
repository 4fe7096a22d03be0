"""A profile as lines of text: what all rules share, then one row per rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.authoring.explain.explain_text import WORDS, Line
from analyzer.authoring.explain.profile import SLOW, Cost, Profile
from analyzer.runtime.text import one_line

_HEADS = (
    "rule",
    "total ms",
    "search",
    "judge",
    "subjects",
    "details",
    "rest",
    "rows",
    "log lines",
    "hits",
    "verdicts",
)
_MIB = 1 << 20


def lines(found: Profile, costs: Sequence[Cost]) -> Iterator[Line]:
    """Yield the shared times, the rows of `costs`, and what the columns are."""
    yield Line([("reading the case", "bold"), (f"  {found.read:.2f} s", "")])
    size = f"{found.log_bytes / _MIB:,.1f} MiB in one pass for {found.signatures} signatures"
    yield Line([("the logs", "bold"), (f"  {found.logs:.2f} s of it, {size}", "")])
    yield Line([("tables made ready", "bold"), (f"  {found.fill * 1000:.0f} ms", "")])
    judged = sum(cost.judge for cost in found.costs)
    yield Line([(f"{len(found.costs)} rules judged", "bold"), (f"  {judged:,.0f} ms", "")])
    yield Line([])
    if costs:
        yield from _table(costs)
        yield Line([])
    hidden = len(found.costs) - len(costs)
    if hidden:
        yield Line([(f"{hidden} rules below {SLOW:.0f} ms are left out; --all shows them.", "")])
    if any(cost.search for cost in costs):
        scaled = found.measured < found.log_bytes
        on = (
            f"the first {found.measured / _MIB:,.1f} MiB of them, scaled up"
            if scaled
            else "all of them"
        )
        yield Line(
            [
                (
                    f"search: its signatures by themselves over its logs ({on}); one pass serves all rules.",
                    "",
                )
            ]
        )
    yield Line(
        [
            (
                "judge: subjects are all verdicts, details what findings show, rest windows over log lines.",
                "",
            )
        ]
    )


def _table(costs: Sequence[Cost]) -> Iterator[Line]:
    rows = [_cells(cost) for cost in costs]
    widths = [max(len(row[place]) for row in [_HEADS, *rows]) for place in range(len(_HEADS))]
    for number, row in enumerate([_HEADS, *rows]):
        cells = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        cells = [row[0].ljust(widths[0]), *cells, row[-1]]
        yield Line([("  ".join(cells), "bold" if not number else "")], exact=True)


def _cells(cost: Cost) -> tuple[str, ...]:
    times = (cost.total, cost.search, cost.judge, cost.subjects, cost.details, cost.rest)
    counts = (cost.rows, cost.lines, cost.hits)
    verdicts = ", ".join(
        f"{count:,} {WORDS[name].lower()}" for name, count in cost.verdicts.items()
    )
    return (
        one_line(cost.rule),
        *(f"{time:,.1f}" for time in times),
        *(f"{count:,}" for count in counts),
        verdicts,
    )
