"""The conclusion: what an engineer would say of a comparison in a few sentences, each with the places it rests on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from analyzer.case.comparison import (
    Appearance,
    ComparedChange,
    ComparedCounter,
    ComparedFinding,
    Comparison,
    CounterChange,
    MachinePair,
    MachineStep,
    Place,
    Sentence,
    SidePlace,
)
from analyzer.compare import sections
from analyzer.compare.wording import PLAIN, describe_stop, list_values, name_column, name_counter
from analyzer.report.comparison_words import (
    join_values,
    show_duration,
    show_percent,
    show_size,
    show_value,
)
from analyzer.runtime.text import count_noun

T = TypeVar("T")
MOST = 6  # sentences of one kind; the page has all of it below
# A counter that is the sum of others: which of them is left says where the rest comes from.
_PARTS = {"out_of_buffers": {"ring1_full": "ring #1", "ring2_full": "ring #2"}}
_MEMORY = ("mem_used_net_kb", "mem_used_kb")
_TOTALS = frozenset(("rx_errors", "tx_errors"))  # shown where no single kind of error is all of it
_IN_SUM = frozenset(name for parts in _PARTS.values() for name in parts)
# The verdicts of rows, news first; what came or went is less than what is better or worse.
ORDER = (
    "new", "worse", "better", "gone", "replaced", "added", "removed", "away", "moved", "rebooted", "clock set",
    "unknown", "reset", "changed", "cannot tell", "unchanged",
)  # fmt: skip
# What a counter or a thing is called in a row; another card counts is "replaced".
VERDICTS = {
    "worse": "worse", "better": "better", "cannot tell": "cannot tell", "replaced": "replaced", "same": "unchanged",
    "new": "added", "gone": "removed", "gone for a time": "away",
}  # fmt: skip
_WEIGHTY = (sections.VMS, sections.VERSIONS, sections.NETWORK, sections.STORAGE)
WHERE = "they are listed in compare.html, compare.md and compare.json"
_WEIGHT = {"worse": 0, "better": 1, "cannot tell": 2, "replaced": 2, "same": 3}
_WORDS = {
    "better": "Better", "worse": "Worse", "same": "The same", "cannot tell": "Cannot tell",
    "replaced": "Counted by another card",
}  # fmt: skip


def list_renames(made: Comparison) -> list[str]:
    """Return which machines have another name on the last side."""
    renames = []
    for machine in made.machines:
        if machine.names[0] and machine.names[0] != machine.name:
            renames.append(
                f"{machine.names[0]} is now {machine.name} (paired by {machine.paired_by})"
            )
    return renames


def write_conclusion(made: Comparison) -> list[Sentence]:
    """Return the sentences of the conclusion: text, and the places it rests on."""
    news = [
        *write_findings(made),
        *write_appearances(made),
        *write_resets(made),
        *write_counters(made),
        *write_samples(made),
        *write_changes(made),
        *write_memory(made),
    ]
    return [
        write_subject(made),
        *sorted(news, key=lambda one: ORDER.index(one.verdict)),
        *write_unjudged(made),
        *write_stayed(made, changed=bool(news)),
        *write_uncompared(made),
    ]


def make_sentence(text: str, *places: Iterable[Place | None], **row: Any) -> Sentence:
    """Return a sentence; each list of places has one for each side, `row` is what stands of it in the front table."""
    at = []
    for some in places:
        for side, place in enumerate(some):
            if place is not None:
                at.append(SidePlace(place.address, place.line, side))
    return Sentence(text, at, **row)


def write_subject(made: Comparison) -> Sentence:
    """Return the sentence on what is compared, and how far apart the captures are."""
    names = [side.name for side in made.sides]
    kinds: defaultdict[str, int] = defaultdict(int)
    for machine in made.machines:
        if sum(name is not None for name in machine.names) > 1:
            kinds[machine.kind] += 1
    words = {"esxi": "host", "guest": "guest"}
    parts = []
    for kind, number in sorted(kinds.items()):
        parts.append(count_noun(number, words.get(kind, kind.replace("_", " "))))
    paired = ", ".join(parts)
    if made.mode == "hosts":
        return make_sentence(
            f"{' and '.join(names)} are different hosts; below is what differs between them."
        )
    lengths: dict[int, float] = {}
    for machine in made.machines:
        for step in machine.steps:
            if step.seconds:
                lengths[step.from_side] = max(step.seconds, lengths.get(step.from_side, 0))
    spans = [show_duration(length) for _, length in sorted(lengths.items())]
    times = {side.captured for side in made.sides}
    if len(spans) > 1 and len({*spans}) == 1:
        when = f"{spans[0]} lie between each pair of captures."
    elif spans:
        when = f"{', then '.join(spans)} lie between the captures."
    elif len(times) < len(names) and "" not in times:
        when = "Both sides have the same capture time, so there are no rates."
    else:
        when = "The capture times are not known, so there are no rates."
    both = "both sides" if len(names) == 2 else "more than one side"
    text = f"{' → '.join(names)}: {paired or 'no machine'} on {both}. {when}"
    others = list_renames(made)
    if others:
        text += f" {'; '.join(others)}."
    return make_sentence(text)


def write_findings(made: Comparison) -> list[Sentence]:
    """Return sentences on what became of the findings."""
    by: defaultdict[str, list[ComparedFinding]] = defaultdict(list)
    for one in made.findings:
        if not one.muted:
            by[one.state].append(one)
    said = []
    first_side = made.sides[0].name
    last_side = made.sides[-1].name
    words = {"new": "New", "worse": "Worse", "better": "Better", "gone": "Gone"}
    words["cannot tell"] = "Cannot tell"
    words["replaced"] = "Replaced"
    if made.mode == "hosts":
        words["new"] = f"Only on {last_side}"
        words["gone"] = f"Only on {first_side}"
        words["worse"] = f"Worse on {last_side}"
        words["better"] = f"Better on {last_side}"
    for state, word in words.items():
        said += list_state(by[state], word, made)
    return said


def write_unjudged(made: Comparison) -> list[Sentence]:
    """Return sentences on the findings that the last side could not have shown: they are neither gone nor there."""
    word = "No longer judged"
    if made.mode == "hosts":
        word = f"Not judged on {made.sides[-1].name}"
    some = [one for one in made.findings if one.state == "no longer judged" and not one.muted]
    return list_state(some, word, made)


def list_state(some: Sequence[ComparedFinding], word: str, made: Comparison) -> list[Sentence]:
    """Return a sentence for each of the first findings of a state, and how many more there are."""
    said = []
    for one in cut_list(some):
        what = one.subject if one.title in one.subject else f"{one.title}, {one.subject}"
        if one.state == "no longer judged":
            what += f", because {one.why}" if one.why else ""
        elif one.why:
            what += f" ({one.why})"
        text = f"{word}: {what}."
        if one.state in ("new", "worse", "better"):
            last = next(side for side in reversed(one.on) if side is not None)
            text += f" {last.say}"
        places = [side.at if side is not None else None for side in one.on]
        who = name_place(made, one.machine, one.subject.replace(one.title, "").strip(" ,:"))
        row = {"verdict": one.state, "who": who, "what": one.title}
        said.append(make_sentence(text, places, **row, went=show_severities(one)))
    verdict = some[0].state if some else ""
    return said + write_rest(count_cut(some), f"findings that are {word.lower()}", verdict)


def name_place(made: Comparison, machine: str, subject: str) -> str:
    """Return what a row is about: a thing with its machine, unless that is the only one of its kind."""
    kinds = Counter(one.kind for one in made.machines)
    alone = any(kinds[one.kind] == 1 for one in made.machines if one.name == machine)
    if subject and (alone or made.mode == "hosts" or machine in subject):
        return subject
    return ", ".join(filter(None, (machine, subject)))


def show_severities(one: ComparedFinding) -> str:
    """Return the severity of a finding on each side that has it, once where it stayed."""
    known = dict.fromkeys(side.severity for side in one.on if side is not None)
    return " → ".join(known)


def write_stayed(made: Comparison, *, changed: bool) -> list[Sentence]:
    """Return what stayed, and that nothing else changed in what was compared."""
    said = []
    same = [one for one in made.findings if one.state == "same" and not one.muted]
    if same:
        text = describe_same(len(same), made)
        said.append(make_sentence(text, verdict="same", what=text, count=len(same)))
    if not made.findings:
        said.append(make_sentence("No side has a finding."))
    if made.mode == "time":
        word = "Nothing else changed" if changed else "Nothing changed"
        said.append(
            make_sentence(
                f"{word} in what was compared; measured values and counts of work are not counted."
            )
        )
    return said


def describe_same(count: int, made: Comparison) -> str:
    """Return the sentence on the findings that all sides have: `2 findings stayed as before.`"""
    findings = count_noun(count, "finding")
    if made.mode != "hosts":
        return f"{findings} stayed as before."
    verb = "is" if count == 1 else "are"
    where = "on both" if len(made.sides) == 2 else "on all sides"
    return f"{findings} {verb} {where}."


def write_rest(more: int, what: str, verdict: str) -> list[Sentence]:
    """Return a sentence on how many more there are than are listed."""
    if more == 0:
        return []
    row = {"verdict": verdict, "what": f"{more:,} more {what}", "count": more}
    return [make_sentence(count_rest(more, what), **row)]


def count_cut(some: Sequence[Any], most: int = MOST) -> int:
    """Return how many things `cut_list` leaves out."""
    return len(some) - len(cut_list(some, most))


def cut_list(some: Sequence[T], most: int = MOST) -> Sequence[T]:
    """Return the first things of a list: a line that counts one more would take as much room as that one."""
    return some if len(some) == most + 1 else some[:most]


def count_rest(more: int, what: str) -> str:
    """Return how many more there are of a list that was cut, and where they stand."""
    return f"{more:,} more {what} are listed in compare.html, compare.md and compare.json."


def write_resets(made: Comparison) -> list[Sentence]:
    """Return sentences on clocks, on counters that were reset, and on machines of which no one knows it."""
    if made.mode == "hosts":
        return []
    with_counters = {counter.machine for counter in made.counters}
    resets: dict[str, Sentence] = {}
    unknown: list[Sentence] = []
    clocks: list[Sentence] = []
    for machine in made.machines:
        for step in machine.steps:
            at = place_by_side(step, step.at, made)
            name = machine.name
            if step.clock_s:
                way = f"{'+' if step.clock_s > 0 else '-'}{show_duration(abs(step.clock_s))}"
                row = {"verdict": "clock set", "who": name, "went": way}
                clocks.append(make_sentence(f"Clock set. {name}: {step.why}.", at, **row))
            elif step.state == "started again":
                row = {"verdict": "rebooted", "who": name, "went": show_uptimes(machine, step)}
                text = f"Counter reset. {name}: {step.why}."
                resets.setdefault(step.why, make_sentence(text, at, **row))
            elif step.state == "not known" and (name in with_counters or step.unsure):
                text = f"It is unknown whether {name} was rebooted in between: {step.why}."
                if step.unsure:
                    text = f"{name}: {step.why}. Nothing tells which."
                row = {
                    "verdict": "unknown",
                    "who": name,
                    "what": step.unsure or "rebooted in between or not",
                }
                unknown.append(
                    make_sentence(f"{text} Its counters may have been reset.", at, **row)
                )
    for counter in made.counters:
        for change in counter.steps:
            if change.state == "started again":
                who = ", ".join(filter(None, (counter.machine, counter.subject)))
                at = place_by_side(change, change.why_at, made)
                place = name_place(made, counter.machine, counter.subject)
                row = {"verdict": "reset", "who": place, "what": change.why.partition(": ")[0]}
                text = f"Counter reset. {who}: {change.why}."
                resets.setdefault(change.why, make_sentence(text, at, **row))
    return [
        *cut_list(clocks),
        *write_rest(count_cut(clocks), "clocks that were set", "clock set"),
        *cut_list(unknown),
        *write_rest(count_cut(unknown), "machines of which it is unknown", "unknown"),
        *cut_list([*resets.values()]),
        *write_rest(count_cut([*resets]), "counter resets", "reset"),
    ]


def show_uptimes(machine: MachinePair, step: MachineStep) -> str:
    """Return how long a machine was up at both ends of a step."""
    ups = [machine.uptime_s[step.from_side], machine.uptime_s[step.to_side]]
    known = [show_duration(up) for up in ups if up is not None]
    return f"up {' → '.join(known)}" if known else ""


def place_by_side(
    step: MachineStep | CounterChange, at: Sequence[Place], made: Comparison
) -> list[Place | None]:
    """Return the places that tell of a step, each at its side: the one it begins with and the one it ends with."""
    places: list[Place | None] = [None] * len(made.sides)
    sides = [step.from_side, step.to_side]
    if (
        len(at) == 1 and "of the earlier side" in step.why
    ):  # the row of the later one is all there is
        sides = [step.to_side]
    for side, place in zip(sides, at, strict=False):
        places[side] = place
    return places


def group_changes(made: Comparison) -> list[list[ComparedChange]]:
    """Return changes that read alike on one machine together, by section; measured values are none of them."""
    grouped: defaultdict[tuple[Any, ...], list[ComparedChange]] = defaultdict(list)
    for one in made.changes:
        if one.section != sections.MEASURED:
            key = (one.section, one.table, one.column, repr(one.values), one.machine)
            grouped[key].append(one)
    return sorted(grouped.values(), key=lambda some: (rank_section(some[0]), -len(some)))


def rank_section(one: ComparedChange) -> int:
    """Return the place of the section of a change."""
    known = sections.SECTIONS
    if one.section in known:
        return known.index(one.section)
    return len(known)


def write_changes(made: Comparison) -> list[Sentence]:
    """Return sentences on what changed, without measured values."""
    ranked = group_changes(made)
    word = "Changed"
    if made.mode == "hosts":
        word = "Differs"
    said = []
    for some in cut_list(ranked, 2 * MOST):
        one = some[0]
        subjects = [each.subject for each in some if each.subject]
        who = "; ".join(subjects[:3]) + (
            f" and {len(subjects) - 3:,} more" if len(subjects) > 3 else ""
        )
        if who:
            where = f"{one.machine}, {who}"
        else:
            where = one.machine
        note = ""
        if one.note:
            note = f" ({one.note})"
        if made.mode == "hosts":
            whose = f" of {who}" if who else ""
            what = f"{name_column(one)}{whose}: {list_values(one, made)}"
        else:
            what = f"{name_column(one)} {list_values(one, made)}: {where}".strip()
        if made.mode == "time" and describe_stop(one):
            what = f"{one.machine}: {describe_stop(one)}"
        places = [each.at for each in some[:3]]
        row = {
            "verdict": "changed",
            "who": name_place(made, one.machine, who),
            "what": name_column(one),
        }
        row["went"] = show_course(one.values, made, one.unit)
        said.append(make_sentence(f"{word}: {what}{note}.", *places, **row))
    return said + write_rest(count_cut(ranked, 2 * MOST), "changes", "changed")


def choose_counters(made: Comparison) -> list[ComparedCounter]:
    """Return the counters of drops and errors that say something, weightiest first; parts of a sum follow their sum."""
    bad = [one for one in made.counters if one.bad and one.verdict not in ("none", "")]
    kinds = {identify_thing(one) for one in bad if one.column not in _TOTALS}
    main = [
        one
        for one in bad
        if one.column not in _IN_SUM
        and not (one.column in _TOTALS and identify_thing(one) in kinds)
    ]
    return sorted(
        main,
        key=lambda one: (_WEIGHT.get(one.verdict, 9), rank_column(one.column), -measure_size(one)),
    )


def identify_thing(one: ComparedCounter) -> tuple[Any, ...]:
    """Return what two counters have in common of which one is all of the other."""
    return one.table, one.machine, one.subject, tuple(one.values)


def rank_column(column: str) -> int:
    """Return the place of a column among those with a plain name."""
    if column in PLAIN:
        return [*PLAIN].index(column)
    return len(PLAIN)


def find_row(one: ComparedCounter, made: Comparison) -> dict[str, ComparedCounter]:
    """Return the counters of one row by their column."""
    place = (one.table, one.machine, one.subject)
    some = (each for each in made.counters if (each.table, each.machine, each.subject) == place)
    return {each.column: each for each in some}


def write_counters(made: Comparison) -> list[Sentence]:
    """Return sentences on the counters of drops and errors."""
    main = choose_counters(made)
    said = []
    for one in cut_list(main):
        name, whose = name_counter(one)
        row = {"verdict": VERDICTS[one.verdict], "who": name_place(made, one.machine, whose)}
        row["what"] = name
        row["went"] = show_counted(one, made)
        said.append(make_sentence(write_counter(one, made), one.at, **row))
        for left in write_left_over(one, find_row(one, made)):
            said[-1].text += f" {left.text}"
            said[-1].at += left.at
    return said + count_counters(main[len(cut_list(main)) :])


def count_counters(rest: Sequence[ComparedCounter]) -> list[Sentence]:
    """Return a sentence for each verdict on how many more counters have it."""
    counts = Counter(VERDICTS[one.verdict] for one in rest)
    said = []
    for verdict, more in counts.items():
        what = f"counters of errors and drops are {verdict}"
        row = {"verdict": verdict, "what": f"{more:,} more counters", "count": more}
        said.append(make_sentence(f"{more:,} more {what}: {WHERE}.", **row))
    return said


def show_counted(one: ComparedCounter, made: Comparison) -> str:
    """Return what a counter did, in the figures that its verdict rests on: shares, else its values."""
    shares = one.steps[-1].known_shares
    if shares is None:
        return show_course(one.values, made, one.unit)
    return joint_of(made).join(map(show_percent, shares))


def joint_of(made: Comparison) -> str:
    """Return what stands between the values of the sides: nothing went anywhere from one host to another."""
    return " against " if made.mode == "hosts" else " → "


def show_course(values: Sequence[Any], made: Comparison, unit: str = "") -> str:
    """Return the values of the sides in one row."""
    return joint_of(made).join(show_size(value, unit) for value in values if value is not None)


def measure_size(one: ComparedCounter) -> float:
    """Return the largest value of a counter."""
    return float(max((value for value in one.values if value is not None), default=0))


def write_counter(one: ComparedCounter, made: Comparison) -> str:
    """Return in a sentence what a counter was and is, its share or its rate, and the verdict."""
    step = one.steps[-1]
    name, whose = name_counter(one)
    if made.mode == "hosts":
        who = whose
    else:
        who = ", ".join(filter(None, (one.machine, whose)))
    if who:
        text = f"{who}: {name} {list_values(one, made)}"
    else:
        text = f"{name} {list_values(one, made)}"
    shares = step.known_shares
    if len(one.steps) > 1 and made.mode == "time":
        text += f" ({describe_rates(one.steps)})"
        if shares is not None:
            before, now = map(show_percent, shares)
            text += f"; in the last interval {now} of {step.of_words}, {before} before"
    elif shares is not None:
        since = ", before and since"
        if step.state == "started again" or made.mode == "hosts":
            since = ""
        between = " → "
        if made.mode == "hosts":
            between = " against "
        both = between.join(map(show_percent, shares))
        text += f" ({both} of {step.of_words}{since})"
    elif step.per_hour is not None:
        text += f" ({show_value(step.per_hour)} an hour)"
    word = _WORDS[one.verdict]
    if made.mode == "hosts":
        word = {
            "better": f"Less on {made.sides[-1].name}",
            "worse": f"More on {made.sides[-1].name}",
        }.get(one.verdict, word)
    return f"{text}. {word}: {step.because}."


def describe_rates(steps: Sequence[CounterChange]) -> str:
    """Return what a counter did from each capture of a series to the next: `1.0 an hour, then 30.0 an hour`."""
    parts = []
    for step in steps:
        if step.state == "started again":
            parts.append("counting started again")
        elif step.per_hour is not None:
            parts.append(f"{show_value(step.per_hour)} an hour")
        elif step.difference is None:
            parts.append("not known")
        else:
            parts.append(f"{show_value(step.difference)} more")
    return ", then ".join(parts)


def write_left_over(one: ComparedCounter, row: dict[str, ComparedCounter]) -> list[Sentence]:
    """Say which part of a sum is left: `only ring #2 still runs full`."""
    left = []
    texts = []
    places = []
    total: float = 0
    for column, name in _PARTS.get(one.column, {}).items():
        part = row.get(column)
        if part is None:
            continue
        last = part.values[-1] or 0
        total += last
        if last:
            left.append(name)
        texts.append(f"{name} ran full {join_values(part.values)} times")
        places.append(part.at)
    if not texts:
        return []
    parts = "; ".join(texts)
    text = f"Of these, {parts}."
    if len(left) == 1 and len(texts) > 1 and total == one.values[-1]:
        text = f"Only {left[0]} still runs full: {parts}."
    return [make_sentence(text, *places)]


def write_samples(made: Comparison) -> list[Sentence]:
    """Return sentences on the metrics of esxtop that are better or worse."""
    changed = [one for one in made.samples if one.verdict in ("better", "worse")]
    said = []
    for one in cut_list(changed):
        means = [side.mean for side in one.on if side is not None]
        worst = [side.worst for side in one.on if side is not None]
        who = ", ".join(text for text in (one.machine, one.subject) if text)
        name = one.printed or one.meaning
        went = f"{show_course(means, made)} {one.unit}"
        row = {"verdict": one.verdict, "who": name_place(made, one.machine, one.subject)}
        row |= {"what": name, "went": went}
        if made.mode == "hosts":
            text = (
                f"{name}: on average {' against '.join(map(show_value, means))} {one.unit} (worst "
            )
            text += (
                f"{' against '.join(map(show_value, worst))}), by esxtop. {made.sides[-1].name} is "
            )
            said.append(
                make_sentence(
                    f"{text}{one.verdict} in these minutes; another load may be the reason.",
                    one.at,
                    **row,
                )
            )
            continue
        text = f"{who}: {name} {join_values(means)} {one.unit} on average (worst {join_values(worst)}), by esxtop. "
        text += f"{one.verdict.capitalize()} in these minutes; another load may be the reason."
        said.append(make_sentence(text, one.at, **row))
    left_out = changed[len(cut_list(changed)) :]
    better = [one for one in left_out if one.verdict == "better"]
    worse = [one for one in left_out if one.verdict == "worse"]
    return [
        *said,
        *write_rest(len(worse), "metrics of esxtop that are worse", "worse"),
        *write_rest(len(better), "metrics of esxtop that are better", "better"),
    ]


def write_memory(made: Comparison) -> list[Sentence]:
    """Return sentences on the memory of guests."""
    said: list[tuple[str, Sentence]] = []
    for column in _MEMORY:
        for one in made.changes:
            if (
                one.table == "guest.memory"
                and one.column == column
                and one.difference is not None
                and one.machine not in [machine for machine, _ in said]
            ):
                less = one.difference < 0
                size = abs(one.difference) / 1024
                if size >= 10:
                    amount = f"{size:,.0f} MB"
                else:
                    amount = f"{size:,.1f} MB"
                more = "more"
                if less:
                    more = "less"
                text = (
                    f"{one.machine} uses {amount} {more} guest memory ({'-' if less else '+'}{amount}): "
                    f"{name_column(one)} {join_values(one.values)} kB."
                )
                row = {"verdict": "changed", "who": one.machine, "what": "guest memory in use"}
                row["went"] = f"{show_course(one.values, made)} kB"
                said.append((one.machine, make_sentence(text, one.at, **row)))
    return [sentence for _, sentence in said]


def write_appearances(made: Comparison) -> list[Sentence]:
    """Return sentences on what came, went or moved."""
    words = {
        "moved": "moved",
        "replaced": "was replaced: what has its name now has other marks (UUID, MAC address)",
        "gone": "is no longer there",
        "new": "is new",
        "gone for a time": "was gone for a time",
    }
    if made.mode == "hosts":
        words |= {
            "gone": f"is only on {made.sides[0].name}",
            "new": f"is only on {made.sides[-1].name}",
        }
    whole = {
        (one.machine, one.subject, one.state)
        for one in made.subjects
        if one.section == sections.VMS
    }
    others = [one for one in made.subjects if not is_part(one, whole)]
    others.sort(key=lambda one: one.section not in _WEIGHTY)
    said = []
    for state, word in words.items():
        some = [one for one in others if one.state == state]
        verdict = VERDICTS.get(state, state)
        shown = [one for one in some if state in ("moved", "replaced") or one.section in _WEIGHTY]
        for one in cut_list(shown):
            row = {"verdict": verdict, "who": one.machine, "what": one.subject}
            said.append(make_sentence(f"{one.machine}: {one.subject} {word}.", one.at, **row))
        said += write_rest(len(some) - len(cut_list(shown)), f"things that were {verdict}", verdict)
    return said


def is_part(one: Appearance, whole: Collection[tuple[str, str, str]]) -> bool:
    """Say whether it is a port or an adapter of a VM that came or went itself."""
    names = {one.subject.rpartition(" (port ")[0], one.subject.rpartition(", ")[0]}
    for name in names:
        if name and (one.machine, name, one.state) in whole:
            return True
    return False


def write_uncompared(made: Comparison) -> list[Sentence]:
    """Return a sentence on the tables that one side lacks."""
    if not made.uncompared:
        return []
    tables = {one.table for one in made.uncompared}
    some = ", ".join(sorted(tables)[:4])
    more = ""
    if len(tables) > 4:
        more = f" and {len(tables) - 4:,} more"
    text = f"Not compared, because one side lacks them: {some}{more}. They may have changed all the same."
    row = {"verdict": "not compared", "what": f"tables: {some}{more}", "count": len(tables)}
    return [make_sentence(text, **row)]
