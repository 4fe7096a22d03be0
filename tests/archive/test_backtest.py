"""Rules over stored cases: counts, versions against each other, labels, what cannot be read, and how it is told."""

from __future__ import annotations

import json
import multiprocessing
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from analyzer import rules
from analyzer.archive.backtests import backtest
from analyzer.archive.backtests import text as backtest_text
from analyzer.archive.backtests.backtest import BacktestRequest
from analyzer.archive.backtests.jobs import BacktestHit, CaseSubject, Doubt
from analyzer.archive.backtests.report import BacktestReport, count_numbers, wilson_interval
from analyzer.archive.entries import Snapshot
from analyzer.archive.labels import Label
from analyzer.archive.query import browse
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.cli import main
from analyzer.judge import judge
from analyzer.rules import Catalog, Rule
from analyzer.runtime.errors import BacklineError
from tests.kit import archive_kit as kit

RING = "kb-2039495"  # matches in two of the samples: the ring before and after its remedy
KB = rules.default_paths()[0]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """An archive of the sample cases: half of them in a segment, the others loose."""
    archive = Archive.open(tmp_path_factory.mktemp("backtest") / "archive", create=True)
    for number, name in enumerate(kit.SAMPLES):
        kit.stored(archive, name, kit.packed(name)[0], stamp=number)
        if number == len(kit.SAMPLES) // 2:
            compact_archive(archive, all=True, older_than=0)
    return archive


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An archive of the two ring cases and a healthy one, for tests that change it."""
    made = Archive.open(tmp_path / "archive", create=True)
    for number, name in enumerate(("healthy-host", "lab-ring-after", "lab-ring-before")):
        kit.stored(made, name, kit.packed(name)[0], stamp=number)
    return made


def changed(tmp_path: Path, *pairs: tuple[str, str], rule: str = RING) -> Path:
    """Write a shipped rule with parts replaced; each must be there."""
    text = next(KB.rglob(f"{rule}.yaml")).read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    path = tmp_path / "rules" / f"{rule}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def never(tmp_path: Path) -> Path:
    """Write a version of the ring rule that never matches."""
    return changed(
        tmp_path, ("when: ring_full > 0 or rx.out_of_buffers > 0", "when: ring_full > 999999999999")
    )


def loaded(path: Path) -> Rule:
    """Return the rule of a file."""
    catalog = rules.load([path])
    assert not catalog.broken, [str(error) for error in catalog.broken]
    return catalog.rules[0]


def released(name: str = RING) -> Rule:
    """Return a shipped rule."""
    return kit.catalog()[name]


def one(archive: Archive, rule: Rule, before: Rule | None = None, **more: Any) -> BacktestReport:
    """Back-test one rule in this process."""
    return backtest.backtest_rules([BacktestRequest(rule, before)], archive, **{"jobs": 1, **more})[
        0
    ]


def label(
    archive: Archive,
    hit: BacktestHit,
    what: str = "confirmed",
    at: str = "2024-05-02T00:00:00Z",
    **more: Any,
) -> None:
    """Label a finding."""
    thing = hit.thing
    archive.put_label(asdict(Label(thing.id, RING, thing.node, thing.subject, what, at, **more)))


def run(*words: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["rules", "backtest", *map(str, words)], catch_exceptions=False)


# -- what it counts


@pytest.mark.size
def test_every_rule_is_told_as_when_each_case_is_judged_alone(shared: Archive) -> None:
    """Verdicts, findings and doubts over the archive are those of the sample cases, judged one by one."""
    catalog = kit.catalog()
    reports = backtest.backtest_rules(
        [BacktestRequest(rule, rule) for rule in catalog.rules], shared, jobs=1
    )
    materials = {name: kit.sample(name) for name in kit.SAMPLES}
    for rule, report in zip(catalog.rules, reports, strict=True):
        judged = {
            name: judge(Catalog([rule]), material.facts) for name, material in materials.items()
        }
        counts = [judgement.counts[rule.id] for judgement in judged.values()]
        assert {verdict: sum(own[verdict] for own in counts) for verdict in counts[0]} == {
            verdict: report.own.subjects[verdict] for verdict in counts[0]
        }
        found = {
            (hit.thing.case, hit.thing.node, hit.thing.subject, hit.severity, hit.say)
            for hit in report.hits
        }
        assert found == {
            (n, f.node, f.subject, f.severity, f.say) for n, j in judged.items() for f in j.findings
        }
        assert sum(doubt.subjects for doubt in report.cannot_tell) == sum(
            len(j.cannot_tell) for j in judged.values()
        )
        assert sum(report.own.cases.values()) == report.judged == report.stored == len(kit.SAMPLES)
        assert report.released == "same" and not report.compared


@pytest.mark.size
def test_processes_give_what_one_gives(shared: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the cases are parted among processes, the report is the same but for its times."""
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(backtest, "FEWEST", 2)
    some = [
        BacktestRequest(released(), None),
        BacktestRequest(released("cpu-limit-starves-vm"), None),
    ]
    alone = backtest.backtest_rules(some, shared, jobs=1)
    apart = backtest.backtest_rules(
        some, shared, jobs=2, progress=lambda done, total: told.append((done, total))
    )

    def timeless(report: BacktestReport) -> dict[str, Any]:
        found = report.to_record()
        return {
            name: value
            for name, value in found.items()
            if name not in ("seconds", "reading", "per_1000_ms")
        } | {name: {**found[name], "seconds": 0} for name in ("own", "before")}

    assert [timeless(report) for report in alone] == [timeless(report) for report in apart]
    assert (
        told[-1] == (len(kit.SAMPLES), len(kit.SAMPLES)) and told == sorted(told) and len(told) > 2
    )
    assert not multiprocessing.active_children()


def test_near_misses_and_evidence_are_shown(shared: Archive) -> None:
    """Cases without a finding tell how little was missing; some findings show the lines they rest on."""
    report = one(shared, released())

    assert report.near and all(
        near.distance in (1, 2) and "match if" in near.text for near in report.near
    )
    assert len({near.thing.case for near in report.near}) == len(report.near) <= report.near_cases
    assert report.samples and all(item.text and item.line for item in report.samples[0].evidence)


@pytest.mark.size
def test_cases_are_chosen_by_name_and_time(shared: Archive) -> None:
    """A glob and a stretch of time say which cases are meant; the others are counted as not looked at."""
    named = one(shared, released(), cases="lab-*")
    late = one(shared, released(), window=browse.parse_window("2030", ""))
    early = one(shared, released(), window=browse.parse_window("", "2030"))

    assert (named.seen, named.judged, {hit.thing.case for hit in named.hits}) == (
        2,
        2,
        {"lab-ring-after", "lab-ring-before"},
    )
    assert (late.seen, late.judged, late.hits) == (0, 0, [])
    assert 0 < early.seen <= len(kit.SAMPLES)
    assert "were not selected" in "\n".join(backtest_text.format_report(late))


def test_what_was_not_searched_stands_apart(archive: Archive, tmp_path: Path) -> None:
    """A signature that is new since the cases were stored is no lack of the customer's: a rescan helps."""
    text = """rule: made-new-line
title: A made-up line
each: host in esxi.version
subject: "{host.node}"
logs: {gone: {in: esxi.vmkernel, match: 'a made-up line nobody looked for'}}
seen: {often: {log: gone}}
when: often
outcomes: [{when: true, severity: major, say: found}]
"""
    path = tmp_path / "made-new-line.yaml"
    path.write_text(text, encoding="utf-8")
    report = one(archive, loaded(path))
    words = "\n".join(backtest_text.format_report(report))

    assert [doubt.missing for doubt in report.unsearched] == ["gone"]
    assert (
        report.unsearched[0].subjects + sum(d.subjects for d in report.cannot_tell)
        == report.own.subjects["cannot_tell"]
    )
    assert (
        f"backline batch PATH... --archive {report.archive} --rescan --kb {path}" in words
        and "`gone`" in words
    )
    assert ("until `backline batch --archive" in words) is report.draft


# -- versions


@pytest.mark.size
def test_the_same_version_is_not_compared(archive: Archive) -> None:
    """The released rule, given by id or as a copy of its file, has nothing to be compared with, and that is said."""
    report = one(archive, released(), released())

    assert (report.released, report.compared, report.gained, report.lost) == ("same", False, [], [])
    assert "this is the released version" in "\n".join(backtest_text.format_report(report))
    assert "no rule kb-2039495 is installed" in "\n".join(
        backtest_text.format_report(one(archive, released()))
    )


@pytest.mark.size
def test_gained_lost_and_changed_are_told_by_name(archive: Archive, tmp_path: Path) -> None:
    """Findings of one version only, and those of another severity, are named with what the other version says."""
    lost = one(archive, loaded(never(tmp_path)), released())
    assert lost.own.subjects["match"] == 0 and lost.before.subjects["match"] == len(lost.lost) > 0
    assert {hit.was for hit in lost.lost} == {"no match"}
    assert lost.flags == ["never"]

    gained = one(archive, released(), loaded(never(tmp_path)))
    assert [hit.thing for hit in gained.gained] == [hit.thing for hit in lost.lost]
    assert gained.flags == ["often"]

    text = next(KB.rglob(f"{RING}.yaml")).read_text(encoding="utf-8")
    pairs = [
        (f"severity: {name}", "severity: info")
        for name in ("critical", "major", "warning")
        if f"severity: {name}" in text
    ]
    mild = one(archive, loaded(changed(tmp_path, *pairs)), released())
    assert not mild.gained and not mild.lost
    assert mild.changed and all(
        hit.severity == "info" and not hit.was.startswith("info") for hit in mild.changed
    )


def test_another_wording_of_the_subject_is_pointed_out(archive: Archive, tmp_path: Path) -> None:
    """Where two versions name their subject otherwise, all is lost and gained; the report says why."""
    template = re.search(r"^subject: \"(.*)\"$", released().text.text, re.M)
    assert template is not None
    report = one(
        archive,
        loaded(changed(tmp_path, (template[0], f'subject: "also {template[1]}"'))),
        released(),
    )

    assert report.renamed and len(report.gained) == len(report.lost) > 0
    assert "under another name" in "\n".join(backtest_text.format_report(report))


# -- labels


@pytest.mark.size
def test_labels_give_the_precision(archive: Archive, tmp_path: Path) -> None:
    """Confirmed and rejected findings are counted; a confirmed one that is lost fails, and stands first."""
    kit.put(archive, "lab-ring-again", kit.sample("lab-ring-before"))
    hits = one(archive, released()).hits
    for hit in hits[:2]:
        label(archive, hit)
    label(archive, hits[2], "rejected")
    report = one(archive, released(), released())
    assert (report.numbers.confirmed, report.numbers.rejected) == (2, 1)
    assert report.numbers.unlabelled == len(hits) - 3
    assert report.numbers.precision == pytest.approx(2 / 3) and not report.has_failed
    assert [item.thing for item in report.made_rejected] == [hits[2].thing]

    worse = one(archive, loaded(never(tmp_path)), released())
    assert worse.has_failed and {item.thing for item in worse.lost_confirmed} == {
        hit.thing for hit in hits[:2]
    }
    assert worse.numbers.precision is None and worse.numbers_before == report.numbers
    assert next(line for line in [*backtest_text.format_report(worse)][2:] if line).startswith(
        "LOST: 2 findings"
    )

    back = one(archive, released(), loaded(never(tmp_path)))
    assert [item.thing for item in back.gained_rejected] == [hits[2].thing] and back.has_failed


@pytest.mark.size
def test_a_missed_finding_that_is_made_now_is_a_gain(archive: Archive, tmp_path: Path) -> None:
    """What an engineer said was missed counts as right when the rule makes it, and is still missed when not."""
    hit = one(archive, released()).hits[0]
    label(archive, hit, missed=True)
    found, missed = one(archive, released()), one(archive, loaded(never(tmp_path)))

    assert (found.numbers.missed_found, found.numbers.missed_still, found.numbers.precision) == (
        1,
        0,
        1.0,
    )
    assert (missed.numbers.missed_found, missed.numbers.missed_still, missed.has_failed) == (
        0,
        1,
        False,
    )
    assert "once missed, now found" in "\n".join(backtest_text.format_report(found))


@pytest.mark.size
def test_a_label_that_was_taken_back_counts_no_more(archive: Archive, tmp_path: Path) -> None:
    """The newest label of a finding counts; one that says «removed» takes it back."""
    hit = one(archive, released()).hits[0]
    label(archive, hit)
    label(archive, hit, "removed", "2024-06-01T00:00:00Z")

    assert not one(archive, loaded(never(tmp_path))).has_failed


@given(st.integers(1, 10_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_the_interval_holds_the_share(pair: tuple[int, int]) -> None:
    """Wilson's interval lies in 0 to 1 about the share, and is narrower the more was labelled."""
    right, of = pair
    low, high = wilson_interval(right, of)
    more = wilson_interval(right * 4, of * 4)

    assert 0.0 <= low <= right / of + 1e-9 and right / of - 1e-9 <= high <= 1.0
    assert more[1] - more[0] < high - low


def test_the_interval_is_the_one_of_the_books() -> None:
    """Eight of ten: 49.0 % to 94.3 %; none of five: up to 43.4 %."""
    assert wilson_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson_interval(0, 5) == pytest.approx((0.0, 0.4345), abs=1e-4)
    assert count_numbers([], 7).precision is None


# -- what goes wrong


@pytest.mark.size
def test_a_damaged_case_costs_itself_only(archive: Archive, tmp_path: Path) -> None:
    """A pack that cannot be read is named, the others are judged, and the command ends with 5."""
    bad = archive.take_snapshot().find_case("healthy-host")
    path = tmp_path / "archive" / bad.judged.holder
    path.write_bytes(path.read_bytes()[:2000])
    report = one(archive, released())

    assert [case for case, _, _ in report.damaged] == [bad.id]
    assert (report.judged, len({hit.thing.case for hit in report.hits})) == (2, 2)
    result = run(RING, "--archive", tmp_path / "archive", "--jobs", "1")
    assert result.exit_code == 5 and "CANNOT BE READ: 1 case" in result.output


@pytest.mark.size
def test_a_damaged_segment_does_not_stop_the_rest(shared: Archive, tmp_path: Path) -> None:
    """Where a file of a segment is broken its cases are named; loose cases beside it are judged."""
    archive = Archive.open(tmp_path / "archive", create=True)
    for number, name in enumerate(kit.SAMPLES[:6]):
        kit.stored(archive, name, kit.packed(name)[0], stamp=number)
    compact_archive(archive, all=True, older_than=0)
    kit.stored(archive, "lab-ring-before", kit.packed("lab-ring-before")[0], stamp=99)
    for path in (tmp_path / "archive" / "segments").glob("*/_nodes.parquet"):
        path.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    report = one(archive, released())

    assert {hit.thing.case for hit in report.hits} == {"lab-ring-before"}
    assert len(report.damaged) == len(archive.take_snapshot().list_visible_cases()) - 1


@pytest.mark.size
def test_a_compaction_meanwhile_takes_nothing_away(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases that a compaction moves after they were listed are found where they lie now."""
    expected = one(archive, released())
    before = archive.take_snapshot()
    before.list_visible_cases()
    compact_archive(archive, all=True, older_than=0)
    snapshots = iter([before])
    now: Snapshot = archive.take_snapshot()
    monkeypatch.setattr(Archive, "snapshot", lambda _self: next(snapshots, now))
    report = one(archive, released())

    assert (report.judged, report.damaged) == (3, [])
    assert report.hits == expected.hits


@pytest.mark.size
def test_a_process_that_dies_is_a_plain_error(
    shared: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the system kills a process, the run ends with what to do, and none is left behind."""
    monkeypatch.setattr(backtest, "FEWEST", 1)

    def kill(_done: int, _total: int) -> None:
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(BacklineError, match="ended unexpectedly") as said:
        backtest.backtest_rules([BacktestRequest(released(), None)], shared, jobs=2, progress=kill)
    assert "--jobs 1" in said.value.do


# -- the command


@pytest.mark.size
def test_the_command_prints_and_gives_json(archive: Archive, tmp_path: Path) -> None:
    """A file is held against the installed rule of its id; JSON has all that the text tells."""
    label(archive, one(archive, released()).hits[0])
    path, where = never(tmp_path), tmp_path / "archive"
    said = run(path, "--archive", where, "--jobs", "1")
    assert (
        said.exit_code == 0 and "LOST: 1 finding" in said.output and "Judging took" in said.output
    )
    assert run(path, "--archive", where, "--jobs", "1", "--fail-on-lost").exit_code == 1

    found = json.loads(run(path, "--archive", where, "--jobs", "1", "--json").stdout)[0]
    assert (
        found["failed"]
        and found["compared"]
        and len(found["lost"]) == found["before"]["subjects"]["match"]
    )
    assert found["lost_confirmed"][0]["now"] == "no match"


def test_a_broken_rule_ends_with_4(archive: Archive, tmp_path: Path) -> None:
    """A rule file with a mistake is told with its place, and no case is opened."""
    path = tmp_path / "made-bad.yaml"
    path.write_text("rule: made-bad\ntitle: [\n", encoding="utf-8")
    result = run(path, "--archive", tmp_path / "archive")

    assert result.exit_code == 4 and "made-bad.yaml" in result.output


def test_names_out_of_cases_cannot_speak_to_the_terminal() -> None:
    """Control signs in names, subjects and texts are shown, never sent."""
    thing = CaseSubject("a" * 32, "evil\x1b[2Jcase", "esx\n1", "vm\x07")
    hit = BacktestHit(thing, "major", "likely", "say\x1b]0;title\x07", "no\rmatch")
    report = BacktestReport(
        "made-up", "Made\x1bup", "", "", "path\x1b", compared=True, stored=1, seen=1, judged=1
    )
    report.hits, report.gained, report.lost = [hit], [hit], [hit]
    report.damaged = [("b" * 32, "name\x1b", "why\n\x1b")]
    report.cannot_tell = [Doubt("missing", "x\x1b", "ask\x07", "", 1, 1, "case\x1b")]
    report.own.subjects["cannot_tell"] = 1
    text = "\n".join(backtest_text.format_report(report))

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert "esx\n1" not in text
