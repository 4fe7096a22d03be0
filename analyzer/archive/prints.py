"""Fingerprints: which case it is, how it was read, how it was judged.

They are in the names of stored objects, so that "is this done already" is answered by a listing:
the same fingerprints mean the same bytes of case.json, another one means that something must be done anew.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer import __version__
from analyzer.runtime.limits import Limits

if TYPE_CHECKING:
    from analyzer.rules.settings import Settings

_SEED = "backline/archive-1"  # of ids and fingerprints: another one would make every stored case a new one
UNJUDGED = "0" * 12  # the judging of a case that was refused or failed

# Limits that change what is read of a case, and those that change what is said of it. The others (time of a
# rule, wall time, size of the HTML report) change neither, or end in a note that a second run need not repeat.
READING_LIMITS = (
    "bundle_bytes", "expanded_bytes", "ratio", "ratio_floor", "member_bytes", "members", "member_metadata",
    "header_chain", "name_bytes", "nesting", "nested_expanded", "nested_zip", "fragment_hold", "line_bytes",
    "block_bytes", "session_bytes", "hits_per_signature", "pattern_steps", "pattern_total",
)  # fmt: skip
JUDGING_LIMITS = ("findings_per_rule", "findings_in_short", "rules", "rule_file", "pattern_bytes")


def case_id(name: str, files: Iterable[tuple[str, int | None, str]]) -> str:
    """Return what a case is, 32 hex digits: its name and its files as (relative name, size in bytes, SHA-256).

    The order of the files does not matter; a file that could not be read has "" for its hash.
    """
    digest = hashlib.sha256(_encode_line(_SEED, name))
    for file in sorted(files):
        digest.update(_encode_line(*map(str, file)))
    return digest.hexdigest()[:32]


def source_key(url: str) -> str:
    """Return the key of the place a case is read from, 16 hex digits; `url` is an absolute path or a URL.

    Two places of one key would hide each other's cases: with 8 digits 100,000 cases hold such a pair.
    """
    return hashlib.sha256(_encode_line(url)).hexdigest()[:16]


def state_key(url: str, files: Iterable[tuple[str, int, int]]) -> str:
    """Return a key for the files of a place as they look from outside, 32 hex digits: (name, size, mtime in ns).

    Two runs that find the same case agree on it before either has read a byte.
    """
    digest = hashlib.sha256(_encode_line("claim", url))
    for file in sorted(files):
        digest.update(_encode_line(*map(str, file)))
    return digest.hexdigest()[:32]


def reading_print(limits: Limits) -> str:
    """Return how cases are read here, 12 hex digits: tool version, parsers with their tables, templates, limits."""
    chosen = [f"{name}={getattr(limits, name)}" for name in READING_LIMITS]
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")  # dates the case document
    return hashlib.sha256(
        _encode_line(_SEED, __version__, _hash_artefacts(), epoch, *chosen)
    ).hexdigest()[:12]


def judging_print(
    reading: str, catalog: str, settings: Settings, limits: Limits, *, drafts: bool
) -> str:
    """Return how cases are judged here, 12 hex digits.

    reading   of `reading_print`
    catalog   hash of the rules (`Catalog.hash`)
    """
    chosen = [f"{name}={getattr(limits, name)}" for name in JUDGING_LIMITS]
    name = settings.file.replace("\\", "/").rpartition("/")[2]  # the document names the file
    parts = (reading, catalog, name, settings.hash, f"drafts={drafts}", *chosen)
    return hashlib.sha256(_encode_line(*parts)).hexdigest()[:12]


@cache
def _hash_artefacts() -> str:
    """Return the hash of all installed parsers, which declare the tables, and of all templates."""
    digest = hashlib.sha256()
    for package in ("analyzer.parsers", "analyzer.templates"):
        folder = Path(importlib.import_module(package).__path__[0])
        files = (file for file in folder.rglob("*") if file.suffix in (".py", ".textfsm"))
        for file in sorted(files, key=lambda file: file.name):
            digest.update(_encode_line(package, file.name) + file.read_bytes() + b"\0")
    here = Path(__file__).resolve().parent.parent
    for file in [
        here / "artefacts" / "tables.py",
        *sorted((here / "kb" / "facts").glob("*_build.csv")),
    ]:  # what a declaration means
        digest.update(_encode_line(file.name) + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _encode_line(*parts: str) -> bytes:
    """Return parts as one line that no other parts give; names that are no UTF-8 keep their bytes."""
    return b"\0".join(part.encode("utf-8", "surrogateescape") for part in parts) + b"\0\n"
