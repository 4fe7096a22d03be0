"""Write a large synthetic vm-support archive for the benchmark.

    python tools/make_bundle.py --size 1G --seed 7 [--no-dumps] [--healthy | --planted] -o FILE

`--size` is the text in all members, nested gzip members inflated; the archive itself comes to about
an eighth of it. The shares are those of the bundle the performance targets were measured on: 47 %
live logs, 47 % rotated logs in nested gz, 5 % esxtop CSV, 1 % command output and vsish text. The same
size and seed give the same bytes (with one version of Python and zlib). Written as it is made:
memory stays flat. Never committed.

`--healthy` is a patched host; `--planted` is the same host with the problems of
`tools/planted.py` in its live logs, each somewhere else.
"""

# ruff: noqa: SIM905 - lists of words read better as text

from __future__ import annotations

import argparse
import gzip
import json
import queue
import random
import re
import shlex
import struct
import sys
import tarfile
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools import case_text
from tools.bundle_logs import LogText
from tools.planted import PROBLEMS, Planted

MTIME = 1_615_214_965  # 2021-03-08 14:49:25 UTC, of every member
HOST = "bench01.example.com"
TOP = f"esx-{HOST}-2021-03-08--14.49-17885597"
FRAGMENT = 1_048_576
LIVE = {
    "vmkernel": 0.30,
    "hostd": 0.30,
    "vpxa": 0.12,
    "fdm": 0.10,
    "vobd": 0.08,
    "vmkwarning": 0.10,
}
ROTATED = {"vmkernel": 24, "hostd": 24, "vpxa": 12}
FULL = 1284 * 10**6  # text of the bundle the shares come from
ESXTOP_COLUMNS = 625
OLD, PATCHED = (1, 17_167_734), (3, 24_784_741)  # update of ESXi 7.0, and build
VMS = 12


class TarGz:
    """A .tgz written from front to back; a thread compresses."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._file.write(b"\x1f\x8b\x08\x00" + struct.pack("<L", MTIME) + b"\x00\xff")
        self._queue: queue.Queue[bytes | None] = queue.Queue(64)
        self._thread = threading.Thread(target=self._compress, daemon=True)
        self._thread.start()

    def __enter__(self) -> TarGz:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._queue.put(bytes(10240))
        self._queue.put(None)
        self._thread.join()
        self._file.close()

    def add_file(self, name: str, size: int, chunks: Iterable[bytes]) -> None:
        """Write one file of exactly `size` bytes."""
        self._write_header(name, size)
        written = 0
        for chunk in chunks:
            written += len(chunk)
            self._queue.put(chunk)
        assert written == size, f"{name}: {written} bytes instead of {size}"
        self._queue.put(bytes(-size % 512))

    def add_text(self, name: str, body: str | bytes) -> None:
        """Write one small file."""
        data = body.encode() if isinstance(body, str) else body
        self.add_file(name, len(data), [data])

    def add_link(self, name: str, target: str) -> None:
        """Write a symbolic link."""
        self._write_header(name, 0, target)

    def _write_header(self, name: str, size: int, target: str = "") -> None:
        info = tarfile.TarInfo(f"{TOP}/{name}")
        info.size, info.mtime, info.mode = size, MTIME, 0o644
        if target:
            info.type, info.linkname = tarfile.SYMTYPE, target
        self._queue.put(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))

    def _compress(self) -> None:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        crc = length = 0
        while (chunk := self._queue.get()) is not None:
            crc = zlib.crc32(chunk, crc)
            length += len(chunk)
            self._file.write(packer.compress(chunk))
        self._file.write(packer.flush() + struct.pack("<LL", crc, length & 0xFFFFFFFF))


def write_bundle(
    path: Path,
    size: int,
    seed: int = 7,
    *,
    dumps: bool = True,
    problems: Sequence[Planted] | None = None,
) -> None:
    """Write a bundle with about `size` bytes of text (inflated) to `path`; without `dumps` logs and commands alone.

    problems  what the logs of a patched host tell; None for the host of the benchmark
    """
    share = size / FULL
    with TarGz(path) as tar:
        write_identity(tar, size, seed)
        write_commands(tar, share, seed, OLD if problems is None else PATCHED)
        write_vms(
            tar,
            share,
            seed,
            [line for one in problems or () if one.log == "vmware" for line in one.lines],
        )
        for name, part in LIVE.items():
            wanted = int(size * 0.467 * part)
            own = [one.lines for one in problems or () if one.log == name]
            tar.add_file(
                f"var/run/log/{name}.log",
                wanted,
                plant_problems(LogText(name, f"{seed}"), wanted, own),
            )
            tar.add_link(f"var/log/{name}.log", f"/scratch/log/{name}.log")
        for name, count in ROTATED.items():
            for number in range(count):
                text = b"".join(LogText(name, f"{seed}/{number}").fill_size(int(size * 0.467 / 60)))
                packed = gzip.compress(text, 6, mtime=MTIME)
                tar.add_text(f"var/run/log/{name}.{number}.gz", packed)
        write_fragments(tar, share, seed)
        if not dumps:
            return
        rows = max(60, round(12_000 * share))
        chunks = esxtop_csv(ESXTOP_COLUMNS, rows, seed)
        tar.add_file("esxtop-batch.csv", esxtop_size(ESXTOP_COLUMNS, rows, seed), chunks)
        tar.add_text("vsish-ports.txt", vsish_dump(int(10.8e6 * min(1.0, share)), seed))


def plant_problems(log: LogText, size: int, planted: Sequence[Sequence[str]]) -> Iterator[bytes]:
    """Yield a log of `size` bytes with some problems at even distances, the lines of each close together."""
    left = size
    for number, lines in enumerate(planted):
        before = (left - sum(map(len, lines)) - 4096) // (len(planted) - number + 1)
        for chunk in log.take_chunks(before):
            left -= len(chunk)
            yield chunk
        for line in lines:
            text = log.stamp_line(line)
            left -= len(text)
            yield text
    yield from log.fill_size(left)


def name_command_file(command: str) -> str:
    """Return the file name vm-support gives to the output of a command."""
    words = shlex.split(command)
    name = words[0].rpartition("/")[2]
    if len(words) > 1:
        name += "_" + re.sub(r"[^()\-_0-9A-Za-z]", "", "-".join(words[1:]))
    name += ".txt"
    if len(name) <= 100:
        return f"commands/{name}"
    return f"commands/{name[:47]}[...]{name[-48:]}"


def write_identity(tar: TarGz, size: int, seed: int) -> None:
    tar.add_text(
        "README",
        case_text.bundle_readme(
            TOP,
            "2021-03-08 14:49:25",
            f"Synthetic: written by tools/make_bundle.py --size {size} --seed {seed}. "
            "No customer data, no real events.\n",
        ),
    )
    tar.add_text("error.log", "")
    tar.add_text("action.log", "2021-03-08 14:49:26: commands (base.mfx) took 0.123 sec\n")
    tar.add_text(
        "etc/vmware/esx.conf",
        f'/adv/Misc/HostName = "{HOST}"\n'
        + "".join(f'/net/pnic/child[{n:04d}]/name = "vmnic{n}"\n' for n in range(8)),
    )


def list_ports() -> list[tuple[int, int, int, str, str, str]]:
    nics = []
    for n in range(2):
        nics.append((33554434 + n, 4, 0, "vSwitch0", f"00:25:90:aa:10:{n:02x}", f"vmnic{n}"))
    vms = [
        (33554440 + n, 5, 9, "vSwitch0", f"00:50:56:a6:01:{n:02x}", f"vm{n}.eth0")
        for n in range(VMS)
    ]
    return nics + vms


def list_outputs(release: tuple[int, int]) -> dict[str, str]:
    """Return the outputs whose shape Backline reads, by command; `release` is the update of 7.0 and the build."""
    (update, build), built = release, "Nov  7 2020 23:00:31"
    return {
        "vmware -vl": f"VMware ESXi 7.0.{update} build-{build}\nVMware ESXi 7.0 Update {update}\n",
        "uname -a": f"VMkernel {HOST} 7.0.{update} #1 SMP Release build-{build} {built} x86_64 x86_64 x86_64 ESXi\n",
        "hostname": f"{HOST}\n",
        "date": "Mon Mar  8 14:49:26 UTC 2021\n",
        "uptime": " 14:49:26 up 41 days, 03:10:06, load average: 0.21, 0.20, 0.19\n",
        "localcli system stats uptime get": "3553806000000\n",
        "net-stats -l": case_text.net_stats(list_ports()),
        "esxcfg-vswitch -l": case_text.vswitch_list("vSwitch0", ["vmnic0", "vmnic1"]),
        "nicinfo.sh": case_text.nic_info({"Receive missed errors": 0}),
        "localcli software vib list": case_text.vib_list(),
        "localcli system settings advanced list -d": case_text.adv_delta(
            {"/Net/Vmxnet3RxRings": (2, 1)}
        ),
    }


def write_commands(tar: TarGz, share: float, seed: int, release: tuple[int, int]) -> None:
    """Write about 2,000 command files (fewer in a small bundle) and some of their JSON twins."""
    known = list_outputs(release)
    for command, body in known.items():
        tar.add_text(name_command_file(command), body)
    count = max(60, min(2000, round(2000 * share**0.5)))
    most = 16_000 if share > 0.2 else 3_000
    dice = random.Random(f"commands/{seed}")
    verbs = (
        "storage core device list -d",
        "storage nmp path list -d",
        "storage core device stats get -d",
        "network ip interface ipv4 get -i",
        "storage core path list -p",
        "hardware pci list -c",
        "network nic stats get -n",
        "storage vmfs extent list -v",
    )
    for number in range(count - len(known)):
        verb = verbs[number % len(verbs)]
        command = f"localcli {verb} naa.6006016{number:08d}{dice.getrandbits(32):08x}"
        body = make_listing(dice, 300 + dice.randrange(most))
        tar.add_text(name_command_file(command), body)
        if number % 20 == 0:
            rows = []
            for n in range(dice.randrange(1, 40)):
                rows.append({"Device": f"naa.{n:x}", "Size": n * 1024})
            name = name_command_file(command).removeprefix("commands/").removesuffix(".txt")
            tar.add_text(f"json/{name}.json", json.dumps(rows, indent=1) + "\n")


_KEYS = (
    "Display Name|Has Settable Display Name|Size|Device Type|Multipath Plugin|Devfs Path|Vendor|Model|"
    "Revision|Is Local|Status|Queue Full Sample Size|Reads|Writes"
).split("|")


def make_listing(dice: random.Random, size: int) -> str:
    lines: list[str] = []
    while size > 0:
        line = f"   {dice.choice(_KEYS)}: {dice.getrandbits(dice.choice((4, 12, 32)))}\n"
        size -= len(line)
        lines.append(line)
    return "".join(lines)


def write_vms(tar: TarGz, share: float, seed: int, planted: Sequence[str]) -> None:
    for number in range(VMS):
        folder = f"vmfs/volumes/5b0c1c39-7a1b2c3d-0f11-002590aa1000/vm{number}"
        nic = ("vmxnet3", "VM Network", f"00:50:56:a6:01:{number:02x}")
        vmx = case_text.vmx_file(f"vm{number}", "centos7-64", 2, [nic])
        tar.add_text(f"{folder}/vm{number}.vmx", vmx)
        text = LogText("vmkernel", f"vmx/{seed}/{number}").take_lines(
            int(200_000 * min(1.0, 4 * share)) + 2000
        )
        body = re.sub(rb"Z cpu\d+:\d+\)", b"Z| vmx| I125: ", text)
        if number == 3:
            last = [line.replace("@", "2021-03-08T13:00:00.123Z", 1) + "\n" for line in planted]
        else:
            last = []
        tar.add_text(f"{folder}/vmware.log", body + "".join(last).encode())


def write_fragments(tar: TarGz, share: float, seed: int) -> None:
    """Write the binary VSI cache in pieces, as vm-support cuts large command output."""
    dice = random.Random(f"vsi/{seed}")
    left = max(FRAGMENT // 2, int(3.4 * FRAGMENT * min(1.0, 2 * share)))
    number = 0
    while left > 0:
        size = min(FRAGMENT, left)
        heads = (struct.pack("<IIHH", 0x56534943, i, i % 7, 0) for i in range(512))
        record = b"".join(head + dice.randbytes(20) for head in heads)
        body = (record * (size // len(record) + 1))[:size]
        tar.add_text(f"commands/vsi_traverse_-s.txt.FRAG-{number:05d}", body)
        left -= size
        number += 1


# --- esxtop and vsish ---------------------------------------------------------------------------

_NET = (
    "Packets Transmitted/sec|MBits Transmitted/sec|Average Packet Size  Transmitted (Bytes)|"
    "Packets Received/sec|MBits Received/sec|Average Packet Size  Received (Bytes)|"
    "% Outbound Packets Dropped|% Received Packets Dropped"
).split("|")
_MEMORY = (
    "Memory Size MBytes|Memory Granted Size MBytes|Memory Consumed Size MBytes|Target Size MBytes|"
    "Touched MBytes|Swapped MBytes|Overhead MBytes"
).split("|")
_DISK = "Commands/sec|Reads/sec|Writes/sec|MBytes Read/sec|MBytes Written/sec".split("|")


def esxtop_header(columns: int) -> list[str]:
    """Return `columns` headings: 76 a VM (group, four vCPUs, port, memory, disk), the stamp first."""
    names = ["(PDH-CSV 4.0) (UTC)(0)"]
    vm = 0
    while len(names) < columns:
        gid = 1000 + 50 * vm
        name = f"vm{vm}"
        groups: list[tuple[str, Sequence[str]]] = [
            (f"Group Cpu({gid}:{name})", case_text.CPU_COUNTERS)
        ]
        for n in range(4):
            groups.append(
                (f"Vcpu({gid}:{name}:{gid + 10 + n}:vmx-vcpu-{n}:{name})", case_text.CPU_COUNTERS)
            )
        groups += [(f"Network Port(vSwitch0:{33554440 + vm}:{gid + 10}:{name})", _NET)]
        groups += [(f"Group Memory({gid}:{name})", _MEMORY), (f"Virtual Disk({name})", _DISK)]
        groups += [(f"Physical Cpu({vm})", ["% Util Time"])]
        names += [
            f"\\\\{HOST}\\{instance}\\{one}" for instance, counters in groups for one in counters
        ]
        vm += 1
    return names[:columns]


def esxtop_csv(columns: int, rows: int, seed: int) -> Iterator[bytes]:
    """Yield an esxtop batch file, 5 s apart, with esxtop's trailing comma."""
    yield case_text.esxtop_file(esxtop_header(columns), ()).encode()
    dice = random.Random(f"esxtop/{columns}/{seed}")
    pool = ["0.00"] * 900
    for _ in range(2100):
        pool.append(f"{dice.random() * 10 ** dice.choice((0, 1, 2, 4)):.2f}")
    for row in range(rows):
        day, second = divmod(row * 5, 86_400)
        minute, second = divmod(second, 60)
        hour, minute = divmod(minute, 60)
        stamp = f"03/{8 + day % 20:02d}/2021 {hour:02d}:{minute:02d}:{second:02d}"
        yield case_text.esxtop_file([stamp, *dice.choices(pool, k=columns - 1)], ()).encode()


def esxtop_size(columns: int, rows: int, seed: int) -> int:
    """Return the size in bytes of what `esxtop_csv` yields, by making it once."""
    return sum(map(len, esxtop_csv(columns, rows, seed)))


def vsish_dump(size: int, seed: int) -> str:
    """Return about `size` bytes of a transcript of vsish dumps of switch ports."""
    dice = random.Random(f"vsish/{seed}")
    parts: list[str] = []
    left, port = size, 33554440
    while left > 0:
        if dice.random() < 0.01:
            full = dice.randrange(1, 9000)
        else:
            full = 0
        pkts = dice.randrange(1, 10**9)
        where = f"/net/portsets/vSwitch0/ports/{port}"
        text = (
            f"[root@{HOST}:~] vsish -e get {where}/clientStats\n"
            + case_text.client_stats(pktsRxOK=pkts, droppedRx=full, pktsTxOK=pkts // 2)
            + f"[root@{HOST}:~] vsish -e get {where}/vmxnet3/rxSummary\n"
            + case_text.rx_summary(pkts // 3, pkts, full, full // 2)
        )
        parts.append(text)
        left -= len(text)
        port += 1
    return "".join(parts)


def parse_size(text: str) -> int:
    """Return a size such as 20M, 1G or 500000 in bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)B?", text.strip().upper())
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no size; write 20M, 1G or a number of bytes")
    return int(float(match[1]) * {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}[match[2]])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else ""
    )
    parser.add_argument(
        "--size", type=parse_size, default=parse_size("1G"), help="text in all members, 20M to 3G"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument(
        "--no-dumps",
        action="store_true",
        help="leave out the esxtop CSV and the pasted vsish dumps",
    )
    host = parser.add_mutually_exclusive_group()
    host.add_argument(
        "--healthy", action="store_true", help="a patched host with nothing wrong, without dumps"
    )
    host.add_argument(
        "--planted", action="store_true", help="the same with the problems of tools/planted.py"
    )
    options = parser.parse_args()
    problems = PROBLEMS if options.planted else () if options.healthy else None
    write_bundle(
        options.output,
        options.size,
        options.seed,
        dumps=problems is None and not options.no_dumps,
        problems=problems,
    )
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
