"""The layout of a well-kept rule file: from its concrete tree to text.

Keys are in the order of the loader's own lists, groups of keys are parted by one blank line, blocks are
indented by two. What the author chose stays: flow or block style, quotes, numbers as written, the lines of
a block text. A line of plain or folded text, or of a flow list or mapping, that is wider than MOST is
filled anew; what fits stays on its line. A quoted text is never broken: a break inside quotes is hard to read
and easy to get wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.authoring.fmt.text import MOST, indent_line, join_lines, write_block_text, write_plain
from analyzer.authoring.fmt.tree import CannotLayOutError, Comment, Document, YamlEntry, YamlNode
from analyzer.rules import examples, logs, short, short_examples
from analyzer.rules import keys as rule_keys

GROUPS = (
    (
        *("rule", "title", "kb", "issues", "source", "checked", "owner", "tags"),
        *("status", "proven", "replaced_by", "replaces", "revised", "needs", "about", "product"),
    ),
    ("sign", "cleared", "each", "join", "fact", "population", "subject", "object"),
    ("logs", "seen"),
    ("affected", "fixed_in", "only", "let", "when"),
    ("severity", "confidence", "say", "grade", "outcomes", "notes", "evidence", "chart"),
    ("fix", "caution", "not_this", "explained_by", "ask"),
    ("examples",),
)
WIDTH = 100  # a flow collection that is wider than MOST is filled to it
_BY_RESULT = ("match", "no_match", "cleared", "not_applicable", "cannot_tell", "more")
_CASE = tuple(
    dict.fromkeys(("name", "like", "lines", *short_examples.ROW_KEYS, *short_examples.CASE_KEYS))
)
# Path of a mapping -> its keys in order; `*` stands for any key and for the items of a list.
ORDERS: dict[tuple[str, ...], tuple[str, ...]] = {
    (): tuple(rule_keys.KEYS),
    ("sign",): short.SIGN_KEYS,
    ("cleared",): short.CLEARED_KEYS,
    **{("examples", key, "*"): _CASE for key in _BY_RESULT[:-1]},
    **{("examples", key, "*", "expect"): examples.EXPECT_KEYS for key in _BY_RESULT[:-1]},
    **{("examples", key, "*", "files", "*"): examples.FILE_KEYS for key in _BY_RESULT},
    ("examples", "more", "*"): examples.EXAMPLE_KEYS,
    ("examples", "more", "*", "expect"): examples.EXPECT_KEYS,
    ("join", "*"): rule_keys.JOIN_KEYS,
    ("population",): rule_keys.POPULATION_KEYS,
    ("logs", "*"): logs.LOG_KEYS,
    ("sign", "also", "*"): logs.ALSO_KEYS,
    ("cleared", "also", "*"): logs.ALSO_KEYS,
    ("logs", "*", "also", "*"): logs.ALSO_KEYS,
    ("seen", "*"): logs.SEEN_KEYS,
    ("grade", "*"): rule_keys.GRADE_KEYS,
    ("outcomes", "*"): rule_keys.OUTCOME_KEYS,
    ("notes", "*"): rule_keys.NOTE_KEYS,
    ("fix", "*"): rule_keys.FIX_KEYS,
    ("examples", "*"): examples.EXAMPLE_KEYS,
    ("examples", "*", "expect"): examples.EXPECT_KEYS,
    ("examples", "*", "files", "*"): examples.FILE_KEYS,
}
_EXPRESSIONS = {
    ("only",), ("when",), ("let", "*"), ("grade", "*", "when"), ("outcomes", "*", "when"), ("notes", "*", "when"),
    ("fix", "*", "when"),
    ("logs", "*", "where"), ("sign", "where"), ("cleared", "where"), ("join", "*", "where"), ("population", "where"),
}  # fmt: skip

Path = tuple[str, ...]


def print_document(document: Document) -> str:
    """Return the text of a document in the layout of a well-kept file. Raises CannotLayOutError."""
    root = document.root
    root.style = "block"
    if not _has_alias(root):
        _sort_entries(root, ())
    page = _Page()
    page.put_comments(document.header, 0)
    if document.gap:
        page.add_blank()
    group = None
    for number, entry in enumerate(root.entries):
        own = next((at for at, keys in enumerate(GROUPS) if entry.name in keys), len(GROUPS))
        page.put_entry(entry, 0, (), "", blank=number > 0 and own != group)
        group = own
    page.put_comments(document.tail, 0, after=True)
    return "\n".join(page.lines) + "\n"


class _Page:
    """Lines as they are written; `held` when the last one ends a text that keeps its blank lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.held = False

    def add_blank(self) -> None:
        if not self.held:
            self.lines.append("")

    def put_lines(self, *lines: str) -> None:
        self.lines += lines
        self.held = False

    def put_comments(self, some: Iterable[Comment], column: int, *, after: bool = False) -> None:
        """Write comments with the blank lines above them; above the first one only where something is `after`."""
        for number, comment in enumerate(some):
            if comment.blank and (after or number):
                self.add_blank()
            self.put_lines(" " * column + comment.text)

    def put_entry(
        self, entry: YamlEntry, column: int, path: Path, lead: str, *, blank: bool
    ) -> None:
        """Write one pair or item with its comments; `blank` asks for a blank line above all of it.

        `lead` comes before it instead of its indent, when it begins on the line of a dash.
        """
        node = entry.value
        on_dash = _is_on_dash(entry)
        if blank:
            self.add_blank()
        parted = bool(entry.above) and entry.blank
        _lift_comments(entry, entry)
        self.put_comments([*entry.above, *entry.beside[:-1]], column)
        if parted:
            self.add_blank()
        key = "-"
        if entry.key:
            key = _write_key(entry.key)
        start = (lead or " " * column) + key
        if node.anchor:
            start += f" &{node.anchor}"
        inner = (*path, _find_step(entry, path))
        beside = ""
        if entry.beside:
            comment = entry.beside[-1]
            beside = " " * max(2, comment.gap) + comment.text
        if not node.block:
            self.put_single(node, column, path=inner, start=start, beside=beside)
        elif not on_dash:
            self.put_lines(start + beside)
        for number, child in enumerate(node.entries if node.block else ()):
            blank = child.blank
            if child.above:
                blank = child.above[0].blank
            apart = number > 0 and blank
            self.put_entry(
                child, column + 2, inner, "" if number or not on_dash else f"{start} ", blank=apart
            )
        self.put_comments(entry.below, column, after=True)

    def put_single(
        self, node: YamlNode, column: int, *, path: Path, start: str, beside: str
    ) -> None:
        """Write an entry whose value is a scalar, an alias or a flow collection."""
        if node.style in ("|", ">"):
            head, body = write_block_text(node, column, expression=path in _EXPRESSIONS)
            self.put_lines(f"{start} {head}{beside}", *body)
            self.held = head.endswith("+")
            return
        if node.style == "flow":
            body = _write_flow(node, len(start) + 1, "", MOST)
        elif node.style:
            first, *rest = node.raw.split("\n")
            body = [first, *(indent_line(line.strip(" \t"), column) for line in rest)]
        else:
            body = write_plain(node, column, len(start) + 1, expression=path in _EXPRESSIONS)
            if len(body) > 1:
                self.put_lines(f"{start} {body[0]}{beside}", *body[1:])
                return
        body[0] = f"{start} {body[0]}".rstrip(" ")
        body[-1] += beside
        self.put_lines(*body)


def _is_on_dash(entry: YamlEntry) -> bool:
    """Say whether the first entry of a block is on the line of its dash."""
    return entry.value.block and not entry.key and not entry.value.anchor


def _lift_comments(entry: YamlEntry, top: YamlEntry) -> None:
    """Move comments that would part a dash from what begins on its line above the dash of `top`."""
    if _is_on_dash(entry):
        first = entry.value.entries[0]
        top.above += [*entry.beside, *first.above]
        entry.beside, first.above = [], []
        _lift_comments(first, top)


def _write_key(key: YamlNode) -> str:
    """Return a key as written, with its colon."""
    if key.anchor:
        anchor = f"&{key.anchor} "
    else:
        anchor = ""
    if key.kind == "alias":
        return f"{anchor}{key.raw} :"
    return f"{anchor}{key.raw}:"


def _find_step(entry: YamlEntry, path: Path) -> str:
    """Return what a child's path goes on with: its key, or `*` where any key may stand."""
    free = entry.key is None or path in {("join",), ("logs",), ("seen",), ("let",)}
    if free:
        return "*"
    return entry.name


def _sort_entries(node: YamlNode, path: Path) -> None:
    """Put all entries in the order of the loader's keys, unknown keys last; lists and free names stay."""
    known = ORDERS.get(path)
    if known is not None and node.kind == "map":
        rank = {key: at for at, key in enumerate(known)}
        node.entries.sort(key=lambda entry: rank.get(entry.name, len(rank)))
    for entry in node.entries:
        _sort_entries(entry.value, (*path, _find_step(entry, path)))


def _has_alias(node: YamlNode) -> bool:
    """Say whether an alias is below: it must come after its anchor, so the author's order stays."""
    keys = (entry.key for entry in node.entries if entry.key)
    if node.kind == "alias":
        return True
    return any(map(_has_alias, (*keys, *(entry.value for entry in node.entries))))


# -- flow style


def _write_flat(node: YamlNode) -> str:
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
        (f"{_write_key(entry.key)} " if entry.key else "", entry.value) for entry in node.entries
    )
    inside = ", ".join(key + _write_flat(value) for key, value in pairs)
    if node.kind == "map":
        return f"{anchor}{{{inside}}}"
    return f"{anchor}[{inside}]"


def _write_flow(node: YamlNode, column: int, after: str, most: int = WIDTH) -> list[str]:
    """Return a flow collection as lines: the first starts at `column`, the others are aligned behind the bracket.

    `after` is what follows its last character on the same line.
    """
    whole = _write_flat(node) + after
    if node.kind not in ("map", "seq") or not node.entries or column + len(whole) <= most:
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
            key = f"{_write_key(entry.key)} "
        else:
            key = ""
        place = (column if len(rows) == 1 else 0) + len(rows[-1]) + (number > 0)
        if number and place + len(key) + len(_write_flat(entry.value)) + len(tail) > WIDTH:
            rows.append(margin)
        elif number:
            rows[-1] += " "
        place = (column if len(rows) == 1 else 0) + len(rows[-1]) + len(key)
        first, *rest = _write_flow(entry.value, place, tail)
        rows[-1] += key + first
        rows += rest
    return rows
