"""The paragraph on top of a comparison: findings, what lies between the captures, what changed, what counters did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.case.comparison import ComparedChange, ComparedCounter, Comparison, MachineStep
from analyzer.compare import sections
from analyzer.compare.story import (
    choose_counters,
    describe_rates,
    find_row,
    group_changes,
    list_renames,
    rank_section,
    write_left_over,
    write_memory,
)
from analyzer.compare.wording import (
    PHRASES,
    describe_stop,
    list_values,
    name_column,
    name_counter,
    name_with_machine,
)
from analyzer.report.comparison_words import (
    join_names,
    join_values,
    show_duration,
    show_percent,
    show_size,
    show_value,
)

MOST = 6  # sentences of one kind; the page has all of it below
FEW = 3
_RENAMED = "the same thing under another name"
_ANOTHER = "another card"
# What the sentences about names, cards and versions say already.
_SIZE = ("esxi.filesystem", "total_bytes")
_DESCRIBED = frozenset(
    (("esxi.release", "release"), ("esxi.release", "build"), ("esxi.release", "version"))
)


def write_summary(made: Comparison) -> str:
    """Return the conclusion in one paragraph: findings, what changed, what counters did, what it costs."""
    said = [count_findings(made), *describe_releases(made), *describe_events(made)]
    changes = []
    for some in group_changes(made):
        if not is_described(some[0], made.mode):
            changes.append(some)
    changes.sort(key=lambda some: (some[0].column not in PHRASES, rank_section(some[0])))
    phrased_changes = [some for some in changes if some[0].column in PHRASES]
    for some in (phrased_changes or changes)[:FEW]:
        said.append(f"{describe_change(some, made)}.")
    if len(changes) > FEW:
        shown = min(FEW, len(phrased_changes or changes))
        said.append(f"{len(changes) - shown:,} more changes follow.")
    counters = choose_counters(made)
    phrased_counters = [one for one in counters if one.column in PHRASES]
    for one in (phrased_counters or counters)[:FEW]:
        rate = describe_rate(one, made)
        said.append(f"{describe_counter(one, made)}{rate}.")
        for sentence in write_left_over(one, find_row(one, made)):
            if sentence.text.startswith("Only"):
                left = sentence.text.partition(":")[0]
                said.append(f"{left}.")
    for sentence in write_memory(made):
        amount = sentence.text.partition(" (")[0]
        said.append(f"{amount}.")
    return " ".join(filter(None, said))


def is_described(one: ComparedChange, mode: str) -> bool:
    """Say whether the sentences on names, cards, versions and sizes say a change already."""
    if mode == "hosts":
        return (one.table, one.column) in _DESCRIBED
    if one.note.startswith((_RENAMED, _ANOTHER)):
        return True
    if (one.table, one.column) in (*_DESCRIBED, _SIZE):
        return True
    return one.column in ("client_vm", "client_name")


def count_findings(made: Comparison) -> str:
    """Return how many findings have which state, and the first two of them that are new or worse."""
    words = ("new", "worse", "better", "gone", "cannot tell", "no longer judged", "same")
    counts = dict.fromkeys(words, 0)
    worst = []
    for one in made.findings:
        if one.muted:
            continue
        if one.state in counts:
            counts[one.state] += 1
        if one.state in ("new", "worse"):
            worst.append(one)
    if made.mode == "hosts":
        first_side = made.sides[0].name
        last_side = made.sides[-1].name
        counts = {
            f"only on {last_side}": counts["new"],
            f"only on {first_side}": counts["gone"],
            f"not judged on {last_side}": counts["no longer judged"],
            "on both": counts["same"] + counts["worse"] + counts["better"],
        }
    tallies = [f"{number:,} {word}" for word, number in counts.items() if number]
    said = "No finding on any side."
    if tallies:
        said = f"Findings: {', '.join(tallies)}."
    named = []
    for one in worst[:2]:
        if one.title in one.subject:
            named.append(one.subject)
        else:
            named.append(f"{one.title} ({one.subject})")
    if named:
        said += f" First of all: {'; '.join(named)}."
    return said


def describe_releases(made: Comparison) -> list[str]:
    """Return which release each machine had and has, with its build; of two hosts which one has which."""
    found: dict[str, dict[str, list[Any]]] = {}
    for one in made.changes:
        if (one.table, one.column) in _DESCRIBED:
            found.setdefault(one.machine, {})[one.column] = one.values
    said = []
    for machine, known in found.items():
        names = known.get("release") or known.get("version") or [None] * len(made.sides)
        builds = known.get("build") or [None] * len(names)
        releases = []
        for name, build in zip(names, builds, strict=True):
            releases.append(name_release(name, build))
        if made.mode == "hosts":
            sides = zip(made.sides, releases, strict=True)
            parts = []
            for side, text in sides:
                if text:
                    parts.append(f"{side.name} runs {text}")
            said.append("; ".join(parts) + ".")
        else:
            went = " to ".join(text for text in releases if text)
            said.append(f"{machine} went from {went}.")
    return said[:MOST]


def name_release(name: Any, build: Any) -> str:
    """Return the name of a release with its build."""
    if name and build:
        return f"{name} (build {build})"
    if name:
        return f"{name}"
    if build:
        return f"build {build}"
    return ""


def describe_events(made: Comparison) -> list[str]:
    """Return what lies between captures: names, boots, moves, cards, VMs and datastores that came or went."""
    if made.mode == "hosts":
        return []
    booted = (
        f"{machine.name} was rebooted {place_step(step, made)}."
        for machine in made.machines
        for step in machine.steps
        if step.state == "started again"
    )
    clocks = (
        f"The clock of {machine.name} was set {'forward' if step.clock_s > 0 else 'back'} "
        f"by {show_duration(abs(step.clock_s))} {place_step(step, made)}; it was not rebooted."
        for machine in made.machines
        for step in machine.steps
        if step.clock_s
    )
    moved = (
        f"{one.subject.partition(' (')[0]} moved from {one.machine}."
        for one in made.subjects
        if one.state == "moved"
    )
    replaced = (
        f"{one.subject.partition(' (')[0]} on {one.machine} was replaced by another of its name."
        for one in made.subjects
        if one.state == "replaced"
    )
    cards = (
        f"{one.subject} of {one.machine} is another card: {join_values(one.values)}."
        for one in made.changes
        if one.note.startswith(_ANOTHER)
    )
    sentences = [
        *(f"{text}." for text in list_renames(made)),
        *booted,
        *clocks,
        *moved,
        *replaced,
        *cards,
        *describe_renames(made),
        *describe_comings(made),
        *describe_sizes(made),
    ]
    sentences = list(dict.fromkeys(sentences))
    if len(sentences) <= MOST:
        return sentences
    return [
        *sentences[:MOST],
        f"{len(sentences) - MOST:,} more of such changes follow.",
    ]


def place_step(step: MachineStep, made: Comparison) -> str:
    """Return between which captures of a series a step lies."""
    sides = made.sides
    if len(sides) < 3:
        return "in between"
    begin = sides[step.from_side].name
    end = sides[step.to_side].name
    return f"between {begin} and {end}"


def describe_renames(made: Comparison) -> list[str]:
    """Return which NICs and VMs are called otherwise now."""
    nics: dict[str, list[str]] = {}
    vms: dict[str, None] = {}
    for one in made.changes:
        was = one.values[0]
        now = one.values[-1]
        if one.note.startswith(_RENAMED) and one.table == "esxi.pnic":
            nics.setdefault(one.machine, []).append(f"{was} is now {now}")
        elif (
            one.note.startswith(_RENAMED) and one.section == sections.VMS and one.was != one.subject
        ):
            vms[f"The VM {one.was} on {one.machine} is now called {one.subject}."] = None
    cards = []
    for machine, some in nics.items():
        cards.append(f"The same cards have other names on {machine}: {', '.join(some)}.")
    return [*cards, *vms]


def describe_comings(made: Comparison) -> list[str]:
    """Return the VMs and datastores that one side alone has, by machine."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for one in made.subjects:
        vm = one.section == sections.VMS and not {*one.tables}.isdisjoint(
            ("esxi.vm", "esxi.vm_process")
        )
        if one.state in ("new", "gone") and (vm or "esxi.filesystem" in one.tables):
            what = "datastore"
            if vm:
                what = "VM"
            if vm:
                name = one.subject
            else:
                name = one.subject.rpartition(" (")[0] or one.subject
            found.setdefault((one.machine, what, one.state), {})[name] = None
    said = []
    for (machine, what, state), names in found.items():
        verb = "is"
        if len(names) > 1:
            verb = "are"
        plural = ""
        if len(names) > 1:
            plural = "s"
        tail = "no longer on"
        if state == "new":
            tail = "new on"
        named = join_names([*names], FEW)
        said.append(f"The {what}{plural} {named} {verb} {tail} {machine}.")
    return said


def describe_sizes(made: Comparison) -> list[str]:
    """Return the datastores that have another size."""
    said = []
    for one in made.changes:
        known = [value for value in one.values if value is not None]
        if (one.table, one.column) == _SIZE and len(known) > 1:
            name = one.subject.rpartition(" (")[0] or one.subject
            verb = "shrank"
            if known[-1] > known[0]:
                verb = "grew"
            first = show_size(known[0], one.unit)
            last = show_size(known[-1], one.unit)
            went = f"{first} to {last}"
            said.append(f"The datastore {name} on {one.machine} {verb} from {went}.")
    return said


def describe_change(some: Sequence[ComparedChange], made: Comparison) -> str:
    """Return what changed of one thing, or of several that changed alike, as half a sentence."""
    one = some[0]
    if made.mode == "time" and (stop := describe_stop(one)):
        return f"{stop} on {one.machine}"
    unique = dict.fromkeys(each.subject for each in some if each.subject)
    subjects = join_names(list(unique), FEW)
    known = [show_size(value, one.unit) for value in one.values if value is not None]
    if one.column in PHRASES:  # the queues of one adapter are set together
        subjects = join_names(
            list(dict.fromkeys(each.subject.partition(", ")[0] for each in some)), FEW
        )
    if one.column in PHRASES and made.mode == "time":
        return capitalize_start(
            PHRASES[one.column].format(who=subjects or one.machine, was=known[0], now=known[-1]),
            subjects or one.machine,
        )
    if made.mode == "hosts":
        return capitalize_start(
            f"{name_column(one)}{f' of {subjects}' if subjects else ''}: {list_values(one, made)}"
        )
    if len(known) < 3:
        went = f"from {known[0]} to {known[-1]}"
    else:
        went = " → ".join(known)
    return capitalize_start(
        f"{name_column(one)} of {name_with_machine(subjects, one.machine)} went {went}"
    )


def describe_counter(one: ComparedCounter, made: Comparison) -> str:
    """Return what a counter was and is, as half a sentence: of a series each value."""
    values = [value for value in one.values if value is not None]
    name, whose = name_counter(one)
    if made.mode == "hosts":
        return capitalize_start(
            f"{name}{f' of {whose}' if whose else ''}: {list_values(one, made)}"
        )
    phrase = PHRASES.get(one.column)
    if phrase and len(values) == 2 and values[0] != values[1]:
        return capitalize_start(
            phrase.format(
                who=whose or one.machine, was=show_value(values[0]), now=show_value(values[-1])
            ),
            whose or one.machine,
        )
    if len({*values}) == 1:
        change_text = f"stayed at {show_value(values[0])}"
    else:
        change_text = f"went {show_course(values)}"
    return capitalize_start(f"{name} of {name_with_machine(whose, one.machine)} {change_text}")


def show_course(values: Sequence[Any]) -> str:
    """Return the values of a counter as they follow each other."""
    if len(values) > 2:
        return join_values(values)
    return f"from {show_value(values[0])} to {show_value(values[-1])}"


def describe_rate(one: ComparedCounter, made: Comparison) -> str:
    """Return what a counter did in relation to the time or the traffic, as the second half of a sentence."""
    step = one.steps[-1]
    if len(one.steps) > 1 and made.mode == "time":
        doubt = {"cannot tell": "cannot tell, ", "replaced": "another card counts, "}.get(
            step.verdict, ""
        )
        last = ""
        if step.verdict not in ("", "none"):
            last = f"; in the last interval {doubt}{step.because}"
        return f": {describe_rates(one.steps)}{last}"
    if step.known_shares is not None:
        word = {"better": "better", "worse": "worse", "same": "as before"}.get(
            one.verdict, "no proof yet"
        )
        new, old = (show_percent(share) for share in reversed(step.known_shares))
        if made.mode == "hosts":
            return f", {old} against {new} of {step.of_words}"
        if one.verdict == "replaced":
            return f", {new} instead of {old} of {step.of_words}, counted by another card"
        return f", {new} instead of {old} of {step.of_words}: {word}"
    word = "counted by another card"
    if one.verdict != "replaced":
        word = one.verdict
    return f": {word}, {step.because}"


def capitalize_start(text: str, name: str = "") -> str:
    """Return a sentence with a capital at its start, unless it starts with a name."""
    first = text.partition(" ")[0]
    if first.isalpha() and not (name and text.startswith(name)):
        return text[:1].upper() + text[1:]
    return text
