"""A rule file as values that know their line and column, and errors with a caret.

YAML is read by `yaml.compose`, never by `load`: nothing is constructed, only null, true,
false, integers and floats are resolved, and every node keeps its place. Nesting, aliases,
tags and size are limited on the event stream before anything is composed, because a few
bytes of YAML can stand for a billion values.

An error shows the line it speaks of only when the file has a line `rule: …`. A file that is
anything else (a link in a folder of rules may lead to a password) is refused without a word of it.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from analyzer.runtime.errors import RuleFileError
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import make_visible, one_line

if TYPE_CHECKING:
    import yaml  # read where a rule is not stored

    ItemValue = Any
else:  # what is made of a stored tree
    ItemValue = str | bool | int | float | None | list["RuleItem"] | dict[str, "RuleItem"]

DEPTH, ALIASES, NODES = 20, 100, 50_000
_CARET_MOST = 120
_RULE = re.compile(r"""^["']?rule["']?[ \t]*:""", re.MULTILINE)
_CITED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")

_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # where YAML ends a line
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,18})$")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?$|[-+]?[0-9]+[eE][-+]?[0-9]{1,3}$"
)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class FileSpan(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of a rule file: 1-based line and column, width in characters."""

    line: int = 1
    column: int = 1
    width: int = 1


class BadRuleError(RuleFileError):
    """One mistake in a rule file: file, place, reason and help, printed with a caret."""

    def __init__(
        self, message: str, *, file: str, place: FileSpan, source: str = "", help: str = ""
    ) -> None:
        file = one_line(file, 300)
        super().__init__(message, where=f"{file}:{place.line}:{place.column}", do=help)
        self.message, self.file, self.place, self.source, self.help = (
            message,
            file,
            place,
            source,
            help,
        )

    def __str__(self) -> str:
        number = str(self.place.line)
        margin = " " * len(number)
        rows = [f"error: {self.message}", f"  --> {self.where}"]
        if self.source:
            start = (
                max(0, self.place.column - 1 - _CARET_MOST)
                if len(self.source) > 2 * _CARET_MOST
                else 0
            )
            shown = self.source[start : start + 2 * _CARET_MOST].replace("\t", " ")
            width = max(1, min(self.place.width, len(shown) - (self.place.column - 1 - start)))
            rows += [f"{margin}|", f"{number}| {shown}"]
            rows += [f"{margin}| {' ' * (self.place.column - 1 - start)}{'^' * width}"]
        if self.help:
            rows.append(f"{margin}= help: {self.help}")
        return make_visible("\n".join(rows))


class RuleItem(msgspec.Struct, array_like=True):
    """One value of a rule file: a scalar, a list or a mapping, with its place.

    value   str, int, float, bool, None; list[Item]; dict[str, Item]
    text    a scalar as written (without quotes); `quoted` tells a quoted or block scalar
    keys    of a mapping: where each key stands
    made    no author wrote it: the short form stands for it (rules/short.py)
    """

    value: ItemValue
    place: FileSpan
    text: str = ""
    quoted: bool = False
    keys: dict[str, FileSpan] = {}
    made: bool = False

    def plain(self) -> Any:
        """Return the value without places."""
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        return self.value

    @property
    def what(self) -> str:
        """The kind of value in words, for messages."""
        names = {
            dict: "a mapping",
            list: "a list",
            str: "text",
            bool: "true or false",
            type(None): "nothing",
        }
        return names.get(type(self.value), "a number")


RuleItems = dict[str, RuleItem]  # by key


class SharedParts(Protocol):
    """What several rules share by name (language/shared.py)."""

    @property
    def key(self) -> bytes:
        """What tells one content from another."""

    @property
    def faults(self) -> list[BadRuleError]:
        """What is wrong with the files that hold them."""

    def put_in(self, text: RuleText, tree: RuleItem) -> RuleItem:
        """Return the tree of a rule with its names written out."""


class RuleText:
    """The text of one rule file: makes the tree of items and the errors with their place.

    shared   parts that the file may name; None leaves names as they are written
    defined  place of such a name -> where it is defined; known after `tree`
    stored_tree  the tree as it was read before; "" where the text has to be read
    is_checked   the same code read this rule before, under the same limits: sizes and patterns need no second look
    """

    known_by = "a rule file has a line `rule: <id>`"

    def __init__(self, name: str, text: str, shared: SharedParts | None = None) -> None:
        self.name, self.text, self.shared = name, text, shared
        self.defined: dict[FileSpan, list[str]] = {}
        self.stored_tree = b""
        self.is_checked = False

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file, without their ends."""
        return _LINE_END.split(self.text)

    @cached_property
    def is_rule(self) -> bool:
        """Whether the file may be cited: it has a line `rule: …`, or is read as one."""
        return bool(_RULE.search(self.text))

    def error(self, message: str, place: FileSpan, help: str = "") -> BadRuleError:
        """Return the error for a place of this file; nothing of a file that is no rule file is cited."""
        if not self.is_rule:
            message = _CITED.sub("…", message)
            return BadRuleError(message, file=self.name, place=place, help=self.known_by)
        source = self.lines[place.line - 1] if 0 < place.line <= len(self.lines) else ""
        help = "; ".join(filter(None, [help, *dict.fromkeys(self.defined.get(place, ()))]))
        return BadRuleError(message, file=self.name, place=place, source=source, help=help)

    def within(self, item: RuleItem, start: int, end: int) -> FileSpan:
        """Return the place of characters start..end of a scalar's text, as near as the YAML style allows."""
        if item.place in self.defined:  # its words stand elsewhere
            return item.place
        line, column = item.place.line, item.place.column + (1 if item.quoted else 0)
        raw = self.lines[line - 1] if line <= len(self.lines) else ""
        if raw[column - 1 :].startswith(item.text):
            return FileSpan(line, column + start, max(1, end - start))
        word = item.text[start:end]
        skipped = item.text[:start].count(word) if word else 0
        for number in range(line, min(len(self.lines), line + item.text.count("\n") + 40) + 1):
            row = self.lines[number - 1]
            at = row.find(word, column - 1 if number == line else 0)
            while at >= 0 and word:
                if skipped == 0:
                    return FileSpan(number, at + 1, max(1, end - start))
                skipped -= 1
                at = row.find(word, at + 1)
        return item.place

    def tree(self) -> RuleItem:
        """Return the file's values; raises BadRuleError when it is not YAML or goes beyond a limit."""
        tree: RuleItem | None = None
        if self.stored_tree:
            with suppress(msgspec.MsgspecError):
                tree, defined = _TREES.decode(self.stored_tree)
                self.defined = dict(defined)
        if tree is None:
            tree = self.read_tree()
        self.is_rule = self.is_rule or (isinstance(tree.value, dict) and "rule" in tree.value)
        return tree

    def store_tree(self, tree: RuleItem) -> None:
        """Keep the tree, as far as its values can be stored, for whoever asks for it again."""
        try:
            self.stored_tree = msgspec.msgpack.encode((tree, list(self.defined.items())))
        except (ValueError, OverflowError):  # half a surrogate pair, a number of more than 64 bits
            self.stored_tree = b""

    def read_tree(self) -> RuleItem:
        """Return the values that the YAML of the text holds, with what it shares; raises as `tree` does."""
        import yaml  # noqa: PLC0415 - see above

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            self._scan_events(loader)
            node = yaml.compose(self.text, Loader=loader)
        except (
            UnicodeEncodeError
        ) as error:  # half of a pair of UTF-16 in a text that comes from no file
            before = self.text[: error.start]
            place = FileSpan(before.count("\n") + 1, error.start - before.rfind("\n"))
            raise self.error("not YAML: half of a surrogate pair", place) from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = FileSpan(mark.line + 1, mark.column + 1) if mark else FileSpan()
            if "nesting depth" in str(
                error.problem
            ):  # newer libyaml counts for itself, ahead of the events
                raise self.error(f"nested deeper than {DEPTH} levels", place) from None
            raise self.error(f"not YAML: {error.problem or error.context}", place) from None
        except yaml.YAMLError as error:
            raise self.error(
                f"not YAML: {' '.join(str(error).split())[:200]}", FileSpan()
            ) from None
        if node is None:
            raise self.error("the file is empty", FileSpan(), "backline rules new makes a skeleton")
        budget = [NODES]
        tree = self._make_item(node, 0, budget)
        self.defined = {}
        self.is_rule = self.is_rule or (isinstance(tree.value, dict) and "rule" in tree.value)
        return tree if self.shared is None else self.shared.put_in(self, tree)

    def _scan_events(self, loader: Any) -> None:
        """Refuse deep nesting, many aliases, tags and a second document on the event stream."""
        import yaml  # noqa: PLC0415 - see above

        depth = aliases = documents = 0
        for event in yaml.parse(self.text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                aliases += 1
                if aliases > ALIASES:
                    raise self.error(
                        f"more than {ALIASES} aliases", _find_start(event), "write the values out"
                    )
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.error(
                        "a second document in the file", _find_start(event), "one rule is one file"
                    )
            elif isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEPTH:
                    raise self.error(f"nested deeper than {DEPTH} levels", _find_start(event))
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            tag = getattr(event, "tag", None)
            if tag is not None and isinstance(event, yaml.NodeEvent):
                raise self.error(
                    f"a YAML tag is not allowed: `{tag[:60]}`",
                    _find_start(event),
                    "write plain values",
                )

    def _make_item(self, node: yaml.Node, depth: int, budget: list[int]) -> RuleItem:
        import yaml  # noqa: PLC0415 - see above

        budget[0] -= 1
        place = _find_span(node)
        if budget[0] < 0 or depth > DEPTH:
            raise self.error("the file expands to too many values", place, "write fewer aliases")
        if isinstance(node, yaml.ScalarNode):
            text = str(node.value)
            quoted = node.style not in (None, "")
            return RuleItem(
                text if quoted else _resolve_scalar(text), place, text, node.style in ("'", '"')
            )
        if isinstance(node, yaml.SequenceNode):
            return RuleItem(
                [self._make_item(child, depth + 1, budget) for child in node.value], place
            )
        import yaml  # noqa: PLC0415 - see above

        values: RuleItems = {}
        keys: dict[str, FileSpan] = {}
        for key, child in node.value:
            at = _find_span(key)
            if not isinstance(key, yaml.ScalarNode):
                raise self.error("a key must be a word", at)
            name = str(key.value)
            if name == "<<" and key.style in (None, ""):
                raise self.error(
                    "merge keys are not allowed",
                    at,
                    "write the values out, or use `like` in an example",
                )
            if name in keys:
                raise self.error(
                    f"key `{name[:60]}` is given twice: lines {keys[name].line} and {at.line}", at
                )
            keys[name] = at
            values[name] = self._make_item(child, depth + 1, budget)
        return RuleItem(values, place, keys=keys)

    def list_entries(
        self, item: RuleItem | None, what: str
    ) -> list[tuple[str, FileSpan, RuleItem]]:
        """Return the entries of a mapping of any keys, each with the place of its key; none where there is no mapping."""
        if item is None or item.value is None:
            return []
        if not isinstance(item.value, dict):
            raise self.error(f"{what} must be a mapping, not {item.what}", item.place)
        return [(name, item.keys[name], body) for name, body in item.value.items()]

    def mapping(self, item: RuleItem, known: Iterable[str], what: str) -> RuleItems:
        """Return a mapping after checking that it is one and holds only known keys."""
        if not isinstance(item.value, dict):
            raise self.error(f"{what} must be a mapping, not {item.what}", item.place)
        known = list(known)
        for key in item.value:
            if key not in known:
                raise self.error(
                    f"unknown key `{key[:60]}` in {what}", item.keys[key], did_you_mean(key, known)
                )
        return dict(item.value)

    def string(self, item: RuleItem, what: str) -> str:
        """Return text; a bare number or true/false is taken as it is written."""
        if isinstance(item.value, dict | list) or item.value is None:
            help = (
                "a text with a colon and a space in it needs quotes"
                if isinstance(item.value, dict)
                else ""
            )
            raise self.error(f"{what} must be text, not {item.what}", item.place, help)
        return item.text.strip()


_TREES = msgspec.msgpack.Decoder(tuple[RuleItem, list[tuple[FileSpan, list[str]]]])


def read_file(path: Any, limits: Limits) -> tuple[RuleText, bytes]:
    """Return the text and the bytes of a rule file; raises BadRuleError when it cannot be one."""
    name = path.name

    def bad(message: str, help: str = "") -> BadRuleError:
        return BadRuleError(message, file=str(name), place=FileSpan(), help=help)

    try:
        if not path.is_file():
            raise bad("not a file")
        with open(path, "rb") if isinstance(path, Path) else path.open("rb") as stream:  # noqa: PTH123 - twice as quick
            raw: bytes = stream.read(limits.rule_file + 1)
    except OSError as error:
        raise bad(f"cannot be read: {error.strerror}") from None
    if len(raw) > limits.rule_file:
        raise bad(
            f"larger than {limits.rule_file} bytes",
            "one rule is one file; raise it with --limit rule_file=N",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad(f"not UTF-8 at byte {error.start}", "save the file as UTF-8") from None
    return RuleText(name, text), raw


def leads_out(path: Any) -> bool:
    """Say whether a file of a folder is a link to a file that lies elsewhere."""
    if not path.is_symlink():
        return False
    folder = os.path.realpath(path.parent)
    return not os.path.realpath(path).startswith(folder + os.sep)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a help sentence with the nearest known words."""

    known = sorted(known)
    near = difflib.get_close_matches(word[:80], known, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{near[0]}`?"
    return "known: " + ", ".join(known) if 0 < len(known) <= 30 else ""


def walk_items(item: RuleItem) -> Iterator[RuleItem]:
    """Yield an item and everything below it."""
    yield item
    below: Iterable[RuleItem] = ()
    if isinstance(item.value, dict):
        below = item.value.values()
    elif isinstance(item.value, list):
        below = item.value
    for child in below:
        yield from walk_items(child)


def _find_start(event: yaml.Event) -> FileSpan:
    mark = event.start_mark
    return FileSpan(mark.line + 1, mark.column + 1) if mark else FileSpan()


def _find_span(node: yaml.Node) -> FileSpan:
    start, end = node.start_mark, node.end_mark
    width = end.column - start.column if end.line == start.line else 1
    return FileSpan(start.line + 1, start.column + 1, max(1, width))


def _resolve_scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.match(text):
        return int(text)
    if _FLOAT.match(text):
        number = float(text)
        return number if number not in (float("inf"), float("-inf")) else text
    return text
