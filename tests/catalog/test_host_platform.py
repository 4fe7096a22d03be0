"""What happens to the platform of a host is found through the command, with the right line, and a quiet host is silent.

All lines are synthetic; each holds the words that the source named in its rule prints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

HOST = "esx-esx0.lab.example-2024-03-01--16.53-71234"
LOGS = ("vmkernel", "hostd", "vpxa", "vobd")


def kernel(minute: int, text: str) -> str:
    """Return a line of vmkernel.log as ESXi 5.x to 7.x writes it."""
    return f"2024-03-01T10:{minute:02}:00.000Z cpu3:2098123)WARNING: {text}"


def kernel8(minute: int, text: str) -> str:
    """Return a line of vmkernel.log as ESXi 8.x writes it."""
    return f"2024-03-01T10:{minute:02}:00.000Z Wa(180) vmkwarning: cpu3:2098123)WARNING: {text}"


def agent(name: str, minute: int, text: str, sub: str = "Default") -> str:
    """Return a line of hostd.log or vpxa.log as ESXi 6.x to 7.x writes it."""
    return f"2024-03-01T10:{minute:02}:00.000Z warning {name}[2099995] [Originator@6876 sub={sub}] {text}"


def agent8(name: str, minute: int, text: str, sub: str = "Default") -> str:
    """Return a line of hostd.log or vpxa.log as ESXi 8.x writes it."""
    return f"2024-03-01T10:{minute:02}:00.000Z Wa(164) {name.title()}[2099995]: [Originator@6876 sub={sub}] {text}"


def vobd(minute: int, text: str) -> str:
    """Return a line of vobd.log as ESXi 5.x to 7.x writes it."""
    return f"2024-03-01T10:{minute:02}:00.000Z: [UserLevelCorrelator] 51us: {text}"


def triage(
    folder: Path, logs: Mapping[str, list[str]], files: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Return the findings of a bundle with these logs; every other log is there and quiet."""
    root = folder / "case" / HOST
    for log in LOGS:
        quiet = {
            "vmkernel": kernel(59, "(synthetic) a quiet line"),
            "vobd": vobd(59, "[vob.net.vmnic.linkstate.up] vmnic vmnic4 linkstate up"),
        }
        lines = [*logs.get(log, ()), quiet.get(log, agent(log, 59, "(synthetic) a quiet line"))]
        path = root / "var" / "run" / "log" / f"{log}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for name, text in (files or {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    out = folder / "out"
    done = CliRunner().invoke(
        main, ["triage", str(folder / "case"), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 1), done.output
    return list(json.loads((out / "case.json").read_text(encoding="utf-8"))["findings"])


BOOTBANK = "Bootbank cannot be found at path '/bootbank'"
LOCKER = "FS3: 633: VMFS volume LOCKER-00000000-00000000-0000-000000000001 on mpx.vmhba32:C0:T0:L0:7 has been detected corrupted"
LOGS_IN_MEMORY = (
    "No persistent storage available for system logs and data. ESX is operating with limited system storage space, "
    "logs and system data will be lost on reboot."
)
STAGE = (
    "[vob.user.esximage.install.error] Could not install image profile: "
    "Failed to create ramdisk stagebootbank: Errors: No space left on device"
)
SERVICE = "Admission failure in path: host/vim/vmvisor/vpxa:vpxa.2099001:uw.2099001"
AMS = "Heap: 2677: Heap globalCartel-1 already at its maximum size. Cannot expand."
HEAP = "Heap: 2525: Heap netGPHeap already at its maximum size. Cannot expand."
HUNG = "ALERT: hostd detected to be non-responsive"
IPMI = (
    "nipmi: ReadPhase:617: nipmi: Timed out waiting for OBF to set in read phase.. Error: Timeout"
)
SCOREBOARD = (
    "Adding VM 12 failed, file /vmfs/volumes/datastore-01/web 01/web 01.scoreboard is not readable."
)
MICROCODE = "This machine's BIOS should be updated to pick up the latest microcode"
SLOW_FILE = (
    'In thread 2099951, access("/vmfs/volumes/datastore-01/web 01/web 01.vswp") took over 2850 sec.'
)
PASSWORD = "Rejected password for user root from 192.0.2.7"
FIREWALL = "VSIP DFW: Log request HWM during 1800 sec period = 25117 LPS. Rate limit = 10000 LPS. Logged = 18 Dropped = 4711"
MEMORY = "MCA: 190: CE Poll G0 B8 S8c00 A123 M0 P123/40 Memory Controller Read Error on Channel 1."
LOST_HOSTD = "Can't connect to hostd. Shutting down..."
DUMP = "UserDump: 3157: hostd-worker: Dumping cartel 2098000 (from world 2098123) to file /var/core/hostd-zdump.000 ..."
DROPPED = "Dropping messages due to log stress (qsize = 25000)"
SPLITTER = "UserDump: 3157: iofltd-emcsplit: Dumping cartel 2098000 (from world 2098123) to file /var/core/iofilterd-zdump.001 ..."


@pytest.mark.parametrize("form", [(kernel, agent), (kernel8, agent8)], ids=["7.x", "8.x"])
def test_each_planted_problem_is_found_at_its_line(tmp_path: Path, form: tuple[Any, Any]) -> None:
    """Sixteen problems in one bundle, in the line forms of 7.x and of 8.x: all found, each at its first line.

    The line of a clone that looks like a seventeenth is none (kb.harmless_line).
    """
    core, daemon = form
    first = [
        ("kb-83963", BOOTBANK),
        ("kb-83376", LOCKER),
        ("kb-1033696", LOGS_IN_MEMORY),
        ("kb-2085618", AMS),
        ("heap-at-maximum", HEAP),
        ("hostd-does-not-respond", HUNG),
        ("microcode-old", MICROCODE),
        ("kb-442474", FIREWALL),
        ("kb-373203", MEMORY),
        ("user-world-dumped", DUMP),
        ("kb-433552", SPLITTER),
    ]
    many = [("kb-436105", IPMI, 3), ("kb-425728", SERVICE, 10)]
    vmkernel = [core(0, text) for _, text in first] + [
        core(1, text) for _, text, times in many for _ in range(times)
    ]
    hostd = [daemon("hostd", 0, SCOREBOARD), daemon("hostd", 0, SLOW_FILE, "IoTracker")]
    hostd += [daemon("hostd", 1, PASSWORD)] * 10
    logs = {
        "vmkernel": vmkernel,
        "hostd": hostd,
        "vpxa": [daemon("vpxa", 0, LOST_HOSTD)],
        "vobd": [vobd(0, STAGE)],
    }

    found = {one["rule"]: one for one in triage(tmp_path, logs)}

    places = {rule: f"vmkernel.log:{number}" for number, (rule, _) in enumerate(first, 1)}
    places |= {
        "kb-436105": "vmkernel.log:12",
        "kb-425728": "vmkernel.log:15",
        "kb-313531": "vobd.log:1",
    }
    places |= {"hostd-io-took-long": "hostd.log:2"}
    places |= {"hostd-rejects-logins": "hostd.log:3", "vpxa-cannot-reach-hostd": "vpxa.log:1"}
    shown = {
        rule: {f"{e['address'].rpartition('/')[2]}:{e['line']}" for e in one["evidence"]}
        for rule, one in found.items()
    }
    general = {"vob-unknown"}  # a vob that no row names, beside the rule that rests on its line
    assert set(found) - general == set(places)
    assert {rule: place for rule, place in places.items() if place not in shown[rule]} == {}


def test_a_quiet_host_has_no_finding(tmp_path: Path) -> None:
    """All logs are there, and none holds a problem: the report holds no finding."""
    assert triage(tmp_path, {}) == []


def test_a_hung_agent_stands_below_its_cause(tmp_path: Path) -> None:
    """Firewall logging above its limit explains the hung agent: the report says which comes first."""
    found = {
        one["rule"]: one
        for one in triage(tmp_path, {"vmkernel": [kernel8(0, FIREWALL), kernel8(30, HUNG)]})
    }

    assert found["hostd-does-not-respond"]["explained_by"] == [found["kb-442474"]["id"]]
    assert found["kb-442474"]["severity"] == "major"


def test_storage_is_not_blamed_where_memory_errors_slow_the_host(tmp_path: Path) -> None:
    """A hundred corrected errors, then a hung agent and a slow datastore: memory is the cause that the report names."""
    lines = [kernel8(minute, MEMORY) for minute in range(50) for _ in range(2)] + [
        kernel8(55, HUNG)
    ]
    slow = agent8("hostd", 55, SLOW_FILE, "IoTracker")
    found = {one["rule"]: one for one in triage(tmp_path, {"vmkernel": lines, "hostd": [slow]})}

    assert found["kb-373203"]["severity"] == "major"
    assert "consequence" in found["kb-373203"]["say"]
    assert found["hostd-does-not-respond"]["explained_by"] == [found["kb-373203"]["id"]]


def settings(good: bool) -> dict[str, str]:
    """Return outputs of a host in the forms of a bundle: all settings as they should be, or none."""
    full, free, up = (420, 100000768, 34_560) if good else (32768, 20000768, 34_560_000)
    return {
        "commands/localcli_system-ntp-get.txt": (
            f"   Enabled: {str(good).lower()}\n   Loglevel: warning\n   PID: 1\n"
            f"   Runtime Enabled: {str(good).lower()}\n   Servers: 192.0.2.1\n"
        ),
        "commands/localcli_network-firewall-get.txt": (
            f"   Default Action: {'DROP' if good else 'PASS'}\n   Enabled: true\n   Loaded: true\n"
        ),
        "commands/localcli_system-visorfs-ramdisk-list.txt": (
            "Ramdisk Name  System  Include in Coredumps   Reserved     Maximum       Used  Peak Used  Free  Reserved Free"
            "  Maximum Inodes  Allocated Inodes  Used Inodes  Mount Point\n"
            "------------  ------  --------------------  ---------  ----------  ---------  ---------  ----  -------------"
            "  --------------  ----------------  -----------  -----------\n"
            f"root          true    true                  32768 KiB   32768 KiB  {full:5} KiB  32768 KiB   0 %            0 %"
            "            8192              8192          592  /\n"
        ),
        "commands/localcli_storage-filesystem-list.txt": (
            "Mount Point                                        Volume Name  UUID                                 Mounted"
            "  Type         Size        Free\n"
            "-------------------------------------------------  -----------  -----------------------------------  -------"
            "  ------  ---------  ----------\n"
            "/vmfs/volumes/5f1e2d3c-4b5a6978-8796-a5b4c3d2e1f0               5f1e2d3c-4b5a6978-8796-a5b4c3d2e1f0  true   "
            f"  vfat    261853184   {free:9}\n"
        ),
        "commands/localcli_software-vib-list.txt": (
            "Name       Version               Vendor     Acceptance Level    Install Date\n"
            "---------  --------------------  ---------  ------------------  ------------\n"
            f"agent      1.0.0-0.0.0           synthetic  {'PartnerSupported  ' if good else 'CommunitySupported'}  2018-08-27\n"
        ),
        "commands/localcli_system-stats-uptime-get.txt": f"{up * 1_000_000}\n",
        "commands/localcli_system-settings-advanced-list--d.txt": (
            f"   Path: /UserVars/SuppressHyperthreadWarning\n   Type: integer\n   Int Value: {int(not good)}\n"
            "   Default Int Value: 0\n   Min Value: 0\n   Max Value: 1\n   String Value: \n   Default String Value: \n"
            "   Valid Characters: \n   Description: synthetic\n"
        ),
    }


def test_settings_that_weaken_a_host_are_found(tmp_path: Path) -> None:
    """Eight settings and states in the outputs of a bundle: each is found; only the full RAM disk is more than info."""
    on = vobd(0, "[esx.audit.ssh.enabled] SSH access has been enabled.")
    found = {one["rule"]: one for one in triage(tmp_path, {"vobd": [on]}, settings(good=False))}

    weak = {
        "ntp-off",
        "firewall-open",
        "ramdisk-nearly-full",
        "bootbank-nearly-full",
        "vib-community-supported",
    }
    weak |= {"uptime-more-than-a-year", "hyperthread-warning-suppressed", "shell-without-timeout"}
    assert set(found) == weak
    assert {rule for rule, one in found.items() if one["severity"] != "info"} == {
        "ramdisk-nearly-full"
    }


def test_a_host_with_sound_settings_has_no_finding(tmp_path: Path) -> None:
    """The same outputs with sound values: no finding."""
    assert triage(tmp_path, {}, settings(good=True)) == []


FURTHER = {
    "kb-383231": (
        "envoy.log",
        "warning envoy[2100869] [Originator@6876 sub=filter] remote https connections exceed max allowed: 128",
    ),
    "kb-324231": (
        "esxupdate.log",
        "esxupdate: 5557508: BootBankInstaller.pyc: ERROR: The pending transaction requires 245 MB free space, "
        "however the maximum supported size is 239 MB.",
    ),
    "kb-442207": (
        "esxupdate.log",
        "esxupdate: 5557508: BootBankInstaller.py: ERROR: Failed to copy files from /tmp/stagebootbank to /altbootbank: "
        "[Errno 28] No space left on device: '/altbootbank/synthetic.v00'",
    ),
    "kb-313266": (
        "lifecycle.log",
        "lifecycle: 5557508: HostSeeding:956 ERROR Extract depot failed: ('synthetic', "
        "'Failed to add reserved VIB VMware_bootbank_synthetic:not found in the reserved VIB cache storage')",
    ),
    "sandbox-policies-too-long": (
        "sandboxd.log",
        "sandboxd[2100112]: AddUpdateFileRules: Failed to add file policies to domain :vmx (synthetic): "
        "world ID :2100999:Argument list too long",
    ),
}
OUTPUTS = {
    "interrupt-remapping-off": {
        "commands/localcli_system-settings-kernel-list.txt": (
            "Name          Type    Configured  Runtime  Default  Description\n"
            "------------  ------  ----------  -------  -------  ---------------------\n"
            "iovDisableIR  Bool    TRUE        TRUE     FALSE    (synthetic) of the IOMMU\n"
        )
    },
    "no-dump-target": {
        "commands/localcli_system-coredump-partition-get.txt": "   Active: \n   Configured: \n",
        "commands/localcli_system-coredump-file-get.txt": "   Active: \n   Configured: \n",
    },
    "syslog-stays-on-host": {
        "commands/localcli_system-syslog-config-get.txt": (
            "   Enforce SSLCertificates: false\n   Local Log Output: /tmp/scratch/log\n"
            "   Local Log Output Is Configured: false\n   Local Log Output Is Persistent: false\n   Remote Host: <none>\n"
        )
    },
}


def test_problems_in_the_further_logs_and_outputs_are_found(tmp_path: Path) -> None:
    """Updates, the proxy, the sandbox and a restart in their own logs, and three outputs: all found at their lines."""
    files: dict[str, str] = {}
    places = {}
    for rule, (log, text) in FURTHER.items():
        name = f"var/run/log/{log}"
        files[name] = files.get(name, "") + f"2024-03-01T10:00:00.000Z {text}\n"
        places[rule] = f"{log}:{files[name].count(chr(10))}"
    files["var/run/log/vmksummary.log"] = (
        "2024-03-01T08:00:00Z heartbeat: up 5d1h56m29s, 6 VMs; (synthetic)\n2024-03-01T09:01:02Z bootstop: Host has booted\n"
    )
    places["kb-1019238"] = "vmksummary.log:2"
    for output in OUTPUTS.values():
        files |= output

    found = {
        one["rule"]: one for one in triage(tmp_path, {"vmkernel": [kernel(0, DROPPED)]}, files)
    }

    assert set(found) == {*places, *OUTPUTS, "log-stress"}
    shown = {
        rule: {f"{e['address'].rpartition('/')[2]}:{e['line']}" for e in one["evidence"]}
        for rule, one in found.items()
    }
    assert {rule: place for rule, place in places.items() if place not in shown[rule]} == {}


def test_a_restart_on_purpose_is_no_finding(tmp_path: Path) -> None:
    """A shutdown was logged before the start, days before: nobody is told of a crash."""
    lines = "2024-03-01T08:00:00Z heartbeat: up 5d1h56m29s, 6 VMs; (synthetic)\n2024-03-01T08:30:00Z bootstop: Host is powering off\n"
    log = {"var/run/log/vmksummary.log": lines + "2024-03-04T09:01:02Z bootstop: Host has booted\n"}

    assert triage(tmp_path, {}, log) == []


def test_memory_errors_stand_in_the_findings_of_slow_storage(tmp_path: Path) -> None:
    """A slow file and an ATS miscompare on a host with corrected memory errors: both say what to look at first."""
    miscompare = (
        "HBX: 2832: ATS Miscompare detected between test and set HB images at offset 3604480 "
        "on vol 00000000-00000000-0000-000000000001"
    )
    logs = {
        "vmkernel": [kernel(0, MEMORY), kernel(1, miscompare)],
        "hostd": [agent("hostd", 2, SLOW_FILE, "IoTracker")],
    }
    found = {one["rule"]: json.dumps(one) for one in triage(tmp_path, logs)}

    assert set(found) == {"kb-373203", "kb-2113956", "hostd-io-took-long"}
    assert all(
        "corrected memory errors" in found[rule] for rule in ("kb-2113956", "hostd-io-took-long")
    )


def test_a_host_that_cannot_decrypt_its_configuration_is_critical(tmp_path: Path) -> None:
    """The text that a host prints instead of starting: one critical finding."""
    text = "Unable to restore the system configuration. A security violation was detected."
    (found,) = triage(tmp_path, {"vmkernel": [kernel8(0, text)]})

    assert (found["rule"], found["severity"]) == ("kb-312109", "critical")


@pytest.mark.parametrize(
    ("until", "severity"), [("Feb  1 09:00:00 2024", "major"), ("Apr  1 09:00:00 2024", "warning")]
)
def test_a_certificate_that_runs_out_is_found(tmp_path: Path, until: str, severity: str) -> None:
    """The text of a certificate and the README of a bundle: the certificate is judged by the day of the bundle, not by today."""
    files = {
        "README": f"Bundle name: {HOST}\nCaptured on: 2024-03-01 16:53:20.000000\nvm-support version: v3.3\n",
        "etc/vmware/ssl/rui.crt": (  # some tools write the text above the block
            "Certificate:\n    Data:\n        Issuer: CN = CA, O = synthetic\n        Validity\n"
            f"            Not Before: Oct  1 09:00:00 2021 GMT\n            Not After : {until} GMT\n"
            "        Subject: CN = esx0.lab.example, O = synthetic\n"
        ),
    }
    (found,) = triage(tmp_path, {}, files)

    assert (found["rule"], found["severity"]) == ("certificate-expires", severity)


def test_a_stamp_without_a_year_reads_as_no_time(tmp_path: Path) -> None:
    """A line of an old host, whose stamp has no year, is found, and its time is said to be unknown."""
    pasted = tmp_path / "vmkernel.log"
    stamp = "Apr  7 17:37:45 esx01 vmkernel: 17:19:49:38.441 cpu10:7448)"
    line = f"{stamp}UserDump: 1485: Dumping cartel 5551 (from world 7448) to file /var/core/hostd-worker-zdump.000 ..."
    pasted.write_text(f"{line}\n", encoding="utf-8")
    out = tmp_path / "out"
    CliRunner().invoke(main, ["triage", str(pasted), "-o", str(out), "--no-settings", "--no-packs"])

    case = json.loads((out / "case.json").read_text(encoding="utf-8"))
    (found,) = (one for one in case["findings"] if one["rule"] == "user-world-dumped")
    said = "hostd-worker was dumped once, at an unknown time."
    assert found["say"] == said
