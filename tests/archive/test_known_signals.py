"""`triage --archive`: at each sign of trouble, in how many stored cases it is. Lines are synthetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzer.archive.prints import case_id, source_key
from analyzer.archive.query.known_kinds import count_known_kinds, hash_signal, tell_known
from analyzer.archive.store import Archive
from analyzer.case.document import Signal, Tool
from analyzer.case.verdicts import Judgement
from analyzer.cli import main
from analyzer.pipeline.case import build_document, fill_record
from analyzer.signals.kinds import hash_kind
from tests.kit.ask_kit import run
from tests.kit.fleet_factory import Told, stored

LINE = "2026-01-02T10:00:01.000Z cpu3:2097)Frobnicator: 11: cannot frobnicate the widget, giving up"
SIGN = "Frobnicator: #: cannot frobnicate the widget, giving up"
RESULTS = ("case.json", "report.html", "report.md")


def make_archive(place: Path) -> Archive:
    """Return an archive of three cases, of which two have the sign."""
    rows = [("one", (SIGN,), "ring C esx1"), ("two", (SIGN,), ""), ("three", (), "")]
    cases = [
        Told(name, "2026-01-01", found=found, signs=signs, content=name)
        for name, signs, found in rows
    ]
    return stored(place, cases)


def make_case(place: Path) -> Path:
    """Return the folder of a case with the line."""
    place.mkdir()
    (place / "vmkernel.log").write_text(f"{LINE}\n", "utf-8")
    return place


def triage(*words: object) -> Result:
    """Run `backline triage`."""
    return CliRunner().invoke(main, ["triage", *map(str, words)])


def read_known(folder: Path) -> list[Any]:
    """Return what the signals of a case.json know of stored cases."""
    case = json.loads((folder / "case.json").read_text("utf-8"))
    return [one["known"] for one in case["signals"]]


def test_all_results_say_how_often_it_was_seen(tmp_path: Path) -> None:
    """Terminal, page, note and document say the same, with what an engineer said; the same again the second time."""
    place, out = tmp_path / "archive", tmp_path / "out"
    make_archive(place)
    run("label", "one", "ring", "--confirm", "--archive", place)
    before = sorted(path.relative_to(place) for path in place.rglob("*"))
    case = make_case(tmp_path / "new")
    done = triage(case, "-o", out, "--archive", place)
    assert done.exit_code == 0, done.output
    words = "in 2 of 3 stored cases; an engineer confirmed ring in 1 of 2"
    assert words in done.stdout
    assert words in (out / "report.md").read_text("utf-8")
    assert words in (out / "report.html").read_text("utf-8")
    assert read_known(out) == [{"cases": 2, "of": 3, "labels": [{"rule": "ring", "cases": 1}]}]
    again = tmp_path / "again"
    triage(case, "-o", again, "--archive", place)
    for name in RESULTS:
        assert (again / name).read_bytes() == (out / name).read_bytes()
    assert sorted(path.relative_to(place) for path in place.rglob("*")) == before


def test_without_an_archive_nothing_is_said(tmp_path: Path) -> None:
    """No result speaks of stored cases."""
    out = tmp_path / "out"
    done = triage(make_case(tmp_path / "new"), "-o", out)
    assert "stored case" not in done.stdout
    for name in RESULTS:
        assert "stored case" not in (out / name).read_text("utf-8")
    assert read_known(out) == [None]


def test_what_no_case_has_is_said_too(tmp_path: Path) -> None:
    """A sign that no stored case has is in 0 of them; in an empty archive nothing is known of it."""
    place = tmp_path / "archive"
    stored(place, [Told("one", "2026-01-01", content="one")])
    done = triage(make_case(tmp_path / "new"), "-o", tmp_path / "out", "--archive", place)
    assert "in 0 of 1 stored case" in done.stdout
    Archive.open(tmp_path / "empty", create=True)
    done = triage(tmp_path / "new", "-o", tmp_path / "out", "--archive", tmp_path / "empty")
    assert "UNEXPLAINED" in done.stdout
    assert "stored case" not in done.stdout


def test_names_are_replaced_as_ever(tmp_path: Path) -> None:
    """With --redact the same numbers are said."""
    place, out = tmp_path / "archive", tmp_path / "out"
    make_archive(place)
    done = triage(make_case(tmp_path / "new"), "-o", out, "--archive", place, "--redact")
    assert done.exit_code == 0, done.output
    assert "in 2 of 3 stored cases" in done.stdout


def test_a_wrong_archive_is_named_before_anything_is_read(tmp_path: Path) -> None:
    """A folder that is none ends the command; no result is written."""
    out = tmp_path / "out"
    done = triage(make_case(tmp_path / "new"), "-o", out, "--archive", tmp_path / "none")
    assert done.exit_code not in (0, 5)
    assert not out.exists()


@pytest.mark.parametrize("own", ["id", "source"])
def test_the_case_itself_does_not_count(tmp_path: Path, own: str) -> None:
    """A case that is stored already is no case before: not under its id, and not as another revision of its source."""
    archive = make_archive(tmp_path / "archive")
    one = archive.take_snapshot().find_case("one")
    name = one.id if own == "id" else one.judged.source
    assert len(name) == len(case_id("x", []) if own == "id" else source_key("x"))
    kind = hash_kind("line", *SIGN.split(": ", 1))
    known = count_known_kinds(archive, [kind], {name})[kind]
    assert (known.cases, known.of) == (1, 2)


def test_bytes_that_are_no_text_give_the_same_kind(tmp_path: Path) -> None:
    """The document shows such bytes; the archive counts what was read."""
    assert hash_kind("line", "m", "cannot \udcff it") == hash_kind("line", "m", r"cannot \xff it")


def test_a_document_stays_as_it_is(tmp_path: Path) -> None:
    """The answer stands in a copy; lines that were counted together have no kind."""
    archive = make_archive(tmp_path / "archive")
    module, what = SIGN.split(": ", 1)
    rows = [{"what": what, "module": module}, {"what": ""}]
    signals = [fill_record(Signal, {"node": "n0", **row}, kind="line") for row in rows]
    assert hash_signal(signals[1]) == ""
    document = build_document(
        case={}, tool=Tool(name="backline", version="", catalog="", rules=0), nodes=[], sources=[],
        judgement=Judgement(), catalog_rules=[],
    )  # fmt: skip
    document.signals = signals
    copy = tell_known(document, archive)
    assert [one.known is None for one in copy.signals] == [False, True]
    assert [one.known for one in document.signals] == [None, None]
