"""Everyday problems of a host, as lines of its logs, to be planted in a large synthetic bundle.

Each is a line (or some) as a public source shows it: VMware and Broadcom KB articles, listed vob ids, posts. What a
source leaves open (addresses, names, numbers) is filled with made-up values; stamps are those of the log around. `@`
stands for the stamp, `%` for the processor and world of a line of vmkernel.log. The names say what an engineer would
call the problem, and `rule` which rule or event is to find it; no one may write them by looking at a pattern.
"""

from __future__ import annotations

from typing import NamedTuple


class Planted(NamedTuple):
    """One problem: the rule that shall find it (for rules over rows, the row's words), its log, its lines."""

    problem: str
    rule: str
    log: str
    lines: tuple[str, ...]
    says: str = ""


NAA = "naa.6006016055711d00cff95e65664ee011"
VOLUME = "5b0c1c39-7a1b2c3d-0f11-002590aa1000"
VSAN = "52e1d1fa-af0e-0c6c-f219-e5e1d224b469"


def _make_event(problem: str, event: str, correlator: str, text: str, says: str = "") -> Planted:
    return Planted(
        problem,
        "esx-event",
        "vobd",
        (f"@: [{correlator}] 3532322000000us: [{event}] {text}",),
        says or event,
    )


PROBLEMS = (
    # vobd: ids as listed for vSphere 6.7 to 8.0
    _make_event("all paths down, timed out", "esx.problem.storage.apd.timeout", "APDCorrelator",
           f"Device or filesystem with identifier [{NAA}] has entered the All Paths Down Timeout state after being in "
           "the All Paths Down state for 140 seconds. I/Os will now be fast failed."),
    _make_event("device permanently lost", "esx.problem.scsi.device.state.permanentloss", "scsiCorrelator",
           f"Device: {NAA} has been removed or is permanently inaccessible."),
    _make_event("heartbeat of a volume timed out", "esx.problem.vmfs.heartbeat.timedout", "vmfsCorrelator",
           f"{VOLUME} datastore1"),
    _make_event("lock on a volume corrupt", "esx.problem.vmfs.lock.corruptondisk", "vmfsCorrelator",
           f"{VOLUME} datastore2"),
    _make_event("RAM disk full", "esx.problem.visorfs.ramdisk.full", "visorfsCorrelator",
           "The ramdisk 'tmp' is full.  As a result, the file /tmp/x could not be written."),
    _make_event("hostd crashed", "esx.problem.hostd.core.dumped", "UserWorldCorrelator",
           "/bin/hostd crashed and a core file may have been created at /var/core/hostd-zdump.000."),
    _make_event("duplicate IP address", "esx.problem.net.vmknic.ip.duplicate", "netCorrelator",
           "A duplicate IP address was detected for 10.1.1.7 on the interface vmk0. The current owner is 00:50:56:12:34:56."),
    _make_event("no network on a switch", "esx.problem.net.connectivity.lost", "netCorrelator",
           'Lost network connectivity on virtual switch "vSwitch1". Physical NIC vmnic2 is down. Affected port groups: "VM".'),
    _make_event("uplink redundancy lost", "esx.problem.net.redundancy.lost", "netCorrelator",
           'Lost uplink redundancy on virtual switch "vSwitch0". Physical NIC vmnic5 is down. Affected port groups: "M".'),
    _make_event("watchdog of a NIC", "esx.problem.net.vmnic.watchdog.reset", "netCorrelator",
           "Uplink vmnic3 has recovered from a transient failure due to watchdog timeout"),
    _make_event("LACP peer silent", "esx.problem.net.lacp.peer.noresponse", "netCorrelator",
           "LACP error: No peer response on uplink vmnic4 for VDS DvsPortset-1."),
    _make_event("vSAN device failed", "esx.problem.vob.vsan.lsom.diskerror", "GenericCorrelator",
           f"vSAN device {VSAN} is under permanent error."),
    _make_event("no vSAN network", "esx.problem.vsan.no.network.connectivity", "GenericCorrelator",
           "vSAN doesn't have any network configuration. This host is isolated."),
    _make_event("no core dump target", "esx.problem.coredump.unconfigured2", "GenericCorrelator",
           "No coredump target has been configured. Host core dumps cannot be saved."),
    _make_event("memory errors corrected", "esx.problem.cpu.page.correctederrors.high", "GenericCorrelator",
           "High number of corrected errors on a page. The page is selected for retirement."),
    _make_event("remote syslog stopped", "esx.problem.vmsyslogd.remote.failure", "GenericCorrelator",
           'The host "loghost.example.com" has become unreachable.  Remote logging to this host has stopped.'),
    _make_event("NFS server lost", "esx.problem.vmfs.nfs.server.disconnect", "vmfsCorrelator",
           "nfs1.example.com /vol1 12ab34cd-56ef78ab-0000-000000000000 nfs-ds1"),
    _make_event("clock off", "esx.problem.clock.correction.step.unsync", "GenericCorrelator",
           "NTP system clock stepped to 1614902400.000, but out of synchronization with upstream time servers."),
    Planted("latency above a second (2007236)", "storage-latency-over-a-second", "vobd",
            (f"@: [scsiCorrelator] 3536701000801us: [esx.problem.scsi.device.io.latency.high] Device {NAA} performance has "
             "deteriorated. I/O latency increased from average value of 1832 microseconds to 2377218 microseconds.",)),
    # vmkernel: articles named in the rules' sources
    Planted("heartbeat of a volume timed out", "vmfs-heartbeat-late", "vmkernel",
            ("@ %HBX: 312: 'datastore3': HB at offset 3149824 - Waiting for timed out HB:",)),
    Planted("ATS miscompare (2113956)", "kb-2113956", "vmkernel",
            (f"@ %ATS Miscompare detected between test and set HB images at offset 3149824 on vol {VOLUME}",)),
    Planted("VMFS heap full (1004424)", "kb-1004424", "vmkernel",
            ("@ %WARNING: Heap: 2525: Heap vmfs3 already at its maximum size. Cannot expand.",)),
    Planted("reservation conflicts (1005009)", "kb-1005009", "vmkernel",
            tuple(f"@ %ScsiDeviceIO: {2300 + n}: Sync CR at 64 on dev {NAA}: reservation conflict" for n in range(12))),
    Planted("medium error of a disk", "scsi-status", "vmkernel",
            tuple(f'@ %ScsiDeviceIO: 3068: Cmd(0x459a40{n}ad7c0) 0x28, CmdSN 0x{n}51 from world 33117 to dev "{NAA}" failed '
                  "H:0x0 D:0x2 P:0x0 Valid sense data: 0x3 0x11 0x0." for n in range(3))),
    Planted("hostd hangs", "hostd-does-not-respond", "vmkernel",
            ("@ %ALERT: hostd detected to be non-responsive",)),
    Planted("boot device gone (83963)", "kb-83963", "vmkernel",
            ("@ %ALERT: Bootbank cannot be found at path '/bootbank'",)),
    Planted("no TCP/IP buffers (386019)", "tcpip-no-buffers", "vmkernel",
            tuple("@ %WARNING: Tcpip: 2420: socreate(type=2, proto=0) failed with error No buffer space available (55)"
                  for _ in range(4))),
    Planted("BMC does not answer (436105)", "kb-436105", "vmkernel",
            tuple("@ %WARNING: nipmi: IpmiKcs_ProcessRequest:307: nipmi: Failure in KCS write start phase. Error: Failure"
                  for _ in range(4))),
    Planted("user world dumped", "user-world-dumped", "vmkernel",
            ("@ %UserDump: 3157: vpxa-worker: Dumping cartel 2101234 (from world 2101299) to file /var/core/vpxa-zdump.002 ...",)),
    Planted("NIC watchdog, old driver", "nic-watchdog", "vmkernel",
            ("@ %WARNING: LinNet: netdev_watchdog:3688: NETDEV WATCHDOG: vmnic6: transmit timed out",)),
    Planted("Broadcom firmware dead (426419)", "kb-426419", "vmkernel",
            ("@ %WARNING: bnxtnet: bnxtnet_dev_probe:1201: [vmnic7 : 0x450018a1c000] VER_GET failed- FW_STATUS_REG: 0x89021",)),
    Planted("SFP dying behind lpfc (436435)", "lpfc-abort-pending", "vmkernel",
            tuple(f"@ %WARNING: lpfc : vmhba2 lpfc_validate_fcp_abort:7541: 3111 Outstanding FCP I/O Abort Request still "
                  f"pending on io_buf 0x45b9{n}0, xri x373" for n in range(15))),
    Planted("NVMe commands fail (390259)", "nvme-status", "vmkernel",
            tuple("@ %WARNING: NVMEIO:2644 command 0x45b98d140c40 failed: ctlr 262, queue 3, psaCmd 0x45d9c3b2f4c0, "
                  f"status 0x371, opc 0x2, cid {180 + n}, nsid 261" for n in range(12))),
    Planted("VMFS-6 metadata damaged (311925)", "vmfs-metadata-damaged", "vmkernel",
            (f'@ %WARNING: Res3: StatVMFS6:7090: Volume {VOLUME} ("datastore4") might be damaged on the disk. Resource '
             "cluster metadata corruption has been detected.",)),
    Planted("vMotion failed (59665)", "kb-59665", "vmkernel",
            ("@ %WARNING: Migrate: 5454: 1615214965123456 S: Migration considered a failure by the VMX. It is most likely a "
             "timeout, but check the VMX log for the true error.",)),
    Planted("vSAN congestion (2071384)", "kb-2071384", "vmkernel",
            ("@ %LSOM: LSOM_ThrowAsyncCongestionVOB:2127: LSOM SSD Congestion State: Exceeded. Congestion Threshold: 200 "
             "Current Congestion: 231.",)),
    Planted("purple screen of i40en (370976)", "purple-screen-known", "vmkernel",
            ("@ %@BlueScreen: #PF Exception 14 in world 2097700:HELPER_UPLIN IP 0x41802ed2a1f4 addr 0x8",
             "@ %0x451a0a61bd30:[0x41802ed2a1f4]i40en_UplinkPrivStatsGet@(i40en)#<None>+0x44 stack: 0x0",)),
    # hostd, vpxa, fdm
    Planted("fopen took 1236 s", "hostd-io-took-long", "hostd",
            ('@ warning hostd[4A00B70] [Originator@6876 sub=IoTracker] In thread 2101311, fopen("/vmfs/volumes/'
             f'{VOLUME}/vm3/vm3.vmx") took over 1236 sec.',)),
    Planted("vpxa lost hostd", "vpxa-cannot-reach-hostd", "vpxa",
            ("@ error vpxa[4A01B70] [Originator@6876 sub=hostdcnx] Can't connect to hostd. Shutting down...",)),
    Planted("NIC errors in hostd.log (399074)", "kb-399074", "hostd",
            tuple("@ info hostd[4A02B70] [Originator@6876 sub=Statssvc] Error stats for pnic: vmnic1\n"
                  f"--> errorsRx: {4711 + n}\n--> RxCRCErrors: {4711 + n}" for n in range(4))),
    Planted("snapshots stunned a VM", "vm-stopped", "vmware",
            ("@| vcpu-0| I125: Checkpoint_Unstun: vm stopped for 31234567 us",)),
)  # fmt: skip
