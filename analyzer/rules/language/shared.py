"""Texts, patterns and thresholds that several rules share, by name: the file `shared.yaml` next to the rules.

    texts:       name: the text, with values in braces where the rules have them
    patterns:    name: a regular expression, or a part of one
    thresholds:  name: {is: number, unit: what it counts, reason: why this number}
    revised:     day of the last change of the rules next to it that name none

A rule names one as a whole value, `$name`; a pattern also takes parts, `(?&name)`. No regular expression of Python or
RE2 may begin a group with `(?&`, and no text or number is a `$` with a name, so that neither can mean anything else;
braces hold values of the case. Names are put in while the tree of a rule is read: what comes later knows no names.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from analyzer.rules.language.rulefile import BadRuleError, RuleItem, RuleText, did_you_mean

SHARED = "shared.yaml"
TEXTS, PATTERNS, THRESHOLDS = "texts", "patterns", "thresholds"
KINDS = {TEXTS: "text", PATTERNS: "pattern", THRESHOLDS: "threshold"}
REVISED = "revised"
THRESHOLD_KEYS = ("is", "unit", "reason")

_WHOLE = re.compile(r"\$([a-z][a-z0-9_]*)\Z")
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
# What is escaped, or in a class of characters, names nothing.
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?&([^)]*)\)", re.DOTALL)
_PROSE = ("about", "source", "needs", "say", "do", "note", "caution", "not_this", "ask", "unsure")
_NO_PROSE = ("run", "when", "where")


class _FileText(RuleText):
    """The text of a file of shared parts; where it is none, nothing of it is cited."""

    known_by = f"{SHARED} has lines " + ", ".join(f"`{kind}:`" for kind in (*KINDS, REVISED))

    @cached_property
    def is_rule(self) -> bool:
        return bool(
            re.search(rf"^(?:{'|'.join((*KINDS, REVISED))})[ \t]*:", self.text, re.MULTILINE)
        )


@dataclass(frozen=True)
class Definition:
    """One shared part: its kind, its value, and where it is (`shared.yaml:12`)."""

    kind: str
    name: str
    item: RuleItem
    where: str


@dataclass(frozen=True)
class SharedFiles:
    """The files of shared parts that a rule may name: of its own place, and behind them those of the tool.

    files   name as messages show it, and text; they are read when a rule is, not for rules out of the cache
    beyond  what is looked up where these files do not have a name
    """

    files: tuple[tuple[str, str], ...] = ()
    beyond: SharedFiles | None = None

    @cached_property
    def key(self) -> bytes:
        """What tells one content from another."""
        digest = hashlib.sha256(repr(self.files).encode(errors="replace"))
        return digest.digest() + (self.beyond.key if self.beyond is not None else b"")

    @cached_property
    def _read_files(self) -> tuple[dict[str, Definition], list[BadRuleError], str]:
        found: dict[str, Definition] = {}
        faults: list[BadRuleError] = []
        revised = ""
        for name, text in self.files:
            try:
                file = _FileText(name, text)
                keys = file.mapping(file.tree(), (*KINDS, REVISED), name)
                day = keys.pop(REVISED, None)
                if day is not None:
                    revised = _read_day(file, day)
                for one in _read_definitions(file, keys, faults):
                    if one.name in found:
                        message = f"`{one.name}` is defined twice: {found[one.name].where} and {one.where}"
                        faults.append(
                            BadRuleError(
                                message,
                                file=name,
                                place=one.item.place,
                                help="give one another name",
                            )
                        )
                    found.setdefault(one.name, one)
            except BadRuleError as error:
                faults.append(error)
        return found, faults, revised

    @property
    def faults(self) -> list[BadRuleError]:
        """What is wrong with the files; reads them."""
        return self._read_files[1]

    @property
    def found_faults(self) -> list[BadRuleError]:
        """What is wrong with the files, as far as a rule had to be read: one is stored only where nothing is."""
        return self._read_files[1] if "_read_files" in self.__dict__ else []

    @property
    def definitions(self) -> Mapping[str, Definition]:
        """All that may be named, by name; reads the files."""
        return {
            **(self.beyond.definitions if self.beyond is not None else {}),
            **self._read_files[0],
        }

    @property
    def last_change(self) -> str:
        """The day of the last change of rules that name none, "" when these files do not say it; reads the files."""
        return self._read_files[2]

    def put_in(self, text: RuleText, tree: RuleItem) -> RuleItem:
        """Return the tree of a rule with its names written out; each value keeps the place where it is named."""
        filled = self._put_in(text, tree, ()) if ("$" in text.text or "(?&" in text.text) else tree
        if not isinstance(filled.value, dict) or REVISED in filled.value or not self.last_change:
            return filled
        place = filled.keys.get("rule", filled.place)
        day = RuleItem(self.last_change, place, self.last_change, made=True)
        return RuleItem(
            {**filled.value, REVISED: day},
            filled.place,
            keys={**filled.keys, REVISED: place},
        )

    def _put_in(self, text: RuleText, item: RuleItem, way: tuple[str, ...]) -> RuleItem:
        if way and way[0] == "examples":
            return item
        if isinstance(item.value, dict):
            values = {
                key: self._put_in(text, child, (*way, key)) for key, child in item.value.items()
            }
            return RuleItem(values, item.place, keys=item.keys)
        if isinstance(item.value, list):
            return RuleItem([self._put_in(text, child, way) for child in item.value], item.place)
        kind = _find_wanted_kind(way)
        whole = _WHOLE.match(item.text.strip()) if kind else None
        if whole is not None:
            one = self._find_named(text, item, kind, whole[1])
            return RuleItem(one.item.value, item.place, one.item.text)
        if kind == PATTERNS and "(?&" in item.text:

            def part(found: re.Match[str]) -> str:
                if found[1] is None:
                    return found[0]
                return f"(?:{self._find_named(text, item, PATTERNS, found[1]).item.text})"

            pattern = _PART.sub(part, item.text)
            return RuleItem(pattern, item.place, pattern, item.quoted)
        return item

    def _find_named(self, text: RuleText, item: RuleItem, kind: str, name: str) -> Definition:
        one = self.definitions.get(name)
        if one is not None and one.kind == kind:
            text.defined.setdefault(item.place, []).append(f"`{name}` is defined at {one.where}")
            return one
        if one is not None:
            message = (
                f"`{name}` is a {KINDS[one.kind]} ({one.where}); a {KINDS[kind]} is needed here"
            )
            raise text.error(message, item.place)
        for fault in self.faults:
            raise text.error(
                f"`{name[:80]}` is not known: {fault.where} cannot be read",
                item.place,
                fault.message,
            )
        own = [each.name for each in self.definitions.values() if each.kind == kind]
        message = f"no {KINDS[kind]} `{name[:80]}` is shared"
        raise text.error(
            message,
            item.place,
            did_you_mean(name, own) or f"define it in {SHARED} beside the rules",
        )


def _find_wanted_kind(way: tuple[str, ...]) -> str:
    """Return which kind of part may stand at the end of a way of keys, "" for none."""
    if not way:
        return ""
    if way[-1] == "match" or way == ("cleared",):
        return PATTERNS
    if way[0] == "let" and len(way) == 2:
        return THRESHOLDS
    prose = way[-1] in _PROSE or (way[0] in ("fix", "ask") and way[-1] not in _NO_PROSE)
    return TEXTS if prose else ""


def _read_day(text: RuleText, item: RuleItem) -> str:
    try:
        return date.fromisoformat(text.string(item, REVISED)).isoformat()
    except ValueError:
        raise text.error(
            f"`{item.text[:80]}` is not a date", item.place, "write it like 2026-11-20"
        ) from None


def _read_definitions(
    text: RuleText, keys: Mapping[str, RuleItem], faults: list[BadRuleError]
) -> Iterator[Definition]:
    """Yield what a file defines; what is wrong with one definition goes to `faults`, BadRuleError with the file."""
    for kind, part in keys.items():
        if not isinstance(part.value, dict):
            raise text.error(f"{kind} must be a mapping, not {part.what}", part.place)
        for name, item in part.value.items():
            try:
                if not _NAME.match(name):
                    raise text.error(
                        f"`{name[:80]}` cannot be a name", part.keys[name], "write a-z, 0-9 and _"
                    )
                value = (
                    _read_number(text, name, item)
                    if kind == THRESHOLDS
                    else _read_words(text, kind, name, item)
                )
            except BadRuleError as error:
                faults.append(error)
                continue
            yield Definition(kind, name, value, f"{text.name}:{part.keys[name].line}")


def _read_words(text: RuleText, kind: str, name: str, item: RuleItem) -> RuleItem:
    words = text.string(item, f"`{name}`")
    if not words:
        raise text.error(f"`{name}` is empty", item.place)
    if kind == PATTERNS:
        try:
            re.compile(words)
        except (re.error, RecursionError, OverflowError) as error:
            raise text.error(f"`{name}` is not a regular expression: {error}", item.place) from None
    return RuleItem(words, item.place, words)


def _read_number(text: RuleText, name: str, item: RuleItem) -> RuleItem:
    keys = text.mapping(item, THRESHOLD_KEYS, f"threshold `{name}`")
    for key in THRESHOLD_KEYS:
        if key not in keys:
            raise text.error(
                f"threshold `{name}` has no `{key}`", item.place, "give `is`, `unit` and `reason`"
            )
    for key in THRESHOLD_KEYS[1:]:
        text.string(keys[key], key)
    value = keys["is"]
    if isinstance(value.value, bool) or not isinstance(value.value, int | float):
        raise text.error(f"threshold `{name}` must be a number, not {value.what}", value.place)
    return value


def used_in(text: RuleText) -> tuple[tuple[str, str, str], ...]:
    """Return what a rule file may name of what it shares, as kind, name and text; reads no file where it names none."""
    if not isinstance(text.shared, SharedFiles) or not (names := names_in(text.text)):
        return ()
    known = text.shared.definitions
    return tuple(
        (one.kind, one.name, one.item.text) for name in sorted(names) if (one := known.get(name))
    )


def names_in(text: str) -> set[str]:
    """Return every name that a rule file may mean, wherever it is there."""
    return set(re.findall(r"\$([a-z][a-z0-9_]*)", text)) | set(
        re.findall(r"\(\?&([a-z][a-z0-9_]*)\)", text)
    )
