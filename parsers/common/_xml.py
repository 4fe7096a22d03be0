"""XML as saved from NSX Manager's REST API, read with places and without trust.

A small reader of its own instead of a general one, for three reasons: answers that people
save are often not well formed (cut, `...` typed in, several pasted together) and must be read
as far as they go; every element knows its line; and nothing a document declares is ever
acted on: a document type or an entity declaration ends the reading, only the five
predefined entities and character numbers are replaced, and nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzer.artefacts.parsing import fault_at
from analyzer.artefacts.tables import Block, Fault

MOST_DEPTH = 64  # real answers are under 12 deep
MOST_ELEMENTS = 500_000

_NAME = re.compile(r"[A-Za-z_][\w.:-]{0,255}")
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|(lt|gt|amp|quot|apos));")
_LEFT_OUT = re.compile(r"\s*(?:\.{2,}|…|[<\[]snip[>\]])\s*$")
_PREDEFINED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


_CLOSED_BY = (("<!--", "-->", "skip"), ("<![CDATA[", "]]>", "cdata"), ("<?", "?>", "skip"))


@dataclass(slots=True)
class Element:
    """One element: tag without namespace prefix, its text, its line in the member, its children."""

    tag: str
    line: int
    parts: list[str] = field(default_factory=list)
    text_lines: list[int] = field(default_factory=list)  # lines of the parts that are not blank
    closed: bool = False
    left_out: bool = False  # dots stand where whoever saved it left lines out
    children: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text directly inside the element."""
        return "".join(self.parts)

    @property
    def whole(self) -> bool:
        """Say whether all of it is there: what it does not hold is known to be absent."""
        return all(one.closed and not one.left_out for one in self.walk())

    def child(self, tag: str) -> Element | None:
        """Return the first child of that tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def get(self, tag: str) -> str:
        """Return the trimmed text of the first child of that tag, or ""."""
        child = self.child(tag)
        return child.text.strip() if child else ""

    def walk(self) -> Iterator[Element]:
        """Yield this element and all below it, in the order of the text."""
        todo = [self]
        while todo:
            element = todo.pop()
            yield element
            todo += reversed(element.children)

    def find(self, *tags: str) -> Iterator[Element]:
        """Yield all elements of one of these tags, in the order of the text."""
        return (element for element in self.walk() if element.tag in tags)


class _StopError(Exception):
    """The reading ends here, for the reason given."""


def read_xml(block: Block, parser: str) -> tuple[Element, list[Fault]]:
    """Return a root that holds the elements found in a block, and what was wrong with the text.

    Never raises on any text. Closing tags that match no open element are passed over,
    elements left open end with their parent; after a fault what was read before it stands. A text
    that ends inside an element is cut, and so is one that could not be read to its end: Block.cut.
    Text between elements, where an answer has none, is a fault of its line.
    """
    text = "\n".join(block.lines)
    root = Element("", block.first_line)
    faults: list[Fault] = []
    try:
        _read_elements(text, root, block.first_line)
    except _StopError as stop:
        line, why = stop.args
        faults.append(fault_at(block, line, parser, why))
        block.cut = True
    for element in root.walk():
        if element.children:
            for line in element.text_lines:
                left_out = _LEFT_OUT.match(block.lines[line - block.first_line]) is not None
                element.left_out = element.left_out or left_out
                block.cut = block.cut or left_out
                why = "lines were left out here" if left_out else "text between elements"
                faults.append(fault_at(block, line, parser, why))
    return root, faults


def _read_elements(text: str, root: Element, line: int) -> None:
    stack = [root]
    at = elements = 0
    while (start := text.find("<", at)) >= 0:
        _add_text(stack[-1], text[at:start], line)
        line += text.count("\n", at, start)
        end, kind = _find_end(text, start, line)
        inside = text[start + 1 : end]
        if kind == "cdata":
            stack[-1].parts.append(text[start + 9 : end - 2])
        elif kind == "close":
            tag = _read_tag(inside[1:])
            for depth in range(len(stack) - 1, 0, -1):
                if stack[depth].tag == tag:
                    stack[depth].closed = True
                    del stack[depth:]
                    break
        elif kind == "open" and (tag := _read_tag(inside)):
            elements += 1
            if elements > MOST_ELEMENTS:
                raise _StopError(line, f"more than {MOST_ELEMENTS} elements; the rest is not read")
            element = Element(tag, line)
            stack[-1].children.append(element)
            if inside.endswith("/"):
                element.closed = True
            else:
                stack.append(element)
            if len(stack) > MOST_DEPTH:
                raise _StopError(
                    line, f"elements nested deeper than {MOST_DEPTH}; the rest is not read"
                )
        line += text.count("\n", start, end + 1)
        at = end + 1
    _add_text(stack[-1], text[at:], line)
    if len(stack) > 1:
        opened = stack[-1]
        raise _StopError(
            opened.line, f"<{opened.tag}> is still open where the text ends: it is cut"
        )


def _add_text(element: Element, text: str, line: int) -> None:
    if "&" in text:
        decoded = _ENTITY.sub(_decode_entity, text)
    else:
        decoded = text
    element.parts.append(decoded)
    if text and not text.isspace():
        for n, part in enumerate(text.split("\n"), line):
            if part.strip():
                element.text_lines.append(n)


def _find_end(text: str, start: int, line: int) -> tuple[int, str]:
    """Return where the markup at `start` ends (its last character) and what it is."""
    for opening, closing, kind in _CLOSED_BY:
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            if end < 0:
                raise _StopError(line, f"{opening} is never closed; the rest is not read")
            return end + len(closing) - 1, kind
    if text.startswith("<!", start):
        raise _StopError(
            line, "document type and entity declarations are not read; nothing after this one is"
        )
    end = text.find(">", start)
    if end < 0:
        raise _StopError(line, "the text ends inside a tag")
    return end, "close" if text.startswith("</", start) else "open"


def _read_tag(inside: str) -> str:
    match = _NAME.match(inside)
    if match:
        return match.group().rpartition(":")[2]
    return ""


def _decode_entity(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name:
        return _PREDEFINED[name]
    if decimal:
        code = int(decimal)
    else:
        code = int(hexadecimal, 16)
    if 0x20 <= code < 0xD800 or 0xE000 <= code < 0x110000:
        return chr(code)
    return match.group()
