"""Tells a name from a word of the product: a VM may be called `error`, and then not every `error` is that VM."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from analyzer.redact.signs import DEFAULT_NAMES, DEVICES, SYSTEM_USERS

_COMPOUND = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_RUN = re.compile(r"[^\W\d_]+")
OWN_HEADS = ("iqn.1998-01.com.example:id-", "nqn.2014-08.com.example:id-")  # of pseudonyms
LEAST_ANYWHERE = 5  # characters of a name that is replaced inside of other words, too
# Names that every host has; they tell nothing of anybody.
KEPT = DEFAULT_NAMES | {
    "vm", "management", "localdomain", "::1", "::", "example", "bootbank", "altbootbank", "bootbank1", "bootbank2",
    "scratch",
    "osdata", "locker", "vmkernel", "vmotion", "ovfenv", "vcls", "fault tolerance", "127.0.0.1", "0.0.0.0",
}  # fmt: skip


def words_of(texts: Iterable[str], *, digits: bool = False) -> set[str]:
    """Return the words of texts in lower case; with `digits` also those that hold a number."""
    found: set[str] = set()
    for text in texts:
        low = text.lower()
        found.update(_RUN.findall(low))
        found.update(
            word for word in _COMPOUND.findall(low) if digits or word.replace("-", "").isalpha()
        )
    return {word for word in found if len(word) < 40}


@cache
def _product() -> str:
    """The words of the product, one a line; `tools/docs.py` writes them."""
    return "\n" + (Path(__file__).parent / "words.txt").read_text(encoding="utf-8")


@cache
def _product_words() -> frozenset[str]:
    return frozenset(_product().split("\n"))


@cache
def _page_words() -> str:
    """What every page of a report holds, in lower case."""
    room = Path(__file__).parent.parent / "report"
    files = sorted(path for end in ("html", "css", "js") for path in room.rglob(f"*.{end}"))
    return "\n".join(path.read_text(encoding="utf-8") for path in files).lower()


def is_product_word(name: str) -> bool:
    """Say whether a name, in lower case, is a word of the product, or none at all: too short, a number."""
    if len(name) < 3 or name.isdecimal() or name in _product_words():
        return True
    return not _COMPOUND.fullmatch(name) and name in _page_words()


def has_word(low: str) -> bool:
    """Say whether a word, in lower case, is one that the product itself says."""
    return low in _product_words()


def inside_product_word(name: str) -> bool:
    """Say whether a name, in lower case, is a part of a word that the product itself says."""
    return name in _product()


def inside_product_compound(form: str) -> bool:
    """Say whether a form of a name, in lower case, may be a part of words that the product joins: `edge_n` of a column."""
    first, *inner = re.split(r"[ _.-]", form)
    if not inner:
        return False
    last = inner.pop()
    return (
        f"{first}\n" in _product()
        and f"\n{last}" in _product()
        and _product_words().issuperset(inner)
    )


def is_kept(kind: str, name: str) -> bool:
    """Say whether a name stays as it is: every host has one that is called so."""
    low = name.lower()
    if "." in low and any(low in head for head in OWN_HEADS):
        return True
    if low in KEPT:
        return kind not in ("vm", "input")
    if kind == "user":
        return low in SYSTEM_USERS
    if kind in ("ipv4", "ticket", "serial") and has_word(low):
        return True  # what rules speak of: `2.4.1.0` of a driver, the number of an article, `-000001.vmdk`
    return kind != "vm" and bool(
        DEVICES.fullmatch(name) or re.fullmatch(r"(?i)DvsPortset-\d+", name)
    )
