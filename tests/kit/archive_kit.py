"""Material of the sample cases, and small archives of it, for the tests of the archive."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from analyzer.archive.entry import Entry, Stored
from analyzer.archive.object_store.object_store import FORMAT
from analyzer.archive.packs import encode
from analyzer.archive.prints import case_id, source_key
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.facts import Facts
from analyzer.ingest.timeline import TIMELINE_SIGNATURES
from analyzer.pipeline.case_data import CaseData, RunResult, conclude
from analyzer.pipeline.triage import Options, gather_case
from analyzer.rules import Catalog, run_catalog
from analyzer.rules.run_catalog import Local
from analyzer.rules.settings import Settings
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import Signature

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted(path.name for path in (ROOT / "samples" / "cases").iterdir() if path.is_dir())
READING, JUDGING = "a" * 12, "b" * 12


@cache
def catalog() -> Catalog:
    """Return the rules that come with the tool."""
    return run_catalog.load(Local(), (), limits=Limits(), drafts=False)


def sample(name: str) -> CaseData:
    """Return the material of a sample case, read anew: judging puts tables of signatures into facts."""
    return gather_case([ROOT / "samples" / "cases" / name], catalog().signatures(), Options())


@cache
def packed(name: str) -> tuple[bytes, str]:
    """Return pack and case.json of a sample case."""
    material = sample(name)
    outcome = judged(material)
    return encode.encode_case(material, outcome, meta_of(name)), case_file.write_case(
        outcome.document
    )


def judged(material: CaseData, rules: Catalog | None = None) -> RunResult:
    """Return what a catalog says of a case."""
    return conclude(material, rules or catalog(), Settings(), Limits())


def text_of(material: CaseData, rules: Catalog | None = None) -> str:
    """Return the bytes of case.json as text."""
    return case_file.write_case(judged(material, rules).document)


def searched(signatures: Sequence[Signature] | None = None) -> list[list[Any]]:
    """Return what meta.json says of signatures, those of the catalog unless given."""
    own = catalog().signatures() if signatures is None else signatures
    return [
        [one.id, one.table, one.pattern, one.ignore_case] for one in (*own, *TIMELINE_SIGNATURES)
    ]


def meta_of(name: str, asked: list[list[Any]] | None = None, **more: Any) -> dict[str, Any]:
    """Return the meta of a case."""
    meta = {
        "format": FORMAT, "id": case_id(name, []), "name": name, "source": f"/cases/{name}", "stored": "2024-05-01T00:00:00Z",
        "tool": "0.1.0", "reading": READING, "judging": JUDGING, "catalog": catalog().hash, "settings": "",
        "state": "ok", "why": "", "searched": searched() if asked is None else asked, "seconds": 0.5, "bytes": 1000,
        "files": 1,
    }  # fmt: skip
    return meta | more


def stored(
    archive: Archive, name: str, pack: bytes, *, stamp: int = 1, kind: str = "full"
) -> Stored:
    """Put a pack into an archive; return the case as a snapshot would."""
    entry = Entry(case_id(name, []), source_key(f"/cases/{name}"), READING, JUDGING, stamp, kind)
    held = archive.put_pack(entry, pack)
    return Stored(entry.id, held, held if kind == "full" else None)


def put(
    archive: Archive, name: str, material: CaseData, asked: list[list[Any]] | None = None
) -> Stored:
    """Judge a case and store it whole."""
    return stored(
        archive, name, encode.encode_case(material, judged(material), meta_of(name, asked))
    )


def bare(facts: Facts, nodes: Sequence[Mapping[str, Any]] = ()) -> CaseData:
    """Return material of which only the facts are told."""
    return CaseData(
        facts=facts, name="made", files=[], created="", span=None, complete=True, nodes=[dict(one) for one in nodes],
        sources=[], events=[], topology=[], faults=[], faults_total=0, damage=[], limits=[], advice=[],
    )  # fmt: skip


def cells(text: str) -> Any:
    """Return a column that holds JSON."""
    return json.loads(text)
