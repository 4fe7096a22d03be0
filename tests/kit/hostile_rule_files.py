"""Rule files that mean harm, each with what is expected of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)

SOUND = """\
rule: hostile
title: A made-up fault
each: one in esxi.base
join:
  part: {table: esxi.part, by: [key], rows: many}
subject: "thing {one.key}"
let:
  half: one.b / 2
when: one.a > 0
outcomes:
  - {when: true, severity: info, confidence: possible, say: found}
"""


@dataclass(frozen=True)
class Refused:
    """What is expected of a file: part of the message, and what stands at the place that is marked."""

    message: str
    at: str = ""


HARMLESS = None
Expected = Refused | None


def changed(old: str, new: str) -> str:
    """Return the sound rule with one stretch written otherwise."""
    assert old in SOUND
    return SOUND.replace(old, new)


def added(text: str) -> str:
    """Return the sound rule with further keys."""
    return SOUND + text + "\n"


def when(condition: str) -> str:
    """Return the sound rule with another condition."""
    return changed("one.a > 0", condition)


def said(text: str) -> str:
    """Return the sound rule with another text for its finding."""
    return changed("say: found", f"say: {text}")


def searched(pattern: str, more: str = "") -> str:
    """Return the sound rule with a signature."""
    return added(f"logs:\n  sign: {{in: esxi.made_up_log, match: '{pattern}'{more}}}")


def example(files: str) -> str:
    """Return the sound rule with an example made of files."""
    return added(f"examples:\n  - name: one\n    files: {files}\n    expect: {{result: match}}")


def laughs() -> str:
    """Return YAML of ten lines that stands for ten billion values."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(rows)


def lets(count: int, body: Callable[[int], str]) -> str:
    """Return the sound rule with many named values."""
    return changed("  half: one.b / 2\n", "".join(f"  n{n}: {body(n)}\n" for n in range(count)))


def many(key: str, entry: str, count: int) -> str:
    """Return the sound rule with very many entries under a key."""
    return added(f"{key}:\n" + "".join(f"  {entry.replace('#', str(n))}\n" for n in range(count)))


YAML: dict[str, tuple[str | bytes, Expected]] = {
    "python tag": (
        added("about: !!python/object/apply:os.system [id]"),
        Refused("a YAML tag is not allowed", "!!py"),
    ),
    "python name": (
        added("about: !!python/name:os.system"),
        Refused("a YAML tag is not allowed", "!!py"),
    ),
    "string tag": (
        changed("A made-up fault", "!!str x"),
        Refused("a YAML tag is not allowed", "!!str"),
    ),
    "own tag": (
        added("about: !include /etc/passwd"),
        Refused("a YAML tag is not allowed", "!include"),
    ),
    "binary tag": (
        added("about: !!binary aGVsbG8="),
        Refused("a YAML tag is not allowed", "!!binary"),
    ),
    "tag directive": (
        "%TAG ! tag:yaml.org,2002:\n---\n" + added("about: !str x"),
        Refused("a YAML tag is not", "!str"),
    ),
    "billion laughs": (added(laughs()), Refused("the file expands to too many values")),
    "101 aliases": (
        added("kb: &k [1]\nissues: [" + "*k, " * 101 + "]"),
        Refused("more than 100 aliases", "*k"),
    ),
    "recursive alias": (added("kb: &k [*k]"), Refused("the file expands to too many values")),
    "unknown alias": (added("kb: *nothing"), Refused("not YAML")),
    "merge key": (
        changed("{when: true, ", "{<<: {say: x}, when: true, "),
        Refused("merge keys are not allowed", "<<"),
    ),
    "key twice": (added("when: one.b > 0"), Refused("key `when` is given twice", "when")),
    "key twice inside": (
        changed("by: [key]", "by: [key], by: [key]"),
        Refused("key `by` is given twice", "by: [key], r"),
    ),
    "deep flow": (added("kb: " + "[" * 5000 + "]" * 5000), Refused("nested deeper than 20", "[")),
    "deep maps": (
        added("ask: " + "{a: " * 40 + "1" + "}" * 40),
        Refused("nested deeper than 20", "{a"),
    ),
    "deep block": (
        added("ask:\n" + "".join(" " * n + f"k{n}:\n" for n in range(1, 60))),
        Refused("nested deeper"),
    ),
    "open brackets": ("rule: x\nkb: " + "[" * 500_000, Refused("nested deeper than 20", "[")),
    "many documents": (SOUND + "---\n" + SOUND, Refused("a second document", "---")),
    "complex key": (added("? [a, b]\n: 1"), Refused("a key must be a word", "[a, b]")),
    "unclosed": (added("kb: [1, 2"), Refused("not YAML")),
    "tab": (added("ask:\n\tesxi.base: x"), Refused("not YAML")),
    "control character": (added("about: a\x07b"), Refused("not YAML")),
    "NUL": (added("about: a\x00b"), Refused("not YAML")),
    "BOM": (b"\xef\xbb\xbf" + SOUND.encode(), HARMLESS),
    "BOM inside": (added("about: a\ufeffb"), Refused("control character")),
    "UTF-16": (SOUND.encode("utf-16"), Refused("not UTF-8 at byte 0")),
    "UTF-32": (SOUND.encode("utf-32"), Refused("not UTF-8 at byte 0")),
    "latin 1": (added("about: grün").encode("latin-1"), Refused("not UTF-8 at byte")),
    "CRLF": (SOUND.replace("\n", "\r\n"), HARMLESS),
    "CR alone": (SOUND.replace("\n", "\r"), HARMLESS),
    "empty": ("", Refused("the file is empty")),
    "only a comment": ("# rule: x\n", Refused("the file is empty")),
    "a list": ("- rule: x\n", Refused("must be a mapping, not a list")),
    "a word": ("rule\n", Refused("must be a mapping, not text")),
    "too large": (SOUND + "# " + "x" * (1 << 20), Refused("larger than 1048576 bytes")),
    "huge key": (added("x" * 900 + ": 1"), Refused("unknown key `" + "x" * 60 + "`", "xxx")),
    "huge title": (
        changed("A made-up fault", "x" * 500_000),
        Refused("a text of 500,000 characters", "xxx"),
    ),
    "huge number": (
        added("kb: [" + "9" * 100_000 + "]"),
        Refused("a text of 100,000 characters", "999"),
    ),
    "infinity": (added("kb: [.inf]"), Refused("kb holds numbers, not text", ".inf")),
    "many values": (
        added("kb: [" + "1, " * 60_000 + "]"),
        Refused("the file expands to too many values"),
    ),
}

PATTERNS: dict[str, tuple[str | bytes, Expected]] = {
    "nested repeats": (
        searched("lost (a+)+ again(?! x)"),
        Refused("this pattern can run away", "(a+)+"),
    ),
    "overlapping arms": (
        searched("lost (?:a|aa)+ again(?! x)"),
        Refused("this pattern can run away", "(?:a|aa)+"),
    ),
    "optional inside": (
        searched(r"lost (\w+\s?)* again(?! x)"),
        Refused("this pattern can run away", r"(\w+\s?)*"),
    ),
    "folded case": (
        searched("(?:sa|ſa)+ lost(?! x)", ", ignore_case: true"),
        Refused("this pattern can run", "(?:sa|ſa)+"),
    ),
    "choices alone": (
        searched("^(?:a?){40}a{40}(?!x)"),
        Refused("this pattern can run away", "(?:a?){40}"),
    ),
    "nested repeats that RE2 takes": (searched("lost (a+)+ again"), HARMLESS),
    "overlapping arms that RE2 takes": (searched("lost (?:a|aa)+ again"), HARMLESS),
    "huge counts": (
        searched("x(?:y{1000}){1000}"),
        Refused("with all counts written out", "(?:y{1000}){1000}"),
    ),
    "three counts": (
        searched("(?:(?:[a-z]{20}){20}){20}"),
        Refused("with all counts written out", "(?:(?:"),
    ),
    "count beyond all": (searched("x{99999999999}"), Refused("not a regular expression")),
    "too long": (searched("x" * 4097), Refused("a pattern longer than 4096 bytes", "'xx")),
    "too long in bytes": (searched("ü" * 2049), Refused("a pattern longer than 4096 bytes", "'üü")),
    "too deep": (searched("(?:" * 800 + "x" + ")" * 800), Refused("not a regular expression")),
    "every line": (searched("a*"), Refused("the pattern matches every line", "'a*'")),
    "set in a set": (searched("[[a-z]b]"), Refused("not clear to `re`", "'[[a")),
    "no pattern": (searched("(a"), Refused("not a regular expression", "(a")),
    "wide lookbehind": (searched("(?<=a+)tail"), Refused("not a regular expression: look-behind")),
    "groups of one name": (
        searched("(?P<Dev>a)(?P<dev>b)tail"),
        Refused("differ only in case", "'(?P"),
    ),
    "a group like a column": (searched("(?P<Level>a)tail"), Refused("differ only in case", "'(?P")),
    "polynomial": (searched("error.*link.*down.*link"), HARMLESS),
    "no literal": (searched(r"\d\d"), HARMLESS),
    "many signatures": (
        added(
            "logs:\n"
            + "".join(f"  s{n}: {{in: esxi.made_up_log, match: 'word{n}'}}\n" for n in range(51))
        ),
        Refused("more than 50 entries under `logs`"),
    ),
    "long signatures": (
        added(
            "logs:\n"
            + "".join(
                f"  s{n}: {{in: esxi.made_up_log, match: '{'x' * 4000}'}}\n" for n in range(5)
            )
        ),
        Refused("signatures of more than 16,384 characters"),
    ),
}

NAMES: dict[str, tuple[str | bytes, Expected]] = {
    "alias with SQL": (changed("each: one", "each: 'one;drop"), Refused("not YAML")),
    "alias with quotes": (changed("each: one in", "each: o\"ne in"), Refused("cannot be a name", 'o"ne')),
    "alias with line feed": (changed("  part: {", '  "part\\n": {'), Refused("cannot be a name", '"part')),
    "join called true": (changed("  part: {", "  true: {"), Refused("cannot be a name", "true")),
    "join called like SQL": (changed("  part: {", "  select: {"), HARMLESS),
    "let called like SQL": (changed("  half: ", "  from: "), HARMLESS),
    "long name": (changed("  half: ", f"  {'h' * 61}: "), Refused("cannot be a name", "hhh")),
    "table with SQL": (changed("in esxi.base", "in esxi.base;--"), Refused("no parser makes table", "esxi.base;")),
    "table of the database": (changed("in esxi.base", "in duckdb_settings"), Refused("no parser makes table", "duckdb")),
    "file as a table": (changed("table: esxi.part", "table: /etc/passwd"), Refused("no parser makes table", "/etc")),
    "by with SQL": (changed("by: [key]", "by: ['key\" OR 1=1']"), Refused("has no column", "'key")),
    "by hidden columns": (changed("by: [key]", "by: [_row]"), Refused("has no column `_row`", "_row")),
    "hidden column": (when("one._row > 0"), Refused("has no column `_row`", "_row")),
    "text with SQL": (when("one.s == \"x'); DROP TABLE \\\"esxi.base\\\"; --\""), HARMLESS),
    "quotes in a list": (when("one.s in [\"'\", '\"', \"'--\"]"), HARMLESS),
    "version with SQL": (when("one.v >= \"6.3' OR '1'='1\""), Refused("is not a version")),
    "time with SQL": (when("one.at > \"2017-01-01' OR '1\""), Refused("is not a time")),
    "a query": (when("(SELECT 1) > 0"), Refused("not an expression")),
    "a function of SQL": (when("read_csv('/etc/passwd') == 1"), Refused("unknown function `read_csv`", "read_csv")),
    "pragma": (when("getenv('HOME') == 'x'"), Refused("unknown function `getenv`", "getenv")),
    "group with SQL": (searched("(?P<x>a)tail", ", where: 'x == \"\\x27 OR 1=1 --\"'"), HARMLESS),
    "seen with SQL": (added("logs: {l: {in: esxi.made_up_log, match: abcd}}\nseen: {'s\"': {log: l}}"),
                      Refused("cannot be a name", "'s")),
    "id with folders": (changed("rule: hostile", "rule: ../../../tmp/x"), Refused("is not an id", "../")),
    "id with NUL": (changed("rule: hostile", 'rule: "host\\0ile"'), Refused("a control character")),
    "long id": (changed("rule: hostile", "rule: " + "a" * 300), Refused("is not an id", "aaa")),
}  # fmt: skip

TEXTS: dict[str, tuple[str | bytes, Expected]] = {
    "class of a row": (said('"{one.__class__}"'), Refused("has no column `__class__`")),
    "class of a value": (said('"{one.key.__class__}"'), Refused("a second dot")),
    "subclasses": (said('"{one.__class__.__subclasses__}"'), Refused("a second dot")),
    "globals": (said('"{half.__globals__}"'), Refused("unknown name `half`")),
    "import": (said("\"{__import__('os').system('id')}\""), Refused("not allowed here: call")),
    "position": (said('"{0}"'), HARMLESS),
    "conversion": (said('"{one.key!r}"'), Refused("not an expression")),
    "wide": (
        said('"{one.key:1000000000d}"'),
        Refused("format `1000000000d` does not suit", "one.key"),
    ),
    "precise": (said('"{one.f:.999999999f}"'), Refused("does not suit", "one.f")),
    "nested format": (said('"{one.key:{one.a}}"'), Refused("a lone `{`", "{")),
    "lone brace": (said('"{one.key"'), Refused("a lone `{`", "{")),
    "say of 100 KB": (
        said("x" * 100_000),
        Refused("a text of 100,000 characters under `outcomes`", "xxx"),
    ),
    "say of 8 KB": (said("x" * 8000), HARMLESS),
    "escape in a title": (
        changed("A made-up fault", '"\\e[31mred"'),
        Refused("a control character", '"\\e'),
    ),
    "bell": (said('"\\a"'), Refused("a control character")),
    "bidi in a title": (
        changed("A made-up fault", '"\\u202Etxet"'),
        Refused("reverses the order of letters"),
    ),
    "bidi as it is": (
        changed("A made-up fault", "a \u202etxet"),
        Refused("reverses the order of letters", "\u202e"),
    ),
    "bidi isolate in ask": (added('ask: "\\u2066x"'), Refused("reverses the order of letters")),
    "half a letter": (added('about: "\\uD800"'), Refused("")),
    "line separator": (added('caution: "a\\u2028b"'), Refused("a control character")),
    "C1 control": (added('caution: "a\\x9bb"'), Refused("a control character")),
    "escape in a key": (added('ask: {"\\e[31m": x}'), Refused("a control character in a key")),
    "HTML": (said('"</script><script>alert(1)</script>"'), HARMLESS),
    "Jinja": (said('"{{{{ 7*7 }}}} {{% include x %}}"'), HARMLESS),
}

EXPRESSIONS: dict[str, tuple[str | bytes, Expected]] = {
    "deep parentheses": (
        when("(" * 300 + "one.a" + ")" * 300 + " > 0"),
        Refused("not an expression"),
    ),
    "many nots": (when("not " * 900 + "one.t"), Refused("not an expression: too deep")),
    "many minus": (when("-" * 3000 + "one.a > 0"), Refused("not an expression")),
    "long": (when("one.a > 0 or " * 400 + "one.t"), Refused("longer than 4096 characters")),
    "long sum": (when(" + ".join(["one.a"] * 300) + " > 0"), Refused("deep")),
    "doubling names": (
        lets(30, lambda n: f"n{n - 1} + n{n - 1}" if n else "one.a"),
        Refused("larger than 4000 parts"),
    ),
    "nested chains": (
        when("one.t == (" * 150 + "one.t" + " == one.t) == one.t" * 150),
        Refused(""),
    ),
    "all too large": (
        lets(90, lambda n: " or ".join([f"one.a == {n}"] * 60)),
        Refused("parts with all names written out"),
    ),
    "power": (when("9 ** 9 ** 9 > one.a"), Refused("operator **", "9 ** 9")),
    "shift": (when("1 << 99999 > one.a"), Refused("operator <<", "1 << 9")),
    "repeated text": (when("one.s == 'x' * 999999999"), Refused("is text, not a number", "'x'")),
    "huge whole number": (when("one.a > " + "9" * 60), Refused("not allowed here: int", "999")),
    "huge float": (when("one.f > 1e999"), Refused("not allowed here: float", "1e999")),
    "comprehension": (when("'[x for x in one]'"), Refused("a loop")),
    "lambda": (when("'(lambda: 1)() > 0'"), Refused("not allowed here: call")),
    "f-string": (when("one.s == f'{one.a}'"), Refused("an f-string")),
    "walrus": (when("one.t and (x := 1)"), Refused("not allowed here: :=", "x := 1")),
    "method": (when("one.s.upper() == 'X'"), Refused("not allowed here: call")),
    "index": (when("one['a'] > 0"), Refused("not allowed here: […]")),
    "star": (when("sum(*part.x) > 0"), Refused("plain values only")),
    "await": (when("'await one.a'"), Refused("")),
    "control character": (when("one.s == '\\x1b'"), Refused("not allowed here: str", "'\\x1b'")),
}

COUNTS: dict[str, tuple[str | bytes, Expected]] = {
    "kb": (many("kb", "- #", 101), Refused("more than 100 entries under `kb`")),
    "source": (many("source", "- x#", 51), Refused("more than 50 entries under `source`")),
    "notes": (many("notes", "- {when: one.t, say: x}", 51), Refused("more than 50 entries under `notes`")),
    "fix": (many("fix", "- {do: x}", 51), Refused("more than 50 entries under `fix`")),
    "evidence": (many("evidence", "- one.a", 101), Refused("more than 100 entries under `evidence`")),
    "examples": (
        many("examples", "- {name: e#, expect: {result: match}}", 501),
        Refused("more than 500 entries under `examples`"),
    ),
    "let": (lets(101, lambda n: "one.a"), Refused("more than 100 entries under `let`")),
    "outcomes": (
        changed("  - {when", "".join(["  - {when: one.t, severity: info}\n"] * 50) + "  - {when"),
        Refused("more than 50 entries under `outcomes`"),
    ),
    "join": (
        changed("  part: {", "".join(f"  p{n}: {{table: esxi.part, by: [key]}}\n" for n in range(20)) + "  part: {"),
        Refused("more than 20 entries under `join`"),
    ),
    "span": (added("logs: {l: {in: esxi.made_up_log, match: abcd}}\nseen: {s: {log: l, within: 9999999999d}}"),
             Refused("the span is a time span", "9999999999d")),
    "at_least": (added("logs: {l: {in: esxi.made_up_log, match: abcd}}\nseen: {s: {log: l, at_least: 9999999}}"),
                 Refused("at_least is a number from 1 to 1000000", "9999999")),
}  # fmt: skip

EXAMPLES: dict[str, tuple[str | bytes, Expected]] = {
    "absolute path": (example("[{path: /etc/cron.d/x, text: a}]"), Refused("is absolute", "/etc")),
    "path of Windows": (example("[{path: 'C:\\x', text: a}]"), Refused("is absolute", "'C:")),
    "backslashes": (example("[{path: '..\\x', text: a}]"), Refused("not written with /", "'..")),
    "path upwards": (example("[{path: ../../x, text: a}]"), Refused("leaves its folder", "../")),
    "path upwards inside": (
        example("[{path: a/../../x, text: a}]"),
        Refused("leaves its folder", "a/.."),
    ),
    "a dot": (example("[{path: ., text: a}]"), Refused("leaves its folder", ".")),
    "empty path": (example("[{path: '', text: a}]"), Refused("has an empty part", "''")),
    "NUL in a path": (example('[{path: "a\\0b", text: a}]'), Refused("has a control character")),
    "long part": (example(f"[{{path: {'x' * 256}, text: a}}]"), Refused("is too long", "xxx")),
    "long path": (example(f"[{{path: {'x/' * 600}x, text: a}}]"), Refused("is too long", "x/x")),
    "file and folder": (
        example("[{path: a, text: a}, {path: a/b, text: b}]"),
        Refused("cannot go with 'a'", "a/b"),
    ),
    "one path twice": (
        example("[{path: a, text: a}, {path: a, text: b}]"),
        Refused("cannot go with 'a'", "a, t"),
    ),
    "absolute in short form": (example("{/etc/passwd: x}"), Refused("is absolute", "/etc")),
    "long name": (
        example("[]").replace("name: one", f"name: {'x' * 201}"),
        Refused("one line of at most 200", "xxx"),
    ),
    "rows without end": (
        added(
            "examples:\n  - name: one\n    tables:\n      esxi.part: ["
            + ", ".join(["{key: 1, y: 1+1x5000}"] * 11)
            + "]\n    expect: {result: match}"
        ),
        Refused("examples of more than 50,000 rows", "{key"),
    ),
    "one text a hundred times": (
        added(
            f"examples:\n  - name: one\n    logs: {{esxi.made_up_log: &t '{'x' * 200_000}'}}\n    expect: {{result: match}}\n"
            + "".join(
                f"  - {{name: e{n}, logs: {{esxi.made_up_log: *t}}, expect: {{result: match}}}}\n"
                for n in range(40)
            )
        ),
        Refused("examples of more than 4,194,304 characters"),
    ),
}

ALL = {
    f"{group}: {name}": case
    for group, cases in (
        ("yaml", YAML), ("pattern", PATTERNS), ("name", NAMES), ("text", TEXTS), ("expression", EXPRESSIONS),
        ("count", COUNTS), ("example", EXAMPLES),
    )
    for name, case in cases.items()
}  # fmt: skip


def written(folder: Path, text: str | bytes, name: str = "hostile.yaml") -> Path:
    """Write a rule file and return it."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
