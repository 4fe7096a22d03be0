"""Looks for names of a case in everything that may be handed out with a redacted report.

    python tests/kit/redaction_check.py FOLDER NAME...

It uses the standard library alone and shares no code with the product: it knows the originals from who made the case.
Exit code 1 and a line for each place where one is left. Names of three characters and less are looked for as whole words.
"""

from __future__ import annotations

import base64
import gzip
import html
import re
import sys
import urllib.parse
import zipfile
from collections.abc import Iterator
from pathlib import Path

INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]|<wbr ?/?>|&shy;", re.IGNORECASE)


def spellings(name: str) -> set[str]:
    """Return how a name may be written: as it is, its first label, with other separators, encoded; in lower case."""
    found = {name}
    if re.fullmatch(r"(?:[0-9a-fA-F]{2}[:-]){5,15}[0-9a-fA-F]{2}", name) or re.fullmatch(
        r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]+)+", name
    ):
        digits = re.sub(r"[^0-9a-fA-F]", "", name)
        found |= {digits, "-".join(re.findall("..", digits)), " ".join(re.findall("..", digits))}
    if (
        re.fullmatch(r"[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+", name)
        and len(name.split(".", maxsplit=1)[0]) > 3
    ):
        found.add(name.split(".", maxsplit=1)[0])
    if name.startswith(("naa.", "eui.")):
        found.add(name[4:])
    if re.fullmatch(r"\d+(?:\.\d+){3}", name):
        found.add(name.replace(".", "-"))
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    found |= {slug} if len(slug) > 4 else set()
    found |= {urllib.parse.quote(name), html.escape(name), name.encode("unicode_escape").decode()}
    if len(name) > 5:
        found.add(name.encode().hex())
        for start in range(3):
            code = base64.b64encode(b"\0" * start + name.encode()).decode().rstrip("=")
            found.add(code[(0, 2, 3)[start] : len(code) - 1])
    return {one.lower() for one in found if one}


def readings(raw: bytes) -> Iterator[str]:
    """Yield the text of a file in every way in which somebody may read it, in lower case."""
    text = raw.decode("utf-8", errors="replace")
    yield text.lower()
    bare = INVISIBLE.sub("", html.unescape(text))
    yield bare.lower()
    yield urllib.parse.unquote(bare, errors="replace").lower()
    yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda one: chr(int(one[1], 16)), text).lower()
    if b"\0" in raw:
        yield raw.decode("utf-16-le", errors="replace").lower()


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of all files below a folder, those inside of ZIP and gzip as well."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        if not path.is_file():
            continue
        raw = path.read_bytes()
        yield str(path.relative_to(folder)) if path != folder else path.name, raw
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as inside:
                for name in inside.namelist():
                    yield f"{path.name}!{name}", inside.read(name)
        elif raw[:2] == b"\x1f\x8b":
            yield f"{path.name}!", gzip.decompress(raw)


def left(folder: Path, names: list[str]) -> list[str]:
    """Return a line for each name that is left in a file, or in the name of one."""
    wanted = [(name, [(one, _pattern(one)) for one in sorted(spellings(name))]) for name in names]
    found = []
    for path, raw in files(folder):
        texts = list(dict.fromkeys([path.lower(), *readings(raw)]))
        for name, ways in wanted:
            for one, pattern in ways:
                if any(one in text and (pattern is None or pattern.search(text)) for text in texts):
                    found.append(f"{path}: {name!r} as {one!r}")
                    break
    return found


def _pattern(one: str) -> re.Pattern[str] | None:
    """Return the pattern of a short name and of an address, which must stand alone; None for all others."""
    if re.fullmatch(r"\d+(?:\.\d+){3}", one):
        return re.compile(rf"(?<![\d.]){re.escape(one)}(?![\d]|\.\d)")
    if len(one) > 3:
        return None
    return re.compile(rf"(?<![a-z0-9]){re.escape(one)}(?![a-z0-9])")


def planted(path: Path) -> list[str]:
    """Return the names in a file, one a line."""
    return [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]


if __name__ == "__main__":
    lines = left(Path(sys.argv[1]), sys.argv[2:])
    print("\n".join(lines) or "no name is left")
    sys.exit(bool(lines))
