"""The report lists findings by the object they are about, so that an engineer sees what else is wrong with it.

All lines here are synthetic; their forms are those of parsers/esxi/logs/vobd.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import structs

from analyzer.report import html
from analyzer.report.objects import CaseObject, list_objects
from tests.pipeline.test_problems import VOBD, triage, vobd

LINES = [
    vobd(
        1,
        "esx.problem.net.vmnic.linkstate.flapping",
        "Physical NIC vmnic2 linkstate is flapping (synthetic).",
    ),
    vobd(2, "esx.problem.net.vmnic.linkstate.down", "Physical NIC vmnic2 linkstate is down."),
    vobd(
        3,
        "esx.problem.net.redundancy.lost",
        'Lost uplink redundancy on virtual switch "vSwitch0". (synthetic)',
    ),
    vobd(4, "esx.problem.scsi.device.io.latency.high", "(synthetic) <b>vmnic2</b> is odd"),
]


def by_name(doc: dict[str, Any]) -> dict[str, CaseObject]:
    """Return the objects of a case by their names."""
    return {one.name: one for one in list_objects(doc)}


def test_findings_and_signals_of_one_nic_stand_together(tmp_path: Path) -> None:
    """Two findings about vmnic2 and an event that no rule knows are one entry; the switch is another."""
    doc, _ = triage(tmp_path, {VOBD: LINES})
    found = by_name(doc)

    assert [len(found["vmnic2"].own), len(found["vmnic2"].signals)] == [2, 1]
    assert len(found["vSwitch0"].own) == 1
    assert next(iter(found)) == "vmnic2"  # most is told of it
    page = html.render_page(doc)
    assert "By object: all that is wrong with it" in page
    for finding in found["vmnic2"].own:
        assert f'<a href="#f={html.make_anchor(finding.id)}">{finding.title}</a>' in page


def test_a_finding_that_mentions_an_object_of_its_node_stands_with_it(tmp_path: Path) -> None:
    """A sentence that names vmnic2 is listed there as a mention; vmnic20 is another NIC, muted ones are left out."""
    doc, _ = triage(tmp_path, {VOBD: LINES})
    switch = next(one for one in doc.findings if one.object == "vSwitch0")
    other = structs.replace(
        switch, id="made-up", object="vSwitch9", say="Its only uplink is vmnic20, not vmnic2."
    )
    muted = structs.replace(other, id="muted", muted="known")
    elsewhere = structs.replace(other, id="elsewhere", node="another host")
    doc.findings += [other, muted, elsewhere]

    assert [one.id for one in by_name(doc)["vmnic2"].mentioned] == ["made-up"]


def test_a_case_with_one_finding_has_no_index(tmp_path: Path) -> None:
    """Where nothing else is told of an object there is nothing to list."""
    doc, _ = triage(tmp_path, {VOBD: LINES[2:3]})

    assert "By object" not in html.render_page(doc)
