"""What a line must contain for a Python regex to match it: literals, and a regex for bytes.

Fast engines do not speak Python's dialect and know no Unicode. So they get an
*over-approximation* of each pattern, made from Python's own parse tree: whatever the pattern
matches on a decoded line, the approximation matches on the line's bytes. It may match more;
the pattern itself always has the last word. Case is folded for ASCII only here: lines that
hold one of `ODD_CASE` must be looked at for every case-insensitive pattern.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

from analyzer.runtime.snapshot import keep_answers

# Python's own parser and its names; public until 3.10 as sre_parse and sre_constants.
_parser: Any = importlib.import_module("re._parser")
OPS: Any = importlib.import_module("re._constants")

# what an ASCII letter matches without case
ODD_PARTNERS = {"i": (0x130, 0x131), "k": (0x212A,), "s": (0x17F,)}
HIGH = "\\x80-\\xff"  # the bytes of characters beyond ASCII, inside a class


@lru_cache(maxsize=1024)
def find_members(items: tuple[tuple[Any, Any], ...], nocase: bool) -> tuple[frozenset[int], bool]:
    """Return the ASCII characters that a class of a parsed pattern holds, and whether it may hold others."""
    negated = bool(items) and items[0][0] is OPS.NEGATE
    if negated:
        items = items[1:]
    found = set()
    for code in range(128):
        if any(_item_holds(item, code, nocase) for item in items):
            found.add(code)
    if negated:
        return frozenset(range(128)) - found - {10}, True
    high = False
    for op, arg in items:
        top = arg[1] if op is OPS.RANGE else arg
        high |= op is OPS.CATEGORY or top > 127
    return frozenset(found) - {10}, high


def _item_holds(item: tuple[Any, Any], code: int, nocase: bool) -> bool:
    op, arg = item
    if op is OPS.CATEGORY:
        return bool(_CATEGORIES[arg].match(chr(code)))
    codes = {code}
    if nocase:
        lower = chr(code).lower()
        codes |= {ord(lower), ord(lower.upper()), *ODD_PARTNERS.get(lower, ())}
    low, top = arg if op is OPS.RANGE else (arg, arg)
    return any(low <= one <= top for one in codes)


_CATEGORIES: dict[Any, re.Pattern[str]] = {
    OPS.CATEGORY_DIGIT: re.compile(r"\d"),
    OPS.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    OPS.CATEGORY_SPACE: re.compile(r"\s"),
    OPS.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    OPS.CATEGORY_WORD: re.compile(r"\w"),
    OPS.CATEGORY_NOT_WORD: re.compile(r"\W"),
}


def byte_class(members: frozenset[int], high: bool) -> str:
    """Return the characters of a class as a class of bytes; `high`: characters beyond ASCII match too."""
    if not members and not high:
        return "[\\x0a]"  # nothing on a line can match
    spans: list[str] = []
    codes = sorted(members)
    at = 0
    while at < len(codes):
        end = at
        while end + 1 < len(codes) and codes[end + 1] == codes[end] + 1:
            end += 1
        span = f"\\x{codes[at]:02x}"
        if end > at:
            span += f"-\\x{codes[end]:02x}"
        spans.append(span)
        at = end + 1
    return f"[{''.join(spans)}{HIGH if high else ''}]"


REPEATS = {OPS.MAX_REPEAT, OPS.MIN_REPEAT, getattr(OPS, "POSSESSIVE_REPEAT", OPS.MAX_REPEAT)}
_FOLDING_GROUP = re.compile(r"\(\?[a-zA-Z]*i")


@dataclass(frozen=True, slots=True)
class PatternStep:
    """One step of a pattern: opcode, argument, and whether case is ignored there."""

    op: Any
    arg: Any
    nocase: bool


def steps_of(pattern: str, flags: int) -> tuple[list[PatternStep], bool]:
    """Return the steps of a pattern, and whether it folds case somewhere; raises re.error when it is none."""
    tree = _parser.parse(pattern, flags)
    folds = bool(tree.state.flags & re.IGNORECASE)
    return dissolve_groups(tree, folds), folds or _FOLDING_GROUP.search(pattern) is not None


def dissolve_groups(tree: Iterable[tuple[Any, Any]], nocase: bool) -> list[PatternStep]:
    """Return the steps of a parsed pattern with plain groups dissolved."""
    nodes: list[PatternStep] = []
    for op, arg in tree:
        if op is OPS.SUBPATTERN:
            _group, added, removed, inner = arg
            own = (nocase or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
            nodes += dissolve_groups(inner, own)
        elif op is getattr(OPS, "ATOMIC_GROUP", None):
            nodes += dissolve_groups(arg, nocase)
        else:
            nodes.append(PatternStep(op, arg, nocase))
    return nodes


def arms_of(node: PatternStep) -> list[list[PatternStep]]:
    """Return the steps of each choice of an alternation."""
    return [dissolve_groups(arm, node.nocase) for arm in node.arg[1]]


def literal_char(node: PatternStep) -> str | None:
    """Return the character of a LITERAL when its bytes are certain, else None."""
    char = chr(node.arg)
    if char.isascii():
        return char
    if node.nocase:
        return None
    try:
        char.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    return char


def members_of(node: PatternStep) -> tuple[frozenset[int], bool]:
    """Return the ASCII characters a one-character step matches, and whether others may match."""
    if node.op is OPS.ANY:
        return frozenset(range(128)) - {10}, True
    if node.op is OPS.NOT_LITERAL:
        return find_members(((OPS.NEGATE, None), (OPS.LITERAL, node.arg)), node.nocase)
    return find_members(tuple(node.arg), node.nocase)


# UTF-8 of the four characters that match an ASCII letter (i, k, s) when case is ignored.
ODD_CASE: tuple[bytes, ...] = (b"\xc4\xb0", b"\xc4\xb1", b"\xc5\xbf", b"\xe2\x84\xaa")

_MOST_REPEATS = 32  # a longer bounded repeat is taken as "this many or more"
_MOST_TEXT = 16_384  # a longer approximation is not worth compiling
_TELLING = 6  # known characters that few lines hold by chance
_WIDE = 64  # ASCII characters of a class that nearly any text is made of
_MOST_ARMS = 64  # literals in one choice
_ANY = f"[\\x00-\\x09\\x0b-\\x7f{HIGH}]"
_BEGINS = {OPS.AT_BEGINNING, OPS.AT_BEGINNING_STRING}
_ENDS = {OPS.AT_END, OPS.AT_END_STRING}


@dataclass(frozen=True, slots=True)
class Required:
    """Literals of which at least one is in every match.

    texts        the literals; in lower case when ignore_case is set, and then to be sought
                 in text whose ASCII letters are lowered
    """

    texts: frozenset[str]
    ignore_case: bool

    @property
    def weight(self) -> tuple[int, int]:
        """Order of worth without a sample: a long shortest literal, then few of them."""
        return min(map(len, self.texts)), -len(self.texts)

    def encode_literals(self) -> list[bytes]:
        """Return the literals as they are in a log, longest first."""
        return sorted(
            (t.encode("utf-8", "surrogateescape") for t in self.texts), key=lambda b: (-len(b), b)
        )


@dataclass(frozen=True, slots=True)
class PatternNeeds:
    """What a pattern needs.

    choices        see `literal_choices`
    approximation  a regex for bytes that finds every line the pattern matches. It uses only what Python's `re`, RE2 and
                   Hyperscan agree on (literals, classes, groups, alternation, repeats, `^` and `$` of lines, `\b` beside a
                   letter of ASCII at an edge), never
                   crosses a line end and never matches empty text. None when the pattern may match an empty stretch
                   anywhere, so that every line has to be looked at
    folds_case     it does so somewhere
    """

    choices: tuple[Required, ...]
    approximation: str | None
    folds_case: bool


def required_literals(pattern: str, flags: int = 0) -> frozenset[str] | None:
    """Return literals of which one is in every match of `pattern`, or None.

    The longest set is taken. With re.IGNORECASE (as a flag or `(?i)`) they are lower case.
    Raises re.error when the pattern is none.
    """
    choices = literal_choices(pattern, flags)
    return max(choices, key=lambda choice: choice.weight).texts if choices else None


@lru_cache(maxsize=8192)
def literal_choices(pattern: str, flags: int = 0) -> tuple[Required, ...]:
    """Return every set of literals found along `pattern`; each alone is necessary for a match."""
    return tuple(dict.fromkeys(_find_choices(steps_of(pattern, flags)[0])))


@lru_cache(maxsize=8192)
def analyse(pattern: str, flags: int = 0) -> PatternNeeds:
    """Walk the parse tree of a pattern once; raises re.error when it is none."""
    choices, approximation, folds = _analyse_noted(f"{int(flags)}:{pattern}")
    return PatternNeeds(
        tuple(Required(frozenset(texts), ignore_case) for texts, ignore_case in choices),
        approximation,
        folds,
    )


def is_known(pattern: str, flags: int = 0) -> bool:
    """Say whether `analyse` has its answer without a look at the pattern."""
    return f"{int(flags)}:{pattern}" in _analyse_noted.known_answers


@keep_answers
def _analyse_noted(key: str) -> tuple[list[tuple[list[str], bool]], str | None, bool]:
    flags, _, pattern = key.partition(":")
    nodes, folds = steps_of(pattern, int(flags))
    approximation = None
    if not all(map(_may_be_empty, nodes)):
        text = _write_sequence(nodes, left=True, right=True)
        if 0 < len(text) <= _MOST_TEXT:
            approximation = text
    choices = [
        (sorted(choice.texts), choice.ignore_case) for choice in dict.fromkeys(_find_choices(nodes))
    ]
    return choices, approximation, folds


# --- literals -----------------------------------------------------------------------------------


def _find_choices(nodes: Sequence[PatternStep]) -> list[Required]:
    found: list[Required] = []
    run: list[str] = []
    run_nocase = False

    def close() -> None:
        if run:
            text = "".join(run)
            found.append(Required(frozenset({text.lower() if run_nocase else text}), run_nocase))
            run.clear()

    for node in nodes:
        if node.op is OPS.LITERAL:
            char = literal_char(node)
            if char is None or (run and run_nocase != node.nocase):
                close()
            if char is not None:
                run.append(char)
                run_nocase = node.nocase
        elif node.op in (OPS.AT, OPS.ASSERT, OPS.ASSERT_NOT):
            continue  # takes no room: what is left and right of it is neighbours
        else:
            close()
            found += _choices_of(node)
    close()
    return found


def _choices_of(node: PatternStep) -> list[Required]:
    if node.op in REPEATS:
        least, _most, inner = node.arg
        return _find_choices(dissolve_groups(inner, node.nocase)) if least else []
    if node.op is OPS.BRANCH:
        best: list[Required] = []
        for arm in arms_of(node):
            choices = _find_choices(arm)
            if not choices:
                return []
            best.append(max(choices, key=lambda choice: choice.weight))
        if len({choice.ignore_case for choice in best}) == 1:
            texts = frozenset[str]().union(*(choice.texts for choice in best))
            return [Required(texts, best[0].ignore_case)] if len(texts) <= _MOST_ARMS else []
    return []


# --- the approximation --------------------------------------------------------------------------


def _write_sequence(nodes: Sequence[PatternStep], *, left: bool, right: bool) -> str:
    """Return the regex of a sequence; "" when nothing of it is left.

    left, right: nothing comes before or after it, so that what may be empty there is left
    out, and a repeat is cut to its least count. That keeps one match a line instead of one
    for each place where it could end.
    """
    steps = _find_core(nodes) if left and right else list(nodes)
    head = tail = ""
    if left:
        head = _trim_edge(steps, 0, _BEGINS, "^")
    if right:
        tail = _trim_edge(steps, -1, _ENDS, "$")
    if not steps:
        return ""
    last = len(steps) - 1
    parts: list[str] = []
    for nocase, run in groupby(enumerate(steps), lambda item: _is_folded_letter(item[1])):
        if nocase:
            parts.append("(?i:" + "".join(_escape_byte(node.arg) for _, node in run) + ")")
            continue
        parts += [
            _write_step(
                node, left=left and not head and i == 0, right=right and not tail and i == last
            )
            for i, node in run
        ]
    return head + "".join(parts) + tail


def _find_core(nodes: Sequence[PatternStep]) -> list[PatternStep]:
    """Return the stretch of a sequence between wide gaps that tells most: the rest makes an automaton large."""
    parts: list[list[PatternStep]] = [[]]
    for node in nodes:
        if _is_gap(node):
            parts.append([])
        else:
            parts[-1].append(node)
    certain = [_count_certain(part) for part in parts]
    best = max(range(len(parts)), key=certain.__getitem__)
    return parts[best] if len(parts) > 1 and certain[best] >= _TELLING else list(nodes)


def _count_certain(nodes: Sequence[PatternStep]) -> int:
    """Return how many characters of every match are known, of the best stretch of each arm."""
    found = 0
    for node in nodes:
        if node.op is OPS.LITERAL:
            found += 1
        elif node.op is OPS.BRANCH:
            found += min(_count_certain(_find_core(arm)) for arm in arms_of(node))
        elif node.op in REPEATS and node.arg[0]:
            found += min(node.arg[0], _MOST_REPEATS) * _count_certain(
                dissolve_groups(node.arg[2], node.nocase)
            )
    return found


def _is_gap(node: PatternStep) -> bool:
    """Say whether a step repeats one of most characters (`.*`, `[^"]+`, `\\S+`), or may be left out and does so."""
    if node.op not in REPEATS:
        return False
    least, most, inner = node.arg
    steps = dissolve_groups(inner, node.nocase)
    if len(steps) == 1 and steps[0].op in (OPS.NOT_LITERAL, OPS.ANY, OPS.IN):
        members, _ = members_of(steps[0])
        return bool(most is OPS.MAXREPEAT or most > _MOST_REPEATS) and len(members) > _WIDE
    return least == 0 and any(map(_is_gap, steps))


def _is_folded_letter(node: PatternStep) -> bool:
    return bool(node.nocase and node.op is OPS.LITERAL and node.arg < 128)


def _trim_edge(steps: list[PatternStep], edge: int, anchors: Container[Any], sign: str) -> str:
    """Drop what may be empty at one edge of a sequence, the first step or the last; return the anchor found there."""
    while steps:
        node = steps[edge]
        if _is_certain_boundary(steps, edge):
            del steps[edge]
            return r"\b"
        if node.op is OPS.AT and node.arg in anchors:
            del steps[edge]
            if steps and _is_anything(steps[edge]):
                del steps[edge]  # `^.*` says nothing
                continue
            return sign
        if not _may_be_empty(node):
            return ""
        del steps[edge]
    return ""


def _is_certain_boundary(steps: Sequence[PatternStep], edge: int) -> bool:
    r"""Say whether a sequence begins or ends with `\b` beside an ASCII letter, digit or `_`.

    There the engines, which know ASCII alone, find every boundary that Python finds: a letter beyond ASCII ends a word
    for them, which proposes more. Beside anything else they may find less.
    """
    if len(steps) < 2 or steps[edge].op is not OPS.AT or steps[edge].arg is not OPS.AT_BOUNDARY:
        return False
    beside = steps[1] if edge == 0 else steps[-2]
    if beside.op is not OPS.LITERAL or literal_char(beside) is None:
        return False
    return beside.arg < 128 and (chr(beside.arg).isalnum() or beside.arg == ord("_"))


def _is_anything(node: PatternStep) -> bool:
    """Say whether a step is `.*` or `.*?`."""
    if node.op not in REPEATS:
        return False
    least, most, inner = node.arg
    return bool(least == 0 and most is OPS.MAXREPEAT and len(inner) == 1 and inner[0][0] is OPS.ANY)


def _may_be_empty(node: PatternStep) -> bool:
    if node.op in (OPS.LITERAL, OPS.NOT_LITERAL, OPS.ANY, OPS.IN):
        return False
    if node.op in REPEATS:
        least, _most, inner = node.arg
        return least == 0 or all(map(_may_be_empty, dissolve_groups(inner, node.nocase)))
    if node.op is OPS.BRANCH:
        return any(all(map(_may_be_empty, arm)) for arm in arms_of(node))
    return True


def _write_step(node: PatternStep, *, left: bool, right: bool) -> str:
    if node.op is OPS.LITERAL:
        if node.arg < 128 and not node.nocase:
            return _escape_byte(node.arg)
        char = literal_char(node)
        if char is None:
            return _ANY + "{1,4}"
        return "".join(_escape_byte(byte) for byte in char.encode("utf-8", "surrogateescape"))
    if node.op in (OPS.NOT_LITERAL, OPS.ANY, OPS.IN):
        members, high = members_of(node)
        return byte_class(members, high) + ("{1,4}" if high and not (left or right) else "")
    if node.op in REPEATS:
        return _write_repeat(node, edge=left or right)
    if node.op is OPS.BRANCH:
        arms = dict.fromkeys(_write_sequence(arm, left=left, right=right) for arm in arms_of(node))
        filled = [arm for arm in arms if arm]
        if not filled:
            return ""
        text = f"(?:{'|'.join(filled)})"
        return text + "?" if "" in arms else text
    if node.op in (OPS.AT, OPS.ASSERT, OPS.ASSERT_NOT):
        return ""  # without the condition more matches, never less
    return _ANY + "*"  # back references, conditionals and whatever Python adds


@cache
def _escape_byte(byte: int) -> str:
    char = chr(byte)
    return (
        char
        if char.isascii() and (char.isalnum() or char in " _:,=@/<>\"'%&;!~`")
        else f"\\x{byte:02x}"
    )


def _write_repeat(node: PatternStep, *, edge: bool) -> str:
    least, most, inner = node.arg
    steps = dissolve_groups(inner, node.nocase)
    if edge:
        most = least  # as good when nothing has to follow (or come before)
    least = min(least, _MOST_REPEATS)
    endless = most is OPS.MAXREPEAT or most > _MOST_REPEATS
    if len(steps) == 1 and steps[0].op in (OPS.NOT_LITERAL, OPS.ANY, OPS.IN):
        members, high = members_of(steps[0])
        if high and not edge and not endless:
            most *= 4  # one character is up to four bytes
        return byte_class(members, high) + _write_count(least, most, endless and not edge)
    if all(map(_may_be_empty, steps)):
        return _ANY + "*"  # never a repeat of what may be empty
    text = _write_sequence(steps, left=False, right=False)
    return f"(?:{text})" + _write_count(least, most, endless and not edge)


def _write_count(least: int, most: int, endless: bool) -> str:
    if endless:
        return {0: "*", 1: "+"}.get(least, f"{{{least},}}")
    most = max(least, min(most, 4 * _MOST_REPEATS))
    return f"{{{least}}}" if least == most else f"{{{least},{most}}}"
