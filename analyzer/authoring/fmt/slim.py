"""The slim form of a rule file: what fits on one line is written on one, and what is a default is not repeated.

A text that was folded and fits on its line is a plain or a quoted one; a case, an answer, a step or another small
collection that fits is written in braces. What holds a comment, an anchor or lines of a block text stays a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.authoring.fmt.repeats import fold_repeats
from analyzer.authoring.fmt.text import MOST, join_lines
from analyzer.authoring.fmt.tree import CannotLayOutError, YamlEntry, YamlNode

# Keys of a rule below which collections are written on one line each where they fit; those of WHOLE also themselves.
_ITEMS = ("join", "logs", "seen", "grade", "outcomes", "notes", "fix", "examples")
_WHOLE = ("sign", "cleared", "population", "source", "evidence", "object", "kb", "explained_by")
_ON_ONE = ("let", "ask", "not_this")
ONE_TEXT = ("source", "not_this", "explained_by", "replaces")  # a list of one text is that text
FEW = 3  # lines that a collection in braces may take in the place of a longer block
_FLOW_SIGNS = re.compile(r"[\[\]{},?]")  # `?` is a sign to some readers of YAML
_PLAIN = re.compile(r"[A-Za-z(][^\x00-\x1f:#]*$")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def make_slim(root: YamlNode) -> None:
    """Change the tree of a whole rule file into that of its slim form; its values stay what the loader takes."""
    by_name = {entry.name: entry for entry in root.entries}
    if "subject" in by_name and is_default_subject(root):
        root.entries.remove(by_name["subject"])
    for entry in root.entries:
        name = entry.name
        if name in ONE_TEXT and entry.value.block:
            _unwrap_list(entry)
        if name == "examples":
            for node in _walk_nodes(entry.value):
                if node.kind == "scalar" and node.style == "|":
                    node.raw, node.value = fold_repeats(node.raw, node.value)
            _quote_lines(entry)
        if name in _WHOLE:
            _fold(entry, 0, whole=True)
        elif name in _ON_ONE:
            _fold(entry, 0, whole=True, few=1)
        elif name in _ITEMS:
            _fold(entry, 0, whole=len(entry.value.entries) == 1 and name != "examples")
        else:
            _unfold_texts(entry, 0)


def is_default_subject(root: YamlNode) -> bool:
    """Say whether the subject of a rule is its object, so that nothing is said by repeating it."""
    by_name = {entry.name: entry for entry in root.entries}
    subject, thing = by_name["subject"], by_name.get("object")
    if thing is None or "sign" in by_name or "population" in by_name:
        return False
    if subject.above or subject.beside or subject.below or subject.value.anchor:
        return False
    first = thing.value
    if first.kind == "seq" and first.entries:
        first = first.entries[0].value
    alike = first.kind == subject.value.kind == "scalar"
    return alike and first.value.strip() == subject.value.value.strip()


def _walk_nodes(node: YamlNode) -> Iterator[YamlNode]:
    yield node
    for entry in node.entries:
        yield from _walk_nodes(entry.value)


def _has_comment(entry: YamlEntry) -> bool:
    return bool(entry.above or entry.beside or entry.below)


def _unwrap_list(entry: YamlEntry) -> None:
    """Put the one text of a list in its place."""
    items = entry.value.entries
    if entry.value.kind != "seq" or len(items) != 1 or entry.value.anchor or entry.beside:
        return
    item = items[0]
    if item.value.kind == "scalar" and not _has_comment(item) and not item.value.anchor:
        entry.value = item.value
        entry.value.indent = entry.column


def _quote_lines(entry: YamlEntry) -> None:
    """Write a block text of one line in quotes; the text of a file stays, its last line feed counts."""
    node = entry.value
    for child in node.entries:
        _quote_lines(child)
    if node.style != "|" or entry.name == "text" or node.anchor or not node.raw.startswith("|\n"):
        return
    line = node.value.removesuffix("\n")
    if line and line.isprintable() and (raw := _quote(line)) is not None:
        entry.value = YamlNode("scalar", node.start, node.end, raw[0], raw, line)


def _fold(entry: YamlEntry, column: int, *, whole: bool, few: int = FEW) -> None:
    """Write the value of an entry, or else each part of it, in braces where it fits; `column` is where it begins."""
    node = entry.value
    start = column + (len(write_key(entry.key)) if entry.key else 1) + 1
    if node.kind == "scalar":
        _unfold_text(entry, start)
        return
    if whole and node.block and (flat := _flatten(entry)) is not None:
        rows = write_flow(flat, start, "")
        block = _count_lines(node) + (entry.key is not None)
        shorter = len(rows) <= few and len(rows) < block
        if shorter and all(len(row) <= MOST or _is_one_text(row) for row in rows):
            entry.value = flat
            return
    if not node.block:
        return
    for child in node.entries:
        # The results of examples are no cases: a list of several stays one.
        listed = entry.name == "examples" and node.kind == "map"
        alone = child.value.kind != "seq" or len(child.value.entries) == 1
        _fold(child, column + 2, whole=(alone or not listed) and few > 1, few=few)


def _unfold_texts(entry: YamlEntry, column: int) -> None:
    start = column + (len(write_key(entry.key)) if entry.key else 1) + 1
    if entry.value.kind == "scalar":
        _unfold_text(entry, start)
    elif entry.value.block:
        for child in entry.value.entries:
            _unfold_texts(child, column + 2)


def _unfold_text(entry: YamlEntry, start: int) -> None:
    """Write a folded text on the line of its key where it fits; only what ends without a line feed."""
    node = entry.value
    if node.style != ">" or node.anchor or entry.beside:
        return
    raw = _write_text(node)
    if raw is not None and (start + len(raw) <= MOST or _reads_plain(raw)):
        entry.value = YamlNode(
            "scalar", node.start, node.end, raw[0] if raw[0] in "'\"" else "", raw, node.value
        )


def _reads_plain(raw: str) -> bool:
    """Say whether a text may go on over several lines behind its key, without quotes."""
    return bool(_PLAIN.match(raw)) and "  " not in raw


def _count_lines(node: YamlNode) -> int:
    """Return how many lines the parts of a block take at least."""
    lines = 0
    for entry in node.entries:
        on_dash = entry.key is None and entry.value.block
        lines += (0 if on_dash else 1) + (_count_lines(entry.value) if entry.value.block else 0)
    return lines


def _is_one_text(row: str) -> bool:
    """Say whether a line that is too wide holds one text in quotes, which is too wide in a block as well."""
    return bool(re.fullmatch(r"""\s*\S+: ("[^"]*"|'[^']*')[\]}]+""", row))


def _flatten(entry: YamlEntry) -> YamlNode | None:
    """Return the value of an entry in flow style, or None where something in it needs lines of its own."""
    node = entry.value
    if node.anchor or node.kind == "alias":
        return None
    if node.kind == "scalar":
        raw = _write_text(node, flow=True)
        if raw is None:
            return None
        style = raw[:1] if raw[:1] in ("'", '"') else ""
        return YamlNode("scalar", node.start, node.end, style, raw, node.value)
    found = YamlNode(node.kind, node.start, node.end, "flow")
    if entry.beside or entry.below:
        return None
    for child in node.entries:
        if _has_comment(child) or (child.key is not None and child.key.anchor):
            return None
        value = _flatten(child)
        if value is None:
            return None
        key = child.key
        if key is not None and not key.style and _FLOW_SIGNS.search(key.raw):
            return None
        found.entries.append(YamlEntry(key, value, child.start, child.column))
    return found


def _write_text(node: YamlNode, *, flow: bool = False) -> str | None:
    """Return a scalar as it is written on one line; None where it cannot be."""
    if node.style in ("'", '"'):
        return None if "\n" in node.raw else node.raw
    if node.style == "|" or "\n" in node.value:
        return None
    if not node.style:
        raw = join_lines(node.raw)
        if not flow or not _FLOW_SIGNS.search(raw):
            return raw
    text = node.value
    if not text.isprintable() or not text:
        return None
    plain = bool(_PLAIN.match(text)) and text.lower() not in _WORDS and text == text.strip()
    if node.style and plain and not (flow and _FLOW_SIGNS.search(text)):
        return text
    return _quote(text)


def _quote(text: str) -> str | None:
    """Return a text in the quotes in which it can stand as it is; None where neither can hold it."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f"'{text}'" if "'" not in text else None


# -- one line


def write_key(key: YamlNode) -> str:
    """Return a key as written, with its colon."""
    if key.anchor:
        anchor = f"&{key.anchor} "
    else:
        anchor = ""
    if key.kind == "alias":
        return f"{anchor}{key.raw} :"
    return f"{anchor}{key.raw}:"


def write_flat(node: YamlNode) -> str:
    """Return a value of flow style on one line."""
    if node.anchor:
        anchor = f"&{node.anchor} "
    else:
        anchor = ""
    if node.kind == "alias":
        return node.raw
    if node.kind == "scalar":
        text = join_lines(node.raw)
        if "\n" in text or (node.style and "\n" in node.raw):
            message = "a text over several lines inside [ ] or { } cannot be formatted"
            raise CannotLayOutError(
                node.start, message, "write one value per line, or the text on one line"
            )
        return anchor + (node.raw if node.style else text or "null")
    pairs = (
        (f"{write_key(entry.key)} " if entry.key else "", entry.value) for entry in node.entries
    )
    inside = ", ".join(key + write_flat(value) for key, value in pairs)
    if node.kind == "map":
        return f"{anchor}{{{inside}}}"
    return f"{anchor}[{inside}]"


def write_flow(node: YamlNode, column: int, after: str) -> list[str]:
    """Return a flow collection as lines: the first starts at `column`, the others are aligned behind the bracket.

    `after` is what follows its last character on the same line.
    """
    whole = write_flat(node) + after
    if node.kind not in ("map", "seq") or not node.entries or column + len(whole) <= MOST:
        return [whole]
    if node.kind == "map":
        opening, closing = ("{", "}")
    else:
        opening, closing = ("[", "]")
    margin = " " * (column + 1)
    rows = [opening]
    for number, entry in enumerate(node.entries):
        if number < len(node.entries) - 1:
            tail = ","
        else:
            tail = closing + after
        if entry.key:
            key = f"{write_key(entry.key)} "
        else:
            key = ""
        place = (column if len(rows) == 1 else 0) + len(rows[-1]) + (number > 0)
        if number and place + len(key) + len(write_flat(entry.value)) + len(tail) > MOST:
            rows.append(margin)
        elif number:
            rows[-1] += " "
        place = (column if len(rows) == 1 else 0) + len(rows[-1]) + len(key)
        first, *rest = write_flow(entry.value, place, tail)
        rows[-1] += key + first
        rows += rest
    return rows
