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
    size = f"{found.log_bytes / _MIB:,.1f} MiB in one pass for {found.signatures} signatures"
    judged = sum(cost.judge for cost in found.costs)
    times = {
        "reading the case": f"{found.read:.2f} s",
        "the logs": f"{found.logs:.2f} s of it, {size}",
        "tables made ready": f"{found.fill * 1000:.0f} ms",
        f"{len(found.costs)} rules judged": f"{judged:,.0f} ms",
    }
    for what, time in times.items():
        yield Line([(what, "bold"), (f"  {time}", "")])
    yield Line([])
    if costs:
        yield from _write_table(costs)
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


def _write_table(costs: Sequence[Cost]) -> Iterator[Line]:
    """Yield the costs under their heads, numbers on the right of their columns."""
    rows = [list(_HEADS)]
    for cost in costs:
        row = [one_line(cost.rule)]
        for time in (cost.total, cost.search, cost.judge, cost.subjects, cost.details, cost.rest):
            row.append(f"{time:,.1f}")
        for count in (cost.rows, cost.lines, cost.hits):
            row.append(f"{count:,}")
        verdicts = [f"{count:,} {WORDS[name].lower()}" for name, count in cost.verdicts.items()]
        row.append(", ".join(verdicts))
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    style = "bold"
    for name, *numbers, verdict in rows:
        cells = [name.ljust(widths[0])]
        for number, width in zip(numbers, widths[1:-1], strict=True):
            cells.append(number.rjust(width))
        yield text_line("  ".join([*cells, verdict]), style, exact=True)
        style = ""
