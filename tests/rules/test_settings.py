"""Local settings: how `backline.toml` is read, what it does to a case, and that nothing of it is silent."""

from __future__ import annotations

import json
import re
import shutil
import time
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.case.verdicts import Judgement
from analyzer.cli import main
from analyzer.rules import Catalog, Rule, ThresholdError, run_catalog
from analyzer.rules.language.rulefile import FileSpan, RuleText
from analyzer.rules.muting import apply_settings
from analyzer.rules.run_catalog import Local
from analyzer.rules.settings import (
    KEYS,
    MUTE_KEYS,
    BadSettingsError,
    Mute,
    Settings,
    find_settings,
    parse_settings,
    read_settings,
)
from analyzer.rules.tomlplaces import find_places
from analyzer.runtime.limits import Limits
from tests.kit.rule_kit import BASE, PART, RULE, TABLES, Kit, full

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
MUTE = 'rule = "beacon-probing"\nreason = "agreed with NN"\nuntil = 2026-12-31\n'


def run(*args: str) -> Result:
    """Run the command in this process and return its result."""
    return CliRunner().invoke(main, list(args), catch_exceptions=False)


def document(folder: Path) -> dict[str, Any]:
    """Return the case document in an output folder."""
    found: dict[str, Any] = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    return found


# --- places in TOML ---------------------------------------------------------------------------------

TOML_KEYS = st.one_of(
    st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True).map(lambda key: (key, key)),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=6).map(
        lambda key: (json.dumps(key), key)
    ),
)
SCALARS = st.one_of(
    st.integers(-1000, 1000).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        [
            "true",
            "2026-12-31",
            "1979-05-27 07:32:00",
            "'a # b'",
            "'''x\n#y'''",
            '"""q""\\"" ]\n}"""',
            '""',
        ]
    ),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8).map(json.dumps),
)


def inline(values: Any) -> Any:
    """Return a strategy of lists and inline tables of values, as TOML text."""
    lists = st.lists(values, max_size=3).map(lambda items: "[ # list\n" + ",\n ".join(items) + "]")
    pairs = st.lists(st.tuples(TOML_KEYS, values), max_size=3, unique_by=lambda pair: pair[0][1])
    return st.one_of(
        lists,
        pairs.map(lambda found: "{" + ", ".join(f"{key[0]} = {text}" for key, text in found) + "}"),
    )


VALUES = st.recursive(SCALARS, inline, max_leaves=6)
TABLE = st.lists(st.tuples(TOML_KEYS, VALUES), max_size=3, unique_by=lambda pair: pair[0][1])


@st.composite
def toml(draw: Any) -> str:
    """Write a TOML text: pairs, tables, lists of tables, dotted headers."""
    lines: list[str] = []

    def pairs() -> None:
        lines.extend(f"  {key[0]}\t= {value} # why" for key, value in draw(TABLE))

    pairs()
    for number in range(draw(st.integers(0, 3))):
        header = draw(
            st.sampled_from(["[t{}]", "[ t{} . 'x y' ]", "[[l{}]]", "[[l]]", "[t{}.a]\n[t{}.b]"])
        )
        lines.extend(["", header.replace("{}", str(number))])
        pairs()
    return "\n".join(lines)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """Yield (path, value) of everything in a document that is no table and no list."""
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(child, (*path, key))
    else:
        yield path, value


@pytest.mark.size
@given(toml())
@hypothesis_settings(max_examples=150, deadline=None)
def test_what_stands_at_a_place_is_the_value(text: str) -> None:
    """Whatever the style of the file: where a place is told, the value stands there; every key outside of tables has one."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # a key twice: nothing to place
    found = find_places(text, values)
    lines = text.split("\n")
    for path, value in leaves(values):
        if path not in found:
            assert len(path) > 1
            continue
        place = found[path][1]
        rest = "\n".join([lines[place.line - 1][place.column - 1 :], *lines[place.line :]])
        assert any(
            _read(rest[:end]) == value for end in [*range(place.width, place.width + 40), len(rest)]
        ), (
            path,
            value,
            rest,
        )


def _read(text: str) -> Any:
    try:
        return tomllib.loads(f"key = {text}")["key"]
    except (tomllib.TOMLDecodeError, KeyError):
        return ...


# --- reading ----------------------------------------------------------------------------------------


def test_a_settings_file_is_read_whole(tmp_path: Path) -> None:
    """Folders, mutes and thresholds come out as they were written; folders are relative to the file."""
    (tmp_path / "rules").mkdir()
    file = tmp_path / "backline.toml"
    file.write_text(
        f'kb = ["rules"]\n[[mute]]\nsubject = "/lab-.*/"\nnode = "esx-*"\n{MUTE}'
        '[thresholds.kb-2039495]\nlimited_share = 0.5\nreason = "why"\n',
        encoding="utf-8",
    )
    found = read_settings(file)

    assert found.kb == (tmp_path / "rules",)
    assert found.mutes == (
        Mute("beacon-probing", "/lab-.*/", "esx-*", "agreed with NN", "2026-12-31"),
    )
    assert found.thresholds == {"kb-2039495": {"limited_share": 0.5}}
    assert re.fullmatch("[0-9a-f]{64}", found.hash)


MISTAKES = [
    ("kb = rules", 1, 6, "not TOML", "quotes"),
    ("kb: 1", 1, 3, "not TOML", "key = value"),
    ('x = "', 1, 5, "not TOML", ""),
    ("x = " + "[" * 3000, 1, 1, "nested too deep", ""),
    ("x = " + "9" * 5000, 1, 1, "too long", ""),
    ("mutes = 1", 1, 1, "unknown key `mutes`", "did you mean `mute`?"),
    ('kb = "rules"', 1, 6, "kb is a list", 'kb = ["rules"]'),
    ("kb = [1]", 1, 6, "is a text", "quotes"),
    ('kb = [\n  "nowhere"]', 1, 6, "there is no folder nowhere", "relative to the settings file"),
    (f"[mute]\n{MUTE}", 1, 1, "mute is a list", "[[mute]]"),
    (f"[[mute]]\n{MUTE}colour = 1", 5, 1, "unknown key `colour`", "known:"),
    ('[[mute]]\nrule = "a"\nreasn = "b"', 3, 1, "unknown key `reasn`", "did you mean `reason`?"),
    ('[[mute]]\nrule = "a"\nreason = "b"', 1, 1, "no `until`", "until = 2026-12-31"),
    ('[[mute]]\nrule = "a"\nuntil = 2026-12-31', 1, 1, "no `reason`", "who agreed to it"),
    ('[[mute]]\nreason = "a"\nuntil = 2026-12-31', 1, 1, "no `rule`", "the one rule"),
    ('[[mute]]\nrule = "a"\nreason = " "\nuntil = 2026-12-31', 3, 10, "empty", ""),
    (
        '[[mute]]\nrule = "a"\nreason = "b"\nuntil = "2026-12-31"',
        4,
        9,
        "until is a day",
        "until = 2026-12-31",
    ),
    (
        '[[mute]]\nrule = "a"\nreason = "b"\nuntil = 2026-12-31T10:00:00Z',
        4,
        9,
        "until is a day",
        "without quotes",
    ),
    (f'[[mute]]\n{MUTE}subject = "/(a/"', 5, 11, "not a pattern", ""),
    (f'[[mute]]\n{MUTE}subject = "/lab-.*"', 5, 11, "between two slashes", '"/lab-.*/"'),
    (f"[[mute]]\n{MUTE}[[mute]]\n{MUTE}", 5, 1, "mute of line 1 once more", "one is enough"),
    ("thresholds = 3", 1, 14, "a table for each rule", "[thresholds."),
    ("[thresholds]\nlimit = 3", 2, 9, "named by their rule", "[thresholds.RULE]"),
    ("[thresholds.a]\nlimit = 3", 1, 1, "no `reason`", "say why"),
    ('[thresholds.a]\nreason = "b"', 1, 1, "no threshold of `a`", "NAME = NUMBER"),
    ('[thresholds.a]\nreason = "b"\nlimit = "3"', 3, 9, "`limit` is a number", "without quotes"),
    ('[thresholds.a]\nreason = "b"\nlimit = true', 3, 9, "`limit` is a number", ""),
    ('[thresholds.a]\nreason = "b"\nlimit = nan', 3, 9, "not a number that a rule can compare", ""),
    (
        'thresholds = {a = {reason = "b", limit = inf}}',
        1,
        14,
        "`limit` is not a number that a rule can compare",
        "",
    ),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "help"), MISTAKES, ids=[m[3] for m in MISTAKES]
)
def test_a_mistake_is_told_with_place_and_advice(
    text: str, line: int, column: int, message: str, help: str
) -> None:
    """Every mistake names line and column, says what is wrong and what to write; the exit code is that of usage."""
    with pytest.raises(BadSettingsError) as error:
        parse_settings(text)

    assert message in error.value.message
    assert help in error.value.help
    assert (error.value.place.line, error.value.place.column) == (line, column)
    assert f"backline.toml:{line}:{column}" in str(error.value)
    assert error.value.exit_code == 2


@given(st.text(max_size=200))
@hypothesis_settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever the file holds, it is settings or one mistake with a place inside the file."""
    try:
        parse_settings(text)
    except BadSettingsError as error:
        assert 1 <= error.place.line <= max(1, text.count("\n") + 1)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(x*)*y", "a.*b.*c.*d"])
def test_a_pattern_that_can_take_for_ever_is_decided_or_refused(pattern: str) -> None:
    """The worst name is decided at once by RE2; a pattern that RE2 does not take never gets to see a name."""
    mute = parse_settings(f"[[mute]]\n{MUTE}subject = '/{pattern}/'").mutes[0]
    start = time.process_time()
    assert not mute.covers(mute.rule, ["a" * 400 + "!", "x" * 400, "acc" * 130], "esx1")
    assert time.process_time() - start < 2

    with pytest.raises(
        BadSettingsError, match=r"take forever|too many repeats, beside a lookaround"
    ):
        parse_settings(f"[[mute]]\n{MUTE}subject = '/{pattern}(?!z)/'")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """No file, a folder, bytes that are not UTF-8: one line each, no traceback."""
    bad = tmp_path / "backline.toml"
    bad.write_bytes(b"kb = ['\xff']")

    for path, word in (
        (tmp_path / "none.toml", "no such file"),
        (tmp_path, "no such file"),
        (bad, "not UTF-8"),
    ):
        with pytest.raises(BadSettingsError, match=word):
            read_settings(path)


# --- where it is found ------------------------------------------------------------------------------


def test_the_file_of_the_folder_is_found(tmp_path: Path) -> None:
    """A backline.toml of the folder is used; without one there are no settings."""
    assert find_settings((), tmp_path) == (None, "")
    (tmp_path / "backline.toml").write_text("")
    assert find_settings((tmp_path / "host.tgz",), tmp_path) == (tmp_path / "backline.toml", "")


@pytest.mark.parametrize("given_path", [".", "..", "backline.toml", "link"])
def test_a_file_in_the_material_is_not_used(tmp_path: Path, given_path: str) -> None:
    """What is part of the material was written by somebody else: it is left alone, and that is said."""
    case = tmp_path / "case"
    case.mkdir()
    (case / "backline.toml").write_text("")
    (case / "link").symlink_to(case)
    path, warning = find_settings((case / given_path,), case)

    assert path is None
    assert "is part of the material" in warning
    assert "--settings" in warning


def test_a_link_out_of_the_material_is_not_used(tmp_path: Path) -> None:
    """A backline.toml in the material that links elsewhere is still the material's."""
    (tmp_path / "case").mkdir()
    (tmp_path / "own.toml").write_text("")
    (tmp_path / "case" / "backline.toml").symlink_to(tmp_path / "own.toml")

    assert find_settings((tmp_path / "case",), tmp_path / "case")[0] is None


# --- mutes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "node", "names", "on", "covered"),
    [
        ("", "", ["web-1"], "esx1", True),
        ("web-1", "", ["web-1, port 3", "web-1"], "esx1", True),
        ("web-1", "", ["web-10"], "esx1", False),
        ("/^web-/", "", ["web-10"], "esx1", True),
        ("/web$/", "", ["web-10"], "esx1", False),
        ("web-1", "", [""], "esx1", False),
        ("", "ESX-lab-*", ["x"], "esx-LAB-07.example", True),
        ("", "esx-lab-?", ["x"], "esx-lab-07", False),
        ("", "esx-lab-*", ["x"], "", False),
    ],
)
def test_what_a_mute_covers(
    subject: str, node: str, names: list[str], on: str, covered: bool
) -> None:
    """A text equals a name, a pattern is searched in it, a node takes * and ?; other rules are never covered."""
    mute = Mute("one", subject, node, "why", "2026-12-31")

    assert mute.covers("one", names, on) is covered
    assert not mute.covers("two", names, on)


NUMBERED = RULE.replace("rule: made-up", "rule: made-up\nlet: {least: 5, part_share: 0.5}")


def numbered(**thresholds: float) -> Rule:
    """Return the made-up rule that matches from `least` on, with thresholds changed."""
    text = RuleText("made-up.yaml", NUMBERED % "when: one.a >= least")
    return rules.build(text, TABLES, Limits(), thresholds)


def judged(*values: int | None, rule: Rule | None = None) -> tuple[Judgement, Catalog]:
    """Return the judgement of the made-up rule over things with these values of `a`."""
    one = rule or numbered()
    kit = Kit("esx-lab-1").add(
        BASE, [{"key": key, "a": a} for key, a in enumerate(values)], "esx-lab-1"
    )
    kit.add(PART, [], "esx-lab-1")
    return kit.judge(one), Catalog([one])


def muted(
    text: str, day: str, *values: int | None, rule: Rule | None = None
) -> tuple[Judgement, dict[str, Any]]:
    """Return a judgement after settings were put on it, and their record."""
    judgement, catalog = judged(*values, rule=rule)
    return judgement, apply_settings(judgement, catalog, parse_settings(text), day)


MADE_UP = '[[mute]]\nrule = "made-up"\nreason = "lab"\nuntil = 2017-12-31\n'


def test_a_mute_folds_findings_and_what_cannot_be_told() -> None:
    """Both carry reason and end; both are counted; nothing is left out."""
    judgement, record = muted(MADE_UP, "2017-10-31", 7, 9, None)

    assert [finding.muted for finding in judgement.findings] == ["lab (until 2017-12-31)"] * 2
    assert [unknown.muted for unknown in judgement.cannot_tell] == ["lab (until 2017-12-31)"]
    (mute,) = record["mutes"]
    assert (mute["state"], mute["findings"], mute["unknowns"]) == ("holds", 2, 1)
    assert record["day"] == "2017-10-31"


def test_a_mute_holds_on_its_last_day_and_not_after() -> None:
    """The end is judged by the day of the case, its own day included."""
    for day, state, text in (
        ("2017-12-31", "holds", "lab (until 2017-12-31)"),
        ("2018-01-01", "ran out", ""),
    ):
        judgement, record = muted(MADE_UP, day, 7)
        assert record["mutes"][0]["state"] == state
        assert record["mutes"][0]["findings"] == 1
        assert judgement.findings[0].muted == text


def test_a_case_without_a_date_says_so() -> None:
    """Nothing tells whether the end has passed: the mute holds and its state says that this was not judged."""
    judgement, record = muted(MADE_UP, "", 7)

    assert judgement.findings[0].muted
    assert record["mutes"][0]["state"] == "undated"


def test_the_first_mute_that_holds_speaks() -> None:
    """One that ran out gives way to a later one; each is counted for what it covers."""
    old = MADE_UP.replace("2017-12-31", "2016-12-31").replace("lab", "old")
    judgement, record = muted(old + MADE_UP + MADE_UP.replace("lab", "third"), "2017-10-31", 7)

    assert judgement.findings[0].muted == "lab (until 2017-12-31)"
    assert [mute["findings"] for mute in record["mutes"]] == [1, 1, 0]


def test_a_mute_of_one_subject_leaves_the_others() -> None:
    """Only the named thing is folded away."""
    judgement, _ = muted(MADE_UP + 'subject = "thing 1"\n', "2017-10-31", 7, 9)

    assert {finding.subject: bool(finding.muted) for finding in judgement.findings} == {
        "thing 0": False,
        "thing 1": True,
    }


def test_a_rule_that_breaks_is_not_muted() -> None:
    """A finding `error` is no finding of the rule: it stays in sight."""
    judgement, catalog = judged(7)
    judgement.findings[0].verdict = "error"
    record = apply_settings(judgement, catalog, parse_settings(MADE_UP), "2017-10-31")

    assert judgement.findings[0].muted == ""
    assert record["mutes"][0]["findings"] == 0


# --- thresholds -------------------------------------------------------------------------------------


def test_a_plain_number_under_let_is_a_threshold() -> None:
    """It keeps what is shipped beside what is used, and the rule judges by the latter."""
    assert numbered().thresholds == {"least": (5, 5), "part_share": (0.5, 0.5)}
    changed = numbered(least=8)
    assert changed.thresholds["least"] == (8, 5)
    assert changed.changed_thresholds == {"least": (8, 5)}
    assert len(judged(7, 9)[0].findings) == 2
    assert len(judged(7, 9, rule=changed)[0].findings) == 1


def test_whole_stays_whole() -> None:
    """A fraction for a whole number is refused; a whole number for a fraction becomes one."""
    with pytest.raises(ThresholdError, match="whole number in the rule"):
        numbered(least=7.5)
    assert numbered(least=7.0).thresholds["least"] == (7, 5)
    value = numbered(part_share=1).thresholds["part_share"][0]
    assert isinstance(value, float)
    assert value == 1.0


def test_an_unknown_threshold_is_refused_with_a_suggestion() -> None:
    """A misspelt name brings the right one; a value that is worked out says that it is."""
    with pytest.raises(ThresholdError) as error:
        numbered(leest=3)
    assert error.value.help == "did you mean `least`?"
    text = NUMBERED.replace("least: 5", "least: 5, twice: one.a + one.b") % "when: one.a >= least"
    with pytest.raises(ThresholdError, match=r"computed: one\.a"):
        rules.build(RuleText("made-up.yaml", text), TABLES, Limits(), {"twice": 3})


def test_a_finding_says_that_its_threshold_is_another_here() -> None:
    """The sentence names both values and the reason, and the record keeps them."""
    text = '[thresholds.made-up]\nleast = 6\nreason = "busy hosts."\n'
    judgement, record = muted(text, "", 7, rule=numbered(least=6))

    assert judgement.findings[0].also == ["Threshold least is 6 here (5 as shipped): busy hosts."]
    assert record["thresholds"] == [
        {"rule": "made-up", "name": "least", "value": 6, "shipped": 5, "reason": "busy hosts"}
    ]


def test_a_threshold_that_changes_nothing_is_told() -> None:
    """One of a rule that was not judged, and one that is as shipped anyway, are in the record."""
    text = '[thresholds.made-up]\nleast = 5\nreason = "a"\n[thresholds.gone]\nx = 1\nreason = "b"\n'
    _, record = muted(text, "", 7)

    assert record["thresholds"] == []
    assert record["unused"] == [
        "Threshold least of made-up is 5, as shipped: nothing is changed.",
        "Threshold x of gone was not used: the rule was not judged in this run.",
    ]


def made_up(
    folder: Path, text: str = NUMBERED % "when: one.a >= least", name: str = "made-up"
) -> Path:
    """Write a rule into a folder and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(text.replace("made-up", name), encoding="utf-8")
    return folder


def test_the_hash_of_the_catalog_covers_thresholds(tmp_path: Path) -> None:
    """Another value is another catalog; the value as shipped is the same one."""
    folder = made_up(tmp_path)
    hashes = [
        rules.load([folder], TABLES, thresholds={"made-up": {"least": value}}).hash
        for value in (5, 6, 7)
    ]

    assert rules.load([folder], TABLES).hash == hashes[0]
    assert len(set(hashes)) == 3


@pytest.mark.size
def test_settings_that_speak_of_nothing_stop_the_run(tmp_path: Path) -> None:
    """A rule or a threshold that is not there is told with the place in the settings file."""
    folder = made_up(tmp_path / "kb")
    wrong = {
        '[[mute]]\nrule = "made-upp"\nreason = "a"\nuntil = 2026-01-01': (
            2,
            8,
            "did you mean `made-up`?",
        ),
        '[thresholds.made-op]\nx = 1\nreason = "a"': (1, 1, "did you mean `made-up`?"),
        '[thresholds.made-up]\nreason = "a"\nleest = 1': (3, 1, "did you mean `least`?"),
        '[thresholds.made-up]\nreason = "a"\nleast = 1.5': (3, 1, "give a whole number"),
    }
    for text, (line, column, help_text) in wrong.items():
        with pytest.raises(BadSettingsError) as error:
            run_catalog.load_run_catalog(Local(parse_settings(text)), [folder], tables=TABLES)
        assert (error.value.place.line, error.value.place.column) == (line, column), text
        assert error.value.help == help_text


@pytest.mark.size
def test_without_packs_a_strange_rule_is_let_pass(tmp_path: Path) -> None:
    """It may be a rule of a pack: the run goes on, and the record says what was not used."""
    settings = parse_settings(
        '[[mute]]\nrule = "nn-1"\nreason = "a"\nuntil = 2026-01-01\n[thresholds.nn-1]\nx = 1\nreason = "a"'
    )
    catalog = run_catalog.load_run_catalog(
        Local(settings, packs=False), [made_up(tmp_path)], tables=TABLES
    )
    record = apply_settings(Judgement(), catalog, settings, "")

    assert "nn-1 was not used" in record["unused"][0]
    assert record["mutes"][0]["findings"] == 0


@pytest.mark.size
def test_a_rule_with_a_mistake_may_be_muted(tmp_path: Path) -> None:
    """A mute of a rule file that is broken today is no mistake of the settings."""
    folder = made_up(tmp_path, "rule: made-up\n", "broken")
    settings = parse_settings('[[mute]]\nrule = "broken"\nreason = "a"\nuntil = 2026-01-01')

    assert [
        error.file for error in run_catalog.load_run_catalog(Local(settings), [folder]).broken
    ] == ["broken.yaml"]


# --- catalogs ---------------------------------------------------------------------------------------


def test_a_private_rule_does_not_replace_a_shipped_one(tmp_path: Path) -> None:
    """An id that the tool uses is refused, with the way to silence the shipped rule; that one still judges."""
    shutil.copy(next((ROOT / "analyzer/kb").rglob("beacon-probing.yaml")), tmp_path)
    catalog = rules.load([*rules.default_paths(), tmp_path])

    (error,) = catalog.broken
    assert "cannot replace it" in error.message
    assert '[[mute]] rule = "beacon-probing"' in error.help
    origin = catalog["beacon-probing"].origin
    assert origin is not None
    assert origin.kind == "shipped"


def test_a_folder_named_twice_is_read_once(tmp_path: Path) -> None:
    """The same folder in the settings and on the command line is no clash."""
    folder = made_up(tmp_path / "kb")
    catalog = rules.load([folder, tmp_path / "." / "kb"], TABLES)

    assert catalog.broken == []
    assert [source.label for source in catalog.sources] == ["folder kb"]


# --- the whole way ----------------------------------------------------------------------------------

BUSY = """\
rule: nn-busy-port
title: A made-up rule of a private catalog
status: %s
each: port in esxi.net_stats
let:
  limit: 5
when: port.port_id > limit
outcomes:
  - when: true
    severity: critical
    say: "{port.port_id} is above {limit}"
"""


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the settings of docs/settings.md and a private rule; it is the current folder."""
    text = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "backline.toml").write_text(example, encoding="utf-8")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "nn-busy-port.yaml").write_text(BUSY % "test", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.size
def test_the_example_of_the_page_does_what_the_page_says(db: Path) -> None:
    """The settings of docs/settings.md mute the finding, change the threshold, bring the rule, and say so everywhere."""
    done = run("triage", str(CASES / "config-traps"), "-o", "out", "--fail-on", "major", "--all")

    assert done.exit_code == 1  # the private rule is critical; the muted one does not count
    assert "using backline.toml: 1 mute, 1 threshold, 1 folder of rules" in done.stderr
    settings = document(db / "out")["settings"]
    assert [(mute["rule"], mute["state"], mute["findings"]) for mute in settings["mutes"]] == [
        ("beacon-probing", "holds", 1)
    ]
    assert [(one["name"], one["value"], one["shipped"]) for one in settings["thresholds"]] == [
        ("limit", 5000, 5)
    ]
    assert [(one["kind"], one["name"], one["rules"]) for one in settings["catalogs"]][1:] == [
        ("folder", "rules", 1)
    ]
    findings = {finding["rule"]: finding for finding in document(db / "out")["findings"]}
    assert findings["beacon-probing"]["muted"].startswith("lab switches have two uplinks")
    assert findings["nn-busy-port"]["origin"] == "folder rules"
    assert findings["nn-busy-port"]["also"] == [
        "Threshold limit is 5000 here (5 as shipped): our backup hosts are busier than most."
    ]
    for name in ("report.html", "report.md"):
        text = (db / "out" / name).read_text(encoding="utf-8").replace("\\", "")
        assert "Muted by local settings: 1" in text, name
        assert "folder rules" in text, name
        assert "5000 here (5 as shipped)" in text, name
    assert "MUTED BY LOCAL SETTINGS: 1" in done.stdout


def test_every_key_is_documented() -> None:
    """docs/settings.md has a row for each key that the reader knows."""
    text = (ROOT / "docs/settings.md").read_text(encoding="utf-8")

    for key in (
        *KEYS,
        *(f"mute.{name}" for name in MUTE_KEYS),
        "thresholds.RULE",
        "thresholds.RULE.reason",
    ):
        assert f"| `{key}` |" in text or (
            key == "thresholds" and "| `thresholds.RULE` |" in text
        ), key


@pytest.mark.size
def test_muted_findings_do_not_count(db: Path) -> None:
    """With all that is a warning muted, --fail-on warning ends with 0."""
    (db / "rules" / "nn-busy-port.yaml").write_text(
        BUSY.replace("critical", "info") % "test", encoding="utf-8"
    )
    case = str(CASES / "config-traps")

    assert run("triage", case, "-o", "a", "--quiet", "--fail-on", "warning").exit_code == 0
    assert (
        run("triage", case, "-o", "b", "--quiet", "--fail-on", "warning", "--no-settings").exit_code
        == 1
    )


@pytest.mark.size
def test_the_same_case_and_settings_give_the_same_bytes(db: Path) -> None:
    """Two runs write the same three files, byte for byte."""
    for name in ("a", "b"):
        run("triage", str(CASES / "config-traps"), "-o", name, "--quiet")
    for file in ("case.json", "report.html", "report.md"):
        assert (db / "a" / file).read_bytes() == (db / "b" / file).read_bytes(), file


@pytest.mark.size
def test_the_clock_has_no_say_in_the_report(db: Path) -> None:
    """A mute whose day has passed on the calendar holds for an older case; only a line on stderr looks at the clock."""
    text = (db / "backline.toml").read_text(encoding="utf-8").replace("2026-12-31", "2017-10-14")
    (db / "backline.toml").write_text(text, encoding="utf-8")
    done = run("triage", str(CASES / "config-traps"), "-o", "out", "--all")

    assert date.today().isoformat() > "2017-10-14"
    assert document(db / "out")["settings"]["mutes"][0]["state"] == "holds"
    assert "expired on 2017-10-14" in done.stderr
    (db / "backline.toml").write_text(text.replace("2017-10-14", "2017-10-13"), encoding="utf-8")
    run("triage", str(CASES / "config-traps"), "-o", "out2", "--quiet")
    report = (db / "out2" / "report.html").read_text(encoding="utf-8")
    assert document(db / "out2")["settings"]["mutes"][0]["state"] == "ran out"
    assert (
        "expired on 2017-10-13; this case is from 2017-10-14. It would have muted 1 finding."
        in report
    )


def test_settings_in_the_material_are_told_and_left_alone(db: Path) -> None:
    """With the current folder as material its backline.toml is not used; --settings uses it."""
    shutil.copytree(CASES / "config-traps", db / "case")
    done = run("triage", ".", "-o", "../out-material", "--quiet", "--no-packs")

    assert "is part of the material and is not used" in done.stderr
    assert document(db.parent / "out-material")["settings"]["file"] == ""
    run("triage", ".", "-o", "../out-named", "--quiet", "--settings", "backline.toml")
    assert document(db.parent / "out-named")["settings"]["file"] == "backline.toml"


def test_bad_settings_stop_before_the_work(db: Path) -> None:
    """Exit code 2, the place with its caret, and no results."""
    (db / "backline.toml").write_text('[[mute]]\nrul = "x"\n', encoding="utf-8")
    done = run("triage", str(CASES / "config-traps"), "-o", "out", "--all")

    assert done.exit_code == 2
    assert "backline.toml:2:1" in done.stderr
    assert "2| rul" in done.stderr
    assert not (db / "out").exists()
    assert run("triage", "x", "--settings", "a", "--no-settings").exit_code != 0


def test_drafts_judge_only_when_asked(db: Path) -> None:
    """A rule of status draft speaks with --draft and carries the mark."""
    (db / "rules" / "nn-busy-port.yaml").write_text(BUSY % "draft", encoding="utf-8")
    case = str(CASES / "config-traps")
    run("triage", case, "-o", "without", "--quiet")
    run("triage", case, "-o", "with", "--quiet", "--draft")

    found = {name: [f["status"] for f in document(db / name)["findings"] if f["rule"] == "nn-busy-port"]
             for name in ("without", "with")}  # fmt: skip
    assert found["without"] == []
    assert set(found["with"]) == {"draft"}
    assert "was not judged in this run" in document(db / "without")["settings"]["unused"][0]


def test_a_broken_rule_stands_last_and_whole(db: Path) -> None:
    """The report is written, shows file, line and caret, and no real finding stands behind the broken rule."""
    (db / "rules" / "broken.yaml").write_text(
        (BUSY % "test").replace("when: p", "whenn: p"), encoding="utf-8"
    )
    done = run("triage", str(CASES / "config-traps"), "-o", "out", "--all")

    assert done.exit_code == 4
    verdicts = [f["verdict"] for f in document(db / "out")["findings"]]
    assert verdicts[-1] == "error"
    assert verdicts.count("error") == 1
    assert len(verdicts) > 3
    report = (db / "out" / "report.html").read_text(encoding="utf-8")
    assert "broken.yaml:7:1" in report
    assert "^^^^^" in report
    assert "rule broke</b>" in report
    assert "RULE BROKE  The rule file cannot be used" in done.stdout


@given(
    st.dictionaries(st.sampled_from(["rule", "subject", "node", "reason"]), st.text(max_size=40)),
    st.dates(),
)
@hypothesis_settings(max_examples=80, deadline=None)
def test_any_words_of_a_mute_are_kept_or_refused(words: dict[str, str], until: date) -> None:
    """Whatever stands in a mute, it comes out on one line and as the same day, or is refused with a place."""
    lines = [f"{key} = {json.dumps(text, ensure_ascii=True)}" for key, text in words.items()]
    try:
        (mute,) = parse_settings(
            "\n".join(["[[mute]]", *lines, f"until = {until.isoformat()}"])
        ).mutes
    except BadSettingsError as error:
        assert error.place != FileSpan() or len(words) < 4
        return
    assert mute.until == until.isoformat()
    assert mute.reason == " ".join(words["reason"].split())


def test_no_settings_are_no_settings() -> None:
    """Without a file nothing is changed, and the words for it say so."""
    assert Settings().thresholds == {}
    assert Settings().about() == "nothing set"
    assert full(NUMBERED % "when: one.a >= least").changed_thresholds == {}
