"""A rule file as it is written: nodes with their very characters, and each comment at what it speaks of.

The loader keeps values and throws the writing away; a formatter needs the writing. PyYAML's events give the
nodes, its tokens the dashes and what lies between them, which is where comments are. A comment inside a flow
collection has no entry of its own to stay with and is refused. Only text that `RuleText.tree` accepts may
come in: one document, no tags, bounded depth.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COMMENT = re.compile(r"#[^\n]*")
MODELINE = re.compile(r"#\s*yaml-language-server\s*:")


class CannotLayOutError(Exception):
    """Something the layout has no place for: where it is in the text, the reason, and what to do."""

    def __init__(self, index: int, message: str, do: str) -> None:
        super().__init__(message)
        self.index, self.message, self.do = index, message, do


@dataclass(slots=True)
class Comment:
    """One comment; `own` when nothing else is on its line, `blank` when a blank line is above it."""

    text: str
    index: int
    column: int
    own: bool
    blank: bool
    gap: int  # white space before it on its line


@dataclass(slots=True)
class YamlNode:
    """A scalar, an alias, a mapping or a list, as written.

    raw     the characters of a scalar or alias, quotes and header included
    value   the text a scalar stands for
    style   "" (plain), ' " | or >; of collections "flow" or "block"
    indent  column of the enclosing block collection, from which an explicit indent of a block scalar counts
    """

    kind: str
    start: int
    end: int
    style: str = ""
    raw: str = ""
    value: str = ""
    anchor: str = ""
    indent: int = 0
    entries: list[YamlEntry] = field(default_factory=list)

    @property
    def block(self) -> bool:
        """True for a block collection."""
        return self.style == "block"


@dataclass(slots=True)
class YamlEntry:
    """A pair of a mapping (`key`) or an item of a list (no key), with the comments that belong to it."""

    key: YamlNode | None
    value: YamlNode
    start: int
    column: int
    blank: bool = False
    above: list[Comment] = field(default_factory=list)
    beside: list[Comment] = field(default_factory=list)
    below: list[Comment] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The key as text; "" for an item of a list."""
        if self.key:
            return self.key.value
        return ""


@dataclass(slots=True)
class Document:
    """A whole file: comments that head it, whether a blank line follows them, the mapping, comments at its end."""

    header: list[Comment]
    gap: bool
    root: YamlNode
    tail: list[Comment]


def read_document(text: str) -> Document:
    """Return the concrete tree of a rule file whose values have been read already; line ends are `\\n`.

    Raises CannotLayOutError where a comment or a key is in a way that the layout cannot keep.
    """
    tokens = list(yaml.scan(text, Loader=_LOADER))
    reader = _Reader(text, tokens)
    root = reader.read_node(next(reader.events), -1, flow=False)
    tail: list[Comment] = []
    for run in _find_gaps(text, tokens):
        _attach_comments(reader, run, tail)
    # Comments head the file, or they speak of its first key.
    if not root.block:
        above = [one for one in tail if one.index < root.start]
        return Document(above, False, root, tail[len(above) :])
    first = root.entries[0]
    every = first.above
    if first.blank:
        cut = len(every)
    else:
        cut = max((at for at, one in enumerate(every) if one.blank), default=0)
    header = every[:cut]
    rest = every[cut:]
    header += [one for one in rest if MODELINE.match(one.text)]
    first.above = [one for one in rest if not MODELINE.match(one.text)]
    blank = first.blank
    if first.above:
        blank = first.above[0].blank
    gap = bool(header) and blank
    return Document(header, gap, root, tail)


def list_comments(text: str) -> list[str]:
    """Return the text of every comment of a rule file, in order."""
    found = []
    for run in _find_gaps(text, list(yaml.scan(text, Loader=_LOADER))):
        for comment in run:
            found.append(comment.text)
    return found


class _Reader:
    """Recursive descent over the events of valid YAML; `entries` are those of all block collections, in order."""

    def __init__(self, text: str, tokens: list[Any]) -> None:
        self.text = text
        structure = (yaml.StreamStartEvent, yaml.DocumentStartEvent)
        self.events: Iterator[Any] = (
            event for event in yaml.parse(text, Loader=_LOADER) if not isinstance(event, structure)
        )
        self.dashes = (
            token.start_mark for token in tokens if isinstance(token, yaml.BlockEntryToken)
        )
        self.entries: list[YamlEntry] = []
        self.flows: list[tuple[int, int]] = []  # where the outermost flow collections begin and end

    def read_node(self, event: Any, indent: int, *, flow: bool) -> YamlNode:
        """Read one value; nothing written gives an empty scalar. `indent` is the column of its entry."""
        start = event.start_mark.index
        end = event.end_mark.index
        anchor = event.anchor or ""
        if isinstance(event, yaml.AliasEvent):
            return YamlNode("alias", start, end, raw=self.text[start:end], value=anchor)
        if isinstance(event, yaml.ScalarEvent):
            raw = self.text[start:end]
            if anchor:  # the mark of the event is that of its anchor
                raw = raw[len(anchor) + 1 :].lstrip()
                if raw.startswith("#") and (event.style or event.value):
                    raise CannotLayOutError(
                        start, "a comment between an anchor and its value", "put it above the line"
                    )
            if not event.value and not event.style:
                raw = ""
                end = start + (len(anchor) + 1 if anchor else 0)
            return YamlNode(
                "scalar", end - len(raw), end, event.style or "", raw, event.value, anchor, indent
            )
        mapping = isinstance(event, yaml.MappingStartEvent)
        in_flow = bool(event.flow_style)
        found = YamlNode(
            "map" if mapping else "seq", start, end, "flow" if in_flow else "block", anchor=anchor
        )
        last = self.read_entries(found, mapping, indent, in_flow)
        if in_flow and not flow:
            self.flows.append((start, last))
        return found

    def read_entries(self, found: YamlNode, mapping: bool, indent: int, flow: bool) -> int:
        """Read the entries of a collection into it; returns where the event of its end ends."""
        while not isinstance(event := next(self.events), yaml.CollectionEndEvent):
            if mapping or flow:
                mark: Any = event.start_mark
            else:
                mark = next(self.dashes)
            empty = YamlNode("scalar", mark.index, mark.index)
            entry = YamlEntry(None, empty, mark.index, mark.column)
            if flow:
                column = indent
            else:
                column = mark.column
            if not flow:
                entry.blank = _blank_above(self.text, mark.index)
                self.entries.append(entry)
            if mapping:
                entry.key = self.read_node(event, column, flow=flow)
                event = next(self.events)
            entry.value = self.read_node(event, column, flow=flow)
            found.entries.append(entry)
        mark = event.end_mark
        return int(mark.index)


def _blank_above(text: str, index: int) -> bool:
    """Say whether the line above the one of an index is blank."""
    start = text.rfind("\n", 0, index) + 1
    if start <= 1:
        return False
    above = text[: start - 1].rpartition("\n")[2]
    return not above.strip()


def _find_gaps(text: str, tokens: list[Any]) -> Iterator[list[Comment]]:
    """Yield the comments between two tokens, and those in the head line of a block scalar."""
    place = 0
    for token in tokens:
        start = token.start_mark.index
        end = token.end_mark.index
        if start > place and "#" in text[place:start]:
            yield [
                _make_comment(text, place + found.start(), found[0])
                for found in _COMMENT.finditer(text[place:start])
            ]
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            head = text[start:end].partition("\n")[0]
            at = head.find("#")
            if at >= 0:
                yield [_make_comment(text, start + at, head[at:])]
        place = max(place, end)


def _make_comment(text: str, index: int, words: str) -> Comment:
    """Return a comment with its place in its line."""
    line = text.rfind("\n", 0, index) + 1
    before = text[line:index]
    own = not before.strip()
    gap = len(before) - len(before.rstrip())
    return Comment(words.rstrip(), index, len(before), own, _blank_above(text, index), gap)


def _attach_comments(reader: _Reader, run: list[Comment], tail: list[Comment]) -> None:
    """Give the comments of one gap to what they speak of.

    One on a line of its own belongs to the entry that follows, unless it stands further right than that
    entry: then to the end of the block it is aligned with. What comes after it in the gap follows it.
    """
    at = bisect(reader.entries, run[0].index, key=lambda entry: entry.start)
    last = reader.entries[at - 1] if at else None
    later = reader.entries[at] if at < len(reader.entries) else None
    # The entry begins the block of the one before it.
    first = last is None or (last.value.block and last.value.entries[0] is later)
    taken = False
    for comment in run:
        flow = bisect(reader.flows, (comment.index,)) - 1
        if flow >= 0 and comment.index < reader.flows[flow][1]:
            message = "a comment inside [ ] or { } cannot keep its place"
            raise CannotLayOutError(
                comment.index, message, "put it above the line, or write one value per line"
            )
        if not comment.own and last is not None:
            last.beside.append(comment)
        elif last is not None and not last.value.block and comment.index < last.value.start:
            last.above.append(comment)
        elif later is not None and (taken or first or comment.column <= later.column):
            later.above.append(comment)
            taken = True
        else:
            edge = (later or reader.entries[0]).column
            outer = [one for one in reader.entries[:at] if one.column <= comment.column]
            if outer and outer[-1].column > edge:
                outer[-1].below.append(comment)
            elif later is not None:
                later.above.append(comment)
                taken = True
            else:
                tail.append(comment)
                taken = False
