"""Signals carry no secret, whatever line or answer it stands in, and the same material gives the same signals."""

from pathlib import Path

import pytest

from analyzer.case.case_file import write_case
from analyzer.pipeline.triage import triage
from analyzer.report import html

SECRET = "Zq7vNutria42Kelp"
LINES = {
    "vmkernel.log": "2024-03-01T10:10:01.000Z cpu3:2098123)WARNING: acmefs: (synthetic) mount failed: user=root password={secret}",
    "hostd.log": "2024-03-01T10:10:01.000Z error hostd[2099995] [Originator@6876 sub=Vimsvc] (synthetic) login failed: https://root:{secret}@192.0.2.1/sdk",
    "vmware.log": "2024-03-01T10:10:01.000Z In(05) vmx - (synthetic) failed to unlock: passphrase = '{secret}'",
    "vobd.log": "2024-03-01T10:10:01.000Z: [netCorrelator] 100us: [esx.problem.synthetic] failed with token={secret}",
    "answer.txt": '$ curl -k https://nsx.example/api/v1/x\n{{"error_code": 403, "error_message": "refused", "password": "{secret}"}}',
    "ansible.txt": 'fatal: [localhost]: FAILED! => {{"msg": "login refused", "vcenter_password": "{secret}"}}',
}


@pytest.mark.parametrize("name", LINES)
def test_no_secret_is_in_a_signal_or_its_report(tmp_path: Path, name: str) -> None:
    """The line is listed, its password is not: neither verbatim nor as a template, nor in what to search for."""
    text = LINES[name].format(secret=SECRET)
    (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    document = triage([tmp_path / name]).document
    shown = write_case(document) + html.render_page(document)

    assert document.signals or document.findings
    assert SECRET not in shown
    assert SECRET.lower() not in shown.lower()


def test_the_same_lines_give_the_same_signals(tmp_path: Path) -> None:
    """A hundred kinds of lines, more than a machine lists: the document is the same, byte for byte."""
    words = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
    lines = [
        f"2024-03-01T10:{number // 60:02}:{number % 60:02}.000Z cpu3:2098123)WARNING: acme{one}: (synthetic) {two} failed"
        for number, (one, two) in enumerate((one, two) for one in words for two in words)
    ]
    (tmp_path / "vmkernel.log").write_text("\n".join([*lines * 4, ""]), encoding="utf-8")
    first = triage([tmp_path / "vmkernel.log"]).document
    second = triage([tmp_path / "vmkernel.log"]).document

    assert write_case(first) == write_case(second)
    assert len(first.signals) == 60 and first.signals_total == 100
