"""What reading costs at real size: files nobody reads, a whole bundle's memory, a log in which every line hits."""

from __future__ import annotations

import io
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.pipeline.triage import Options, triage
from tests.kit.full_size import scale_size
from tests.kit.memory_kit import peak
from tools.make_bundle import vsish_dump, write_bundle

COMMAND = (sys.executable, "-m", "analyzer", "triage")
TOP = "esx-esx1.example.com-2021-03-08--14.49-17885597"
LINE = "2021-03-01T00:{:02d}:{:02d}.{:03d}Z: [vmfsCorrelator] {}us: [{}] 5b0c1c39-7a1b2c3d-0f11-002590aa1000 datastore1\n"


def listing(number: int) -> bytes:
    """Return the output of a command, 3 KB of keys and values."""
    lines = (f"   Queue Full Sample Size {place}: {number * 97 + place}\n" for place in range(80))
    return f"naa.6006016{number:025x}\n{''.join(lines)}".encode()


def bundle(path: Path, count: int) -> None:
    """Write a vm-support bundle with the outputs of so many commands that no parser takes."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        known = {
            "commands/vmware_-vl.txt": b"VMware ESXi 7.0.1 build-17167734\nVMware ESXi 7.0 Update 1\n"
        }
        files = {f"commands/vendor_tool--d-naa.{n:032x}.txt": listing(n) for n in range(count)}
        for name, body in (known | files).items():
            info = tarfile.TarInfo(f"{TOP}/{name}")
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))


def cpu(run: Callable[[], object]) -> float:
    """Return the least seconds of the processor that three runs took."""
    took = []
    for _ in range(3):
        begun = time.process_time()
        run()
        took.append(time.process_time() - begun)
    return min(took)


def read_by_tarfile(path: Path) -> None:
    """Read all members as the standard library does."""
    with tarfile.open(path) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is not None:
                file.read()


@pytest.mark.release
@pytest.mark.size
def test_files_that_nobody_reads_cost_little(tmp_path: Path) -> None:
    """A command file without a parser is named in the case at a few times the cost of taking it out by tarfile."""
    few, many = tmp_path / "few.tgz", tmp_path / "many.tgz"
    bundle(few, 10)
    bundle(many, 1500)

    document = triage([many], Options()).document
    ours = cpu(lambda: triage([many], Options())) - cpu(lambda: triage([few], Options()))
    theirs = cpu(lambda: read_by_tarfile(many)) - cpu(lambda: read_by_tarfile(few))

    assert sum(one.state == "listed" for one in document.sources) == 1500
    assert (
        ours < 4.5 * theirs
    )  # measured: 2.4; 6.7 when each pattern of each parser was searched by itself


@pytest.mark.release
@pytest.mark.process
def test_a_bundle_of_real_size_in_little_memory(tmp_path: Path) -> None:
    """Logs, rotated logs, commands, a capture and pasted dumps, 160 MB of text: 150 MB are enough."""
    path = tmp_path / "esx-bench.tgz"
    write_bundle(path, scale_size(160_000_000))

    assert peak(*COMMAND, str(path), "-o", str(tmp_path / "out"), "--quiet") < 150  # measured: 90


@pytest.mark.release
@pytest.mark.process
def test_the_dumps_of_eight_thousand_ports_in_little_memory(tmp_path: Path) -> None:
    """Pasted dumps, 10.8 MB of text and 16,500 rows whose every value knows its line, take less than 120 MB."""
    path = tmp_path / "vsish-ports.txt"
    path.write_text(vsish_dump(10_800_000, 7), encoding="utf-8")

    assert (
        peak(*COMMAND, str(path), "-o", str(tmp_path / "out"), "--quiet") < 120
    )  # measured: 94; 140 with own lines


def log(path: Path, event: str, count: int) -> Path:
    """Write a log of the observations of a host, the same event in each line."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            minute, second, milli = number // 60_000 % 60, number // 1000 % 60, number % 1000
            file.write(LINE.format(minute, second, milli, 100_000_000 + number, event))
    return path


@pytest.mark.release
@pytest.mark.process
def test_a_log_in_which_every_line_hits_needs_hardly_more_memory(tmp_path: Path) -> None:
    """A million hits of one signature (200,000 but at full size), and of the time line, against none: 60 MB more are enough."""
    calm, storm = tmp_path / "calm", tmp_path / "storm"
    calm.mkdir()
    storm.mkdir()
    without = log(calm / "vobd.log", "vob.vmfs.heartbeat.seen", scale_size(1_000_000))
    full = log(storm / "vobd.log", "esx.problem.vmfs.heartbeat.timedout", scale_size(1_000_000))

    least = peak(*COMMAND, str(without), "-o", str(tmp_path / "one"), "--quiet")
    most = peak(
        *COMMAND, str(full), "-o", str(tmp_path / "two"), "--quiet", code=5
    )  # hits_per_signature is reached

    # Measured: 48, of which 12 are the 10,000 rows of events that rules join.
    assert most - least <= 60
    assert most < 150
