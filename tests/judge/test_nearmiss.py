"""Near misses: what little was missing to a match, told only when the rule would indeed match."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from analyzer.case.verdicts import Explained, NearMiss
from analyzer.rules import Rule
from tests.kit.rule_kit import BASE, MANAGER, PART, RULE, Kit, full, rule

Row = dict[str, Any]

SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
LOGS = """\
logs:
  err: {in: esxi.made_up_log, match: 'error from (?P<who>\\w+)'}
  up: {in: esxi.made_up_log, match: 'started'}
seen:
  burst: {log: err, at_least: 3, within: 10m}
  spread: {log: err, distinct: who, at_least: 2}
  order: {sequence: [up, err], within: 5m}
  quiet: {none: err, for: 1h}
when: """


def told(one: Rule, kit: Kit) -> list[Explained]:
    """Return every verdict of a rule with its reasons."""
    judgement = kit.judge(one, explain=one.id)
    assert not [finding.say for finding in judgement.findings if finding.verdict == "error"]
    kit.facts.close()
    return judgement.explained


def only(one: Rule, thing: Row, parts: list[Row] | None = None) -> Explained:
    """Return the verdict of one thing."""
    kit = Kit().add(BASE, [{"key": 1, **thing}])
    kit.add(PART, [{"key": 1, "part": number, **part} for number, part in enumerate(parts or [])])
    (found,) = told(one, kit)
    return found


def near(one: Rule, thing: Row, parts: list[Row] | None = None) -> NearMiss:
    """Return the near miss of one thing; there must be one."""
    found = only(one, thing, parts)
    assert found.near is not None, found.verdict
    return found.near


def logged(condition: str, text: str) -> NearMiss | None:
    """Return the near miss of a rule over a log."""
    one = full(RULE % (LOGS + condition))
    kit = Kit().add(BASE, [{"key": 1}]).log(one, text)
    return told(one, kit)[0].near


# -- what is told


def test_a_number_short_of_its_threshold_is_told_with_value_and_line() -> None:
    """The condition, the value and the very line it was read from stand in one sentence."""
    found = near(rule("one.a > 0"), {"a": 0})

    assert found.distance == 1
    assert found.text == "would match if one.a > 0; it is 0 (dump.txt:1)"
    assert [(leaf.wanted, leaf.value, leaf.at, leaf.known) for leaf in found.leaves] == [
        ("> 0", "0", "dump.txt:1", True)
    ]


def test_how_far_is_a_share_of_the_threshold() -> None:
    """9 of the 10 wanted is 10 % off; of a threshold 0 no share can be told."""
    assert near(rule("one.a >= 10"), {"a": 9}).leaves[0].far == pytest.approx(0.1)
    assert near(rule("one.a > 0"), {"a": 0}).leaves[0].far is None


def test_of_two_ways_the_closer_is_told() -> None:
    """`or` needs one child only: the one that is off by the smaller share."""
    found = near(rule("one.a > 100 or one.b > 100"), {"a": 10, "b": 99})

    assert found.text == "would match if one.b > 100; it is 99 (dump.txt:1)"


def test_and_needs_all_and_three_are_no_near_miss() -> None:
    """Two conditions off are told as two, three are too far to be near."""
    two = near(rule("one.a > 0 and one.b > 0 and one.f > 0"), {"a": 0, "b": 0, "f": 1.0})

    assert two.distance == 2
    assert "one.a > 0; it is 0" in two.text
    assert "and if one.b > 0; it is 0" in two.text
    assert (
        only(rule("one.a > 0 and one.b > 0 and one.f > 0"), {"a": 0, "b": 0, "f": 0.0}).near is None
    )


def test_a_way_that_needs_less_comes_first_even_when_it_is_farther() -> None:
    """One condition that is far off is nearer than two that are close."""
    found = near(rule("(one.a > 10 and one.b > 10) or one.f > 1000"), {"a": 9, "b": 9, "f": 1.0})

    assert [leaf.text for leaf in found.leaves] == ["one.f > 1000"]


def test_not_wants_the_opposite() -> None:
    """Under `not` the comparison is told the way it would have to be."""
    assert near(rule("not one.a > 5"), {"a": 7}).leaves[0].text == "one.a <= 5"
    assert near(rule("not (one.a > 5 or one.t)"), {"a": 1, "t": True}).leaves[0].text == "not one.t"


def test_a_chain_is_told_by_the_link_that_fails() -> None:
    """Of `5 < a < 10` only the broken link is named, and that the other has to stay."""
    found = near(rule("5 < one.a < 10"), {"a": 12})

    assert (
        found.text
        == "would match if one.a < 10; it is 12 (dump.txt:1) (as long as `5 < one.a` stays as it is)"
    )


def test_what_another_condition_rules_out_is_not_told() -> None:
    """`a > 5 and a < 3` can never hold, so however close a value is, it is no near miss."""
    assert only(rule("one.a > 5 and one.a < 3"), {"a": 4}).near is None
    assert only(rule("one.a > 5 and one.a < 3"), {"a": 6}).near is None


def test_of_ways_that_rule_each_other_out_the_next_is_told() -> None:
    """A closer way that contradicts another condition is passed over for one that does not."""
    found = near(rule("one.a == 3 and (one.a > 4 or one.b > 100)"), {"a": 3, "b": 1})

    assert [leaf.text for leaf in found.leaves] == ["one.b > 100"]


def test_a_named_sum_shows_its_terms() -> None:
    """A value from `let` is told by its name, with the terms it is made of and where each stands."""
    one = full(RULE % "let: {both: one.a + one.b}\nwhen: both > 10")
    found = near(one, {"a": 3, "b": 4})

    assert found.text == "would match if both > 10; it is 7 (3 + 4; dump.txt:1)"


def test_a_sum_moves_with_its_terms() -> None:
    """A sum cannot rise while each term is held down by a condition of its own: nothing near is claimed."""
    assert (
        only(rule("one.a + one.b > 10 and one.a == 1 and one.b == 2"), {"a": 1, "b": 2}).near
        is None
    )
    assert near(rule("one.a + one.b > 10 and one.a == 1"), {"a": 1, "b": 2}).distance == 1


def test_two_columns_are_told_with_both_values() -> None:
    """A comparison of two columns names what each of them is."""
    found = near(rule("one.a > one.b"), {"a": 3, "b": 9})

    assert found.text == "would match if one.a > one.b; one.a is 3, one.b is 9 (dump.txt:1)"


def test_a_share_of_rows_tells_the_rows_and_the_one_that_decides() -> None:
    """A share is told with how many rows there are, and the row closest to the line with its place."""
    parts = [{"x": 12}, {"x": 9}, {"x": 1}, {"x": 2}, {"x": 3}]
    found = near(rule("share(part.x >= 10) >= 0.3"), {}, parts)

    assert found.text.startswith(
        "would match if share(part.x >= 10) >= 0.3; it is 0.2 (1 of 5 rows,"
    )
    assert "part.x 12; dump.txt:2)" in found.text
    assert found.leaves[0].far == pytest.approx(1 / 3)


def test_any_tells_the_row_that_came_closest() -> None:
    """`any` without a row that fulfils it tells the extreme row, and how far that one is off."""
    found = near(rule("any(part.x >= 10)"), {}, [{"x": 1}, {"x": 9}, {"x": 4}])

    assert "0 of 3 rows" in found.text
    assert "part.x 9; dump.txt:3)" in found.text
    assert found.leaves[0].far == pytest.approx(0.1)


def test_all_tells_the_row_that_spoils_it() -> None:
    """`all` that does not hold tells the row farthest from it, not one of those that are well."""
    found = near(rule("all(part.x > 5)"), {}, [{"x": 9}, {"x": 3}, {"x": 4}])

    assert "1 of 3 rows, the row that decides has part.x 3; dump.txt:3" in found.text


def test_the_gate_says_not_applicable() -> None:
    """Where only the gate is shut, the sentence says so before what would open it."""
    found = only(rule("one.a > 0", only="one.b == 9"), {"a": 1, "b": 7})

    assert found.verdict == "not_applicable"
    assert found.near is not None
    assert found.near.text == "not applicable: would match if one.b == 9; it is 7 (dump.txt:1)"
    assert found.near.leaves[0].part == "only"


def test_an_unknown_value_is_told_with_what_to_ask_for() -> None:
    """Where a source is missing, it is named and asked for; nobody says that the rule would match."""
    found = near(rule("one.a > 0 and first.x > 5"), {"a": 1})

    assert found.distance is None
    assert found.text.startswith("could match if first.x > 5, which is not known: ")
    assert "(esxi.part) of esx1" in found.text
    assert found.text.endswith("; ask for: part-command")
    assert not found.leaves[0].known


def test_a_missing_source_is_asked_for_once_and_is_not_near() -> None:
    """Several unknown conditions that one dump would settle are asked for once; how near they are nobody knows."""
    found = near(rule("first.x > 5 and first.y > 1 and first.ok"), {})

    assert found.distance is None
    assert "away" not in found.text
    assert len(found.leaves) == 3
    assert found.text.count("ask for") == 1


def test_a_subject_that_was_not_seen_asks_for_its_source() -> None:
    """A host whose dump is missing is asked for it, and not called near."""
    (found,) = told(rule("one.a > 0 and one.b > 0"), Kit())

    assert found.verdict == "cannot_tell"
    assert found.near is not None
    assert (found.near.distance, found.near.leaves[0].ask) == (None, "base-command")


def test_an_unknown_comes_first_where_the_answer_is_cannot_tell() -> None:
    """Of a known «no» and an unknown in one `or` the unknown is what would settle the question."""
    found = near(rule("one.a > 10 or one.b > 10"), {"a": 9})

    assert [leaf.text for leaf in found.leaves] == ["one.b > 10"]


@pytest.mark.parametrize(
    ("rows", "branch"),
    [
        ([{"x": 49, "y": 1}, {"x": 1, "y": 1}], "share(part.x >= 50) >= 0.5"),
        ([{"x": 1, "y": 49}, {"x": 1, "y": 1}], "share(part.y >= 50) >= 0.5"),
    ],
)
def test_of_two_folds_without_a_row_the_one_whose_rows_come_closer_is_told(
    rows: list[Row], branch: str
) -> None:
    """In an `or` of two shares that are both 0 the branch is named whose samples come closer to their threshold."""
    condition = "share(part.x >= 50) >= 0.5 or share(part.y >= 50) >= 0.5"
    found = near(rule(condition), {"a": 1}, rows)

    assert [leaf.text for leaf in found.leaves] == [branch]


@given(x=st.integers(0, 49), y=st.integers(0, 49))
def test_the_closer_branch_of_an_or_of_folds_is_told(x: int, y: int) -> None:
    """Whatever the samples: of two branches that no sample fulfils, the one whose worst sample is closer."""
    assume(x != y)
    condition = "share(part.x >= 50) >= 0.5 or share(part.y >= 50) >= 0.5"
    found = near(rule(condition), {"a": 1}, [{"x": x, "y": y}, {"x": 0, "y": 0}])

    assert [leaf.text for leaf in found.leaves] == [
        f"share(part.{'x' if x > y else 'y'} >= 50) >= 0.5"
    ]


@given(
    thing=st.fixed_dictionaries(
        {"a": st.none() | st.integers(0, 9), "b": st.none() | st.integers(0, 9)}
    )
)
def test_only_what_is_known_has_a_distance(thing: Row) -> None:
    """A near miss has a distance when all of it is known, and then it says nothing that is not known."""
    found = only(rule("one.a > 10 and one.b > 10"), thing)

    assert found.near is not None
    assert (found.near.distance is None) == ("which is not known" in found.near.text)
    assert (found.near.distance is None) == (None in thing.values())


def test_an_outcome_that_fails_is_a_near_miss_too() -> None:
    """A rule whose condition holds but whose outcomes do not is told by its closest outcome."""
    one = full((RULE % "when: one.a > 0").replace("  - when: true\n", "  - when: one.b > 50\n"))
    found = near(one, {"a": 1, "b": 40})

    assert [(leaf.text, leaf.part) for leaf in found.leaves] == [("one.b > 50", "outcome")]


@pytest.mark.parametrize(
    ("condition", "thing", "text"),
    [
        ('one.s == "x"', {"s": "y"}, 'one.s == "x"; it is "y"'),
        ('one.s != "x"', {"s": "x"}, 'one.s != "x"; it is "x"'),
        ('one.s in ["x", "y"]', {"s": "z"}, 'one.s in ["x", "y"]; it is "z"'),
        ('one.s not in ["x"]', {"s": "x"}, 'one.s not in ["x"]; it is "x"'),
        ("one.t", {"t": False}, "one.t; it is false"),
        ("known(first.x)", {}, "known(first.x); it is unknown"),
        ("not known(one.a)", {"a": 5}, "not known(one.a); it is known"),
        ('one.v >= "6.3.10"', {"v": "6.3.9"}, 'one.v >= "6.3.10"; it is "6.3.9"'),
        ('one.v < "6.3.4"', {"v": "6.3.4"}, 'one.v < "6.3.4"; it is "6.3.4"'),
        (
            'one.at > "2017-10-02 08:00:00"',
            {"at": "2017-10-02 07:00:00"},
            "it is 2017-10-02 07:00:00",
        ),
        ("one.a / one.b >= 0.5", {"a": 1, "b": 4}, "it is 0.25 (1 / 4"),
        ("one.a in [3, 5]", {"a": 4}, "one.a in [3, 5]; it is 4"),
        ("max(one.a, one.b) > 10", {"a": 4, "b": 7}, "max(one.a, one.b) > 10; it is 7"),
    ],
)
def test_every_kind_of_value_has_its_words(condition: str, thing: Row, text: str) -> None:
    """Texts, choices, flags, versions, times and divisions are told as they are written, with what they are."""
    assert text in near(rule(condition), thing).text


# -- logs


def test_a_count_in_a_window_tells_the_best_window() -> None:
    """Three lines in all, two of them within the window: two were, and the last one's place."""
    found = logged(
        "burst",
        "2017-10-02 08:00:00 error from a\n2017-10-02 08:05:00 error from a\n2017-10-02 09:05:00 error from a\n",
    )

    assert found is not None
    assert found.text == (
        "would match if `burst` (3 lines of err within 10m) were seen; 2 were (3 lines in all; the last at made_up.log:3)"
    )
    assert found.leaves[0].far == pytest.approx(1 / 3)


def test_a_count_of_different_values_tells_how_many_there_were() -> None:
    """Two lines of one sender are one value of the two wanted."""
    found = logged("spread", "2017-10-02 08:00:00 error from a\n2017-10-02 08:05:00 error from a\n")

    assert found is not None
    assert "`spread` (2 different who in lines of err) were seen; 1 was" in found.text


def test_a_sequence_tells_its_parts() -> None:
    """A sequence that was not seen tells how often each of its lines was."""
    found = logged("order", "2017-10-02 08:00:00 error from a\n2017-10-02 08:05:00 started\n")

    assert found is not None
    assert (
        "`order` (up, then err within 5m) were seen; it was not (lines: up 1, err 1)" in found.text
    )


def test_a_silence_tells_who_broke_it() -> None:
    """A silence that did not hold tells how many lines there were, and where the last stands."""
    found = logged("quiet", "2017-10-02 08:00:00 started\n2017-10-02 10:00:00 error from a\n")

    assert found is not None
    assert (
        "`quiet` (no line of err for 1h) held; 1 line was seen (the last at made_up.log:2)"
        in found.text
    )


def test_a_log_that_is_not_there_is_asked_for() -> None:
    """A name seen in a log that nobody sent is unknown, with what to request."""
    one = full(RULE % (LOGS + "burst"))
    (found,) = told(one, Kit().add(BASE, [{"key": 1}]))

    assert found.near is not None
    assert found.near.text.startswith(
        "could match if burst, which is not known: made_up.log (esxi.made_up_log) of esx1"
    )
    assert found.near.leaves[0].ask == "made_up.log of the day"


# -- marks


def said(found: Explained) -> dict[str, str]:
    """Return the lines of a trace that bear a mark, with what it says."""
    lines = []

    def visit(trace: Any) -> None:
        lines.append(trace.text)
        for child in trace.children:
            visit(child)

    visit(found.trace)
    return {lines[number]: mark.says for number, mark in found.marks.items()}


def test_the_leaf_that_says_no_is_marked() -> None:
    """Of `and` the false child is marked, of `or` every false one, under `not` the true one."""
    assert said(only(rule("one.a > 0 and one.b > 0"), {"a": 1, "b": 0})) == {"one.b > 0": "no"}
    assert said(only(rule("one.a > 5 or one.b > 5"), {"a": 1, "b": 0})) == {
        "one.a > 5": "no",
        "one.b > 5": "no",
    }
    assert said(only(rule("not (one.a > 0 and one.b > 0)"), {"a": 1, "b": 2})) == {
        "one.a > 0": "no",
        "one.b > 0": "no",
    }


def test_an_unknown_leaf_is_marked_with_its_ask() -> None:
    """The leaf that leaves the question open is marked, with what would settle it; its known neighbour is not."""
    found = only(rule("one.a > 5 or first.x > 5"), {"a": 1})

    assert said(found) == {"first.x > 5": "unknown"}
    assert [mark.ask for mark in found.marks.values()] == ["part-command"]


def test_a_match_bears_no_mark_and_has_no_near_miss() -> None:
    """What matches has nothing that kept it from matching."""
    found = only(rule("one.a > 5 or one.b > 5"), {"a": 9, "b": 0})

    assert (found.verdict, found.near, found.marks) == ("match", None, {})


# -- the property


def leaf_texts() -> st.SearchStrategy[str]:
    """Return comparisons of one column with a plain value."""
    signs = st.sampled_from(list(SIGNS))
    numbers = st.integers(-3, 12)
    whole = st.builds("{} {} {}".format, st.sampled_from(["one.a", "one.b"]), signs, numbers)
    turned = st.builds("{} {} {}".format, numbers, signs, st.sampled_from(["one.a", "one.b"]))
    real = st.builds("one.f {} {}".format, signs, st.sampled_from(["0.5", "2", "0", "-1.25"]))
    word = st.builds('one.s {} "{}"'.format, st.sampled_from(["==", "!="]), st.sampled_from("xy"))
    return st.one_of(whole, turned, real, word, st.just("one.t"))


def conditions() -> st.SearchStrategy[str]:
    """Return conditions of such leaves."""

    def widen(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pair = st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        return pair | st.builds("(not {})".format, inner)

    return st.recursive(leaf_texts(), widen, max_leaves=5)


THINGS = st.fixed_dictionaries(
    {
        "a": st.none() | st.integers(-3, 12),
        "b": st.none() | st.integers(-3, 12),
        "f": st.none() | st.sampled_from([-1.25, 0.0, 0.5, 1.0, 2.0, 3.5]),
        "s": st.none() | st.sampled_from("xyz"),
        "t": st.none() | st.booleans(),
    }
)
COLUMN = re.compile(r"one\.(\w+)")


def verdict(one: Rule, thing: Row) -> str:
    """Return what the judge says of one thing."""
    return only(one, thing).verdict


def holds(text: str, column: str, value: Any) -> bool:
    """Tell in Python whether a leaf holds with a value of its column."""
    if column == "t":
        return value is not text.startswith("not ")
    left, sign, right = text.split(" ", 2)
    plain = (lambda side: side.strip('"')) if column == "s" else float
    return SIGNS[sign](*(value if COLUMN.match(side) else plain(side) for side in (left, right)))


def holding(found: NearMiss, column: str, present: Any) -> list[Any]:
    """Return values of a column with which the leaf told holds and those named with it stay, the nearest first."""
    pools: dict[str, list[Any]] = {
        "f": [number / 8 for number in range(-400, 400)],
        "s": ["x", "y", "q"],
    }
    pool = pools.get(column, [True, False] if column == "t" else list(range(-40, 50)))
    stay = re.findall("`([^`]+)`", found.text.partition("as long as")[2])
    values = [value for value in pool if holds(found.leaves[0].text, column, value)]
    values = [
        value
        for value in values
        if all(holds(s, column, value) is holds(s, column, present) for s in stay)
    ]
    numbers = isinstance(present, int | float) and not isinstance(present, bool)
    return sorted(values, key=lambda value: abs(value - present)) if numbers else values


@pytest.mark.size
@settings(max_examples=80)
@given(conditions(), THINGS)
def test_a_near_miss_holds_what_it_says(condition: str, thing: Row) -> None:
    """Set the value of the one leaf so that it holds: the real judge says match. A match has no near miss."""
    one = rule(condition)
    found = only(one, thing)
    if found.verdict == "match":
        assert found.near is None
        return
    assume(found.near is not None)
    assert found.near is not None
    assume(found.near.distance == 1 and len(found.near.leaves) == 1)
    leaf = found.near.leaves[0]
    name = COLUMN.search(leaf.text)
    assert name is not None
    values = holding(found.near, name[1], thing[name[1]])
    assert values
    for value in [*values[:2], *values[-2:]]:
        assert verdict(one, thing | {name[1]: value}) == "match", (found.near.text, value)


@settings(max_examples=40)
@example("one.a == 1", "and", "0 < one.a", {"a": 0, "b": 0, "f": 0.0, "s": "x", "t": True})
@given(leaf_texts(), st.sampled_from(["and", "or"]), leaf_texts(), THINGS)
def test_what_one_value_would_mend_is_told(left: str, word: str, right: str, thing: Row) -> None:
    """Of two conditions: when some single known value, changed, makes the rule match, a near miss is told."""
    condition = f"{left} {word} {right}"
    one = rule(condition)
    found = only(one, thing)
    if found.verdict != "no_match":
        return
    kit = Kit()
    tried = [thing | {name: value} for name in ("a", "b") for value in range(-20, 30)]
    tried += [thing | {"f": value / 8} for value in range(-40, 40)]
    tried += [thing | {"s": value} for value in "xyq"] + [
        thing | {"t": value} for value in (True, False)
    ]
    kit.add(BASE, [{"key": number, **other} for number, other in enumerate(tried)])
    counts = kit.counts(one)
    kit.facts.close()

    if "match" in counts:
        assert found.near is not None, condition


# -- odd input


def any_leaves() -> st.SearchStrategy[str]:
    """Return conditions of every kind the language has."""
    signs = st.sampled_from(list(SIGNS))
    number = st.sampled_from(
        ["one.a", "one.b", "one.f", "first.x", "sum(part.x)", "max(part.y)", "min(part.x)", "mean(part.y)", "count(part)",
         "share(part.x > one.a)", "count(part.name == one.s)", "one.a / one.b", "one.a * one.f - first.x", "-one.a",
         "max(one.a, one.b)", "one.at - first.time", "3", "0", "0.5"]
    )  # fmt: skip
    numbers = st.builds("{} {} {}".format, number, signs, number)
    texts = st.builds(
        "{} {} {}".format,
        st.sampled_from(["one.s", "first.name", '"x"']),
        signs,
        st.sampled_from(["one.s", '"y"']),
    )
    versions = st.builds('one.v {} "{}"'.format, signs, st.sampled_from(["6.3.9", "6.3.10", "7.0"]))
    times = st.builds("{} {} {}".format, st.sampled_from(["one.at", "max(part.time)", "first.time"]), signs,
                      st.sampled_from(["one.at", '"2017-10-02 08:00:00"']))  # fmt: skip
    others = st.sampled_from(
        ["one.t", "any(part.ok)", "all(part.x > 3)", "any(part.ok and part.x > one.a)", "known(first)", "known(one.a)",
         "known(one.a / one.b)", 'one.s in ["x", "y"]', "one.a in [1, 2, 3]", 'one.v not in ["7.0"]', "one.t == first.ok",
         "true", "false"]
    )  # fmt: skip
    return st.one_of(numbers, texts, versions, times, others)


ANY_THING = st.fixed_dictionaries(
    {
        "a": st.none() | st.sampled_from([0, 1, -5, 2**62]),
        "b": st.none() | st.sampled_from([0, 3, 2**63 - 1]),
        "f": st.none() | st.sampled_from([0.0, 0.5, 1e308]),
        "s": st.none() | st.sampled_from(["x", "", "\x1b"]),
        "t": st.none() | st.booleans(),
        "v": st.none() | st.sampled_from(["6.3.9", "nonsense", "7.0.1"]),
        "at": st.none() | st.sampled_from(["2017-10-02 07:00:00", "9999-12-31 23:59:59"]),
    }
)
ANY_PART = st.fixed_dictionaries(
    {
        "x": st.none() | st.sampled_from([0, 9, 2**62]),
        "y": st.none() | st.sampled_from([0.0, 0.25]),
        "ok": st.none() | st.booleans(),
        "name": st.none() | st.sampled_from("xy"),
        "time": st.none() | st.sampled_from(["2017-10-02 07:00:00", "0001-01-01 00:00:00"]),
    }
)


@settings(max_examples=80)
@given(
    st.recursive(
        any_leaves(),
        lambda inner: (
            st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
            | st.builds("(not {})".format, inner)
        ),
        max_leaves=4,
    ),
    any_leaves(),
    ANY_THING,
    st.lists(ANY_PART, max_size=3),
)
def test_no_condition_makes_the_search_fail(
    condition: str, gate: str, thing: Row, parts: list[Row]
) -> None:
    """Whatever the conditions and values are, the verdict is that of the plain judge, and never an error."""
    one = rule(f"'{condition}'", only=f"'{gate}'")
    kit = Kit().add(BASE, [{"key": 1, **thing}])
    kit.add(PART, [{"key": 1, "part": number, **part} for number, part in enumerate(parts)])
    plain = kit.counts(one)
    (found,) = told(one, kit)

    assert plain == {found.verdict: 1}
    assert found.near is None or (
        found.near.text and found.near.distance in (1, 2, None) and found.verdict != "match"
    )


def test_numbers_beyond_all_bounds_are_no_fault() -> None:
    """A sum that leaves every range has no near miss, and the verdict stands."""
    found = only(
        rule("one.a * one.a * 1e300 * 1e300 < one.b"), {"a": 9_000_000_000_000_000_000, "b": 1}
    )

    assert found.verdict in ("no_match", "cannot_tell")


def test_a_rule_of_very_many_parts_is_not_searched() -> None:
    """Beyond a thousand parts no near miss is looked for; the verdict comes as ever."""
    lets = ", ".join(f"n{number}: one.a > 5 and n{number - 1}" for number in range(1, 20))
    whole = " and ".join(["n19"] * 20)
    found = only(full(RULE % f"let: {{n0: one.a > 5, {lets}}}\nwhen: {whole}"), {"a": 1})
    smaller = only(full(RULE % f"let: {{n0: one.a > 5, {lets}}}\nwhen: n19"), {"a": 1})

    assert (found.verdict, found.near) == ("no_match", None)
    assert smaller.near is not None


def test_joins_of_other_nodes_are_told() -> None:
    """A gate on another machine's version is told with that machine's line."""
    one = full(
        (RULE % 'only: boss.version == "6.3.3"\nwhen: one.a > 0').replace(
            "  first: {table: esxi.part, by: [key]}", "  boss: {table: nsx.boss, nodes: any}"
        )
    )
    kit = Kit().add(BASE, [{"key": 1, "a": 5}])
    kit.facts.node("mgr", "mgr", "nsx_manager")
    kit.add(MANAGER, [{"version": "6.4.0"}], node="mgr", source="boss.txt")
    (found,) = told(one, kit)

    assert found.near is not None
    assert (
        found.near.text
        == 'not applicable: would match if boss.version == "6.3.3"; it is "6.4.0" (boss.txt:1)'
    )
