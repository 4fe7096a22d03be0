"""A wide capture of esxtop in an archive: as exact as any other case, and in little memory."""

from __future__ import annotations

import io
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer.archive.packs import encode, parquet
from analyzer.archive.restore import decode_facts, recall
from analyzer.archive.store import Archive
from analyzer.artefacts.samples import SampleColumns
from analyzer.facts import frames
from analyzer.parsers.esxtop import _esxtop_capture
from analyzer.pipeline.case_data import CaseData
from analyzer.pipeline.triage import Options, gather_case
from tests.kit import archive_kit as kit
from tests.kit.esxtop_kit import Capture
from tests.kit.full_size import scale_size
from tests.kit.memory_kit import peak
from tools.make_bundle import esxtop_csv

MOST_MB = 230  # of the largest process of the run, for a capture of 114 MB


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a capture that is read in many frames."""
    return Capture(5_000, 60).write(tmp_path_factory.mktemp("capture") / "esxtop.csv")


@pytest.fixture(autouse=True)
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reader make a frame of a few samples, as it does of a large capture."""
    monkeypatch.setattr(_esxtop_capture, "BATCH_CHARACTERS", 200_000)


def _read(capture: Path) -> CaseData:
    return gather_case([capture], kit.catalog().signatures(), Options())


@pytest.mark.size
@pytest.mark.parametrize("rows", [1, 1_000, 10**9])
def test_a_capture_written_in_pieces_comes_back_as_it_was(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """However many rows are written and read at once, the case judged from the archive is the fresh one."""
    monkeypatch.setattr(encode, "PIECE", rows)
    monkeypatch.setattr(decode_facts, "AT_ONCE", rows)
    archive = Archive.open(tmp_path, create=True)
    stored = kit.put(archive, "capture", _read(capture))

    back = recall.recall_case(archive, stored, kit.catalog().signatures())

    assert kit.text_of(back) == kit.text_of(_read(capture))


def _tables(material: CaseData, folder: Path) -> dict[str, str]:
    """Store a case and return the rows of each of its Parquet files as text."""
    archive = Archive.open(folder, create=True)
    data = archive.objects.get(kit.put(archive, "capture", material).judged.holder)
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as pack, duckdb.connect() as con:
        for name in pack.namelist():
            if name.endswith(".parquet"):
                (folder / "one.parquet").write_bytes(pack.read(name))
                rows = con.execute("SELECT * FROM read_parquet(?)", [str(folder / "one.parquet")])
                found[name] = repr((rows.description, rows.fetchall()))
    return found


@pytest.mark.size
def test_samples_written_as_they_are_are_the_rows_of_a_table(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames of one layout go into Parquet without a table in between: the same rows in the same order."""
    material = _read(capture)
    asked: list[int] = []
    ask = frames.ask

    def counted(*given: Any) -> None:
        asked.append(len(given[2]))
        ask(*given)

    monkeypatch.setattr(frames, "ask", counted)
    straight = _tables(material, tmp_path / "straight")
    assert len(asked) > 1 and max(asked) > 1, "several frames at once"
    inserted: list[int] = []
    insert = frames.insert
    monkeypatch.setattr(frames, "insert", lambda *given: inserted.append(1) or insert(*given))
    monkeypatch.setattr(frames, "are_alike", lambda placed: False)
    assert straight == _tables(material, tmp_path / "table") and inserted


@pytest.mark.size
def test_parquet_goes_into_a_pack_as_it_is(capture: Path, tmp_path: Path) -> None:
    """Large tables are pressed once, not twice; texts are pressed by the ZIP file."""
    archive = Archive.open(tmp_path, create=True)
    data = archive.objects.get(kit.put(archive, "capture", _read(capture)).judged.holder)
    with zipfile.ZipFile(io.BytesIO(data)) as pack:
        forms = {
            one.filename: one.compress_type for one in pack.infolist() if one.file_size > 1 << 16
        }
        forms["case.json"] = pack.getinfo("case.json").compress_type
    assert {forms.pop(name) for name in [*forms] if name.endswith(".parquet")} == {
        zipfile.ZIP_STORED
    }
    assert {*forms.values()} == {zipfile.ZIP_DEFLATED}


@pytest.mark.parametrize("others", [{}, {"n": [*range(150)]}, {"n": [None, *range(149)]}])
def test_columns_of_one_value_come_back(tmp_path: Path, others: dict[str, Any]) -> None:
    """A column that says the same in all rows has as many rows as the others, and no zero loses its sign."""
    same: dict[str, Any] = {
        "s": ["a"] * 150,
        "none": [None] * 150,
        "t": ["2020-01-02 03:04:05"] * 150,
    }
    data = same | {"kb": [[1, 2]] * 150, "f": [0.0, -0.0] * 75, "b": [True] * 150} | others
    kinds = {
        "s": "VARCHAR",
        "none": "BIGINT",
        "t": "TIMESTAMP",
        "kb": "INTEGER[]",
        "f": "DOUBLE",
        "b": "BOOLEAN",
    }
    kinds |= {"n": "BIGINT", "absent": "VARCHAR"}
    for columns in (data, {name: data[name] for name in ("s", "kb")}):
        with duckdb.connect() as con:
            parquet.write_columns(con, tmp_path / "x.parquet", kinds, columns)
            rows = con.execute(
                "SELECT * REPLACE (t::VARCHAR AS t) FROM read_parquet(?)",
                [str(tmp_path / "x.parquet")],
            )
            found = rows.fetchall()
        wanted = [
            tuple(columns[name][row] if name in columns else None for name in kinds)
            for row in range(150)
        ]
        assert repr(found) == repr(wanted)


@pytest.mark.size
def test_a_table_of_two_pieces_is_written_once(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces are joined, which writes a table again, only where its rows are more than two pieces of them."""
    joins: list[Path] = []
    join = parquet.join_files

    def counted(con: duckdb.DuckDBPyConnection, path: Path, pieces: Sequence[Path]) -> None:
        joins.append(path)
        join(con, path, pieces)

    monkeypatch.setattr(parquet, "join_files", counted)
    material = _read(capture)
    rows = max(material.facts.count(name) for name in material.facts.tables)

    for piece, times in ((rows // 2 + 1, 0), (rows // 2 - 1, 1)):
        monkeypatch.setattr(encode, "PIECE", piece)
        kit.put(Archive.open(tmp_path / str(piece), create=True), "capture", material)
        assert len(joins) == times


@pytest.mark.size
def test_samples_come_back_in_the_form_that_takes_little_memory(
    capture: Path, tmp_path: Path
) -> None:
    """Frames have the very cells and lines they had, packed again, and share the names of their objects."""
    archive, fresh = Archive.open(tmp_path, create=True), _read(capture)
    back = recall.recall_case(
        archive, kit.put(archive, "capture", _read(capture)), kit.catalog().signatures()
    )

    was, now = (one.facts.store("esxtop.vcpu").frames for one in (fresh, back))
    assert len(was) == len(now) > 1
    for before, after in zip(was, now, strict=True):
        assert isinstance(before.columns, SampleColumns) and isinstance(
            after.columns, SampleColumns
        )
        assert after.columns.names is now[0].columns.names  # type: ignore[attr-defined]
        assert after.line.tolist() == before.line.tolist()
        for name in before.columns:
            assert repr(after.columns[name].tolist()) == repr(before.columns[name].tolist()), name


@pytest.mark.release
@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is in KiB on Linux only")
def test_a_wide_capture_is_stored_and_judged_again_in_little_memory(tmp_path: Path) -> None:
    """114 MB at full size, with nearly two thousand findings: no process of the batch, nor a compaction, takes much more than twice what triage takes."""
    (tmp_path / "cases").mkdir()
    with (tmp_path / "cases" / "esxtop.csv").open("wb") as file:
        file.writelines(esxtop_csv(60_000, scale_size(240), 7))
    batch = (
        sys.executable,
        "-m",
        "analyzer",
        "batch",
        "--archive",
        str(tmp_path / "archive"),
        "--quiet",
        "--no-packs",
    )

    assert peak(*batch, "--no-settings", str(tmp_path / "cases")) <= MOST_MB
    again = tmp_path / "again"
    shutil.copytree(tmp_path / "archive", again)
    compact = (
        sys.executable,
        "-m",
        "analyzer",
        "archive",
        "compact",
        "--all",
        "--archive",
        str(again),
    )
    assert peak(*compact) <= MOST_MB, "its rows are sorted on the disk"
    assert not list((again / "packs").rglob("*.zip")) and list((again / "segments").iterdir())
    assert peak(*batch, "--no-settings", "--draft") <= MOST_MB

    assert sorted(path.name.split(".")[1] for path in (tmp_path / "archive").rglob("*.zip")) == [
        "case",
        "full",
    ]
