"""Files that come along with support material and are none: office documents, pictures, bookkeeping of a desktop.

They are named as given and not read, and are no loss: a case is complete without them. What is told by content counts
more than a name: a damaged bundle that is called `x.png` is a damaged bundle.
"""

from __future__ import annotations

import json
import re

from analyzer.sources import codecs, sniff, tarheader

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
    if sniff.is_zip(head):
        return _describe_zip(head) or ("an office document" if _OFFICE_NAME.search(path) else "")
    if codecs.kind_of(head) or _is_archive(head):
        return ""
    if b"\x00" not in head[:512] and _is_own_result(path, head):
        return "a result of Backline"
    named = next((what for form, what in _BY_NAME if form.search(path)), "")
    if named and (path.lower().endswith((".ini", ".svg")) or sniff.find_refusal(head)):
        return named  # a text under such a name may hold output
    return ""


def has_other_name(path: str) -> bool:
    """Tell whether a name is worth a look inside of an archive: that of such a file, or of our own results."""
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


def _is_archive(head: bytes) -> bool:
    return bool(tarheader.parse_header(head[:512])) if len(head) >= 512 else False


def _is_own_result(path: str, head: bytes) -> bool:
    """Tell whether a file is a case document of Backline: its findings are no diagnostics of a host."""
    start = head[:2048].replace(b'"schema":"', b'"schema": "')
    return path.lower().endswith(".json") and head.lstrip()[:1] == b"{" and _OWN in start


def is_plain_json(path: str, head: bytes) -> bool:
    """Tell whether a JSON file is neither a list of records nor an answer of an interface: the settings of a tool.

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
