"""The sample cases are what the tool writes, and each says what it is."""

from __future__ import annotations

import zlib
from pathlib import Path

from tools import make_case

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"


def files(folder: Path) -> dict[str, bytes]:
    """Return relative name -> content of all files below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def unpacked(data: bytes) -> bytes:
    """Return what a gzip holds, as far as it goes: compressors of two versions pack differently."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    plain = zlib.decompressobj(31)
    out = plain.decompress(data)
    return out if plain.eof else out[:512]


def test_committed_cases_are_what_the_tool_writes(tmp_path: Path) -> None:
    """Running tools/make_case.py again gives the committed bytes."""
    make_case.write_cases(tmp_path)
    fresh, committed = files(tmp_path), files(CASES)
    assert sorted(fresh) == sorted(committed)
    different = [name for name in fresh if unpacked(fresh[name]) != unpacked(committed[name])]
    assert not different


def test_each_case_says_that_it_is_synthetic() -> None:
    """Every sample case has a README that says what it stands for and that it is synthetic."""
    folders = [folder for folder in CASES.iterdir() if folder.is_dir()]
    assert len(folders) >= 6
    for folder in folders:
        text = (folder / "README.md").read_text(encoding="utf-8")
        assert "Synthetic" in text
        assert len(text) > 100
