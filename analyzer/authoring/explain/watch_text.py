"""One run of `rules watch` as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.authoring.explain import explain_text
from analyzer.authoring.explain.explain_text import Line
from analyzer.authoring.explain.watch import Proof, WatchRun
from analyzer.runtime.text import make_visible, one_line

SUBJECTS = 8  # subjects told besides the tree of one
WRONG = 3  # differences told of one failing example
COMPLAINTS = 3  # of the linter about a rule that can be judged


def lines(shown: WatchRun, width: int = 0) -> Iterator[Line]:
    """Yield a run: when it was, mistakes, verdicts, the tree of one subject, the examples, how long it took."""
    yield Line([(f"-- run {shown.number}: {one_line(shown.rule)}", "bold cyan")])
    for error in shown.errors if shown.state == "broken" else ():
        yield from _block(error, "bold red")
    if shown.state == "broken" and shown.explanation is None:
        yield Line([("the rule file cannot be used; nothing was judged yet", "bold red")])
        return
    if shown.state == "broken":
        yield Line(
            [("the rule file cannot be used; below is what it said before (stale)", "bold red")]
        )
    yield from _verdicts(shown, width)
    if shown.state == "broken":
        return
    yield from _examples(shown.examples)
    complaints = [
        *((error, "bold red") for error in shown.errors),
        *((said, "yellow") for said in shown.warnings),
    ]
    for said, style in complaints[:COMPLAINTS]:
        yield from _block(said, style)
    if len(complaints) > COMPLAINTS:
        yield Line(
            [
                (
                    f"and {len(complaints) - COMPLAINTS} more complaints, see `backline rules lint`",
                    "yellow",
                )
            ]
        )
    yield from _times(shown)


def _block(text: str, style: str) -> Iterator[Line]:
    """Yield a mistake as it is laid out: its caret stands below the line it points at."""
    first, *rest = make_visible(text).split("\n")
    yield Line([(first, style)], exact=True)
    yield from (Line([(line, "")], exact=True) for line in rest)


def _verdicts(shown: WatchRun, width: int) -> Iterator[Line]:
    explanation = shown.explanation
    if explanation is None:
        return
    yield from explain_text.lines(explanation, most=SUBJECTS, width=width)
    if shown.chosen is not None and shown.chosen.trace is not None:
        yield Line([])
        yield from explain_text.tree(shown.chosen.trace, shown.chosen.marks, width)
        yield Line([])


def _examples(proofs: list[Proof]) -> Iterator[Line]:
    good = sum(one.ok for one in proofs)
    style = "green" if good == len(proofs) else "bold red"
    yield Line([("examples: ", "bold"), (f"{good} of {len(proofs)} ok", style)])
    for one in proofs:
        if one.ok:
            continue
        yield Line([("failing  ", "bold red"), (one_line(one.name), "bold")], 2)
        wrong = one.wrong or (["it passes now: remove the mark `gap`"] if one.gap else [])
        yield from (Line([(one_line(word), "")], 4) for word in wrong[:WRONG])


def _times(shown: WatchRun) -> Iterator[Line]:
    if shown.reread:
        yield Line([(f"{shown.reread}.", "yellow")])
    read = f"case read in {shown.read_s:.2f} s; " if shown.read_s else ""
    yield Line(
        [
            (
                f"{read}judged in {shown.judge_ms:.0f} ms, examples in {shown.examples_ms:.0f} ms",
                "dim",
            )
        ]
    )
