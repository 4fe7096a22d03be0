"""A profile as lines of text: what all rules share, then one row per rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.authoring.explain.explain_text import WORDS, Line, text_line
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


def write_lines(found: Profile, costs: Sequence[Cost]) -> Iterator[Line]:
    """Yield the shared times, the rows of `costs`, and what the columns are."""
    yield Line([("reading the case", "bold"), (f"  {found.read:.2f} s", "")])
    size = f"{found.log_bytes / _MIB:,.1f} MiB in one pass for {found.signatures} signatures"
    yield Line([("the logs", "bold"), (f"  {found.logs:.2f} s of it, {size}", "")])
    yield Line([("tables made ready", "bold"), (f"  {found.fill * 1000:.0f} ms", "")])
    judged = sum(cost.judge for cost in found.costs)
    yield Line([(f"{len(found.costs)} rules judged", "bold"), (f"  {judged:,.0f} ms", "")])
    yield Line([])
    if costs:
        rows = []
        for cost in costs:
            times = (cost.total, cost.search, cost.judge, cost.subjects, cost.details, cost.rest)
            counts = (cost.rows, cost.lines, cost.hits)
            parts = []
            for name, count in cost.verdicts.items():
                parts.append(f"{count:,} {WORDS[name].lower()}")
            verdicts = ", ".join(parts)
            rows.append(
                (
                    one_line(cost.rule),
                    *(f"{time:,.1f}" for time in times),
                    *(f"{count:,}" for count in counts),
                    verdicts,
                )
            )
        widths = []
        for place in range(len(_HEADS)):
            widths.append(max(len(row[place]) for row in [_HEADS, *rows]))
        for number, row in enumerate([_HEADS, *rows]):
            cells = []
            for cell, width in zip(row[1:-1], widths[1:-1], strict=True):
                cells.append(cell.rjust(width))
            cells = [row[0].ljust(widths[0]), *cells, row[-1]]
            yield text_line("  ".join(cells), "bold" if not number else "", exact=True)
        yield Line([])
    hidden = len(found.costs) - len(costs)
    if hidden:
        yield text_line(f"{hidden} rules below {SLOW:.0f} ms are left out; --all shows them.")
    if any(cost.search for cost in costs):
        on = "all of them"
        if found.measured < found.log_bytes:
            on = f"the first {found.measured / _MIB:,.1f} MiB of them, scaled up"
        yield text_line(
            f"search: its signatures by themselves over its logs ({on}); one pass serves all rules."
        )
    yield text_line(
        "judge: subjects are all verdicts, details what findings show, rest windows over log lines."
    )
