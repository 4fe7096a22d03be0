"""`rules diff`: two versions of a catalog held against each other by what they find, as folders and as commits."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzer.archive.store import Archive
from analyzer.cli import main
from tests.kit import archive_kit as kit

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
# Synthetic, in the form of vobd.log.
EVENT = (
    "2017-10-14T15:15:01.213Z: [scsiCorrelator] 3536701000801us: [esx.problem.scsi.device.io.latency.high] Device naa.6{n} "
    "performance has deteriorated. I/O latency increased from average value of 16880 microseconds to {us} microseconds."
)
RULE = """rule: {id}
title: {title}
source: made up for a test
status: {status}
revised: 2026-11-22
about: Made up.
each: dev in late per device
join:
  hit: {{table: late, by: [device], rows: many}}
{join}subject: "{{dev.device}}"
logs:
  late:
    in: esxi.vobd
    match: 'io\\.latency\\.high\\] Device (?P<device>\\S+) performance .* to (?P<us>\\d+) microseconds'
    columns: {{us: int}}
let:
  bar: {bar}
  worst: max(hit.us)
when: worst >= bar{also}
outcomes:
  - {{when: true, severity: {severity}, confidence: likely, say: "{{worst}} microseconds"}}
examples:
  - name: two seconds
    logs:
      esxi.vobd: |
        {event}
    expect: {{result: match}}
"""
BASE = {"id": "slow-device", "title": "A device answers slowly", "status": "test", "bar": "1000000", "also": "",
        "severity": "major", "join": "", "event": EVENT.format(n=1, us=2000000)}  # fmt: skip


def rule(folder: Path, name: str = "slow-device", **over: str) -> Path:
    """Write a rule with parts replaced."""
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RULE.format(**{**BASE, "id": name, **over}), encoding="utf-8")
    return path


def bundle(path: Path, *us: int) -> Path:
    """Write a case of one host: a vobd.log with an event of each latency, each of another device."""
    log = path / "esx-host" / "var" / "run" / "log" / "vobd.log"
    log.parent.mkdir(parents=True)
    log.write_text(
        "\n".join(EVENT.format(n=n, us=one) for n, one in enumerate(us)) + "\n", encoding="utf-8"
    )
    return path


def run(*words: object, code: int | None = None) -> Result:
    """Run the command."""
    done = CliRunner().invoke(main, ["rules", "diff", *map(str, words)], catch_exceptions=False)
    assert code is None or done.exit_code == code, done.output
    return done


def record(*words: object, code: int | None = None) -> dict[str, Any]:
    """Return what the command says to programs."""
    found: dict[str, Any] = json.loads(run(*words, "--format", "json", code=code).stdout)
    return found


def git(folder: Path, *words: str) -> None:
    """Run git in a folder."""
    name = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *name, *words], check=True, capture_output=True)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Return two folders with the same rule."""
    rule(tmp_path / "old")
    rule(tmp_path / "new")
    return tmp_path / "old", tmp_path / "new"


# -- what differs


def test_a_moved_threshold_gains_and_loses_findings_by_name(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    """A lower bar gains the device between the bars, a higher one loses it; the number before and now is named."""
    old, new = two
    rule(new, bar="500000")
    case = bundle(tmp_path / "case", 700000, 2000000, 100)
    text = run(old, new, case, code=1).stdout
    assert "threshold bar: 1e+06 before, 500000 now" in text
    assert "/ naa.60: major, likely: 700000 microseconds (before: no match)" in text
    assert "2 findings alike" in text, "naa.61 of the case and the example"
    back = record(new, old, case, code=1)
    (one,) = back["rules"]
    assert [(hit["subject"], hit["was"]) for hit in one["lost"]] == [("naa.60", "no match")]
    assert back["count"] == {"lost": 1, "gained": 0, "changed": 0, "unsure": 0, "settled": 0}


def test_another_severity_is_a_change(two: tuple[Path, Path], tmp_path: Path) -> None:
    """A finding with another severity is changed, neither lost nor gained; the rule's own example shows it without a case."""
    old, new = two
    rule(new, severity="warning")
    found = record(old, new, code=1)
    (hit,) = found["rules"][0]["changed"]
    assert (hit["case"], hit["severity"], hit["was"]) == (
        "example: two seconds",
        "warning",
        "major, likely",
    )
    assert found["count"]["lost"] == found["count"]["gained"] == 0
    assert found["examples"] == 3, "its own, and those of a log that is missing or cut"


def test_what_cannot_be_told_any_more_is_named(two: tuple[Path, Path], tmp_path: Path) -> None:
    """A rule that asks for a table the case lacks loses its finding and leaves the quiet device in doubt, with the reason."""
    old, new = two
    rule(new, join="  host: {table: esxi.version, by: []}\n", also=' and host.version < "6.7.0"')
    rule(old, bar="300000")
    rule(
        new,
        bar="300000",
        join="  host: {table: esxi.version, by: []}\n",
        also=' or host.version < "6.7.0"',
    )
    case = bundle(tmp_path / "case", 200, 2000000)
    found = record(old, new, case, code=1)
    (one,) = found["rules"]
    told = [
        (hit["subject"], hit["was"])
        for hit in one["unsure"]
        if not hit["case"].startswith("example")
    ]
    assert told == [("naa.60", "no match")]
    assert "esxi.version" in one["unsure"][-1]["say"] and one["kept"] == 2 and not one["lost"]
    assert record(new, old, case, code=1)["count"]["settled"] == 1
    assert run(old, new, case, "--fail-on", "lost").exit_code == 0
    assert run(old, new, case, "--fail-on", "lost", "--fail-on", "unsure").exit_code == 1
    assert run(old, new, case, "--fail-on", "none").exit_code == 0


def test_texts_and_layout_move_nothing(two: tuple[Path, Path], tmp_path: Path) -> None:
    """Another title is named and judges nothing; a comment and another layout are the same rule."""
    old, new = two
    rule(new, title="A device is slow to answer")
    case = bundle(tmp_path / "case", 2000000)
    found = record(old, new, case, code=0)
    assert [(one["kind"], one["parts"]) for one in found["rules"]] == [("reworded", ["title"])]
    assert found["bundles"] == found["examples"] == 0
    path = rule(new)
    path.write_text(
        "# a remark\n" + path.read_text("utf-8").replace("bar: 1000000", "bar:   1000000"), "utf-8"
    )
    assert (record(old, new, code=0)["rules"], record(old, new)["same"]) == ([], 1)


def test_new_gone_and_retired_rules(two: tuple[Path, Path], tmp_path: Path) -> None:
    """A new rule gains what it finds, a rule that is gone or retired loses it; drafts count with --draft alone."""
    old, new = two
    rule(old, "left-out")
    rule(old, "given-up")
    rule(new, "given-up", status="retired\nreplaced_by: slow-device")
    rule(new, "added")
    rule(new, "draft-one", status="draft")
    case = bundle(tmp_path / "case", 2000000)
    found = {one["rule"]: one for one in record(old, new, case, code=1)["rules"]}
    assert {name: one["kind"] for name, one in found.items()} == {
        "added": "new",
        "given-up": "gone",
        "left-out": "gone",
    }
    assert found["given-up"]["why"] == "retired, replaced by slow-device"
    assert [
        len(found[name][kind]) for name, kind in (("added", "gained"), ("given-up", "lost"))
    ] == [1, 1]
    assert "was" not in found["added"]["gained"][0], "a rule that was not there said nothing"
    assert "draft-one" in {one["rule"] for one in record(old, new, "--draft")["rules"]}


def test_the_archive_is_judged_by_the_back_test(two: tuple[Path, Path], tmp_path: Path) -> None:
    """Over stored cases gains and losses are those of `rules backtest --against` for the same rules."""
    archive = Archive.open(tmp_path / "archive", create=True)
    for number, name in enumerate(("healthy-host", "lab-ring-after", "lab-ring-before")):
        kit.stored(archive, name, kit.packed(name)[0], stamp=number)
    shipped = next((ROOT / "analyzer" / "kb").rglob("kb-2039495.yaml"))
    old, new = two
    shutil.copy(shipped, old)
    text = shipped.read_text(encoding="utf-8")
    never = text.replace(
        "when: ring_full > 0 or rx.out_of_buffers > 0", "when: ring_full > 999999999999"
    )
    assert never != text
    (new / shipped.name).write_text(never, encoding="utf-8")
    found = record(old, new, "--archive", tmp_path / "archive", "--jobs", 1, code=1)
    words = [
        "rules",
        "backtest",
        new / shipped.name,
        "--against",
        old,
        "--archive",
        tmp_path / "archive",
        "--json",
    ]
    (report,) = json.loads(CliRunner().invoke(main, [*map(str, words), "--jobs", "1"]).stdout)
    lost = [hit for hit in found["rules"][0]["lost"] if "id" in hit]
    assert found["stored"] == 3
    assert [hit["subject"] for hit in lost] == [
        hit["thing"]["subject"] for hit in report["lost"]
    ] and lost


def test_commits_of_git(tmp_path: Path) -> None:
    """A commit means the folder of the other side, COMMIT:PATH any folder; two commits mean the current folder."""
    rules = tmp_path / "repo" / "our rules" / "storage"
    rule(rules, bar="1000000")
    git(tmp_path, "init", "-q", "repo")
    git(tmp_path / "repo", "add", ".")
    git(tmp_path / "repo", "commit", "-qm", "one")
    rule(rules, bar="3000000")
    git(tmp_path / "repo", "commit", "-qam", "two")
    git(tmp_path / "repo", "mv", "our rules", "rules")
    git(tmp_path / "repo", "commit", "-qm", "three")
    folder = tmp_path / "repo" / "rules"
    for old, new in (("HEAD~2:our rules", folder), ("HEAD~2:our rules", "HEAD:rules")):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path / "repo")
            found = record(old, new, code=1)
        assert [one["thresholds"] for one in found["rules"]] == [
            [{"name": "bar", "before": 1000000, "now": 3000000}]
        ]
        assert found["count"]["lost"] == 1
    assert record("HEAD", folder, code=0)["same"] == 1
    refused = run("HEAD~2", folder, code=2)
    assert "has no rule file below rules/" in refused.output


# -- what goes wrong


def test_a_broken_rule_and_a_wrong_place_are_refused(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    """A rule that does not load ends with 4 and its place; a file, a slip and an option in place of a commit with 2."""
    old, new = two
    path = rule(new)
    assert run(old, path, code=2)
    assert "no git repository could be read" in run("no-such-place", new, code=2).output
    assert run(old, "--", "--upload-pack=x", code=2)
    path.write_text(
        path.read_text("utf-8").replace("when: worst >= bar", "when: worst >= baar"), "utf-8"
    )
    assert "slow-device.yaml:" in run(old, new, code=4).output


def test_a_case_that_cannot_be_read_is_told(two: tuple[Path, Path], tmp_path: Path) -> None:
    """A bundle without anything readable is named, and the command ends with 5 where nothing else differs."""
    old, new = two
    rule(new, bar="1000001")
    empty = tmp_path / "empty.bin"
    empty.write_bytes(b"\0" * 100)
    done = run(old, new, empty, code=5)
    assert "NOT JUDGED: 1" in done.stdout and "empty.bin" in done.stdout
    assert "No finding differs." in done.stdout


def test_hostile_names_steer_no_terminal(two: tuple[Path, Path], tmp_path: Path) -> None:
    """An escape in a log line of the case comes out as text."""
    old, new = two
    rule(new, bar="500000")
    case = bundle(tmp_path / "case", 700000)
    log = next(case.rglob("vobd.log"))
    log.write_text(log.read_text("utf-8").replace("naa.60", "naa.\x1b[2J60"), "utf-8")
    assert "\x1b" not in run(old, new, case).output


def test_a_signature_that_no_stored_case_was_searched_for_is_told(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    """Where both versions know nothing of the stored cases, that is said: no difference there proves nothing."""
    archive = Archive.open(tmp_path / "archive", create=True)
    kit.stored(archive, "slow-storage", kit.packed("slow-storage")[0])
    old, new = two
    rule(new, bar="3000000")
    done = run(old, new, "--archive", tmp_path / "archive", "--jobs", 1)
    assert "NOT KNOWN: 1 stored case was not searched for late" in done.stdout
    assert record(old, new, "--archive", tmp_path / "archive")["rules"][0]["unsearched"] == {
        "late": 1
    }


def test_a_machine_without_a_name_is_the_same_in_both_versions(two: tuple[Path, Path]) -> None:
    """Files of an example that name no machine give one name each time: nothing is lost and gained at once."""
    old, new = two
    name = "    expect: {result: match}\n  - name: as a file\n    files:\n      - path: var/run/log/vobd.log\n        text: |\n"
    for folder, bar in ((old, "1000000"), (new, "1000001")):
        path = rule(folder, bar=bar)
        event = f"          {EVENT.format(n=1, us=2000000)}\n    expect: {{result: match}}\n"
        path.write_text(
            path.read_text("utf-8").replace("    expect: {result: match}\n", name + event), "utf-8"
        )
    found = record(old, new, code=0)
    assert found["rules"][0]["kept"] == 2


FACTS = """meaning = "Made up for a test."
source = "made up"
key = ["device"]
[columns.device]
meaning = "a device"
needed = true
"""
JOINED = "  bad: {table: kb.known_device, by: [device]}\n"


def with_facts(folder: Path, *devices: str, name: str = "known_device") -> Path:
    """Write a rule that speaks of devices in a table of facts, and the table."""
    path = rule(
        folder, join=JOINED.replace("known_device", name), also=" and bad.device == dev.device"
    )
    (folder / "facts").mkdir(exist_ok=True)
    (folder / "facts" / f"{name}.toml").write_text(FACTS, "utf-8")
    rows = "".join(f"{device},made up,verified\n" for device in devices)
    (folder / "facts" / f"{name}.csv").write_text(f"device,source,mark\n{rows}", "utf-8")
    return path


def test_another_row_of_facts_is_a_change_of_the_rules_that_join_it(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    """A rule whose text is the same judges otherwise by another row: both versions are judged, each by its own rows."""
    old, new = two
    with_facts(old, "naa.60")
    with_facts(new, "naa.61")
    case = bundle(tmp_path / "case", 2000000, 2000000)
    (one,) = record(old, new, case, code=1)["rules"]
    assert (one["kind"], one["parts"]) == ("changed", ["kb.known_device"])
    own = {
        kind: [hit["subject"] for hit in one[kind] if hit["case"] == str(case)]
        for kind in ("lost", "gained")
    }
    assert own == {"lost": ["naa.60"], "gained": ["naa.61"]}
    with_facts(new, "naa.60")
    assert record(old, new, case, code=0)["same"] == 1


@pytest.mark.process
def test_facts_of_a_commit_come_with_its_rules(tmp_path: Path) -> None:
    """A commit's rules are judged by that commit's rows, in a comparison and in a back-test."""
    folder = tmp_path / "repo" / "rules"
    path = with_facts(folder, "naa.60")
    git(tmp_path, "init", "-q", "repo")
    git(tmp_path / "repo", "add", ".")
    git(tmp_path / "repo", "commit", "-qm", "one")
    with_facts(folder, "naa.61")
    case = bundle(tmp_path / "case", 2000000)
    found = record("HEAD", folder, case, code=1)
    assert [hit["subject"] for hit in found["rules"][0]["lost"] if hit["case"] == str(case)] == [
        "naa.60"
    ]
    words = (
        "batch",
        case.parent / "case",
        "--archive",
        tmp_path / "archive",
        "--kb",
        folder,
        "--no-settings",
    )
    assert CliRunner().invoke(main, [str(word) for word in words]).exit_code == 0
    words = (
        "rules",
        "backtest",
        path,
        "--against",
        "HEAD",
        "--archive",
        tmp_path / "archive",
        "--json",
        "--no-settings",
    )
    (report,) = json.loads(CliRunner().invoke(main, [*map(str, words), "--jobs", "1"]).stdout)
    assert report["compared"] and [hit["thing"]["subject"] for hit in report["lost"]] == ["naa.60"]


@pytest.mark.process
def test_the_catalog_of_the_tool_can_be_compared_with_a_copy() -> None:
    """Its tables of facts are declared once more in the copy, which is no mistake there."""
    done = (
        record(ROOT / "analyzer" / "kb", "HEAD:analyzer/kb")
        if (ROOT / ".git").exists()
        else {"same": 9}
    )
    assert done["same"] > 5
