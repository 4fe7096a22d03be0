"""What a counter really did between two sides: its difference, its rate, its share of the traffic, and a verdict.

A value that only fell proves nothing. Where counting started again, each side is held against what passed since its
own start; where nothing says how long or how much that was, the verdict is "cannot tell".
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.artefacts.tables import Column, Table, Value
from analyzer.case.comparison import CounterChange
from analyzer.compare.resets import CounterStart
from analyzer.compare.subjects import ComparedSubject
from analyzer.signals.columns import list_meanings

_LOST = frozenset(
    ("crc", "missed", "fifo", "no_buffer")
)  # what a documented counter of a driver means
BETTER, WORSE = 0.8, 1.25  # own thresholds: shares within these bounds of each other count as equal
FEW = 5  # own threshold: of fewer events than this expected nothing is concluded


@dataclass(slots=True)
class CounterStep:
    """One counter over one step: its values, what passed next to it, and how long each counted.

    passed   traffic of the same row on both sides, None where it is not known; lasted: seconds since its own start
    fell     a counter of the same row fell: all of them start together
    hosts    the values are those of two hosts, none of them earlier
    """

    values: tuple[float, float]
    passed: tuple[float | None, float | None]
    lasted: tuple[float | None, float | None]
    seconds: float | None
    fell: bool = False
    hosts: bool = False


def is_bad(table: Table, column: Column, subject: ComparedSubject) -> bool:
    """Say whether more of it is worse, as its parser declares it: drops, errors, retries; else it counts what is done.

    A counter that one driver has alone and nobody documents changes without a verdict.
    """
    meaning = list_meanings(table).get(column.name)
    if meaning is None:
        return False
    sign = meaning.sign
    if sign.how != "named":
        return sign.how == "loss"
    if subject.value("meaning") in _LOST:
        return True
    declared = dict(sign.names).get(str(subject.value(sign.of)))
    return declared is not None and declared.how == "loss"


def find_whole(table: Table, column: str, *subjects: ComparedSubject) -> str:
    """Return the column of a row that counts what a counter of loss is a part of, "" when not all sides have it.

    It is the one that signals hold the loss against. Rows of a queue of a guest name their direction instead.
    """
    meaning = list_meanings(table).get(column)
    if meaning is None or meaning.sign.how != "loss":
        return ""
    whole = meaning.sign.of or f"ucast_pkts_{subjects[0].value('direction')}"
    if all(as_number(one.value(whole)) is not None for one in subjects):
        return whole
    return ""


def as_number(value: Value) -> float | None:
    """Return a cell as a number, None when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


def judge_step(span: CounterStep, start: CounterStart, *, bad: bool) -> CounterChange:
    """Return what a counter did from one side to the next.

    bad  more of it is worse: it gets a verdict
    """
    first, last = span.values
    start = start.after(fell=span.fell)
    made = CounterChange(state=start.state, why=start.why)
    if start.state != "started again":
        if span.fell:
            made.verdict, made.because = judge_fallen(start)
            return made
        made.difference = round_whole(last - first)
        if span.seconds and start.state == "went on":
            rate = (last - first) / span.seconds * 3600
            if rate >= 100:
                made.per_hour = round(rate)
            else:
                made.per_hour = round(rate, 3)
    now, earlier = count_portions(span, start)
    made.shares = [share_of(*earlier), share_of(*now)]
    if bad:
        verdict = _judge_portions(span, start, earlier, now)
        if start.state == "not known":
            anew = (last, span.passed[1], span.lasted[1])
            if_reset = _judge_portions(span, CounterStart("started again", ""), earlier, anew)
            verdict = weigh_doubt(verdict, if_reset, start.why)
        if start.another and verdict[0] != "none":
            verdict = "replaced", "the two cards count separately"
        made.verdict, made.because = verdict
    return made


Verdict = tuple[str, str]  # the word, and why


def weigh_doubt(verdict: Verdict, if_reset: Verdict, why: str) -> Verdict:
    """Return a verdict where nothing tells whether counting started again; `if_reset` is the one if it did."""
    words = ("better", "worse", "same")
    word, because = verdict
    if word not in words:
        return verdict
    if if_reset[0] == word:
        return word, f"{because}; this holds even if the counter was reset in between"
    if if_reset[0] in words:
        both = f"{word} if the counter went on, {if_reset[0]} if it was reset in between"
        return "cannot tell", f"{both}; {why}"
    return word, f"{because}; this holds only if the counter was not reset in between: {why}"


def judge_fallen(start: CounterStart) -> Verdict:
    """Return the verdict on a counter that fell although nothing says that it was reset."""
    if start.state == "went on":
        because = (
            f"it or a counter beside it fell, though {start.why}: it was cleared, its driver was reloaded, or it "
            "overflowed; the two values cannot be compared"
        )
    else:
        because = f"the counter was reset between the two, and it is not known why: {start.why}"
    return "cannot tell", because


Portion = tuple[float, float | None, float | None]  # events, what passed meanwhile, seconds


def count_portions(span: CounterStep, start: CounterStart) -> tuple[Portion, Portion]:
    """Return what was counted since the first side (or the new start), and before: events, what passed, how long."""
    first, last = span.values
    earlier = (first, span.passed[0], span.lasted[0])
    if start.state == "started again":
        return (last, span.passed[1], span.lasted[1]), earlier
    old, new = span.passed
    passed = None
    if old is not None and new is not None and new >= old:
        passed = new - old
    return (last - first, passed, span.seconds), earlier


def share_of(events: float, passed: float | None, _lasted: float | None = None) -> float | None:
    """Return the share of events in all that passed, None where that is not known."""
    if not passed:
        return None
    return round(events / (passed + events), 9)


def _judge_portions(
    span: CounterStep, start: CounterStart, earlier: Portion, now: Portion
) -> Verdict:
    """Return the verdict on a counter, by its share of the traffic or else of the time, and the reason."""
    first, last = span.values
    if first == 0 and now[0] == 0:
        return "none", "it stays at 0"
    if now[0] == 0 and now[1] == 0 and start.state != "started again":
        return "same", "there was no traffic in between"
    for place, what in ((1, "the traffic"), (2, "the time it counted")):
        old = earlier[place]
        new = now[place]
        if not old or new is None or (new == 0 and now[0]):
            continue  # of nothing that passed there is no share
        expected = earlier[0] * new / old
        if max(expected, now[0]) < FEW:
            return (
                "cannot tell",
                f"too little traffic since: {expected:.1f} events expected at the earlier rate",
            )
        if expected:
            ratio = now[0] / expected
        else:
            ratio = float("inf")
        word = "same"
        if ratio <= BETTER:
            word = "better"
        elif ratio >= WORSE:
            word = "worse"
        return word, describe_ratio(ratio, what, hosts=span.hosts)
    if start.state == "went on" and last == first:
        return "better", "it has not moved since the first capture"
    if start.state == "started again":
        return (
            "cannot tell",
            "the counter was reset, and it is not known how long each side counted",
        )
    more = "it stands still"
    if last > first:
        more = "it counted on"
    return "cannot tell", f"{more}, and its earlier rate is not known"


def describe_ratio(ratio: float, what: str, *, hosts: bool) -> str:
    """Return in words how much was counted relative to what passed."""
    if ratio == 0:
        return f"none {'there' if hosts else 'any more'}, relative to {what}"
    if BETTER < ratio < WORSE:
        return f"as much as {'on the other' if hosts else 'before'}, relative to {what}"
    if ratio == float("inf"):
        return f"there {'is none on the other' if hosts else 'was none before'}, relative to {what}"
    if ratio < 1:
        times = 1 / ratio
    else:
        times = ratio
    word = "less" if ratio < 1 else "more"
    return f"{times:,.1f} times {word}, relative to {what}"


def round_whole(number: float) -> float | int:
    """Return a whole number without a fraction."""
    if float(number).is_integer():
        return int(number)
    return round(number, 6)
