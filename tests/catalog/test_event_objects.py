"""Every event that the catalog knows: two objects are two subjects, and the end of one never ends the other.

A sweep over all rows of the table of events, with two events each that differ in their object alone.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

from analyzer import rules
from analyzer.artefacts.tables import Block, Row
from analyzer.case.verdicts import Finding
from analyzer.ingest.problems import EVENT, classify_problem
from analyzer.judge import judge
from analyzer.merged_log import event_levels
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Example
from analyzer.rules.language.rulefile import FileSpan
from parsers.esxi.logs import esx_event
from tests.kit.event_texts import HOST_WIDE, forms_of, names_of

FACTS = Path(__file__).parents[2] / "analyzer" / "kb" / "facts"


def event_rows() -> list[dict[str, str]]:
    """Return the rows of the table of events."""
    with (FACTS / "esxi_event.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


ROWS = event_rows()
SWEPT = [(row, form) for row in ROWS for form in forms_of(row["event_id"])]


def line_of(event_id: str, text: str, *, second: int = 0) -> str:
    """Return a line of vobd.log."""
    minute, rest = divmod(second, 60)
    return f"2023-05-10T{8 + minute // 60:02}:{minute % 60:02}:{rest:02}.201Z: [madeUpCorrelator] {864_000_000_000 + second * 1_000_000}us: [{event_id}] {text}"


def objects_of(lines: list[str]) -> list[str]:
    """Return the objects of the events in lines of vobd.log."""
    rows = [
        item for item in esx_event.parse_block(Block(lines, 1, "vobd.log")) if isinstance(item, Row)
    ]
    return [str(row.values["object"]) for row in rows]


def test_most_events_are_about_an_object() -> None:
    """The sweep below is no empty one: most rows are swept, and what is not is about the whole host."""
    swept = {row["event_id"] for row, _ in SWEPT}

    assert len(swept) > 150
    assert all(
        row["event_id"].removeprefix("esx.problem.").startswith(HOST_WIDE)
        for row in ROWS
        if row["event_id"] not in swept
    )


def test_two_objects_are_two_subjects() -> None:
    """Of each row: two events that differ in the object have two objects, each the one that its text names."""
    wrong: defaultdict[str, list[str]] = defaultdict(list)
    for row, form in SWEPT:
        found = objects_of(
            [line_of(row["event_id"], form.text.format(thing)) for thing in form.things]
        )
        right = all(name in thing for name, thing in zip(names_of(form), found, strict=True))
        if not right or found[0] == found[1]:
            wrong[f"{form.text} -> {found}"].append(row["event_id"])

    assert not wrong, report_of(wrong)


def test_the_end_of_an_event_has_its_object() -> None:
    """Of each row with an end: both texts of one object name it by one name, else nothing would end or the wrong thing."""
    wrong: defaultdict[str, list[str]] = defaultdict(list)
    for row, form in SWEPT:
        if not row["clear_id"] or not form.end:
            continue
        for thing in form.things:
            lines = [
                line_of(row["event_id"], form.text.format(thing)),
                line_of(row["clear_id"], form.end.format(thing)),
            ]
            found = objects_of(lines)
            if len(set(found)) != 1:
                wrong[f"{form.text} / {form.end} -> {found}"].append(row["event_id"])

    assert not wrong, report_of(wrong)


def test_each_row_with_an_end_has_a_text_of_its_end() -> None:
    """A form without the text of its end would let its rows go unswept."""
    bare = {row["event_id"] for row, form in SWEPT if row["clear_id"] and not form.end}

    assert bare == set()


def test_the_list_of_problems_tells_the_same_objects() -> None:
    """What the host itself calls a problem is counted by the same object as the rule of events counts it."""
    wrong = []
    for row, form in SWEPT:
        if row["event_id"].startswith("esx.audit."):  # the host does not call it a problem
            continue
        line = line_of(row["event_id"], form.text.format(form.things[0]))
        found = classify_problem(EVENT, line)
        if found is None or (found.thing or esx_event.NO_OBJECT) != objects_of([line])[0]:
            wrong.append((row["event_id"], found))

    assert not wrong


def test_every_audit_row_is_looked_for() -> None:
    """The pattern of audit events takes each that is a row of the table, and no event whose id only begins like one."""
    rule = next(rule for rule in rules.load().rules if rule.id == "esx-audit-event")
    pattern = re.compile(rule.logs["noted"].pattern)
    audits = [row["event_id"] for row in ROWS if row["event_id"].startswith("esx.audit.")]

    assert audits
    assert all(pattern.search(f"[{event}] text") for event in audits)
    assert not any(
        pattern.search(f"[{event}.more] text") for event in audits if f"{event}.more" not in audits
    )


@pytest.mark.parametrize(
    ("event", "level"),
    [
        ("esx.audit.host.boot", ""),
        ("esx.audit.dcui.host.reboot", ""),
        ("esx.audit.net.firewall.disabled", "warning"),
        ("esx.audit.host.crash.reason", "error"),
        ("esx.problem.made.up", "warning"),
        ("esx.problem.scsi.device.state.off", "warning"),
        ("esx.problem.vmfs.heartbeat.recovered", ""),
    ],
)
def test_an_audit_event_is_information_unless_it_says_trouble(event: str, level: str) -> None:
    """The level of a line that reports an event is that of its row; an audit event without one, or a mild one, has none."""
    assert event_levels.find_event_level(line_of(event, "something")) == level


RULE = next(rule for rule in rules.load().rules if rule.id == "esx-event")


def judged(lines: list[str]) -> dict[str, Finding]:
    """Return what the rule of events says of lines of vobd.log, by subject."""
    example = Example("made", FileSpan(), {}, {"esxi.event": "\n".join(lines) + "\n"}, (), (), {})
    facts = examples.facts_of(RULE, example)
    try:
        return {one.subject: one for one in judge(Catalog([RULE]), facts).findings}
    finally:
        facts.close()


def test_the_end_of_one_object_never_ends_another() -> None:
    """Of each row with an end: of two objects in trouble one comes back after a minute; the other stays as bad as it is."""
    wrong: defaultdict[str, list[str]] = defaultdict(list)
    for row, form in SWEPT:
        if not row["clear_id"]:
            continue
        lines = [
            line_of(row["event_id"], form.text.format(thing), second=2 * number)
            for number in range(int(row["at_least"]))
            for thing in form.things
        ]
        lines.append(line_of(row["clear_id"], form.end.format(form.things[1]), second=60))
        found = judged(lines)
        names = objects_of(lines[:2])
        left, back = ([one for one in found.values() if one.object == name] for name in names)
        over = {"critical": "warning", "major": "warning"}.get(row["severity"], "info")
        if [one.severity for one in left] != [row["severity"]] or [
            one.severity for one in back
        ] != [over]:
            said = [(subject, one.severity) for subject, one in found.items()]
            wrong[f"{form.text} / {form.end} -> {said}"].append(row["event_id"])

    assert not wrong, report_of(wrong)


@pytest.mark.parametrize("event", sorted(esx_event.STAGES))
def test_how_long_it_lasted_counts_from_the_loss(event: str) -> None:
    """An event 140 s after the loss, and the end 5 s after that: it lasted 145 s, and was not over at once."""
    row = next(row for row in ROWS if row["event_id"] == event)
    form = forms_of(event)[0]
    (thing, _) = form.things
    lines = [
        line_of(esx_event.STAGES[event], form.text.format(thing)),
        line_of(event, form.text.format(thing), second=140),
        line_of(row["clear_id"], form.end.format(thing), second=145),
    ]
    whole = judged(lines)[f"{thing}: {event}"]
    cut = judged(lines[1:])[f"{thing}: {event}"]

    assert "Cleared by a later event, after 145 s." in whole.say and "10 seconds" not in whole.say
    assert "10 seconds" not in cut.say and any(
        "the duration is not known" in note for note in cut.also
    )
    assert whole.severity == cut.severity == ("info" if row["severity"] == "warning" else "warning")


@pytest.mark.parametrize(
    ("seconds", "severity"),
    [
        (3, "info"),
        (10, "info"),
        (11, "warning"),
        (139, "warning"),
        (145, "warning"),
        (0, "critical"),
    ],
)
def test_paths_that_are_gone_weigh_by_how_long(seconds: int, severity: str) -> None:
    """All paths down: over within ten seconds is information, later a warning; with no end in the log it is critical."""
    form = forms_of("esx.problem.storage.apd.start")[1]
    lines = [line_of("esx.problem.storage.apd.start", form.text.format(form.things[0]))]
    if seconds:
        lines.append(
            line_of("esx.clear.storage.apd.exit", form.end.format(form.things[0]), second=seconds)
        )
    (found,) = judged(lines).values()

    assert found.severity == severity
    assert found.object == form.things[0]


def report_of(wrong: dict[str, list[str]]) -> str:
    """Return how many rows are wrong, and of each form which."""
    rows = {row for some in wrong.values() for row in some}
    lines = [f"{text}: {len(some)} rows, {', '.join(some[:4])}" for text, some in wrong.items()]
    return "\n".join([f"{len(rows)} rows", *lines])
