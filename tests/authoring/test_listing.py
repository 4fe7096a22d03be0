"""`backline rules list` and `show`: the catalog in rows, and a rule in plain words."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer import rules
from analyzer.authoring.pages import listing, telling
from analyzer.authoring.select import select_rules
from analyzer.cli import main
from analyzer.rules import Rule
from analyzer.rules.run_catalog import Local
from analyzer.rules.settings import Settings, parse
from analyzer.runtime.errors import UsageError
from tests.kit.rule_kit import full
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]

RULE = """\
rule: nn-told
title: A made-up fault
kb: [123456]
issues: [77]
source: a made-up page
revised: 2026-11-20
about: What it is about.
each: one in esxi.base
join:
  part: {table: esxi.part, by: [key], rows: many, where: part.ok}
  boss: {table: nsx.boss, by: [], nodes: any}
subject: "thing {one.key:,}"
logs:
  fail: {in: esxi.made_up_log, match: "call failed", ignore_case: true}
  start: {in: esxi.made_up_log, match: "server started"}
seen:
  burst: {log: fail, at_least: 3, within: 10m}
  order: {sequence: [start, fail], within: 90s}
  quiet: {none: fail, for: 24h}
only: known(one.a)
let:
  least: 5
  bad: share(part.x > 2)
when: one.a >= least and bad >= 0.25
outcomes:
  - when: burst
    severity: critical
    confidence: confirmed
    say: "{bad:.0%} of parts are bad"
  - when: true
    severity: info
    say: perhaps
notes:
  - {when: order, say: It was started before.}
fix:
  - {where: host, do: Restart it., run: "restart --now", note: It takes a minute.}
caution: It stops for a moment.
not_this: [What looks alike.]
ask: {esxi.part: part-command --all}
examples:
  - name: bad
    tables: {esxi.base: [{key: 1, a: 9}], esxi.part: [{key: 1, x: 3, ok: true}]}
    expect: {result: match, severity: info}
  - name: not read
    tables: {esxi.base: [{key: 1, a: 9}], esxi.part: null}
    expect: {result: cannot_tell}
    gap: true
"""


def run(*args: str) -> Result:
    """Run the command in this process and return its result."""
    return CliRunner().invoke(main, ["rules", *args], catch_exceptions=False)


def told(rule: Rule, settings: Settings | None = None, verbose: int = 0) -> str:
    """Return the description of a rule as one text, blanks folded."""
    return " ".join(" ".join(telling.describe_rule(rule, settings or Settings(), verbose)).split())


# --- list -------------------------------------------------------------------------------------------


@pytest.mark.size
def test_the_list_has_a_line_for_each_shipped_rule() -> None:
    """Every rule that is judged stands in the list once, with status, examples and title."""
    done = run("list")

    assert done.exit_code == 0, done.output
    for rule in rules.load().rules:
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"{rule.id} ")]
        assert f" {rule.status} " in line
        assert f" {len(rule.examples)} " in line
        assert line.endswith(rule.title)


def test_json_and_csv_hold_the_same() -> None:
    """One JSON object a line and one CSV row a rule, with KBs, tables and origin."""
    objects = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    table = list(csv.DictReader(io.StringIO(run("list", "--csv").stdout)))

    assert [row["rule"] for row in table] == [row["rule"] for row in objects]
    ring = next(row for row in objects if row["rule"] == "kb-2039495")
    assert ring["kb"] == [2039495, 1010071]
    assert ring["origin"] == "shipped"
    assert "esxi.vmxnet3_rx_queue" in ring["tables"]
    assert next(row for row in table if row["rule"] == "kb-2039495")["kb"] == "2039495; 1010071"


def test_the_list_can_be_narrowed() -> None:
    """By status, by table and by product; what is left fulfils it, and something is left out.

    Of NSX are rules that read its tables and those about its parts on a host, which lie in its folder.
    """
    about = {
        path.stem for path in (Path(rules.__file__).parent.parent / "kb" / "nsx").glob("*.yaml")
    }
    everything = {json.loads(line)["rule"] for line in run("list", "--json").stdout.splitlines()}
    for option, value, holds in (
        (
            "--product",
            "nsx",
            lambda row: (
                row["rule"] in about or any(name.startswith("nsx.") for name in row["tables"])
            ),
        ),
        ("--table", "esxi.net_stats", lambda row: "esxi.net_stats" in row["tables"]),
    ):
        rows = [
            json.loads(line) for line in run("list", "--json", option, value).stdout.splitlines()
        ]
        assert rows
        assert all(holds(row) for row in rows)
        assert {row["rule"] for row in rows} < everything
    assert run("list", "--status", "retired", "--json").stdout == ""


def test_an_unknown_table_suggests_one() -> None:
    """A misspelt table ends with 2 and the right name."""
    done = run("list", "--table", "esxi.net_stat")

    assert done.exit_code == 2
    assert "did you mean `esxi.net_stats`?" in done.stderr


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a private draft, a retired rule, a broken one, and settings that name all that."""
    kb = tmp_path / "mine"
    kb.mkdir()
    draft = (
        "rule: nn-draft\ntitle: A made-up draft\nstatus: draft\neach: port in esxi.net_stats\n"
        "let: {limit: 5}\nwhen: port.port_id > limit\noutcomes: [{severity: info}]\n"
    )
    (kb / "nn-draft.yaml").write_text(draft, encoding="utf-8")
    retired = draft.replace("nn-draft", "nn-old").replace(
        "status: draft", "status: retired\nreplaced_by: nn-draft"
    )
    (kb / "nn-old.yaml").write_text(retired, encoding="utf-8")
    (kb / "nn-broken.yaml").write_text("rule: nn-broken\n", encoding="utf-8")
    (tmp_path / "backline.toml").write_text(
        'kb = ["mine"]\n[thresholds.nn-draft]\nlimit = 9\nreason = "why not"\n'
        '[[mute]]\nrule = "nn-draft"\nnode = "esx*"\nreason = "lab"\nuntil = 2026-12-31\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.size
def test_the_list_shows_origin_mutes_and_thresholds(db: Path) -> None:
    """A private rule says where it is from, what is muted and which number is another; a broken one ends with 4."""
    done = run("list")

    assert done.exit_code == 4
    assert re.search(
        r"^nn-draft +draft +0 +folder mine +- +A made-up draft$", done.stdout, re.MULTILINE
    )
    assert "    muted: all its findings on esx*, until 2026-12-31: lab\n" in done.stdout
    assert "    threshold: limit = 9 (5 as shipped): why not\n" in done.stdout
    assert "nn-old" not in done.stdout
    assert re.search(
        r"^folder mine: 1 rule, 1 broken, sha256 [0-9a-f]{64}$", done.stdout, re.MULTILINE
    )
    assert "nn-broken.yaml:1:1" in done.stderr
    assert "nn-draft" not in run("list", "--no-settings").stdout


def test_retired_rules_are_listed_when_asked_for(db: Path) -> None:
    """--status retired shows them, and only them."""
    rows = [
        json.loads(line)["rule"]
        for line in run("list", "--status", "retired", "--json").stdout.splitlines()
    ]
    assert rows == ["nn-old"]
    assert "replaced by nn-draft" in run("show", "nn-old").stdout


def test_a_hostile_title_cannot_steer_terminal_or_spreadsheet() -> None:
    """Control characters are shown, a formula is quoted."""
    one = full(RULE)
    one.title = "=1+1\x1b[31m\nnext"
    catalog = rules.Catalog([one])
    rows = listing.list_rows(catalog, Settings())

    assert "\x1b" not in "\n".join(listing.as_text(rows))
    assert "'=1+1\\x1b[31m" in listing.as_csv(rows)
    assert len(list(listing.as_text(rows))) == 2


# --- select -----------------------------------------------------------------------------------------


@pytest.mark.size
def test_select_uses_the_settings_of_the_folder(db: Path) -> None:
    """An id of a private folder is found; thresholds are changed only where the rule is to judge as it does here."""
    assert select_rules(["nn-draft"])["nn-draft"].changed == {}
    assert select_rules(["nn-draft"], tuned=True)["nn-draft"].changed == {"limit": (9, 5)}
    assert select_rules(["mine/nn-draft.yaml"], tuned=True)["nn-draft"].changed == {"limit": (9, 5)}
    with pytest.raises(UsageError):
        select_rules(["nn-draft"], material=[db])
    with pytest.raises(UsageError):
        select_rules(["nn-draft"], local=Local())


@pytest.mark.size
def test_select_tells_of_a_retired_rule(db: Path) -> None:
    """A retired id is not unknown: the advice says what became of it."""
    with pytest.raises(UsageError) as error:
        select_rules(["nn-old"])
    assert "retired" in error.value.do


# --- show -------------------------------------------------------------------------------------------


def test_a_rule_is_told_in_plain_words() -> None:
    """Head, what it looks at, when it speaks, what it says, what decides, what to do: each part is there."""
    text = told(full(RULE))

    for words in (
        "nn-told: A made-up fault",
        "KB 123456: https://knowledge.broadcom.com/external/article/123456",
        "known issue 77",
        "facts from: a made-up page",
        "one: each row of esxi.base. things to judge. From a made-up command",
        "part: all rows of esxi.part with the same key, where part.ok. parts of a thing.",
        "boss: the row of nsx.boss, on any node of the case.",
        "fail: lines of esxi.made_up_log that match call failed, upper or lower case",
        "only for rows with known(one.a)",
        "when one.a >= least and bad >= 0.25",
        "burst is 3 or more fail within 10 min",
        "order is start then fail within 2 min",
        "quiet is no fail in the last 1.0 d of the log",
        "bad is share(part.x > 2)",
        'about "thing <one.key>"',
        "1. if burst: critical, confirmed: <bad> of parts are bad",
        "2. otherwise: info, likely: perhaps",
        "NUMBERS THAT DECIDE least = 5",
        "bad >= 0.25",
        "host: Restart it. restart --now It takes a minute.",
        "Caution: It stops for a moment.",
        "- What looks alike.",
        "esxi.part: part-command --all",
        "bad: speaks, info",
        "not read: cannot tell (known gap: it does not yet)",
    ):
        assert words in text, words
    assert "It was started before." not in text


def test_verbose_tells_notes_columns_and_examples_whole() -> None:
    """-v adds what a first reader does not need."""
    text = told(full(RULE), verbose=1)

    for words in (
        "adds, if order: It was started before.",
        "esxi.part: not in the case",
        "esxi.base: key 1, a 9",
    ):
        assert words in text, words


def test_local_settings_are_told_with_the_rule() -> None:
    """A mute of the rule stands in its description."""
    settings = parse(
        '[[mute]]\nrule = "nn-told"\nsubject = "thing 1"\nreason = "lab"\nuntil = 2026-12-31'
    )
    assert "MUTED HERE thing 1, until 2026-12-31: lab" in told(full(RULE), settings)


@together("rule", [rule.id for rule in rules.load().rules])
def test_every_shipped_rule_can_be_told(rule: str) -> None:
    """No part of a shipped rule is missing: each fix, each ask and each example has its line."""
    one = rules.load()[rule]
    text = told(one, verbose=1)

    for step in one.fix:
        for words in (
            part for shown in step.templates for part in shown.parts if isinstance(part, str)
        ):
            assert " ".join(words.split()) in text
    for example in one.examples:
        assert f"{example.name}: " in text
    assert "{" not in text.split("LOOKS AT")[1].split("EXAMPLES")[0].split("SPEAKS")[1]


def test_commands_are_not_wrapped(db: Path) -> None:
    """What is there to be copied stands on one line, whatever the width."""
    lines = run("show", "kb-2039495").stdout.splitlines()

    assert "    ethtool -G <dev.interface> rx <dev.rx_max>" in lines
    assert "    vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary" in lines
    assert "    for each port with type 5 and subtype 9;" in lines
    assert "    net-stats -l" in lines
    assert all(len(line) <= 110 or "vsish" in line for line in lines)


def test_show_of_an_unknown_rule_suggests_one() -> None:
    """A misspelt id ends with 2 and the right one."""
    done = run("show", "kb-203949")

    assert done.exit_code == 2
    assert "kb-2039495" in done.stderr
