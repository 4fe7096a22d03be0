"""What the linter says of conditions without data is true for every value there can be."""

from __future__ import annotations

from functools import total_ordering
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.authoring.lint.conditions import does_follow, is_always, is_never
from analyzer.facts.database import version_key
from analyzer.rules.language.expression import ExprNode
from tests.kit.rule_kit import rule

VERSIONS = ("6.3", "6.3.0", "6.3.9", "6.3.10", "7.0-1")


@total_ordering
class Version:
    """A version that compares with text part by part, as the rule language does."""

    def __init__(self, text: str) -> None:
        self.key = version_key(text) or ""

    def __eq__(self, other: object) -> bool:
        return self.key == version_key(str(other))

    def __lt__(self, other: str) -> bool:
        return self.key < (version_key(other) or "")

    def __hash__(self) -> int:
        return hash(self.key)


WORLD = [
    SimpleNamespace(a=a, f=f, s=s, t=t, v=Version(v))
    for a, f, s, t, v in product(
        (-1, 0, 1, 2, 3, 4), (0.5, 1.0, 2.5), ("x", "y", "z"), (True, False), VERSIONS[1:]
    )
]


def node(text: str) -> ExprNode:
    """Return the checked condition of a text."""
    return rule(f'"{text}"').when


def truths(text: str) -> list[bool]:
    """Return what a condition is for each row of the world."""
    return [
        bool(eval(text, {"__builtins__": {}}, {"one": one, "true": True, "false": False}))
        for one in WORLD
    ]


COMPARE = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
ATOMS = st.one_of(
    st.builds("one.a {} {}".format, COMPARE, st.integers(-1, 4)),
    st.builds("{} {} one.a".format, st.integers(0, 3), COMPARE),
    st.builds("{} <= one.a < {}".format, st.integers(0, 3), st.integers(0, 3)),
    st.builds("one.f {} {}".format, COMPARE, st.sampled_from(["0.5", "1", "2.5"])),
    st.builds("one.a {} one.f".format, COMPARE),
    st.builds("one.s {} '{}'".format, st.sampled_from(["==", "!="]), st.sampled_from("xyz")),
    st.builds("one.s {} ['x', 'y']".format, st.sampled_from(["in", "not in"])),
    st.builds("one.v {} '{}'".format, COMPARE, st.sampled_from(VERSIONS)),
    st.sampled_from(
        ["one.t", "not one.t", "one.t == true", "true", "false", "1 < 2", "one.a != one.a"]
    ),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("(not {})".format, inner.map("({})".format)),
    ),
    max_leaves=5,
)


@pytest.mark.size
@settings(max_examples=250, deadline=None)
@given(CONDITIONS, CONDITIONS)
def test_what_is_said_is_so_for_every_row(one: str, two: str) -> None:
    """Never true, never false, follows: no row of a small world tells otherwise."""
    first, second = truths(one), truths(two)

    assert not (is_never([node(one)]) and any(first))
    assert not (is_always(node(one)) and not all(first))
    assert not (
        is_never([node(one), node(two)])
        and any(a and b for a, b in zip(first, second, strict=True))
    )
    if does_follow([node(one)], node(two)):
        assert all(b for a, b in zip(first, second, strict=True) if a)


@pytest.mark.parametrize(
    "text",
    [
        "one.a > 3 and one.a < 2",
        "one.a > 3 and one.a < 4",
        "one.s == 'x' and one.s == 'y'",
        "one.s in ['x', 'y'] and one.s not in ['y', 'x']",
        "one.v >= '6.3.10' and one.v < '6.3.9'",
        "one.t and not one.t",
        "one.f > 1 and one.f <= 1.0",
        "not (one.a > 1 or one.a <= 1)",
        "5 < one.a and one.a < 5",
        "one.a == 3 and one.a != 3",
        "one.at > '2020-01-01 00:00:00' and one.at < '2019-01-01 00:00:00'",
    ],
)
def test_what_excludes_itself_is_seen(text: str) -> None:
    """The linter sees the slips people make: swapped bounds, `and` for `or`."""
    assert is_never([node(text)])
    assert is_always(node(f"not ({text})"))


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        ("one.a >= 1000", "one.a >= 10"),
        ("one.a > 9", "one.a >= 10"),
        ("one.a >= 10 and one.t", "one.a >= 10"),
        ("one.a == 5", "one.a > 3 and one.a != 4"),
        ("one.s == 'x'", "one.s in ['x', 'y']"),
        ("one.v == '6.3.3'", "one.v < '6.3.10'"),
        ("one.a > 5", "one.a > 4 or one.t"),
        ("not (one.a < 5 or one.t)", "one.a >= 5"),
    ],
)
def test_what_follows_is_seen(given_: str, text: str) -> None:
    """Narrower bounds imply wider ones; the other way round they do not."""
    assert does_follow([node(given_)], node(text))
    assert not does_follow([node(text)], node(given_)) or given_ == "one.a > 9"
