"""What pasting does to a vsish dump must not change what is read from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
DUMPS = [
    ("client_stats", "esxi60"),
    ("vmxnet3_rx_summary", "esxi60"),
    ("vmxnet3_rx_summary", "esxi8"),
    ("vmxnet3_rx_queue", "status"),
]
REMARKS = st.sampled_from(
    ["", "  <-- look here", "\t(we saw this before)", " # 12", "   rather small", " !"]
)


@st.composite
def pasted(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """A dump as it comes out of mails and blogs: other indents, remarks, blank lines, no brace."""
    indent = draw(st.sampled_from(["", " ", "   ", "\t"]))
    found = []
    for line in lines:
        if line.strip() == "}" and draw(st.booleans()):
            continue
        remark = draw(REMARKS) if ":" in line else ""
        found.append(indent + line.strip() + remark)
        if draw(st.integers(0, 9)) == 0:
            found.append("")
    return found


@pytest.mark.parametrize(("name", "sample"), DUMPS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_lost_indents_braces_and_typed_remarks_change_nothing(
    name: str, sample: str, data: st.DataObject
) -> None:
    """Indents, blank lines, a missing brace and words after a value leave every counter as it was."""
    folder = SAMPLES / "esxi" / "network" / name
    text = (folder / f"{sample}.txt").read_text(encoding="utf-8").splitlines()
    wanted = json.loads((folder / f"{sample}.json").read_text(encoding="utf-8"))["rows"]
    (table, (expected,)) = next(iter(wanted.items()))
    parser = registry()[name]
    lines = data.draw(pasted(text))
    assert parser.starts_at(lines[0])
    assert all(parser.goes_on(line) for line in lines if line.strip())
    found = list(parser.parse(Block(lines, address="a")))
    assert [item for item in found if isinstance(item, Fault)] == []
    (row,) = [item for item in found if isinstance(item, Row)]
    assert row.table.name == table
    told = {key: value for key, value in row.values.items() if value is not None}
    assert told == {k: v for k, v in expected.items() if k not in ("switch", "port_id", "queue")}


@pytest.mark.parametrize(("name", "sample"), DUMPS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_value_that_is_no_number_is_reported_and_stays_unknown(
    name: str, sample: str, data: st.DataObject
) -> None:
    """A counter cut to «12...» or overwritten with words is a fault, never another number, never 0."""
    text = (
        (SAMPLES / "esxi" / "network" / name / f"{sample}.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    keyed = [n for n, line in enumerate(text) if ":" in line]
    at = data.draw(st.sampled_from(keyed))
    damage = data.draw(st.sampled_from(["12...", "n/a", "1e5", "-", "0x", "12,345", "…"]))
    parser = registry()[name]
    whole = [item for item in parser.parse(Block(text)) if isinstance(item, Row)]
    text[at] = text[at].split(":")[0] + ":" + damage
    found = list(parser.parse(Block(text)))
    assert [item.line for item in found if isinstance(item, Fault)] == [at + 1]
    (row,) = [item for item in found if isinstance(item, Row)]
    changed = {key for key, value in row.values.items() if value != whole[0].values[key]}
    assert len(changed) == 1
    assert row.values[changed.pop()] is None


def test_two_dumps_in_one_text_are_two_rows() -> None:
    """A loop over queues prints one dump after the other: each heading opens a row, brace or not."""
    text = ["status of a vmxnet3 vNIC rx queue {", "ring #1 size:256", "ring #2 size:32"] * 2
    found = list(registry()["vmxnet3_rx_queue"].parse(Block(text)))
    assert [(item.line, item.values["ring1_size"]) for item in found if isinstance(item, Row)] == [
        (2, 256),
        (5, 256),
    ]
