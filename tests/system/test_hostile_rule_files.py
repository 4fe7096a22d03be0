"""Rule files from a stranger: each is refused with a place and a reason, or is harmless.

All files here are made up. What is refused is read as a user's file is, from a folder.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.cli import main
from analyzer.pipeline import examples
from analyzer.rules import Catalog
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits
from analyzer.scan.engines import ENGINES, choose_engine
from analyzer.scan.signatures import Scanner
from tests.kit.rule_kit import BASE, LOG, PART, RULE, TABLES, Kit, full

SOUND = RULE % "when: one.a > 1"
CASE = Path(__file__).parents[2] / "samples" / "cases" / "lab-ring-before"
SHELL = """\
rule: stranger
title: %s
each: ring in guest.ethtool_ring
subject: "{ring.node}"
when: true
outcomes:
  - {when: true, severity: major, confidence: confirmed, say: %s}
fix:
  - {where: the guest, do: %s}
"""


def refused(raw: bytes, folder: Path, name: str = "made-up.yaml") -> BadRuleError:
    """Return why a file of these bytes is refused; it takes less than five seconds."""
    (folder / name).write_bytes(raw)
    start = time.process_time()
    catalog = rules.load([folder], TABLES, examples=True)
    assert time.process_time() - start < 5
    assert not catalog.rules
    [error] = catalog.broken
    return error


def listing(folder: Path) -> list[tuple[str, int]]:
    """Return every file below a folder with its size."""
    return sorted((str(path), path.lstat().st_size) for path in folder.rglob("*"))


LAUGHS = "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'lol'}]\n" for n in range(10)
)
YAML_TRICKS = {
    "python tag": (b"x: !!python/object/apply:os.system ['touch pwned']\n", "tag"),
    "python name": (b"x: !!python/name:os.system\n", "tag"),
    "own tag": (b"x: !include /etc/passwd\n", "tag"),
    "binary tag": (b"x: !!binary aGVsbG8=\n", "tag"),
    "billion laughs": (LAUGHS.encode(), "values"),
    "many aliases": (b"x: &x 1\ny: [" + b"*x, " * 101 + b"1]\n", "aliases"),
    "an alias to itself": (b"x: &x [*x]\n", ""),
    "deep lists": (b"x: " + b"[" * 5000 + b"]" * 5000 + b"\n", "nested"),
    "deep mappings": (b"x: " + b"{a: " * 5000 + b"1" + b"}" * 5000 + b"\n", "nested"),
    "merge key": (b"x: &x {a: 1}\ny: {<<: *x}\n", "merge"),
    "duplicate key": (b"title: another\n", "twice"),
    "second document": (b"---\nrule: another\n", "second document"),
    "NUL": (b"about: a\0b\n", "not YAML"),
    "invalid UTF-8": (b"about: \xff\xfe\xc0\n", "UTF-8"),
    "half a surrogate": (b"about: \xed\xa0\x80\n", "UTF-8"),
    "list as a key": (b"? [a, b]\n: c\n", "key"),
    "unknown key": (b"exec: touch pwned\n", "unknown key"),
    "2 MiB": (b"#" * (2 << 20), "larger"),
}


@pytest.mark.parametrize("name", YAML_TRICKS)
def test_a_trick_of_yaml_is_refused(name: str, tmp_path: Path) -> None:
    """What YAML could construct, multiply or hide is refused at once, with file, line, column and the reason."""
    extra, reason = YAML_TRICKS[name]
    error = refused(SOUND.encode() + extra, tmp_path)
    assert error.where.startswith("made-up.yaml:")
    assert error.place.line >= 1
    assert error.message
    assert reason in error.message
    assert [path.name for path in tmp_path.iterdir()] == ["made-up.yaml"]


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_coding_is_refused(coding: str, tmp_path: Path) -> None:
    """A file that is not UTF-8 is refused with a reason, never guessed at."""
    error = refused(SOUND.encode(coding), tmp_path)
    assert error.where == f"made-up.yaml:{error.place.line}:{error.place.column}"
    assert "not UTF-8" in error.message or "not YAML" in error.message


IDS = [
    "../x",
    "/etc/x",
    "a/b",
    "..",
    ".",
    "a\n",
    "a\nb",
    "a\0",
    "A",
    "a b",
    "-x",
    "con:",
    "x" * 300,
    "a\u202eb",
    "",
    "é",
]


@pytest.mark.parametrize("word", IDS)
def test_an_id_with_tricks_is_refused(word: str, tmp_path: Path) -> None:
    """An id is a short word of a-z, 0-9 and dashes: no path, line feed, or length that a file system chokes on."""
    error = refused(SOUND.replace("made-up", json.dumps(word), 1).encode(), tmp_path)
    assert error.place.line == 1
    assert error.message


PATHS = [
    "/tmp/backline-pwned", "../pwned", "a/../../pwned", "..", ".", "a//b", "", "a\0b", "n" * 300, "a/" + "n" * 300,
    "C:/pwned", "..\\pwned", "a\nb", "a/" * 600 + "b", "\x1b[2J",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_an_example_that_leaves_its_folder_is_refused(path: str, tmp_path: Path) -> None:
    """A file of an example cannot be named to lie outside, nor so that it cannot be written."""
    example = f"\nexamples:\n  - name: x\n    files: [{{path: {json.dumps(path)}, text: t}}]\n"
    error = refused((SOUND + example + "    expect: {result: no_match}\n").encode(), tmp_path)
    assert "path" in error.message
    assert error.place.line > SOUND.count("\n")


def test_an_example_writes_nothing_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Running an example with files leaves the working folder and the one above it as they were."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    before = listing(tmp_path), sorted(tmp_path.parent.iterdir())
    text = SHELL % ("t", "s", "d") + (
        "examples:\n  - name: x\n    files: [{path: a/b.txt, text: t}]\n    expect: {result: cannot_tell}\n"
    )
    assert examples.run(rules.parse(text))
    assert (listing(tmp_path), sorted(tmp_path.parent.iterdir())) == before


DROP = "x'; DROP TABLE esxi.base; --"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("esxi.base", json.dumps("one in esxi.base; DROP TABLE x")),
        (
            "table: esxi.part, by: [key], rows",
            'table: "esxi.part; DROP TABLE esxi.base", by: [key], rows',
        ),
        ("by: [key], rows", 'by: ["key\'; DROP TABLE esxi.base; --"], rows'),
        ("by: [key], rows", 'by: ["key = key OR 1=1"], rows'),
        ("  part:", '  "part; DROP TABLE esxi.base":'),
        ("one.a > 1", 'one."a; DROP TABLE" > 1'),
        ("one.a > 1", "one.a > 1; DROP TABLE"),
        ("one.a > 1", "one.a > 1 -- x"),
        ("one.a > 1", 'one.v > "1\'; DROP TABLE x"'),
        ("when: one", "logs: {l: {in: esxi.made_up_log, match: '(?P<a;DROP>x)'}}\nwhen: one"),
    ],
)
def test_sql_in_a_name_is_refused(old: str, new: str, tmp_path: Path) -> None:
    """Names of tables, columns, aliases and groups are looked up or read by the grammar: SQL in them is refused."""
    if "each" not in new and new.startswith('"one in'):
        old = "one in esxi.base"
    assert old in SOUND
    error = refused(SOUND.replace(old, new, 1).encode(), tmp_path)
    assert error.message
    assert error.place.line > 1


@pytest.mark.parametrize(
    "word", [DROP, '" OR 1=1 --', "\\'; --", "%s", "${x}", "$1", "?", "{one.a}", "'", "''"]
)
def test_sql_in_a_text_stays_text(word: str) -> None:
    """A text in a condition is compared as it is: it finds exactly itself, and nothing is dropped."""
    quoted = "one.s == " + json.dumps(word)
    one = full(RULE % ("when: " + json.dumps(quoted)))
    kit = (
        Kit()
        .add(BASE, [{"key": 1, "s": word}, {"key": 2, "s": "x"}])
        .add(PART, [{"key": 1, "part": 1}])
    )
    assert kit.counts(one) == {"match": 1, "no_match": 1}
    assert kit.counts(full(SOUND)) == {"cannot_tell": 2}


@pytest.mark.parametrize("group", ["select", "drop", "order", "rowid", "_", "null", "é"])
def test_a_group_named_like_sql_is_a_name(group: str) -> None:
    """A named group that is a word of SQL is a column like another: the rule has an ordinary verdict."""
    log = f"logs: {{l: {{in: esxi.made_up_log, match: 'x (?P<{group}>.)', where: {group} == \"y\"}}}}\nwhen: l"
    try:
        one = full(RULE % log)
    except BadRuleError as error:
        assert error.place.line > 1
        return
    assert Kit().add(BASE, [{"key": 1}]).log(one, "x y\nx z").counts(one) == {"match": 1}


@pytest.mark.parametrize(
    "value", [DROP, "1'", "6.5.0'; DROP TABLE x; --", "9" * 400, "1." * 500, ""]
)
def test_a_version_with_sql_has_an_ordinary_verdict(value: str) -> None:
    """A version that is none compares to nothing or to the number it begins with: never an error."""
    one = full(RULE % 'when: one.v > "1.0"')
    counts = Kit().add(BASE, [{"key": 1, "v": value}]).counts(one)
    assert sum(counts.values()) == 1
    assert set(counts) <= {"match", "no_match", "cannot_tell"}


@pytest.mark.parametrize(
    "part",
    [
        "{x.__class__}",
        "{one.__class__}",
        "{one.a!r}",
        "{one.a:999999999}",
        "{one.a.__init__.__globals__}",
        "{}",
        "{0.a}",
        "{one.a",
        "{one[a]}",
    ],
)
def test_a_template_is_no_format_string(part: str, tmp_path: Path) -> None:
    """Nothing of Python's formatting works in a template: no attributes, conversions or widths."""
    error = refused(SOUND.replace("say: found", f"say: {json.dumps(part)}").encode(), tmp_path)
    assert error.place.line == SOUND[: SOUND.index("say:")].count("\n") + 1


PYTHON = [
    "__import__('os').system('touch pwned')", "lambda: 1", "[x for x in one]", "one.a.b.c.d", "(x := 1)",
    "f'{one.a}'", "10**10**10 > 1", "one.__class__", "eval('1')", "open('/etc/passwd')", "one['a']",
    "(" * 3000 + "1" + ")" * 3000, "not " * 5000 + "true", "one.a > " + "9" * 5000, "exec", "1 if true else 2", "*one",
]  # fmt: skip


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_in_a_condition_is_refused(code: str, tmp_path: Path) -> None:
    """The language of conditions is its own: what Python would run is refused where it stands."""
    error = refused((RULE % f"when: {json.dumps(code)}").encode(), tmp_path)
    assert error.place.line == (RULE % "when: x").split("\n").index("when: x") + 1


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+(?!x)",
        r"(b)(a|a)*\1",
        r"(\w+\s?)*x(?!y)",
        "(x{1000}){1000}",
        "(?=z)(.*)*y",
        "([a-z]+)*[0-9](?<!1)",
    ],
)
def test_a_pattern_that_runs_away_is_refused_with_a_caret_inside(
    pattern: str, tmp_path: Path
) -> None:
    """A pattern whose search would not end is refused at load, and the caret stands inside it."""
    text = RULE % f"logs: {{l: {{in: esxi.made_up_log, match: '{pattern}'}}}}\nwhen: l"
    error = refused(text.encode(), tmp_path)
    line = text.split("\n")[error.place.line - 1]
    begin = line.index(pattern) + 1
    assert begin <= error.place.column < begin + len(pattern)
    assert error.place.column + error.place.width <= begin + len(pattern)
    assert "^" in str(error)


def engines() -> list[str]:
    """Return the engines that are there."""
    found = []
    for name in ENGINES:
        try:
            found.append(choose_engine(name))
        except BacklineError:
            continue
    return found


@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize(
    ("pattern", "end", "verdict"),
    [
        ("a.*b.*c.*d", "c", "no_match"),
        ("(?P<all>a.*b.*c.*d)", "c", "no_match"),
        ("(?=a)a.*b.*c.*d", "c", "no_match"),
        ("(?P<q>.)(?P=q)?a.*b.*c.*d", "c", "no_match"),
        ("(?P<q>.)(?P=q)?a.*b.*c.*d", "d", "cannot_tell"),
        ("a.*b.*c.*d", "d", "match"),
    ],
)
def test_a_slow_pattern_ends_and_the_rule_tells_the_truth(
    pattern: str, end: str, verdict: str, engine: str
) -> None:
    """The worst line for a pattern of high power ends soon; undecided is «cannot tell», no hit is «no match»."""
    one = full(RULE % f"logs: {{l: {{in: esxi.made_up_log, match: '{pattern}'}}}}\nwhen: l")
    line = ("abc" * ((64 << 10) // 3))[:-1] + end
    start = time.process_time()
    scan = (
        Scanner(Catalog([one]).signatures(), engine=engine)
        .scan_lines([line], LOG.name, "made_up.log")
        .assign_node("esx1")
    )
    assert time.process_time() - start < 5
    kit = Kit().add(BASE, [{"key": 1}])
    kit.facts.add_hits(scan)
    assert kit.counts(one) == {verdict: 1}
    assert bool(scan.stopped) == (verdict == "cannot_tell")
    assert [hit.name for hit in scan.list_limits(Limits())] == (
        ["pattern_steps"] if scan.stopped else []
    )


@pytest.mark.size
@pytest.mark.parametrize("command", ["lint", "test", "show", "list"])
@pytest.mark.parametrize(
    "sign",
    [
        r"\x1b[2J\x1b]0;x\x07",
        r"\u202egnp.exe",
        r"\u2066x\u2069",
        r"\x9b31m",
        "\u202egnp.exe",
        "\u2066x",
    ],
)
@pytest.mark.parametrize("key", ["title", "say"])
def test_no_command_passes_on_what_steers_a_terminal(
    command: str, sign: str, key: str, tmp_path: Path
) -> None:
    """Escapes and marks of direction in a title or a finding come out visible, never as they are."""
    texts = [f'"{sign}"' if key == name else "plain" for name in ("title", "say")]
    (tmp_path / "stranger.yaml").write_text(SHELL % (*texts, "d"))
    args = {"lint": [], "test": [], "show": ["stranger"], "list": []}[command]
    where = [str(tmp_path)] if command in ("lint", "test") else ["--kb", str(tmp_path)]
    done = CliRunner().invoke(main, ["rules", command, *args, *where])
    assert not isinstance(done.exception, Exception), done.exception
    assert not set(done.output) & set("\x1b\x07\x9b\u202e\u2066\u2069")
    assert "stranger" in done.output
    if command != "show":
        assert any(shown in done.output for shown in (r"\x1b", r"\x9b", r"\u202e", r"\u2066"))


def triage(out: Path, *kb: Path) -> tuple[int, str]:
    """Triage the sample with further rules; return the exit code and all that was printed."""
    args = [word for path in kb for word in ("--kb", str(path))]
    done = CliRunner().invoke(
        main, ["triage", str(CASE), "-o", str(out), "--no-settings", "--no-packs", *args]
    )
    assert not isinstance(done.exception, Exception), done.exception
    return done.exit_code, done.output


def test_markup_of_a_rule_is_text_in_the_page_and_a_broken_neighbour_stops_nothing(
    tmp_path: Path,
) -> None:
    """Beside a broken file a good one is judged, the exit code is 4, and its markup is escaped in the page."""
    kb = tmp_path / "kb"
    kb.mkdir()
    marks = [f"<script>alert('{name}')</script>" for name in ("title", "say", "do")]
    (kb / "stranger.yaml").write_text(SHELL % tuple(f'"{mark}"' for mark in marks))
    (kb / "broken.yaml").write_text("rule: broken\ntitle: !!python/name:os.system x\n")
    code, printed = triage(tmp_path / "out", kb)
    assert code == 4
    assert "broken.yaml:2:" in printed
    found = json.loads((tmp_path / "out" / "case.json").read_text())["findings"]
    assert any(one["rule"] == "stranger" and marks[1] in one["say"] for one in found)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script>alert" not in page
    for name in ("title", "say", "do"):
        assert f"alert(&#39;{name}&#39;)" in page


@pytest.mark.size
@pytest.mark.parametrize("inside", [False, True])
def test_a_link_to_a_private_file_does_not_cite_it(inside: bool, tmp_path: Path) -> None:
    """A link among the rules to a file that is no rule, in the folder or elsewhere, shows no word of its content."""
    kb = tmp_path / "kb"
    kb.mkdir()
    secret = (kb if inside else tmp_path) / "secret"
    secret.write_text("user: hunter2\npassword: [hunter2\n")
    (kb / "a.yaml").symlink_to(secret)
    code, printed = triage(tmp_path / "out", kb)
    assert code == 4
    assert "a.yaml:" in printed
    assert "hunter2" not in printed
    assert not any(
        "hunter2" in path.read_text(errors="replace") for path in (tmp_path / "out").iterdir()
    )


EDIT = st.tuples(
    st.sampled_from(["delete", "insert", "double"]),
    st.integers(0, len(SOUND)),
    st.integers(1, 60),
    st.binary(max_size=8),
)


@settings(max_examples=100)
@given(st.lists(EDIT, min_size=1, max_size=6))
def test_no_edit_raises_anything_but_a_diagnosis(edits: list[tuple[str, int, int, bytes]]) -> None:
    """However a rule file is cut, doubled or strewn with bytes, it is read or refused with a place."""
    raw = SOUND.encode()
    for kind, at, size, junk in edits:
        chunk = {"delete": b"", "insert": junk, "double": raw[at : at + size] * 2}[kind]
        raw = raw[:at] + chunk + raw[at + (0 if kind == "insert" else size) :]
    try:
        rules.parse(raw.decode("utf-8", "surrogateescape"), TABLES)
    except BadRuleError as error:
        assert error.place.line >= 1
        assert error.message
        assert str(error).encode()
