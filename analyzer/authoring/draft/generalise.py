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
from analyzer.authoring.draft.tokens import CleanLine, Token, escape_text, name_column
from analyzer.authoring.fmt.yamltext import ODD
from analyzer.rules.language.expression import FUNCTIONS
from analyzer.scan.prefilter import required_literals

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
        if found:
            return min(map(len, found))
        return 0


def draft_signatures(
    lines: Sequence[CleanLine], table: Table, names: Iterable[str] = ()
) -> list[DraftSignature]:
    """Return the signatures of log lines in the order in which they first occur; every line is found by its own.

    names  those that a signature cannot have
    """
    families: dict[tuple[str, ...], list[CleanLine]] = {}
    for line in lines:
        if line.tokens:
            families.setdefault(line.key, []).append(line)
    # Families belong together whose lines differ in words that can hardly be words of a message.
    members: list[list[CleanLine]] = []
    for family in families.values():
        for other in members:
            places = _find_differences(other[0], family[0])
            if places:
                other.extend(family)
                for index, line in enumerate(other):
                    tokens = list(line.tokens)
                    for number, regex in places.items():
                        tokens[number] = replace(tokens[number], kind="ident", regex=regex)
                    other[index] = replace(line, tokens=tuple(tokens))
                break
        else:
            members.append(family)
    taken = set(names)
    made = []
    for family in members:
        signature = _draft_signature(family, table, taken)
        taken.add(signature.name)
        made.append(signature)
    return made


def _find_differences(one: CleanLine, two: CleanLine) -> dict[int, str]:
    """Return place -> class where two lines of one form differ; empty when they are of different forms."""
    if len(one.tokens) != len(two.tokens):
        return {}
    places: dict[int, str] = {}
    words_apart = 0
    for number, (mine, other) in enumerate(zip(one.tokens, two.tokens, strict=True)):
        if mine.regex == other.regex:
            continue
        regex = ""  # a class for both tokens; none where they are different words
        if mine.kind == "ident" and re.fullmatch(mine.regex, other.value):
            regex = mine.regex
        elif mine.kind == other.kind == "number":
            regex = r"\d[\d.,]*"
        elif mine.kind not in _WORDY and other.kind not in _WORDY:
            if not _has_blank(mine, other):
                regex = r"\S+"
        elif mine.kind == other.kind == "word" and mine.value.count(".") <= 1:
            digits = [re.search(r"\d", token.value) for token in (mine, other)]
            if all(digits):
                regex = r"[\w$.-]+"
            else:
                regex = ""
        if not regex:
            return {}
        places[number] = regex
        words_apart += mine.kind == "word"
    if words_apart <= 2:
        return places
    return {}


def _draft_signature(family: list[CleanLine], table: Table, taken: set[str]) -> DraftSignature:
    """Return one signature for lines of the same shape."""
    columns = {column.name for column in table.columns}
    columns |= {*ORIGIN_COLUMNS, *FUNCTIONS, *keyword.kwlist}
    # One line, or the same line several times, shares nothing: what in it is chance cannot be known.
    several = len({line.line[line.start :] for line in family}) > 1
    tokens = _fuse_values(family[0].tokens)
    named: Counter[str] = Counter()
    groups: dict[str, list[str]] = {}
    wide: list[str] = []
    narrow: list[str] = []
    shared: list[str] = []
    for number, token in enumerate(tokens):
        name = token.group
        values = list(dict.fromkeys(_fuse_values(line.tokens)[number].value for line in family))
        same = ""
        if token.kind in ("number", "hex") and len(values) == 1:
            same = escape_text(values[0])
        regex = token.regex
        is_sign = several and not MEASURED.match(name) and not THING.match(name)
        # The line of the source that wrote it, `NetPort: 1879: …`, differs from build to build.
        before = "".join(one.value for one in tokens[max(0, number - 2) : number])
        after = tokens[number + 1].value if number + 1 < len(tokens) else ""
        if same and is_sign and not (before.endswith(": ") and after == ":"):
            regex = same
            if name:
                shared.append(f"{name} {values[0]}")
            else:
                shared.append(values[0])
        # The search begins at each sign anyway, so the first class needs no repeat.
        first = re.sub(r"^(\\.|\[(?:\\.|[^\]\\])*\])\+", r"\1", regex)
        if number == 0 and first != regex:
            wide.append(first)
        elif name and len(groups) < MOST_GROUPS:
            if name in columns:
                name = f"{name}_seen"
            named[name] += 1
            if named[name] != 1:
                name = f"{name}_{named[name]}"
            groups[name] = values[:4]
            wide.append(f"(?P<{name}>{regex})")
        else:
            wide.append(regex)
        narrow.append(same or wide[-1])
    name = _name_signature(tokens, taken)
    return DraftSignature(name, "".join(wide), "".join(narrow), family, groups, shared)


def _name_signature(tokens: Sequence[Token], taken: set[str]) -> str:
    """Return the first words of a signature as its name."""
    words: list[str] = []
    for token in tokens:
        if token.kind == "word" and len(" ".join(words)) < 24:
            parts = []
            for part in re.split(r"[^A-Za-z0-9]+", token.value):
                if part.isalpha():
                    parts.append(part)
            for word in name_column(" ".join(parts)).split("_"):
                if len(word) > 1:
                    words.append(word)
    base = "_".join(words[:4])[:36].strip("_") or "sign"
    if "_" not in base:  # a single word may be one of YAML or of the language: null, in, count
        base += "_line"
    name, number = base, 2
    while name in taken:
        name = f"{base}_{number}"
        number += 1
    return name


def _fuse_values(tokens: Sequence[Token]) -> list[Token]:
    """Make one value of values that touch each other: no class may match what follows it."""
    made: list[Token] = []
    for token in tokens:
        if made:
            before = made[-1]
        else:
            before = None
        if before is None or not _runs_into(before, token):
            made.append(token)
            continue
        value = before.value + token.value
        # What cannot be printed may be a line end of some sort, which is no `\S`.
        if ODD in value:
            sign = r"[^ ]"
        else:
            sign = r"\S"
        regex = f"{sign}+"
        if _has_blank(before, token):
            regex = rf"{sign}+(?: +{sign}+){{0,8}}"
        made[-1] = Token("values", before.start, token.end, regex, value)
    return made


def _has_blank(*tokens: Token) -> bool:
    """Say whether one of the tokens holds or finds a blank."""
    for token in tokens:
        if " " in token.value or " " in token.regex:
            return True
    return False


def _runs_into(one: Token, two: Token) -> bool:
    """Say whether the class of a value also matches the sign that follows it."""
    if one.kind in _WORDY and not one.regex.endswith("d+"):
        return False
    if one.kind == "quote":
        return False
    sign = two.value[:1]
    if two.kind == "space" or not sign:
        return False
    if bool(re.fullmatch(one.regex, one.value + sign)):
        return True
    if two.kind in _WORDY:
        return False
    return "odd" not in (one.kind, two.kind)
