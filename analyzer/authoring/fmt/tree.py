"""A rule file as it is written: nodes with their very characters, and each comment at what it speaks of.

The loader keeps values and throws the writing away; a formatter needs the writing. The tokens of PyYAML's
scanner cover every character that is no white space and no comment, so the comments are what lies between
them. Only text that `RuleText.tree` accepts may come in: one document, no tags, bounded depth.
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


@dataclass(slots=True)
class Comment:
    """One comment; `own` when nothing else stands on its line, `blank` when a blank line stands above it."""

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
    tail    comments after the last entry
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
    tail: list[Comment] = field(default_factory=list)

    @property
    def block(self) -> bool:
        """True for a block collection."""
        return self.style == "block"

    @property
    def empty(self) -> bool:
        """True for a value of which nothing is written, not even an anchor."""
        return self.kind == "scalar" and not self.raw and not self.anchor


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

    @property
    def end(self) -> int:
        """The index behind the last character of the entry."""
        return max(self.value.end, self.key.end if self.key else self.start + 1)

    @property
    def name(self) -> str:
        """The key as text; "" for an item of a list."""
        return self.key.value if self.key else ""


@dataclass(slots=True)
class Document:
    """A whole file: comments that head it, whether a blank line follows them, and the mapping."""

    header: list[Comment]
    gap: bool
    root: YamlNode


def read(text: str) -> Document:
    """Return the concrete tree of a rule file whose values have been read already; line ends are `\\n`."""
    tokens = list(yaml.scan(text, Loader=_LOADER))
    root = _Reader(text, tokens).document()
    for run in _gaps(text, tokens):
        taken = False
        for comment in run:
            taken = _attach(root, comment, None, taken)
    return _headed(root)


def comments(text: str) -> list[str]:
    """Return the text of every comment of a rule file, in order."""
    return [comment.text for run in _gaps(text, list(yaml.scan(text, Loader=_LOADER))) for comment in run]


class _Reader:
    """Recursive descent over the tokens of valid YAML."""

    def __init__(self, text: str, tokens: list[Any]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0

    def document(self) -> YamlNode:
        while isinstance(self._next, yaml.StreamStartToken | yaml.DirectiveToken | yaml.DocumentStartToken):
            self.at += 1
        return self.node(-1)

    @property
    def _next(self) -> Any:
        return self.tokens[self.at]

    def _take(self) -> Any:
        self.at += 1
        return self.tokens[self.at - 1]

    def node(self, indent: int) -> YamlNode:
        """Read one value; nothing written gives an empty scalar."""
        anchor = ""
        before = self.tokens[self.at - 1].end_mark.index
        if isinstance(self._next, yaml.AnchorToken):
            token = self._take()
            anchor, before = token.value, token.end_mark.index
        found = self._content(indent, before)
        found.anchor = anchor
        return found

    def _content(self, indent: int, before: int) -> YamlNode:
        token = self._next
        start, end = token.start_mark.index, token.end_mark.index
        if isinstance(token, yaml.ScalarToken):
            self.at += 1
            style = "" if token.plain else token.style
            return YamlNode("scalar", start, end, style, self.text[start:end], token.value, indent=indent)
        if isinstance(token, yaml.AliasToken):
            self.at += 1
            return YamlNode("alias", start, end, raw=self.text[start:end], value=token.value)
        if isinstance(token, yaml.BlockMappingStartToken):
            return self._block_mapping()
        if isinstance(token, yaml.BlockSequenceStartToken):
            self.at += 1
            found = self._items(token.start_mark.index)
            self.at += 1  # its end
            return found
        if isinstance(token, yaml.BlockEntryToken):
            return self._items(start)
        if isinstance(token, yaml.FlowMappingStartToken | yaml.FlowSequenceStartToken):
            return self._flow(indent)
        return YamlNode("scalar", before, before)

    def _block_mapping(self) -> YamlNode:
        token = self._take()
        found = YamlNode("map", token.start_mark.index, token.end_mark.index, "block")
        while not isinstance(self._next, yaml.BlockEndToken):
            found.entries.append(self._pair(self._next.start_mark.column, block=True))
            found.end = found.entries[-1].end
        self.at += 1
        return found

    def _items(self, start: int) -> YamlNode:
        found = YamlNode("seq", start, start, "block")
        while isinstance(self._next, yaml.BlockEntryToken):
            token = self._take()
            mark, behind = token.start_mark, token.end_mark.index
            bare = isinstance(self._next, yaml.BlockEntryToken)  # the next item: nothing is written here
            value = YamlNode("scalar", behind, behind) if bare else self.node(mark.column)
            blank = _blank_above(self.text, mark.index)
            found.entries.append(YamlEntry(None, value, mark.index, mark.column, blank))
            found.end = found.entries[-1].end
        return found

    def _pair(self, indent: int, *, block: bool = False) -> YamlEntry:
        mark = self._next.start_mark
        key = YamlNode("scalar", mark.index, mark.index)
        if isinstance(self._next, yaml.KeyToken):
            self.at += 1
            key = self.node(indent)
        value = YamlNode("scalar", key.end, key.end)
        if isinstance(self._next, yaml.ValueToken):
            self.at += 1
            value = self.node(indent)
        blank = block and _blank_above(self.text, mark.index)
        return YamlEntry(key, value, mark.index, mark.column, blank)

    def _flow(self, indent: int) -> YamlNode:
        token = self._take()
        mapping = isinstance(token, yaml.FlowMappingStartToken)
        found = YamlNode("map" if mapping else "seq", token.start_mark.index, 0, "flow")
        while not isinstance(self._next, yaml.FlowMappingEndToken | yaml.FlowSequenceEndToken):
            if isinstance(self._next, yaml.FlowEntryToken):
                self.at += 1
                continue
            found.entries.append(self._flow_entry(mapping, indent))
        found.end = self._take().end_mark.index
        return found

    def _flow_entry(self, mapping: bool, indent: int) -> YamlEntry:
        mark = self._next.start_mark
        paired = isinstance(self._next, yaml.KeyToken | yaml.ValueToken)
        if paired and mapping:
            return self._pair(indent)
        if paired:  # `[a: 1]`: a mapping of one pair
            pair = self._pair(indent)
            inner = YamlNode("map", pair.start, pair.end, "flow", entries=[pair])
            return YamlEntry(None, inner, pair.start, pair.column)
        value = self.node(indent)
        if mapping:  # `{a}`: a key without a value
            return YamlEntry(value, YamlNode("scalar", value.end, value.end), mark.index, mark.column)
        return YamlEntry(None, value, mark.index, mark.column)


def _blank_above(text: str, index: int) -> bool:
    start = text.rfind("\n", 0, index) + 1
    return start > 1 and not text[text.rfind("\n", 0, start - 1) + 1 : start - 1].strip()


def _gaps(text: str, tokens: list[Any]) -> Iterator[list[Comment]]:
    """Yield the comments between two tokens, and those in the head line of a block scalar."""
    place = 0
    for token in tokens:
        start, end = token.start_mark.index, token.end_mark.index
        if start > place and "#" in text[place:start]:
            yield [_comment(text, place + found.start(), found[0]) for found in _COMMENT.finditer(text[place:start])]
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            head = text[start:end].partition("\n")[0]
            if (at := head.find("#")) >= 0:
                yield [_comment(text, start + at, head[at:])]
        place = max(place, end)


def _comment(text: str, index: int, words: str) -> Comment:
    line = text.rfind("\n", 0, index) + 1
    before = text[line:index]
    own = not before.strip()
    gap = len(before) - len(before.rstrip())
    return Comment(words.rstrip(), index, len(before), own, _blank_above(text, index), gap)


def _attach(node: YamlNode, comment: Comment, owner: YamlEntry | None, taken: bool) -> bool:
    """Give a comment to what it speaks of; return whether it went to the entry below it.

    On a line of its own it belongs to the entry that follows, unless it stands further right than
    that entry: then to the end of the block it is aligned with. `taken`: the comment above it in the
    same gap went to the entry below, so this one does as well.
    """
    at = bisect(node.entries, comment.index, key=lambda entry: entry.start)
    last = node.entries[at - 1] if at else None
    later = node.entries[at] if at < len(node.entries) else None
    if last is not None and comment.index < last.end:
        return _attach_within(last, comment, taken)
    if not comment.own:
        target = _deepest(last) if last else owner
        (target.beside if target else node.tail if later is None else later.above).append(comment)
        return False
    if later is not None and (taken or last is None or not node.block or comment.column <= later.column):
        later.above.append(comment)
        return True
    inner = last.value if last else node
    if last is not None and inner.block and inner.entries and inner.entries[0].column <= comment.column:
        return _attach(inner, comment, last, taken)
    (later.above if later is not None else node.tail).append(comment)
    return later is not None


def _attach_within(entry: YamlEntry, comment: Comment, taken: bool) -> bool:
    value = entry.value
    before = comment.index < value.start
    if value.kind in ("map", "seq") and not (before and not (comment.own and value.block)):
        return _attach(value, comment, entry, taken)
    (entry.above if comment.own else entry.beside).append(comment)
    return False


def _deepest(entry: YamlEntry) -> YamlEntry:
    """Return the innermost entry that ends where `entry` ends."""
    while entry.value.block and entry.value.entries:
        entry = entry.value.entries[-1]
    return entry


def _headed(root: YamlNode) -> Document:
    """Part the comments that head the file from those that speak of its first key.

    What a blank line parts from the first key heads the file, and so does the line for editors.
    """
    if not root.entries:
        return Document([], False, root)
    first = root.entries[0]
    every = first.above
    cut = len(every) if first.blank else max((at for at, one in enumerate(every) if one.blank), default=0)
    header, rest = every[:cut], every[cut:]
    header += [one for one in rest if MODELINE.match(one.text)]
    first.above = [one for one in rest if not MODELINE.match(one.text)]
    gap = bool(header) and (first.above[0].blank if first.above else first.blank)
    return Document(header, gap, root)
