"""What a file is by its first bytes: archive, text, or why it is refused."""

from __future__ import annotations

from analyzer.sources import tarheader

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


def is_visor(head: bytes) -> bool:
    """Say whether a tar of the ESXi boot modules (vmtar) starts here."""
    return head[257:262] == b"visor"


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
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or _is_utf16(head):
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
    return high <= len(text) // 4 or _is_utf8(text)


def _is_utf16(head: bytes) -> bool:
    """Say whether every other byte is a NUL: UTF-16 of Western text without a mark."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    return half > 0 and max(even, odd) > half * 0.9 and min(even, odd) < half * 0.1


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(text) - 8  # a character cut by the end of the look-ahead
    return True
