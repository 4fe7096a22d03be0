"""Files beside support material that hold no diagnostics are named and are no loss; damaged material is one."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

BUNDLE = next((Path(__file__).parents[2] / "samples/cases/healthy-host").glob("*.tgz"))
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
NOISE = bytes(range(256)) * 4


def pack_zip(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            packed.writestr(name, "<x>2017-10-14 10:00:00 slow</x>" * 20)
    return out.getvalue()


OTHER = {
    "notes.docx": pack_zip("[Content_Types].xml", "_rels/.rels", "word/document.xml"),
    "list.xlsx": pack_zip("[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"),
    "deck.pptx": pack_zip("_rels/.rels", "ppt/presentation.xml"),
    "plan.vsdx": pack_zip("[Content_Types].xml", "visio/document.xml"),
    "text.odt": pack_zip("mimetype", "content.xml"),
    "sheet.ods": pack_zip("mimetype", "content.xml"),
    "renamed": pack_zip("[Content_Types].xml", "word/document.xml"),
    "old.doc": OLE, "old.xls": OLE, "mail.msg": OLE, "Thumbs.db": OLE,
    "invoice.pdf": b"%PDF-1.7\n" + NOISE,
    "screen.png": b"\x89PNG\r\n\x1a\n" + NOISE, "photo.JPG": b"\xff\xd8\xff\xe0" + NOISE, "a.gif": b"GIF89a" + NOISE,
    "b.bmp": b"BM" + NOISE, "c.webp": b"RIFF1234WEBPVP8 " + NOISE, "d.heic": b"\0\0\0\x18ftypheic" + NOISE,
    "e.tiff": b"II*\0" + NOISE, "f.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>',
    "video.mp4": b"\0\0\0\x20ftypisom" + NOISE, "v.avi": b"RIFF1234AVI LIST" + NOISE, "v.mkv": b"\x1aE\xdf\xa3" + NOISE,
    ".DS_Store": b"\0\0\0\1Bud1" + NOISE, "._bundle.tgz": b"\0\5\x16\7\0\2\0\0Mac OS X" + b"\0" * 90,
    "desktop.ini": b"[.ShellClassInfo]\r\nIconResource=x\r\n", "~$notes.docx": b"\x05admin" + b"\0" * 150,
    "winmail.dat": b"\x78\x9f\x3e\x22" + NOISE, "smime.p7s": b"\x30\x82" + NOISE, "x.lnk": b"L\0\0\0\1\x14\2\0" + NOISE,
    "case.json": json.dumps({"schema": "backline/case-1", "case": {"name": "x"}}, indent=1).encode(),
    "package.json": json.dumps({"name": "tool", "scripts": {"build": "x"}}, indent=1).encode(),
    "empty.json": b"{}", "list.json": b'["a", "b"]',
    "note.rtf": b"{\\rtf1\\ansi hello}",
}  # fmt: skip
LOST = {
    "esx.tgz": gzip.compress(NOISE * 40)[:90],
    "named-as-picture.png": gzip.compress(NOISE * 40)[:90],
    "cut.zip": pack_zip("a.log", "b.log")[:70],
    "vendor.log": b"2020-01-01T10:00:00Z frobnicator[12]: state changed to 5\n" * 20,
    "packed.7z": b"7z\xbc\xaf\x27\x1c\0\4" + NOISE,
    "records.json": json.dumps([{"frobs": 1, "state": "bad"}] * 3, indent=1).encode(),
    "answer.json": json.dumps({"results": [{"frobs": 1}], "result_count": 1}, indent=1).encode(),
    "vmkernel.zdump": NOISE,
}


def triage_folder(folder: Path, out: Path) -> tuple[int, dict[str, Any], str]:
    """Return the exit code, the case document and the summary of a folder."""
    done = CliRunner().invoke(
        main, ["triage", str(folder), "-o", str(out), "--no-settings", "--no-packs"]
    )
    return done.exit_code, json.loads((out / "case.json").read_bytes()), done.output


@pytest.mark.parametrize("name", OTHER)
@pytest.mark.parametrize("wrapped", [False, True])
def test_other_files_cost_nothing(name: str, wrapped: bool, tmp_path: Path) -> None:
    """Beside a bundle, in a folder or in the zip of an upload: the case is complete, and the file is named."""
    folder = tmp_path / "in"
    folder.mkdir()
    if wrapped:
        with zipfile.ZipFile(folder / "upload.zip", "w") as packed:
            packed.write(BUNDLE, f"upload/{BUNDLE.name}")
            packed.writestr(f"upload/{name}", OTHER[name])
    else:
        (folder / BUNDLE.name).write_bytes(BUNDLE.read_bytes())
        (folder / name).write_bytes(OTHER[name])
    code, doc, _ = triage_folder(folder, tmp_path / "out")

    assert doc["case"]["complete"]
    assert code == 0
    states = {source["state"] for source in doc["sources"] if source["address"].endswith(name)}
    assert states <= {"other", "listed"} and states


def test_other_files_are_named_on_the_first_screen(tmp_path: Path) -> None:
    """The summary says which files were given and not read, and why, without a fault."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("notes.docx", "screen.png"):
        (folder / name).write_bytes(OTHER[name])
    (folder / BUNDLE.name).write_bytes(BUNDLE.read_bytes())
    _, doc, said = triage_folder(folder, tmp_path / "out")

    assert "Not read, not diagnostic material: notes.docx, screen.png" in said
    assert "NOT COMPLETE" not in said
    why = {
        source["address"]: source["why"] for source in doc["sources"] if source["state"] == "other"
    }
    assert all(reason.startswith("not diagnostic material: ") for reason in why.values())


@pytest.mark.parametrize("name", LOST)
def test_damaged_and_unknown_material_still_counts(name: str, tmp_path: Path) -> None:
    """A bundle that is damaged, a log nobody knows, an archive that is not opened: the case is not complete."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / BUNDLE.name).write_bytes(BUNDLE.read_bytes())
    (folder / name).write_bytes(LOST[name])
    code, doc, said = triage_folder(folder, tmp_path / "out")

    assert "NOT COMPLETE" in said
    assert code == 5
    assert (
        not all(
            source["state"] in ("read", "listed", "searched", "other") for source in doc["sources"]
        )
        or doc["damage"]
    )
