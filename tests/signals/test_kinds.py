"""Kinds of signals: what makes two of them the same in different cases."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.signals.kinds import tally_kinds


def sign(what: str, kind: str = "line", module: str = "m", **more: Any) -> dict[str, Any]:
    """Return a signal."""
    return {"node": "n0", "kind": kind, "module": module, "what": what, **more}


def hashes(*signals: dict[str, Any]) -> int:
    """Return how many kinds some signals are."""
    return len(tally_kinds(signals))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rx_errors is 4,501, 0.0055 % of rx_packets", "rx_errors is 9, under 0.001 % of rx_packets"),
        ("ring1_full is 7086; ring2_full is 3", "ring1_full is 12"),
        ("free_pct is 5, under 10", "free_pct is 0.4, under 10"),
        ("skew is -3", "skew is 12"),
        ("last_error: device 12 at 0x3f failed", "last_error: device 7 at 0x2a failed"),
    ],
)  # fmt: skip
def test_values_of_cells_part_no_kinds(one: str, other: str) -> None:
    """A cell of the same column that says another number is of the same kind; its template has no number."""
    assert hashes(sign(one, "cell"), sign(other, "cell")) == 1
    (kind,) = tally_kinds([sign(one, "cell")])
    assert not any(word in kind.template for word in ("4,501", "7086", "0x3f", "5"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (sign("path_state is dead", "cell"), sign("path_state is off", "cell")),
        (sign("rx is 4", "cell", "a.rx"), sign("rx is 4", "cell", "b.rx")),
        (sign("lost #"), sign("lost #", module="other")),
        (sign("kb-1 asks for 3 lines", "few lines"), sign("kb-2 asks for 3 lines", "few lines")),
        (sign("esx.problem.a", "event"), sign("esx.problem.a", "alert")),
        (sign("ab", module="c"), sign("b", module="ca")),
    ],
)
def test_what_they_say_parts_them(one: dict[str, Any], other: dict[str, Any]) -> None:
    """State, column, module, rule and kind make kinds; the parts of a kind do not run into each other."""
    assert hashes(one, other) == 2


def test_dumps_of_other_numbers_are_one_kind() -> None:
    """The number in the name of a core dump file is no kind of its own."""
    assert (
        hashes(sign("zdump.1", "core dump file", ""), sign("zdump.12", "core dump file", "")) == 1
    )


def test_signals_of_several_machines_are_counted_together() -> None:
    """One kind a hash: counts add up, the age is that of the heaviest, machines are counted once."""
    (kind,) = tally_kinds(
        [
            sign("lost #", count=3, weight=2.0, age="steady"),
            sign("lost #", count=4, weight=5.0, age="new", node="n1"),
            sign("lost #", count=1, weight=1.0, age="grown", node="n1"),
        ]
    )
    assert (kind.count, kind.weight, kind.age, kind.nodes) == (8, 5.0, "new", {"n0", "n1"})


def test_lines_counted_together_are_no_kind() -> None:
    """What says nothing by itself is left out, and the hash of a kind stays what it is in all versions."""
    assert tally_kinds([sign("")]) == []
    (kind,) = tally_kinds([sign("lost #", module="scsi")])
    assert kind.hash == "3d2574f92eb8ee71"
