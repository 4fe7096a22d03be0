"""Saved web pages and mails are read as the text that they show."""

from __future__ import annotations

import pytest

from analyzer.sources.item import Refused
from analyzer.sources.stream import Feed, MemorySource, SliceStream
from analyzer.sources.webpage import MOST, extract_text, read_page

LINE = '2023-03-01T10:00:00.000Z cpu3:2098123)WARNING: Heap: 2525: "synthetic" <7> & more'
CODED = LINE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def text_of(data: bytes, notes: list[str] | None = None) -> str:
    """Return what is left of a file; `notes` takes what is said of it."""
    feed = read_page(
        Feed(SliceStream(MemorySource(data))), "page", (notes if notes is not None else []).append
    )
    return feed.take(MOST).decode()


def test_a_page_gives_the_lines_it_shows_without_tags_and_scripts() -> None:
    """Line ends of pre, br and rows of a table end lines; tags, styles, scripts and comments go, entities are signs."""
    page = (
        f"<!DOCTYPE html><html><head><title>x</title><style>p {{}}</style></head><body><script>if (a < b) {{}}</script>"
        f"<p>I saw</p><!-- <p>hidden</p> --><pre>{CODED}<br>{CODED}\n   Key: <b>value</b></pre>"
        "<table><tr><td>one</td><td>two</td></tr></table></body></html>"
    )
    notes: list[str] = []
    shown = [line.strip() for line in text_of(page.encode(), notes).splitlines() if line.strip()]
    assert shown == ["I saw", LINE, LINE, "Key: value", "one  two"]
    assert notes == ["page is a web page; line numbers are those of its text"]


def test_what_looks_like_a_tag_in_an_output_stays() -> None:
    """Only names of HTML are tags: a name in angle brackets of a log is text."""
    assert extract_text("<pre><TCP '127.0.0.1 : 443'> <unset> <io_obj p:0x1></pre>").strip() == (
        "<TCP '127.0.0.1 : 443'> <unset> <io_obj p:0x1>"
    )


def test_a_page_that_shows_no_output_stays_what_it_is() -> None:
    """The login page of a portal has neither preformatted text nor a time: it is refused as a page."""
    page = b"<html><head></head><body><form>Sign in</form></body></html>"
    assert text_of(page).encode() == page


def test_a_mail_is_decoded_and_an_attachment_named() -> None:
    """Of a part in two forms the plain one is read, soft line ends are joined, base64 text is decoded."""
    mail = (
        "From: a@example.org\r\nSubject: x\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/mixed; boundary="m"\r\n\r\n--m\r\n'
        'Content-Type: multipart/alternative; boundary="a"\r\n\r\n--a\r\nContent-Type: text/plain; charset=utf-8\r\n'
        f"Content-Transfer-Encoding: quoted-printable\r\n\r\n{LINE[:40]}=\r\n{LINE[40:]}\r\n\r\n--a\r\n"
        "Content-Type: text/html\r\n\r\n<p>another form</p>\r\n--a--\r\n--m\r\nContent-Type: text/plain\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\nc2Vjb25k\r\n--m\r\nContent-Type: image/png\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--m--\r\n"
    )
    notes: list[str] = []
    shown = [line for line in text_of(mail.encode(), notes).splitlines() if line]
    assert shown == [LINE, "second", "(left out: a part of the kind image/png)"]
    assert notes == ["page is a mail; line numbers are those of its text"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"=0A=\n"])
def test_a_piece_of_the_source_of_a_mail_is_decoded(end: bytes) -> None:
    """Without its head the escapes tell: broken lines are whole again, and `=3D` is a sign."""
    cut = b"=\n" if end == b"=0A=\n" else b"=" + end
    line = (
        b'> 2023-03-01T10:00:00.000Z cpu3:2098123)WARNING: Heap: "synthetic" x=3D'
        + cut
        + b"7 & more"
    )
    notes: list[str] = []
    shown = text_of(line + end + line + end, notes).split("\n")
    assert [one.rstrip("\r") for one in shown[:2]] == [
        '> 2023-03-01T10:00:00.000Z cpu3:2098123)WARNING: Heap: "synthetic" x=7 & more'
    ] * 2
    assert notes == ["page is a piece of the source of a mail; line numbers are those of its text"]


@pytest.mark.parametrize(
    "data",
    [
        b"a=3D\n"
        + b"path=/x&y=20&z=" * 5
        + b"\n"
        + b"k=" * 35
        + b"\n"
        + b"k=" * 36
        + b"\n",  # = stands for itself
        b"Z" * 75 + b"=\n" + b"one line alone was broken =3D\n",
    ],
)
def test_signs_alone_make_no_mail(data: bytes) -> None:
    """A text of URLs or base64 comes through byte for byte."""
    assert text_of(data).encode() == data


def test_a_log_is_no_mail_and_no_page() -> None:
    """A text that is neither comes through byte for byte."""
    data = f"Date: x\nKey: <b>y</b>\n{LINE}\n".encode()
    assert text_of(data).encode() == data


def test_a_page_too_large_to_be_read_at_once_is_refused() -> None:
    """It is refused with what to do, and never read in part without a word."""
    with pytest.raises(Refused, match="web page of more than 16 MiB"):
        text_of(b"<html><pre>" + b"x" * MOST)
