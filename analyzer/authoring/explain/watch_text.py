"""One run of `rules watch` as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.authoring.explain import explain_text
from analyzer.authoring.explain.explain_text import Line, text_line
from analyzer.authoring.explain.watch import WatchRun
from analyzer.runtime.text import make_visible, one_line

SUBJECTS = 8  # subjects shown next to the tree of one
WRONG = 3  # differences shown of one failing example
COMPLAINTS = 3  # of the linter about a rule that can be judged


def write_lines(shown: WatchRun, width: int = 0) -> Iterator[Line]:
    """Yield a run: when it was, mistakes, verdicts, the tree of one subject, the examples, how long it took."""
    yield text_line(f"-- run {shown.number}: {one_line(shown.rule)}", "bold cyan")
    broken = shown.state == "broken"
    if broken:
        for error in shown.errors:
            yield from _write_mistake(error, "bold red")
        outcome = "below is what it said before (stale)"
        if shown.explanation is None:
            outcome = "nothing was judged yet"
        yield text_line(f"the rule file cannot be used; {outcome}", "bold red")
    if shown.explanation is not None:
        yield from explain_text.write_lines(shown.explanation, most=SUBJECTS, width=width)
    if shown.chosen is not None and shown.chosen.trace is not None:
        yield Line([])
        yield from explain_text.write_tree(shown.chosen.trace, shown.chosen.marks, width)
        yield Line([])
    if not broken:
        yield from _write_outcome(shown)


def _write_outcome(shown: WatchRun) -> Iterator[Line]:
    """Yield what the examples and the linter say of a rule that can be used, and how long it took."""
    good = sum(one.ok for one in shown.examples)
    style = "bold red"
    if good == len(shown.examples):
        style = "green"
    count = f"{good} of {len(shown.examples)} ok"
    yield Line([("examples: ", "bold"), (count, style)])
    for one in shown.examples:
        if one.ok:
            continue
        yield Line([("failing  ", "bold red"), (one_line(one.name), "bold")], 2)
        wrong = one.wrong
        if one.gap and not wrong:
            wrong = ["it passes now: remove the mark `gap`"]
        for word in wrong[:WRONG]:
            yield text_line(one_line(word), indent=4)
    complaints = [(error, "bold red") for error in shown.errors]
    complaints += [(warning, "yellow") for warning in shown.warnings]
    for complaint, style in complaints[:COMPLAINTS]:
        yield from _write_mistake(complaint, style)
    if len(complaints) > COMPLAINTS:
        yield text_line(
            f"and {len(complaints) - COMPLAINTS} more complaints, see `backline rules lint`",
            "yellow",
        )
    if shown.reread:
        yield text_line(f"{shown.reread}.", "yellow")
    read = ""
    if shown.read_s:
        read = f"case read in {shown.read_s:.2f} s; "
    yield text_line(
        f"{read}judged in {shown.judge_ms:.0f} ms, examples in {shown.examples_ms:.0f} ms", "dim"
    )


def _write_mistake(text: str, style: str) -> Iterator[Line]:
    """Yield a mistake as it is laid out: its caret is below the line it points at."""
    first, *rest = make_visible(text).split("\n")
    yield text_line(first, style, exact=True)
    yield from (text_line(line, exact=True) for line in rest)
