"""Makes a signed catalog file of a folder of rules and facts: see docs/catalog-update.md.

python tools/sign_catalog.py --new-key secret.key          a key; prints the public one
python tools/sign_catalog.py kb catalog.zip --key secret.key --name 2026-12-01 --needs 0.9
"""

from __future__ import annotations

import argparse
import hashlib
import json
import zipfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from analyzer import __version__
from analyzer.rules.signed_catalog import FORMAT, MANIFEST, SIGNATURE

ENDINGS = (".yaml", ".csv", ".toml")


def make_key(path: Path) -> str:
    """Write a new secret key that only its owner can read; return the public one."""
    secret = Ed25519PrivateKey.generate()
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(secret.private_bytes_raw().hex() + "\n", encoding="utf-8")
    return secret.public_key().public_bytes_raw().hex()


def sign_catalog(folder: Path, target: Path, secret: str, name: str, needs: str) -> None:
    """Write the signed file of a folder of rules; the same folder gives the same bytes."""
    files = {
        f"kb/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in ENDINGS
    }
    sums = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    manifest = {"format": FORMAT, "catalog": name, "needs": needs, "files": sums}
    raw = json.dumps(manifest, sort_keys=True).encode()
    signature = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret)).sign(raw)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in {MANIFEST: raw, SIGNATURE: signature, **files}.items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path, nargs="?")
    asked.add_argument("target", type=Path, nargs="?")
    asked.add_argument("--new-key", type=Path)
    asked.add_argument("--key", type=Path)
    asked.add_argument("--name", default="")
    asked.add_argument("--needs", default=__version__)
    given = asked.parse_args()
    if given.new_key:
        print(make_key(given.new_key))
    elif given.folder and given.target and given.key and given.name:
        sign_catalog(
            given.folder, given.target, given.key.read_text().strip(), given.name, given.needs
        )
    else:
        asked.error("give --new-key, or FOLDER TARGET --key --name")


if __name__ == "__main__":
    main()
