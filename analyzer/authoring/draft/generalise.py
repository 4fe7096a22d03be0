"""Turns log lines into a signature: words stay, values become classes, some with a column name.

Lines of the same words share a pattern; it finds them as they are in the log and as they stand masked in an
example. No class may match what can follow it, so that no search goes back.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from analyzer.artefacts.tables import ORIGIN_COLUMNS, Table
from analyzer.authoring.draft.tokens import CleanLine, Token, clean_line, column_name, escaped
from analyzer.authoring.fmt.yamltext import ODD
from analyzer.rules.language.expression import FUNCTIONS
from analyzer.scan.prefilter import required_literals

__all__ = ["LEAST_LITERAL", "CleanLine", "DraftSignature", "Token", "clean_line", "signatures"]

LEAST_LITERAL = 4  # characters a signature needs for the search to be quick
MOST_GROUPS = 12
_WORDY = ("word", "space", "sign")

AGAIN = r"(?:_seen)?(?:_\d+)?$"  # what is added to a group whose name was taken
# Groups that name a thing, which may be ill; an ip, a user or an offset only describe what happened.
THING = re.compile(
    r"(?:device|volume|datastore|vmnic|vmhba|vmk|path|lag|vm|vm_folder|vm_name|port|port_id|portgroup|switch|v_switch|pf"
    r"|vf|uuid|mac|wwn)" + AGAIN
)
MEASURED = re.compile(
    r"(?:microseconds|milliseconds|seconds|minutes|hours|us|ms|secs?|s|bytes|[kmg]b|packets|frames|times|retries|errors"
    r"|commands|percent|size|latency|[a-z_]+_(?:ms|us|secs?|seconds|bytes|pct))" + AGAIN
)


@dataclass(slots=True)
class DraftSignature:
    """A drafted signature: its pattern, and the same with every number that all lines share written out.

    groups  column -> values in the chosen lines, masked
    shared  values that several chosen lines have in common, which the pattern therefore asks for
    """

    name: str
    pattern: str
    narrow: str
    lines: list[CleanLine]
    groups: dict[str, list[str]] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)

    @property
    def literal(self) -> int:
        """Length of the literal that a search can look for, 0 when there is none."""
        found = required_literals(self.pattern)
        return min(map(len, found)) if found else 0


def signatures(
    lines: Sequence[CleanLine], table: Table, names: Iterable[str] = ()
) -> list[DraftSignature]:
    """Return the signatures of log lines in the order in which they first occur; every line is found by its own.

    names  those that a signature cannot have
    """
    families: dict[tuple[str, ...], list[CleanLine]] = {}
    for line in lines:
        if line.tokens:
            families.setdefault(line.key, []).append(line)
    members = _merged(list(families.values()))
    taken = set(names)
    made = []
    for family in members:
        signature = _signature(family, table, taken)
        taken.add(signature.name)
        made.append(signature)
    return made


def _merged(families: list[list[CleanLine]]) -> list[list[CleanLine]]:
    """Put families together whose lines differ in words that can hardly be words of a message."""
    made: list[list[CleanLine]] = []
    for family in families:
        for other in made:
            if joined := _joined(other[0], family[0]):
                other[:] = [_with(line, joined) for line in (*other, *family)]
                break
        else:
            made.append(family)
    return made


def _joined(one: CleanLine, two: CleanLine) -> dict[int, str]:
    """Return place -> class where two lines of one form differ; empty when they are of different forms."""
    if len(one.tokens) != len(two.tokens):
        return {}
    places: dict[int, str] = {}
    words_apart = 0
    for number, (mine, other) in enumerate(zip(one.tokens, two.tokens, strict=True)):
        if mine.regex == other.regex:
            continue
        regex = _common(mine, other)
        if not regex:
            return {}
        places[number] = regex
        words_apart += mine.kind == "word"
    return places if words_apart <= 2 else {}


def _common(one: Token, two: Token) -> str:
    """Return a class for two tokens that stand in the same place of two lines, "" when their words differ."""
    if one.kind == "ident" and re.fullmatch(one.regex, two.value):
        return one.regex
    if one.kind == two.kind == "number":
        return r"\d[\d.,]*"
    if one.kind not in _WORDY and two.kind not in _WORDY:
        spaced = any(" " in token.value or " " in token.regex for token in (one, two))
        return "" if spaced else r"\S+"
    names = one.kind == two.kind == "word" and all(
        re.search(r"\d", token.value) for token in (one, two)
    )
    return r"[\w$.-]+" if names and one.value.count(".") <= 1 else ""


def _with(line: CleanLine, places: dict[int, str]) -> CleanLine:
    tokens = tuple(
        replace(token, kind="ident", regex=places[number]) if number in places else token
        for number, token in enumerate(line.tokens)
    )
    return replace(line, tokens=tokens)


def _signature(family: list[CleanLine], table: Table, taken: set[str]) -> DraftSignature:
    columns = (
        {column.name for column in table.columns}
        | set(ORIGIN_COLUMNS)
        | set(FUNCTIONS)
        | set(keyword.kwlist)
    )
    tokens = _fused(family[0].tokens)
    named: Counter[str] = Counter()
    groups: dict[str, list[str]] = {}
    wide: list[str] = []
    narrow: list[str] = []
    shared: list[str] = []
    for number, token in enumerate(tokens):
        name = token.group
        values = list(dict.fromkeys(_fused(line.tokens)[number].value for line in family))
        same = escaped(values[0]) if token.kind in ("number", "hex") and len(values) == 1 else ""
        regex = token.regex
        if same and _is_sign(token, family) and not _of_source(tokens, number):
            regex = same
            shared.append(f"{name} {values[0]}" if name else values[0])
        if number == 0 and (short := _one_sign(regex)) != regex:
            wide.append(short)
        elif name and len(groups) < MOST_GROUPS:
            name = f"{name}_seen" if name in columns else name
            named[name] += 1
            name = name if named[name] == 1 else f"{name}_{named[name]}"
            groups[name] = values[:4]
            wide.append(f"(?P<{name}>{regex})")
        else:
            wide.append(regex)
        narrow.append(same or wide[-1])
    return DraftSignature(
        _name(tokens, taken), "".join(wide), "".join(narrow), family, groups, shared
    )


def _is_sign(token: Token, family: Sequence[CleanLine]) -> bool:
    """Tell whether a value that all lines of a family have is a sign, and not how much, how long or which one.

    One line, or the same line several times, shares nothing: what in it is chance cannot be told.
    """
    several = len({line.line[line.start :] for line in family}) > 1
    return several and not MEASURED.match(token.group) and not THING.match(token.group)


def _of_source(tokens: Sequence[Token], number: int) -> bool:
    """Tell whether a number is the line of the source that wrote it, `NetPort: 1879: …`: each build has another."""
    before = "".join(one.value for one in tokens[max(0, number - 2) : number])
    return before.endswith(": ") and [one.value for one in tokens[number + 1 : number + 2]] == [":"]


def _one_sign(regex: str) -> str:
    """Return a class that begins a pattern without its repeat: the search begins at each sign anyway."""
    return re.sub(r"^(\\.|\[(?:\\.|[^\]\\])*\])\+", r"\1", regex)


def _fused(tokens: Sequence[Token]) -> list[Token]:
    """Make one value of values that touch each other: no class may match what follows it."""
    made: list[Token] = []
    for token in tokens:
        before = made[-1] if made else None
        if before is not None and _touch(before, token):
            made[-1] = _one_value(before, token)
        else:
            made.append(token)
    return made


def _one_value(one: Token, two: Token) -> Token:
    """Return two values as one; what cannot be printed may be a line end of some sort, which is no `\\S`."""
    sign = r"[^ ]" if ODD in one.value + two.value else r"\S"
    spaced = any(" " in token.value or " " in token.regex for token in (one, two))
    regex = rf"{sign}+(?: +{sign}+){{0,8}}" if spaced else f"{sign}+"
    return Token("values", one.start, two.end, regex, one.value + two.value)


def _touch(one: Token, two: Token) -> bool:
    """Tell whether the class of a value also matches the sign that follows it."""
    if one.kind in _WORDY and not one.regex.endswith("d+"):
        return False
    if one.kind == "quote":
        return False
    sign = two.value[:1]
    if two.kind == "space" or not sign:
        return False
    if bool(re.fullmatch(one.regex, one.value + sign)):
        return True
    return two.kind not in _WORDY and "odd" not in (one.kind, two.kind)


def _name(tokens: Sequence[Token], taken: set[str]) -> str:
    """Return a name for a signature: its first words."""
    words: list[str] = []
    for token in tokens:
        if token.kind == "word" and len(" ".join(words)) < 24:
            parts = [part for part in re.split(r"[^A-Za-z0-9]+", token.value) if part.isalpha()]
            words += [word for word in column_name(" ".join(parts)).split("_") if len(word) > 1]
    base = "_".join(words[:4])[:36].strip("_") or "sign"
    if (
        "_" not in base
    ):  # a single word may be one of YAML's or of the language's own: null, in, count
        base += "_line"
    name, number = base, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name
