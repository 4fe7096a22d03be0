"""The settings of a desk, `backline.toml`: further rules, muted findings, changed thresholds.

A settings file changes what is said of a case, so it is read strictly: the first mistake stops
the run with file, line, column and caret. docs/settings.md describes every key.
"""

from __future__ import annotations

import fnmatch
import hashlib
import math
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.rules.language.rulefile import BadRuleError, FileSpan, did_you_mean
from analyzer.rules.model import Thresholds
from analyzer.rules.sources import real_path
from analyzer.runtime.limits import Limits
from analyzer.scan.careful import UNDECIDED, measure_cost, refused_by_re2, search_of
from analyzer.scan.patterns import find_fatal

if TYPE_CHECKING:
    from analyzer.rules.tomlplaces import Path as Key

NAME = "backline.toml"
KEYS = {
    "kb": "folders of further rules, relative to this file",
    "mute": "findings that are muted: a list of {rule, subject, node, reason, until}",
    "thresholds": "numbers of rules to change: rule -> {name = number, reason}",
}
MUTE_KEYS = ("rule", "subject", "node", "reason", "until")
MUTES, TEXT = 1000, 500  # mutes in one file; characters of a name that a mute is compared with

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_STEPS = 10_000_000  # that the search for a pattern may take in one name


class BadSettingsError(BadRuleError):
    """One mistake in a settings file: file, place, reason and help, printed with a caret."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Mute:
    """A finding somebody has decided to fold away, why, and until when.

    subject  text that equals the subject or its object, or a pattern between slashes; "" for all
    node     name of the node, with `*` and `?`; "" for all
    until    last day on which it holds, ISO 8601
    """

    rule: str
    subject: str
    node: str
    reason: str
    until: str
    place: FileSpan = field(default=FileSpan(), compare=False)

    def covers(self, rule: str, names: Iterable[str], node: str) -> bool:
        """Say whether the mute speaks of a finding of `rule` on something of these names."""
        if rule != self.rule:
            return False
        if self.node and not re.fullmatch(
            fnmatch.translate(self.node.lower()), node.lower()[:TEXT]
        ):
            return False
        known = [name[:TEXT] for name in names if name]
        if not self.subject.startswith("/"):
            return not self.subject or self.subject in known
        search = search_of(re.compile(self.subject[1:-1]), _STEPS)
        return any(search(name) not in (None, UNDECIDED) for name in known)

    def holds_on(self, day: str) -> bool | None:
        """Say whether the mute holds on a day (ISO 8601), None when the day is not known."""
        return day <= self.until if day else None


@dataclass(frozen=True, slots=True)
class Change:
    """A named number of a rule with another value here."""

    rule: str
    name: str
    value: float
    reason: str
    place: FileSpan = field(default=FileSpan(), compare=False)
    rule_place: FileSpan = field(default=FileSpan(), compare=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a settings file says; without one nothing is changed.

    file  path as it was found, "" without a file; hash: SHA-256 of its bytes; kb: folders, resolved
    """

    file: str = ""
    hash: str = ""
    kb: tuple[Path, ...] = ()
    mutes: tuple[Mute, ...] = ()
    changes: tuple[Change, ...] = ()
    text: str = field(default="", repr=False)

    @property
    def thresholds(self) -> Thresholds:
        """The changed numbers as the rule loader takes them: rule -> name -> value."""
        found: dict[str, dict[str, float]] = {}
        for change in self.changes:
            found.setdefault(change.rule, {})[change.name] = change.value
        return found

    def error(self, message: str, place: FileSpan, help: str = "") -> BadSettingsError:
        """Return the error for a place of the file."""
        return _make_error(self.file, self.text, message, place, help)

    def check_rules(self, known: Collection[str]) -> None:
        """Refuse a mute or threshold of a rule that does not exist; `known` are the ids there are."""
        named = [(mute.rule, mute.place) for mute in self.mutes]
        named += [(change.rule, change.rule_place) for change in self.changes]
        for rule, place in named:
            if rule not in known:
                advice = did_you_mean(rule, known) or "`backline rules list` shows all"
                raise self.error(f"there is no rule `{rule}`", place, advice)

    def about(self) -> str:
        """Return in one line what the file sets, for the terminal."""
        parts = [
            f"{number} {one if number == 1 else many}"
            for number, one, many in (
                (len(self.mutes), "mute", "mutes"),
                (len(self.changes), "threshold", "thresholds"),
                (len(self.kb), "folder of rules", "folders of rules"),
            )
            if number
        ]
        return ", ".join(parts) or "nothing set"


def find_settings(
    material: Sequence[Path] = (), folder: Path | None = None
) -> tuple[Path | None, str]:
    """Return the settings file of a folder (the current one), and why one that lies there is not used.

    A file that lies inside the material of a case was written by somebody else and is not used.
    """
    folder = folder or Path()
    path = folder / NAME
    if not path.is_file():
        return None, ""
    real, home = real_path(path), real_path(folder) / NAME  # the file may be a link
    for given in material:
        one = real_path(given)
        if any(one == place or one in place.parents for place in (real, home)):
            return (
                None,
                f"{path} is part of the material and is not used; name it with --settings if it is yours",
            )
    return path, ""


def read_settings(path: Path, limits: Limits | None = None) -> Settings:
    """Return the settings of a file; raises BadSettingsError with place and caret."""
    limits = limits or Limits()
    name = str(path)
    try:
        if not path.is_file():
            raise _make_error(
                name, "", "no such file", FileSpan(), "give the path of a backline.toml"
            )
        with path.open("rb") as stream:
            raw = stream.read(limits.rule_file + 1)
    except OSError as error:
        raise _make_error(name, "", f"cannot be read: {error.strerror}", FileSpan()) from None
    if len(raw) > limits.rule_file:
        raise _make_error(name, "", f"larger than {limits.rule_file} bytes", FileSpan())
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _make_error(
            name, "", f"not UTF-8 at byte {error.start}", FileSpan(), "save the file as UTF-8"
        ) from None
    return parse_settings(text, name, path.parent, hashlib.sha256(raw).hexdigest(), limits)


def parse_settings(
    text: str,
    name: str = NAME,
    folder: Path | None = None,
    hash: str = "",
    limits: Limits | None = None,
) -> Settings:
    """Return the settings of a TOML text; folders in it are relative to `folder`. Raises BadSettingsError."""

    text = text.replace("\r\n", "\n")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        found = _AT.search(said)
        lines = text.split("\n")
        last = max(1, len(lines) - (not lines[-1]))
        place = FileSpan(last, max(1, len(lines[last - 1])))  # where nothing else is known: the end
        if found and found[1]:
            place = FileSpan(int(found[1]), int(found[2]))
        message = f"not TOML: {said[: found.start()] if found else said}"
        line = lines[place.line - 1]
        advice = ""
        if "Invalid value" in message:
            advice = "text goes in quotes; numbers, true, false and days do not"
        elif re.match(r"\s*\w+\s*:", line):
            advice = "TOML writes key = value"
        syntax = _make_error(name, text, message, place, advice)
        raise syntax from None
    except (RecursionError, ValueError):
        raise _make_error(
            name, text, "not TOML: nested too deep, or a number in it is too long", FileSpan()
        ) from None
    reader = _Reader(name, text, values, folder or Path(), limits or Limits())
    return Settings(
        name,
        hash,
        reader.read_kb(values),
        reader.read_mutes(values),
        reader.read_changes(values),
        text,
    )


class _Reader:
    """From the values of a settings file to its records; every refusal has its place."""

    def __init__(
        self, name: str, text: str, values: Mapping[str, Any], folder: Path, limits: Limits
    ) -> None:
        self.name, self.text, self.folder, self.limits = name, text, folder, limits
        from analyzer.rules.tomlplaces import find_places  # noqa: PLC0415 - the same

        self.places = find_places(text, values)

    def find_place(self, key: Key, *, at_key: bool = False) -> FileSpan:
        """Return where a value stands, or its key, or else what holds it."""
        while key not in self.places and key:
            key = key[:-1]
        at, value = self.places.get(key, (FileSpan(), FileSpan()))
        return at if at_key else value

    def make_error(
        self, key: Key, message: str, help: str = "", *, at_key: bool = False
    ) -> BadSettingsError:
        return _make_error(self.name, self.text, message, self.find_place(key, at_key=at_key), help)

    def check_known(
        self, values: Mapping[str, Any], keys: Collection[str], at: Key, what: str
    ) -> None:
        for key in values:
            if key not in keys:
                raise self.make_error(
                    (*at, key),
                    f"unknown key `{key[:60]}` in {what}",
                    did_you_mean(key, keys),
                    at_key=True,
                )

    def read_kb(self, values: Mapping[str, Any]) -> tuple[Path, ...]:
        self.check_known(values, KEYS, (), "the settings")
        folders = values.get("kb", [])
        if not isinstance(folders, list):
            shown = folders if isinstance(folders, str) else "rules"
            raise self.make_error(("kb",), "kb is a list of folders", f'write kb = ["{shown}"]')
        found = []
        for number, folder in enumerate(folders):
            key = ("kb", number)
            path = self.folder / self.read_line(folder, key, "a folder of rules")
            if not path.is_dir():
                raise self.make_error(
                    key, f"there is no folder {path}", "the path is relative to the settings file"
                )
            found.append(path.resolve())
        return tuple(found)

    def read_mutes(self, values: Mapping[str, Any]) -> tuple[Mute, ...]:
        rows = values.get("mute", [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.make_error(
                ("mute",), "mute is a list of tables", "write [[mute]] above each"
            )
        if len(rows) > MUTES:
            raise self.make_error(("mute", MUTES), f"more than {MUTES} mutes", "mute by pattern")
        found: dict[Mute, FileSpan] = {}
        for number, row in enumerate(rows):
            mute = self.read_mute(row, ("mute", number))
            if mute in found:
                raise self.make_error(
                    ("mute", number),
                    f"the mute of line {found[mute].line} once more",
                    "one is enough",
                )
            found[mute] = self.find_place(("mute", number))
        return tuple(found)

    def read_mute(self, row: Mapping[str, Any], at: Key) -> Mute:
        self.check_known(row, MUTE_KEYS, at, "a mute")
        for key, why in (
            ("rule", "name the one rule it is about"),
            ("reason", "say why, and who agreed to it"),
            ("until", "say until when; nothing is muted forever: until = 2026-12-31"),
        ):
            if key not in row:
                raise self.make_error(at, f"this mute has no `{key}`", why)
        return Mute(
            self.read_line(row["rule"], (*at, "rule"), "the id of a rule"),
            self.read_subject(row["subject"], (*at, "subject")) if "subject" in row else "",
            self.read_line(row["node"], (*at, "node"), "the name of a node")
            if "node" in row
            else "",
            self.read_line(row["reason"], (*at, "reason"), "a reason"),
            self.read_day(row["until"], (*at, "until")),
            self.find_place((*at, "rule")),
        )

    def read_subject(self, value: object, at: Key) -> str:
        self.read_line(value, at, "a subject")
        text = str(value).strip()  # spaces inside a pattern have a meaning
        if not text.startswith("/"):
            return text
        if len(text) < 3 or not text.endswith("/"):
            raise self.make_error(
                at, "a pattern goes between two slashes", f'write subject = "/{text.strip("/")}/"'
            )
        pattern = text[1:-1]
        if len(pattern) > self.limits.pattern_bytes:
            raise self.make_error(at, f"longer than {self.limits.pattern_bytes} characters")
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise self.make_error(at, f"not a pattern: {error}") from None
        if danger := find_fatal(pattern):
            raise self.make_error(
                at, f"this pattern can take forever: {danger.why}", danger.instead
            )
        bound = measure_cost(pattern)
        if (
            (why := refused_by_re2(pattern))
            and bound
            and (TEXT + 1) ** (bound.power + 1) * bound.choices > _STEPS
        ):
            raise self.make_error(
                at,
                f"this pattern can take too long: too many repeats, beside {why}",
                "leave out one of the two",
            )
        return text

    def read_day(self, value: object, at: Key) -> str:
        if isinstance(value, date) and not isinstance(value, datetime):
            return value.isoformat()
        advice = "write a day without quotes: until = 2026-12-31"
        if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value.strip()):
            advice = f"leave the quotes out: until = {value.strip()}"
        raise self.make_error(at, "until is a day", advice)

    def read_changes(self, values: Mapping[str, Any]) -> tuple[Change, ...]:
        rules = values.get("thresholds", {})
        if not isinstance(rules, dict):
            raise self.make_error(
                ("thresholds",),
                "thresholds is a table for each rule",
                "write [thresholds.kb-2039495]",
            )
        found: list[Change] = []
        for rule, row in rules.items():
            at = ("thresholds", rule)
            if not isinstance(row, dict):
                raise self.make_error(
                    at, "thresholds are named by their rule", "write [thresholds.RULE] above them"
                )
            if "reason" not in row:
                raise self.make_error(
                    at, f"the thresholds of `{rule}` have no `reason`", "say why they differ here"
                )
            reason = self.read_line(row["reason"], (*at, "reason"), "a reason")
            if len(row) == 1:
                raise self.make_error(
                    at, f"no threshold of `{rule}` is changed", "add a line NAME = NUMBER"
                )
            for name, value in row.items():
                if name != "reason":
                    number = self.read_number(value, (*at, name), name)
                    where = self.find_place((*at, name), at_key=True)
                    found.append(Change(rule, name, number, reason, where, self.find_place(at)))
        return tuple(found)

    def read_number(self, value: object, at: Key, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.make_error(
                at,
                f"`{name}` is a number",
                "write it without quotes" if isinstance(value, str) else "",
            )
        if not math.isfinite(value) or abs(value) >= 10**18:
            raise self.make_error(at, f"`{name}` is not a number that a rule can compare with")
        return value

    def read_line(self, value: object, at: Key, what: str) -> str:
        """Return a text that is not empty, on one line."""
        if not isinstance(value, str):
            raise self.make_error(at, f"{what} is a text", "write it in quotes")
        words = " ".join(value.split())
        if not words:
            raise self.make_error(at, f"{what} is empty here")
        if len(words) > TEXT:
            raise self.make_error(at, f"longer than {TEXT} characters")
        return words


def _make_error(
    file: str, text: str, message: str, place: FileSpan, help: str = ""
) -> BadSettingsError:
    lines = text.split("\n")
    source = lines[place.line - 1] if place.line <= len(lines) else ""
    return BadSettingsError(message, file=file, place=place, source=source, help=help)
