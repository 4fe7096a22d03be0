"""Certificates of X.509 as PEM or as `openssl x509 -text` prints them, for the parsers of those that print them.

Of X.509 (RFC 5280) the validity and the common names are read. No private key is read, here or anywhere.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import datetime

from analyzer.artefacts.logtime import FIRST_YEAR, LAST_YEAR
from analyzer.artefacts.parsing import fault_at
from analyzer.artefacts.tables import Block, Column, ColumnValueError, Fault, Value, convert_cell

COLUMNS = (
    Column("subject_name", "str", "common name of the owner"),
    Column("issuer_name", "str", "common name of the issuer"),
    Column("valid_from", "time", "first moment at which it holds"),
    Column("valid_until", "time", "moment at which it expires"),
)

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_MOST = 400  # lines of one certificate
_COMMON_NAME = bytes.fromhex("0603550403")  # the OID 2.5.4.3
_TEXT = re.compile(r"\s*(?P<label>Not Before|Not After|Issuer|Subject)\s*:\s*(?P<value>.+?)\s*$")
# Many certificates are to hold for ever, to the year 9999: that is no wrong clock. The last year that is read says it.
_END_OF_TIME = re.compile(r"\b(?:2[1-9]|[3-9]\d)\d\d(?= GMT$)")
_CN = re.compile(r"\bCN\s*=\s*(?P<name>[^,/]+)")


Found = Iterator[tuple[int, dict[str, Value]] | Fault]


def read_certificates(block: Block, parser: str) -> Found:
    """Yield line and cells of COLUMNS of each certificate, PEM or text; one that is cut or broken is a fault."""
    held: list[str] | None = None
    begun = 0
    text: dict[str, Value] = {}
    for number, line in enumerate(block.lines, block.first_line):
        bare = line.strip()
        if bare == _BEGIN:
            held, begun = [], number
        elif bare == _END and held is not None:
            yield from _read_pem(block, parser, "".join(held), begun)
            held = None
        elif held is not None and len(held) < _MOST:
            held.append(bare)
        elif found := _TEXT.match(line):
            yield from _take_text_line(block, parser, text, found["label"], found["value"], number)
    if held is not None:
        yield fault_at(block, begun, parser, "a certificate without an end")
    if text.get("valid_until"):
        yield int(text["line"] or 0), {column.name: text.get(column.name) for column in COLUMNS}


def _take_text_line(
    block: Block, parser: str, text: dict[str, Value], label: str, value: str, number: int
) -> Found:
    """Take a line of `openssl x509 -text`; the issuer begins a further certificate."""
    if label == "Issuer" and text.get("valid_until"):
        yield int(text["line"] or 0), {column.name: text.get(column.name) for column in COLUMNS}
        text.clear()
    if label in ("Issuer", "Subject"):
        name = _CN.search(value)
        text[f"{label.lower()}_name"] = name["name"].strip() if name else None
        return
    column = COLUMNS[2 if label == "Not Before" else 3]
    try:
        text[column.name] = convert_cell(column, _END_OF_TIME.sub(str(LAST_YEAR), value))
        text["line"] = number
    except ColumnValueError as error:
        yield fault_at(block, number, parser, str(error))


def _read_pem(block: Block, parser: str, encoded: str, line: int) -> Found:
    """Yield the cells of a certificate in base 64: of its fields, the version left out, the third to the fifth."""
    try:
        certificate = list(_read_values(base64.b64decode(encoded, validate=True)))
        _, body = next(_read_values(certificate[0][1]))
        fields = [value for tag, value in _read_values(body) if tag != 0xA0]
        issuer = fields[2]
        validity = fields[3]
        subject = fields[4]
        subject_name, issuer_name = _find_common_name(subject), _find_common_name(issuer)
        start, end = (_read_time(tag, value) for tag, value in list(_read_values(validity))[:2])
    except (binascii.Error, ValueError, IndexError, StopIteration) as error:
        yield fault_at(block, line, parser, f"no certificate of X.509: {type(error).__name__}")
        return
    cells: dict[str, Value] = {
        "subject_name": subject_name,
        "issuer_name": issuer_name,
        "valid_from": start,
        "valid_until": end,
    }
    yield line, cells


def _read_values(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of each value of DER; raises ValueError where one reaches over the end."""
    at = 0
    while at < len(data):
        tag = data[at]
        length = data[at + 1]
        at = at + 2
        if length > 0x80:
            size = length & 0x7F
            length = int.from_bytes(data[at : at + size], "big")
            at = at + size
        if at + length > len(data):
            raise ValueError("a value reaches over the end")
        yield tag, data[at : at + length]
        at += length


def _read_time(tag: int, value: bytes) -> str:
    """Return UTCTime or GeneralizedTime as UTC; of two digits of a year those below 50 are of this century."""
    form = "%y%m%d%H%M%SZ" if tag == 0x17 else "%Y%m%d%H%M%SZ"
    found = datetime.strptime(value.decode("ascii"), form)
    if tag == 0x17 and found.year >= 2050:
        year = found.year - 100
    else:
        year = min(max(found.year, FIRST_YEAR), LAST_YEAR)
    return found.replace(year=year).strftime("%Y-%m-%d %H:%M:%S")


def _find_common_name(data: bytes) -> str | None:
    """Return the common name of a distinguished name."""
    at = data.find(_COMMON_NAME)
    if at < 0:
        return None
    found = next(_read_values(data[at + len(_COMMON_NAME) :]), None)
    if found:
        return found[1].decode("utf-8", "replace")
    return None
