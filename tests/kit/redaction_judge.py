"""Holds what a case gave redacted against what it gave plain, by eyes of its own: it knows the written files and the map.

Nothing of the product is imported. A name is sought by its letters and digits alone, in every reading of a text; a
redacted text is what is left of the plain one when each pseudonym may stand for anything.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

Reverse = Callable[[list[str]], list[str]]

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_PACKED = re.compile(r"<script type=\"application/gzip\"[^>]*>([A-Za-z0-9+/=\s]+)</script>")
_QUAD = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_PLAIN_WORDS = re.compile(r"[^\W_]+")
EXACT = True  # a name comes back in the case, and with the signs, in which it stood
LEAST = 5  # letters and digits of a name that is sought in running text
# Keys whose texts are words of the product, whatever things are called.
PRODUCT_KEYS = frozenset(
    (
        "title", "rule", "rules", "kind", "state", "verdict", "severity", "confidence", "status", "reason", "missing", "table",
        "unit", "product", "version", "build", "read_by", "sha256", "fix", "kb", "links", "schema", "release",
    )
)  # fmt: skip
# Keys whose texts are one name and nothing else.
NAME_KEYS = frozenset(
    ("vm", "name", "node", "object", "subject", "portgroup", "switch", "nodes", "subjects")
)
# What a redacted document says of itself; signals are worded anew from their redacted line.
OWN_KEYS = frozenset(("masked", "map", "settings", "signals", "site"))


@dataclass(slots=True)
class Made:
    """What one scene gave: texts of its files and commands by their names, plain and redacted, and the map."""

    plain: dict[str, str] = field(default_factory=dict)
    redacted: dict[str, str] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)  # kind -> original -> pseudonym
    reverse: Reverse | None = None  # redacted texts -> plain ones, as the product does it


@dataclass(slots=True)
class Truth:
    """What is true of a scene.

    gone     names, addresses and ids that may stand nowhere in what is redacted
    words    names that are words of the product, too: gone from the fields that hold a name
    secrets  what may stand nowhere, redacted or not
    """

    gone: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def judge_made(truth: Truth, made: Made) -> list[str]:
    """Return what is not as the truth says, each as a sentence."""
    wrong = [f"left: {one}" for one in find_left(truth.gone, made.redacted)]
    wrong += [f"secret: {one}" for one in find_secrets(truth.secrets, made.plain, "plain ")]
    wrong += [f"secret: {one}" for one in find_secrets(truth.secrets, made.redacted, "redacted ")]
    issued = list_pseudonyms(made.names)
    for name, text in made.plain.items():
        if not name.endswith("case.json") or name not in made.redacted:
            continue
        before, after = json.loads(text), json.loads(made.redacted[name])
        wrong += [f"{name}: {one}" for one in compare_values(before, after, issued, truth.words)]
    for name in made.plain.keys() & made.redacted.keys():
        if name.endswith((".md", "mail", "terminal")):
            wrong += [
                f"{name}: {one}"
                for one in compare_texts(made.plain[name], made.redacted[name], issued)
            ]
    if made.reverse is not None:
        wrong += judge_reversed(made, made.reverse)
    return wrong


# -- names that are left --------------------------------------------------------------------------------------


def read_text(text: str) -> Iterator[str]:
    """Yield a text in the ways in which somebody may read it: as it is, and with its codes read."""
    for packed in _PACKED.findall(text):
        yield gzip.decompress(base64.b64decode(packed)).decode("utf-8", errors="replace")
    yield text
    opened = _ESCAPE.sub(
        lambda one: chr(int(one[1], 16)), unquote(html.unescape(text), errors="replace")
    )
    if opened != text:
        yield opened


def bare_text(text: str) -> str:
    """Return the letters and digits of a text, without marks, in small letters."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(
        _PLAIN_WORDS.findall("".join(sign for sign in plain if not unicodedata.combining(sign)))
    )


def find_left(names: Iterable[str], texts: Mapping[str, str]) -> list[str]:
    """Return where a name is left, once a text and name."""
    wanted = [(name, bare_text(name)) for name in dict.fromkeys(names)]
    found: dict[str, list[str]] = {}
    for place, text in texts.items():
        readings = list(dict.fromkeys([place, *read_text(text)]))
        bare = [bare_text(one) for one in readings]
        for name, signs in wanted:
            if _QUAD.fullmatch(name):
                pattern = rf"(?<![\d.])(?:{r'[^0-9A-Za-z]{1,3}'.join(name.split('.'))})(?!\d|\.\d)"
                hit = next((one for one in readings if re.search(pattern, one)), None)
            elif len(signs) >= LEAST:
                hit = next(
                    (one for one, low in zip(readings, bare, strict=True) if signs in low), None
                )
            else:
                pattern = rf"(?<![^\W_]){re.escape(name.casefold())}(?![^\W_])"
                hit = next((one for one in readings if re.search(pattern, one.casefold())), None)
            if hit is not None:
                found.setdefault(name, []).append(f"{place}: {show_place(hit, name)}")
    return [f"{name!r} in {len(some)} texts, {some[0]}" for name, some in found.items()]


def show_place(text: str, name: str) -> str:
    """Return what stands around a name, for a message."""
    letters = r"[^0-9A-Za-z\n]{0,8}".join(map(re.escape, _PLAIN_WORDS.findall(name))) or re.escape(
        name
    )
    hit = re.search(letters, text, re.IGNORECASE)
    return repr(text[max(hit.start() - 60, 0) : hit.end() + 40]) if hit else "written otherwise"


def find_secrets(secrets: Iterable[str], texts: Mapping[str, str], what: str) -> list[str]:
    """Return where a secret value stands, as it is or encoded."""
    found = []
    for place, text in texts.items():
        readings = list(read_text(text))
        for secret in secrets:
            code = base64.b64encode(secret.encode()).decode().rstrip("=")
            if any(one in reading for reading in readings for one in (secret, code)):
                found.append(f"{secret!r} in {what}{place}: {show_place(text, secret)}")
    return found


# -- what stays ------------------------------------------------------------------------------------------------


def list_pseudonyms(names: Mapping[str, Mapping[str, str]]) -> re.Pattern[str]:
    """Return a pattern of what may stand for a name: pseudonyms of the map, addresses and ids, in any spelling."""
    issued = {
        other for kind, known in names.items() if "networks" not in kind for other in known.values()
    }
    slugs = {re.sub(r"[^a-z0-9]+", "-", one.casefold()).strip("-") for one in issued}  # as ids are
    parts = {
        part for one in issued | slugs for part in (one, re.sub(r"\d+", "N", one)) if len(part) > 1
    }
    listed = "|".join(re.escape(one) for one in sorted(parts, key=lambda one: (-len(one), one)))
    ids = r"[0-9a-fx]*(?:[0-9a-f][ :.-]?){6,}[0-9a-f]*(?![^\W_])|\d{1,3}(?:[.-]\d{1,3}){3}|[0-9a-f:]*::[0-9a-f:]*"
    # As docs/redact.md says: kind and number, letters of another form of the name, `anon`
    kinds = "host|vm|user|domain|datastore|portgroup|switch|label|ticket|address|encoded|cut|word|file|folder|serial"
    word = rf"(?<![^\W_])(?:{kinds}|t10\.example-|[in]qn\.[a-z0-9.-]*:)(?:\d+|n|#)[a-z]{{0,80}}?anon(?:[.-]example)?"
    return re.compile(rf"(?:{word}|{listed or '(?!)'}|{ids}|…)", re.IGNORECASE)


def matches_opened(plain: str, redacted: str, issued: re.Pattern[str]) -> bool:
    """Say whether a redacted text is the plain one with pseudonyms in the place of some stretches."""
    if plain == redacted:
        return True
    at = 0
    pieces = issued.split(redacted)
    for place, piece in enumerate(pieces):
        if place == len(pieces) - 1 and piece:
            return plain.casefold().endswith(piece.casefold()) and len(plain) - len(piece) >= at
        where = plain.casefold().find(piece.casefold(), at)
        if where < 0 or (place == 0 and where):
            return False
        at = where + len(piece)
    return len(pieces) > 1


def compare_values(
    before: Any, after: Any, issued: re.Pattern[str], words: tuple[str, ...], key: str = ""
) -> Iterator[str]:
    """Yield what differs between two documents and is no name."""
    if isinstance(before, dict) and isinstance(after, dict):
        before, after = leave_own(before), leave_own(after)
        if len(before) != len(after):
            yield f"{key}: {len(before)} keys became {len(after)}"
        for (name, one), (other_name, other) in zip(before.items(), after.items(), strict=False):
            if not matches_opened(name, other_name, issued):
                yield f"key {name!r} became {other_name!r}"
            is_chart = name == "title" and "rule" not in before and "rows" not in before
            yield from compare_values(one, other, issued, words, "chart" if is_chart else name)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{key}: {len(before)} became {len(after)}"
        for one, other in zip(before, after, strict=False):
            yield from compare_values(one, other, issued, words, key)
    elif isinstance(before, str) and isinstance(after, str):
        if key in PRODUCT_KEYS and before != after:
            yield f"{key}: text of the product {before!r} became {after!r}"
        elif not matches_opened(before, after, issued):
            yield f"{key}: {before[:200]!r} became {after[:200]!r}"
        elif key in NAME_KEYS and after in words:
            yield f"{key}: the name {after!r} stayed"
    elif before != after:
        yield f"{key}: {before!r} became {after!r}"


def compare_texts(plain: str, redacted: str, issued: re.Pattern[str]) -> Iterator[str]:
    """Yield what a redacted text says and the plain one does not, in their order; how lines are broken is no matter."""
    flat = "".join(plain.split()).casefold()
    at = 0
    for line in redacted.splitlines():
        if re.search(r"pseudonym|redact|revision|map of names", line, re.IGNORECASE):
            continue
        for piece in issued.split(line):
            seek = "".join(piece.split()).casefold().strip("*`\\│─|")
            if len(seek) < LEAST:
                continue
            where = flat.find(seek, at)
            if where < 0 and flat.find(seek) < 0:
                yield f"says {piece.strip()[:120]!r}, and the plain text does not"
            elif where >= 0:
                at = where if where - at < 4000 else at


def judge_reversed(made: Made, reverse: Reverse) -> list[str]:
    """Return the texts of a document that do not come back when it is reversed."""
    wrong = []
    for name, text in made.redacted.items():
        if name.endswith("case.json") and name in made.plain:
            before = list_strings(json.loads(made.plain[name]))
            after = reverse(list_strings(json.loads(text)))
            both = dict.fromkeys(zip(before, after, strict=False))
            wrong += [
                f"{name} reversed: {one[:160]!r} is {other[:160]!r}"
                for one, other in both
                if not is_same(one, other)
            ]
    return wrong


def is_same(plain: str, reversed_text: str) -> bool:
    """Say whether a text came back; one that held codes is shown as it reads, and a name within a code is lost."""
    if plain == reversed_text or "\u2026" in reversed_text:
        return True
    plain, reversed_text = (
        list(read_text(text))[-1].replace("\u200b", "") for text in (plain, reversed_text)
    )
    return plain == reversed_text if EXACT else bare_text(plain) == bare_text(reversed_text)


def leave_own(value: dict[str, Any]) -> dict[str, Any]:
    """Return a record without what a redacted document says of itself."""
    return {key: inner for key, inner in value.items() if key not in OWN_KEYS}


def list_strings(value: Any) -> list[str]:
    """Return all texts of a document, in their order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [
            text
            for name, inner in leave_own(value).items()
            for text in [name, *list_strings(inner)]
        ]
    if isinstance(value, list):
        return [text for inner in value for text in list_strings(inner)]
    return []


def read_folder(folder: Path) -> dict[str, str]:
    """Return the texts of all files below a folder, by their path in it."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
