"""Silence in a log of several members: nothing is heard in a copy that was not sent, or that was cut."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tests.kit.rule_kit import BASE, Kit, rule

CALM = rule(
    "calm",
    logs="{bad: {in: esxi.made_up_log, match: 'bad thing'}}",
    seen="{calm: {none: bad, for: 24h}}",
)


def member(begin: int, end: int, what: str = "well") -> str:
    """Return a line each hour, from so many hours before the end of the day to so many."""
    hours = range(-begin, -end + 1)
    stamps = [datetime(2024, 1, 5) + timedelta(hours=hour) for hour in hours]
    return "".join(f"{stamp:%Y-%m-%dT%H:%M:%S}Z {what}\n" for stamp in stamps)


def verdict(members: dict[str, str], *cut: str) -> str:
    """Return the verdict on a host whose log has these members."""
    kit = Kit().add(BASE, [{"key": 1}])
    for name, text in members.items():
        kit.log(
            CALM,
            text,
            source=f"b.tgz!b/var/run/log/{name}",
            cut="ended early" if name in cut else "",
        )
    (found,) = [
        name
        for name, count in kit.judge(CALM).counts["made-up"].items()
        if count and name != "not_applicable"
    ][:1]
    return found


WHOLE = {
    "x.log": member(5, 0),
    "x.0.gz": member(12, 6),
    "x.1.gz": member(20, 13),
    "x.2.gz": member(40, 21),
}


def without(*names: str) -> dict[str, str]:
    """Return the whole log without some members."""
    return {name: text for name, text in WHOLE.items() if name not in names}


def test_a_log_in_several_members_is_quiet_when_it_has_no_hole() -> None:
    """The current file and its rotated copies reach back a day: nothing bad stood in it."""
    assert verdict(WHOLE) == "match"
    assert verdict({**WHOLE, "x.1.gz": WHOLE["x.1.gz"] + member(13, 13, "bad thing")}) == "no_match"


@pytest.mark.parametrize("gone", ["x.0.gz", "x.1.gz"])
def test_a_rotated_copy_that_is_missing_makes_the_silence_unknown(gone: str) -> None:
    """What stood in it is not known, though the log begins and ends where it should."""
    assert verdict(without(gone)) == "cannot_tell"


def test_a_copy_that_is_missing_before_the_time_asked_does_not_matter() -> None:
    """Only the last 24 hours are asked for."""
    older = {**WHOLE, "x.4.gz": member(90, 80)}
    assert verdict(older) == "match"


def test_copies_that_are_counted_from_one_have_no_hole() -> None:
    """`x.log.1` follows `x.log` where the times meet; where they do not, a copy is missing."""
    near = member(12, 6) + "2024-01-04T18:59:58Z well\n"
    current = "2024-01-04T19:00:00Z well\n" + member(5, 0)
    assert verdict({"x.log": current, "x.log.1": near, "x.log.2.gz": member(40, 13)}) == "match"
    assert (
        verdict({"x.log": current, "x.log.1": member(12, 9), "x.log.2.gz": member(40, 13)})
        == "cannot_tell"
    )


def test_a_member_that_was_cut_makes_the_silence_unknown() -> None:
    """Any of them: the lines that were lost may be the ones."""
    for name in ("x.log", "x.0.gz"):
        assert verdict(WHOLE, name) == "cannot_tell"
