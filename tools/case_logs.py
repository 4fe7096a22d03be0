"""Log lines of the storage case: written for it, in forms that VMware's texts and public posts show.

Device, volume, MAC and VM are made up. The words follow: KB 2007236 and the event id
`esx.problem.scsi.device.io.latency.high` (latency), KB 2113956 (ATS miscompare), the heartbeat events
`esx.problem.vmfs.heartbeat.*`, posts on the i40en driver (malicious driver detection), posts on
`Checkpoint_Unstun` (snapshot stuns).
"""

from __future__ import annotations

LUN = "naa.600508b1001c0000000000000000a107"
VOLUME = "59e1f0aa-1b2c3d4e-0007-002590aa7001"


def vobd_log() -> str:
    """Return vobd.log: latency that rises five times within eight minutes, and two heartbeats lost and found."""
    lines = [
        "2017-10-14T14:02:02.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic4 linkstate up"
    ]
    steps = [
        (0, 1343, 28022),
        (95, 5127, 151909),
        (210, 8714, 1204519),
        (301, 16880, 2377218),
        (466, 31907, 3512036),
    ]
    for second, before, after in steps:
        stamp = f"2017-10-14T15:{10 + second // 60:02d}:{second % 60:02d}"
        up = 3536400000000 + second * 1000000
        told = (
            f"Device {LUN} performance has deteriorated. I/O latency increased from average value of {before} "
            f"microseconds to {after} microseconds."
        )
        lines.append(
            f"{stamp}.212Z: [scsiCorrelator] {up}us: [vob.scsi.device.io.latency.high] {told}"
        )
        lines.append(
            f"{stamp}.213Z: [scsiCorrelator] {up + 801}us: [esx.problem.scsi.device.io.latency.high] {told}"
        )
    for minute, event in ((17, "timedout"), (17, "recovered"), (18, "timedout"), (18, "recovered")):
        second = 2 if event == "timedout" else 31
        up = 3536820000000 + minute * 60000000
        lines.append(
            f"2017-10-14T15:{minute}:{second:02d}.640Z: [vmfsCorrelator] {up}us: "
            f"[esx.problem.vmfs.heartbeat.{event}] {VOLUME} lun-prod-07"
        )
    return "\n".join(lines) + "\n"


def storage_vmkernel_log() -> str:
    """Return vmkernel lines: miscompares of the heartbeat, and a driver that resets its own function."""
    lines = [
        f"2017-10-14T14:{n % 60:02d}:07.312Z cpu{n % 16}:{33000 + n})NetPort: 1879: disabled port 0x{0x2000010 + n % 5:x}"
        for n in range(60)
    ]
    for n in range(4):
        lines.append(
            f"2017-10-14T15:{16 + n}:44.0{n}9Z cpu13:33467)HBX: 2832: ATS Miscompare detected between test and set HB "
            f"images at offset {3604480 + 4096 * n} on vol {VOLUME}"
        )
    for n in range(3):
        lines.append(
            f"2017-10-14T15:3{n}:02.123Z cpu7:65789)i40en: i40en_HandleMddEvent:6829: Malicious Driver Detection event 0x02 "
            f"on TX queue {n} PF number 0x01 VF number 0x00"
        )
        lines.append(
            f"2017-10-14T15:3{n}:02.124Z cpu7:65789)i40en: i40en_HandleMddEvent:6843: TX driver issue detected, PF reset issued"
        )
    return "\n".join(lines) + "\n"


def vmware_log() -> str:
    """Return the log of a VM that three snapshots stopped: 0.4 s, 2.1 s and 41 s."""
    lines = [
        "2017-10-14T15:00:00.000Z| vmx| I125: Log for VMware ESX pid=70512 version=6.5.0 build=build-5969303 option=Release"
    ]
    for minute, stopped in ((2, 412004), (9, 2133027), (19, 41233332)):
        lines.append(
            f"2017-10-14T15:{minute:02d}:11.412Z| vcpu-0| I125: Checkpoint_Unstun: vm stopped for {stopped} us"
        )
    return "\n".join(lines) + "\n"
