"""Cases that grow by one thing: machines, members of an archive, VIBs. Synthetic, always the same bytes.

Formats are those of a syslog server, of ESXi's shell and of vm-support; names, numbers and lines are made up.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tools import case_text, nsx_site
from tools.case_pack import Files, tgz

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
ROUNDS = 8  # of each host in the syslog
# What a host says in turn; the last line is one of trouble, of one host in ten
SAID = (
    "vmkernel: cpu{cpu}:2097{cpu})ScsiDeviceIO: 2950: Cmd(0x459a40c) 0x85, CmdSN 0x{turn} from world 2099 to dev \"mpx.vmhba1\" failed H:0x0 D:0x2 P:0x0",
    "Hostd: info hostd[2099{cpu}] [Originator@6876 sub=Vimsvc.ha-eventmgr] Event {turn} : User root logged in as vim-cmd",
    "vobd: [netCorrelator] {turn}us: [vob.net.pg.uplink.transition.up] Uplink: vmnic{cpu} is up",
    "Vpxa: verbose vpxa[2100{cpu}] [Originator@6876 sub=VpxaHalCnxHostagent] Received callback {turn}",
)  # fmt: skip
TROUBLE = "vmkernel: cpu{cpu}:2097{cpu})WARNING: NMP: nmp_DeviceRequestFastDeviceProbe:237: NMP device \"naa.6006016{turn}\" state in doubt; requested fast path state update..."  # fmt: skip


def name_host(number: int) -> str:
    """Return the name of a host."""
    return f"esx{number:05}.lab.example"


def write_syslog(folder: Path, count: int) -> Path:
    """Write the file of a log server: eight lines of each host, by time."""
    path = folder / "syslog.log"
    with path.open("w", encoding="utf-8") as file:
        for turn in range(ROUNDS):
            for number in range(count):
                when = START + timedelta(seconds=turn * 60, milliseconds=number)
                said = SAID[turn % len(SAID)]
                if turn == ROUNDS - 1 and number % 10 == 0:
                    said = TROUBLE
                text = said.format(cpu=number % 8, turn=1000 + turn)
                file.write(
                    f"{when:%Y-%m-%dT%H:%M:%S}.{number % 1000:03}Z {name_host(number)} {text}\n"
                )
    return path


def write_transcript(folder: Path, count: int) -> Path:
    """Write a transcript in which each prompt is of another host."""
    path = folder / "session.txt"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            prompt = f"[root@{name_host(number).partition('.')[0]}:~] "
            file.write(f"{prompt}vmware -v\nVMware ESXi 6.7.0 build-14320388\n")
            file.write(f"{prompt}esxcli system maintenanceMode get\nDisabled\n")
    return path


def make_bundle_files(number: int) -> Files:
    """Return the few files of a small vm-support bundle of a host."""
    name = name_host(number)
    top = f"esx-{name}-2026-03-02--09.00-{70000 + number}"
    log = "".join(
        f"2026-03-02T08:{minute:02}:00.000Z cpu{minute % 8}:2097152)NMP: nmp_ThrottleLogForDevice: {minute}\n"
        for minute in range(5)
    )
    files = {
        "README": case_text.bundle_readme(top, "2026-03-02 09:00:00", ""),
        "etc/vmware/esx.conf": f'/adv/Misc/HostName = "{name}"\n',
        "commands/vmware_-vl.txt": "VMware ESXi 6.7.0 build-14320388\nVMware ESXi 6.7.0 Update 3\n",
        "commands/esxcfg-vswitch_-l.txt": case_text.vswitch_list("vSwitch0", ["vmnic0"]),
        "var/run/log/vmkernel.log": log,
    }
    return {f"{top}/{path}": body for path, body in files.items()}


def write_bundles(folder: Path, count: int) -> Path:
    """Write one archive that holds a bundle of each host."""
    files: Files = {}
    for number in range(count):
        inner = make_bundle_files(number)
        top = next(iter(inner)).partition("/")[0]
        files[f"upload/{top}.tgz"] = tgz(inner)
    path = folder / "upload.tgz"
    path.write_bytes(tgz(files))
    return path


def begin_bundle() -> tuple[str, Files]:
    """Return the top folder and the files of a bundle that is to grow."""
    files = make_bundle_files(1)
    return next(iter(files)).partition("/")[0], files


def pack_bundle(folder: Path, top: str, files: Files) -> Path:
    """Write a bundle under its name."""
    path = folder / f"{top}.tgz"
    path.write_bytes(tgz(files))
    return path


def write_vibs(folder: Path, count: int) -> Path:
    """Write a bundle whose list holds so many VIBs."""
    top, files = begin_bundle()
    rows = [
        (f"part-{number:05}", f"1.{number}.0-1vmw.670.0.0", "VMW", "VMwareCertified")
        for number in range(count)
    ]
    files[f"{top}/commands/localcli_software-vib-list.txt"] = case_text.vib_table(rows, 40)
    return pack_bundle(folder, top, files)


def write_members(folder: Path, count: int) -> Path:
    """Write a bundle with so many further members of one byte."""
    top, files = begin_bundle()
    for number in range(count):
        files[f"{top}/var/tmp/{number:06}.dat"] = "x"
    return pack_bundle(folder, top, files)


def write_rotated_logs(folder: Path, count: int) -> Path:
    """Write a bundle with so many rotated logs of a few lines."""
    top, files = begin_bundle()
    for number in range(count):
        when = START - timedelta(minutes=10 * number)
        lines = "".join(
            f"{when + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S}.000Z cpu1:2097152)NMP: {number}\n"
            for second in range(5)
        )
        files[f"{top}/var/run/log/vmkernel.{number}.gz"] = gzip.compress(lines.encode(), mtime=0)
    return pack_bundle(folder, top, files)


def write_site(folder: Path, count: int) -> Path:
    """Write a folder of one NSX site: its Manager, its controllers, and a bundle of each host."""
    site = nsx_site.Site()
    top = folder / "site"
    top.mkdir()
    for name, body in nsx_site.make_files(site).items():
        data = body.encode() if isinstance(body, str) else body
        (top / name).write_bytes(data)
    for number in range(101, 101 + count):
        name = f"esx-esx{number}.lab.example-2017-10-02--09.00-{71200 + number}"
        members: Files = {}
        for path, body in nsx_site.make_host_files(site, 41, name).items():
            text = str(body).replace("esx41.", f"esx{number}.")
            members[f"{name}/{path}"] = text.replace(
                "192.0.2.41", f"198.51.{number // 250}.{number % 250}"
            )
        (top / f"{name}.tgz").write_bytes(tgz(members))
    return top


WRITERS: dict[str, Callable[[Path, int], Path]] = {
    "syslog": write_syslog,
    "transcript": write_transcript,
    "bundles": write_bundles,
    "vibs": write_vibs,
    "members": write_members,
    "rotated": write_rotated_logs,
    "site": write_site,
}
