"""A long text inside a page: gzip in base64, which a browser and `base64 -d | gunzip` both read."""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib

from analyzer.runtime.errors import RefusedError

MOST_BYTES = 64 << 20  # of an unpacked text: sixteen times what a report packs
_SYSTEM = 9  # byte of the head that names the system: the versions of Python write different ones
_BLOCK = re.compile(
    r'<script type="application/(?P<kind>json|gzip)" id="case">(?P<body>[^<]*)</script>'
)

_PACKED = re.compile(r'(<script type="application/gzip" id="[a-z]+">)([^<]+)(</script>)')


def pack_text(text: str) -> str:
    """Return a text packed as ASCII; the same text gives the same bytes on every system with the same zlib."""
    packed = bytearray(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    packed[_SYSTEM] = 255
    return base64.b64encode(packed).decode()


def unpack_text(packed: str) -> str:
    """Return what `pack_text` was given; ValueError when it is damaged, or longer than `MOST_BYTES`."""
    reader = zlib.decompressobj(wbits=31)
    try:
        text = reader.decompress(base64.b64decode(packed, validate=True), MOST_BYTES)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"it is damaged: {error}") from None
    if not reader.eof:
        raise ValueError(f"it is cut short, or longer than {MOST_BYTES >> 20} MB")
    return text.decode()


def open_packed_texts(page: str) -> str:
    """Return a page with the texts that it carries packed as they are; what cannot be unpacked stays."""

    def open_packed(block: re.Match[str]) -> str:
        try:
            return f"{block[1]}{unpack_text(block[2])}{block[3]}"
        except ValueError:
            return block[0]

    return _PACKED.sub(open_packed, page)


def find_case_text(page: str, where: str) -> str | None:
    """Return the case document that a report carries, packed or plain as reports had it before; None when it is no report."""
    if not page[:100].lstrip().lower().startswith("<!doctype html"):
        return None
    block = _BLOCK.search(page)
    if block is None:
        why = "this page carries no case document"
    elif block["kind"] == "json":
        return block["body"]
    else:
        try:
            return unpack_text(block["body"])
        except ValueError as error:
            why = f"the case document in this page cannot be read: {error}"
    raise RefusedError(
        "this report cannot be read back",
        where=where,
        why=why,
        do="Give the case.json that lies beside it, or run triage again with the bundle.",
    )
