"""The layout of a well-kept rule file: from its concrete tree to text.

Keys stand in the order of the loader's own lists, groups of keys are parted by one blank line, blocks are
indented by two. What the author chose stays: flow or block style, quotes, numbers as written, the lines of
a block text. A line of plain or folded text, or of a flow list or mapping, that is wider than MOST is
filled anew to WIDTH; what fits stays on its line, so that a sentence or a row of a table is not cut for
two words. A quoted text is never broken: a break inside quotes is hard to read and easy to get wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.authoring.fmt.text import MOST, WIDTH, block_text, indented, joined, plain
from analyzer.authoring.fmt.tree import Comment, Document, YamlEntry, YamlNode
from analyzer.rules import examples, logs, reader, short

GROUPS = (
    ("rule", "title", "kb", "issues", "source", "status", "replaced_by", "revised", "needs", "about"),
    ("sign", "cleared", "each", "join", "fact", "population", "subject", "object"),
    ("logs", "seen"),
    ("affected", "fixed_in", "only", "let", "when"),
    ("severity", "confidence", "say", "grade", "outcomes", "notes", "evidence", "chart"),
    ("fix", "caution", "not_this", "explained_by", "ask"),
    ("examples",),
)
# Path of a mapping -> its keys in order; `*` stands for any key and for the items of a list.
ORDERS: dict[tuple[str, ...], tuple[str, ...]] = {
    (): tuple(reader.KEYS),
    ("sign",): short.SIGN_KEYS,
    ("cleared",): short.CLEARED_KEYS,
    ("join", "*"): reader.JOIN_KEYS,
    ("population",): reader.POPULATION_KEYS,
    ("logs", "*"): logs.LOG_KEYS,
    ("seen", "*"): logs.SEEN_KEYS,
    ("grade", "*"): reader.GRADE_KEYS,
    ("outcomes", "*"): reader.OUTCOME_KEYS,
    ("notes", "*"): reader.NOTE_KEYS,
    ("fix", "*"): reader.FIX_KEYS,
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


def printed(document: Document) -> str:
    """Return the text of a document in the layout of a well-kept file."""
    root = document.root
    root.style = "block"
    _arrange(root, ())
    _settle(root)
    page = _Page()
    for number, comment in enumerate(document.header):
        page.comment(comment, 0, blank=comment.blank and number > 0)
    if document.gap:
        page.blank()
    group = None
    for number, entry in enumerate(root.entries):
        own = next((at for at, keys in enumerate(GROUPS) if entry.name in keys), len(GROUPS))
        page.entry(entry, 0, (), "", blank=number > 0 and own != group)
        group = own
    page.comments(root.tail, 0, first=False)
    return "\n".join(page.lines) + "\n"


class _Page:
    """Lines as they are written; `held` when the last one ends a text that keeps its blank lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.held = False

    def blank(self) -> None:
        if not self.held:
            self.lines.append("")

    def put(self, *lines: str) -> None:
        self.lines += lines
        self.held = False

    def comment(self, comment: Comment, column: int, *, blank: bool) -> None:
        if blank:
            self.blank()
        self.put(" " * column + comment.text)

    def comments(self, some: Iterable[Comment], column: int, *, first: bool) -> None:
        for comment in some:
            self.comment(comment, column, blank=comment.blank and not first)
            first = False

    def block(self, node: YamlNode, column: int, path: Path, lead: str) -> None:
        """Write the entries of a block collection; `lead` stands before the first one instead of its indent."""
        for number, entry in enumerate(node.entries):
            parted = entry.above[0].blank if entry.above else entry.blank
            self.entry(entry, column, path, lead if number == 0 else "", blank=parted and number > 0)
        self.comments(node.tail, column, first=False)

    def entry(self, entry: YamlEntry, column: int, path: Path, lead: str, *, blank: bool) -> None:
        """Write one pair or item with its comments; `blank` asks for a blank line above all of it."""
        if blank:
            self.blank()
        parted = bool(entry.above) and entry.blank
        self.comments(_above(entry), column, first=True)
        if parted:
            self.blank()
        inner = (*path, _step(entry, path))
        start = (lead or " " * column) + (_key(entry.key) if entry.key else "-")
        if entry.value.anchor:
            start += f" &{entry.value.anchor}"
        if not entry.value.block:
            self._single(entry, column, inner, start)
        elif entry.key or entry.value.anchor:
            self.put(start + _beside(entry.beside))
            self.block(entry.value, column + 2, inner, "")
        else:
            self.block(entry.value, column + 2, inner, f"{start} ")

    def _single(self, entry: YamlEntry, column: int, path: Path, start: str) -> None:
        """Write an entry whose value is a scalar, an alias or a flow collection."""
        node = entry.value
        beside = _beside(entry.beside)
        if node.style in ("|", ">"):
            head, body = block_text(node, column, expression=path in _EXPRESSIONS)
            self.put(f"{start} {head}{beside}", *body)
            self.held = head.endswith("+")
            return
        if node.style == "flow":
            body = _flow(node, len(start) + 1, "", MOST)
        elif node.style:
            first, *rest = node.raw.split("\n")
            body = [first, *(indented(line.strip(" \t"), column) for line in rest)]
        else:
            body = plain(node, column, len(start) + 1, expression=path in _EXPRESSIONS)
            if len(body) > 1:
                self.put(f"{start} {body[0]}{beside}", *body[1:])
                return
        body[0] = f"{start} {body[0]}".rstrip(" ")
        body[-1] += beside
        self.put(*body)


def _key(key: YamlNode) -> str:
    """Return a key as written, with its colon."""
    anchor = f"&{key.anchor} " if key.anchor else ""
    return f"{anchor}{key.raw} :" if key.kind == "alias" else f"{anchor}{key.raw}:"


def _on_dash(entry: YamlEntry) -> bool:
    """Tell whether the first entry of a block stands on the line of its dash."""
    return entry.key is None and entry.value.block and not entry.value.anchor


def _above(entry: YamlEntry) -> list[Comment]:
    """Return the comments above an entry, and above those that stand on the line of its dash."""
    found = list(entry.above)
    while _on_dash(entry):
        entry = entry.value.entries[0]
        found += entry.above
        entry.above = []
    return found


def _beside(comments: list[Comment]) -> str:
    return "".join(" " * max(2, comment.gap) + comment.text for comment in comments)


def _step(entry: YamlEntry, path: Path) -> str:
    """Return what a child's path goes on with: its key, or `*` where any key may stand."""
    free = entry.key is None or path in {("join",), ("logs",), ("seen",), ("let",)}
    return "*" if free else entry.name


# -- order, and what must become a block


def _arrange(node: YamlNode, path: Path) -> None:
    """Put all entries in the order of the loader's keys, unknown keys last; lists and free names stay."""
    known = ORDERS.get(path)
    if known is not None and node.kind == "map":
        rank = {key: at for at, key in enumerate(known)}
        wanted = sorted(node.entries, key=lambda entry: rank.get(entry.name, len(rank)))
        if _bindings(wanted) == _bindings(node.entries):
            node.entries = wanted
    for entry in node.entries:
        _arrange(entry.value, (*path, _step(entry, path)))


def _bindings(entries: Iterable[YamlEntry]) -> tuple[dict[int, int | None], dict[str, int]]:
    """Return which anchor each alias means and which anchors hold at the end: an order must not change it."""
    anchors: dict[str, int] = {}
    aliases: dict[int, int | None] = {}

    def visit(node: YamlNode) -> None:
        if node.anchor:
            anchors[node.anchor] = node.start
        if node.kind == "alias":
            aliases[node.start] = anchors.get(node.value)
        for entry in node.entries:
            if entry.key:
                visit(entry.key)
            visit(entry.value)

    visit(YamlNode("map", -1, -1, entries=list(entries)))
    return aliases, anchors


def _settle(node: YamlNode) -> bool:
    """Make blocks of flow collections that hold a comment or a broken text; tell whether `node` holds one.

    Both need lines of their own. A comment that would part a dash from its value moves above the dash.
    """
    holds = False
    for entry in node.entries:
        value = entry.value
        inside = _settle(value)
        if value.kind in ("map", "seq"):
            if value.style == "flow" and inside and value.entries:
                value.style = "block"
            if not value.entries:
                entry.above += value.tail
                value.tail = []
        keep = 0 if _on_dash(entry) else 1
        cut = max(0, len(entry.beside) - keep)
        entry.above += entry.beside[:cut]
        entry.beside = entry.beside[cut:]
        holds = holds or inside or _is_broken(value) or bool(entry.above or entry.beside)
    return holds or bool(node.tail)


def _is_broken(node: YamlNode) -> bool:
    """Tell whether a scalar cannot stand on one line: quoted over several, or plain with a blank line in it."""
    return node.kind == "scalar" and "\n" in (node.raw if node.style else joined(node.raw))


# -- flow style


def _flat(node: YamlNode) -> str:
    """Return a value of flow style on one line."""
    anchor = f"&{node.anchor} " if node.anchor else ""
    if node.kind == "alias":
        return node.raw
    if node.kind == "scalar":
        text = node.raw if node.style else joined(node.raw)
        return anchor + (text or "null")
    pairs = ((f"{_key(entry.key)} " if entry.key else "", entry.value) for entry in node.entries)
    inside = ", ".join(key + _flat(value) for key, value in pairs)
    return anchor + (f"{{{inside}}}" if node.kind == "map" else f"[{inside}]")


def _flow(node: YamlNode, column: int, after: str, most: int = WIDTH) -> list[str]:
    """Return a flow collection as lines: the first starts at `column`, the others are aligned behind the bracket.

    `after` is what follows its last character on the same line.
    """
    whole = _flat(node) + after
    if node.kind not in ("map", "seq") or not node.entries or column + len(whole) <= most:
        return [whole]
    opening, closing = ("{", "}") if node.kind == "map" else ("[", "]")
    margin = " " * (column + 1)
    rows = [opening]
    for number, entry in enumerate(node.entries):
        tail = "," if number < len(node.entries) - 1 else closing + after
        key = f"{_key(entry.key)} " if entry.key else ""
        place = (column if len(rows) == 1 else 0) + len(rows[-1]) + (number > 0)
        if number and place + len(key) + len(_flat(entry.value)) + len(tail) > WIDTH:
            rows.append(margin)
        elif number:
            rows[-1] += " "
        place = (column if len(rows) == 1 else 0) + len(rows[-1]) + len(key)
        first, *rest = _flow(entry.value, place, tail)
        rows[-1] += key + first
        rows += rest
    return rows
