"""Signals in the seconds before a severe finding: they say so, and the finding says what to look at first."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.pipeline.triage import triage
from analyzer.report import html, signals
from analyzer.signals.nearness import SECONDS, mark_near

LOG = """\
2021-03-01T10:00:00.000Z cpu3:2098123)Jumpstart: (synthetic) ready
{time}Z cpu3:2098123)WARNING: qlnativefc: vmhba3(d8:0.0): ISP abort - (synthetic) firmware fault, resetting the adapter
2021-03-01T10:10:09.000Z cpu3:2098123)StorageApdHandler: 1203: APD start for 0x4304b1c2 [naa.60000000000000000000000000000001]
2021-03-01T10:12:29.000Z cpu3:2098123)StorageApdHandler: 609: APD timeout event for 0x4304b1c2 [naa.60000000000000000000000000000001]
"""


@pytest.mark.parametrize(
    ("time", "is_near"),
    [
        ("2021-03-01T10:10:01.000", True),
        ("2021-03-01T10:09:54.000", True),
        ("2021-03-01T10:09:53.000", False),
    ],
)
def test_a_line_just_before_an_outage_is_shown_at_its_finding(
    tmp_path: Path, time: str, is_near: bool
) -> None:
    """Within 15 s it is what to look at first, and a sign of its own all the same; before that it is a sign alone."""
    (tmp_path / "vmkernel.log").write_text(LOG.format(time=time), encoding="utf-8")
    document = triage([tmp_path / "vmkernel.log"]).document
    (sign,) = (one for one in document.signals if one.module == "qlnativefc")
    outage = document.findings[0]

    assert outage.severity == "critical"
    assert (outage.rule in sign.precedes) is is_near
    assert (sign in signals.list_preceding(document, outage)) is is_near
    assert any("before a finding begins" in why for why in sign.why) is is_near
    assert ("Look at this first" in html.render_page(document)) is is_near


@given(
    stamp=st.one_of(
        st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
        st.text(max_size=25),
        st.just("1-01-01T00:00:00Z"),
    )
)
def test_no_signal_is_lost_and_only_near_ones_gain(stamp: str) -> None:
    """Whatever a clock printed: all signals come back in their order, and without findings as they were."""
    some = [{"node": "a", "first": stamp, "weight": 3.0, "why": ["x"]}, {"node": "b"}]

    assert mark_near(some, [], str) == some
    assert SECONDS == 15
