"""What machines of other sites show all the time (kb.background) ranks lower, and no telling sign does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analyzer.rules.fact_tables import read_facts, read_shipped
from analyzer.rules.sources import RuleSource
from analyzer.signals.background import (
    LEAST_SITES,
    KnownBackground,
    lower_background,
    read_background,
)
from analyzer.signals.kinds import hash_kind

HEAD = (
    "kind_hash,machines_with,machines_counted,machines_healthy,sites_with,versions_with,source,mark"
)
HASH = hash_kind("line", "scsi", "path # is gone")


def read_rows(folder: Path, *rows: str) -> dict[str, KnownBackground]:
    """Return what the rows of a user's file say."""
    facts = folder / "facts"
    facts.mkdir()
    (facts / "background.csv").write_text("\n".join([HEAD, *rows, ""]), "utf-8")
    shipped = RuleSource("shipped", files=[Path(__file__).parents[2] / "analyzer" / "kb"])
    found = read_facts([shipped, RuleSource("folder", files=[folder])])
    assert not found.broken
    return read_background(found.tables)


def make_signal(**more: Any) -> dict[str, Any]:
    """Return a signal of the kind that the rows speak of."""
    signal = {"node": "n0", "kind": "line", "module": "scsi", "what": "path # is gone"}
    return {**signal, "weight": 6.0, "why": ["gone"], "age": "", **more}


@pytest.fixture
def known() -> dict[str, KnownBackground]:
    """Return a background of one kind."""
    return {HASH: KnownBackground(30, 37, 37)}


def test_no_background_comes_with_the_tool() -> None:
    """None was measured, and none is made up."""
    assert read_background(read_shipped()) == {}


def test_a_row_of_three_sites_lowers_its_kind(tmp_path: Path) -> None:
    """The reason says of how many; the sign stays."""
    known = read_rows(tmp_path, f"{HASH},30,37,37,{LEAST_SITES},6.7.0,our archive,verified")
    (one,) = lower_background([make_signal()], known)
    assert one["weight"] == pytest.approx(6 - 1 - 2 * 30 / 37)
    assert one["why"] == ["gone", "in 81 % of 37 healthy machines"]
    assert one["age"] == "known background"


def test_a_kind_of_fewer_sites_is_never_lowered(tmp_path: Path) -> None:
    """Whatever share of the machines a row claims, with fewer than three sites it says nothing."""
    rows = [
        f"{HASH},900,900,900,{LEAST_SITES - 1},6.7.0,our archive,verified",
        f"{'0' * 16},0,37,37,9,,our archive,verified",
    ]
    known = read_rows(tmp_path, *rows)
    assert known == {}
    signals = [make_signal()]
    assert lower_background(signals, known) == signals


@pytest.mark.parametrize("age", ["new", "grown", "burst"])
def test_news_of_this_machine_keeps_its_rank(age: str, known: dict[str, KnownBackground]) -> None:
    """What began or grew here is news, whatever other machines say."""
    signals = [make_signal(age=age)]
    assert lower_background(signals, known) == signals


def test_what_a_host_calls_a_problem_keeps_its_rank() -> None:
    """Events, ALERTs, backtraces and dumps are no background; nor are lines that were counted together."""
    for kind in ("event", "alert", "backtrace", "core dump", "core dump file", "few lines", "line"):
        what = "" if kind == "line" else "path # is gone"
        known = {hash_kind(kind, "scsi", what): KnownBackground(9, 9, 9)}
        signals = [make_signal(kind=kind, what=what)]
        assert lower_background(signals, known) == signals


def test_a_sign_stays_over_the_bar(known: dict[str, KnownBackground]) -> None:
    """A report never calls a machine quiet because others say the same; below the bar nothing changes."""
    weights = [one["weight"] for one in lower_background([make_signal(weight=3.5)], known)]
    assert weights == [3.0]
    (light,) = lower_background([make_signal(weight=2.0)], known)
    assert light["weight"] == 2.0


def test_the_age_by_its_own_past_stays(known: dict[str, KnownBackground]) -> None:
    """What was there all along here is still said to be; others than healthy machines are named as what they are."""
    (one,) = lower_background([make_signal(age="all along")], known)
    assert one["age"] == "all along"
    mixed = KnownBackground(30, 37, 12)
    assert mixed.describe_share() == "in 81 % of 37 other machines, there all along"
