"""What a rule says of itself as data: owner, tags, the day its sources were read, and the rules it replaces."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from analyzer import rules
from analyzer.archive.labels import Label
from analyzer.archive.query.fleet import FleetFilter, read_fleet
from analyzer.archive.store import Archive
from analyzer.artefacts import parsing
from analyzer.authoring.lint import run as lint
from analyzer.authoring.pages import schema
from analyzer.case.verdicts import SEVERITIES
from analyzer.cli import main
from analyzer.rules import BadRuleError
from analyzer.rules.run_options import RunOptions
from analyzer.web.questions import library
from tests.kit import archive_kit as kit
from tests.kit.web_kit import client_of, serving_at

RING = next(rules.default_paths()[0].rglob("kb-2039495.yaml"))
SHIPPED = RunOptions(
    settings="", packs=False
)  # the shipped catalog alone; its own rules may replace others
DATA = """rule: nn-ring
title: A ring of team NN
checked: 2026-11-20
owner: "Team NN, network [x](http://example.invalid)"
tags: [vmxnet3, packet-loss]
replaces: [nn-old-ring]
each: rx in esxi.vmxnet3_rx_summary
when: rx.ring1_full > 0
outcomes:
  - {when: true, severity: warning, confidence: likely, say: full}
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def successor(folder: Path) -> Path:
    """Write the ring rule under another id that says it replaces the shipped one."""
    text = RING.read_text(encoding="utf-8").replace("rule: kb-2039495", "rule: nn-ring", 1)
    return write(folder, "nn-ring", text.replace("about:", "replaces: [kb-2039495]\nabout:", 1))


@pytest.mark.size
def test_list_show_and_doc_tell_the_data(tmp_path: Path) -> None:
    """`rules show`, `rules list -v`, its JSON and `rules doc` name owner, tags, the day and what is replaced."""
    path = write(tmp_path / "kb", "nn-ring", DATA)
    shown = run("rules", "show", path).stdout
    for words in (
        "owner: Team NN, network",
        "tags: vmxnet3, packet-loss",
        "takes the place of nn-old-ring",
    ):
        assert words in shown
    assert (
        "(read on 2026-11-20)"
        in run("rules", "show", write(tmp_path / "b", "nn-ring", DATA + "source: a KB\n")).stdout
    )
    listed = run(
        "rules", "list", "--kb", tmp_path / "kb", "--no-settings", "--no-packs", "-v"
    ).stdout
    assert (
        "tags vmxnet3, packet-loss; sources read on 2026-11-20; takes the place of nn-old-ring"
        in listed
    )
    row = json.loads(
        run(
            "rules", "list", "--kb", path.parent, "--tag", "vmxnet3", "--json", "--no-settings"
        ).stdout
    )
    assert (row["owner"][:7], row["tags"], row["checked"], row["replaces"]) == (
        "Team NN", ["vmxnet3", "packet-loss"], "2026-11-20", ["nn-old-ring"],
    )  # fmt: skip
    run("rules", "doc", path.parent, "-o", tmp_path / "out")
    page = (tmp_path / "out" / "rules.md").read_text(encoding="utf-8")
    assert "- tags: `vmxnet3`, `packet-loss`" in page and "- sources read on 2026-11-20" in page
    assert "\\[x\\](http://example.invalid)" in page, "an owner is text, no link"


@pytest.mark.size
def test_tags_and_owner_filter_the_list(tmp_path: Path) -> None:
    """All named tags must be there; the owner is compared without regard to capitals; else nothing is listed."""
    write(tmp_path, "nn-ring", DATA)
    some = ("rules", "list", "--kb", tmp_path, "--no-settings", "--no-packs", "--json")

    def ids(*words: str) -> list[str]:
        return [json.loads(line)["rule"] for line in run(*some, *words).stdout.splitlines()]

    assert "nn-ring" in ids() and len(ids()) > 10
    assert ids("--tag", "vmxnet3", "--tag", "packet-loss") == ["nn-ring"]
    assert ids("--tag", "vmxnet3", "--tag", "storage") == []
    assert ids("--owner", "team nn, network [x](http://example.invalid)") == ["nn-ring"]
    assert ids("--owner", "team") == []


def test_the_schema_takes_what_the_loader_takes() -> None:
    """The editor's schema knows the keys with a hover text, and refuses a tag that the loader refuses."""
    made = schema.make_schema(parsing.tables())
    assert all(
        made["properties"][key]["description"] for key in ("owner", "tags", "checked", "replaces")
    )
    tag = made["properties"]["tags"]
    jsonschema.validate(["vmxnet3"], tag)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(["Two words"], tag)
    with pytest.raises(BadRuleError, match="`Two words` is not a tag"):
        rules.parse(DATA.replace("vmxnet3,", "Two words,"), name="nn-ring.yaml")


@pytest.mark.size
def test_reports_leave_the_data_of_the_catalog_out(tmp_path: Path) -> None:
    """A finding's reader gets neither owner nor tags: case.json of a rule with them is that of the same rule without."""
    text = RING.read_text(encoding="utf-8").replace("rule: kb-2039495", "rule: nn-ring", 1)
    plain = write(tmp_path / "a" / "kb", "nn-ring", text)
    told = write(
        tmp_path / "b" / "kb", "nn-ring", text.replace("about:", "owner: NN\ntags: [x]\nabout:", 1)
    )
    found = []
    for path in (plain, told):
        case = kit.ROOT / "samples" / "cases" / "lab-ring-before"
        done = run(
            "triage", case, "--kb", path.parent, "--json", "-", "--no-settings", "--no-packs"
        )
        found.append(
            [one for one in json.loads(done.stdout)["findings"] if one["rule"] == "nn-ring"]
        )
    assert found[0] == found[1] and found[0]


@pytest.mark.size
def test_labels_and_findings_of_a_replaced_rule_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was confirmed of the old rule gives the precision of the new one, and the archive lists the old findings with it."""
    archive = Archive.open(tmp_path / "archive", create=True)
    held = kit.stored(archive, "lab-ring-before", kit.packed("lab-ring-before")[0])
    finding = next(one for one in archive.read_document(held).findings if one.rule == "kb-2039495")
    label = Label(
        held.id,
        "kb-2039495",
        finding.node,
        finding.subject,
        "confirmed",
        "2026-01-01T00:00:00Z",
    )
    archive.put_label(asdict(label))
    path = successor(tmp_path / "kb")
    words = (
        "rules",
        "backtest",
        path,
        "--archive",
        tmp_path / "archive",
        "--jobs",
        1,
        "--json",
        "--no-settings",
    )
    (report,) = json.loads(run(*words).stdout)
    assert [one["label"] for one in report["labels"]] == ["confirmed"]
    alone = write(
        tmp_path / "other",
        "nn-ring",
        path.read_text("utf-8").replace("replaces: [kb-2039495]\n", ""),
    )
    (report,) = json.loads(run(*words[:2], alone, *words[3:]).stdout)
    assert report["labels"] == []
    (tmp_path / "backline.toml").write_text('kb = ["kb"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command in ("list", "search"):
        found = run("archive", command, "--archive", "archive", "--rule", "nn-ring")
        assert "lab-ring-before" in found.stdout, found.output
    assert run("archive", "search", "--archive", "archive", "--rule", "nn-rang").exit_code == 2


def renamed(folder: Path) -> Path:
    """Store a case judged by `nn-old`, and one judged by `nn-ring`, which replaces it; return the folder of the rules."""
    text = RING.read_text(encoding="utf-8")
    kb = folder / "kb"
    for name, data in (("nn-old", ""), ("nn-ring", "replaces: [nn-old]\n")):
        own = text.replace("rule: kb-2039495", f"rule: {name}", 1).replace(
            "about:", f"{data}about:", 1
        )
        path = write(kb, name, own)
        shutil.copytree(
            kit.ROOT / "samples" / "cases" / "lab-ring-before", folder / "cases" / f"case-{name}"
        )
        done = run(
            "batch",
            folder / "cases",
            "--archive",
            folder / "archive",
            "--kb",
            kb,
            "--jobs",
            1,
            "--no-settings",
        )
        assert done.exit_code in (0, 5), done.output
        if name == "nn-old":
            path.unlink()
            shutil.move(folder / "cases" / "case-nn-old", folder / "case-nn-old")
    return kb


@pytest.mark.size
def test_the_heat_map_follows_the_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old findings stand in the column of the rule that replaces theirs, on the terminal, in the page and in serve."""
    kb = renamed(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ("archive", "heatmap", "--archive", "archive")
    apart = read_fleet(Archive.open("archive"))
    assert {rule.id for rule in apart.rules} >= {"nn-old", "nn-ring"}, "each case has its own rule"
    (tmp_path / "backline.toml").write_text('kb = ["kb"]\n', encoding="utf-8")
    successors = RunOptions().successors()
    assert successors == {**SHIPPED.successors(), "nn-old": ("nn-ring",)}
    found = read_fleet(Archive.open("archive"), FleetFilter(("nn-old",), successors=successors))
    assert [rule.id for rule in found.rules] == ["nn-ring"], "the former id asks for the rule"
    assert [case.cells for case in found.cases] == ["W", "W"] and {
        hit.count for hit in found.hits
    } == {1}
    assert found.filters[-1] == "Findings of nn-old count for nn-ring."
    told = run(*words, "--rule", "nn-ring").stdout
    assert (
        "Findings of nn-old count for nn-ring." in told
        and "case-nn-old" in told
        and "case-nn-ring" in told
    )
    run(*words, "-o", "out")
    page = (tmp_path / "out" / "fleet.html").read_text(encoding="utf-8")
    assert "Findings of nn-old count for nn-ring." in page and '"nn-old"' not in page
    serving = serving_at(tmp_path)
    serving.archive, serving.how = "archive", RunOptions((str(kb),), settings="", packs=False)
    with client_of(serving, library.library_routes) as client:
        assert "Findings of nn-old count for nn-ring." in client.get("/archive/heatmap").text
        (kb / "nn-ring.yaml").unlink()
        assert "counts for" not in client.get("/archive/heatmap").text, (
            "the rules are looked at each time"
        )


@pytest.mark.size
def test_a_rule_in_use_keeps_its_own_column(tmp_path: Path) -> None:
    """A rule that is still used is not shown under the id of another that says it replaces it."""
    found = replace(SHIPPED, kb=(str(successor(tmp_path / "kb").parent),)).successors()
    assert found == SHIPPED.successors() and "kb-2039495" not in found


@pytest.mark.size
def test_a_comparison_follows_the_successor(tmp_path: Path) -> None:
    """`rules diff` holds a rule against the one it replaces, when that is gone or retired."""
    old = tmp_path / "old"
    write(old, RING.stem, RING.read_text(encoding="utf-8"))
    done = run("rules", "diff", old, successor(tmp_path / "new").parent)
    assert done.exit_code == 0, done.output
    assert (
        "nn-ring (changed, was kb-2039495)" in done.stdout and "No finding differs." in done.stdout
    )


def test_a_replaced_rule_in_use_is_complained_of(tmp_path: Path) -> None:
    """R068 names each replaced rule that still judges, with its file; one that is retired or gone is fine."""
    write(
        tmp_path,
        "nn-old",
        DATA.replace("nn-ring", "nn-old", 1).replace("replaces: [nn-old-ring]\n", ""),
    )
    path = write(tmp_path, "nn-ring", DATA.replace("[nn-old-ring]", "[nn-gone, nn-old, nn-ring]"))
    found = [
        (one.code, one.message)
        for one in lint.check_files([tmp_path])
        if one.code in ("R060", "R068")
    ]
    assert found == [
        (
            "R068",
            f"rule `nn-old` is replaced by this one and is still in use ({tmp_path / 'nn-old.yaml'})",
        ),
        ("R060", "`replaces` names the rule itself"),
    ]
    old = tmp_path / "nn-old.yaml"
    write(tmp_path, "nn-old", old.read_text("utf-8") + "status: retired\nreplaced_by: nn-ring\n")
    assert "R068" not in [one.code for one in lint.check_files([path, old])]


GUIDE = (kit.ROOT / "docs" / "rule-guide.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("severity", SEVERITIES)
def test_the_examples_of_a_severity_in_the_guide_are_rules_that_use_it(severity: str) -> None:
    """Each severity has a row with at least one shipped rule, and that rule has an answer of this severity."""
    (row,) = [line for line in GUIDE.splitlines() if line.startswith(f"| `{severity}` |")]
    names = re.findall(r"\(`([a-z0-9-]+)`\)", row)
    assert names
    for name in names:
        rule = kit.catalog()[name]
        assert severity in {part.severity for part in (*rule.outcomes, *rule.grades)}, name


def test_a_stable_rule_shows_what_makes_it_stable(tmp_path: Path) -> None:
    """R069 names each mark that is missing; the shipped catalog has no stable rule, and a status alone makes none."""
    text = next(rules.default_paths()[0].rglob("beacon-probing.yaml")).read_text(encoding="utf-8")
    path = write(tmp_path, "beacon-probing", text.replace("about:", "status: stable\nabout:", 1))
    (told,) = [one.message for one in lint.check_files([path]) if one.code == "R069"]
    assert all(words in told for words in ("`checked`", "`proven`", "does not match"))
    assert {rule.status for rule in kit.catalog().rules} == {"test"}
    assert "No shipped rule is stable today" in GUIDE
