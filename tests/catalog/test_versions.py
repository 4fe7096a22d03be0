"""What the tables of releases say of a host: every release gets one of four answers, and none is silent."""

from __future__ import annotations

import json
from functools import cache

import pytest
from click.testing import CliRunner

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.case.verdicts import Judgement
from analyzer.cli import main
from analyzer.facts import Facts
from analyzer.facts.database import version_key
from tests.kit.rule_kit import Kit

Cells = dict[str, object]
JUDGING = ("esxi-advisory", "esxi-end-of-support")


@cache
def rows_of(table: str) -> list[Cells]:
    """Return the rows of a table of the catalog."""
    return [dict(row) for row in rules.load().tables[table].own_rows]


def is_open(row: Cells, version: str, build: int) -> bool:
    """Say whether a row of the advisories holds a version and build, by the meaning of its columns."""
    own, since, until = (version_key(str(one)) for one in (version, row["since"], row["until"]))
    assert own is not None and since is not None and until is not None
    below = row.get("fixed_build") is None or build < int(str(row["fixed_build"]))
    return since <= own <= until and (own < until or below)


def judge_hosts(hosts: dict[str, tuple[str, int]], captured: str = "") -> Judgement:
    """Return the verdicts of the rules of releases over hosts, each with a version and a build."""
    tables = parsing.tables()
    kit = Kit()
    kit.facts = Facts(tables)
    for name, (version, build) in hosts.items():
        kit.facts.node(name, name, "esxi")
        kit.add(tables["esxi.release"], [{"version": version, "build": build}], node=name)
        if captured:
            taken = {"bundle_name": name, "captured": captured}
            kit.add(tables["esxi.bundle"], [taken], node=name)
    catalog = rules.load()
    return kit.judge(*(catalog[one] for one in JUDGING))


@cache
def shipped_hosts() -> dict[str, tuple[str, int]]:
    """Return a host for each build that the catalog lists."""
    return {
        f"h{row['build']}": (str(row["product_version"]), int(str(row["build"])))
        for row in rows_of("kb.esxi_build")
    }


@cache
def shipped_verdicts() -> Judgement:
    """Return the verdicts over a host for each build that the catalog lists."""
    return judge_hosts(shipped_hosts())


def test_each_shipped_build_is_affected_or_fixed_or_cannot_be_told() -> None:
    """The finding counts the rows that hold the build; a line without a row cannot be told and is not clean."""
    judged = shipped_verdicts()
    told = {one.node: one.say for one in judged.findings if one.rule == "esxi-advisory"}
    doubts = {one.node for one in judged.cannot_tell if one.rule == "esxi-advisory"}
    spoken = {str(row["line"]) for row in rows_of("kb.esxi_advisory")}
    for name, (version, build) in shipped_hosts().items():
        missing = sum(is_open(row, version, build) for row in rows_of("kb.esxi_advisory"))
        if version[:3] not in spoken:
            assert name in doubts and name not in told, version
        elif missing:
            words = "fix" if missing == 1 else "fixes"
            assert f"lacks {missing} {words}" in told[name], (version, build)
        else:
            assert name not in told and name not in doubts, (version, build)
    assert len(told) > 200


def test_each_shipped_build_belongs_to_a_line_whose_support_is_known_or_open() -> None:
    """The line of every listed build has a row, which tells the end of support or says that none is known."""
    judged = shipped_verdicts()
    ended = {one.node for one in judged.findings if one.rule == "esxi-end-of-support"}
    lines = {str(row["line"]): row for row in rows_of("kb.esxi_line")}
    for row in rows_of("kb.esxi_build"):
        line = lines[str(row["line"])]
        general = line.get("general")
        assert (f"h{row['build']}" in ended) is (general is not None and str(general) < "2026"), row
    assert not [one for one in judged.cannot_tell if one.rule == "esxi-end-of-support"]


@pytest.mark.parametrize(
    "host", [("8.0.3", 99_000_000), ("9.9.0", 99_000_000), ("7.0.4", 24_784_742)]
)
def test_a_release_newer_than_the_catalog_is_never_clean(host: tuple[str, int]) -> None:
    """A build or a version that no row reaches cannot be told, and the reason names the day of the catalog."""
    judged = judge_hosts({"esx1": host})
    (doubt,) = [one for one in judged.cannot_tell if one.rule == "esxi-advisory"]

    assert "newer than Backline's catalog of 2" in doubt.why
    assert [one for one in judged.findings if one.rule == "esxi-advisory"] == []


def test_the_newest_build_of_a_line_lacks_no_fix_that_its_line_has() -> None:
    """The step that the rule gives leads to a build that no row with a fix holds."""
    for line in rows_of("kb.esxi_line"):
        build = int(str(line["newest_build"]))
        listed = {int(str(row["build"])): row for row in rows_of("kb.esxi_build")}
        version = str(listed[build]["product_version"])
        assert str(listed[build]["line"]) == line["line"]
        left = [row for row in rows_of("kb.esxi_advisory") if is_open(row, version, build)]
        assert [row["advisory"] for row in left if row.get("fixed_build") is not None] == []


def test_every_range_lies_inside_its_line() -> None:
    """No row of advisories, faults or lines reaches beyond one release line, and since is not above until."""
    for table in ("kb.esxi_advisory", "kb.esxi_defect", "kb.esxi_line"):
        for row in rows_of(table):
            since, until = str(row["since"]), str(row["until"])
            assert since[:3] == until[:3] == str(row["line"])[:3], row
            assert since <= until, row


def test_a_host_is_one_finding_however_many_advisories_are_open() -> None:
    """Two rules speak of releases; each says one thing of a host."""
    judged = judge_hosts({"esx1": ("6.7.0", 8169922)}, captured="2026-06-30 00:00:00")
    assert sorted(one.rule for one in judged.findings) == sorted(JUDGING)


def test_what_came_after_the_capture_is_not_held_against_it() -> None:
    """A host of 2017 is told nothing of later advisories and of an end of support that lay ahead."""
    judged = judge_hosts({"esx1": ("6.5.0", 5969303)}, captured="2017-10-14 16:53:00")
    assert judged.findings == [] and judged.cannot_tell == []


def test_one_command_tells_what_the_catalog_knows() -> None:
    """Each table with its rows, its releases, its newest day and the day it was checked."""
    done = CliRunner().invoke(main, ["rules", "catalog", "--json", "--no-settings", "--no-packs"])
    assert done.exit_code == 0, done.output
    listed = {row["table"]: row for row in map(json.loads, done.output.splitlines())}
    lines = listed["kb.esxi_line"]
    assert (lines["rows"], lines["knows"]) == (len(rows_of("kb.esxi_line")), "5.0 to 9.1 (10)")
    assert listed["kb.esxi_advisory"]["newest"] >= "2026-07-29"
    assert listed["kb.esxi_build"]["checked"] >= "2026-11-29"
    shown = CliRunner().invoke(main, ["rules", "catalog", "--no-settings", "--no-packs"])
    assert len(shown.output.splitlines()) == len(listed) + 1


def test_each_shipped_release_of_nsx_gets_an_answer() -> None:
    """Of every listed release the rows that hold it are counted; without a day of capture nothing is said."""
    tables = parsing.tables()
    listed = {str(row["version"]) for row in rows_of("kb.nsx_build") if row["product"] == "NSX"}
    for captured in ("2026-06-30 00:00:00", ""):
        kit = Kit()
        kit.facts = Facts(tables)
        for version in listed:
            kit.facts.node(version, version, "nsxt_manager")
            kit.add(tables["nsxt.node"], [{"version": version}], node=version)
        if captured:
            kit.facts.node("esx1", "esx1", "esxi")
            kit.add(tables["esxi.bundle"], [{"bundle_name": "b", "captured": captured}])
        judged = kit.judge(rules.load()["nsxt-advisory"])
        told = {one.node: one.say for one in judged.findings}
        assert judged.cannot_tell == []
        for version in listed:
            own = version_key(version) or ""
            missing = sum(
                (version_key(str(row["since"])) or "")
                <= own
                < (version_key(str(row["fixed"])) or "")
                for row in rows_of("kb.nsx_advisory")
                if row["product"] == "NSX"
            )
            assert (version in told) is (missing > 0 and bool(captured)), version
            assert not told.get(version) or f"lacks {missing} fix" in told[version]
