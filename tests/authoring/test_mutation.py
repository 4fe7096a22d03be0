"""Mutation: a number that no example holds in place is named, with the example that would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.authoring.proof.mutants import (
    DOWN,
    UP,
    list_conditions,
    make_mutants,
    move_number,
    replace_nodes,
    write_number,
)
from analyzer.authoring.proof.mutation import Survivor, _Base, find_survivors
from analyzer.authoring.proof.prove import prepare_rule
from analyzer.facts import Facts
from analyzer.facts.database import version_key
from analyzer.pipeline import examples
from analyzer.rules import Rule
from analyzer.rules.language.expression import ExprNode
from tests.kit.rule_kit import RULE, TABLES, full

CATALOG = rules.load(drafts=True, examples=True)


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let examples speak of the made-up tables."""
    monkeypatch.setattr(examples, "Facts", lambda: Facts({**parsing.tables(), **TABLES}))


def case(name: str, row: str, result: str = "match", more: str = "") -> str:
    """Return an example with one row of `each` and more tables or logs."""
    return f"  - {{name: {name}, tables: {{esxi.base: [{{key: 1, {row}}}]{more}}}, expect: {{result: {result}}}}}"


def made(body: str, *cases: str) -> Rule:
    """Return the made-up rule with these keys and examples."""
    return full(RULE % body + "\nexamples:\n" + "\n".join(cases))


def left(one: Rule) -> list[tuple[str, str, str]]:
    """Return the survivors of a rule: number, direction, what it was moved to."""
    return [(found.text, found.direction, found.value) for found in find_survivors(one)]


def stands(one: Rule, found: Survivor) -> str:
    """Return the text of the file at the place of a survivor."""
    line = one.text.lines[found.place.line - 1]
    return line[found.place.column - 1 : found.place.column - 1 + found.place.width]


# -- thresholds

AT, BELOW, FAR = case("at", "a: 20"), case("below", "a: 18", "no_match"), case("far", "a: 90")


def test_a_threshold_touched_from_both_sides_is_held() -> None:
    """With an example at the border and one just below it, no move of the number goes unnoticed."""
    assert left(made("when: one.a >= 20", AT, BELOW)) == []


@pytest.mark.parametrize(
    ("kept", "gone", "value", "advice"),
    [(BELOW, "up", "22", "`one.a` is 20"), (AT, "down", "18", "`one.a` is 18")],
)
def test_without_the_example_at_the_border_the_number_is_named(
    kept: str, gone: str, value: str, advice: str
) -> None:
    """Take one of the two examples away: place, direction, value and the missing example are told."""
    one = made("when: one.a >= 20", kept, FAR, case("zero", "a: 0", "no_match"))
    found = find_survivors(one)

    assert [(item.text, item.direction, item.value, item.where) for item in found] == [
        ("20", gone, value, "when")
    ]
    assert stands(one, found[0]) == "20"
    assert advice in found[0].advice


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("one.a > 0", ("a: 0", "a: 1")),
        ("one.a <= 5", ("a: 5", "a: 6")),
        ("3 < one.a", ("a: 3", "a: 4")),
        ("2 <= one.a < 5", ("a: 1", "a: 2", "a: 4", "a: 5")),
        ("one.f >= 0.001", ("f: 0.00095", "f: 0.00105")),
        ("one.f < -2.5", ("f: -2.5", "f: -2.7")),
        ("one.a * 8 / 1024 >= 1", ("a: 127", "a: 128")),
        ("not one.a < 7", ("a: 6", "a: 7")),
        ('one.v >= "6.3.4"', ('v: "6.3.3"', 'v: "6.3.4"')),
        ('one.v < "6.3.0"', ('v: "6.2.9"', 'v: "6.3"')),
    ],
)
def test_what_holds_a_number(condition: str, rows: Iterable[str]) -> None:
    """Whole and broken numbers, both ends of a chain, arithmetic, versions: two near examples an end are enough."""
    cases = [case(f"r{number}", row, "no_match") for number, row in enumerate(rows)]

    assert left(made(f"when: {condition}", *cases)) == []
    assert left(made(f"when: {condition}", case("far", "a: 5000, f: 5000.0, v: '9.0'")))


def test_a_number_of_a_list_needs_one_example() -> None:
    """With `==`, `!=` and `in` a number names a kind of thing: either direction is enough, and is told once."""
    one = made(
        "when: one.a == 9 or one.b in [1, 5]", case("nine", "a: 9, b: 0"), case("one", "a: 0, b: 1")
    )

    assert left(one) == [("5", "either", "4")]
    assert "`one.b` is 5" in find_survivors(one)[0].advice


def test_what_cannot_be_is_not_asked_for() -> None:
    """No group has 0 rows and no share is 2: a number is not moved to where nothing can lie between."""
    part = ", esxi.part: [{key: 1, part: 1, x: 1}]"
    one = made("when: count(part) > 0", case("has", "a: 0", "match", part))

    assert [(item.direction, item.value) for item in make_mutants(one)] == [(UP, "1")]
    assert left(one) == []
    assert [item.direction for item in make_mutants(made("when: share(part.ok) <= 1.0"))] == [DOWN]


# -- other parts of a rule

NAMED = """let:
  most: 10
  half: one.a / 2
when: half > most
grade:
  - {when: one.a >= 40, severity: critical}
  - {when: true, severity: info}
notes:
  - {when: one.b > 3, say: "b is {one.b}"}"""


def test_names_grades_and_notes_have_numbers_too() -> None:
    """A named number, one inside a named value, a grade and the condition of a note are held by answers they change."""
    text = (RULE % NAMED).replace("    severity: major\n", "")
    cases = [
        ("a: 20, b: 0", "no_match"),
        ("a: 22, b: 0", "match"),
        ("a: 38, b: 0", "match"),
        ("a: 40, b: 3", "match"),
    ]
    written_ones = [
        case(f"r{n}", row, result)
        for n, (row, result) in enumerate([*cases, ("a: 40, b: 4", "match")])
    ]
    one = full(text + "\nexamples:\n" + "\n".join(written_ones))

    assert left(one) == []
    without = full(text + "\nexamples:\n" + "\n".join(written_ones[:3]))
    assert left(without) == [("40", "up", "44"), ("3", "down", "2"), ("3", "up", "4")]
    assert [found.where for found in find_survivors(without)] == ["grade 1", "notes 1", "notes 1"]


def test_numbers_that_choose_rows_are_moved() -> None:
    """The `where` of a join and of a population decide which rows count."""
    text = RULE % "when: any(part.ok)"
    text = text.replace("rows: many}", "rows: many, where: part.x >= 5}")
    part = ", esxi.part: [{{key: 1, part: 1, x: {0}, ok: true}}]"
    cases = [
        case("at", "a: 1", "match", part.format(5)),
        case("below", "a: 1", "cannot_tell", part.format(4)),
    ]

    assert left(full(text + "\nexamples:\n" + "\n".join(cases))) == []
    assert left(full(text + "\nexamples:\n" + cases[1])) == [("5", "up", "6")]


LOGGED = """logs:
  fail: {in: esxi.made_up_log, match: 'failed'}
seen:
  burst: {log: fail, at_least: 3, within: 10m}
when: burst"""


def test_numbers_of_log_questions_are_moved() -> None:
    """Count and window of `seen`: lines just enough and one too few, just within the span and just beyond."""

    def logged(name: str, *minutes: float) -> str:
        stamps = [
            f"2017-10-02T08:{int(m):02d}:{round(m % 1 * 60):02d}.000Z failed" for m in minutes
        ]
        log = '"' + "\\n".join(stamps) + '"'
        return f"  - {{name: {name}, tables: {{esxi.base: [{{key: 1}}]}}, logs: {{esxi.made_up_log: {log}}}, expect: {{result: match}}}}"

    held = [logged("just", 0, 5, 10), logged("beyond", 0, 5, 10.5), logged("few", 0, 1)]

    assert left(made(LOGGED, *held)) == []
    assert left(made(LOGGED, held[0])) == [("3", "down", "2"), ("10m", "up", "11m")]
    assert left(made(LOGGED, held[0], held[2])) == [("10m", "up", "11m")]
    assert "exactly 2 lines of `fail`" in find_survivors(made(LOGGED, held[0]))[0].advice


def test_a_number_that_is_only_shown_is_held_by_the_text() -> None:
    """Arithmetic in a text decides nothing; the text it makes must be that of some example."""
    body = "let:\n  bits: one.a * 8\nwhen: true\nevidence: [one.a]"
    text = (RULE % body).replace("say: found", 'say: "{bits} bits"')

    assert left(full(text + "\nexamples:\n" + case("x", "a: 1"))) == []
    assert left(full(text + "\nexamples:\n" + case("x", "a: 0"))) == [
        ("8", "down", "7"),
        ("8", "up", "9"),
    ]


def test_a_gap_proves_nothing() -> None:
    """An example marked as a known gap holds no number; a rule without numbers or examples needs no judge."""
    gap = case("gap", "a: 20").replace("{name: gap", "{name: gap, gap: true")

    assert left(made("when: one.a >= 20", gap, BELOW)) == [("20", "up", "22")]
    assert left(made("when: one.t", AT)) == []
    assert left(full(RULE % "when: one.a >= 20")) == [("20", "down", "18"), ("20", "up", "22")]


# -- how it is done


@pytest.mark.size
@pytest.mark.parametrize(
    "name", ["kb-2039495", "pnic-loses-packets", "cpu-contention", "nsx-1970527"]
)
def test_a_column_says_what_the_moved_rule_says(name: str) -> None:
    """Conditions of all moved rules, answered in one look at each subject, answer as a judge of each moved rule by itself does."""
    one = CATALOG[name]
    found = [mutant for mutant in make_mutants(one) if "where" not in mutant.site.where][::2]
    cases = prepare_rule(one, one.examples).facts
    own = list_conditions(one)
    changes = [
        {
            number: node
            for number, (node, was) in enumerate(
                zip(list_conditions(mutant.rule), own, strict=True)
            )
            if node is not was
        }
        for mutant in found
    ]
    columns = list(_Base(one, cases).answer_otherwise(changes))
    really = [_Base(mutant.rule, cases).list_answers() for mutant in found]

    assert len(found) >= 5
    assert columns == really


@pytest.mark.size
def test_survivors_stand_in_the_order_of_the_file() -> None:
    """With one example left most numbers are loose: each is told where it is written, in order, with what to do."""
    one = CATALOG["kb-2039495"]
    found = find_survivors(replace(one, _examples=one.examples[:1]))

    assert len(found) >= 20
    assert [item.place.line for item in found] == sorted(item.place.line for item in found)
    shared = (rules.default_paths()[0] / "shared.yaml").read_text(encoding="utf-8")
    for item in found:
        written = stands(one, item)
        assert (
            written == item.text
            or f"  {written.removeprefix('$')}:\n    is: {item.text}\n" in shared
        )
        assert item.advice.startswith("add an example") and item.advice.endswith(".")


@given(st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6, allow_subnormal=False)))
def test_a_number_moves_by_a_tenth_or_by_one(value: float) -> None:
    """Down is below and up above, whole numbers stay whole, the way is a tenth or 1; written out it reads back."""
    node = ExprNode(
        "literal", "int" if isinstance(value, int) else "float", str(value), value=value
    )
    down, up = move_number(node, DOWN), move_number(node, UP)

    assert isinstance(down, type(value)) and isinstance(up, type(value))
    if abs(value) > 1e-300 or not value:
        assert down < value < up
    if isinstance(value, int):
        assert up - value == value - down == max(1, round(abs(value) / 10))
    assert float(write_number(node, up)) == up


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.sampled_from(["", "a", "-u1"]))
def test_a_version_moves_in_its_last_part(parts: list[int], tail: str) -> None:
    """Below 6.3.4 comes 6.3.3, below 6.3.0 comes 6.2, above both a higher one; nothing is below 0."""
    text = ".".join(map(str, parts)) + tail
    node = ExprNode("literal", "version", text, value=text)
    down, up = move_number(node, DOWN), move_number(node, UP)
    key = version_key(text)

    assert key is not None and isinstance(up, str) and str(version_key(up)) > key
    if isinstance(down, str):
        assert str(version_key(down)) < key
    else:
        assert not any(parts)


def test_what_is_not_moved_stays_the_same_object() -> None:
    """A moved rule shares all it can with the rule: what is the same object is asked once."""
    one = CATALOG["kb-2039495"]
    mutant = next(item for item in make_mutants(one) if item.site.where == "outcomes 5")
    same = [
        node is was
        for node, was in zip(list_conditions(mutant.rule), list_conditions(one), strict=True)
    ]

    assert same.count(False) == 1
    assert all(
        node is was
        for node, was in zip(
            list_conditions(replace_nodes(one, {})), list_conditions(one), strict=True
        )
    )
