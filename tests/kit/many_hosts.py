"""Sessions on many hosts with many ports, as an engineer saves them: synthetic, in the documented form.

`net-stats -l` and the rxSummary of vsish as ESXi 6.0 prints them; all numbers are made up.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

FIRST_PORT = 33554433  # 0x2000001, the first port of the first switch
FRAMES = 1_000_000

_SUMMARY = (
    "LRO pkts rx ok", "LRO bytes rx ok", "pkts rx ok", "bytes rx ok", "unicast pkts rx ok", "unicast bytes rx ok",
    "multicast pkts rx ok", "multicast bytes rx ok", "broadcast pkts rx ok", "broadcast bytes rx ok",
    "running out of buffers", "pkts receive error", "# of times the 1st ring is full",
    "# of times the 2nd ring is full", "fail to map a rx buffer", "request to page in a buffer",
    "# of times rx queue is stopped", "failed when copying into the guest buffer",
    "# of pkts dropped due to large hdrs", "# of pkts dropped due to max number of SG limits",
)  # fmt: skip


def rx_summary(full: int) -> str:
    """Return the dump of a port whose ring was full so many times, of a million frames."""
    values = {"pkts rx ok": FRAMES, "bytes rx ok": 64 * FRAMES, "unicast pkts rx ok": FRAMES}
    values |= {"running out of buffers": full, "# of times the 1st ring is full": full}
    lines = "".join(f"   {key}:{values.get(key, 0)}\n" for key in _SUMMARY)
    return f"stats of a vmxnet3 vNIC rx queue {{\n{lines}}}\n"


def host_name(host: int) -> str:
    """Return the name in the prompt of a host."""
    return f"esx{host:02d}"


def session(host: int, ports: int, full: Callable[[int, int], int]) -> str:
    """Return what one host printed: its ports, then the receive counters of each; `full` gives them by host and port."""
    prompt = f"[root@{host_name(host)}:~] "
    out = [
        f"{prompt}net-stats -l\n",
        "PortNum          Type SubType SwitchName       MACAddress         ClientName\n",
    ]
    for port in range(ports):
        mac = f"00:50:56:a6:{host:02x}:{port:02x}"
        number = FIRST_PORT + port
        out.append(
            f"{number:<16} {5:>4} {9:>7} {'vSwitch0':<16} {mac}  web-{host:02d}-{port:02d}.eth0\n"
        )
    for port in range(ports):
        path = f"/net/portsets/vSwitch0/ports/{FIRST_PORT + port}/vmxnet3/rxSummary"
        out.append(f"{prompt}vsish -e get {path}\n{rx_summary(full(host, port))}")
    return "".join(out)


def write(folder: Path, hosts: int, ports: int, full: Callable[[int, int], int]) -> Path:
    """Write one session a host into a folder; return it."""
    folder.mkdir(parents=True)
    for host in range(hosts):
        (folder / f"{host_name(host)}.txt").write_text(session(host, ports, full))
    return folder
