"""`rules profile`: what each rule costs on a case, searching and judging apart."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer import rules
from analyzer.authoring.explain import profile as profiling
from analyzer.authoring.explain import profile_text
from analyzer.authoring.explain.profile import Cost, Profile, list_slow, make_record, profile_rules
from analyzer.cli import main
from analyzer.scan.blocks import Readable, pass_on

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "samples" / "cases" / "nsx-633-site"
RULE = """\
rule: NAME
title: A made-up question to a log
each: mgr in nsx.manager
subject: NSX Manager
logs:
  line: {in: esxi.vmkernel, match: 'PATTERN'}
when: line
outcomes:
  - {when: true, severity: info, confidence: possible, say: "{line.count} lines"}
"""


def run(*args: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(
        main, ["rules", "profile", *args, "--no-settings", "--no-packs"], catch_exceptions=False
    )


@pytest.fixture(scope="module")
def site() -> Profile:
    """Return the profile of the sample site with all rules."""
    return profile_rules([SITE], rules.load())


def test_every_rule_has_its_row_and_the_dearest_comes_first(site: Profile) -> None:
    """All rules of the catalog are timed; they stand in order of what they cost."""
    assert {cost.rule for cost in site.costs} == {rule.id for rule in rules.load().rules}
    assert [cost.total for cost in site.costs] == sorted(
        (cost.total for cost in site.costs), reverse=True
    )


def test_verdicts_are_those_of_the_judge(site: Profile) -> None:
    """A timed judgement counts what a triage of the same case counts."""
    by = {cost.rule: cost for cost in site.costs}

    assert by["kb-2151719"].verdicts == {"match": 1}
    assert by["kb-2151719"].lines > 0
    assert by["kb-2151719"].hits >= 12
    assert (
        2 <= by["nsx-1970527"].rows < 100
    )  # an ARP table of each host is one row, whatever it holds


def test_the_parts_of_judging_add_up(site: Profile) -> None:
    """Subjects, details and the rest are the whole of judging; a rule without a query has only the rest."""
    for cost in site.costs:
        assert cost.subjects + cost.details + cost.rest == pytest.approx(cost.judge, abs=0.05)
    assert next(cost for cost in site.costs if cost.rule == "kb-2151719").subjects > 0


def test_a_rule_without_signatures_searches_nothing(site: Profile) -> None:
    """Searching is put down to those who search."""
    catalog = rules.load()
    for cost in site.costs:
        assert cost.search == 0.0 or catalog[cost.rule].logs


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a made-up log of one and a half megabytes, and two rules over it: one pattern never there, one on every line."""
    folder = tmp_path_factory.mktemp("log")
    kb = tmp_path_factory.mktemp("kb")
    lines = (
        f"2017-10-14T10:{n // 60 % 60:02d}:{n % 60:02d}.000Z cpu1:33000)made-up line {n}\n"
        for n in range(30_000)
    )
    (folder / "vmkernel.log").write_text("".join(lines), encoding="utf-8")
    for name, pattern in (("never-there", "absent literal"), ("every-line", r"made-up line \d+$")):
        text = RULE.replace("NAME", name).replace("PATTERN", pattern)
        (kb / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder, kb


@pytest.mark.size
def test_a_signature_on_every_line_costs_more_than_one_never_there(
    logged: tuple[Path, Path],
) -> None:
    """The time of searching is each rule's own, although one pass serves both."""
    folder, kb = logged
    found = profile_rules([folder], rules.load([kb]))
    by = {cost.rule: cost for cost in found.costs}

    assert by["every-line"].hits == 30_000
    assert by["never-there"].hits == 0
    assert by["every-line"].search > 4 * by["never-there"].search
    assert by["every-line"].search / 1000 < 20 * found.logs
    assert found.measured == found.log_bytes


@pytest.mark.size
def test_more_log_than_is_kept_is_scaled(
    logged: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large log a part is searched again and the time scaled by bytes: about that of the whole."""
    folder, kb = logged
    whole = {cost.rule: cost.search for cost in profile_rules([folder], rules.load([kb])).costs}
    monkeypatch.setattr(profiling, "KEPT", 1 << 20)
    found = profile_rules([folder], rules.load([kb]))
    part = {cost.rule: cost.search for cost in found.costs}

    assert found.measured < found.log_bytes / 4
    assert whole["every-line"] / 10 < part["every-line"] < whole["every-line"] * 10
    assert "scaled up" in "\n".join(
        line.text for line in profile_text.write_lines(found, found.costs)
    )


def test_a_source_that_is_kept_is_still_the_same_source() -> None:
    """Keeping the first bytes changes nothing of what is read, file or pieces, and minds why it ended."""

    class Cut(io.BytesIO):
        cut = "the archive ended here"

    first = profiling._FirstBytes(4)
    member = pass_on(Cut(b"0123456789"), first.keep_piece)
    assert isinstance(member, Readable)
    buffer = bytearray(7)

    assert (member.readinto(buffer), bytes(buffer), bytes(first.kept)) == (7, b"0123456", b"0123")
    assert member.cut == Cut.cut  # type: ignore[attr-defined]
    first = profiling._FirstBytes(4)
    pieces = pass_on([b"01", b"234"], first.keep_piece)
    assert not isinstance(pieces, Readable)
    assert ([*pieces], bytes(first.kept)) == ([b"01", b"234"], b"0123")


def test_only_slow_rules_are_shown_without_all() -> None:
    """Below ten milliseconds a rule is left out, and counted; --all shows it."""
    costs = [Cost("slow", judge=9.0, search=2.0), Cost("quick", judge=9.9)]
    found = Profile(costs, 1.0, 0.5, 10, 10, 1, 0.1)
    said = "\n".join(line.text for line in profile_text.write_lines(found, list_slow(costs)))

    assert [cost.rule for cost in list_slow(costs)] == ["slow"]
    assert "1 rules below 10 ms are left out" in said
    assert "quick" in "\n".join(line.text for line in profile_text.write_lines(found, costs))


@pytest.mark.size
def test_the_command_prints_a_table_of_all_rules() -> None:
    """The command prints what is shared, one row a rule and what the columns are."""
    done = run(str(SITE), "--all")

    assert done.exit_code == 0
    assert done.stdout.startswith("reading the case  ")
    rows = [line for line in done.stdout.splitlines() if line.startswith("kb-2151719 ")]
    assert len(rows) == 1
    assert rows[0].endswith("1 match")
    assert "one pass serves all rules" in done.stdout


@pytest.mark.size
def test_json_holds_the_same() -> None:
    """--json prints one document with the shared times and a record a rule."""
    document = json.loads(run(str(SITE), "--all", "--json").stdout)

    assert {"read", "logs", "log_bytes", "fill", "rules"} <= document.keys()
    assert {"rule", "total", "search", "judge", "subjects", "rows", "verdicts"} <= document[
        "rules"
    ][0].keys()
    assert len(document["rules"]) == len(rules.load().rules)


@pytest.mark.process
def test_a_record_leaves_out_what_was_not_asked_for(site: Profile) -> None:
    """The JSON of some rules holds those and no other."""
    assert [row["rule"] for row in make_record(site, site.costs[:1])["rules"]] == [
        site.costs[0].rule
    ]


@pytest.mark.size
def test_a_broken_rule_is_reported_and_the_others_are_timed(tmp_path: Path) -> None:
    """One invalid file ends with 4 and its place, after the table of the others."""
    (tmp_path / "bad.yaml").write_text("rule: bad\nwhen: [", encoding="utf-8")
    done = run(str(SITE), "--kb", str(tmp_path), "--all")

    assert done.exit_code == 4
    assert "bad.yaml" in done.stderr
    assert "kb-2151719" in done.stdout
