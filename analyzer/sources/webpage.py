"""Saved web pages and mails as text: outputs and logs reach us inside an HTML page or as the source of a message.

HTML: the tags go, a break or the end of a paragraph, row or block ends a line, entities become signs; scripts, styles
and comments are left out. Mail (RFC 5322, MIME: RFC 2045 to 2049): of each part the text is taken, decoded from
quoted-printable or base64; of a part that comes in several forms the plain one. A piece of such a source without its
head is known by its escapes. Numbers of lines then count those of that text, which the report says. A page without
anything preformatted, a prompt or a time is refused as ever: it is mostly the login page of a portal.
"""

from __future__ import annotations

import email
import html
import quopri
import re
from collections.abc import Callable, Iterator
from email import policy
from email.message import EmailMessage

from analyzer.sources.item import Refused
from analyzer.sources.stream import Feed, MemorySource, SliceStream

MOST = 16 << 20  # bytes of a page or mail
_LOOKED_AT = 64 << 10
_HTML = re.compile(
    rb"\s*(?:<!doctype html|<html\b)|.{0,1000}<html[\s>].{0,300}<head", re.IGNORECASE | re.DOTALL
)
_FIELD = rb"(?:[A-Za-z][\w-]{0,60}:[^\n]{0,2000}\n(?:[ \t][^\n]{0,2000}\n){0,40})"
_MAIL = re.compile(rb"(?:From [^\n]{1,300}\n)?" + _FIELD + rb"{2,100}?(?i:MIME-Version):")
_PRINTED = re.compile(
    r"<(?:pre|textarea|samp|tt|code)\b|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\b[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|\[\w[\w.-]*@[\w.-]+:[^\]\n]{0,80}\]",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"<!--|<[!?][^<>]{0,2000}>|<(?P<end>/?)(?P<name>html|head|body|title|meta|link|base|script|style|noscript|template"
    r"|pre|code|samp|kbd|tt|span|div|p|br|hr|b|i|u|s|em|strong|small|big|sub|sup|font|mark|del|ins|a|img|svg|path"
    r"|table|thead|tbody|tfoot|tr|td|th|caption|colgroup|col|ul|ol|li|dl|dt|dd|h[1-6]|blockquote|section|article|main"
    r"|header|footer|nav|aside|figure|figcaption|button|form|input|label|textarea|select|option|center|iframe|details"
    r"|summary|picture|source|video|audio|canvas|time|abbr|cite|q|var|wbr|o:p)(?=[\s/>])(?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}')*>",
    re.IGNORECASE,
)
# Quoted-printable (RFC 2045, 6.7): no line is longer than 76 characters, and a = is never itself.
_ESCAPED = re.compile(rb"=(?:[0-9A-F]{2}|\r?\n)")
_BROKEN = re.compile(rb"^[^\r\n]{60,75}=\r?$", re.MULTILINE)
_LEAST_BROKEN = 2
_UNSEEN = frozenset(("script", "style", "head", "template", "svg", "select", "iframe"))
_ENDS_LINE = re.compile(
    "br|hr|p|div|tr|li|dt|dd|h1|h2|h3|h4|h5|h6|pre|textarea|blockquote|section|article|table|ul|ol|dl|main|header|"
    "footer|nav|aside|figure|figcaption|form|title|caption|option|summary|details"
)
_CELLS = frozenset(("td", "th"))


def read_page(feed: Feed, address: str, note: Callable[[str], None]) -> Feed:
    """Return a feed of the text of a page or mail, and note that; any other feed comes back as it is.

    Raises Refused for a page or mail that is too large to be read at once.
    """
    head = feed.peek(_LOOKED_AT)
    equals = head.count(b"=")
    odd = equals - len(_ESCAPED.findall(head))  # others begin an escape or break a line
    if _HTML.match(head[:2048].removeprefix(b"\xef\xbb\xbf")):
        data = _read_all(feed, "web page")
        page = _decode_text(data)
        if _PRINTED.search(page):
            note(f"{address} is a web page; line numbers are those of its text")
            data = extract_text(page).encode("utf-8", "surrogateescape")
    elif _MAIL.match(head.replace(b"\r\n", b"\n")):
        data = _read_all(feed, "mail")
        data = "\n\n".join(_read_parts(data)).encode("utf-8", "surrogateescape")
        note(f"{address} is a mail; line numbers are those of its text")
    elif odd * 20 <= equals and len(_BROKEN.findall(head)) >= _LEAST_BROKEN:
        data = quopri.decodestring(_read_all(feed, "mail"))
        note(f"{address} is a piece of the source of a mail; line numbers are those of its text")
    else:
        return feed
    return Feed(SliceStream(MemorySource(data)))


def _read_all(feed: Feed, what: str) -> bytes:
    data = feed.take(MOST + 1)
    while feed.gap and len(data) <= MOST:
        feed.cross()
        data += feed.take(MOST + 1 - len(data))
    if len(data) > MOST:
        raise Refused(
            f"a {what} of more than {MOST >> 20} MiB",
            "Save its text or its attachments by themselves.",
        )
    return data


def _decode_text(data: bytes, charset: str = "") -> str:
    """Return bytes as text: by their byte order mark, by `charset`, else as UTF-8 that keeps what is wrong."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        charset = "utf-16"
    if charset:
        try:
            return data.decode(charset, "replace").removeprefix("\ufeff")
        except LookupError:  # of no known charset
            return data.decode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def extract_text(page: str) -> str:
    """Return the text of an HTML page."""
    text = html.unescape("".join(_read_between_tags(page.replace("\r\n", "\n"))))
    return re.sub(r"\n{4,}", "\n\n\n", text.replace("\xa0", " "))


def _read_between_tags(page: str) -> Iterator[str]:
    """Yield what a page shows between its tags, with a line end where a tag ends a line."""
    lower, at, begun = page.lower(), 0, True
    while found := _TAG.search(page, at):
        if found.start() > at:
            yield page[at : found.start()]
            begun = page[found.start() - 1] == "\n"
        at = found.end()
        name = (found["name"] or "").lower()
        closes = bool(found["end"])
        if found[0] == "<!--":
            at = _find_behind(lower, "-->", at)
        elif name in _UNSEEN and not closes and not found[0].endswith("/>"):
            closing = _find_behind(lower, f"</{name}", at)
            at = _find_behind(lower, ">", closing - 1)
        elif name in _CELLS and closes:
            yield "  "
        elif name == "br":
            if not page.startswith("\n", at):
                yield "\n"
            begun = True
        elif _ENDS_LINE.fullmatch(name) and not begun:
            yield "\n"
            begun = True
    yield page[at:]


def _find_behind(text: str, sign: str, at: int) -> int:
    """Return the place behind the next `sign`, the end of the text where there is none."""
    found = text.find(sign, at)
    return len(text) if found < 0 else found + len(sign)


def _read_parts(data: bytes) -> Iterator[str]:
    """Yield the texts of a mail; what is neither text nor a page is named and left out."""
    waiting = [email.message_from_bytes(data, policy=policy.default)]
    while waiting:
        part = waiting.pop(0)
        if not isinstance(part, EmailMessage):
            continue
        if part.get_content_type() == "multipart/alternative":
            body = part.get_body(("plain", "html"))
            if isinstance(body, EmailMessage) and body is not part:
                waiting.insert(0, body)
        elif part.is_multipart():
            waiting[:0] = [one for one in part.iter_parts() if isinstance(one, EmailMessage)]
        elif part.get_content_maintype() == "text":
            payload = part.get_payload(decode=True)
            raw = payload if isinstance(payload, bytes) else b""
            text = _decode_text(raw, part.get_content_charset() or "").replace("\r\n", "\n")
            yield extract_text(text) if part.get_content_subtype() == "html" else text
        else:
            yield f"(left out: a part of the kind {part.get_content_type()})"
