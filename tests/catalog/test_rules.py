"""Rule files: what is refused, where the caret stands, and that one bad file stops no other."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.rules.keys import KEYS
from analyzer.rules.language.rulefile import BadRuleError, FileSpan
from analyzer.rules.model import SAME_LINE
from analyzer.runtime.errors import RuleFileError
from tests.kit.rule_kit import BASE, RULE, TABLES, Kit, full, rule

CORPUS = Path(__file__).parents[2] / "../shared/corpus/hostile/yaml"


def refusal(text: str) -> BadRuleError:
    """Return the error that a rule text gives."""
    with pytest.raises(BadRuleError) as caught:
        full(text)
    return caught.value


def condition(text: str) -> BadRuleError:
    """Return the error that a condition gives."""
    return refusal(RULE % f"when: {text}")


def test_an_error_shows_file_line_column_caret_and_help() -> None:
    """The message is a diagnosis: what, where with a caret under the very word, and what to do."""
    error = condition("one.aa > 0 and known(one.b)")

    assert str(error) == (
        "error: table behind `one` has no column `aa`\n"
        "  --> rule.yaml:8:11\n"
        " |\n"
        "8| when: one.aa > 0 and known(one.b)\n"
        " |           ^^\n"
        " = help: did you mean `a`?"
    )
    assert isinstance(error, RuleFileError) and error.exit_code == 4


@pytest.mark.parametrize("line", [8, 80, 800])
def test_the_caret_stands_below_the_word(line: int) -> None:
    """However wide the number of the line is, the caret is in the column of what is wrong."""
    source = "when: one.aa > 0"
    error = BadRuleError(
        "no", file="r.yaml", place=FileSpan(line, source.index("aa") + 1, 2), source=source
    )

    shown, caret = str(error).splitlines()[-2:]
    assert caret.index("^^") == shown.index("aa")
    assert caret.index("|") == shown.index("|")


@pytest.mark.parametrize(
    ("text", "message", "word"),
    [
        ("part.x > 3", "`part` has many rows; wrap it", "part.x"),
        ("ones.a > 3", "unknown name `ones`", "ones"),
        ("one.a > 3 and nope", "unknown name `nope`", "nope"),
        ("foo(one.a)", "unknown function `foo`", "foo"),
        ("one.a.real > 3", "a second dot", "one.a.real"),
        ("one['a'] > 3", "not allowed here: […]", "one['a']"),
        ("(lambda q 1)", "not an expression", ""),
        ("one.a ** 2 > 3", "not allowed here: operator **", "one.a ** 2"),
        ("one.a % 2 > 3", "not allowed here: operator %", "one.a % 2"),
        ("one.a if one.t else 2", "not allowed here: if … else", "one.a if one.t else 2"),
        ("[x for x in one]", "an expression is expected here, not a list", ""),
        ("one.t and (y := 1)", "not allowed here: :=", "y := 1"),
        ("one.a is 3", "not allowed here: is", "one.a is 3"),
        ("one.a == None", "not allowed here: None", "None"),
        ("one.t and not __import__('os')", "unknown function `__import__`", "__import__"),
        ("one.a == 'x'", "a number cannot be compared with text", "one.a == 'x'"),
        ("one.s == 7", "text cannot be compared with a number", "one.s == 7"),
        ("one.v >= 6.3", "a version cannot be compared with a number", "one.v >= 6.3"),
        ("one.v >= 'latest'", "is not a version", "one.v >= 'latest'"),
        ("one.at > 'yesterday'", "is not a time", "one.at > 'yesterday'"),
        ("one.t > one.t", "true and false have no order", "one.t > one.t"),
        ("one.a", "this must be true or false, but `one.a` is a number", "one.a"),
        ("one.a and one.t", "`one.a` is a number, not true or false", "one.a"),
        ("one.s + 1 > 2", "`one.s` is text, not a number", "one.s"),
        ("any(one.t)", "works over many rows, but `one.t` has only one", "any(one.t)"),
        ("any(part.x)", "any() needs a condition", "any(part.x)"),
        ("sum(part.name) > 1", "sum() needs a number", "sum(part.name)"),
        ("sum(part.x, part.y) > 1", "takes one value, not 2", "sum(part.x, part.y)"),
        ("known(one.a, x=1)", "takes plain values only", "known(one.a, x=1)"),
        ("one", "`one` is a row, not a value", "one"),
        ("one.a in one.b", "`in` needs a list of values", "one.b"),
        ("99999999999999999999 > one.a", "not allowed here: int", "99999999999999999999"),
    ],
)
def test_what_an_expression_may_not_say(text: str, message: str, word: str) -> None:
    """Every refusal names the cause in words of the rule and marks the words it means."""
    error = condition(text)

    assert message in error.message
    if word:
        start = (RULE % f"when: {text}").splitlines()[error.place.line - 1]
        assert start[error.place.column - 1 :][: error.place.width] == word


def test_a_caret_finds_its_word_in_quotes_and_over_lines() -> None:
    """The place is right in quoted text, in a folded block and in a flow mapping."""
    quoted = condition('"one.a > 0 and one.nope > 1"')
    folded = refusal(RULE % "when: >-\n  one.a > 0\n  and one.nope > 1")
    inside = refusal(
        (RULE % "when: true").replace("table: esxi.part, by: [key]}", "table: esxi.prt, by: [key]}")
    )

    assert (quoted.place.line, quoted.place.column) == (8, 26)
    assert (folded.place.line, folded.place.column) == (10, 11)
    assert (inside.place.line, inside.place.column, inside.place.width) == (6, 18, 8)
    assert inside.help == "did you mean `esxi.part`?"


@pytest.mark.parametrize(
    ("old", "new", "message", "help_text"),
    [
        ("title: A", "titel: A", "unknown key `titel` in the rule", "did you mean `title`?"),
        ("severity: major", "severity: mayor", "unknown severity `mayor`", "did you mean `major`?"),
        (
            "severity: major",
            "",
            "an outcome has no severity",
            "one of critical, major, warning, info",
        ),
        ("rows: many", "row: many", "unknown key `row` in join `part`", "did you mean `rows`?"),
        ("by: [key], rows", "by: [kye], rows", "has no column `kye`", "did you mean `key`?"),
        (
            "by: [key], rows",
            "by: {key: name}, rows",
            "`key` is int, `name` is str: they never match",
            "",
        ),
        (
            "one in esxi.base",
            "one esxi.base",
            "each is `alias in table`",
            "for example: port in esxi.client_stats",
        ),
        (
            "one in esxi.base",
            "one in esxi.made_up_log",
            "`esxi.made_up_log` is a log",
            "name a signature",
        ),
        ("one in esxi.base", "True in esxi.base", "`True` cannot be a name", "use a-z, 0-9 and _"),
        ("each: one in esxi.base\n", "", "key `each` is missing", ""),
        ("rule: made-up", "rule: Made Up", "`Made Up` is not an id", "write words of a-z"),
        ('"thing {one.key}"', '"thing {one.kye}"', "has no column `kye`", "did you mean `key`?"),
        ('"thing {one.key}"', '"thing {part.x}"', "`part` has many rows; wrap it", ""),
        ('"thing {one.key}"', '"thing {one.key"', "a lone `{`", "write `{{`"),
        ('"thing {one.key}"', '"thing {one.key.__class__}"', "a second dot", ""),
        (
            '"thing {one.key}"',
            '"thing {one.key:9999999d}"',
            "format `9999999d` does not suit",
            "for example",
        ),
        ('"thing {one.key}"', '"thing {one.s:.3%}"', "format `.3%` does not suit", "for example"),
        ("title: A made-up fault", "title: [a, b]", "title must be text, not a list", ""),
        (
            "say: found",
            "say: found\n    colour: red",
            "unknown key `colour` in an outcome",
            "known:",
        ),
    ],
)
def test_what_a_rule_file_may_not_say(old: str, new: str, message: str, help_text: str) -> None:
    """An unknown word is never passed over in silence, and the nearest known word is offered."""
    text = RULE % "when: true"
    assert old in text
    error = refusal(text.replace(old, new))

    assert message in error.message
    assert help_text in error.help


def test_a_key_that_stands_twice_names_both_lines() -> None:
    """YAML would silently keep the last one."""
    error = refusal(RULE % "when: true\nwhen: false")

    assert error.message == "key `when` is given twice: lines 8 and 9"


def test_only_null_true_false_and_numbers_are_resolved() -> None:
    """`on`, `no`, 0123 and 10:30 stay text; a date stays text."""
    made = rule(
        "one.s in ['on', 'no']", revised="2026-02-01", about="no", needs="0123", caution="10:30"
    )

    assert (made.revised, made.about, made.needs, made.caution) == (
        "2026-02-01",
        "no",
        "0123",
        "10:30",
    )


@pytest.mark.parametrize(
    ("cell", "message", "help_text"),
    [
        ("v: 6.30", "`v` is version, not a number", 'write v: "6.30"'),
        ("s: 7", "`s` is str, not a number", 'write s: "7"'),
        ("a: many", "`a` is a number, not text", ""),
        ("a: 1.5", "`a` is a number, not a number", ""),
        ("t: 1", "`t` is true or false, not a number", ""),
        ("at: noon", "`at` is a time", "write it like"),
        ("kee: 1", "has no column `kee`", "did you mean `key`?"),
    ],
)
def test_cells_of_examples_have_their_columns_type(cell: str, message: str, help_text: str) -> None:
    """`version: 6.30` would be 6.3 in every YAML: an unquoted number is refused where text is meant."""
    examples = (
        f"\n  - name: x\n    tables: {{esxi.base: [{{{cell}}}]}}\n    expect: {{result: match}}"
    )
    error = refusal(RULE % f"when: true\nexamples:{examples}")

    assert message in error.message
    assert help_text in error.help


def test_a_series_is_written_out() -> None:
    """`2x3 70+0.5x2` is 2, 2, 2, 70, 70.5; an underscore is an unknown."""
    examples = "\n  - name: x\n    tables: {esxi.part: [{key: 1, y: 2x3 70+0.5x2 _}]}\n    expect: {result: match}"
    rows = full(RULE % f"when: true\nexamples:{examples}").examples[0].tables["esxi.part"]

    assert rows is not None
    assert [row["y"] for row in rows] == [2.0, 2.0, 2.0, 70.0, 70.5, None]
    assert rows[1]["time"] == "2017-10-09 00:00:05"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rule: " + "[" * 100_000, "nested deeper than 20 levels"),
        ("rule: " + "{a: " * 30 + "1" + "}" * 30, "nested deeper than 20 levels"),
        ("a: &a [x, x]\n" + "b: [" + "*a, " * 200 + "]", "more than 100 aliases"),
        ("a: &a 1\nb: {<<: {c: 1}}", "merge keys are not allowed"),
        ("a: !!python/object/apply:os.system [id]", "a YAML tag is not allowed"),
        ("a: !!str 1", "a YAML tag is not allowed"),
        ("a: 1\n---\nb: 2", "a second document"),
        ("a: [1, 2", "not YAML"),
        ("\tb: 1", "not YAML"),
        ("a: &x [*x]", "expands to too many values"),
        ("", "the file is empty"),
        ("- a\n- b", "the rule must be a mapping, not a list"),
        ("? [a, b]\n: 1", "a key must be a word"),
    ],
)
def test_yaml_that_is_a_weapon_is_refused_at_once(text: str, message: str) -> None:
    """Depth, aliases, merge keys and tags are bounded before anything is composed."""
    start = time.process_time()
    error = refusal(text)

    assert message in error.message
    assert time.process_time() - start < 5


def test_a_billion_laughs_is_refused() -> None:
    """A hundred aliases that stand for 9^9 values end at the budget, not in memory."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    error = refusal("\n".join(rows))

    assert "too many values" in error.message


def test_a_let_that_doubles_thirty_times_is_refused() -> None:
    """Names that write each other out cannot make a condition of a billion parts."""
    lets = "".join(f"\n  n{n}: n{n - 1} + n{n - 1}" for n in range(1, 31))
    error = refusal(RULE % f"let:\n  n0: one.a{lets}\nwhen: n30 > 0")

    assert "larger than" in error.message


def test_one_bad_file_stops_no_other(tmp_path: Path) -> None:
    """Each broken file is told with its place; the sound rules are loaded."""
    good = RULE % "when: true"
    (tmp_path / "made-up.yaml").write_text(good)
    (tmp_path / "broken.yaml").write_text(good.replace("when: true", "when: tru"))
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00rule")
    (tmp_path / "other-name.yaml").write_text(good)
    (tmp_path / "huge.yaml").write_text("# " + "x" * (1 << 20))
    (tmp_path / "notes.txt").write_text("no rule")
    catalog = rules.load([tmp_path, tmp_path / "never.yaml"], TABLES)

    assert [item.id for item in catalog.rules] == ["made-up"]
    text = "\n".join(str(error) for error in catalog.broken)
    assert len(catalog.broken) == 5
    for words in (
        "unknown name `tru`",
        "not UTF-8 at byte 0",
        "rule `made-up` is in a file named other-name.yaml",
        "larger than 1048576 bytes",
        "no such file or folder",
    ):
        assert words in text


def test_a_mistake_in_an_example_stops_no_triage(tmp_path: Path) -> None:
    """Examples are read when somebody asks for them; then the mistake is told with its place."""
    text = (
        RULE % "when: true\nexamples: [{name: x, tables: {esxi.bas: []}, expect: {result: match}}]"
    )
    (tmp_path / "made-up.yaml").write_text(text)

    assert rules.load([tmp_path], TABLES).broken == []
    assert "did you mean `esxi.base`?" in str(
        rules.load([tmp_path], TABLES, examples=True).broken[0]
    )


def test_a_second_rule_of_one_id_is_refused(tmp_path: Path) -> None:
    """A private catalog cannot silently replace a rule of the tool."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "made-up.yaml").write_text(RULE % "when: true")
    catalog = rules.load([tmp_path / "one", tmp_path / "two"], TABLES)

    assert len(catalog.rules) == 1
    assert "exists already" in str(catalog.broken[0])


def test_drafts_and_retired_rules_are_not_used(tmp_path: Path) -> None:
    """`draft` only when asked for, `retired` never."""
    for name, status in (("a-draft", "draft"), ("a-retired", "retired"), ("a-stable", "stable")):
        text = (RULE % f"status: {status}\nwhen: true").replace("rule: made-up", f"rule: {name}")
        (tmp_path / f"{name}.yaml").write_text(text)

    assert [item.id for item in rules.load([tmp_path], TABLES).rules] == ["a-stable"]
    assert [item.id for item in rules.load([tmp_path], TABLES, drafts=True).rules] == [
        "a-draft",
        "a-stable",
    ]


def test_the_hash_tells_catalogs_apart(tmp_path: Path) -> None:
    """The hash changes with one byte of one file and with nothing else."""
    path = tmp_path / "made-up.yaml"
    path.write_text(RULE % "when: true")
    first, again = rules.load([tmp_path], TABLES).hash, rules.load([tmp_path], TABLES).hash
    path.write_text(RULE % "when: true ")

    assert first == again
    assert rules.load([tmp_path], TABLES).hash != first


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        ("bad: {in: esxi.made_up_log, match: '(a'}", "not a regular expression"),
        ("bad: {in: esxi.made_up_log, match: 'a*'}", "the pattern matches every line"),
        ("bad: {in: esxi.base, match: 'abcd'}", "`esxi.base` is not a log"),
        ("bad: {in: esxi.made_up_log}", "log `bad` has no `match`"),
        ("bad: {in: esxi.made_up_log, match: 'abcd', where: levle == 'x'}", "unknown name `levle`"),
        (
            "bad: {in: esxi.made_up_log, match: '" + "x" * 5000 + "'}",
            "a pattern longer than 4096 bytes",
        ),
    ],
)
def test_signatures_are_checked(logs: str, message: str) -> None:
    """A pattern that is none, hits everything or looks into no log is refused with its place."""
    assert message in refusal(RULE % f"logs:\n  {logs}\nwhen: true").message


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ("it: {log: nope}", "no signature `nope` under logs"),
        ("it: {log: bad, sequence: [bad, bad]}", "needs one of log, sequence, none"),
        ("it: {log: bad, within: 10 minutes}", "the span is a time span"),
        ("it: {none: bad, at_least: 2}", "`at_least` does not go with `none`"),
        ("it: {log: bad, per: nope}", "hits of `bad` have no `nope`"),
        ("it: {log: bad, at_least: 0}", "at_least is a number from 1"),
    ],
)
def test_questions_to_logs_are_checked(seen: str, message: str) -> None:
    """`seen` names a signature, a count, a span and columns that exist."""
    logs = "logs:\n  bad: {in: esxi.made_up_log, match: 'abcd'}"

    assert message in refusal(RULE % f"{logs}\nseen:\n  {seen}\nwhen: true").message


def test_the_shipped_catalog_loads_whole() -> None:
    """No rule file of the tool is broken, and `explained_by` names rules that exist."""
    catalog = rules.load(examples=True)

    assert [str(error) for error in catalog.broken] == []
    known = {item.id for item in catalog.rules}
    assert len(known) >= 14
    for item in catalog.rules:
        assert {name.partition("/")[0] for name in item.explained_by} <= {*known, SAME_LINE}, (
            item.id
        )


def test_every_key_has_a_meaning() -> None:
    """The list of keys is the source of schema and documentation: none is without a sentence."""
    assert all(len(meaning) > 5 for meaning in KEYS.values())


@settings(max_examples=150, deadline=2000)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_no_text_of_a_condition_raises_anything_else(text: str) -> None:
    """Whatever stands in a condition is a condition or a BadRuleError, never a traceback."""
    try:
        full(RULE % f"when: {text}")
    except BadRuleError as error:
        assert "rule.yaml:" in str(error)


@settings(max_examples=150, deadline=2000)
@given(st.data())
def test_no_damage_to_a_rule_file_raises_anything_else(data: st.DataObject) -> None:
    """A rule file with a stretch cut out or put in anywhere is read or refused with its place."""
    text = RULE % 'when: one.a > 0\nlogs: {l: {in: esxi.made_up_log, match: "abcd"}}'
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 20)))
    put = data.draw(
        st.sampled_from(
            ["", ":", "\n", "- ", "{", "]", "'", "&a ", "*a", "!x ", "\t", "true", "0", "\x00"]
        )
    )
    try:
        full(text[:start] + put + text[stop:])
    except BadRuleError as error:
        assert "rule.yaml:" in str(error)


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_hostile_yaml_is_refused_with_its_place() -> None:
    """Every file of the YAML test corpus given as a rule is refused with a place, none crashes."""
    catalog = rules.load([CORPUS], TABLES)

    assert catalog.rules == []
    assert len(catalog.broken) == len(
        [path for path in CORPUS.iterdir() if path.suffix in (".yaml", ".yml")]
    )


@pytest.mark.parametrize(
    ("amount", "said"),
    [(1, "1 packet was lost"), (2, "2 packets were lost"), (1200, "1,200 packets were lost")],
)
def test_a_number_brings_its_noun(amount: int, said: str) -> None:
    """A finding says `1 packet` and `1,200 packets`: the rule gives both words, a format stands before them."""
    kit = Kit().add(BASE, [{"key": 1, "a": amount}])
    text = (RULE % "when: true").replace(
        "say: found", 'say: "{one.a:,|packet was|packets were} lost"'
    )
    (found,) = kit.judge(full(text)).findings
    assert found.say == said


@pytest.mark.parametrize(
    ("text", "message"), [("{one.s|thing|things}", "`one.s` is no number"), ("{one.a|thing}", "")]
)
def test_a_noun_goes_with_a_number(text: str, message: str) -> None:
    """A word after a text, and a lone form, are refused where the rule is read."""
    error = refusal((RULE % "when: true").replace("say: found", f'say: "{text}"'))
    assert message in error.message
