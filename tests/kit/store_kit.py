"""Many stored cases made of one: a real pack of two sample files, under other names, with other documents."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from analyzer.archive import documents
from analyzer.archive.entry import Entry, Stored
from analyzer.archive.object_store.object_store import FORMAT
from analyzer.archive.packs import smalltables
from analyzer.archive.packs.encode import encode_case, none_pack
from analyzer.archive.prints import UNJUDGED, case_id, source_key
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.pipeline.case_data import conclude
from analyzer.pipeline.triage import Options, gather_case
from analyzer.rules import run_catalog
from analyzer.rules.run_catalog import Local
from analyzer.rules.settings import Settings
from analyzer.runtime.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
READING, JUDGING, LATER = "a" * 12, "b" * 12, "c" * 12
BEGAN = 1_700_000_000_000  # the stamp of the first entry


def base_text(archive: Archive, stored: Stored) -> str:
    """Return the text of base.json, which is stored with the facts."""
    return documents.text_of(archive.objects, stored.facts or stored.judged, documents.BASE)


@cache
def real(*, small: bool = False) -> dict[str, bytes]:
    """Return the members of a full pack of two sample files, with its small tables as JSON or all as Parquet."""
    limits = Limits()
    catalog = run_catalog.load_run_catalog(Local(), (), limits=limits, drafts=False)
    paths = [
        ROOT / "samples" / name
        for name in ("esxi/network/net_stats/filtered.txt", "esxi/network/nic_stats/esxi67.txt")
    ]
    material = gather_case(paths, catalog.signatures(), Options())
    outcome = conclude(material, catalog, Settings(), limits)
    with patch.object(smalltables, "ROWS", smalltables.ROWS if small else 0):
        data = encode_case(material, outcome, meta_of("x" * 32, "real", READING, JUDGING))
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def meta_of(
    id: str, name: str, reading: str, judging: str, state: str = "ok", why: str = ""
) -> dict[str, Any]:
    """Return the meta of a case."""
    return {
        "format": FORMAT, "id": id, "name": name, "source": f"/cases/{name}", "stored": "2024-05-01T00:00:00Z",
        "tool": "0.1.0", "reading": reading, "judging": judging, "catalog": "0" * 12, "settings": "", "state": state,
        "why": why, "searched": [], "seconds": 0.1, "bytes": 10, "files": 1,
    }  # fmt: skip


def files_of(content: str) -> list[dict[str, Any]]:
    """Return the one file of a case with some content."""
    return [{"name": "a.txt", "size": 10, "sha256": content.encode().hex().ljust(64, "0")[:64]}]


def id_of(name: str, content: str = "") -> str:
    """Return the id of a case of that name and content."""
    return case_id(
        name, [(file["name"], file["size"], file["sha256"]) for file in files_of(content)]
    )


def document_of(name: str, content: str = "", judging: str = JUDGING) -> str:
    """Return the text of the case document."""
    document = json.loads(real()["case.json"])
    document["case"] |= {"name": name, "files": files_of(content)}
    document["tool"]["catalog"] = judging
    return case_file.write_case(case_file.parse_case(json.dumps(document), "case.json"))


def store(
    archive: Archive,
    name: str,
    *,
    kind: str = "full",
    content: str = "",
    stamp: int = 0,
    reading: str = READING,
    judging: str = JUDGING,
    change: dict[str, bytes] | None = None,
    source: str = "",
    small: bool = False,
) -> Entry:
    """Store a case and return its entry; `change` replaces members of its pack."""
    id = id_of(name, content)
    judging = UNJUDGED if kind == "none" else judging
    entry = Entry(id, source_key(source or f"/cases/{name}"), reading, judging, BEGAN + stamp, kind)
    if kind == "none":
        return archive.put_pack(
            entry, none_pack(meta_of(id, name, reading, judging, "refused", "nothing readable"))
        )
    meta = meta_of(id, name, reading, judging)
    members = dict(real(small=small))
    members["meta.json"] = json.dumps(meta).encode()
    members["case.json"] = document_of(name, content, judging).encode()
    base = json.loads(members["base.json"]) | {"name": name, "files": files_of(content)}
    members["base.json"] = json.dumps(base).encode()
    if kind == "case":
        keep = ("_case", "_findings", "_unknowns", "_verdicts", "_signals")
        members = {
            member: data
            for member, data in members.items()
            if member in ("meta.json", "case.json")
            or member.removeprefix("tables/").removesuffix(".parquet") in keep
        }
    return archive.put_pack(entry, zipped(members | (change or {})))


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a ZIP file of members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def whole(archive: Archive, names: Iterable[str]) -> None:
    """Check that exactly these cases are visible, each with the texts that were stored."""
    snapshot = archive.take_snapshot()
    found = {archive.read_meta(stored)["name"]: stored for stored in snapshot.list_visible_cases()}
    assert sorted(found) == sorted(names)
    assert snapshot.faults == []
    for name, stored in found.items():
        document = archive.document_text(stored)
        assert document == document_of(name, "", stored.judged.judging)
        assert json.loads(base_text(archive, stored))["name"] == name
