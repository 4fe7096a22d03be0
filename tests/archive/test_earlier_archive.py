"""What an earlier version stored is read by everything that reads stored cases."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.web.cases.history import RESULTS, History
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.questions import stored
from analyzer.web.questions.answers import Library

HERE = Path(__file__).parents[1]
EARLIER = HERE / "earlier" / "archive"
SAMPLES = HERE.parent / "samples" / "cases"
RULES = ["cpu-limit-starves-vm", "kb-1010071", "kb-2039495"]


@pytest.fixture(params=["pack", "segment"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a copy of the earlier archive, as it was written and put together by this version."""
    copy = tmp_path / "archive"
    shutil.copytree(EARLIER, copy)
    (copy / "packs").mkdir(exist_ok=True)
    if request.param == "segment":
        run("archive", "compact", "--all", "--archive", str(copy))
        assert not list((copy / "packs").rglob("*.zip")) and list((copy / "segments").iterdir())
    return str(copy)


@pytest.fixture
def written() -> dict[str, Any]:
    """Return the case document as the earlier version wrote it."""
    (pack,) = EARLIER.rglob("*.zip")
    with zipfile.ZipFile(pack) as parts:
        found: dict[str, Any] = json.loads(parts.read("case.json"))
    return found


def run(*words: str, code: int = 0) -> str:
    """Run a command that must end with `code`; return what it says."""
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == code, (words, done.output, done.exception)
    return done.output


def test_the_stored_document_is_an_earlier_one(written: dict[str, Any]) -> None:
    """The fixture has records of most kinds, and none of the keys that came later."""
    assert not {"cuts", "notes"} & set(written)
    assert all("looked_at" not in source for source in written["sources"])
    assert all("bundle" not in node for node in written["nodes"])
    assert all("same_as" not in chart for chart in written["series"].values())
    kinds = (
        "nodes",
        "sources",
        "findings",
        "cannot_tell",
        "quiet",
        "timeline",
        "series",
        "topology",
        "damage",
    )
    assert all(written[kind] for kind in kinds)
    assert any(
        finding["trace"] and finding["evidence"] and finding["fix"]
        for finding in written["findings"]
    )


@pytest.mark.parametrize("form", ["text", "md", "html", "json"])
def test_show_reads_an_earlier_case_json(
    form: str, written: dict[str, Any], tmp_path: Path
) -> None:
    """`backline show` renders a case.json of the earlier version in every form."""
    path = tmp_path / "case.json"
    path.write_text(json.dumps(written), encoding="utf-8")

    shown = run("show", str(path), "-vv", "--format", form)

    assert "esx31.lab.example" in shown and "A limit of 800 MHz" in shown


def test_an_earlier_source_was_looked_at_as_a_whole(written: dict[str, Any]) -> None:
    """A source of the earlier version counts all its lines as looked at."""
    document = case_file.parse_case(json.dumps(written), "case.json")

    assert [source.looked_at for source in document.sources] == [
        source["lines"] for source in written["sources"]
    ]


@pytest.mark.parametrize("wrong", [5, "text", {"a": 1}, None, [5], [[]]])
@pytest.mark.parametrize("key", ["sources", "nodes", "findings", "cannot_tell", "series"])
def test_a_list_that_is_none_is_told(
    key: str, wrong: object, written: dict[str, Any], tmp_path: Path
) -> None:
    """A document with something else in place of a list is refused with the place, not with an internal error."""
    if key == "series" and wrong == {"a": 1}:
        pytest.skip("charts are kept by their names")
    path = tmp_path / "case.json"
    path.write_text(json.dumps(written | {key: wrong}), encoding="utf-8")

    assert key in run("show", str(path), code=3)


@pytest.mark.parametrize("form", ["text", "md", "html", "json"])
def test_archive_show_reads_an_earlier_case(form: str, archive: str) -> None:
    """`backline archive show` renders the stored case in every form."""
    shown = run("archive", "show", "limited-vm", "--archive", archive, "-vv", "--format", form)

    assert "esx31.lab.example" in shown and "A limit of 800 MHz" in shown


def test_lists_and_searches_read_an_earlier_case(archive: str) -> None:
    """list, search (by rule, by condition, by text) and sql find what the earlier version stored."""
    place = ("--archive", archive)

    assert "limited-vm" in run("archive", "list", *place)
    assert "lin-app07" in run("archive", "search", "--rule", RULES[0], *place)
    assert "1 machine in 1 case" in run("archive", "search", "esxtop.vm_cpu: rdy_pct > 50", *place)
    assert "A limit of 800 MHz" in run("archive", "search", "--text", "limit of 800", *place)
    found = run(
        "archive", "sql", "SELECT rule FROM findings ORDER BY 1", "--json", *place
    ).splitlines()
    assert [json.loads(row)["rule"] for row in found] == RULES
    assert "no problem" in run("archive", "verify", *place)


@pytest.mark.size
def test_pages_and_exports_of_an_earlier_case(archive: str, tmp_path: Path) -> None:
    """The map of all cases writes its report, and export writes case.json as it was stored beside report and facts."""
    place = ("--archive", archive)

    said = run("archive", "heatmap", "-o", str(tmp_path / "fleet"), "--with-reports", *place)
    run("archive", "export", "--all", "-o", str(tmp_path / "out"), "--facts", "csv", *place)

    assert "1 case report" in said and len(list((tmp_path / "fleet" / "cases").iterdir())) == 1
    (folder,) = (tmp_path / "out").glob("limited-vm-*")
    assert {path.name for path in folder.iterdir()} == set(RESULTS)
    assert "cuts" not in json.loads((folder / "case.json").read_text(encoding="utf-8"))
    assert "lin-app07" in (tmp_path / "out" / "facts" / "esxtop.vm_cpu.csv").read_text(
        encoding="utf-8"
    )


def test_labels_and_backtests_of_an_earlier_case(archive: str) -> None:
    """A finding of the earlier version takes a label, and today's rules judge its facts with the same result."""
    place = ("--archive", archive)

    assert "confirmed" in run("archive", "label", "limited-vm", RULES[0], "--confirm", *place)
    told = json.loads(run("rules", "backtest", RULES[0], "--json", *place))

    assert "lin-app07" in json.dumps(told)
    assert "confirmed" in run("archive", "show", "limited-vm", *place)


def test_the_page_reads_an_earlier_case(archive: str, tmp_path: Path) -> None:
    """The page lists the case, tells its findings, and makes all three results anew."""
    place = PrivatePlace.make_folder(tmp_path)
    try:
        history = History(archive, place)
        (past,) = history.list_newest()
        record = stored.describe_case(Library(archive), past["id"])

        assert [one["rule"] for one in record["findings"]] == [RULES[0], RULES[2], RULES[1]]
        assert f"{record['unknowns']} need more data" in run(
            "archive", "show", past["id"], "--archive", archive
        )
        assert all(history.find_result(past["id"], name).stat().st_size for name in RESULTS)
    finally:
        place.remove_all()


@pytest.mark.size
def test_earlier_and_new_cases_lie_in_one_segment(archive: str) -> None:
    """A case that this version adds leaves the earlier one as it was, also in one segment with it."""
    place = ("--archive", archive)
    facts = "SELECT * FROM esxtop.vm_cpu ORDER BY vm_id, sample"
    before = run("archive", "sql", facts, "--csv", *place)

    run("batch", str(SAMPLES / "lab-ring-before"), "--layout", "folders", "--no-packs", *place)
    run("archive", "compact", "--all", *place)

    ask = "SELECT name, (SELECT count(*) FROM findings f WHERE f.case_id = c.case_id) AS n FROM cases c ORDER BY 1"
    found = [json.loads(row) for row in run("archive", "sql", ask, "--json", *place).splitlines()]
    assert [(row["name"], row["n"]) for row in found] == [("lab-ring-before", 4), ("limited-vm", 3)]
    assert run("archive", "sql", facts, "--csv", *place) == before
    assert "no problem" in run("archive", "verify", *place)
    assert "A limit of 800 MHz" in run("archive", "show", "limited-vm", *place)


NSXT = """rule: nsxt-lost
title: A connection was lost
kb: []
source: made up for a test
status: test
revised: 2026-11-22
about: A test of a stored case. It looks at one line.
sign: {in: nsxt.syslog, match: 'connection lost'}
severity: warning
confidence: possible
say: "{sign.count} lines."
fix: {nowhere: Nothing to do.}
not_this: Anything else.
examples:
  match: |
    2023-03-01T10:02:00.000Z m NSX 3101 - [nsx@6876 comp="nsx-manager" subcomp="http" level="ERROR"] connection lost
  no_match: |
    2023-03-01T10:02:00.000Z m NSX 3101 - [nsx@6876 comp="nsx-manager" subcomp="http" level="INFO"] served
"""


def test_the_log_of_nsx_t_is_found_under_its_name_of_today(tmp_path: Path) -> None:
    """A line that was stored as one of `nsx.nsxt_log` is a line of `nsxt.syslog`: a rule of today matches it."""
    copy = tmp_path / "archive"
    shutil.copytree(HERE / "earlier" / "nsxt", copy)
    rule = tmp_path / "nsxt-lost.yaml"
    rule.write_text(NSXT, encoding="utf-8")

    told = run("rules", "backtest", str(rule), "--archive", str(copy))

    assert "Cases:    1 match" in told
    assert "syslog.log:3:" in told
