"""The schema for editors refuses what the loader refuses by its form, and nothing that the loader takes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import CatalogRows, Column, Table
from analyzer.authoring.pages import schema, schema_words
from analyzer.cli import main
from analyzer.rules import bounds, examples, fact_tables, logs, short, short_examples
from analyzer.rules import keys as rule_keys
from analyzer.rules.cited_sources import SOURCE_KEYS
from analyzer.rules.language.rulefile import BadRuleError, RuleText
from tests.kit.rule_kit import TABLES as MADE_UP
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "analyzer" / "kb").glob("*/*.yaml"))
WHOLE = schema.make_schema(fact_tables.list_declared())
FACT = Table(
    "kb.meaning",
    "made-up facts",
    "made up",
    "",
    (Column("key", "int", "number of the thing"), Column("title", "str", "")),
    key=("key",),
    given=CatalogRows(
        "0", (("facts/meaning.csv", 2, {"key": 1, "title": "A row"}),), ("facts/meaning.csv",)
    ),
)
MANAGER = Table(
    "nsx.manager",
    "a manager",
    "show",
    "show",
    (Column("version", "version", ""), Column("build", "int", "")),
)
TABLES = {**MADE_UP, FACT.name: FACT, MANAGER.name: MANAGER}
SMALL = Draft7Validator(schema.make_schema(TABLES))

# Every key of the format once, over the made-up tables.
EVERYTHING: dict[str, Any] = {
    "rule": "made-up",
    "title": "A made-up fault",
    "kb": [1, 2],
    "issues": 3,
    "source": [
        "here",
        {
            "title": "there",
            "url": "https://example.com/a?b=c",
            "checked": "2026-11-20",
            "mark": "verified",
        },
        {"title": "both", "article": [2039495, 1010071]},
    ],
    "checked": "2026-11-19",
    "owner": "team NN",
    "tags": ["one", "two"],
    "status": "retired",
    "proven": "on nothing: it is made up",
    "replaced_by": "other",
    "replaces": ["before", "earlier"],
    "revised": "2026-11-20",
    "needs": "0.1",
    "about": "It is made up.",
    "product": "nsx",
    "each": "one in esxi.base",
    "join": {
        "part": {
            "table": "esxi.part",
            "by": ["key"],
            "rows": "many",
            "nodes": "any",
            "where": "part.ok",
        },
        "first": {"table": "esxi.part", "by": {"key": "key"}, "rows": "one", "nodes": "same"},
        "line": {"table": "bad", "by": [], "rows": "many"},
        "means": {"table": "kb.meaning", "by": ["key"], "rows": "each"},
    },
    "fact": "means",
    "population": {
        "table": "esxi.part",
        "as": "p",
        "by": ["key"],
        "where": "p.ok",
        "subject": "{p.name}",
    },
    "subject": "thing {one.key}",
    "object": "{one.key}",
    "logs": {
        "bad": {
            "in": "esxi.made_up_log",
            "match": "bad (?P<who>\\w+)",
            "ignore_case": True,
            "keep": 5,
            "nodes": "any",
            "columns": {"who": "str"},
            "otherwise": {"who": "nobody"},
        },
        "good": {
            "in": "esxi.made_up_log",
            "match": "good words",
            "where": "level == 'info'",
            "nodes": "same",
        },
    },
    "seen": {
        "burst": {"log": "bad", "at_least": 2, "within": "10m", "per": "who", "distinct": "level"},
        "order": {"sequence": ["bad", "good"], "within": "1.5h", "per": "level"},
        "quiet": {"none": "good", "for": "2d"},
        "long": {"log": "bad", "until": "good", "longer_than": "60s"},
    },
    "affected": {"nsx": [">=6.3.0 <6.3.4", "6.4.0-7564187"]},
    "fixed_in": {"nsx": "6.3.4"},
    "only": "one.t",
    "let": {"total": "sum(part.x)", "mark": 5},
    "when": "total > mark or burst",
    "grade": [{"when": "total > 9", "severity": "major"}],
    "outcomes": [
        {"when": "one.a > 3", "severity": "info", "confidence": "exposed", "say": "{one.a}"},
        {"when": True, "severity": "critical"},
    ],
    "notes": [{"when": "order", "say": "in order"}],
    "evidence": ["one.a", "part.x"],
    "chart": ["part.y"],
    "fix": [{"where": "host", "run": "do-it", "note": "soon"}, {"do": "look"}],
    "caution": "",
    "not_this": "else",
    "explained_by": ["other"],
    "ask": {"esxi.base": "base-command", "esxi.made_up_log": "the log"},
    "examples": [
        {
            "name": "first",
            "tables": {
                "esxi.base": [
                    {
                        "key": 1,
                        "a": None,
                        "f": 0.5,
                        "s": "x",
                        "t": True,
                        "v": "6.3",
                        "at": "2017-10-02 08:05:00",
                        "node": "n",
                    }
                ],
                "esxi.part": [{"key": 1, "x": "2x3 70+1x2 _", "y": 3}],
                "guest.thing": None,
                "nsx.boss": [],
            },
            "logs": {"esxi.made_up_log": "2017-10-02 08:05:00 bad one\n"},
            "cut": ["esxi.part"],
            "expect": {
                "result": "match",
                "severity": "major",
                "confidence": "likely",
                "say": ["a", "b"],
                "count": 1,
            },
            "gap": False,
        },
        {
            "name": "second",
            "like": "first",
            "files": [
                {
                    "path": "a.txt",
                    "command": "c",
                    "parser": "p",
                    "text": "t",
                    "node": "n",
                    "kind": "esxi",
                }
            ],
            "expect": {"result": "cannot_tell", "missing": "esxi.base", "reason": "missing"},
        },
        {
            "name": "third",
            "files": {"cmd": "text"},
            "expect": {"result": "no_match", "maybe_worse": "esxi.part"},
        },
    ],
}
# And every key of the short form.
SHORT: dict[str, Any] = {
    "rule": "made-up",
    "title": "A made-up fault",
    "unasked": True,
    "sign": {
        "in": "esxi.made_up_log",
        "match": "bad (?P<who>\\w+)",
        "also": [{"match": "other words", "source": "made up"}],
        "ignore_case": True,
        "columns": {"who": "str"},
        "otherwise": {"who": "nobody"},
        "where": "level == 'info'",
        "keep": 5,
        "nodes": "same",
        "per": "who",
        "at_least": 2,
        "within": "10m",
        "distinct": "level",
    },
    "cleared": {
        "in": "esxi.made_up_log",
        "match": "good (?P<who>\\w+)",
        "also": [{"match": "other words", "source": "made up"}],
        "ignore_case": True,
        "columns": {"who": "str"},
        "otherwise": {"who": "nobody"},
        "where": "level == 'info'",
        "keep": 5,
        "nodes": "same",
        "longer_than": "60s",
        "severity": "info",
        "confidence": "exposed",
        "say": "{who}",
    },
    "severity": "critical",
    "confidence": "likely",
    "say": "{who} {sign.count}",
    "fix": {"host": "look"},
    "examples": {
        "match": "bad one",
        "no_match": ["none"],
        "cleared": "bad one",
        "cannot_tell": [
            "bad one",
            {"name": "bad", "lines": "bad one", "missing": "esxi.made_up_log"},
        ],
        "more": [
            {
                "name": "long",
                "logs": {"esxi.made_up_log": None},
                "expect": {"result": "cannot_tell"},
            }
        ],
    },
}
Path_ = tuple[str | int, ...]


def loads(rule: Any) -> bool:
    """Tell whether the loader takes a rule, examples included."""
    try:
        rules.parse(json.dumps(rule, ensure_ascii=False), TABLES)
    except BadRuleError:
        return False
    return True


def fits(rule: Any) -> bool:
    """Tell whether the schema takes a rule."""
    return bool(SMALL.is_valid(rule))


def nodes(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Yield every value of a tree with its path."""
    yield path, value
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, child in children:
        yield from nodes(child, (*path, key))


def at(tree: Any, path: Path_) -> Any:
    """Return the value at a path."""
    for key in path:
        tree = tree[key]
    return tree


def changed(path: Path_, value: Any = None, *, drop: bool = False) -> Any:
    """Return the whole rule with one value replaced or taken out."""
    tree = copy.deepcopy(EVERYTHING)
    owner = at(tree, path[:-1])
    if drop:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return tree


PLACES = [path for path, _ in nodes(EVERYTHING) if path]
MAPPINGS = [path for path, value in nodes(EVERYTHING) if isinstance(value, dict)]
FREE = {
    ("join",),
    ("logs",),
    ("seen",),
    ("let",),
    ("ask",),
    ("examples", 2, "files"),
    ("join", "first", "by"),
    ("logs", "bad", "columns"),
    ("logs", "bad", "otherwise"),
    ("affected",),
    ("fixed_in",),
}


@pytest.mark.size
def test_the_schema_is_draft_7_and_the_text_is_the_schema() -> None:
    """A validator takes it as a schema, and the compact layout of the file loses nothing."""
    Draft7Validator.check_schema(WHOLE)
    assert json.loads(schema.write_schema(fact_tables.list_declared())) == WHOLE


@pytest.mark.size
@together("path", SHIPPED)
def test_a_shipped_rule_is_valid(path: Path) -> None:
    """No diagnostic in an editor for a rule of the tool."""
    plain = RuleText(path.name, path.read_text(encoding="utf-8")).tree().plain()
    assert [error.message for error in Draft7Validator(WHOLE).iter_errors(plain)] == []


def test_the_rule_of_all_keys_is_one() -> None:
    """The rule these tests change is whole: it loads, it is valid, and no key of the loader is left out."""
    rules.parse(json.dumps(EVERYTHING), TABLES)
    assert fits(EVERYTHING)
    rules.parse(json.dumps(SHORT), TABLES)
    assert fits(SHORT)
    assert [key for key in rule_keys.KEYS if key in EVERYTHING] == list(EVERYTHING)
    assert [key for key in rule_keys.KEYS if key in SHORT] == list(SHORT)
    assert {*EVERYTHING, *SHORT} == set(rule_keys.KEYS)
    assert set(SHORT["sign"]) == set(short.SIGN_KEYS)
    assert set(SHORT["cleared"]) == set(short.CLEARED_KEYS)
    assert set(SHORT["examples"]) == set(short_examples.SHORT_KEYS)


def short_changed(path: Path_, value: Any = None, *, drop: bool = False) -> Any:
    """Return the short rule with one value replaced or taken out."""
    tree = copy.deepcopy(SHORT)
    owner = at(tree, path[:-1])
    if drop:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return tree


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("each",), "one in esxi.base"),
        (("population",), {"table": "esxi.part", "by": ["key"]}),
        (("outcomes",), [{"severity": "info"}]),
        (("sign", "colour"), "red"),
        (("sign", "in"), "esxi.base"),
        (("sign", "in"), "esxi.nope"),
        (("sign", "match"), ""),
        (("sign", "at_least"), 0),
        (("sign", "within"), "10 minutes"),
        (("sign", "keep"), 51),
        (("sign",), "bad"),
        (("cleared", "colour"), "red"),
        (("cleared", "longer_than"), "a minute"),
        (("cleared", "severity"), "high"),
        (("cleared",), ["bad"]),
        (("severity",), "high"),
        (("confidence",), "sure"),
        (("examples", "colour"), "bad"),
        (("examples", "match"), None),
        (("examples", "more"), "bad"),
    ],
    ids=str,
)
def test_what_has_the_wrong_form_in_a_short_rule_is_refused_by_both(
    path: Path_, value: Any
) -> None:
    """The editor marks in the short form what the loader refuses by its form."""
    tree = short_changed(path, value)
    assert not loads(tree)
    assert not fits(tree)


@pytest.mark.parametrize(
    "path", [path for path, _ in nodes(SHORT) if path and isinstance(path[-1], str)], ids=str
)
def test_a_key_of_a_short_rule_is_needed_where_the_loader_needs_it(path: Path_) -> None:
    """Taking a key out of a short rule is refused by both or by none."""
    tree = short_changed(path, drop=True)
    assert loads(tree) is fits(tree), path


@pytest.mark.parametrize("key", ["cleared", "severity", "confidence", "say"])
def test_keys_of_the_short_form_go_with_a_sign(key: str) -> None:
    """A rule without `sign` has none of them."""
    tree = {**EVERYTHING, key: SHORT[key]}
    assert not loads(tree)
    assert not fits(tree)


def test_every_key_has_its_words() -> None:
    """What an editor shows beside a key is there for each one the loader knows, and for no other."""
    lists = {
        "source": SOURCE_KEYS,
        "join": rule_keys.JOIN_KEYS,
        "population": rule_keys.POPULATION_KEYS,
        "logs": logs.LOG_KEYS,
        "also": logs.ALSO_KEYS,
        "seen": logs.SEEN_KEYS,
        "grade": rule_keys.GRADE_KEYS,
        "outcomes": rule_keys.OUTCOME_KEYS,
        "notes": rule_keys.NOTE_KEYS,
        "fix": rule_keys.FIX_KEYS,
        "examples": examples.EXAMPLE_KEYS,
        "sign": short.SIGN_KEYS,
        "cleared": short.CLEARED_KEYS,
        "bare": {*short_examples.SHORT_KEYS, *short_examples.RESULT_KEYS},
        "rows": short_examples.ROW_KEYS,
        "case": short_examples.CASE_KEYS,
        "files": examples.FILE_KEYS,
        "expect": examples.EXPECT_KEYS,
    }
    assert set(schema_words.BELOW) == {
        f"{parent}.{key}" for parent, keys in lists.items() for key in keys
    }
    assert list(schema_words.TOP) == list(rule_keys.KEYS) == list(WHOLE["properties"])


def test_every_property_is_described_with_an_example_and_every_column_with_its_unit() -> None:
    """A pointer that rests on a key or a column shows what it means."""
    for path, value in nodes({key: WHOLE[key] for key in ("properties", "definitions")}):
        if len(path) < 2 or path[-2] != "properties" or not isinstance(value, dict):
            continue
        assert value["description"], path
        if path[0] == "properties" and path[-1] not in parsing.tables():
            assert "```yaml" in value["markdownDescription"], path
    drops = WHOLE["definitions"]["row of esxi.client_stats"]["properties"]["dropped_rx"]
    assert drops["description"].endswith(", in packets (whole number)")


@together(
    "entry", [*schema_words.TOP.items(), *schema_words.BELOW.items()], ids=lambda entry: entry[0]
)
def test_the_example_of_a_key_is_yaml_with_that_key(entry: tuple[str, tuple[str, str]]) -> None:
    """The example in the hover text can be copied."""
    name, (_, example) = entry
    assert list(RuleText(name, example).tree().value) == [name.rpartition(".")[2]]


@pytest.mark.parametrize("key", list(schema_words.TOP), ids=str)
def test_the_example_of_a_top_key_is_valid(key: str) -> None:
    """The examples of the hover texts are accepted by the schema they stand in."""
    plain = RuleText(key, schema_words.TOP[key][1]).tree().plain()
    alone = ("required", "dependencies")  # the keys that stand beside it in a rule
    errors = [
        error for error in Draft7Validator(WHOLE).iter_errors(plain) if error.validator not in alone
    ]
    assert errors == []


@pytest.mark.parametrize("path", [path for path in MAPPINGS if path not in FREE], ids=str)
def test_an_unknown_key_is_refused_wherever_the_loader_refuses_it(path: Path_) -> None:
    """Every mapping of fixed keys is closed, and the mistake is told for that very mapping."""
    tree = changed((*path, "colour"), "red") if path else {**EVERYTHING, "colour": "red"}
    assert not loads(tree)
    errors = [
        error for error in SMALL.iter_errors(tree) if error.validator == "additionalProperties"
    ]
    assert [tuple(error.absolute_path) for error in errors] == [path]


@together("path", [path for path in PLACES if isinstance(path[-1], str)], ids=str, parts=3)
def test_a_key_is_needed_where_the_loader_needs_it(path: Path_) -> None:
    """Taking a key out is refused by both or by none; what fails for its meaning alone is left to lint."""
    tree = changed(path, drop=True)
    try:
        rules.parse(json.dumps(tree), TABLES)
        needed = False
    except BadRuleError as error:
        needed = any(words in error.message for words in ("is missing", "has no", "needs"))
        needed = needed and "has no `who`" not in error.message
    assert fits(tree) is not needed


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in PLACES
        if path[-1] in ("status", "severity", "confidence", "result", "rows", "nodes")
    ],
    ids=str,
)
def test_a_word_of_a_fixed_list_is_checked(path: Path_) -> None:
    """`severity: high` is told while it is typed."""
    tree = changed(path, "high")
    assert not loads(tree)
    assert [tuple(error.absolute_path) for error in SMALL.iter_errors(tree)] == [path]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("each",), "one in esxi.bas"),
        (("each",), "one in esxi.made_up_log"),
        (("each",), "one of esxi.base"),
        (("each",), "one in esxi.base per key"),
        (("each",), "one in bad per"),
        (("each",), "one in bad per who level"),
        (("join", "line", "table"), "Bad"),
        (("logs", "bad", "columns", "who"), "text"),
        (("each",), "One in esxi.base"),
        (("rule",), "Made Up"),
        (("kb",), ["one"]),
        (("join", "part", "table"), "esxi.parts"),
        (("join", "part", "table"), "esxi.made_up_log"),
        (("join",), {"Part": {"table": "esxi.part"}}),
        (("join",), {"not": {"table": "esxi.part"}}),
        (("population", "table"), "esxi.parts"),
        (("logs", "bad", "in"), "esxi.base"),
        (("logs", "bad", "match"), ""),
        (("logs", "bad", "keep"), 51),
        (("logs", "bad", "ignore_case"), "yes"),
        (("seen", "burst", "at_least"), 0),
        (("seen", "burst", "within"), "10 minutes"),
        (("seen", "order", "sequence"), ["bad"]),
        (("seen", "quiet"), {"none": "good", "log": "bad"}),
        (("seen", "quiet"), {"none": "good", "within": "2d"}),
        (("seen", "quiet"), {"none": "good", "at_least": 2}),
        (("seen", "order"), {"sequence": ["bad", "good"], "distinct": "level"}),
        (("seen", "order"), {"sequence": ["bad", "good"], "for": "1h"}),
        (("seen", "long"), {"log": "bad", "until": "good"}),
        (("seen", "long"), {"log": "bad", "until": "good", "longer_than": "60s", "at_least": 2}),
        (("outcomes",), []),
        (("outcomes",), None),
        (("when",), ["one.t"]),
        (("title",), ["a"]),
        (("title",), None),
        (("fix",), [{"where": "host"}]),
        (("source", 1, "url"), "ftp://example.com"),
        (("source", 1, "url"), "javascript:alert(1)"),
        (("source", 1, "url"), 'https://example.com/"onclick='),
        (("source", 1, "url"), "https://example.com/(a)"),
        (("source", 1, "article"), 7),
        (("source", 1, "checked"), "last week"),
        (("source", 1, "mark"), "known"),
        (("source", 1), {"mark": "verified"}),
        (("source",), {"mark": "verified"}),
        (("source", 2, "article"), 0),
        (("source", 2, "article"), []),
        (("source", 2, "article"), "2039495"),
        (("source", 2, "article"), True),
        (("ask",), {"esxi.nope": "x"}),
        (("examples", 0, "tables"), {"esxi.nope": []}),
        (("examples", 0, "tables", "esxi.base"), {"key": 1}),
        (("examples", 0, "tables", "esxi.base", 0, "kee"), 1),
        (("examples", 0, "tables", "esxi.base", 0, "a"), "many"),
        (("examples", 0, "tables", "esxi.base", 0, "a"), True),
        (("examples", 0, "tables", "esxi.base", 0, "s"), 7),
        (("examples", 0, "tables", "esxi.base", 0, "v"), 6.3),
        (("examples", 0, "tables", "esxi.base", 0, "t"), 1),
        (("examples", 0, "tables", "esxi.base", 0, "at"), "noon"),
        (("examples", 0, "logs"), {"esxi.base": "text"}),
        (("examples", 0, "logs", "esxi.made_up_log"), 7),
        (("examples", 0, "cut"), "esxi.nope"),
        (("examples", 0, "expect", "count"), "one"),
        (("examples", 0, "expect", "count"), True),
        (("examples", 0, "gap"), "yes"),
        (("examples", 1, "files"), [{"path": "a"}]),
        (("examples", 1, "files", 0, "path"), ["a"]),
        (("examples", 1, "files", 0, "text"), None),
    ],
    ids=str,
)
def test_forms_that_both_refuse(path: Path_, value: Any) -> None:
    """A misspelt table, a wrong kind of value, a span that is none: told in the editor and by the loader."""
    tree = changed(path, value)
    assert not loads(tree)
    assert not fits(tree)


@pytest.mark.parametrize("each", ["one in bad", "one in bad per who", "one  in bad per who,level"])
def test_a_signature_may_stand_for_a_table(each: str) -> None:
    """`each: dev in late per device` is taken by both."""
    tree = json.loads(
        json.dumps(EVERYTHING)
        .replace("one.a > 3", "true")
        .replace("{one.a}", "x")
        .replace("{one.key}", "x")
    )
    tree |= {
        "each": each,
        "only": True,
        "evidence": [],
        "join": {},
        "let": {"total": 1, "mark": 5},
        "chart": [],
    }
    del tree["population"], tree["fact"]
    tree["seen"]["burst"]["distinct"] = (
        "message"  # not what tells the subjects apart: of that a subject has one
    )
    assert (loads(tree), fits(tree)) == (True, True)


def test_more_entries_than_the_loader_takes_are_refused() -> None:
    """The bounds of a rule file hold in the editor as well."""
    for key, most in bounds.ENTRIES.items():
        part = WHOLE["properties"][key]
        assert (part["maxItems"], part["maxProperties"]) == (most, most)


def test_without_grades_every_outcome_has_a_severity() -> None:
    """The severity may be left out only where `grade` gives it."""
    bare = changed(("outcomes",), [{"say": "x"}])
    ungraded = {key: value for key, value in bare.items() if key != "grade"}
    for tree, good in ((bare, True), (ungraded, False), ({**bare, "grade": []}, False)):
        assert (loads(tree), fits(tree)) == (good, good)


VALUES = st.one_of(
    st.sampled_from(
        [
            None,
            True,
            False,
            0,
            1,
            -3,
            0.5,
            "",
            "x",
            "one.t",
            "many",
            "10m",
            "esxi.part",
            "2x3",
            "match",
            "info",
        ]
    ),
    st.sampled_from(
        [[], {}, ["key"], {"key": "key"}, [{}], [None], {"a": None}, {"part": None}, [[]]]
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=5),
)


@pytest.mark.size
@settings(max_examples=400)
@given(st.sampled_from(PLACES), VALUES)
def test_the_schema_refuses_nothing_that_the_loader_takes(path: Path_, value: Any) -> None:
    """Whatever value stands wherever: a rule that loads has no diagnostic in the editor."""
    tree = changed(path, value)
    if loads(tree):
        assert [error.message for error in SMALL.iter_errors(tree)] == []


@pytest.mark.size
def test_the_command_prints_the_schema_or_writes_it_to_the_named_file(tmp_path: Path) -> None:
    """The text is that of the function; a folder that is none is told before anything is written."""
    done = CliRunner().invoke(main, ["rules", "schema"])
    assert (done.exit_code, done.stdout) == (0, schema.write_schema(fact_tables.list_declared()))
    target = tmp_path / "mine" / "rule-schema.json"
    done = CliRunner().invoke(main, ["rules", "schema", "-o", str(target)])
    assert (done.exit_code, target.read_text(encoding="utf-8")) == (
        0,
        schema.write_schema(fact_tables.list_declared()),
    )
    done = CliRunner().invoke(main, ["rules", "schema", "-o", str(target / "below.json")])
    assert done.exit_code == 6 and "cannot write" in done.stderr
