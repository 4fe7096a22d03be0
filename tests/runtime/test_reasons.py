"""Reasons of many nodes become one sentence for each kind; the names and lines are made up."""

from __future__ import annotations

import pytest

from analyzer.runtime.reasons import merge_reasons


@pytest.mark.parametrize("name", ["esx1", "esx1.lab", "a+b", "(esx1)", "esx 1"])
def test_reasons_that_differ_in_the_node_are_one(name: str) -> None:
    """Whatever a node is called, its name is put in the list of the nodes."""
    reasons = [(f"the log of {one} is not there", one) for one in (name, "esx2")]

    assert merge_reasons(reasons) == [f"the log of {name} and esx2 is not there"]


def test_a_name_within_a_longer_one_is_not_the_node() -> None:
    """Of `esx1.lab` nothing belongs to `esx1`, wherever the shorter name stands."""
    reasons = [
        ("the log of esx1.lab is not there", "esx1"),
        ("a copy of esx1-old was read, the log of esx1 is not there", "esx1"),
    ]

    assert merge_reasons(reasons) == [reason for reason, _ in reasons]


def test_each_reason_of_a_thousand_nodes_is_counted() -> None:
    """More names than `re` remembers patterns make one sentence all the same."""
    names = [f"esx{number:04}" for number in range(1000)]

    merged = merge_reasons((f"the log of {name} is not there", name) for name in names)

    assert merged == ["the log of esx0000, esx0001, esx0002, esx0003 and 996 more is not there"]
