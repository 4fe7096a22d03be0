"""The esxtop batch CSV: what a sample beside a JSON cannot say."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts.tables import Block, Fault, Frame, Row
from analyzer.parsers.esxtop import _esxtop_capture
from analyzer.parsers.esxtop._esxtop_numbers import SPARE, read_hundredths
from analyzer.parsers.esxtop.esxtop_csv import PARSER, parse_block, stream

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "esxtop" / "esxtop_csv"
CORPUS = ROOT.parent / "shared" / "corpus"
HOST = r"\\esx1.example.net"


def run(raw: bytes, size: int = 1 << 20) -> list[Any]:
    """Return everything the parser yields for a file read in chunks of `size` bytes."""
    chunks = (raw[at : at + size] for at in range(0, len(raw), size))
    return list(stream(Block([], address="case!esxtop.csv"), chunks))


def samples(found: Iterable[Any], table: str) -> list[dict[str, Any]]:
    """Return the samples of one table as dicts, NaN left out, and their line."""
    rows = []
    for frame in found:
        if isinstance(frame, Frame) and frame.table.name == table:
            for index, line in enumerate(frame.line.tolist()):
                cells = {
                    name: column[index : index + 1].tolist()[0]
                    for name, column in frame.columns.items()
                }
                rows.append({k: v for k, v in cells.items() if not _empty(v)} | {"line": line})
    return rows


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def faults(found: Iterable[Any]) -> list[tuple[int, str]]:
    return [(item.line, item.why) for item in found if isinstance(item, Fault)]


def table_rows(found: Iterable[Any], table: str) -> list[dict[str, Any]]:
    return [item.values for item in found if isinstance(item, Row) and item.table.name == table]


def capture(columns: list[str], *rows: tuple[str, list[Any]], quote: bool = True) -> bytes:
    """Return a capture as esxtop writes it: quoted, a comma behind every field."""
    sign = '"' if quote else ""
    lines = [
        ["(PDH-CSV 4.0) (UTC)(0)", *columns],
        *([stamp, *map(str, cells)] for stamp, cells in rows),
    ]
    return "".join(
        "".join(f"{sign}{cell}{sign}," for cell in line) + "\n" for line in lines
    ).encode()


def vm_columns(*vms: tuple[int, str]) -> list[str]:
    return [rf"{HOST}\Group Cpu({vm_id}:{name})\% Ready" for vm_id, name in vms]


def stamps(count: int) -> Iterator[str]:
    return (f"03/02/2021 10:{at // 60:02d}:{at % 60:02d}" for at in range(count))


DB = vm_columns((7002, "db"))


def assert_agrees_with_source(raw: bytes) -> int:
    """Compare every cell of every frame with the csv module's reading; return how many."""
    lines = list(csv.reader(StringIO(raw.decode("utf-8-sig"), newline=None)))
    headings = {text: at for at, text in reversed(list(enumerate(lines[0])))}
    compared = 0
    for frame in run(raw):
        if isinstance(frame, Frame):
            for column in frame.cells:
                if "(*)" in frame.cells[column]:
                    assert_least(frame, column, lines)
                    continue
                for index, line in enumerate(frame.line.tolist()):
                    at = headings.get(frame.heading(column, index))
                    found = frame.columns[column][index]
                    if at is None:  # others of its kind have the counter
                        assert math.isnan(found), (column, line)
                        continue
                    cell = float(lines[line - 1][at])
                    assert found == cell or (math.isnan(found) and cell == -1), (column, line)
                    compared += 1
    return compared


def assert_least(frame: Frame, column: str, lines: list[list[str]]) -> None:
    """Compare a column that holds the least of several counters with the least that the csv module reads."""
    before, after = frame.cells[column].split("(*)")
    places = [
        at
        for at, text in enumerate(lines[0])
        if text.startswith(f"{before}(") and text.endswith(after)
    ]
    for found, line in zip(frame.columns[column].tolist(), frame.line.tolist(), strict=True):
        assert found == min(float(lines[line - 1][at]) for at in places), (column, line)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "count", "rows"),
    [
        ("esxtopd/small-esxtop-data.csv", 3, 2178),
        ("visualesxtop/origincsv-1001.csv", 100, 396),
        ("visualesxtop/origincsvfile-1000.csv", 514, 5643),
        ("log-analysis/stats-test-0001.csv", 5, 220),
    ],
)
def test_a_public_capture_is_read_cell_by_cell_as_the_csv_module_reads_it(
    name: str, count: int, rows: int
) -> None:
    """Raw, Excel for Mac (CR alone), Excel and tool-reduced files: no fault, every cell equal."""
    path = CORPUS / "esxi" / name
    if not path.is_file():
        pytest.skip("public captures are kept outside the repository")
    raw = path.read_bytes()
    found = run(raw)
    assert faults(found) == []
    assert table_rows(found, "esxtop.capture")[0]["samples"] == count
    assert assert_agrees_with_source(raw) == rows


@pytest.mark.corpus
def test_only_vms_are_vms_in_a_raw_capture() -> None:
    """Of 59 groups six are VMs (vmx-vcpu worlds); vCPUs are counted, system groups and daemons left out."""
    path = CORPUS / "esxi" / "esxtopd" / "small-esxtop-data.csv"
    if not path.is_file():
        pytest.skip("public captures are kept outside the repository")
    vms = {row["vm_name"]: row["vcpus"] for row in table_rows(run(path.read_bytes()), "esxtop.vm")}
    assert len(vms) == 6
    assert vms.pop("poseidon") == 2
    assert set(vms.values()) == {1}


@pytest.mark.corpus
def test_what_vms_do_to_devices_is_told_by_vm() -> None:
    """The first world of a VM sends its commands; the client of its port or its network world tells whose it is."""
    path = CORPUS / "esxi" / "esxtopd" / "small-esxtop-data.csv"
    if not path.is_file():
        pytest.skip("public captures are kept outside the repository")
    found = samples(run(path.read_bytes()), "esxtop.disk_world")
    vms = {row["world_id"]: row.get("vm_name") for row in found}
    assert (vms[473729], vms[480214], vms[444767], vms[65544]) == (
        "ouranos",
        "poseidon",
        "styx",
        None,
    )
    assert [row["cmds_s"] for row in found if row["world_id"] == 480214] == [15.06, 13.25]


GROUPS = {
    "Memory": ["memory"],
    "Physical Cpu Load": ["cpu_load"],
    "Physical Cpu": ["pcpu"],
    "Numa Node": ["numa_node"],
    "Power": ["power", "p_state"],
    "VSAN": ["vsan"],
    "Group Cpu": ["vm_cpu"],
    "Vcpu": ["vcpu"],
    "Group Memory": ["vm_memory"],
    "Physical Disk Adapter": ["disk_adapter"],
    "Physical Disk": ["disk_lun"],
    "Physical Disk SCSI Device": ["disk_device"],
    "Physical Disk Path": ["disk_path"],
    "Physical Disk Partition": ["disk_partition"],
    "Physical Disk Per-Device-Per-World": ["disk_world"],
    "Physical Disk NFS Volume": ["nfs_volume"],
    "Virtual Disk": ["virtual_disk"],
    "Network Port": ["port"],
    "Interrupt Cookie": ["interrupt"],
    "PCPU Power State": ["pcpu_state"],
}


def test_every_group_of_a_batch_file_fills_its_table() -> None:
    """Each cell of the sample holds the number of its column: every counter stands under its own name."""
    raw = (SAMPLES / "all_groups.csv").read_bytes()
    found = run(raw)
    assert faults(found) == []
    assert (
        assert_agrees_with_source(raw) == 2 * table_rows(found, "esxtop.capture")[0]["columns_read"]
    )
    heads = next(csv.reader(StringIO(raw.decode())))[1:]
    assert {
        re.split(r"[(\\]", head.removeprefix("\\\\").partition("\\")[2])[0] for head in heads
    } >= set(GROUPS)
    tables = {frame.table.name for frame in found if isinstance(frame, Frame) and len(frame.line)}
    assert tables == {f"esxtop.{name}" for names in GROUPS.values() for name in names}
    assert {row["vm_name"] for row in samples(found, "esxtop.vm_memory")} == {"db (prod): a:b"}
    worlds = [(row["world_id"], row.get("vm_name")) for row in samples(found, "esxtop.disk_world")]
    assert worlds[:2] == [(88100, "db (prod): a:b"), (65544, None)]


def test_a_capture_reduced_to_memory_tells_vms_from_user_worlds_by_their_names() -> None:
    """With columns of memory alone `hostd.67591` and the groups of the vmkernel are no VMs; with CPU the worlds tell."""
    names = ["1:system", "529:init.65759", "2101:hostd.67591", "7301:web (a:b)"]
    columns = [rf"{HOST}\Group Memory({name})\Swapped MBytes" for name in names]
    rows = [(stamp, [1.0, 2.0, 3.0, 4.0]) for stamp in stamps(2)]
    found = run(capture(columns, *rows))
    assert [
        (row["vm_name"], row["swap_used_mb"]) for row in samples(found, "esxtop.vm_memory")
    ] == [("web (a:b)", 4.0)]
    assert [row["vm_name"] for row in table_rows(found, "esxtop.vm")] == ["web (a:b)"]
    told = [
        rf"{HOST}\Group Cpu(7301:web (a:b))\% VmWait",
        rf"{HOST}\Group Memory(99:looks-like-a-vm)\Swapped MBytes",
    ]
    found = run(capture([*columns, *told], *((stamp, [*cells, 0.0, 9.0]) for stamp, cells in rows)))
    assert {row["vm_name"] for row in samples(found, "esxtop.vm_memory")} == {"web (a:b)"}


def test_only_the_columns_that_are_wanted_become_numbers() -> None:
    """Of other columns and tables the rows are there, so that a table is known to be there, and their cells empty."""
    raw = (SAMPLES / "all_groups.csv").read_bytes()
    wanted = {"esxtop.disk_device": ["davg_ms"], "esxtop.power": None}
    whole = {frame.table.name: frame for frame in run(raw) if isinstance(frame, Frame)}
    some = [one for one in stream(Block([]), [raw], wanted) if isinstance(one, Frame)]
    assert [frame.table.name for frame in some] == list(whole)
    for frame in some:
        columns = wanted.get(frame.table.name, ())
        for column in frame.cells:
            found, full = (list(one.columns[column]) for one in (frame, whole[frame.table.name]))
            if columns is None or column in columns:
                assert found == full
            else:
                assert all(map(math.isnan, found))


@pytest.mark.corpus
def test_hostile_csv_files_are_answered() -> None:
    """Each file of the hostile collection, alone and behind a heading, gives rows and faults, no error."""
    files = sorted((CORPUS / "hostile" / "csv").glob("*")) if CORPUS.is_dir() else []
    if not files:
        pytest.skip("hostile files are kept outside the repository")
    for path in files:
        assert all(isinstance(item, Row | Frame | Fault) for item in run(path.read_bytes()))
        assert run(capture(DB) + path.read_bytes())


NAMES = st.text(
    st.characters(blacklist_characters="\r\n\x00\ufeff", codec="utf-8"), min_size=1, max_size=30
)


@settings(max_examples=150, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=5), st.booleans())
def test_vm_names_of_any_signs_keep_their_counters_apart(names: list[str], doubled: bool) -> None:
    """Commas, quotes, colons, parentheses in a VM name: each VM has its own %RDY and its own ports."""
    names = [name.replace('"', "") if doubled else name for name in names]
    names = [name for name in names if '","\\\\' not in name] or ["x"]
    vms = [(7000 + at, name) for at, name in enumerate(names)]
    ports = [
        rf"{HOST}\Network Port(vSwitch0:{100 + vm_id}:{vm_id}:{name})\% Received Packets Dropped"
        for vm_id, name in vms
    ]
    worlds = [
        rf"{HOST}\Vcpu({vm_id}:{name}:{vm_id + 50}:vmx-vcpu-0:{name})\% Ready"
        for vm_id, name in vms
    ]
    columns = vm_columns(*vms) + ports + worlds
    cells = [f"{at}.5" for at in range(len(columns))]
    found = run(capture(columns, *((stamp, cells) for stamp in stamps(2))))
    plain = [name.replace('""', '"') for name in names]
    assert [
        (row["vm_id"], row["vm_name"], row["vcpus"]) for row in table_rows(found, "esxtop.vm")
    ] == [(vm_id, name, 1) for (vm_id, _), name in zip(vms, plain, strict=True)]
    count = len(vms)
    assert [row["rdy_pct"] for row in samples(found, "esxtop.vm_cpu")] == [
        at + 0.5 for at in range(count)
    ]
    assert [row["drop_rx_pct"] for row in samples(found, "esxtop.port")] == [
        count + at + 0.5 for at in range(count)
    ]
    assert [row["world_id"] for row in samples(found, "esxtop.vcpu")] == [
        vm_id + 50 for vm_id, _ in vms
    ]
    assert [row["rdy_pct"] for row in samples(found, "esxtop.vcpu")] == [
        2 * count + at + 0.5 for at in range(count)
    ]
    assert [row["client_name"] for row in samples(found, "esxtop.port")] == plain


def test_a_comma_in_a_vm_name_survives_a_file_without_quotes() -> None:
    """Without quotes the heading has one comma too many; it goes back to its name."""
    raw = capture(
        vm_columns((1, "a,b"), (2, "c")), *((stamp, [1.5, 2.5]) for stamp in stamps(2)), quote=False
    )
    found = run(raw)
    assert [(row["vm_name"], row["rdy_pct"]) for row in samples(found, "esxtop.vm_cpu")] == [
        ("a,b", 1.5),
        ("c", 2.5),
    ]
    assert faults(found) == []


DAMAGE = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(0, 40),
        st.binary(max_size=12) | st.sampled_from([b'"', b",", b"\n", b"\r"]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.size
@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(SAMPLES.glob("*.csv"))), DAMAGE, st.integers(1, 5000))
def test_no_damage_makes_the_parser_raise(
    path: Path, damage: list[tuple[float, int, bytes]], size: int
) -> None:
    """Bytes lost, changed or put in anywhere: frames stay rectangular, faults lie in the file."""
    raw = path.read_bytes()
    for where, lost, new in damage:
        at = int(where * len(raw))
        raw = raw[:at] + new + raw[at + lost :]
    most = raw.count(b"\n") + raw.count(b"\r") + 1
    for item in run(raw, size):
        if isinstance(item, Frame):
            lengths = {len(column) for column in item.columns.values()} | {len(item.line)}
            assert len(lengths) == 1
            assert set(item.columns) == {column.name for column in item.table.columns}
        else:
            assert 1 <= item.line <= most


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["three_samples.csv", "damaged.csv"]), st.floats(0, 1))
def test_a_cut_file_gives_a_part_of_what_the_whole_gives(name: str, where: float) -> None:
    """Cut anywhere, no sample changes its values and none is added."""
    raw = (SAMPLES / name).read_bytes()
    whole, part = run(raw), run(raw[: int(where * len(raw))])
    for table in ("esxtop.vm_cpu", "esxtop.vcpu", "esxtop.port", "esxtop.pcpu"):
        complete = samples(whole, table)
        for row in samples(part, table):
            assert any(row.items() <= other.items() for other in complete), row


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunks_do_not_matter(size: int) -> None:
    """Rows are the same however the bytes arrive."""
    raw = (SAMPLES / "three_samples.csv").read_bytes()
    assert [str(item) for item in run(raw, size)] == [str(item) for item in run(raw)]


@pytest.mark.parametrize(
    "recode",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-16-le"),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace('"', "").encode(),
        lambda text: text.replace('","', '";"').replace('",\n', '";\n').encode(),
        lambda text: text.replace(",\n", "\n").encode(),
        lambda text: ("#TYPE Selected.System\n" + text).encode(),
    ],
    ids=[
        "utf-16",
        "utf-16 bare",
        "bom",
        "cr",
        "crlf",
        "no quotes",
        "semicolons",
        "no last comma",
        "type line",
    ],
)
def test_what_other_tools_make_of_a_capture_reads_the_same(recode: Any) -> None:
    """Encodings, line ends, delimiters and quotes of Excel and PowerShell change no value."""
    columns = [*vm_columns((1, "web"), (2, "db")), rf"{HOST}\Physical Cpu(0)\% Util Time"]
    raw = capture(
        columns, *((stamp, [f"{at}.25", "7.50", "3"]) for at, stamp in enumerate(stamps(4)))
    )
    want, found = run(raw), run(recode(raw.decode()))
    for table in ("esxtop.vm_cpu", "esxtop.pcpu"):
        plain = [{k: v for k, v in row.items() if k != "line"} for row in samples(found, table)]
        assert plain == [
            {k: v for k, v in row.items() if k != "line"} for row in samples(want, table)
        ]
        assert len(plain) in (3, 6)


def test_decimal_commas_are_numbers() -> None:
    """`12,5` is 12.5, in quotes between commas as well as between semicolons."""
    quoted = capture(DB, *((stamp, ["2,5"]) for stamp in stamps(2)))
    assert [row["rdy_pct"] for row in samples(run(quoted), "esxtop.vm_cpu")] == [2.5]


def test_the_first_sample_is_left_out_but_counted() -> None:
    """It holds averages since boot: one sample gives a VM and no rate."""
    found = run(capture(DB, ("03/02/2021 10:00:00", [5.0])))
    assert samples(found, "esxtop.vm_cpu") == []
    assert table_rows(found, "esxtop.vm")[0] | {} == {
        "vm_id": 7002,
        "vm_name": "db",
        "vcpus": None,
        "samples": 1,
        "first": "2021-03-02 10:00:00",
        "last": "2021-03-02 10:00:00",
    }


def test_a_row_of_another_width_is_left_out_and_said() -> None:
    """When objects come or go, columns shift: such a row gives no value, the rows around it do."""
    raw = (
        capture(DB, *((stamp, [1.5]) for stamp in stamps(3))) + b'"03/02/2021 10:01:00","9","9",\n'
    )
    raw += capture([], ("03/02/2021 10:02:00", [2.5])).split(b"\n", 1)[1]
    found = run(raw)
    assert [row["line"] for row in samples(found, "esxtop.vm_cpu")] == [3, 4, 6]
    assert faults(found) == [
        (5, "3 fields, the heading has 2: columns may have shifted; it is left out")
    ]
    assert table_rows(found, "esxtop.capture")[0]["rows_dropped"] == 1


def test_a_quote_left_open_does_not_swallow_the_next_row() -> None:
    """A damaged row costs itself, not its neighbour."""
    raw = capture(DB, *((stamp, [1.5]) for stamp in stamps(2)))
    raw += b'"03/02/2021 10:01:00","\n"03/02/2021 10:01:05","2.5",\n'
    assert [row["line"] for row in samples(run(raw), "esxtop.vm_cpu")] == [3, 5]


def test_cells_without_a_measurement_are_empty_and_counted() -> None:
    """NaN, infinity, -1 for «no limit», blanks and words are no numbers; the cells beside them stay."""
    columns = [*DB, rf"{HOST}\Physical Cpu(0)\% Util Time"]
    odd = ["-nan", "NaN", "inf", "-1", "-1.#IND", "", "n/a", "1_0", "9" * 400]
    found = run(
        capture(
            columns,
            *((stamp, [cell, 4.5]) for stamp, cell in zip(stamps(10), ["1", *odd], strict=True)),
        )
    )
    assert [row.get("rdy_pct") for row in samples(found, "esxtop.vm_cpu")] == [None] * len(odd)
    assert [row["util_pct"] for row in samples(found, "esxtop.pcpu")] == [4.5] * len(odd)
    assert table_rows(found, "esxtop.capture")[0]["cells_dropped"] == len(odd)


def test_two_captures_in_one_file_each_lose_their_first_sample() -> None:
    """A second heading starts anew, with its own columns, even where the first was cut inside a row."""
    first = capture(DB, *((stamp, [1.5]) for stamp in stamps(3)))
    second = capture(
        [rf"{HOST}\Physical Cpu(0)\% Util Time", *DB], *((stamp, [8, 2.5]) for stamp in stamps(2))
    )
    for middle, line in ((b"", 6), (b'"03/02/2021 10:0', 5)):
        found = run(first + middle + second)
        rows = [
            (row["line"], row["sample"], row["rdy_pct"]) for row in samples(found, "esxtop.vm_cpu")
        ]
        assert rows == [(3, 1, 1.5), (4, 2, 1.5), (7, 4, 2.5)]
        assert table_rows(found, "esxtop.vm")[0]["samples"] == 5
        assert [at for at, _ in faults(found)] == ([line] if middle else [])


def test_a_capture_of_another_host_is_not_mixed_in() -> None:
    """Group ids of two hosts may be equal: the second host's capture is left out and named."""
    other = capture([r"\\esx2\Group Cpu(7002:db)\% Ready"], *((stamp, [99]) for stamp in stamps(3)))
    found = run(capture(DB, *((stamp, [1.5]) for stamp in stamps(2))) + other)
    assert [row["rdy_pct"] for row in samples(found, "esxtop.vm_cpu")] == [1.5]
    ((line, why),) = faults(found)
    assert (line, "esx2" in why) == (4, True)


def test_what_names_nothing_is_said_once() -> None:
    """No heading, a heading without rows, a Windows capture: each gives a fault that says so."""
    rows = [f'"{stamp}","1.0",\n'.encode() for stamp in stamps(100)]
    no_heading = faults(run(b"".join(rows)))
    assert len(no_heading) == _esxtop_capture.FAULTS_OF_A_KIND + 1
    assert no_heading[-1] == (100, "80 more lines without a heading, the last on this line")
    assert "no sample" in faults(run(capture(DB)))[0][1]
    windows = faults(
        run(capture([r"\\PC\Processor(_Total)\% Processor Time"], ("10/12/2020 12:00:00.123", [1])))
    )
    assert windows == [(1, "none of the 1 columns of this heading is one that is read")]


def test_times_are_taken_as_written_and_steps_back_are_counted() -> None:
    """Stamps of spreadsheets are read; impossible ones leave the time empty and keep the row."""
    texts = [
        "03/02/2021 10:00:00",
        "3/2/2021 10:01",
        "2.3.2021 10:02",
        "2021-03-02T10:03:00Z",
        "25/3/2021 1:00",
    ]
    odd = [
        "13/32/2021 10:00:00",
        "03/02/9999 10:00:00",
        "03/02/2021 24:60:61",
        "10:00:05",
        "03/01/2021 09:00:00",
    ]
    found = run(capture(DB, *((text, [1]) for text in texts + odd)))
    times = [row.get("time") for row in samples(found, "esxtop.vm_cpu")]
    shown = [None if time is None else f"{time:%d %H:%M:%S}" for time in times]
    assert shown[:4] == ["02 10:01:00", "02 10:02:00", "02 10:03:00", "25 01:00:00"]
    assert shown[4:] == [None, None, None, None, "01 09:00:00"]
    assert [line for line, _ in faults(found)] == [7, 8, 9]
    assert table_rows(found, "esxtop.capture")[0]["clock_steps"] == 1


def test_equal_names_and_repeated_columns_are_told() -> None:
    """Two VMs of one name share no row; a heading printed twice counts once, the first."""
    columns = [*vm_columns((1, "twin"), (2, "twin")), *vm_columns((1, "twin"))]
    found = run(capture(columns, *((stamp, [1, 2, 3]) for stamp in stamps(2))))
    assert [(row["vm_id"], row["rdy_pct"]) for row in samples(found, "esxtop.vm_cpu")] == [
        (1, 1.0),
        (2, 2.0),
    ]
    assert ["repeat" in why or "look alike" in why for _, why in faults(found)] == [True, True]


def test_batches_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file longer than a batch gives the same samples as one that fits."""
    raw = capture(DB, *((stamp, [f"{at}.5"]) for at, stamp in enumerate(stamps(50))))
    whole = samples(run(raw), "esxtop.vm_cpu")
    monkeypatch.setattr(_esxtop_capture, "BATCH_CHARACTERS", 20)
    found = run(raw)
    assert samples(found, "esxtop.vm_cpu") == whole
    assert sum(isinstance(item, Frame) for item in found) > 5
    assert [row["sample"] for row in whole] == list(range(1, 50))


def test_long_rows_are_cut_at_the_same_cells_as_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way for rows of tens of thousands of fields gives what the plain split gives."""
    for path in SAMPLES.glob("*.csv"):
        plain = [str(item) for item in run(path.read_bytes())]
        monkeypatch.setattr(_esxtop_capture, "_LONG", 0)
        for many in (0, 10**6):  # read at once, and by numpy.loadtxt
            monkeypatch.setattr(_esxtop_capture, "_MANY", many)
            assert [str(item) for item in run(path.read_bytes())] == plain
        monkeypatch.undo()


def test_a_pasted_capture_gives_rows() -> None:
    """Inside a transcript the samples come as rows with their line, NaN as nothing."""
    lines = (SAMPLES / "damaged.csv").read_text(encoding="utf-8").split("\n")
    assert PARSER.starts_at(lines[0])
    assert all(PARSER.goes_on(line) for line in lines[1:] if line)
    rows = [item for item in parse_block(Block(lines, first_line=41)) if isinstance(item, Row)]
    cpu = [row for row in rows if row.table.name == "esxtop.vm_cpu"]
    assert [row.line for row in cpu] == [43, 45, 46, 49]
    assert cpu[0].values["time"] == "2021-03-02 10:00:05"
    assert cpu[1].values["rdy_pct"] is None
    assert not any(
        isinstance(value, float) and math.isnan(value)
        for row in rows
        for value in row.values.values()
    )


def test_prose_about_the_format_is_no_capture() -> None:
    """Only a heading with a column after the mark starts a capture."""
    assert not PARSER.starts_at('The first field reads "(PDH-CSV 4.0) (UTC)(0)" in all versions.')
    assert PARSER.starts_at(capture(DB).decode())


def _of_cells(cells: list[str], quote: str) -> Any:
    """Return what `hundredths` makes of a row of these cells, as floats."""
    import numpy as np

    starts, ends, row = [], [], SPARE
    for cell in cells:
        row += quote.encode()
        starts.append(len(row))
        row += cell.encode()
        ends.append(len(row))
        row += f"{quote},".encode()
    found = read_hundredths(row, np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))
    return found if found is None or found.dtype.kind == "f" else found / 100.0


@pytest.mark.size
@settings(max_examples=300)
@given(
    st.lists(st.from_regex(r"-?[0-9]{1,13}\.[0-9]{2}", fullmatch=True), min_size=1),
    st.sampled_from(["", '"']),
)
def test_cells_at_once_are_the_floats_of_python(cells: list[str], quote: str) -> None:
    """Numbers with two decimals come out bit for bit as float() reads them, the sign of zero included."""
    assert [number.hex() for number in _of_cells(cells, quote).tolist()] == [
        float(cell).hex() for cell in cells
    ]


@settings(max_examples=300)
@given(st.text(st.sampled_from('0123456789.-+e /:"n'), max_size=20))
def test_a_cell_of_another_form_is_left_to_the_careful_way(cell: str) -> None:
    """One cell that is no plain number with two decimals makes the whole row text again."""
    plain = re.fullmatch(r"-?[0-9]{1,13}\.[0-9]{2}", cell)
    assert (_of_cells(["1.00", cell], '"') is not None) == bool(plain)


def test_long_rows_with_and_without_odd_cells_read_the_same() -> None:
    """In rows of 600 columns whole numbers, blanks and words cost only what they are."""
    heading = ['"(PDH-CSV 4.0) (UTC)(0)"'] + [
        f'"\\\\h\\Physical Cpu({n})\\% Util Time"' for n in range(600)
    ]
    odd = ["7", "", "x", "-1.00", "1e3", " 4.50", "123456789.25", "nan"]
    rows = []
    for second in range(6):
        cells = [f"{n}.{second}5" for n in range(600)]
        if second % 2:
            cells[10 : 10 + len(odd)] = odd
        rows.append([f"03/08/2021 00:00:0{second}", *cells])
    text = ",".join(heading) + "\n" + "".join('"' + '","'.join(row) + '"\n' for row in rows)
    (frame,) = [item for item in stream(Block([]), [text.encode()]) if isinstance(item, Frame)]

    found = frame.columns["util_pct"].reshape(5, 600)
    for got, row in zip(found.tolist(), rows[1:], strict=True):
        want = [
            float(cell) if re.fullmatch(r" ?[-\de.]+", cell) and cell != "-1.00" else math.nan
            for cell in row[1:]
        ]
        assert str(got) == str(want)
