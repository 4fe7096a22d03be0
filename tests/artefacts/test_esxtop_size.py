"""Captures of esxtop at the width and length that real hosts give, through the command an engineer types.

The captures are synthetic (tests/kit/esxtop_kit.py); in each one VM is held back by a CPU limit, and must be found.
"""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import math
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from analyzer.artefacts import parsing, samples
from analyzer.artefacts.parsing import Wanted
from analyzer.artefacts.tables import Block, Fault, Frame, Row
from analyzer.cli import main
from analyzer.facts import Facts, frames
from analyzer.parsers.esxtop.esxtop_csv import stream
from tests.kit.esxtop_kit import HOST, Capture
from tests.kit.memory_kit import peak
from tests.sql_oracle.timed import ask
from tools.make_bundle import esxtop_csv

SAMPLES = 40
TOP = "esx-esx71.lab.example-2021-03-02--10.05-71234"
MOST_MB = 150  # of the whole command, whatever the length of the capture


def triage(path: Path, out: Path, code: int = 0) -> dict[str, Any]:
    """Run the command on a path and return its case document."""
    done = CliRunner().invoke(main, ["triage", str(path), "-o", str(out)])
    assert done.exit_code == code, done.output
    assert (out / "report.html").is_file()
    document: dict[str, Any] = json.loads((out / "case.json").read_text("utf-8"))
    return document


def assert_found(document: dict[str, Any], lines: int) -> None:
    """The ill VM alone is found, in a source that was read whole."""
    assert [(one["rule"], one["object"]) for one in document["findings"]] == [
        ("cpu-limit-starves-vm", "web-ill")
    ]
    (source,) = [one for one in document["sources"] if one["read_by"] == "esxtop_csv"]
    assert (source["state"], source["read_by"], source["lines"], source["faults"]) == (
        "read",
        "esxtop_csv",
        lines,
        0,
    )
    evidence = [one["text"] for one in document["findings"][0]["evidence"]]
    assert r"\\esx71.lab.example\Group Cpu(4000:web-ill)\% Max Limited = 56.34" in " ".join(
        evidence
    )


@pytest.mark.size
@pytest.mark.parametrize("columns", [100, 560, 580, 700, 5_000, 20_000, 60_000])
def test_a_capture_of_any_width_is_read(tmp_path: Path, columns: int) -> None:
    """From a hundred columns to sixty thousand, with a heading of 6 KB to 4 MB, the VM in trouble is found."""
    path = Capture(columns, 6).write(tmp_path / "esxtop.csv")
    assert_found(triage(path, tmp_path / "out"), 7)


PLANTS = {
    r"Physical Disk SCSI Device(naa.600500000003)\Average Kernel MilliSec/Command": "12.01",
    r"Physical Disk SCSI Device(naa.600500000003)\Average Queue MilliSec/Command": "11.98",
    r"Physical Disk SCSI Device(naa.600500000003)\Queued Commands": "31.00",
    r"Physical Disk SCSI Device(naa.600500000003)\Device Q Depth": "64.00",
    r"Physical Disk SCSI Device(naa.600500000003)\Commands/sec": "4711.57",
    r"Physical Disk SCSI Device(naa.600500000005)\Average Driver MilliSec/Command": "61.20",
    r"Physical Disk SCSI Device(naa.600500000005)\Commands/sec": "250.00",
    r"Physical Disk NFS Volume(nfs-2)\Average Guest MilliSec/Command": "90.10",
    r"Physical Disk NFS Volume(nfs-2)\Commands/sec": "60.00",
    r"Group Memory(4122:app-0002)\Memctl MBytes": "2048.00",
    r"Group Memory(4122:app-0002)\Memctl Target MBytes": "4096.00",
    r"Group Memory(4183:app-0003)\Numa % Local": "52.00",
}


@pytest.mark.size
@pytest.mark.parametrize("columns", [5_000, 60_000])
def test_what_is_planted_in_other_groups_is_found_at_any_width(
    tmp_path: Path, columns: int
) -> None:
    """A full queue, a slow LUN, a slow NFS volume, a balloon on a host with free memory, memory on the far NUMA node."""
    capture = Capture(columns, 12, plants=PLANTS)
    assert set(PLANTS) <= {text.removeprefix(f"\\\\{HOST}\\") for text in capture.heading()}
    findings = triage(capture.write(tmp_path / "esxtop.csv"), tmp_path / "out")["findings"]
    found = {(one["rule"], one["object"]): one for one in findings}
    assert set(found) == {
        ("cpu-limit-starves-vm", "web-ill"),
        ("esxtop-device-latency", "naa.600500000003"),
        ("esxtop-device-latency", "naa.600500000005"),
        ("esxtop-nfs-latency", "nfs-2"),
        ("memory-limit-takes-memory", "app-0002"),
        ("vm-memory-on-far-numa-node", "app-0003"),
    }
    assert (
        "up to 31 commands wait (QUED) at a depth of 64"
        in found["esxtop-device-latency", "naa.600500000003"]["say"]
    )
    assert "Driver, fabric or array" in found["esxtop-device-latency", "naa.600500000005"]["say"]
    evidence = [one["text"] for one in found["memory-limit-takes-memory", "app-0002"]["evidence"]]
    assert rf"\\{HOST}\Group Memory(4122:app-0002)\Memctl MBytes = 2048" in " ".join(evidence)


def _bundle(where: str, capture: Capture) -> bytes:
    raw = b"".join(capture.chunks())
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in (
            (f"{TOP}/{where}", raw),
            (f"{TOP}/README", b"Command line: vm-support\n"),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _raw(capture: Capture) -> str:
    return b"".join(capture.chunks()).decode()


DELIVERIES: dict[str, tuple[str, Callable[[Capture], bytes]]] = {
    "gzip": ("esxtop.csv.gz", lambda one: gzip.compress(_raw(one).encode(), 1)),
    "esxtopshots": (
        f"{TOP}.tgz",
        lambda one: _bundle("esxtopshots/esxtop-esx71-2021-03-02.71234.csv", one),
    ),
    "bundle/tmp": (f"{TOP}.tgz", lambda one: _bundle("tmp/esxtop.csv", one)),
    "bundle/vmfs": (f"{TOP}.tgz", lambda one: _bundle("vmfs/volumes/5f0c-1/esxtop.csv", one)),
    "utf-16": ("esxtop.csv", lambda one: _raw(one).encode("utf-16")),
    "utf-16 without mark": ("esxtop.csv", lambda one: _raw(one).encode("utf-16-le")),
    "utf-8 with mark": ("esxtop.csv", lambda one: b"\xef\xbb\xbf" + _raw(one).encode()),
    "crlf": ("esxtop.csv", lambda one: b"".join(one.chunks("\r\n"))),
    "cr": ("esxtop.csv", lambda one: _raw(one).replace("\n", "\r").encode()),
    "no termcap": (
        "esxtop.csv",
        lambda one: b"no termcap entry for a 'xterm-256color' terminal" + _raw(one).encode(),
    ),
    "no quotes": ("esxtop.csv", lambda one: _raw(one).replace('"', "").encode()),
    "excel": ("esxtop.csv", lambda one: one.excel(",", ".").encode()),
    "excel with semicolons": ("esxtop.csv", lambda one: one.excel().encode()),
    "excel in utf-16": ("esxtop.csv", lambda one: one.excel().encode("utf-16")),
    "tabs": ("esxtop.txt", lambda one: one.excel("\t", ".").encode("utf-16")),
    "quoted semicolons": ("esxtop.csv", lambda one: _raw(one).replace('",', '";').encode()),
}


@pytest.mark.parametrize("way", DELIVERIES)
@pytest.mark.parametrize("columns", [580, 5_000])
def test_a_wide_capture_is_read_however_it_comes(tmp_path: Path, way: str, columns: int) -> None:
    """Packed, in a bundle, re-saved by spreadsheets and shells; one VM has the separators in its name."""
    name, made = DELIVERIES[way]
    names = {} if way == "no quotes" else {1: "sap; db, (old)"}
    path = tmp_path / name
    path.write_bytes(made(Capture(columns, 6, names=names)))
    assert_found(triage(path, tmp_path / "out"), 7)


def test_a_quoted_cell_that_holds_the_separator_costs_itself(tmp_path: Path) -> None:
    """In a file with semicolons a cell `"1;5"` is no number: counted, and nothing else is lost."""
    capture = Capture(700, SAMPLES)
    lines = capture.excel().split("\r\n")
    at = next(
        n
        for n, text in enumerate(capture.heading())
        if text.endswith(r"Group Cpu(4000:web-ill)\% Used")
    )
    cells = lines[5].split(";")
    lines[5] = ";".join([*cells[:at], '"1;5"', *cells[at + 1 :]])
    (tmp_path / "esxtop.csv").write_bytes("\r\n".join(lines).encode())
    assert_found(triage(tmp_path / "esxtop.csv", tmp_path / "out"), SAMPLES + 1)
    (row,) = _rows(tmp_path / "esxtop.csv", "esxtop.capture")
    assert (row["samples"], row["rows_dropped"], row["cells_dropped"]) == (SAMPLES, 0, 1)


def _rows(path: Path, table: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]


@pytest.mark.parametrize(
    ("end", "last"),
    [
        ('"12.34",', 12.34),
        ('"12.34"', 12.34),
        ("12.34", 12.34),
        ("12.3", None),
        ("12.", None),
        ("12", None),
    ],
)
def test_a_last_row_without_a_line_end_is_kept(
    tmp_path: Path, end: str, last: float | None
) -> None:
    """The row counts; its last field only where it is sure not to be half a number."""
    sign = '"' if '"' in end else ""
    heading = ["(PDH-CSV 4.0) (UTC)(0)", *(rf"\\h\Physical Cpu({n})\% Util Time" for n in range(3))]
    rows = [[f"03/02/2021 10:00:0{n}", "1.25", "2.50", "3.75"] for n in range(4)]
    text = "".join(
        ",".join(f"{sign}{cell}{sign}" for cell in row) + "\n" for row in [heading, *rows]
    )
    (tmp_path / "esxtop.csv").write_text(
        text + ",".join(f"{sign}{n}.25{sign}" for n in range(3)) + f",{end}"
    )
    path = tmp_path / "esxtop.csv"
    path.write_text(
        path.read_text().replace(f"\n{sign}0.25{sign},", f"\n{sign}03/02/2021 10:00:09{sign},")
    )
    (row,) = _rows(path, "esxtop.capture")
    assert (row["samples"], row["rows_dropped"]) == (5, 0)
    cpus = [one for one in _rows(path, "esxtop.pcpu") if str(one["sample"]) == "4"]
    assert [one.get("util_pct") for one in cpus] == [1.25, 2.25, last]


@pytest.mark.parametrize(
    ("stamps", "steps"),
    [
        (["10:00:00", "10:00:05", "09:59:50", "09:59:55", "09:00:00"], 2),
        (["23:59:50", "23:59:55", "00:00:00", "00:00:05"], 0),
        (["59:50.0", "59:55.0", "00:00.0", "00:05.0", "00:01.0"], 1),
        (["22:42", "22:42", "22:43", "22:41"], 1),
    ],
)
def test_stamps_without_a_date_that_step_back_are_counted(
    tmp_path: Path, stamps: list[str], steps: int
) -> None:
    """A step back is a step of the clock; midnight, or the full hour where the hour is lost too, is none."""
    lines = [
        r"(PDH-CSV 4.0) (UTC)(0),\\h\Physical Cpu(0)\% Util Time",
        *(f"{stamp},1.00" for stamp in stamps),
    ]
    (tmp_path / "esxtop.csv").write_text("\r".join(lines) + "\r")
    (row,) = _rows(tmp_path / "esxtop.csv", "esxtop.capture")
    assert row["clock_steps"] == steps


def test_a_parser_of_streams_that_fails_costs_the_rest_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 5, a report, what was read until then, and all other files."""

    def breaks(
        block: Block, chunks: Iterable[bytes | memoryview], wanted: Wanted
    ) -> Iterator[Row | Frame | Fault]:
        yield from stream(block, chunks, wanted)
        raise IndexError("planted")

    parser = parsing.registry()["esxtop_csv"]
    monkeypatch.setitem(
        parsing.registry(), "esxtop_csv", dataclasses.replace(parser, stream=breaks)
    )
    Capture(580, SAMPLES).write(tmp_path / "case-esxtop.csv")
    document = triage(tmp_path / "case-esxtop.csv", tmp_path / "out", code=5)
    assert [one["rule"] for one in document["findings"]] == ["cpu-limit-starves-vm"]
    (source,) = document["sources"]
    assert source["state"] == "cut"
    assert source["why"] == "the parser failed: IndexError: planted"
    assert document["case"]["complete"] is False


def _long(tmp_path: Path, count: int) -> None:
    path = Capture(60_000, count).write(tmp_path / "esxtop.csv")
    assert path.stat().st_size > count * 440_000
    most = peak(sys.executable, "-m", "analyzer", "triage", str(path), "-o", str(tmp_path / "out"))
    assert_found(json.loads((tmp_path / "out" / "case.json").read_text("utf-8")), count + 1)
    assert most <= MOST_MB


@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is in KiB on Linux only")
def test_a_long_capture_is_read_in_little_memory(tmp_path: Path) -> None:
    """Twenty minutes of a large host, 107 MB: the whole command stays below 150 MB."""
    _long(tmp_path, 240)


@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is in KiB on Linux only")
def test_an_hour_of_a_large_host_is_read_in_little_memory(tmp_path: Path) -> None:
    """322 MB: the whole command stays below 150 MB."""
    _long(tmp_path, 720)


MOST_ILL_MB = 200  # nearly two thousand findings with their evidence, four hundred charts, and the report of them


def _ill(tmp_path: Path, count: int) -> None:
    path = tmp_path / "esxtop.csv"
    with path.open("wb") as file:
        file.writelines(esxtop_csv(60_000, count, 7))
    most = peak(sys.executable, "-m", "analyzer", "triage", str(path), "-o", str(tmp_path / "out"))
    document = json.loads((tmp_path / "out" / "case.json").read_text("utf-8"))
    found = [one for one in document["findings"] if one["rule"] == "cpu-limit-starves-vm"]
    assert len(found) > 300
    assert all(one["evidence"] and one["trace"] for one in found)
    assert len({one["subject"] for one in found if one["chart"]}) == 50
    assert most <= MOST_ILL_MB


@pytest.mark.release
@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is in KiB on Linux only")
def test_a_capture_of_ill_vms_takes_no_memory_for_what_is_not_shown(tmp_path: Path) -> None:
    """Every VM of a large host is ill: columns no rule reads are not held, samples listed only of what is drawn."""
    _ill(tmp_path, 180)


@pytest.mark.release
@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is in KiB on Linux only")
def test_an_hour_of_ill_vms_takes_little_more_memory(tmp_path: Path) -> None:
    """334 MB: the peak hangs on what is found, not on how long the capture is."""
    _ill(tmp_path, 720)


def test_the_trace_of_a_finding_writes_a_named_value_out_once(tmp_path: Path) -> None:
    """Where the value stands again its name and number are enough: several hundred lines a finding came of that."""
    (finding,) = triage(Capture(580, SAMPLES).write(tmp_path / "esxtop.csv"), tmp_path / "out")[
        "findings"
    ]
    lines: list[dict[str, Any]] = []
    below = [finding["trace"]]
    while below:
        lines.append(below.pop())
        below += lines[-1]["children"]
    limited = [
        line
        for line in lines
        if "limited" in line["text"] and line["text"].split(":")[0] == "limited"
    ]
    assert len([line for line in limited if line["children"]]) == 1
    assert "see above" in {line["note"] for line in limited}
    assert len({line["value"] for line in limited}) == 1


# --- how samples are held ---

CELLS = st.one_of(
    st.integers(-(10**12), 10**12).map(lambda number: number / 100),
    st.sampled_from(
        [
            float("nan"),
            0.0,
            -0.0,
            -327.68,
            -327.67,
            327.67,
            327.68,
            21474836.47,
            -21474836.48,
            0.333,
            1e300,
        ]
    ),
    st.floats(allow_infinity=False),
)


def _exact(cell: float) -> str:
    return "nan" if math.isnan(cell) else cell.hex()


@given(st.lists(CELLS, min_size=1, max_size=60))
def test_packed_numbers_come_back_bit_for_bit(cells: list[float]) -> None:
    """Two, four or eight bytes: every float comes back as it went in, one by one and all at once."""
    import numpy as np

    held = samples.pack_numbers(np.array(cells).reshape(1, -1))
    want = [_exact(cell) for cell in cells]
    assert [_exact(cell) for cell in held.floats().tolist()] == want
    one_by_one = [held.take(np.array([at]))[0] for at in range(len(cells))]
    assert [_exact(float(cell)) for cell in one_by_one] == want


@given(st.lists(st.lists(CELLS, min_size=1, max_size=9), min_size=1, max_size=5))
def test_frames_of_different_forms_are_joined_bit_for_bit(parts: list[list[float]]) -> None:
    """A batch of small numbers, one of large and one of odd ones behind each other."""
    import numpy as np

    found = (
        samples.join_numbers(
            [samples.pack_numbers(np.array(part).reshape(1, -1)) for part in parts]
        )
        .floats()
        .tolist()
    )
    assert [str(cell) for cell in found] == [str(cell) for part in parts for cell in part]


def test_a_view_of_samples_gives_what_a_table_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell, name, time, line and number of a row, of two captures and with rows that came alone."""
    found = {}
    for most in (10**9, 1):
        monkeypatch.setattr(frames, "VIEWED", most)
        facts = Facts()
        for order, capture in enumerate((Capture(700, 30), Capture(580, 12))):
            block = Block([], 1, f"{order}.csv", order=order).assign_node(f"node {order}")
            for item in stream(block, capture.chunks()):
                if isinstance(item, Frame):
                    facts.add_frame(item)
                elif isinstance(item, Row):
                    facts.add(item)
        port = facts.tables["esxtop.port"]
        facts.add(
            Row(port, {"switch": "s", "port_id": 7, "sample": 3, "drop_rx_pct": 1.5}, block, 9)
        )
        for table in ("esxtop.vm_cpu", "esxtop.vcpu", "esxtop.port", "esxtop.pcpu"):
            columns = [column.name for column in facts.tables[table].columns]
            columns += ["node", "_node", "taken", "_source", "_line", "_order", "_row"]
            cells = ", ".join(f'"{name}"' for name in columns)
            found[most, table] = ask(facts, [table], f'SELECT {cells} FROM "{table}" ORDER BY _row')
            assert ask(facts, [table], f'SELECT count(*) FROM "{table}"') == [
                (len(found[most, table]),)
            ]
        assert bool(facts._views) == (most == 1)
        facts.close()
    for table in ("esxtop.vm_cpu", "esxtop.vcpu", "esxtop.port", "esxtop.pcpu"):
        assert found[1, table] == found[10**9, table]
        assert len(found[1, table]) > 30
