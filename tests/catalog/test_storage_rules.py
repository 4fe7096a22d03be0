"""Rules about storage and vSAN, through the command: status lines decoded by rows, and a host on which much went wrong.

All lines are synthetic. Their forms are those that the sources of the rules print; status lines exist in four forms, of
ESX 3.5, 4.x, 5.x to 7.x and 8.x.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.rules import fact_tables

HOST = "esx-esx0.lab.example-2023-03-01--16.53-71234"
START = datetime(2023, 3, 1, 10)
DISK = "naa.60000000000000000000000000000001"
UUID = "52e4a1b0-0000-0000-0000-000000000001"
PROBES = (
    "0x5 0x20 ",
    "0x5 0x24 ",
    "0x5 0x26 ",
    "0x5 0x39 ",
    "0x2 0x3a ",
)  # answers to questions of the host
QUIET = "ScsiDevice: 5015: Setting Device state on"


def stamp(second: float) -> str:
    """Return a time of the day of trouble as logs of 5.x and later print it."""
    return (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def vmkernel(text: str, second: float = 0, release: int = 7) -> str:
    """Return a line of vmkernel.log in the form of a release."""
    if release >= 8:
        return f"{stamp(second)} In(182) vmkernel: cpu3:2098123){text}"
    if release >= 5:
        return f"{stamp(second)} cpu3:2098123){text}"
    moment = START + timedelta(seconds=second)
    return f"{moment:%b} {moment.day:2} {moment:%H:%M:%S} esx0 vmkernel: 10:01:02:03.{int(second):03} cpu3:4111){text}"


def failed(code: str, device: str, second: float, form: int, command: str = "0x2a") -> str:
    """Return the line of a failed command; `code` is the status that decides, as kb.scsi_status has it."""
    if "/" in code:
        return vmkernel(f"StorageMonitor: 196: {device} status = {code} 0x0 0x0 0x0", second, 3)
    possible = "Possible sense data: 0x0 0x0 0x0."
    status = {
        "P": f"H:0x1 D:0x2 {code} {possible}",  # the plugin decides, whatever the others say
        "H": f"{code} D:0x28 P:0x0 {possible}",
        "D": f"H:0x0 {code} P:0x0 {possible}",
    }.get(code[0], f"H:0x0 D:0x2 P:0x0 Valid sense data: {code}.")
    path = "vmhba2:C0:T0:L4"
    if form == 4:
        text = f'Command {command} (0x410001032580) to NMP device "{device}" failed on physical path "{path}" {status}'
        return vmkernel(f"NMP: nmp_CompleteCommandForPath: {text}", second, 4)
    if form == 5:
        return vmkernel(
            f'NMP: nmp_ThrottleLogForDevice:3617: Cmd {command} (0x439500a7f200, 65693) to dev "{device}" on path '
            f'"{path}" Failed: {status} Act:NONE',
            second,
        )
    head = f"ScsiDeviceIO: 4062: Cmd(0x45ba922e3e80) {command}, "
    number = "cmdId.initiator=0x4538f041a598 CmdSN 0x1" if form == 8 else "CmdSN 0x51"
    return vmkernel(
        f'{head}{number} from world 2099160 to dev "{device}" failed {status}', second, form
    )


def triage(folder: Path, **logs: Sequence[str]) -> list[dict[str, Any]]:
    """Return the findings of a bundle with some logs, by the name of each without its ending."""
    for name, lines in logs.items():
        path = folder / "case" / HOST / "var" / "run" / "log" / f"{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    out = folder / "out"
    done = CliRunner().invoke(
        main, ["triage", str(folder / "case"), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 1, 5), done.output  # 5: a limit was reached
    findings: list[dict[str, Any]] = json.loads((out / "case.json").read_text(encoding="utf-8"))[
        "findings"
    ]
    return findings


def statuses() -> list[dict[str, Any]]:
    """Return the rows of kb.scsi_status as text."""
    given = fact_tables.shipped()["kb.scsi_status"].given
    assert given is not None
    return [dict(cells) for _, _, cells in given.rows]


def device_of(number: int, code: str) -> str:
    """Return the name of a device of its own for a row."""
    return f"vmhba1:0:{number}:0" if "/" in code else f"naa.6000000000000000000000000{number:07x}"


@pytest.mark.size
@pytest.mark.parametrize("form", [4, 5, 6, 8])
def test_each_status_is_told_by_its_row(tmp_path: Path, form: int) -> None:
    """Each of the rows is found in each form, probes left out, as bad as it says from its number of lines on, and info before."""
    rows = statuses()
    lines, expected = [], {}
    for number, row in enumerate(rows):
        enough, code = int(row["at_least"]), row["code"]
        severity = "info" if row["verdict"] == "harmless" else row["severity"]
        for place, (count, told) in enumerate([(enough, severity), (enough - 1, "info")]):
            if not count:
                continue
            device = device_of(2 * number + place, code)
            lines += [failed(code, device, second, form, "0x1a") for second in range(count)]
            if not code.startswith(PROBES):
                expected[f"{device}: {code}"] = told, row["title"]
    found = [one for one in triage(tmp_path, vmkernel=lines) if one["rule"] == "scsi-status"]

    assert len(rows) > 140
    assert {one["subject"]: (one["severity"], one["title"]) for one in found} == expected


@pytest.mark.size
def test_a_harmless_line_is_no_finding_however_often_it_comes(tmp_path: Path) -> None:
    """Thousands of probes that a disk does not know are no finding."""
    lines = [failed("0x5 0x20 0x0", DISK, second, 6, "0x85") for second in range(9_000)]

    assert triage(tmp_path, vmkernel=lines) == []


@pytest.mark.size
def test_a_storm_of_harmless_lines_hides_no_other(tmp_path: Path) -> None:
    """Ten lines of a lost path behind more harmless ones than are kept of a signature are found."""
    storm = [failed("0x5 0x20 0x0", DISK, second, 6, "0x85") for second in range(10_500)]
    lost = [failed("H:0x1", DISK, 10_500 + second, 6) for second in range(10)]
    found = {one["rule"]: one for one in triage(tmp_path, vmkernel=storm + lost)}

    assert found["scsi-status"]["severity"] == "major"


def test_a_write_that_is_refused_is_not_harmless(tmp_path: Path) -> None:
    """The same answer to a write is a warning."""
    found = triage(tmp_path, vmkernel=[failed("0x5 0x20 0x0", DISK, 1, 6, "0x2a")])

    assert [one["rule"] for one in found if one["severity"] == "warning"] == ["scsi-io-refused"]


def test_a_line_in_vmkwarning_too_counts_once(tmp_path: Path) -> None:
    """Nine lines that stand in vmkernel.log and vmkwarning.log are nine, one fewer than it takes."""
    lines = [failed("H:0x1", DISK, second, 8) for second in range(9)]
    found = [
        one
        for one in triage(tmp_path, vmkernel=lines, vmkwarning=lines)
        if one["rule"] == "scsi-status"
    ]

    assert [(one["severity"], "Lines with H:0x1: 9," in one["say"]) for one in found] == [
        ("info", True)
    ]


def repeated(text: str, count: int, seconds: float) -> list[tuple[float, str]]:
    """Return lines of one text, evenly over some seconds."""
    return [(number * seconds / max(1, count - 1), text) for number in range(count)]


OFFLINE = 'WARNING: iscsi_vmk: iscsivmk_StopConnection: vmhba64:CH:0 T:0 CN:0: iSCSI connection is being marked "OFFLINE" (Event:6)'
LOST = (
    "WARNING: NFS: 1192: Lost connection to the server 192.0.2.10 mount point /vol/ds1, mounted as "
)
NVME = "WARNING: NVMEIO:2644 command 0x45b9 failed: ctlr 262, queue 3, psaCmd 0x45b8, status {}, opc {}, cid 180, nsid 261"
PLANTED: dict[str, tuple[str, list[tuple[float, str]]]] = {
    "nfs-latency-over-a-second": ("major", [(0, "WARNING: NFS: 5544: NFS volume ds-1 performance has deteriorated. I/O latency increased from average value of 10614(us) to 2117255(us). Exceeded threshold 10000(us)")]),
    "kb-1025299": ("warning", [(0, "FS3: 1974: Long VMFS3 rsv time on 'ds-1' (held for 2203 msecs). # R: 1, # W: 1 bytesXfer: 2 sectors")]),
    "kb-1005009": ("warning", repeated("SCSI: vm 1053: 109: Sync CR at 64", 12, 300)),
    "kb-1004424": ("major", [(0, "WARNING: Heap: 2525: Heap vmfs3 already at its maximum size. Cannot expand.")]),
    "vmfs-metadata-damaged": ("critical", [(0, 'WARNING: Res3: StatVMFS6:7090: Volume 59e1f0aa-1b2c3d4e-0007-002590aa7001 ("ds-1") might be damaged on the disk. Resource cluster metadata corruption has been detected.')]),
    "kb-1009566": ("major", [(0, LOST + '59e1f0aa-1b2c3d4e-0000-000000000000 ("ds-2")')]),
    "kb-2016122": ("major", repeated(LOST + '59e1f0aa-1b2c3d4e-0000-000000000000 ("ds-2")', 3, 20_000)),
    "kb-2037507": ("warning", [(0, "WARNING: NFSLock: 2208: failed to get lock on file vm01-flat.vmdk 0x41000a on 192.0.2.10 (ds-2): Timeout")]),
    "kb-1005006": ("warning", [(0, "WARNING: SCSI: 2351: LUN WWN mismatch for DGC path vmhba1:0:3")]),
    "iscsi-connection-offline": ("major", [(0, OFFLINE)]),
    "qlnativefc-out-of-iocbs": ("major", [(0, "WARNING: qlnativefc: vmhba2(5:0.0): SCM: Ran out of IOCBs, partial data 0x40")]),
    "lpfc-abort-pending": ("major", repeated("WARNING: lpfc : vmhba2 lpfc_validate_fcp_abort:7541: 3111 Outstanding FCP I/O Abort Request still pending on io_buf 0x4315, xri x373", 10, 50)),
    "lpfc-link-down": ("major", [(0, "lpfc820 0000:02:00.2: 0:1305 Link Down Event x2 received Data: x2 x20 x800110 x0 x0")]),
    "vmfs-lock-not-free": ("warning", repeated("DLX: 3901: vol 'ds-1': [Req mode: 1] Not free; Lock [type 10c00002 offset 4327424 v 1205, hb offset 3198976", 10, 3000)),
    "vmfs-snapshot-volume": ("warning", [(0, f"LVM: 7404: Device {DISK}:1 detected to be a snapshot:")]),
    "storage-path-in-doubt": ("warning", repeated(f'WARNING: NMP: nmp_DeviceRequestFastDeviceProbe:237: NMP device "{DISK}" state in doubt; requested fast path state update...', 5, 500)),
    "kb-1003680": ("major", [(0, f"WARNING: NMP: 1234: Cannot find a path to device {DISK} in a good state.")]),
    "nvme-fused-commands-fail": ("major", [(0, NVME.format("0xa", "0x5")), (0.2, NVME.format("0xa", "0x1"))]),
    "nvme-status": ("major", [(0, NVME.format("0x281", "0x2"))]),
    "kb-2071384": ("major", [(0, "WARNING: LSOM: LSOM_ThrowAsyncCongestionVOB:2127: LSOM SSD Congestion State: Exceeded. Congestion Threshold: 200 Current Congestion: 231.")]),
    "vsan-log-buildup": ("major", [(0, f"WARNING: LSOM: LSOM_ThrowCongestionVOB:2912: Throttled: Virtual SAN node esx0 maximum SSD {UUID} congestion reached.")]),
    "vsan-stuck-elevator": ("major", [(0, "WARNING: LSOM: LSOMGetSSDCongestion:1242: Throttled: Stuck elevator detection triggered")]),
    "kb-2071075": ("critical", [(0, f"WARNING: LSOM: LSOMEventNotify:6440: Virtual SAN device {UUID} is under permanent error.")]),
    "vsan-no-capacity": ("major", [(0, f"WARNING: PLOG: 1234: Failed to create component on disk {UUID}. Insufficient capacity")]),
    "vsan-component-limit": ("major", [(0, "WARNING: PLOG: 1234: Failed to create or open component 1: Maximum number of supported components reached")]),
    "vsan-checksum-errors": ("major", repeated(f"WARNING: LSOM: LSOMScrubReadComplete:2983: Throttled: Checksum error on comp {UUID}, offset 4096 (computed CRC 0x1 != saved CRC 0x2 (NF)) 4096", 3, 9000)),
    "vsan-unicast-fails": ("major", repeated(f"CMMDSNet: CMMDSNetSendtoUnicastChannels:1665: Throttled: {UUID}: Failed to send to unicast host '192.0.2.21;12321' on iface 'vmk2': Host is down.", 3, 400)),
    "vsan-node-leaves": ("major", repeated(f"CMMDS: Node {UUID} left cluster", 2, 40_000)),
    "vsan-disk-not-announced": ("major", [(0, f"WARNING: PLOG: 1234: Announcing VSAN Magnetic Disk ({DISK}:2) with UUID failed, Failure")]),
    "vsan-disk-not-mounted": ("major", [(0, f"WARNING: LSOM2: 1234: Failed to mount disk {UUID} : Timeout")]),
    "vsan-disk-group-operation-failed": ("warning", [(0, "WARNING: PLOG: 1234: Failed to execute disk group op. : Busy")]),
    "vsan-owner-unreachable": ("warning", [(0, f"WARNING: DOM: 1234: Failed to connect to owner host {UUID}.")]),
}  # fmt: skip
# one of these lines belongs to two problems
TOGETHER = {"kb-2016122": {"kb-1009566"}, "nvme-fused-commands-fail": {"nvme-status"}}


def quiet_day(step: int = 20) -> Iterable[tuple[float, str]]:
    """Return what a healthy host writes in a day: harmless probes, and connections that come up."""
    for second in range(0, 86_400, step):
        yield second, QUIET
        yield second + 1, failed("0x5 0x24 0x0", DISK, 0, 6, "0x1a").partition(")")[2]


@pytest.mark.parametrize("release", [6, 8])
@pytest.mark.parametrize("rule", PLANTED)
def test_a_problem_is_found_in_a_day_of_noise(tmp_path: Path, rule: str, release: int) -> None:
    """One planted problem among thousands of quiet lines: found with its lines, and nothing else above info."""
    severity, lines = PLANTED[rule]
    day = sorted([*quiet_day(600), *((second + 1000.5, text) for second, text in lines)])
    log = [vmkernel(text, second, release) for second, text in day]
    found = {
        one["rule"]: one for one in triage(tmp_path, vmkernel=log) if one["severity"] != "info"
    }
    places = {
        number for number, (_, text) in enumerate(day, 1) if text in {text for _, text in lines}
    }

    assert set(found) - {rule} <= TOGETHER.get(rule, set())
    assert found[rule]["severity"] == severity
    assert {one["line"] for one in found[rule]["evidence"]} <= places
    assert found[rule]["evidence"]


def test_a_quiet_day_is_quiet(tmp_path: Path) -> None:
    """The same day without a problem has no finding above info."""
    log = [vmkernel(text, second) for second, text in quiet_day()]

    assert len(log) > 8000
    assert {one["severity"] for one in triage(tmp_path, vmkernel=log)} <= {"info"}


def test_what_came_back_is_less_severe(tmp_path: Path) -> None:
    """An iSCSI connection that is online again is a warning and says since when."""
    back = OFFLINE.replace("Stop", "Start").replace('"OFFLINE" (Event:6)', '"ONLINE"')
    (found,) = triage(tmp_path, vmkernel=[vmkernel(OFFLINE, 1), vmkernel(back, 31)])

    assert (found["rule"], found["severity"]) == ("iscsi-connection-offline", "warning")
    assert "it has been online again since 2023-03-01 10:00:31" in found["say"]


def test_latency_below_a_second_is_no_alarm(tmp_path: Path) -> None:
    """A rise to 0.9 s is info, and the same event with more than a second is major."""
    event = f"[esx.problem.scsi.device.io.latency.high] Device {DISK} performance has deteriorated. I/O latency increased"
    lines = [
        f"{stamp(1)}: [scsiCorrelator] 3536us: {event} from average value of 16880 microseconds to {{}} microseconds."
    ]
    (calm,) = triage(tmp_path / "calm", vobd=[one.format(900_000) for one in lines])
    (slow,) = triage(tmp_path / "slow", vobd=[one.format(2_377_218) for one in lines])

    assert (calm["severity"], slow["severity"]) == ("info", "major")
    assert "An I/O took up to 2.4 s" in slow["say"]


@pytest.mark.parametrize("code", ["0201", "0202", "0203", "0301"])
def test_a_refused_iscsi_login_is_decoded(tmp_path: Path, code: str) -> None:
    """The status in the event of a refused login becomes the title of its row."""
    text = f"Login to iSCSI target iqn.1992-04.com.example:cx.a1 on vmhba64 failed (synthetic) with {code}."
    line = f"{stamp(1)}: [iscsiCorrelator] 3536us: [esx.problem.storage.iscsi.target.login.error] {text}"
    found = [one for one in triage(tmp_path, vobd=[line]) if one["rule"] == "kb-2012171"]
    given = fact_tables.shipped()["kb.iscsi_login"].given
    assert given is not None
    titles = [cells["title"] for _, _, cells in given.rows if cells["code"] == code]

    assert [(one["severity"], one["title"]) for one in found] == [("major", *titles)]


def test_what_clomd_writes_is_judged(tmp_path: Path) -> None:
    """No space, no configuration and a failed decommission in clomd.log are three findings."""
    texts = [
        "CLOM: Not enough space available. Available: 1048576",
        "CLOM_Diagnose: There are currently 2 usable fault domains for the operation",
        f"CLOMDecomPublishDecomStateEntryInt: Disk {UUID}: Publishing state DECOM_STATE_FAILED",
    ]
    found = triage(
        tmp_path,
        clomd=[f"{stamp(number)} clomd[2099204]: {text}" for number, text in enumerate(texts)],
    )

    assert {one["rule"] for one in found} == {
        "vsan-no-space",
        "vsan-no-configuration",
        "vsan-decommission-failed",
    }
