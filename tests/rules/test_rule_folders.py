"""Folders of rules: all that lies below is read, and a folder without a rule is an error wherever it is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer import rules
from analyzer.cli import main
from analyzer.rules import sources

ROOT = Path(__file__).resolve().parents[2]
CASE = str(ROOT / "samples" / "cases" / "lab-ring-after")
RULE = """\
rule: {id}
title: A made-up rule {id}

each: port in esxi.net_stats
when: port.port_id > 5
outcomes:
  - when: true
    severity: warning
    say: "{{port.port_id}} is high"
examples:
  - name: a port
    tables:
      esxi.net_stats:
        - {{port_id: 7}}
    expect: {{result: match}}
"""


def backline(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules at three depths, as teams keep them, and a hidden folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("top", "storage/deep-one", "storage/fc/hba/deep-two", ".git/not-this"):
        path = tmp_path / "kb" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RULE.format(id=path.stem), encoding="utf-8")
    (tmp_path / "kb" / "storage" / "README.md").write_text("no rule\n", encoding="utf-8")
    return tmp_path / "kb"


IDS = ["deep-one", "deep-two", "top"]


def test_triage_judges_the_rules_of_all_folders_below(kb: Path, tmp_path: Path) -> None:
    """--kb and the settings take the rules of every folder below the one that they name."""
    done = backline("triage", CASE, "--kb", kb, "--json", "-", "--no-settings")
    assert done.exit_code in (0, 5), done.output
    assert {finding["rule"] for finding in json.loads(done.stdout)["findings"]} >= set(IDS)
    (tmp_path / "backline.toml").write_text('kb = ["kb"]\n', encoding="utf-8")
    done = backline("triage", CASE, "--json", "-")
    assert {finding["rule"] for finding in json.loads(done.stdout)["findings"]} >= set(IDS)


@pytest.mark.size
def test_the_rule_tools_take_all_folders_below(kb: Path) -> None:
    """`lint`, `test`, `fmt`, `doc` and `list` see the same rules in a folder."""
    assert "3 rules" in backline("rules", "lint", kb).stdout
    assert "3 rules, 3 examples: all as expected" in backline("rules", "test", kb).stdout
    assert "3 files" in backline("rules", "fmt", "--check", kb).stderr
    page = backline("rules", "doc", kb).stdout
    listed = backline("rules", "list", "--kb", kb, "--json").stdout
    for name in IDS:
        assert name in page
        assert f'"{name}"' in listed
    assert "not-this" not in page + listed


def test_a_mistake_in_a_deep_file_is_told(kb: Path) -> None:
    """A broken rule three folders down is no rule that nobody looked at."""
    (kb / "storage" / "fc" / "hba" / "deep-two.yaml").write_text(
        "rule: deep-two\ntitle: x\n", encoding="utf-8"
    )
    assert backline("rules", "lint", kb).exit_code == 1
    assert backline("rules", "test", kb).exit_code == 4
    assert backline("triage", CASE, "--kb", kb, "--json", "-", "--no-settings").exit_code == 4


EMPTY = [
    ("rules", "lint", "{}"), ("rules", "test", "{}"), ("rules", "fmt", "{}"), ("rules", "doc", "{}"),
    ("rules", "backtest", "{}", "--archive", "archive"), ("rules", "lint", "--kb", "{}"),
    ("rules", "test", "--kb", "{}", "-k", "nothing"), ("rules", "list", "--kb", "{}"), ("rules", "show", "kb-2039495", "--kb", "{}"),
    ("triage", CASE, "--kb", "{}", "-o", "out"), ("rules", "profile", CASE, "--kb", "{}"),
]  # fmt: skip


@pytest.mark.size
@pytest.mark.parametrize("words", EMPTY, ids=" ".join)
def test_a_folder_without_a_rule_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Exit 4, and the message says which folder it is and what was looked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "deeper").mkdir(parents=True)
    (tmp_path / "mine" / "rule.txt").write_text("not a rule file\n", encoding="utf-8")
    if "backtest" in words:
        assert backline("batch", CASE, "--archive", "archive", "--jobs", "1").exit_code in (0, 5)
    done = backline(*(word.replace("{}", "mine") for word in words))
    assert done.exit_code == 4, done.output
    assert "the folder holds no rule: there is no *.yaml or *.yml in it or below it" in done.output
    assert "mine" in done.output
    assert "1 file broken" in done.output or "all as expected" not in done.output


def test_links_to_folders_are_not_followed(kb: Path, tmp_path: Path) -> None:
    """A link that leads out is told; one that leads up ends nowhere; one within brings no rule twice."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "stranger.yaml").write_text(RULE.format(id="stranger"), encoding="utf-8")
    (kb / "storage" / "up").symlink_to(kb)
    (kb / "within").symlink_to(kb / "storage" / "fc")
    files, faults = sources.rule_tree(kb)
    assert [file.stem for file in files] == ["top", "deep-one", "deep-two"]
    assert faults == []
    (kb / "out").symlink_to(outside)
    files, faults = sources.rule_tree(kb)
    assert "stranger" not in [file.stem for file in files]
    assert [fault.message for fault in faults] == ["a link to a folder outside is not followed"]
    done = backline("rules", "test", kb)
    assert done.exit_code == 4
    assert "not followed" in done.stdout


def test_a_tree_without_end_ends(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--kb /` is a mistake: after so many folders the rest is left out, and that is said."""
    monkeypatch.setattr(sources, "FOLDERS", 2)
    _, faults = sources.rule_tree(kb)
    assert [fault.message for fault in faults] == [
        "more than 2 folders lie below it; the rest were not read"
    ]


OF_PRODUCT = """\
rule: {id}
title: A made-up fault of the NSX module
{product}
sign:
  in: esxi.vmkernel
  match: 'nsxt-made-up: (?P<port>port \\d+) failed'
  per: port
severity: warning
say: "{{port}} failed"
"""


def test_a_rule_says_which_product_it_is_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a log of the host, `product: nsxt` leaves a host without NSX alone, whatever the folder of the rule is called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nsxt").mkdir()
    for name, product in (("about-nsx", "product: nsxt"), ("about-hosts", "")):
        text = OF_PRODUCT.format(id=name, product=product)
        (tmp_path / "nsxt" / f"{name}.yaml").write_text(text, encoding="utf-8")
        assert rules.parse(text, name=f"{name}.yaml").product == ("nsxt" if product else "")
    done = backline("triage", CASE, "--kb", "nsxt", "--json", "-", "--no-settings")
    asked = {rule for one in json.loads(done.stdout)["cannot_tell"] for rule in one["rules"]}
    assert asked & {"about-nsx", "about-hosts"} == {"about-hosts"}
    (tmp_path / "nsxt" / "about-nsx.yaml").write_text(
        OF_PRODUCT.format(id="about-nsx", product="product: vcd"), encoding="utf-8"
    )
    assert "unknown product `vcd`" in backline("rules", "lint", "nsxt").stdout


def test_rules_in_the_folders_of_nsx_are_about_nsx() -> None:
    """A shipped rule in the folder of a product says that it is about it, by its table or by `product`."""
    found = {
        rule.id: (rule.product, rule.path.parent.name)
        for rule in rules.load().rules
        if rule.path is not None
    }
    assert {
        name: one for name, one in found.items() if one[1] in ("nsx", "nsxt") and one[0] != one[1]
    } == {}
    assert sum(one[0] != "" for one in found.values()) > 80
