"""Measure how the time of one sick host grows: `python tools/sick.py [--only NAME,...] [--small]`.

Each kind of trouble is made at half of its size and at its whole, each triaged in a process of its own; the exponent says
how processor time above that of an empty case grows when the trouble doubles: 1 is linear. A goal is for the whole.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.make_bundle import write_bundle
from tools.planted import NAA, PROBLEMS, VOLUME, VSAN, Planted

ROOT = Path(__file__).resolve().parent.parent
OBJECTS = 1000  # devices and volumes of the sick bundle
STAMP = "2021-03-01T{:02d}:{:02d}:{:02d}.{:03d}Z"
PATHS_COMMAND = "[root@esx1:~] esxcli storage core path list\n"
RULE = """\
rule: sick-{number}
title: Synthetic trouble number {number}
source: made for a measurement
status: test
revised: 2026-11-21
sign: {{in: esxi.vobd, match: 'heartbeat\\.timedout\\] \\S+ datastore(?P<number>{number})\\b'}}
object: "{{node}}"
severity: major
say: Line {number} was seen.
"""


class Sick(NamedTuple):
    """A kind of trouble: how it is written, at which size, and what it may cost then (seconds, MB)."""

    write: Callable[[Path, int], list[str]]
    size: int
    seconds: float
    memory: int


class Cost(NamedTuple):
    """What a child process took: seconds of the processor, peak memory in MB."""

    seconds: float
    memory: int


def write_stamp(number: int) -> str:
    """Return the time of a line, a millisecond after the one before."""
    return STAMP.format(
        number // 3_600_000 % 24, number // 60_000 % 60, number // 1000 % 60, number % 1000
    )


def write_events(folder: Path, count: int, volumes: int = 1) -> list[str]:
    """Write a log of a host in which every line is an event, of so many volumes."""
    path = folder / "vobd.log"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            volume = f"5b0c1c39-7a1b2c3d-0f11-{number % volumes:012x}"
            file.write(
                f"{write_stamp(number)}: [vmfsCorrelator] {100_000_000 + number}us: "
                f"[esx.problem.vmfs.heartbeat.timedout] {volume} datastore{number % volumes}\n"
            )
    return [str(path)]


def write_objects(folder: Path, count: int) -> list[str]:
    """Write events of as many volumes: distinct objects of one rule."""
    return write_events(folder, count, count)


def write_dead_paths(folder: Path, count: int) -> list[str]:
    """Write a session in which every path of a host is dead."""
    path = folder / "paths.txt"
    with path.open("w", encoding="utf-8") as file:
        file.write(PATHS_COMMAND)
        for number in range(count):
            device = f"naa.6006016{number // 4:025x}"
            name = f"vmhba{number % 4}:C0:T{number // 1024}:L{number % 1024}"
            file.write(
                f"fc.20000090fa000001:10000090fa000001-fc.5006016{number:09x}:5006016{number:09x}-{device}\n"
                f"   UID: fc.20000090fa000001:10000090fa000001-fc.5006016{number:09x}:5006016{number:09x}-{device}\n"
                f"   Runtime Name: {name}\n   Device: {device}\n   Device Display Name: DGC Fibre Channel Disk ({device})\n"
                f"   Adapter: vmhba{number % 4}\n   Channel: 0\n   Target: {number // 1024}\n   LUN: {number % 1024}\n"
                "   Plugin: NMP\n   State: dead\n   Transport: fc\n"
                "   Adapter Identifier: fc.20000090fa000001:10000090fa000001\n"
                f"   Target Identifier: fc.5006016{number:09x}:5006016{number:09x}\n"
                "   Adapter Transport Details: WWNN: 20:00:00:90:fa:00:00:01 WWPN: 10:00:00:90:fa:00:00:01\n"
                "   Target Transport Details: Unavailable or path is unclaimed\n   Maximum IO Size: 33553920\n\n"
            )
    return [str(path)]


def write_ready(folder: Path, count: int) -> list[str]:
    """Write a capture of esxtop in which every VM waits for a processor."""
    path = folder / "esxtop.csv"
    names = [rf"\\esx1\Group Cpu({1000 + n}:vm{n})" for n in range(count)]
    heading = ["(PDH-CSV 4.0) (UTC)(0)"]
    heading += [rf"{name}\{counter}" for name in names for counter in ("% Used", "% Ready")]
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(f'"{name}"' for name in heading) + "\n")
        for row in range(20):
            cells = [
                f"03/01/2021 00:{row // 3:02d}:{row % 3 * 20:02d}",
                *["60.00", "25.00"] * count,
            ]
            file.write(",".join(f'"{cell}"' for cell in cells) + "\n")
    return [str(path)]


def write_private_rules(folder: Path, count: int) -> list[str]:
    """Write so many rules of a desk, and a log in which each finds its line."""
    rules = folder / "rules"
    rules.mkdir(exist_ok=True)
    for number in range(count):
        text = RULE.format(number=number)
        (rules / f"sick-{number}.yaml").write_text(text, encoding="utf-8")
    return [*write_events(folder, count * 10, count), "--kb", str(rules)]


def write_noise(folder: Path, count: int) -> list[str]:
    """Write a file of lines that nothing understands."""
    path = folder / "noise.txt"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(
                f"quux {number * 7919 % 1_000_003} lorem ipsum dolor {number % 977} sit amet\n"
            )
    return [str(path)]


def write_bytes(folder: Path, count: int) -> list[str]:
    """Write a file of lines of one byte."""
    path = folder / "bytes.txt"
    path.write_bytes(b"x\n" * count)
    return [str(path)]


def write_snmp(folder: Path, count: int) -> list[str]:
    """Write so many bytes of lines that begin as the secret of a device might."""
    path = folder / "snmp.txt"
    path.write_text("snmp \n" * (count // 6), encoding="utf-8")
    return [str(path)]


def list_problems() -> list[Planted]:
    """Return problems of a thousand devices and volumes, each logged four times: one line in 250 of 160 MB."""
    lasting = [one for one in PROBLEMS if any(name in one.lines[0] for name in (NAA, VOLUME, VSAN))]
    problems = list(PROBLEMS)
    for number in range(OBJECTS):
        one = lasting[number % len(lasting)]
        text = "\n".join(one.lines)
        for name in (NAA, VOLUME, VSAN):
            text = text.replace(name, f"{name[:-4]}{number:04x}")
        problems += [one._replace(lines=tuple(text.split("\n")))] * 4
    return problems


def write_bundle_of_troubles(folder: Path, count: int) -> list[str]:
    """Write a bundle of so many bytes of text, with its capture and dumps, in which a thousand objects are ill."""
    path = folder / "esx-sick.tgz"
    write_bundle(path, count, problems=list_problems())
    return [str(path)]


KINDS = {
    "events": Sick(write_events, 1_000_000, 12, 150),
    "objects": Sick(write_objects, 25_000, 4, 150),
    "paths": Sick(write_dead_paths, 16_000, 12, 250),
    "ready": Sick(write_ready, 10_000, 8, 250),
    "rules": Sick(write_private_rules, 400, 40, 250),
    "noise": Sick(write_noise, 400_000, 3, 150),
    "bytes": Sick(write_bytes, 4_000_000, 3, 150),
    "snmp": Sick(write_snmp, 2_000_000, 2, 150),
    "bundle": Sick(write_bundle_of_troubles, 160_000_000, 5, 150),  # 18.6 MB packed
    "large": Sick(write_bundle_of_troubles, 1_450_000_000, 12, 150),  # 169 MB packed
}


def measure_triage(arguments: list[str], folder: Path) -> Cost:
    """Triage in a process of its own and return what it took (POSIX)."""
    command = [sys.executable, "-m", "analyzer", "triage", *arguments]
    command += ["-o", str(folder / "out"), "--quiet"]
    child = os.posix_spawn(
        sys.executable,
        command,
        {**os.environ, "PYTHONPATH": str(ROOT)},
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (1, 2)],
    )
    _, _, used = os.wait4(child, 0)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


def measure_kind(kind: Sick, size: int) -> Cost:
    """Write a trouble and triage it."""
    with tempfile.TemporaryDirectory(prefix="backline-sick-") as name:
        folder = Path(name)
        return measure_triage(kind.write(folder, size), folder)


def find_exponent(half: float, whole: float, empty: float) -> float:
    """Return the power of the size with which the time above that of an empty case grows."""
    return math.log2(max(whole - empty, 0.01) / max(half - empty, 0.01))


def main() -> int:
    """Measure the kinds that were asked for; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default=",".join(KINDS), help="names, between commas")
    parser.add_argument("--small", action="store_true", help="a tenth of each size, no goals")
    asked = parser.parse_args()
    measure_kind(KINDS["bytes"], 1)  # rules and parsers are read once
    empty = measure_kind(KINDS["bytes"], 1)
    print(f"{'empty':8} {'':>11} {empty.seconds:7.1f} s {empty.memory:4} MB")
    missed = False
    for name in asked.only.split(","):
        kind = KINDS[name]
        size = kind.size // 10 if asked.small else kind.size
        half, whole = measure_kind(kind, size // 2), measure_kind(kind, size)
        grows = find_exponent(half.seconds, whole.seconds, empty.seconds)
        met = asked.small or (whole.seconds <= kind.seconds and whole.memory <= kind.memory)
        missed = missed or not met
        print(
            f"{name:8} {size:11,} {whole.seconds:7.1f} s {whole.memory:4} MB, grows n^{grows:.1f}; "
            f"goal {kind.seconds} s, {kind.memory} MB{'' if met else '  MISSED'}",
            flush=True,
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
