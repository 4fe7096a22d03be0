"""What a new user trips over with the peers of this tool, each as a test of ours."""

from __future__ import annotations

import html
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.pipeline.triage import Options, triage

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"

NET_STATS = (
    "[root@esx0:~] net-stats -l\n"
    "PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
    "33554464            5       9 vSwitch0         00:50:56:a6:55:f4  lin-rx.eth0\n"
)


def judged(tmp_path: Path, text: str, rule: str = "", name: str = "mine") -> dict[str, Any]:
    """Triage one pasted text, with one more rule, and return the case document."""
    (tmp_path / "case").mkdir(exist_ok=True)
    (tmp_path / "case" / "paste.txt").write_text(text, encoding="utf-8")
    kb = []
    if rule:
        (tmp_path / "kb").mkdir(exist_ok=True)
        (tmp_path / "kb" / f"{name}.yaml").write_text(rule, encoding="utf-8")
        kb = [tmp_path / "kb"]
    return triage([tmp_path / "case"], Options(kb=kb)).document


def rules_of(document: dict[str, Any], part: str) -> set[str]:
    """Return the rules named in a part of the document."""
    if part == "cannot_tell":
        return {rule for group in getattr(document, part) for rule in group.rules}
    return {item.rule for item in getattr(document, part)}


RULE = """rule: mine
title: A rule of a test
status: test
each: p in esxi.net_stats
join:
  rx: {{table: esxi.vmxnet3_rx_summary, by: [port_id]}}
subject: "{{p.client_name}}"
when: {when}
outcomes:
  - {{when: true, severity: warning, confidence: likely, say: "a sign"}}
ask: the dump
"""


def test_1_a_missing_file_never_makes_a_not_rule_fire(tmp_path: Path) -> None:
    """`not (x > 0)` over a dump that was not sent is «cannot tell», not a finding."""
    document = judged(tmp_path, NET_STATS, RULE.format(when="not (rx.ring1_full > 0)"))

    assert "mine" not in rules_of(document, "findings")
    assert "mine" in rules_of(document, "cannot_tell")


def test_2_one_invalid_pattern_costs_only_its_own_rule(tmp_path: Path) -> None:
    """A rule with a broken regex is reported and every other rule is judged as without it."""
    broken = RULE.format(when="true") + "logs:\n  x: {in: esxi.vmkernel, match: '(unclosed'}\n"
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "mine.yaml").write_text(broken, encoding="utf-8")
    case = CASES / "lab-ring-before"
    alone = triage([case])
    beside = triage([case], Options(kb=[tmp_path / "kb"]))

    assert not alone.broken_rules
    assert len(beside.broken_rules) == 1
    assert "mine.yaml" in beside.broken_rules[0]
    judged = [finding for finding in beside.document.findings if finding.verdict != "error"]
    assert judged == alone.document.findings
    assert [f.rule for f in beside.document.findings if f.verdict == "error"] == ["mine"]


def test_3_a_misspelt_key_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    """`whenn:` is not passed over: file, line and the right word are named."""
    (tmp_path / "mine.yaml").write_text(
        RULE.format(when="true").replace("when:", "whenn:", 1), encoding="utf-8"
    )
    outcome = triage([CASES / "lab-ring-after"], Options(kb=[tmp_path]))

    assert re.search(r"mine\.yaml:8.*whenn", outcome.broken_rules[0], re.DOTALL)
    assert "did you mean `when`" in outcome.broken_rules[0]


def test_5_a_member_with_a_path_upwards_writes_nothing(tmp_path: Path) -> None:
    """A tar member named ../marker.txt leaves no file anywhere."""
    (tmp_path / "in").mkdir()
    bundle = tmp_path / "in" / "case.tgz"
    with tarfile.open(bundle, "w:gz") as tar:
        for name in ("../marker.txt", "/marker2.txt", "ok.txt"):
            data = NET_STATS.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    before = set(tmp_path.rglob("*"))
    document = triage([bundle]).document

    assert set(tmp_path.rglob("*")) == before
    assert not Path("/marker2.txt").exists()
    assert document.nodes


def test_7_the_report_needs_no_network(tmp_path: Path) -> None:
    """report.html loads nothing: no src, link or import of an address."""
    CliRunner().invoke(
        main, ["triage", str(CASES / "lab-ring-before"), "-o", str(tmp_path), "--quiet"]
    )
    page = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert not re.search(r"""(?:\bsrc|<link[^>]+href)\s*=\s*["']?(?:https?:)?//""", page)
    assert "@import" not in page
    assert "default-src 'none'" in html.unescape(page)


@pytest.mark.process
def test_8_the_analysts_machine_never_shows_in_the_case(tmp_path: Path) -> None:
    """Without PATH, HOME and locale the case document is the same, byte for byte."""
    normal = tmp_path / "normal"
    bare = tmp_path / "bare"
    command = [
        sys.executable,
        "-m",
        "analyzer",
        "triage",
        str(CASES / "config-traps"),
        "--quiet",
        "-o",
    ]
    for folder, environment in ((normal, dict(os.environ)), (bare, {"PATH": "", "LC_ALL": "C"})):
        subprocess.run(
            [*command, str(folder)], cwd=ROOT, env=environment, check=True, capture_output=True
        )

    assert (normal / "case.json").read_bytes() == (bare / "case.json").read_bytes()


def test_9_the_report_says_whether_it_is_masked(tmp_path: Path) -> None:
    """Nothing pretends to be masked: the document and the report say that names are shown."""
    document = judged(tmp_path, NET_STATS)

    assert document.case.masked is False


def test_10_a_comma_in_a_vm_name_keeps_its_counters_apart() -> None:
    """«lin-db,02 (prod)» of the sample capture has its own rows under its whole name."""
    done = CliRunner().invoke(
        main, ["tables", str(CASES / "cpu-limited-vm"), "esxtop.vm", "--json"]
    )
    names = {
        json.loads(line)["vm_name"]: json.loads(line)["vcpus"] for line in done.stdout.splitlines()
    }

    assert names == {"lin-app07": 1, "lin-db,02 (prod)": 4}


@pytest.mark.size
def test_11_large_texts_inside_archives_are_read() -> None:
    """A command file of several hundred kilobytes inside an archive is parsed to its last row."""
    done = CliRunner().invoke(
        main, ["tables", str(CASES / "nsx-633-site"), "nsx.dlr_arp", "--json"]
    )

    assert len(done.stdout.splitlines()) == 5120 + 4710


def test_11_a_healthy_host_has_no_finding() -> None:
    """Hit counts make no severity: the healthy host's log lines lead to no finding; its old build has known faults."""
    found = triage([CASES / "healthy-host"]).document.findings
    assert {(one.rule, one.severity, one.confidence) for one in found} <= {
        ("esxi-defect", "info", "exposed")
    }


def test_12_the_commands_of_the_readme_exist() -> None:
    """Every make target and every backline command that the README shows exists."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in set(re.findall(r"^make (\w+)", readme, re.MULTILINE)):
        assert f"\n{target}:" in makefile
    for command in set(re.findall(r"`backline ([a-z]+)[ `]", readme)):
        assert command in main.list_commands(click.Context(main))
    for page in re.findall(r"\]\(([\w./-]+\.(?:md|json|png))\)", readme):
        assert (ROOT / page).exists(), page
