"""A signed catalog file: rules and facts apart from the program, checked before a file of it is written.

The file is a zip: `manifest.json` ({format, catalog, needs, files: path -> SHA-256}), `manifest.sig` (ed25519 over the
bytes of the manifest), and the files below `kb/`. The folder of catalogs has `current`, `previous` and `key`, the
public key that the first update brought; an update with another key is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from analyzer import __version__
from analyzer.facts.database import version_key
from analyzer.runtime.catalog_home import CURRENT, KEY, PREVIOUS
from analyzer.runtime.errors import RefusedError, UsageError

FORMAT = 1
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
FILE_MOST, ALL_MOST, FILES_MOST = 8 << 20, 64 << 20, 5000
_NAME = re.compile(r"kb(?:/[A-Za-z0-9][A-Za-z0-9_.-]{0,99}){1,3}\.(?:yaml|csv|toml)\Z")
_HEX_KEY = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """What a signed file brings: the name of the catalog, and its files by their path."""

    name: str
    files: dict[str, bytes]


def read_key(text: str) -> str:
    """Return a public key of 64 hex digits; UsageError when it is none."""
    key = text.strip().lower()
    if not _HEX_KEY.match(key):
        raise UsageError(
            "this is no public key", do="Give the 64 hex digits that come with the catalog."
        )
    return key


def read_catalog(path: Path, key: str) -> CatalogFile:
    """Return the content of a file whose signature and sums are right; RefusedError says what is not."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            if len(entries) != len(archive.infolist()) or len(entries) > FILES_MOST:
                raise _refuse(path, "it has too many files, or one twice")
            sizes = [entry.file_size for entry in entries.values()]
            if max(sizes, default=0) > FILE_MOST or sum(sizes) > ALL_MOST:
                raise _refuse(
                    path, f"it is larger than {ALL_MOST >> 20} MB, or one of its files is"
                )
            if MANIFEST not in entries or SIGNATURE not in entries:
                raise _refuse(path, "it is not signed")
            raw, signature = _read_entry(archive, MANIFEST), _read_entry(archive, SIGNATURE)
            _verify_signature(path, key, raw, signature)
            manifest = _read_manifest(path, raw)
            return CatalogFile(str(manifest["catalog"]), _read_files(path, archive, manifest))
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _refuse(path, f"it cannot be read ({type(error).__name__})") from None


def _read_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of an entry; what unpacks to more than a file may have is cut, and its sum is then wrong."""
    with archive.open(name) as stream:
        return stream.read(FILE_MOST + 1)


def _verify_signature(path: Path, key: str, raw: bytes, signature: bytes) -> None:
    try:
        signing = import_module("analyzer.rules.catalog_signature")
    except ImportError:
        raise UsageError(
            "signatures cannot be checked", do='Install the extra: pip install "backline[update]"'
        ) from None
    if not signing.is_signed(key, raw, signature):
        raise _refuse(path, "its signature is not by this key")


def _read_manifest(path: Path, raw: bytes) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(raw)
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(files, dict) or manifest.get("format") != FORMAT:
        raise _refuse(path, "its manifest has another form; a newer Backline may read it")
    own, needed = version_key(__version__), version_key(str(manifest.get("needs", "")))
    if needed is None or own is None or needed > own:
        raise _refuse(path, f"it is for Backline {manifest.get('needs')!r}; this is {__version__}")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,60}", str(manifest.get("catalog", ""))):
        raise _refuse(path, "its catalog has no name")
    return manifest


def _read_files(path: Path, archive: zipfile.ZipFile, manifest: dict[str, Any]) -> dict[str, bytes]:
    """Return the files that the manifest names; a file beside them, a path that leads elsewhere and a wrong sum are refused."""
    inside = set(archive.namelist()) - {MANIFEST, SIGNATURE}
    if inside != set(manifest["files"]):
        raise _refuse(path, "its files are not those of its manifest")
    found = {}
    for name, digest in manifest["files"].items():
        if not _NAME.match(name) or ".." in name:
            raise _refuse(path, f"{name[:80]!r} is no path of a catalog")
        content = _read_entry(archive, name)
        if hashlib.sha256(content).hexdigest() != digest:
            raise _refuse(path, f"{name[:80]!r} is not what was signed")
        found[name] = content
    if not found:
        raise _refuse(path, "it is empty")
    return found


def _refuse(path: Path, why: str) -> RefusedError:
    return RefusedError("the catalog file is refused", where=str(path), why=why)


def install_catalog(path: Path, home: Path, key: str = "") -> CatalogFile:
    """Put a catalog into a folder of catalogs and keep the one before; the first key stays pinned."""
    pinned = home / KEY
    if pinned.is_file():
        own = read_key(pinned.read_text(encoding="utf-8"))
        if key and read_key(key) != own:
            raise _refuse(path, f"{pinned} pins another key")
        key = own
    elif not key:
        raise UsageError("no key is known yet", do="Give the public key once with --key.")
    found = read_catalog(path, read_key(key))
    home.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="new-", dir=home))
    try:
        for name, content in found.files.items():
            target = fresh / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        (fresh / "NAME").write_text(found.name + "\n", encoding="utf-8")
        if (home / CURRENT).exists():
            shutil.rmtree(home / PREVIOUS, ignore_errors=True)
            (home / CURRENT).replace(home / PREVIOUS)
        fresh.replace(home / CURRENT)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    pinned.write_text(read_key(key) + "\n", encoding="utf-8")
    return found


def restore_previous(home: Path) -> str:
    """Change the current catalog with the one before; return the name of what is current then."""
    if not (home / PREVIOUS).is_dir():
        raise UsageError("there is no catalog to go back to", where=str(home))
    aside = home / "aside"
    if (home / CURRENT).exists():
        (home / CURRENT).replace(aside)
    (home / PREVIOUS).replace(home / CURRENT)
    if aside.exists():
        aside.replace(home / PREVIOUS)
    return (home / CURRENT / "NAME").read_text(encoding="utf-8").strip()
