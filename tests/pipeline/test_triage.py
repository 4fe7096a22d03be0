"""The whole way: from the sample cases to the findings an engineer must see."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.pipeline.triage import triage
from analyzer.runtime.errors import RefusedError
from tests.kit import hostile
from tools.case_text import adv_delta
from tools.make_case import vm_support

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"


def document(name: str) -> dict[str, Any]:
    """Return the case document of one sample case."""
    return triage([CASES / name]).document


def finding(doc: dict[str, Any], rule: str, word: str = "") -> dict[str, Any]:
    """Return the finding of a rule whose subject holds a word."""
    found = [f for f in doc.findings if f.rule == rule and word in f.subject]
    assert found, f"{rule} is not among {[(f.rule, f.subject) for f in doc.findings]}"
    return found[0]


def test_the_measured_case_is_found_with_its_arithmetic() -> None:
    """0.019 % lost and yet 86,715 retransmits: found, with 7086 + 3284 = 10370 on the very lines."""
    doc = document("lab-ring-before")
    ring = finding(doc, "kb-2039495", "33554464")
    words = " ".join([ring.say, *ring.also])

    assert (ring.severity, ring.confidence) == ("warning", "confirmed")
    assert "7,086 (ring #1) + 3,284 (ring #2) = 10,370" in words
    assert "0.019%" in words
    assert "86,715" in words
    shown = {(e.label.split(" = ")[0], e.text.strip()) for e in ring.evidence}
    assert ("rx.ring1_full", "# of times the 1st ring is full:7086") in shown
    assert ("port.dropped_rx", "droppedRx:10312") in shown
    for evidence in ring.evidence:
        if evidence.address.endswith("esx0.txt"):
            lines = (CASES / "lab-ring-before" / "esx0.txt").read_text().split("\n")
            assert lines[evidence.line - 1].strip() == evidence.text.strip()


def test_guest_and_host_agree_on_the_number() -> None:
    """The guest's receive queues, 7129 + 3241, give the host's 10370, and the finding says so."""
    ring = finding(document("lab-ring-before"), "kb-2039495")

    assert any("10,370 packets out of buffers" in line for line in ring.also)
    assert {"pkts rx OOB: 7129", "pkts rx OOB: 3241"} <= {e.text.strip() for e in ring.evidence}


def test_after_the_fix_only_ring_two_is_named() -> None:
    """After ring #1 was raised the text names ring #2 and the severity falls to info."""
    ring = finding(document("lab-ring-after"), "kb-2039495", "33554467")

    assert ring.severity == "info"
    assert "Only ring #2" in ring.say


def test_a_windows_guest_with_one_queue() -> None:
    """Four vCPUs and one receive queue: the finding names receive side scaling."""
    ring = finding(document("windows-guest"), "kb-2039495", "33554470")

    assert "One receive queue" in ring.say
    assert ring.severity == "major"


def test_the_cpu_limit_comes_before_the_ring_it_explains() -> None:
    """The limit is the first finding; the full ring refers to it and does not ask for a bigger ring."""
    doc = document("cpu-limited-vm")
    limit, ring = (
        finding(doc, "cpu-limit-starves-vm", "lin-app07"),
        finding(doc, "kb-2039495", "33554480"),
    )

    assert doc.findings[0].id == limit.id
    assert (limit.severity, limit.confidence) == ("major", "confirmed")
    assert "800 MHz" in limit.say
    assert limit.id in ring.explained_by
    assert "Raise the limit first" in ring.say
    assert all(f.subject.find("lin-db") < 0 for f in doc.findings if f.rule.startswith("cpu-"))
    assert limit.chart
    assert doc.series[limit.chart[0]].lines


def test_the_nsx_site_is_judged_across_its_nodes() -> None:
    """Manager, three controllers and two hosts give the API fault, and the DLR tables on each host."""
    doc = document("nsx-633-site")
    api = finding(doc, "kb-2151719")
    tables = [f for f in doc.findings if f.rule == "nsx-1970527"]

    assert (api.severity, api.confidence) == ("major", "likely")
    assert "none of its 3 controllers" in api.say
    assert {(f.severity, f.node.split(".")[0]) for f in tables} == {
        ("major", "esx41"),
        ("warning", "esx42"),
    }
    assert finding(doc, "nsx-1961105").confidence == "exposed"
    assert {node.kind for node in doc.nodes} == {"esxi", "nsx_manager", "nsx_controller"}
    manager = next(node for node in doc.nodes if node.kind == "nsx_manager")
    assert (manager.version, manager.build) == ("6.3.3", "6276725")


@pytest.mark.size
def test_evidence_carries_the_address_through_the_archive() -> None:
    """Evidence inside an archive is addressed `outer.tgz!top/member` with a line."""
    for found in document("nsx-633-site").findings:
        if found.rule == "nsx-1970527":
            inside = [e for e in found.evidence if "dump-vdr-info.sh.txt" in e.address]
            assert inside
            assert inside[0].address.startswith("esx-esx4")
            assert "!" in inside[0].address
            assert inside[0].line > 0


def test_a_healthy_host_is_quiet_and_says_what_it_looked_at() -> None:
    """No finding but that its old build has known faults; rules that could look are quiet, not clean by absence."""
    doc = document("healthy-host")

    assert {(one.rule, one.severity, one.confidence) for one in doc.findings} <= {
        ("esxi-defect", "info", "exposed")
    }
    looked = {rule.rule for rule in doc.quiet if rule.looked_at}
    assert {
        "kb-2039495",
        "cpu-contention",
        "pnic-loses-packets",
        "beacon-probing",
        "adapter-not-vmxnet3",
    } <= looked


def test_settings_that_bite_are_found() -> None:
    """E1000, beacon probing with IP hash, CRC errors, coalescing, TSO off and a hidden warning are all seen."""
    rules = {f.rule for f in document("config-traps").findings}

    assert {
        "adapter-not-vmxnet3", "beacon-probing", "pnic-loses-packets", "coalescing-non-default",
        "coalescing-vnic", "lro-tso-off", "shell-warning-suppressed",
    } <= rules  # fmt: skip


def test_a_cut_bundle_is_named_and_nothing_in_it_is_called_clean() -> None:
    """The fault has a byte offset, and what needed the lost part says «cannot tell»."""
    doc = document("cut-bundle")

    assert doc.case.complete is False
    assert doc.damage[0].offset > 0
    whole = {f.rule for f in document("config-traps").findings}
    unsure = {rule for group in doc.cannot_tell for rule in group.rules}
    assert whole <= unsure | {f.rule for f in doc.findings}


def answers(doc: dict[str, Any]) -> set[str]:
    """Return the rules that match or cannot tell."""
    return {f.rule for f in doc.findings} | {rule for g in doc.cannot_tell for rule in g.rules}


def bundle_of(name: str) -> bytes:
    """Return the bytes of the one archive of a sample case."""
    return next((CASES / name).glob("*.tgz")).read_bytes()


@pytest.mark.size
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    part=st.floats(0.02, 0.995),
    name=st.sampled_from(["config-traps", "cpu-limited-vm", "healthy-host"]),
)
def test_a_cut_never_turns_an_answer_into_no_match(tmp_path: Path, part: float, name: str) -> None:
    """Wherever a bundle is cut: what matched or could not be told before is never «no match» after."""
    data = bundle_of(name)
    whole, cut = tmp_path / "whole.tgz", tmp_path / "whole" / "whole.tgz"
    cut.parent.mkdir(exist_ok=True)
    whole.write_bytes(data)
    cut.write_bytes(data[: int(len(data) * part)])
    with hostile.rules_read_once():
        before = triage([whole]).document
        try:
            after = triage([cut]).document
        except RefusedError:
            return
    assert answers(before) <= answers(after)
    assert after.case.complete is False


def test_addresses_go_through_every_layer(tmp_path: Path) -> None:
    """A bundle inside a zip-like wrapper keeps its whole address in the evidence."""
    inner = bundle_of("config-traps")
    outer = tmp_path / "wrapper.tar"
    with tarfile.open(outer, "w") as tar:
        info = tarfile.TarInfo("export/esx61.tgz")
        info.size = len(inner)
        tar.addfile(info, io.BytesIO(inner))
    found = finding(triage([outer]).document, "pnic-loses-packets")

    assert found.evidence[0].address.startswith("wrapper.tar!export/esx61.tgz!esx-esx61")


def test_a_hole_in_a_log_is_no_proof_of_absence(tmp_path: Path) -> None:
    """NUL bytes where lines of vobd.log were: a sign that is not seen there is not called absent."""
    for name, hole in (("whole", b""), ("holed", b"\0" * 512)):
        options = adv_delta({"/UserVars/SuppressShellWarning": (1, 0)})
        line = "2017-10-14T16:40:02.101Z: [netCorrelator] 3541602000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic0 up\n"
        _, files = vm_support(
            "esx1.lab.example",
            "6.5.0",
            5969303,
            {"commands/localcli_system-settings-advanced-list--d.txt": options},
        )
        for path, text in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            body = line.encode() + hole + line.encode() if path.endswith("vobd.log") else text
            (tmp_path / name / path).write_bytes(body.encode() if isinstance(body, str) else body)
    whole = finding(triage([tmp_path / "whole"]).document, "shell-warning-suppressed")
    holed = finding(triage([tmp_path / "holed"]).document, "shell-warning-suppressed")

    assert "esxi.vobd" not in whole.maybe_worse
    assert "esxi.vobd" in holed.maybe_worse


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir() if path.is_dir()))
def test_every_line_of_evidence_can_be_looked_up(case: str) -> None:
    """Each evidence of each case names a member and a line, and no number stands without its origin."""
    for found in document(case).findings:
        assert found.evidence, found.id
        for evidence in found.evidence:
            assert evidence.address
            assert evidence.line >= 1
