"""The judge: nearest rows of a join, and what a cut may never do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.rule_kit import BASE, COUNTERS, GUEST, PART, RULE, SAMPLED, Kit, frame, full, rule


def test_of_the_same_thing_dumped_twice_the_nearest_is_taken() -> None:
    """Before and after a change, pasted one after the other: each dump is judged with its own neighbours."""
    kit = Kit()
    for order, size in ((0, 256), (10, 4096)):
        kit.add(BASE, [{"key": 1, "a": size}], order=order)
        kit.add(PART, [{"key": 1, "part": 1, "x": size}], order=order + 1)
    found = rule("one.a == first.x and count(part.x) == 1 and min(part.x) == one.a")

    assert kit.counts(found) == {"match": 2}


def test_the_same_file_is_before_a_nearer_number() -> None:
    """A row of the same file beats one whose block stands nearer in the case."""
    kit = Kit().add(BASE, [{"key": 1, "a": 1}], source="one.txt", order=5)
    kit.add(PART, [{"key": 1, "part": 1, "x": 2}], source="two.txt", order=6)
    kit.add(PART, [{"key": 1, "part": 1, "x": 1}], source="one.txt", order=90)

    assert kit.counts(rule("first.x == 1 and max(part.x) == 1")) == {"match": 1}


def test_one_file_sent_twice_gives_one_finding() -> None:
    """A bundle and a loose copy of the same dump are one subject; another value is another dump."""
    kit = Kit()
    for source, value in (("a.txt", 3), ("b.txt", 3), ("c.txt", 4)):
        kit.add(BASE, [{"key": 1, "a": value, "s": "x"}], source=source)
    judgement = kit.judge(COUNTERS)

    assert [finding.id for finding in judgement.findings] == [
        "made-up/thing-1-2",
        "made-up/thing-1",
    ]


def test_rows_of_another_host_are_not_mine() -> None:
    """A join stays on its node unless it says `nodes: any`."""
    kit = (
        Kit("esx1", "esx2")
        .add(BASE, [{"key": 1}])
        .add(PART, [{"key": 1, "part": 1, "x": 9}], node="esx2")
    )
    far = full((RULE % "when: first.x == 9").replace("by: [key]}", "by: [key], nodes: any}"))

    assert kit.counts(rule("first.x == 9"))["cannot_tell"] == 2
    assert kit.judge(far).counts["made-up"]["match"] == 1


@pytest.mark.parametrize(
    ("mine", "node", "meets"),
    [
        ("WEB01", "web01.lab.local", True),
        ("web01.corp", "Web01", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("a", "b", False),
    ],
)
def test_names_of_nodes_meet_by_their_short_name(mine: str, node: str, meets: bool) -> None:
    """`by: {s: node}` finds the guest of that name, whatever its case or domain; addresses stay whole."""
    kit = Kit("esx1").add(BASE, [{"key": 1, "s": mine}])
    kit.facts.node("g", node, "guest")
    kit.add(GUEST, [{"n": 7}], node="g")
    joined = (RULE % "when: first.n == 7").replace(
        "first: {table: esxi.part, by: [key]}", "first: {table: guest.thing, by: {s: node}}"
    )

    assert kit.counts(full(joined)) == ({"match": 1} if meets else {"cannot_tell": 1})


def test_a_join_may_go_on_from_a_join() -> None:
    """`by: {first.name: s}` joins on what an earlier join brought; its own absence is the cause that is told."""
    text = (RULE % "when: far.a == 5").replace(
        "  first: {table: esxi.part, by: [key]}",
        "  first: {table: esxi.part, by: [key]}\n  far: {table: esxi.base, by: {first.name: s}}",
    )
    kit = (
        Kit()
        .add(BASE, [{"key": 1}, {"key": 2, "s": "VM", "a": 5}])
        .add(PART, [{"key": 1, "part": 1, "name": "vm"}])
    )
    judgement = kit.judge(full(text))

    assert judgement.counts["made-up"]["match"] == 1
    assert judgement.cannot_tell[0].missing == "esxi.part"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"ok": True, "x": 3}, {"ok": False, "x": 9}], "match"),
        ([{"ok": True, "x": 1}, {"ok": False, "x": 9}], "no_match"),
        ([{"ok": True, "x": 1}, {"ok": None, "x": 9}], "cannot_tell"),
        ([{"ok": None, "x": 1}, {"ok": True, "x": 9}], "match"),
        ([{"ok": False, "x": 9}], "cannot_tell"),
    ],
)
def test_where_on_a_join_is_three_valued(rows: list[dict[str, Any]], expected: str) -> None:
    """A row of which it is unknown whether it belongs makes unknown what it could change."""
    text = (RULE % "when: any(part.x > 2)").replace("rows: many}", "rows: many, where: part.ok}")
    kit = (
        Kit()
        .add(BASE, [{"key": 1}])
        .add(PART, [{"key": 1, "part": n, **row} for n, row in enumerate(rows)])
    )

    assert kit.counts(full(text)) == {expected: 1}


# -- what may be missing


def test_a_no_over_rows_that_may_be_missing_is_no_no() -> None:
    """any() over the parts seen says no; with the archive cut, the missing part may say yes."""
    quiet, sure = rule("any(part.x > 5)"), rule("any(part.x > 5) and one.a > 0")
    kit = Kit().add(BASE, [{"key": 1, "a": 0}]).add(PART, [{"key": 1, "part": 1, "x": 1}])
    assert kit.counts(quiet) == {"no_match": 1}
    kit.facts.incomplete("esx1")

    assert kit.counts(quiet) == {"cannot_tell": 2}  # the row seen, and the rows that may be lost
    assert kit.counts(sure)["no_match"] == 1
    assert kit.judge(quiet).cannot_tell[0].reason == "unreadable"


def test_absence_in_a_cut_archive_is_no_absence() -> None:
    """`not known(…)` does not hold because a row was cut away."""
    absent = rule("not known(first)")
    kit = Kit().add(BASE, [{"key": 1}])
    kit.facts.cover("esx1", "esxi.part", "read")
    assert kit.counts(absent) == {"match": 1}
    kit.facts.cover("esx1", "esxi.part", "cut")

    assert kit.counts(absent) == {"cannot_tell": 1}


def test_samples_before_a_cut_still_speak() -> None:
    """A cut esxtop CSV gives a finding on the samples it has, and says that later ones were not seen."""
    kit = Kit().add(BASE, [{"key": 1}])
    kit.facts.add_frame(frame([9.0, 9.0, 1.0, 9.0]))
    kit.facts.cover("esx1", "esxi.part", "cut")
    finding = kit.judge(SAMPLED).findings[0]

    assert "esxi.part ended early; later rows were not seen." in finding.also


CONDITIONS = [
    "one.a > 1", "any(part.x > 1)", "all(part.x > 1)", "count(part.x > 1) >= 2", "sum(part.x) > 3",
    "known(first)", "not known(first.x)", "max(part.x) < 3", "first.x > 1 or one.t", "share(part.ok) > 0.5 and one.a > 0",
    "min(part.x) >= 1", "not any(part.ok)",
]  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(CONDITIONS),
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.booleans()), max_size=5),
    st.integers(0, 8),
)
def test_a_cut_never_turns_a_match_into_a_no(
    condition: str, things: list[tuple[int, bool]], parts: list[tuple[int, int, bool]], cut: int
) -> None:
    """Cut anywhere, a case whose rule matched or could not tell never answers «no match» for all of it."""
    one = rule(condition)
    rows = [(BASE, {"key": key, "a": a, "t": t}) for key, (a, t) in enumerate(things)]
    rows += [
        (PART, {"key": key, "part": n, "x": x, "ok": ok}) for n, (key, x, ok) in enumerate(parts)
    ]
    whole, part = Kit(), Kit()
    for table in ("esxi.base", "esxi.part"):
        whole.facts.cover("esx1", table, "read")
    for number, (table, row) in enumerate(rows):
        whole.add(table, [row])
        if number < cut:
            part.add(table, [row])
    part.facts.incomplete("esx1")
    before, after = whole.counts(one), part.counts(one)
    whole.facts.close()
    part.facts.close()

    if before.get("match") or before.get("cannot_tell"):
        assert after.get("match") or after.get("cannot_tell")
    if cut >= len(rows):
        assert before.get("match", 0) >= after.get("match", 0)
