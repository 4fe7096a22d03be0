"""Fetch the libraries that lie in analyzer/report/vendor and write their sums to vendor.toml.

Run by hand when a library is to be renewed, never at build time:
`python tools/vendor.py`. It needs npm and the network.
"""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[1] / "analyzer/report/vendor"
NAME, VERSION = "uplot", "1.6.32"
SOURCE = f"https://registry.npmjs.org/{NAME}/-/{NAME}-{VERSION}.tgz"
FILES = {
    "uplot.iife.min.js": "package/dist/uPlot.iife.min.js",
    "uplot.min.css": "package/dist/uPlot.min.css",
    "uplot.LICENSE": "package/LICENSE",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", f"{NAME}@{VERSION}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(Path(folder) / f"{NAME}-{VERSION}.tgz") as archive:
            for name, inner in FILES.items():
                member = archive.extractfile(inner)
                if member is None:
                    raise SystemExit(f"{SOURCE}: no file {inner}")
                (VENDOR / name).write_bytes(member.read())
    (VENDOR / "vendor.toml").write_text(format_listing(), encoding="utf-8")


def format_listing() -> str:
    """Return vendor.toml for the files that lie in the folder now."""
    lines = [
        "# Written by tools/vendor.py.",
        "[[library]]",
        f'name = "{NAME}"',
        f'version = "{VERSION}"',
        'license = "MIT"',
        f'source = "{SOURCE}"',
        "",
        "[library.sha256]",
    ]
    for name in FILES:
        lines.append(f'"{name}" = "{hashlib.sha256((VENDOR / name).read_bytes()).hexdigest()}"')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
