"""Lines that look bad and are not: counted for the end of the report, never a finding, and they hide none.

All lines here are synthetic; their forms are those of the articles that the rows of kb.harmless_line name.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzer.cli import main

HOST = "esx-esx0.lab.example-2023-10-14--16.53-71234"
ROWS = Path(__file__).resolve().parents[2] / "analyzer" / "kb" / "facts" / "harmless_line.csv"
LOGS = {
    "esxi.vmkernel": "var/run/log/vmkernel.log",
    "esxi.hostd": "var/run/log/hostd.log",
    "esxi.vpxa": "var/run/log/vpxa.log",
    "esxi.vobd": "var/run/log/vobd.log",
    "esxi.vm_log": "vmfs/volumes/6529e1f0-1b2c3d4e-0007-002590aa7001/vm1/vmware.log",
}
HEADS = {
    "esxi.vmkernel": "2023-10-14T09:{minute:02}:01.101Z cpu3:2098001)",
    "esxi.hostd": "2023-10-14T09:{minute:02}:01.101Z info hostd[2099001] [Originator@6876 sub=Hostsvc] ",
    "esxi.vpxa": "2023-10-14T09:{minute:02}:01.101Z info vpxa[2099001] [Originator@6876 sub=vpxaMain] ",
    "esxi.vobd": "2023-10-14T09:{minute:02}:01.101Z: [GenericCorrelator] 51us: ",
    "esxi.vm_log": "2023-10-14T09:{minute:02}:01.101Z| vmx| I125: ",
}


def scsi(command: str, sense: str) -> str:
    """Return the message of a command that a device refused."""
    device = 'from world 2099001 to dev "naa.50000000000000ff"'
    return f"ScsiDeviceIO: 3047: Cmd(0x459a40bf5b40) {command}, CmdSN 0x51 {device} failed H:0x0 D:0x2 P:0x0 Valid sense data: {sense}."


MESSAGES = {
    "apd-handle": "StorageApdHandler: 692: APD Handle  Created with lock[StorageApd0x4303a1]",
    "mode-sense-field": scsi("0x1a", "0x5 0x24 0x0"),
    "mode-sense-opcode": scsi("0x1a", "0x5 0x20 0x0"),
    "ata-smart": scsi("0x85", "0x5 0x20 0x0"),
    "log-sense": scsi("0x4d", "0x5 0x20 0x0"),
    "inquiry-page": scsi("0x12", "0x5 0x24 0x0"),
    "capacity-16": scsi("0x9e", "0x5 0x20 0x0"),
    "vaai-unsupported": scsi("0x42", "0x5 0x20 0x0"),
    "power-on-reset": scsi("0x28", "0x6 0x29 0x0"),
    "luns-changed": scsi("0x28", "0x6 0x3f 0xe"),
    "scoreboard": "Adding VM 7 failed, file /vmfs/volumes/ds/vm1/vm1.scoreboard is not readable.",
    "opcode-a3": "VSCSIFs: 4380: handle 8193(vscsi0:0):Invalid Opcode (0xa3) from (vmm0:vm1)",
    "bfd-deleted": 'BFDDeleteSessionEntryLocked:642:[nsx@6876 comp="nsx-esx"]session: 0x4309',
    "bfd-created": 'BFD_CreateSession:441:[nsx@6876 comp="nsx-esx"]session: 0x4309',
    "ssl-reload-hostd": "Received signal to reload SSL certificate",
    "ssl-reload-vpxa": "Received signal to reload SSL certificate",
    "test-event": "[esx.problem.test.synthetic] Somebody tried it.",
    "heartbeat-recovered": "[esx.problem.vmfs.heartbeat.recovered] 6529e1f0-1b2c3d4e-0007-002590aa7001 ds",
    "extent-online": "[esx.problem.vmfs.extent.online] naa.50000000000000ff ds",
    "nfs-restored": "[esx.problem.vmfs.nfs.server.restored] 192.0.2.7 /export",
    "fpin-clear": "[esx.problem.hardware.fpin.fc.peercongestion.clear] vmhba2",
    "metadatastore-healthy": "[esx.problem.metadatastore.healthy] It is healthy.",
    "third-party-information": "[esx.problem.3rdParty.info] Something.",
    "vsan-undercongestion": "[esx.problem.vob.vsan.lsom.diskgroupundercongestion] disk group",
    "memory-hot-add": "Change of memory size from 4096 to 8192 was requested",
    "test-correlator": "[esx.problem.vobdtestcorrelator.test.1d] Test with 7.",
    "starting-stun": "Migrate: VM starting stun, waiting 100 seconds for go/no-go message.",
    "guest-reboot": "CPU reset: hard (mode Emulation)",
}


def rows() -> dict[str, dict[str, str]]:
    """Return the rows of the catalog by their id."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def write(case: Path, log: str, messages: list[str]) -> None:
    """Write a log of the host, a line a minute."""
    path = case / HOST / LOGS[log]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        HEADS[log].format(minute=number % 60) + message + "\n"
        for number, message in enumerate(messages)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def run(case: Path, out: Path, *options: str) -> Result:
    """Triage a case through the command."""
    return CliRunner().invoke(
        main,
        ["triage", str(case), "-o", str(out), "--no-settings", "--no-packs", *options],
        catch_exceptions=False,
    )


def document(out: Path) -> dict[str, Any]:
    """Return the case document of a run."""
    read: dict[str, Any] = json.loads((out / "case.json").read_text(encoding="utf-8"))
    return read


def test_every_row_counts_its_own_lines_and_no_other_row_does(tmp_path: Path) -> None:
    """Each harmless line is counted by its own row alone, with its log, its first place and its times."""
    known = rows()
    assert set(MESSAGES) == set(known)
    assert len(known) >= 20
    for log in LOGS:
        write(
            tmp_path / "case",
            log,
            [line for key, line in MESSAGES.items() if known[key]["log"] == log for _ in (1, 2)],
        )
    done = run(tmp_path / "case", tmp_path / "out")
    assert done.exit_code in (0, 1), done.output

    told = {one["id"]: one for one in document(tmp_path / "out")["harmless"]}
    assert set(told) == set(known)
    for key, one in told.items():
        assert (one["count"], one["log"]) == (2, known[key]["log"]), key
        assert one["address"].endswith(LOGS[one["log"]].rpartition("/")[2])
        assert one["line"] % 2 == 1
        assert one["first"] < one["last"]


def test_only_all_prints_them_and_the_report_folds_them_at_its_end(tmp_path: Path) -> None:
    """4,112 harmless lines: no finding, nothing on the terminal unless asked for, a folded block in the report."""
    write(tmp_path / "case", "esxi.vmkernel", [MESSAGES["apd-handle"]] * 4112)
    quiet = run(tmp_path / "case", tmp_path / "out")
    asked = run(tmp_path / "case", tmp_path / "out2", "--all")
    shown = CliRunner().invoke(main, ["show", str(tmp_path / "out" / "case.json"), "--all"])

    assert document(tmp_path / "out")["findings"] == []
    assert "harmless" not in quiet.output
    for text in (asked.output, shown.output):
        assert "harmless, seen 4,112 times" in " ".join(text.split())
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.index('id="h-harmless"') > page.index('id="h-coverage"')
    assert "4,112" in page[page.index('id="h-harmless"') :]
    assert (tmp_path / "out" / "case.json").read_bytes() == (
        tmp_path / "out2" / "case.json"
    ).read_bytes()


def test_a_storm_of_them_reaches_no_limit_and_makes_no_case_incomplete(tmp_path: Path) -> None:
    """30,000 harmless lines are counted, and neither a limit nor a cut is told because of them."""
    write(tmp_path / "case", "esxi.vmkernel", [MESSAGES["apd-handle"]] * 30_000)
    done = run(tmp_path / "case", tmp_path / "out")
    read = document(tmp_path / "out")

    assert done.exit_code == 0
    assert (read["case"]["complete"], read["limits"]) == (True, [])
    (one,) = read["harmless"]
    assert one["count"] == 30_000


@pytest.mark.parametrize(
    "beside", [[], list(MESSAGES.values())], ids=["alone", "among harmless lines"]
)
def test_they_hide_no_finding(tmp_path: Path, beside: list[str]) -> None:
    """A purple screen is told as it is without them; a line that is harmless and a sign counts as both."""
    panic = ["@BlueScreen: NOT_IMPLEMENTED bora/vmkernel/synthetic/made_up.c:12"]
    write(tmp_path / "case", "esxi.vmkernel", [*panic, *beside])
    run(tmp_path / "case", tmp_path / "out")

    (found,) = (
        one for one in document(tmp_path / "out")["findings"] if one["rule"].startswith("purple")
    )
    assert (found["rule"], found["severity"]) == ("purple-screen-unknown", "critical")


RULE = """\
rule: made-up
title: A made-up rule
source: made up
about: It makes the catalog another one.
each: host in esxi.release
when: host.build == 1
outcomes:
  - when: true
    severity: info
    confidence: possible
    say: "Made up."
"""


def test_a_stored_case_judged_again_still_tells_them(tmp_path: Path) -> None:
    """The archive keeps the numbers: a case that new rules judge from its stored facts has the same ones."""
    write(tmp_path / "cases", "esxi.vmkernel", [MESSAGES["luns-changed"]] * 3)
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "made-up.yaml").write_text(RULE, encoding="utf-8")
    archive = ["--archive", str(tmp_path / "archive")]
    told = []
    for more in ([], ["--kb", str(tmp_path / "kb")]):
        done = CliRunner().invoke(
            main, ["batch", str(tmp_path / "cases"), *archive, "--no-settings", "--no-packs", *more]
        )
        assert done.exit_code in (0, 1), done.output
        listed = CliRunner().invoke(main, ["archive", "list", *archive, "--json"])
        case = json.loads(listed.output.splitlines()[0])
        shown = CliRunner().invoke(
            main, ["archive", "show", case["id"], *archive, "--format", "json"]
        )
        told.append(json.loads(shown.output))

    assert told[0]["tool"]["catalog"] != told[1]["tool"]["catalog"]
    assert [[one["count"] for one in case["harmless"]] for case in told] == [[3], [3]]
