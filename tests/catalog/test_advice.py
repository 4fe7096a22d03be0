"""What the report advises must fit what it says: each contradiction once, through `backline triage`.

Material is made here in the formats of the commands; nothing of it comes from a real host.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tools.case_text import client_stats, net_stats, nic_info, rx_queue, rx_summary
from tools.make_case import cpu_limited, vm_support

PORT = 33554480


def triage(folder: Path, files: dict[str, str | bytes]) -> tuple[dict[str, Any], str]:
    """Write the files, run the command on them; return its case document and its note for the ticket."""
    case = folder / "case"
    for name, body in files.items():
        (case / name).parent.mkdir(parents=True, exist_ok=True)
        (case / name).write_bytes(body.encode() if isinstance(body, str) else body)
    done = CliRunner().invoke(main, ["triage", str(case), "-o", str(folder / "out"), "--quiet"])
    assert done.exit_code in (0, 1, 5), done.output
    note = (folder / "out" / "report.md").read_text(encoding="utf-8")
    return json.loads((folder / "out" / "case.json").read_text(encoding="utf-8")), note


def of(doc: dict[str, Any], rule: str) -> dict[str, Any]:
    """Return the one finding of a rule."""
    (found,) = (one for one in doc["findings"] if one["rule"] == rule)
    return dict(found)


def runs(found: dict[str, Any]) -> list[str]:
    """Return the commands of a finding."""
    return [step["run"] for step in found["fix"] if step["run"]]


def all_steps(found: dict[str, Any]) -> str:
    """Return all steps of a finding in one text."""
    return "\n".join(
        " ".join((step["where"], step["do"], step["run"], step["note"])) for step in found["fix"]
    )


def ring_case(
    full: tuple[int, int],
    ring: tuple[int, int],
    client: str = "lin-rx.eth0",
    guest: dict[str, str] | None = None,
) -> dict[str, str | bytes]:
    """Return a host's transcript with one VMXNET3 port, and transcripts of guests."""
    at = f"/net/portsets/vSwitch0/ports/{PORT}"
    host = "[root@esx0:~] "
    text = (
        f"{host}net-stats -l\n{net_stats([(PORT, 5, 9, 'vSwitch0', '00:50:56:a6:55:f4', client)])}"
        f"{host}vsish -e get {at}/clientStats\n{client_stats(pktsRxOK=50_000_000, droppedRx=sum(full))}"
        f"{host}vsish -e get {at}/vmxnet3/rxSummary\n{rx_summary(0, 50_000_000, *full)}"
        f"{host}vsish -e get {at}/vmxnet3/rxqueues/0/status\n{rx_queue(*ring)}"
    )
    return {"esx0.txt": text, **(guest or {})}


def ethtool(host: str, interface: str, ring: tuple[int, int], most: tuple[int, int]) -> str:
    """Return `ethtool -g` in a Linux guest: (ring #1, ring #2) as set and at most."""
    return (
        f"root@{host}:~# ethtool -g {interface}\nRing parameters for {interface}:\nPre-set maximums:\n"
        f"RX:\t\t{most[0]}\nRX Mini:\t0\nRX Jumbo:\t{most[1]}\nTX:\t\t4096\nCurrent hardware settings:\n"
        f"RX:\t\t{ring[0]}\nRX Mini:\t0\nRX Jumbo:\t{ring[1]}\nTX:\t\t512\n"
    )


def test_a_vm_without_cpu_gets_no_bigger_ring(tmp_path: Path) -> None:
    """The CPU limit is the cause: no `ethtool -G` anywhere in the finding or the note; the limit is what to change."""
    doc, note = triage(tmp_path, cpu_limited())
    ring = of(doc, "kb-2039495")

    assert "Raise the limit first" in ring["say"]
    assert "ethtool" not in all_steps(ring)
    assert "Ring #1 Size" not in all_steps(ring)
    assert "Set Limit to Unlimited" in ring["fix"][0]["do"]
    assert "ethtool -G" not in note
    assert "Give it CPU first" in all_steps(of(doc, "kb-1010071"))
    assert "receive buffers" not in all_steps(of(doc, "kb-1010071"))


def test_a_ring_at_its_maximum_is_not_raised(tmp_path: Path) -> None:
    """Both rings hold 4,096 by the host and by the guest: nothing to raise, and that is said."""
    guest = {"guest.txt": ethtool("lin-rx", "ens192", (4096, 4096), (4096, 4096))}
    ring = of(triage(tmp_path, ring_case((7000, 3000), (4096, 4096), guest=guest))[0], "kb-2039495")

    assert runs(ring) == []
    assert "although ring #1 is at its maximum of 4,096 descriptors" in ring["say"]
    assert "cannot grow further" in all_steps(ring)


def test_only_ring_two_is_raised_where_only_ring_two_fills(tmp_path: Path) -> None:
    """Ring #2 alone ran full: `rx-jumbo` with the guest's own interface and maximum, and no step for ring #1."""
    guest = {"guest.txt": ethtool("lin-rx", "ens192", (4096, 256), (4096, 2048))}
    ring = of(triage(tmp_path, ring_case((0, 1656), (4096, 256), guest=guest))[0], "kb-2039495")

    assert runs(ring) == ["ethtool -G ens192 rx-jumbo 2048"]


def test_a_driver_that_cannot_change_ring_two_gets_no_command(tmp_path: Path) -> None:
    """`ethtool -g` prints 0 as the maximum of RX Jumbo: that is said, and no command is offered that would fail."""
    guest = {"guest.txt": ethtool("lin-rx", "eth0", (4096, 0), (4096, 0))}
    ring = of(triage(tmp_path, ring_case((0, 1656), (4096, 256), guest=guest))[0], "kb-2039495")

    assert runs(ring) == []
    assert "this driver cannot change it" in all_steps(ring)


def test_the_command_has_the_device_and_the_maximum_of_the_case(tmp_path: Path) -> None:
    """Ring #1 of 256: `ethtool -G` names the guest's own interface and what its driver takes at most."""
    guest = {"guest.txt": ethtool("lin-rx", "ens224", (256, 256), (2048, 2048))}
    ring = of(triage(tmp_path, ring_case((7000, 0), (256, 256), guest=guest))[0], "kb-2039495")

    assert runs(ring) == ["ethtool -G ens224 rx 2048"]


@pytest.mark.parametrize("second", ["ens192", "$(reboot)", "`reboot`"])
def test_an_interface_that_is_not_sure_stays_a_placeholder(second: str, tmp_path: Path) -> None:
    """Two interfaces, or one with a name that a shell would run: `<interface>` stands in the command."""
    one = ethtool("lin-rx", "ens224", (256, 256), (4096, 4096)) if second == "ens192" else ""
    guest = {"guest.txt": one + ethtool("lin-rx", second, (256, 256), (4096, 4096))}
    ring = of(triage(tmp_path, ring_case((7000, 0), (256, 256), guest=guest))[0], "kb-2039495")

    assert runs(ring) == ["ethtool -G <interface> rx 4096"]


def bundle(extra: dict[str, str]) -> dict[str, str | bytes]:
    """Return a vm-support bundle as a folder."""
    _, files = vm_support("esx61.lab.example", "6.5.0", 5969303, extra)
    return dict(files)


def test_damaged_frames_get_no_ring(tmp_path: Path) -> None:
    """CRC errors come from the wire: no step touches the ring; lifetime counters are no «confirmed major»."""
    errors = {"Receive CRC errors": 50_000, "Total receive errors": 50_000}
    nic = of(
        triage(tmp_path, bundle({"commands/nicinfo.sh.txt": nic_info(errors)}))[0],
        "pnic-loses-packets",
    )

    assert "ring current" not in all_steps(nic)
    assert "change cable or transceiver" in all_steps(nic)
    assert (nic["severity"], nic["confidence"]) != ("major", "confirmed")
    assert any(run.endswith(f"-n {nic['subject']}") for run in runs(nic))


def ring(text: str, rx: int) -> str:
    """Return `esxcli network nic ring … get` of vmnic0."""
    most = "Max " if text == "preset" else ""
    values = "".join(
        f"   {most}{name}: {n}\n"
        for name, n in (("RX", rx), ("RX Mini", 0), ("RX Jumbo", 0), ("TX", rx))
    )
    return f"[root@esx61:~] esxcli network nic ring {text} get -n vmnic0\n{values}"


@pytest.mark.parametrize(
    ("now", "wanted"), [(512, "esxcli network nic ring current set -n vmnic0 -r 4078"), (4078, "")]
)
def test_the_ring_of_a_nic_is_raised_to_its_own_maximum(
    now: int, wanted: str, tmp_path: Path
) -> None:
    """Missed frames: the command has the vmnic and the maximum of that NIC; a ring that is there is not raised."""
    errors = {"Receive missed errors": 50_000, "Total receive errors": 50_000}
    pasted = ring("current", now) + ring("preset", 4078)
    files = bundle({"commands/nicinfo.sh.txt": nic_info(errors)}) | {"esx61.txt": pasted}
    doc, _ = triage(tmp_path, files)
    nic = next(
        one
        for one in doc["findings"]
        if one["rule"] == "pnic-loses-packets" and one["subject"] == "vmnic0"
    )

    assert [run for run in runs(nic) if "ring" in run] == ([wanted] if wanted else [])
    assert "cable" not in all_steps(nic)
    assert ("at its maximum of 4078" in all_steps(nic)) is not bool(wanted)


# -- what a text says must be what was seen


def esxtop(vm: str, vcpus: int, ready: float, costop: float) -> str:
    """Return an esxtop batch file of one VM, twelve samples."""
    groups = [
        f"Group Cpu(7:{vm})",
        *(f"Vcpu(7:{vm}:{n + 8}:vmx-vcpu-{n}:{vm})" for n in range(vcpus)),
    ]
    head = ["(PDH-CSV 4.0) (UTC)(0)"]
    cells = []
    for place, group in enumerate(groups):
        share = vcpus if place == 0 else 1
        for counter, value in (("% Ready", ready), ("% CoStop", costop), ("% Max Limited", 0.0)):
            head.append(f"\\\\esx1\\{group}\\{counter}")
            cells.append(f"{value * share:.2f}")
    rows = [[f"10/14/2017 16:30:{5 * n:02d}", *cells] for n in range(12)]
    return "".join(",".join(f'"{cell}"' for cell in row) + ",\n" for row in (head, *rows))


def test_co_stop_is_not_waiting_for_a_physical_cpu(tmp_path: Path) -> None:
    """%CSTP 5 at %RDY 0.6: held up by its own vCPUs; neither «waits for a physical CPU» nor «more than the host can»."""
    doc, note = triage(tmp_path, {"esxtop.csv": esxtop("app", 8, ready=0.6, costop=5.0)})
    found = of(doc, "cpu-contention")

    assert "Co-stop: %CSTP is 5.0 per vCPU" in found["say"]
    assert "%RDY without %MLMTD is 0.6" in found["say"]
    assert "physical CPU" not in found["title"] + found["say"]
    assert "more vCPUs than the host" not in note
    assert "needs all its vCPUs" in all_steps(found)
    assert "Move VMs away" not in all_steps(found)


def test_ready_time_is(tmp_path: Path) -> None:
    """%RDY 20 per vCPU without co-stop: waits for a physical CPU, and VMs are to be moved."""
    found = of(
        triage(tmp_path, {"esxtop.csv": esxtop("app", 2, ready=20.0, costop=0.0)})[0],
        "cpu-contention",
    )

    assert "waits 20.0 % of the time for a physical CPU" in found["say"]
    assert "Move VMs away" in all_steps(found)
    assert "fewer have less to wait" not in all_steps(found)


def policy(balancing: str, active: str, standby: str) -> dict[str, str | bytes]:
    """Return the failover policy of a switch with beacon probing."""
    return {
        "esx0.txt": (
            "[root@esx0:~] esxcli network vswitch standard policy failover get -v vSwitch0\n"
            f"   Load Balancing: {balancing}\n   Network Failure Detection: beacon\n   Notify Switches: true\n"
            f"   Failback: true\n   Active Adapters: {active}\n   Standby Adapters: {standby}\n   Unused Adapters: \n"
        )
    }


def test_one_active_and_one_standby_are_not_two_active(tmp_path: Path) -> None:
    """Beacons go over all uplinks of the team; they are counted as such, and no KB number from memory is linked."""
    found = of(triage(tmp_path, policy("srcport", "vmnic0", "vmnic1"))[0], "beacon-probing")

    assert "this team has 2, standby included" in found["say"]
    assert "active uplink" not in found["say"]
    assert found["kb"] == []


def test_beacon_probing_with_ip_hash_claims_no_outage(tmp_path: Path) -> None:
    """Nobody saw that links were taken down: the pair is not supported, a warning; more uplinks are no remedy."""
    found = of(
        triage(tmp_path, policy("iphash", "vmnic0, vmnic1, vmnic2, vmnic3", ""))[0],
        "beacon-probing",
    )

    assert "taken down" not in found["say"] + found["about"]
    assert found["severity"] == "warning"
    assert "three uplinks" not in all_steps(found)


def test_a_stop_of_a_vm_is_not_always_a_snapshot(tmp_path: Path) -> None:
    """41 s of standstill: no KB on snapshots stands on the finding, the causes are named, and it is not «critical»."""
    line = "2017-10-14T15:10:11.412Z| vcpu-0| I125: CPT: vm was stunned for 41233332 us\n"
    files: dict[str, str | bytes] = {"esx-h/vmfs/volumes/datastore-01/vm-01/vmware.log": line}
    found = of(triage(tmp_path, files)[0], "vm-stopped")

    assert found["kb"] == []
    assert found["severity"] == "major"
    for cause in ("vMotion", "suspended", "resumed", "snapshot"):
        assert cause in found["about"]


@pytest.mark.parametrize(
    ("rule", "option", "value", "default"),
    [
        ("coalescing-non-default", "/Net/CoalesceTxTimeout", 1000, 4000),
        ("lro-tso-off", "/Net/UseHwTSO", 0, 1),
        ("shell-warning-suppressed", "/UserVars/SuppressShellWarning", 1, 0),
    ],
)
def test_an_option_comes_with_the_command_that_sets_it_back(
    rule: str, option: str, value: int, default: int, tmp_path: Path
) -> None:
    """Option and default of the case stand in a command to copy."""
    text = (
        f"[root@esx0:~] esxcli system settings advanced list -o {option}\n   Path: {option}\n   Type: integer\n"
        f"   Int Value: {value}\n   Default Int Value: {default}\n   Min Value: 0\n   Max Value: 16000\n"
        "   String Value: \n   Default String Value: \n   Valid Characters: \n   Description: an option\n"
    )
    found = of(triage(tmp_path, {"esx0.txt": text})[0], rule)

    words = [run.replace("'", "") for run in runs(found)]
    assert f"esxcli system settings advanced set -o {option} -i {default}" in words


def test_two_posts_make_nothing_critical(tmp_path: Path) -> None:
    """An event of i40en and a reset, nothing else known: major and possible, as far as two posts carry."""
    lines = (
        "2017-10-14T15:30:02.123Z cpu7:65789)i40en: i40en_HandleMddEvent:6829: Malicious Driver Detection event 0x02 "
        "on TX queue 0 PF number 0x01 VF number 0x00\n"
        "2017-10-14T15:30:02.124Z cpu7:65789)i40en: i40en_HandleMddEvent:6843: TX driver issue detected, PF reset issued\n"
    )
    found = of(triage(tmp_path, bundle({"var/run/log/vmkernel.log": lines}))[0], "i40en-mdd")

    assert found["severity"] != "critical"
    assert found["confidence"] == "possible"
