"""The version of a host is one value, whatever a bundle's many places state. All files are synthetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer import rules
from analyzer.cli import main
from analyzer.pipeline import examples

RULE = """\
rule: old-release
title: The host runs a release that has the fault
source: synthetic
status: test
revised: 2026-11-21
about: A made-up rule.
each: host in esxi.release
subject: "{host.node}"
when: host.version < "6.7.0"
outcomes:
  - {when: true, severity: warning, confidence: exposed, say: "It runs {host.version} build {host.build}, {host.release}."}
evidence: [host.version, host.others]
fix: [{where: host, do: Upgrade.}]
ask: vmware -vl
"""
NAMED = "VMware ESXi 6.7.0 build-8169922\nVMware ESXi 6.7.0 GA\n"
BOOT = "bootstate=0\nkernel=b.b00\nbuild=6.5.0-0.0.4564106\nupdated=1\n"


def triaged(tmp_path: Path, files: dict[str, str]) -> dict[str, Any]:
    """Triage the folder of a bundle; return case.json."""
    for name, text in {"README": "", **files}.items():
        path = tmp_path / "esx-esx01-2018-06-01--10.00-1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "old-release.yaml").write_text(RULE)
    asked = [
        "triage",
        str(tmp_path / "esx-esx01-2018-06-01--10.00-1"),
        "--kb",
        str(tmp_path / "kb"),
        "-o",
        str(tmp_path / "out"),
    ]
    result = CliRunner().invoke(main, asked, catch_exceptions=False)
    assert result.exit_code in (0, 1, 5), result.output
    found: dict[str, Any] = json.loads((tmp_path / "out" / "case.json").read_text())
    return found


def says(case: dict[str, Any]) -> list[str]:
    """Return what the rule says of the case."""
    return [one["say"] for one in case["findings"] if one["rule"] == "old-release"]


def test_the_running_system_decides_and_the_contradiction_is_a_warning(tmp_path: Path) -> None:
    """`boot.cfg` still names 6.5; `vmware -vl` says 6.7, and that is what rules compare. The other is told as a warning."""
    case = triaged(tmp_path, {"commands/vmware_-vl.txt": NAMED, "bootbank/boot.cfg": BOOT})

    assert says(case) == []
    (node,) = case["nodes"]
    assert (node["version"], node["build"]) == ("6.7.0", "8169922")
    assert any("6.5.0" in warning for warning in node["warnings"])


def test_without_the_running_system_the_next_place_counts(tmp_path: Path) -> None:
    """Only `boot.cfg` came: its version is the host's, with the line it stands on."""
    case = triaged(tmp_path, {"bootbank/boot.cfg": BOOT})

    assert says(case) == ["It runs 6.5.0 build 4564106, ESXi 6.5 GA."]
    (finding,) = [one for one in case["findings"] if one["rule"] == "old-release"]
    assert [
        (item["address"].rpartition("/")[2], item["line"]) for item in finding["evidence"][:1]
    ] == [("boot.cfg", 3)]


@pytest.mark.parametrize(
    ("stated", "result"),
    [
        ('[{version: "6.5.0", rank: 8}, {version: "6.7.0", rank: 1}]', "no_match"),
        ('[{version: "6.7.0", rank: 8}, {version: "6.5.0", rank: 1}]', "match"),
        ('[{version: "6.10.0", rank: 1}, {version: "6.5.0", rank: 2}]', "no_match"),
        ("null", "cannot_tell"),
        ("[{build: 1, rank: 1}]", "cannot_tell"),
    ],
)
def test_the_most_trusted_statement_is_the_one_that_is_compared(stated: str, result: str) -> None:
    """Of hand-made statements the rank decides; without any the version is not known."""
    text = (
        RULE
        + f"""\
examples:
  - name: by hand
    tables: {{esxi.version: {stated}}}
    expect: {{result: {result}}}
  - name: the release itself by hand
    tables: {{esxi.release: [{{version: "6.5.0"}}]}}
    expect: {{result: match}}
"""
    )
    for one in examples.run(rules.parse(text)):
        assert one.ok, one
