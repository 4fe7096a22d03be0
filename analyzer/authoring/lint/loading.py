"""Loads a rule file for the linter and goes on after a mistake, so that one run reports many.

The loader stops at the first mistake. Here the part that holds it is taken out of the tree and
the rest is loaded again, until nothing is wrong any more. What is wrong only because something
was taken out (a name, a key) is no complaint. Two things end it: a file that is not YAML, and a
broken `each`, because all other names rest on it. In one expression only the first mistake counts.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from analyzer import rules
from analyzer.artefacts.tables import Tables
from analyzer.authoring.lint.complaints import MOST as SENTENCE
from analyzer.authoring.lint.complaints import Complaint, RuleFile, item_at
from analyzer.rules import Rule
from analyzer.rules.language.rulefile import BadRuleError, FileSpan, RuleItem, RuleText, walk_items
from analyzer.rules.short import CLEARED, END, LASTING, OVER, SIGN, expand_short
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import one_line
from analyzer.scan.patterns import find_fatal

# Mistakes of one file that are reported: each costs a load, so a very large file gets fewer.
MOST, WORK = 60, 300_000
Way = tuple[str | int, ...]  # keys and numbers that lead from the top of the tree to a part

# Message of the loader -> code; the first pattern that is found counts, R006 is the rest.
_CODES = [
    (re.compile(pattern), code)
    for pattern, code in (
        (
            r"^not YAML|^the file is empty|a second document|^nested deeper|aliases?$|^merge keys|^a YAML tag",
            "R001",
        ),
        (
            r"too many values|a key must be a word|not UTF-8|^larger than \d+ bytes|^cannot be read|^not a file",
            "R001",
        ),
        (r"is given twice", "R003"),
        (r"^unknown key", "R004"),
        (r"^an outcome has no severity", "R030"),
        (r"newer than|newer (tool|version|Backline)", "R059"),
        (
            r"is missing$|^(join|log|population|an example|expect|a file|a note|a grade)\b.* has no ",
            "R005",
        ),
        (r"^(seen .*|`sign`|`cleared`) has no `(in|match|log|until|longer_than)`", "R005"),
        (r"^a step of fix needs", "R005"),
        (r"^seen .* needs one of", "R005"),
        (r"is (version|str), not a number|a version cannot be compared with a number", "R008"),
        (r"no parser makes table|^`[^`]*` is (a|not a) log$", "R010"),
        (r"has no column|^hits of .* have no|^`[^`]*` has no `", "R011"),
        (r"^unknown function", "R013"),
        (
            r"^unknown name|is a row, not a value|^no signature|^no example|cannot be joined on",
            "R012",
        ),
        (
            r"^no (text|pattern|threshold) `.*` is shared|\); a .* is needed here$|^`.*` is not known: ",
            "R012",
        ),
        (r"has many rows|works over many rows|one table of many rows", "R014"),
        (r"^a lone|the braces are empty|^format `|^a value is inside quotes", "R018"),
        (
            r"cannot be compared with|have no order|they never match|this must be true or false",
            "R015",
        ),
        (r"needs a (number|condition)", "R015"),
        (r"is .*, not (true or false|a number)$", "R015"),
        (r"regular expression|matches every line|^a pattern longer", "R040"),
        (
            r"not an expression|not allowed here|an expression is expected|once its names are written out",
            "R016",
        ),
        (
            r"^longer than \d+ characters|takes (one|plain) value|`in` needs|is not a (version|time)$",
            "R016",
        ),
        (r"cannot be a name|is already taken|^two examples are named|is not an id", "R017"),
    )
]
_TEXTS = ("say", "subject", "object", "run", "do", "note", "caution")
_NAMED = ("let", "join", "logs", "seen")
_STAND_INS = {
    "rule": "stand-in",
    "title": "stand-in",
    "when": True,
    "outcomes": [{"when": True, "severity": "info"}],
    "severity": "info",
}
_QUOTED = re.compile(r"`([^`]*)`")


class _Tree(RuleText):
    """The text of a rule file over a tree that was read before."""

    def __init__(self, text: RuleText, tree: RuleItem) -> None:
        super().__init__(text.name, text.text)
        self.defined = text.defined
        self._tree = tree

    def tree(self) -> RuleItem:
        """Return the tree; nothing is read again."""
        return self._tree


def load_file(file: RuleFile, tables: Tables, limits: Limits) -> None:
    """Fill tree and rule of a file as far as they can be had, and keep a complaint for each mistake."""
    try:
        file.tree = file.text.tree()
    except BadRuleError as error:
        file.found.append(_make_complaint(file, error, ()))
        return
    try:
        file.rule = _build_rule(file, file.tree, tables, limits)
    except BadRuleError as error:
        _Mender(file, tables, limits).mend_mistakes(error)
    write_out(file)


def write_out(file: RuleFile) -> None:
    """Put the keys of the long form in the place of the short ones, where these are right; the places stay."""
    try:
        if file.tree is not None:
            file.tree = expand_short(file.text, file.tree)
        else:
            file.tree = None
    except BadRuleError:
        return


def make_complaint(code: str, error: BadRuleError, name: str) -> Complaint:
    """Return a mistake the loader found as a complaint about the file of that name."""
    message = one_line(error.message, SENTENCE)
    help_text = one_line(error.help, SENTENCE)
    return Complaint(code, message, name, error.place, error.source, help_text)


def _build_rule(file: RuleFile, tree: RuleItem, tables: Tables, limits: Limits) -> Rule:
    """Build the rule of a file with its examples; BadRuleError where one is wrong."""
    rule = rules.build(_Tree(file.text, tree), tables, limits)
    _ = rule.examples
    return rule


def code_of(message: str, way: Way = (), line: str = "") -> str:
    """Return the code of a message of the loader.

    way  keys and numbers that lead to the mistake; line  the line it is on
    """
    code = next((code for pattern, code in _CODES if pattern.search(message)), "R006")
    if message.startswith("not YAML") and "\t" in line[: len(line) - len(line.lstrip())]:
        return "R002"
    if code in ("R011", "R012", "R013", "R016") and way and way[-1] in _TEXTS:
        return "R018"
    return code


def _make_complaint(file: RuleFile, error: BadRuleError, way: Way) -> Complaint:
    """Return the error of a loader as a complaint with its code."""
    code = code_of(error.message, way, error.source)
    if code in ("R006", "R040") and _has_fatal(file, way):
        code = "R041"
    return make_complaint(code, error, file.name)


def _has_fatal(file: RuleFile, way: Way) -> bool:
    """Say whether a pattern is refused for what it would cost, and not for how it is written."""
    if not way or way[0] not in ("logs", SIGN, CLEARED) or way[-1] not in ("match", CLEARED):
        return False
    item = file.find_item(*way)
    try:
        fold = file.read_word(*way[:-1], "ignore_case") == "true"
        if item is None:
            return False
        if not isinstance(item.value, str):
            return False
        return find_fatal(item.text, fold) is not None
    except (re.error, OverflowError, RecursionError):
        return False


_SIGN_NEEDS = ((), ("in",), ("match",))  # parts of `sign` that nothing can be in for


class _Mender:
    """Takes what is wrong out of a copy of the tree, mistake by mistake."""

    def __init__(self, file: RuleFile, tables: Tables, limits: Limits) -> None:
        self.file, self.tables, self.limits = file, tables, limits
        assert file.tree is not None
        self.tree = copy.deepcopy(file.tree)
        self.holed: dict[
            int, RuleItem
        ] = {}  # containers from which something was taken, by identity
        self.gone: set[str] = set()  # names that are known no more

    def mend_mistakes(self, error: BadRuleError | None) -> None:
        """Tell of a mistake, take it out, load again; until the rest is sound or nothing can be taken out."""
        most = WORK // (1 + sum(1 for _ in walk_items(self.tree)))
        for _ in range(max(5, min(MOST, most))):
            if error is None:
                return
            way = self.find_way(error)
            # A mistake that is only there because something was taken out is no complaint.
            item = item_at(self.tree, *way)
            holed = item is not None and id(item) in self.holed and item.place == error.place
            words = set()
            for word in _QUOTED.findall(error.message):
                words.add(word.partition(".")[0])
            if not holed and not words & self.gone:
                self.file.found.append(_make_complaint(self.file, error, way))
            if not self.take_out(way, error):
                return
            error = None
            try:
                _build_rule(self.file, self.tree, self.tables, self.limits)
            except BadRuleError as next_error:
                error = next_error

    def take_out(self, way: Way, error: BadRuleError) -> bool:
        """Take a part out of the tree, or put a stand-in for one that must be there; False where that cannot be."""
        if not way or way == ("each",) or (way[0] == SIGN and way[1:] in _SIGN_NEEDS):
            return False
        unknown = error.message.startswith("unknown key")
        if len(way) == 1 and way[0] in _STAND_INS and not unknown:
            self.tree.value[way[0]] = _make_item(_STAND_INS[str(way[0])])
            return True
        parent = item_at(self.tree, *way[:-1])
        if parent is None or not isinstance(parent.value, dict | list):
            return False
        children: Any = parent.value
        lost = children.pop(way[-1])
        self.holed[id(parent)] = parent
        parent.keys.pop(str(way[-1]), None)
        self.forget_names(way, lost)
        return True

    def find_way(self, error: BadRuleError) -> Way:
        """Return the way to the part a mistake is in: at its very place, or the last part before it."""
        missing = re.match(r"key `(\w+)` is missing", error.message)
        if missing:
            return (missing[1],)
        best: Way = ()
        nearest = (0, 0)
        for way, place in _list_places(self.tree, ()):
            if place == error.place:
                return way
            start = (place.line, place.column)
            if nearest <= start <= (error.place.line, error.place.column):
                best, nearest = way, start
        return best

    def forget_names(self, way: Way, lost: RuleItem) -> None:
        """Note the names that no one knows any more after a part was taken out."""
        if way[0] in _NAMED and len(way) == 2:
            self.gone.add(str(way[1]))
        elif way[0] in _NAMED:
            if len(way) == 1 and lost.keys:
                self.gone |= {str(name) for name in lost.value}
        elif way[0] == "examples" and len(way) == 2:
            name = item_at(lost, "name")
            self.gone |= {name.text.strip()} if name is not None else set()
        elif way[0] == CLEARED:
            self.gone |= {CLEARED, END, LASTING, OVER}
        elif way == ("population", "as"):
            self.gone.add(lost.text.strip())


def _list_places(item: RuleItem, way: Way) -> list[tuple[Way, FileSpan]]:
    """Return the ways to all keys and values below an item with their places, keys first."""
    found: list[tuple[Way, FileSpan]] = []
    if isinstance(item.value, dict):
        for key, child in item.value.items():
            if key in item.keys:
                found.append(((*way, key), item.keys[key]))
            found += [((*way, key), child.place), *_list_places(child, (*way, key))]
    elif isinstance(item.value, list):
        for number, child in enumerate(item.value):
            found += [((*way, number), child.place), *_list_places(child, (*way, number))]
    return found


def _make_item(value: object) -> RuleItem:
    """Return a plain value as an item without a place of its own."""
    place = FileSpan(0, 0, 0)
    if isinstance(value, list):
        return RuleItem([_make_item(child) for child in value], place)
    if isinstance(value, dict):
        return RuleItem(
            {key: _make_item(child) for key, child in value.items()},
            place,
            keys=dict.fromkeys(value, place),
        )
    return RuleItem(value, place, "true" if value is True else str(value))
