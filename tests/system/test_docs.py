"""The pages say what the code does: limits, generated pages, the examples of the rule guide."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.authoring.pages import pages
from analyzer.cli import main
from analyzer.commands.made_pages import list_page_makers
from analyzer.report.wording import link_article
from analyzer.rules import Catalog, fact_tables
from analyzer.rules import keys as rule_keys
from analyzer.runtime.limits import Limits
from tests.kit.rule_kit import RULE, full
from tools import docs

ROOT = Path(__file__).resolve().parents[2]


def made_page(name: str) -> str:
    """Return the text of a page that is no file of the repository."""
    return list_page_makers(main)[name]()


def page(name: str) -> str:
    """Return the text of a page of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.process
def test_generated_pages_are_fresh() -> None:
    """The generated files that are in git are what tools/docs.py writes."""
    assert docs.stale_files() == []


def test_no_made_page_is_in_git(tmp_path: Path) -> None:
    """tools/docs.py -o writes every made page; git ignores each of them in docs/, and the check does not ask for one."""
    assert docs.main(["-o", str(tmp_path / "pages")]) == 0
    names = sorted(path.name for path in (tmp_path / "pages").iterdir())
    assert {
        "rules.md",
        "tables.md",
        "cli.md",
        "backline.1",
        "rule-schema.json",
        "case-schema.json",
    } == {*names}
    assert all(
        (tmp_path / "pages" / name).read_text(encoding="utf-8") == made_page(name) for name in names
    )
    places = [f"docs/{name}" for name in names]
    ignored = subprocess.run(
        ["git", "check-ignore", *places], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ignored.stdout.split() == places
    tracked = subprocess.run(
        ["git", "ls-files", "docs"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not re.findall(r"^.*(?:rules.md|tables.md|schema).*$", tracked.stdout, re.MULTILINE)


def test_nothing_lies_at_the_top_by_mistake() -> None:
    """What a tool wrote into a folder called like an option, or a file left from a try, is not of the repository."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    folders = {path.split("/")[0] for path in done.stdout.splitlines() if "/" in path}
    assert folders == {
        ".ci",
        ".github",
        ".vscode",
        "analyzer",
        "docs",
        "parsers",
        "samples",
        "templates",
        "tests",
        "tools",
    }
    odd = [
        path
        for path in done.stdout.splitlines()
        if not re.fullmatch(r"[\w./+ @{}\[\]-]+", path) or "/-" in f"/{path}"
    ]
    assert odd == []


@pytest.mark.parametrize("tool", ["make_case.py", "site.py"])
def test_a_tool_that_writes_a_folder_answers_help(tmp_path: Path, tool: str) -> None:
    """`--help` is no name of a folder."""
    command = [sys.executable, str(ROOT / "tools" / tool), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.size
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("rules doc", "rules.md"),
        ("tables --doc", "tables.md"),
        ("rules schema", "rule-schema.json"),
        ("show --schema", "case-schema.json"),
    ],
)
def test_a_command_prints_each_page(words: str, name: str) -> None:
    """The text is UTF-8 with plain line ends, also where the terminal speaks another encoding; no path is needed."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "analyzer", *words.split()]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode("utf-8") == made_page(name)


def test_every_limit_is_documented() -> None:
    """SECURITY.md names every limit of the tool."""
    text = page("SECURITY.md")

    for field in fields(Limits):
        assert f"`{field.name}`" in text, field.name


def test_the_guide_names_every_key_of_a_rule() -> None:
    """No key that the loader knows is missing in docs/rule-guide.md."""
    text = page("docs/rule-guide.md")

    for key in rule_keys.KEYS:
        assert re.search(rf"(`{key}`|^{key}:)", text, re.MULTILINE), key


def test_examples_in_the_guide_are_yaml() -> None:
    """Every YAML block of the guide can be read."""
    for block in re.findall(r"```yaml\n(.*?)```", page("docs/rule-guide.md"), re.DOTALL):
        assert yaml.safe_load(block)


def test_dependencies_have_a_reason() -> None:
    """Each package that setup.cfg installs stands in docs/dependencies.md."""
    config = page("setup.cfg")
    wanted = re.search(r"install_requires =\n((?:    .+\n)+)", config)
    assert wanted is not None

    for line in wanted[1].splitlines():
        name = re.split(r"[<>=; ]", line.strip())[0]
        assert re.search(
            rf"^\| {name} \|", page("docs/dependencies.md"), re.MULTILINE | re.IGNORECASE
        ), name


def commands(group: click.Group, path: str) -> list[str]:
    """Return the paths of all commands below a group."""
    found = []
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        found.append(f"{path} {name}")
        if isinstance(command, click.Group):
            found += commands(command, f"{path} {name}")
    return found


def test_the_command_line_page_has_every_command() -> None:
    """Each command, those of groups as well, has a heading of its own, its help, and an example."""
    text = made_page("cli.md")
    every = commands(main, "backline")
    assert "backline rules fmt" in every
    for path in every:
        section = re.search(
            rf"^## {path}\n\n```\nUsage: {path} (.*?)\n```", text, re.DOTALL | re.MULTILINE
        )
        assert section is not None and "Example:" in section[1], path


@pytest.mark.parametrize(
    ("number", "rest"),
    [
        (1268, "?legacyId=1268"),
        (91404, "?legacyId=91404"),
        (341594, "/341594"),
        (2039495, "?legacyId=2039495"),
    ],
)
def test_an_article_is_linked_by_the_number_it_has(number: int, rest: str) -> None:
    """VMware's numbers are looked up as legacyId; the six digits of a Broadcom article stand in its address."""
    assert link_article(number) == f"https://knowledge.broadcom.com/external/article{rest}"


def test_the_page_of_rules_tells_what_an_engineer_asks() -> None:
    """A section has the article, the sources, what is looked at, conditions with their thresholds, remedy and request."""
    text = (
        pages.rules_page(rules.load(examples=True))
        .partition("\n## kb-2039495\n")[2]
        .partition("\n## ")[0]
    )
    for words in (
        "[2039495](https://knowledge.broadcom.com/external/article?legacyId=2039495)",
        "- source: ",
        "1010071",
        "- judges each row of [`esxi.vmxnet3_rx_summary`](tables.md#esxivmxnet3_rx_summary), called `rx`",
        "- speaks when `ring_full > 0 or rx.out_of_buffers > 0`",
        "| `ring1 >= ring_most` | by degree | confirmed |",
        "- the threshold `loss_major` = 0.001 can be changed",
        "- major when `lost >= loss_major`",
        "`ethtool -G {dev.interface} rx {dev.rx_max}`",
        "(only when `one_nic and fills1 and not starved and ring1 < dev.rx_max`)",
        "Ask for, when it cannot tell:",
    ):
        assert words in text, words


def test_questions_to_logs_are_told_in_words() -> None:
    """Counts, sequences and silences of a rule are sentences with their spans."""
    rule = full(
        RULE
        % "when: burst or order or quiet or many\nlogs:\n  bad: {in: esxi.made_up_log, match: 'abcd', ignore_case: true}\n"
        "  good: {in: esxi.made_up_log, match: 'efgh'}\nseen:\n  burst: {log: bad, at_least: 3, within: 90s, per: level}\n"
        "  order: {sequence: [bad, good], within: 36h}\n  quiet: {none: good, for: 2d}\n  many: {log: bad, distinct: level}"
    )
    text = pages.rules_page(Catalog([rule]))
    assert "from 1 rule.\n" in text and "from 0 rules.\n" in pages.rules_page(Catalog([]))
    for words in (
        "for `abcd`, capitals or not, called `bad`",
        "`burst` is true for at least 3 hits of `bad` within 90s, for each `level`",
        "`order` is true for `bad`, then `good` within 36h",
        "`quiet` is true when `good` had no hit for 2d",
        "`many` is true for at least 1 values of `level` in hits of `bad`",
    ):
        assert words in text, words


def test_a_signature_as_a_table_is_told_as_lines() -> None:
    """A rule that judges the lines of a signature says so, and links the log."""
    rule = full(
        "rule: made-up\ntitle: x\neach: dev in bad per who\njoin: {more: {table: bad, by: [], rows: many}}\n"
        "logs: {bad: {in: esxi.made_up_log, match: 'bad (?P<who>[a-z]+)'}}\nwhen: true\noutcomes: [{severity: info}]\n"
    )
    text = pages.rules_page(Catalog([rule]))
    log = "[`esxi.made_up_log`](tables.md#esximade_up_log)"
    assert f"- judges each line of `bad` in {log}, one subject for each `who`, called `dev`" in text
    assert f"- beside it all lines of `bad` in {log}, called `more`" in text


@pytest.mark.size
def test_links_of_the_page_of_rules_lead_somewhere() -> None:
    """Every table and rule that is linked has its heading, by the anchors Markdown pages make."""
    headings = re.findall(r"^## (.+)$", made_page("tables.md"), re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9_-]", "", heading) for heading in headings}
    text = pages.rules_page(rules.load())
    assert set(re.findall(r"tables\.md#([^)]+)\)", text)) <= anchors
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(
        re.findall(r"^## (.+)$", text, re.MULTILINE)
    )


@settings(max_examples=100)
@given(st.text(st.sampled_from("<>|`*_[]()#!&\\~\"' a\u202e\x1b{}"), min_size=1, max_size=30))
@example("`<\\`")
def test_texts_of_a_rule_cannot_steer_the_page(text: str) -> None:
    """Whatever stands in a title, a source or a command: no heading, no link, no HTML, no cell comes of it."""
    quoted = json.dumps("x" + text.replace("{", "").replace("}", "") + "x")
    more = f"source: {quoted}\nabout: {quoted}\nfix: [{{run: {quoted}, do: {quoted}}}]\nask: {quoted}\nwhen: true"
    try:
        rule = full((RULE % more).replace("A made-up fault", quoted))
    except rules.BadRuleError:
        return  # not a text YAML allows
    shown = pages.rules_page(Catalog([rule]))
    # What is escaped, and code, in the order they stand: within code a backslash escapes nothing.
    plain = re.sub(r"\\[\\`*_{}\[\]<>#|!&~]|(`+)(?!`).*?(?<!`)\1(?!`)", "", shown)
    assert "<" not in plain and "\x1b" not in shown and "\u202e" not in shown
    assert len(re.findall(r"^#+ ", shown, re.MULTILINE)) == 2
    links = ["#made-up", "tables.md#esxibase", "tables.md#esxipart", "tables.md#esxipart"]
    assert re.findall(r"\]\(([^)]*)\)", plain) == links
    row = next(line for line in plain.split("\n") if line.startswith("| ["))
    assert row.count("|") == 6


def test_code_holds_whatever_backticks_there_are() -> None:
    """The fence is longer than any run inside, and a line break is a space."""
    assert pages.code_span("a `b` ``c``") == "``` a `b` ``c`` ```"
    assert pages.code_span("a\n  b") == "`a b`"


def test_the_command_writes_pages_of_a_private_catalog(tmp_path: Path) -> None:
    """Two pages in the named folder; a broken file is told, has its line on the page, and the exit code says so."""
    (tmp_path / "kb").mkdir()
    text = (
        (RULE % "when: true")
        .replace("esxi.base", "esxi.vm")
        .replace("esxi.part", "esxi.vnic")
        .replace("[key]", "[]")
    )
    (tmp_path / "kb" / "made-up.yaml").write_text(text.replace("{one.key}", "{one.vm_name}"))
    run = CliRunner().invoke(
        main, ["rules", "doc", str(tmp_path / "kb"), "-o", str(tmp_path / "out")]
    )
    assert run.exit_code == 0, run.output
    assert "## made-up\n" in (tmp_path / "out" / "rules.md").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "tables.md").read_text(encoding="utf-8") == pages.tables_page(
        fact_tables.list_declared(), "backline rules doc"
    )
    (tmp_path / "kb" / "worse.yaml").write_text("rule: [")
    run = CliRunner().invoke(main, ["rules", "doc", str(tmp_path / "kb")])
    assert run.exit_code == 4 and "worse.yaml" in run.stderr
    assert "## Files that cannot be used" in run.stdout and "## made-up" in run.stdout


def test_the_settings_of_the_editor_page_can_be_copied() -> None:
    """Every JSON block of docs/editor.md is JSON, and the commands it names exist."""
    text = page("docs/editor.md")
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        assert json.loads(block)
    named = set(re.findall(r"backline rules (\w+)", text))
    assert named and {f"backline rules {name}" for name in named} <= set(commands(main, "backline"))
