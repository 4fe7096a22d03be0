"""What a file is by its first bytes: archive, text, why it is refused, no material at all, or like a log or a table."""

from __future__ import annotations

import json
import re

from analyzer.sources import codecs, tarheader

_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK00PK\x03\x04", b"PK\x07\x08PK\x03\x04")
_ASCII = bytes(range(128))
_NO_CONTROLS = bytes(range(32, 256)) + b"\t\r\n\f\x1b\x08"
_KNOWN = (
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program or core dump (ELF)"),
    (b"MZ", "a Windows program"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive, which is not read here: pack it as .tgz or .zip"),
    (b"Rar!", "a RAR archive, which is not read here: pack it as .tgz or .zip"),
    (b"\x04\x22\x4d\x18", "an LZ4 file, which is not read here: pack it as .tgz or .zip"),
    (b"LZIP", "an lzip file, which is not read here: pack it as .tgz or .zip"),
    (b"\x89LZO", "an lzop file, which is not read here: pack it as .tgz or .zip"),
    (b"]\0\0\x80\0", "an old LZMA file, which is not read here: pack it as .tgz or .zip"),
    (b"\x1f\x9d", "a compress (.Z) file, which is not read here: pack it as .tgz or .zip"),
    (b"MSCF", "a cabinet archive, which is not read here: pack it as .zip"),
    (b"SQLite format 3", "an SQLite database"),
    (b"{\\rtf", "an RTF document: save it as plain text"),
    (b"\xd0\xcf\x11\xe0", "an old Office document: save it as plain text"),
    (b"\xd4\xc3\xb2\xa1", "a packet capture"),
    (b"\xa1\xb2\xc3\xd4", "a packet capture"),
    (b"\x0a\x0d\x0d\x0a", "a packet capture"),
    (b"KDMV", "a virtual disk"),
    (b"PAR1", "a Parquet file"),
    (b"-----BEGIN PGP MESSAGE", "a file encrypted with PGP: decrypt it first"),
    (b"Salted__", "a file encrypted with OpenSSL: decrypt it first"),
)


def is_zip(head: bytes) -> bool:
    """Say whether a zip starts here."""
    return head.startswith(_ZIP)


def is_tar(head: bytes) -> bool:
    """Say whether a tar starts here, by checksum; leading zero blocks and one bad header are allowed.

    head  the first 512 bytes at least, better 64 KiB
    """
    for at in range(0, len(head) - 511, 512):
        block = head[at : at + 512]
        if at and block[257:262] == b"ustar" and tarheader.parse_header(block):
            return True
        if not at and tarheader.parse_header(block):
            # 512 bytes of digits could carry their own sum by chance; a name is the least to ask for.
            return bool(block[0]) or block[257:262] == b"ustar"
    return False


def maybe_tar(head: bytes) -> bool:
    """Say from 512 bytes whether it is worth looking at 64 KiB for a damaged tar."""
    return head[257:262] == b"ustar" or (len(head) >= 512 and not head[:512].strip(b"\0"))


def may_be_page(head: bytes) -> bool:
    """Say quickly whether a web page, a mail or a part of its source may start here; `webpage` looks closer."""
    lower = head.lower()
    if b"<html" in lower[:2048] or b"<!doctype" in lower[:64] or b"mime-version:" in lower:
        return True
    breaks_lines = b"=\n" in head or b"=\r\n" in head
    return breaks_lines and (b"=3D" in head or b"=20" in head)


def find_refusal(head: bytes) -> str:
    """Return what a top-level file looks like when it is neither archive nor text, else ""."""
    if not head:
        return "empty"
    if not head.strip(b"\0"):
        return "only zero bytes"
    lower = head[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if lower.startswith((b"<!doctype html", b"<html")) or (b"<html" in lower and b"<head" in lower):
        return "HTML (session expired?): download it again"
    for magic, what in _KNOWN:
        if head.startswith(magic) and (magic != b"MZ" or not _is_text(head)):
            return what
    if head[257:262] == b"ustar":
        return "a damaged tar archive without a readable header: ask for it again"
    return "" if _is_text(head) else "binary data"


def _is_text(head: bytes) -> bool:
    """Say whether bytes are text: UTF-8, UTF-16 or Latin-1, with holes of NULs allowed."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    # Every other byte is a NUL: UTF-16 of Western text without a mark.
    if half > 0 and max(even, odd) > half * 0.9 and min(even, odd) < half * 0.1:
        return True
    text = head.replace(b"\0", b"")
    if not text:
        return False
    mostly_nuls = len(text) < len(head) // 2
    if mostly_nuls and b"\n" not in text and b"\r" not in text:
        return False
    control = len(text.translate(None, _NO_CONTROLS))
    if control > 2 + len(text) // 20:
        return False
    high = len(text.translate(None, _ASCII))
    if high <= len(text) // 4:
        return True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(text) - 8  # a character cut by the end of the look-ahead
    return True


# --- files that come along with support material and are none ---
#
# Files that come along with support material and are none: office documents, pictures, bookkeeping of a desktop.
#
# They are named as given and not read, and are no loss: a case is complete without them. What the content shows counts
# more than a name: a damaged bundle that is called `x.png` is a damaged bundle.

NOT_MATERIAL = "not diagnostic material"  # what the reason of such a record begins with

_BEGINS = (
    (b"%PDF", "a PDF document"),
    (b"{\\rtf", "an RTF document: save it as plain text if it holds output"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Office document or mail: save it as plain text if it holds output",
    ),
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"II*\0", "a picture (TIFF)"),
    (b"MM\0*", "a picture (TIFF)"),
    (b"\x1aE\xdf\xa3", "a video"),
    (b"ID3", "a sound"),
    (b"OggS", "a sound or video"),
    (b"\0\5\x16\7", "file attributes of macOS"),
    (b"\0\0\0\1Bud1", "a folder view of macOS"),
    (b"L\0\0\0\x01\x14\x02\0", "a shortcut of Windows"),
    (b"\x78\x9f\x3e\x22", "a mail attachment of Outlook"),
)
_BOX = re.compile(
    rb"....ftyp(?P<brand>....)", re.DOTALL
)  # ISO base media, https://mp4ra.org/registered-types/brands
_STILLS = (b"heic", b"heix", b"mif1", b"avif")
_RIFF = re.compile(rb"RIFF....(?P<kind>WEBP|AVI |WAVE)", re.DOTALL)
# The first entry of a zip: Office Open XML, OpenDocument and EPUB, Java.
_OFFICE = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"xl/", b"ppt/", b"visio/")
_OFFICE_NAME = re.compile(
    r"\.(?:docx?|docm|dotx|xlsx?|xlsm|pptx?|pptm|vsdx?|od[tspg]|pages|numbers|epub)$", re.IGNORECASE
)
_BY_NAME = (
    (re.compile(r"(?:^|/)\.DS_Store$"), "a folder view of macOS"),
    (re.compile(r"(?:^|/)\._[^/]+$"), "file attributes of macOS"),
    (re.compile(r"(?:^|/)(?:desktop|folder)\.ini$", re.IGNORECASE), "a folder view of Windows"),
    (re.compile(r"(?:^|/)(?:thumbs|ehthumbs)\.db$", re.IGNORECASE), "a folder view of Windows"),
    (re.compile(r"(?:^|/)~\$[^/]+\.\w{3,5}$"), "a lock file of Office"),
    (_OFFICE_NAME, "an office document"),
    (re.compile(r"\.(?:pdf|rtf)$", re.IGNORECASE), "a document"),
    (re.compile(r"\.(?:png|jpe?g|gif|bmp|ico|svg|webp|heic|tiff?)$", re.IGNORECASE), "a picture"),
    (re.compile(r"\.(?:mp[34]|m4[av]|mov|avi|mkv|webm|wav|ogg)$", re.IGNORECASE), "a sound or video"),
    (re.compile(r"\.(?:ttf|otf|woff2?)$", re.IGNORECASE), "a font"),
    (re.compile(r"\.(?:msg|p7[sm])$|(?:^|/)winmail\.dat$", re.IGNORECASE), "a part of a mail"),
)  # fmt: skip
_OWN_NAME = re.compile(r"(?:^|/)(?:[^/]*[-_. ])?case(?:[-_. ][^/]*)?\.json$", re.IGNORECASE)
_OWN = b'"schema": "backline/'  # case documents, with or without blanks
_JSON_LOOK = 64 << 10
_STAMPED = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_ANSWER = re.compile(
    rb'"(?:results?|result_count|items|data|value|values|rows|counters|alarms)"\s*:'
)


def describe_other_file(path: str, head: bytes) -> str:
    """Return what a file is that holds no diagnostics, in words; "" for all that may hold some.

    head  the first 64 KiB at most, as they are in the file
    """
    for magic, what in _BEGINS:
        if head.startswith(magic):
            return what
    if found := _BOX.match(head):
        return "a picture" if found["brand"].lower() in _STILLS else "a video"
    if found := _RIFF.match(head):
        return "a picture" if found["kind"] == b"WEBP" else "a sound or video"
    if is_zip(head):
        return _describe_zip(head) or ("an office document" if _OFFICE_NAME.search(path) else "")
    if codecs.kind_of(head) or (len(head) >= 512 and tarheader.parse_header(head[:512])):
        return ""
    is_json = path.lower().endswith(".json") and head.lstrip()[:1] == b"{"
    if is_json and b"\x00" not in head[:512]:
        start = head[:2048].replace(b'"schema":"', b'"schema": "')
        if _OWN in start:  # its findings are no diagnostics of a host
            return "a result of Backline"
    named = next((what for form, what in _BY_NAME if form.search(path)), "")
    if named and (path.lower().endswith((".ini", ".svg")) or find_refusal(head)):
        return named  # a text under such a name may hold output
    return ""


def has_other_name(path: str) -> bool:
    """Say whether a name is worth a look inside of an archive: that of such a file, or of our own results."""
    return any(form.search(path) for form, _ in _BY_NAME) or _OWN_NAME.search(path) is not None


def _describe_zip(head: bytes) -> str:
    """Return what a zip is by its first entry, "" for an archive that may hold support material."""
    if len(head) < 30:
        return ""
    length = int.from_bytes(head[26:28], "little")
    name = head[30 : 30 + length]
    if name.startswith(_OFFICE) or name == b"mimetype":
        return "an office document: save it as plain text if it holds output"
    return "a Java archive" if name == b"META-INF/MANIFEST.MF" else ""


def is_plain_json(path: str, head: bytes) -> bool:
    """Say whether a JSON file is neither a list of records nor an answer of an interface: the settings of a tool.

    Parsers come first: this is for a file that none of them knows.
    """
    if not path.lower().endswith(".json") or len(head) >= _JSON_LOOK:
        return False
    try:
        content = json.loads(head)
    except (ValueError, RecursionError):
        return False  # damaged, or no JSON: it may be anything
    if isinstance(content, list):
        return not any(isinstance(item, dict) for item in content)
    return not (_STAMPED.search(head) or _ANSWER.search(head))


# --- files that no parser knows ---
#
# Whether a file no parser knows looks like support material: a log, a table or an archive.
#
# A mail or a README next to a bundle is no loss. A log, a table or an archive that is not read is one, and
# the case is not complete then.

_ARCHIVE_NAME = re.compile(
    r"\.(?:tgz|tbz2?|txz|tzst|tar|gz|bz2|xz|zst|zip|7z|rar|cab|lz4|lz|lzma|lzo|z|vgz|zdump)(?:\.\d+|\.part)?$",
    re.IGNORECASE,
)
_LOG_NAME = re.compile(
    r"\.log(?:[.-]\d[\d.-]*)?(?:\.\w{1,4})?$|(?:^|/)(?:messages|syslog)(?:\.\d+)?(?:\.\w{1,4})?$",
    re.IGNORECASE,
)
_TABLE_NAME = re.compile(
    r"\.(?:csv|tsv|json|xml|xlsx?|parquet|sqlite|db|pcap(?:ng)?|vmdk|vmss|vmsn)$", re.IGNORECASE
)
_ARCHIVES = (
    b"7z\xbc\xaf\x27\x1c", b"Rar!", b"\x04\x22\x4d\x18", b"LZIP", b"\x89LZO", b"]\0\0\x80\0", b"\x1f\x9d", b"MSCF",
)  # fmt: skip
# Near the start of a line: a date with a time, a time with seconds, or seconds since the boot in brackets.
_STAMP = re.compile(
    rb".{0,40}?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d[-/.]\d\d[-/.]\d{2,4} \d\d:\d\d"
    rb"|\b\d\d:\d\d:\d\d\b|\[ *\d+\.\d{6}\])",
    re.DOTALL,
)
_IN_STAMPS = (
    re.compile(rb"\d\d:\d\d"),
    re.compile(rb"\[ *\d+\.\d{6}\]"),
)  # one of these is in every stamp
_RULED = re.compile(
    rb"^[-=]{2,}(?:[ +]+[-=]{2,})+\s*$"
)  # the line under the heads of a printed table
_XML_OR_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml|[\[{]\s*(?:$|[\[{\"]))")
_LINES = 50
_MOSTLY = 4 << 10  # bytes that hold as many lines in most texts
_ENOUGH = 3  # lines that have to look alike


def find_likeness(path: str, head: bytes) -> str:
    """Return "archive", "log" or "table", or "" for what looks like none of them.

    head  the first bytes, compression undone
    """
    if head.startswith(_ARCHIVES) or codecs.kind_of(head) or is_zip(head) or is_tar(head):
        return "archive"
    is_text = bool(head) and not find_refusal(head)
    if _ARCHIVE_NAME.search(path) and not is_text:
        return "archive"
    if is_plain_json(path, head):
        return ""
    # mostly without splitting all there is
    text_head = head.replace(b"\0", b"")
    lines = text_head[:_MOSTLY].splitlines()
    if len(lines) <= _LINES:
        lines = text_head.splitlines()
    lines = [line for line in lines[:_LINES] if line.strip()]
    text = b"\n".join(lines)
    if _has_stamps(lines, text) or (head and _LOG_NAME.search(path)):
        return "log"
    if _is_tabular(lines, text) or (head and _TABLE_NAME.search(path)):
        return "table"
    return ""


def _has_stamps(lines: list[bytes], text: bytes) -> bool:
    """Say whether a time is near the start of most lines."""
    if not any(sign.search(text) for sign in _IN_STAMPS):
        return False
    stamps = 0
    for line in lines:
        start = line[:80]
        if (b":" in start or b"[" in start) and _STAMP.match(
            start
        ):  # most lines hold no sign of a time
            stamps += 1
    return stamps >= _ENOUGH and stamps * 2 > len(lines)


def _is_tabular(lines: list[bytes], text: bytes) -> bool:
    """Say whether lines are a table: XML or JSON, one number of separators in most lines, or ruled heads."""
    if lines and _XML_OR_JSON.match(lines[0]):
        return True
    if (b"--" in text or b"==" in text) and any(_RULED.match(line) for line in lines):
        return True
    for separator in (b",", b";", b"\t"):
        if text.count(separator) < 2 * _ENOUGH:
            continue
        counts = [line.count(separator) for line in lines]
        most = max(set(counts), key=counts.count, default=0)
        same = counts.count(most)
        if most >= 2 and same >= _ENOUGH and same * 2 > len(lines):
            return True
    return False
