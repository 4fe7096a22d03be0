"""The literal gate in front of TextFSM, and the time of a log line."""

# ruff: noqa: SIM905 - lists of lines read better as text

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
import textfsm
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.scan import engines
from analyzer.scan.gate import gate_fault, gate_template

SELECTIVE = r"""Value Required TIME (\S+)
Value WORLD (\d+)
Value LEVEL (WARNING|ALERT)
Value TEXT (.*)

Start
  ^${TIME} cpu\d+:${WORLD}\)${LEVEL}: ${TEXT} -> Record
"""

COMPLEX = r"""Value Filldown HOST (\S+)
Value Required PORT (0x[0-9a-f]+)
Value List STEPS (\w+)
Value STATE (up|down)

Start
  ^Host:\s+${HOST} -> Continue.Clear
  ^port ${PORT}: begins -> Ports
  ^END -> End

Ports
  ^  step ${STEPS}
  ^  (?:link|uplink) is ${STATE} -> Continue
  ^  link -> Record Start
  ^Host:\s+${HOST} -> Start
"""

CATCH_ALL = SELECTIVE + "  ^. -> Error\n"

LINES = st.sampled_from(
    "2021-03-08T14:49:25Z cpu1:77)WARNING: Heap: full|2021-03-08T14:49:25Z cpu1:77)NetPort: 1879: disabled port 0x2|"
    "Host: esx1|Host:  esx2|port 0x2a: begins|port 0x2b: begins|  step one|  step two|  link is up|  uplink is down|"
    "  link|END||noise|step one|  step zwölf|cpu1:7)ALERT: x|2021Z cpu2:7)ALERT: a\x0bb|a\x85b WARNING|\u2028port 0x1: begins".split(
        "|"
    )
)
TEXTS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])), max_size=40).map(
    lambda pairs: "".join(line + end for line, end in pairs).encode()
)


def plain(template: str, data: bytes) -> list[list[object]]:
    """Return the rows of unmodified TextFSM over the whole text."""
    rows: list[list[object]] = textfsm.TextFSM(StringIO(template)).ParseText(data.decode("utf-8", "surrogateescape"))
    return rows


@pytest.mark.parametrize("engine", [name for name in engines.ENGINES if engines._available(name)])
@pytest.mark.parametrize("template", [SELECTIVE, COMPLEX], ids=["selective", "complex"])
@given(data=TEXTS)
@settings(max_examples=60, deadline=None)
def test_rows_are_the_same_with_and_without_the_gate(template: str, engine: str, data: bytes) -> None:
    """Whatever the lines and line ends: gated rows equal those of unmodified TextFSM, twice in a row."""
    gate = gate_template(template, engine)
    assert gate is not None
    wanted = plain(template, data)
    assert gate.rows(data) == wanted
    assert gate.rows(data) == wanted


def test_the_gate_names_the_lines_it_lets_through() -> None:
    """Lines come with the number they have in the text; the rest stays outside."""
    gate = gate_template(SELECTIVE)
    assert gate is not None
    data = b"noise\n\n2021Z cpu1:7)WARNING: a\nnoise\n2021Z cpu1:7)ALERT: b"
    assert list(gate.lines(data)) == [(3, "2021Z cpu1:7)WARNING: a"), (5, "2021Z cpu1:7)ALERT: b")]


def test_long_texts_pass_in_batches() -> None:
    """Ten thousand rows over several blocks: none lost where batches and blocks meet."""
    data = b"".join(b"t%d cpu1:%d)WARNING: %s\nnoise\n" % (n, n, b"x" * 200) for n in range(10_000))
    gate = gate_template(SELECTIVE)
    assert gate is not None
    assert gate.rows(data) == plain(SELECTIVE, data)


def test_a_template_with_a_catch_all_is_not_gated() -> None:
    """`^.` matches any line, so that leaving lines out would change what happens; the fault names the rule."""
    assert gate_template(CATCH_ALL) is None
    assert gate_fault(CATCH_ALL) == "template line 8, state Start: no literal text in `^.`"
    assert gate_fault(SELECTIVE) == ""


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent.parent / "templates").glob("*.textfsm")), ids=lambda p: p.stem
)
def test_every_template_of_the_project_is_gated_right_or_not_at_all(path: Path) -> None:
    """On a text of all samples, each template that can be gated gives the same rows as plain TextFSM."""
    gate = gate_template(path.read_text(encoding="utf-8"))
    if gate is None:
        assert gate_fault(path.read_text(encoding="utf-8"))
        return
    samples = sorted((path.parent.parent / "samples").glob(f"{path.stem}*/*.txt"))
    data = b"\n".join(sample.read_bytes() for sample in samples)
    try:
        wanted = plain(path.read_text(encoding="utf-8"), data)
    except textfsm.TextFSMError as error:
        with pytest.raises(textfsm.TextFSMError, match="Error"):
            gate.rows(data)
        assert "Error" in str(error)
        return
    assert gate.rows(data) == wanted
