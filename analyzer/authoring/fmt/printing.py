"""The layout of a well-kept rule file: from its concrete tree to text.

Keys are in the order of the loader's own lists, blocks are indented by two. Three groups of keys (the head, the
judgement, the examples) are parted by one blank line; there is no other. Paragraphs of folded text are filled to
MOST, a text or a small collection that fits on one line is written on one (slim.py), and a flow list or mapping
that does not fit is filled. What the author chose stays: quotes, numbers as written, the lines of a block text
and of an expression. A quoted text is never broken: a break inside quotes is hard to read and easy to get wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.authoring.fmt.slim import make_slim, write_flow, write_key
from analyzer.authoring.fmt.text import indent_line, write_block_text, write_plain
from analyzer.authoring.fmt.tree import MODELINE, Comment, Document, YamlEntry, YamlNode
from analyzer.rules import examples, logs, short, short_examples
from analyzer.rules import keys as rule_keys
from analyzer.rules.cited_sources import SOURCE_KEYS

GROUPS = (
    (
        *("rule", "title", "kb", "issues", "source", "checked", "owner", "tags"),
        *("status", "proven", "replaced_by", "replaces", "revised", "needs"),
        *("about", "product", "unasked"),
    ),
    (
        *("sign", "cleared", "each", "join", "fact", "population", "subject", "object"),
        *("logs", "seen", "affected", "fixed_in", "only", "let", "when"),
        *("severity", "confidence", "say", "grade", "outcomes", "notes", "evidence", "chart"),
        *("fix", "caution", "not_this", "explained_by", "ask"),
    ),
    ("examples",),
)
_BY_RESULT = ("match", "no_match", "cleared", "not_applicable", "cannot_tell", "more")
_CASE = tuple(
    dict.fromkeys(("name", "like", "lines", *short_examples.ROW_KEYS, *short_examples.CASE_KEYS))
)
# Path of a mapping -> its keys in order; `*` stands for any key and for the items of a list.
ORDERS: dict[tuple[str, ...], tuple[str, ...]] = {
    (): tuple(rule_keys.KEYS),
    ("source",): SOURCE_KEYS,
    ("source", "*"): SOURCE_KEYS,
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
        make_slim(root)
    page = _Page()
    header = [one for one in document.header if not MODELINE.match(one.text)]
    page.put_comments(header, 0)
    if header and document.gap:
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
            key = write_key(entry.key)
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
            lead = "" if number or not on_dash else f"{start} "
            self.put_entry(child, column + 2, inner, lead, blank=False)
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
            body = write_flow(node, len(start) + 1, "")
        elif node.style:
            first, *rest = node.raw.split("\n")
            body = [first, *(indent_line(line.strip(" \t"), column) for line in rest)]
        else:
            body = write_plain(
                node, column, len(start) + 1, expression=path in _EXPRESSIONS, alone=not beside
            )
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
