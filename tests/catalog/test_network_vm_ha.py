"""Everyday problems of NICs, VMs, vMotion and HA are found through the command with their lines; a sound host is silent.

All lines are synthetic; each holds the words that the source named in its rule prints. The host is planted twice, in the
log forms of 6.x and 7.x and in those of 8.x.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

HOST = "esx-esx0.lab.example-2024-03-01--16.53-71234"
VM = "vmfs/volumes/59e1f0aa-1b2c3d4e-0001-002590aa2001/web01"
DOWN = "[vob.net.vmnic.linkstate.down] vmnic vmnic6 linkstate down"
CRITERIA = "[vob.net.pg.uplink.transition.down] Uplink: vmnic6 is down. Affected portgroup: VM Network. 1 uplinks up. Failed criteria: 32"
HWRM = "bnxtnet: hwrm_send_msg:229: [vmnic4 : 0x450c3f7c2000] HWRM cmd resp_len timeout, cmd_type 0xb5(HWRM_FUNC_QSTATS) seq 2201"
ISOLATED = "[LocalIsolationPolicy::Handle(IsolationNotification)] host isolated is true"
RESTARTED = (
    f"New event: EventEx=com.vmware.vc.ha.VmRestartedByHAEvent vm=/{VM}/web01.vmx host=host-1021"
)
LOCKED = (
    f"AIOGNRC: Failed to open '/{VM}/web01-flat.vmdk' : Failed to lock the file (40003) (0x2013)."
)
TOO_LONG = "[msg.checkpoint.migration.maxSwitchoverTimeExceeded] The migration has exceeded the maximum switchover time of 8 second(s)."
FULL = "msg.hbacommon.outofspace:There is no more space for virtual disk 'web01_1.vmdk'."

# rule -> log and messages, a minute apart
PLANTED: dict[str, tuple[str, list[str]]] = {
    "nic-flaps": ("vobd", [DOWN, DOWN, DOWN]),
    "kb-2014416": ("vobd", [CRITERIA]),
    "nic-watchdog": (
        "vmkernel",
        ["LinNet: netdev_watchdog:3688: NETDEV WATCHDOG: vmnic0: transmit timed out"],
    ),
    "bnxtnet-firmware-slow": ("vmkernel", [HWRM, HWRM, HWRM]),
    "kb-426419": ("vmkernel", ["bnxtnet: VER_GET failed- FW_STATUS_REG: 0x89021"]),
    "kb-59665": (
        "vmkernel",
        ["Migrate: 5454: 5422550532447652106 S: Migration considered a failure by the VMX."],
    ),
    "vmotion-precopy-aborted": (
        "vmkernel",
        ["VMotion: 3680: 1451061663105920 S: failed to end preCopy stream: IO was aborted"],
    ),
    "vmotion-low-memory": (
        "vmkernel",
        [
            "VMotionRecv: 3902: 922189911786969974 D: World 3249843 waited 15.783 seconds to leave low memory state on dest host"
        ],
    ),
    "kb-2114076": ("vmkernel", ["CBT: 191: No memory available! Called from 0x4180219af50e"]),
    "kb-399074": ("hostd", ["Error stats for pnic: vmnic1"]),
    "vm-out-of-space": ("hostd", [FULL]),
    "vmotion-destination-failed": (
        "hostd",
        ['ResolveCb: Failed with fault: key = "msg.migrate.fail.dst",'],
    ),
    "vmotion-downtime": (
        "hostd",
        ["ResolveCb: Succeeded: vmDowntime = 4200000, vmPrecopyStunTime = 120"],
    ),
    "kb-1002787": ("fdm", [ISOLATED]),
    "ha-host-dead": ("fdm", ["Host host-1021 changed state: Dead"]),
    "kb-2036555": ("fdm", [RESTARTED]),
    "ha-lost-master": (
        "fdm",
        ["[ClusterElection::ChangeState] Slave => Startup : Lost master"] * 3,
    ),
    "ha-peer-unreachable": ("fdm", ["[ClusterManagerImpl::IsBadIP] 192.0.2.25 is bad ip"] * 3),
    "ha-handshake-timeout": (
        "fdm",
        [
            "[AcceptorImpl::FinishSSLAccept] Error N7Vmacore16TimeoutExceptionE(Operation timed out) creating ssl stream or doing handshake"
        ],
    ),
    "kb-10051": ("vmware", [LOCKED]),
    "parent-disk-modified": (
        "vmware",
        ["The parent virtual disk has been modified since the child was created (18)."],
    ),
    "kb-432359": ("vmware", ["Triple fault."]),
    "vm-crashed": ("vmware", ["VMware ESX unrecoverable error: (vcpu-0)"]),
    "kb-320352": ("vmware", [TOO_LONG]),
    "old-vmware-tools": (
        "vmware",
        ["TOOLS setting legacy tools version to '10309', manifest status is 9"],
    ),
}
QUIET = {
    "vobd": "[vob.net.vmnic.linkstate.up] vmnic vmnic6 linkstate up",
    "vmkernel": "(synthetic) a quiet line",
    "hostd": "ResolveCb: Succeeded: vmDowntime = 420000, vmPrecopyStunTime = 120",
    "fdm": "[LocalIsolationPolicy::Handle(IsolationNotification)] host isolated is false",
    "vmware": "Checkpoint_Unstun: vm stopped for 412004 us",
}
VMX = """.encoding = "UTF-8"
config.version = "8"
virtualHW.version = "{hardware}"
displayName = "web01"
guestOS = "debian10-64"
numvcpus = "12"
memSize = "8192"
vcpu.hotadd = "{hot}"
sched.cpu.units = "mhz"
sched.cpu.min = "0"
sched.cpu.max = "{cpu}"
sched.mem.min = "8192"
sched.mem.max = "{memory}"
scsi0:0.fileName = "{disk}"
scsi0:0.present = "TRUE"
"""
SWITCH = """Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks
vSwitch0         6690        6           128               1500    {uplinks}

  PortGroup Name                            VLAN ID  Used Ports  Uplinks
  vMotion                                 20       1           {uplinks}
  Management Network                      0        1           {uplinks}

"""
KNICS = """Interface  Port Group/DVPort/Opaque Network        IP Family IP Address                              Netmask         Broadcast       MAC Address       MTU     TSO MSS   Enabled Type                NetStack
vmk0       Management Network                      IPv4      192.0.2.10                              255.255.255.0   192.0.2.255     00:50:56:00:00:01 1500    65535     true    STATIC              defaultTcpipStack
vmk1       vMotion                                 IPv4      {ip}                            255.255.255.0   {broadcast}     00:50:56:00:00:02 {mtu}    65535     true    STATIC              defaultTcpipStack
"""
VMSD = """.encoding = "UTF-8"
snapshot.lastUID = "4"
snapshot.current = "4"
snapshot0.uid = "4"
snapshot0.displayName = "before patch"
snapshot0.createTimeHigh = "396612"
snapshot0.createTimeLow = "-1073741824"
snapshot0.numDisks = "1"
snapshot.numSnapshots = "4"
snapshot.needConsolidate = "TRUE"
"""
README = f"Bundle name: {HOST}\nCaptured on: 2024-03-01 16:53:20.000000\nvm-support version: v3.3\n"
CONFIGURED = {
    "kb-1025279",
    "kb-2003638",
    "snapshot-chain-long",
    "snapshot-old",
    "cpu-hot-add-hides-numa",
    "vm-memory-limit",
    "vm-cpu-limit-set",
    "old-virtual-hardware",
    "switch-one-uplink",
    "kb-417889",
    "kb-312156",
}


def line(log: str, minute: int, text: str, *, new: bool) -> str:
    """Return a line of a log in the form of 6.x and 7.x, or (new) of 8.x."""
    stamp = f"2024-03-01T10:{minute:02}:00.000Z"
    if log == "vmware":
        return f"{stamp} In(05) vmx - {text}" if new else f"{stamp}| vmx| I125: {text}"
    if log == "vobd":
        head = f"{stamp} In(14) vobd[2097607]:  " if new else f"{stamp}: "
        return f"{head}[netCorrelator] 842494494us: {text}"
    if log == "vmkernel":
        return f"{stamp}{' Wa(180) vmkwarning:' if new else ''} cpu3:2098123)WARNING: {text}"
    head = f"In(166) {log.title()}[2099000]:" if new else f"info {log}[2099000]"
    return f"{stamp} {head} [Originator@6876 sub=Default] {text}"


def findings(
    folder: Path, logs: dict[str, list[str]], *, ill: bool, new: bool
) -> list[dict[str, Any]]:
    """Triage a bundle with these messages by log, a minute apart, and a configuration that is ill or sound."""
    root = folder / "case" / HOST
    files = {f"var/run/log/{log}.log": log for log in QUIET if log != "vmware"} | {
        f"{VM}/vmware.log": "vmware"
    }
    texts = {
        name: "".join(
            f"{line(log, n % 60, text, new=new)}\n"
            for n, text in enumerate([*logs.get(log, []), QUIET[log]])
        )
        for name, log in files.items()
    }
    sick = {"hardware": 8, "hot": "TRUE", "cpu": 800, "memory": 4096, "disk": "web01-000001.vmdk"}
    sound = {
        "hardware": 19,
        "hot": "FALSE",
        "cpu": "unlimited",
        "memory": "unlimited",
        "disk": "web01.vmdk",
    }
    texts[f"{VM}/web01.vmx"] = VMX.format(**(sick if ill else sound))
    texts["commands/esxcfg-vswitch_-l.txt"] = SWITCH.format(
        uplinks="vmnic6" if ill else "vmnic5,vmnic6"
    )
    texts["README"] = README
    if ill:
        texts[f"{VM}/web01.vmsd"] = VMSD
    own = {"ip": "192.0.2.11", "broadcast": "192.0.2.255", "mtu": 9000}
    other = {"ip": "198.51.100.11", "broadcast": "198.51.100.255", "mtu": 1500}
    texts["commands/esxcfg-vmknic_-l.txt"] = KNICS.format(**(own if ill else other))
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    out = folder / "out"
    done = CliRunner().invoke(
        main, ["triage", str(folder / "case"), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 1), done.output
    return list(json.loads((out / "case.json").read_text(encoding="utf-8"))["findings"])


@pytest.mark.parametrize("new", [False, True], ids=["6.x and 7.x", "8.x"])
def test_each_planted_problem_is_found_with_its_line(tmp_path: Path, new: bool) -> None:
    """Twenty-five lines and eleven settings: each rule fires, and a rule on a line shows that line as evidence."""
    logs: dict[str, list[str]] = {}
    for log, messages in PLANTED.values():
        logs.setdefault(log, []).extend(messages)
    found = findings(tmp_path, logs, ill=True, new=new)
    fired = {one["rule"] for one in found}
    assert set(PLANTED) | CONFIGURED <= fired
    for rule, (_, messages) in PLANTED.items():
        shown = json.dumps([one["evidence"] for one in found if one["rule"] == rule])
        assert json.dumps(messages[0])[1:60] in shown, rule


@pytest.mark.parametrize("new", [False, True], ids=["6.x and 7.x", "8.x"])
def test_a_sound_host_is_silent(tmp_path: Path, new: bool) -> None:
    """The same files with quiet lines and a sound configuration raise nothing at all."""
    assert [(one["rule"], one["say"]) for one in findings(tmp_path, {}, ill=False, new=new)] == []


@pytest.mark.parametrize(
    "rule", [name for name, (_, messages) in PLANTED.items() if len(messages) > 1]
)
def test_what_counts_only_when_it_repeats_is_silent_once(tmp_path: Path, rule: str) -> None:
    """A single line of a kind that has to repeat raises nothing."""
    log, messages = PLANTED[rule]
    assert rule not in {
        one["rule"] for one in findings(tmp_path, {log: messages[:1]}, ill=False, new=False)
    }
