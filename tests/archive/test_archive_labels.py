"""Labels: what engineers say of findings, kept beside the cases."""

from __future__ import annotations

import csv
import getpass
import io
import json
import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.archive import labels
from analyzer.archive.query import ask
from analyzer.archive.store import Archive
from analyzer.runtime.errors import UsageError
from tests.kit.ask_kit import Host, filled, put, run

RULE = "beacon-probing"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The small archive: rule beacon-probing speaks in bert-1 and nowhere else."""
    filled(tmp_path / "archive")
    return tmp_path / "archive"


def given_labels(archive: Path) -> list[tuple[str, ...]]:
    """Return what SQL shows of the labels."""
    sql = "SELECT c.name, l.rule, l.node, l.subject, l.label, l.missed, l.by, l.note FROM labels l JOIN cases c USING (case_id)"
    return list(ask.run_sql(Archive.open(archive), sql).rows)


def test_a_finding_is_confirmed(archive: Path) -> None:
    """The label names the node and subject of the finding, and `show`, `list` and SQL tell it."""
    done = run(
        "label",
        "bert-1",
        RULE,
        "--archive",
        archive,
        "--confirm",
        "--note",
        "the team was changed",
        "--by",
        "NN",
    )
    assert done.exit_code == 0 and done.stdout.startswith(
        "beacon-probing: confirmed: host-e / vSwitch0 ("
    )
    assert given_labels(archive) == [
        ("bert-1", RULE, "host-e", "vSwitch0", "confirmed", False, "NN", "the team was changed")
    ]
    assert (
        "label: beacon-probing: confirmed: host-e / vSwitch0"
        in run("show", "bert-1", "--archive", archive).stdout
    )
    assert "the team was changed" in run("show", "bert-1", "--archive", archive, "--source").stdout
    rows = csv.DictReader(io.StringIO(run("list", "--archive", archive, "--csv").stdout))
    assert {row["name"]: row["labels"] for row in rows if row["labels"] != "0"} == {"bert-1": "1"}


def test_the_newest_label_counts_and_one_can_be_taken_back(archive: Path) -> None:
    """Rejected after confirmed is rejected; after --remove there is none, and there is nothing more to remove."""
    for word in ("--confirm", "--reject"):
        assert run("label", "bert-1", RULE, "--archive", archive, word).exit_code == 0
    assert [row[4] for row in given_labels(archive)] == ["rejected"]
    assert run("label", "bert-1", RULE, "--archive", archive, "--remove").exit_code == 0
    assert given_labels(archive) == []
    done = run("label", "bert-1", RULE, "--archive", archive, "--remove")
    assert done.exit_code == 2 and "there is no such label" in done.stderr
    assert len(list((archive / "labels").rglob("*.json"))) == 3


def test_nothing_of_the_environment_is_kept(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --by no name of a user, host or folder stands in the object."""
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "the-engineer")
    run("label", "bert-1", RULE, "--archive", archive, "--confirm")
    text = next((archive / "labels").rglob("*.json")).read_text(encoding="utf-8")
    assert json.loads(text)["by"] == ""
    for word in ("the-engineer", getpass.getuser(), socket.gethostname(), os.fspath(archive)):
        assert word not in text


def test_a_finding_that_is_not_there_is_refused(archive: Path) -> None:
    """A case without such a finding, a rule that is not known, a wrong subject or machine: each with the way out."""
    for words, said in (
        (("acme-1", RULE), "--missed --confirm"),
        (("bert-1", "beacon-probin"), "did you mean `beacon-probing`?"),
        (("bert-1", RULE, "--subject", "vSwitch9"), 'it found "host-e / vSwitch0"'),
        (("bert-1", RULE, "--node", "host-a"), "found nothing like that here"),
        (("bert-3", RULE), "refused"),
        (("bert-9", RULE), "there is no case"),
    ):
        done = run("label", *words, "--archive", archive, "--confirm")
        assert done.exit_code == 2 and said in done.stderr, words
    assert not (archive / "labels").exists()
    assert run("label", "acme-1", RULE, "--archive", archive, "--confirm", "--force").exit_code == 0
    assert [row[:5] for row in given_labels(archive)] == [("acme-1", RULE, "", "", "confirmed")]


def test_a_missed_finding_is_a_label_too(archive: Path) -> None:
    """--missed --confirm says that the rule should have spoken; on the only machine of the case, or the one named."""
    assert (
        run("label", "acme-1", RULE, "--archive", archive, "--missed", "--confirm").exit_code == 0
    )
    assert [row[:6] for row in given_labels(archive)] == [
        ("acme-1", RULE, "host-a", "", "confirmed", True)
    ]
    done = run(
        "label", "acme-3", RULE, "--archive", archive, "--missed", "--confirm", "--node", "host-x"
    )
    assert done.exit_code == 2 and 'has no machine "host-x"' in done.stderr
    assert (
        run(
            "label",
            "acme-3",
            RULE,
            "--archive",
            archive,
            "--missed",
            "--confirm",
            "--node",
            "host-d",
        ).exit_code
        == 0
    )
    done = run("label", "bert-1", RULE, "--archive", archive, "--missed", "--confirm")
    assert done.exit_code == 2 and "did match here" in done.stderr
    assert run("label", "acme-1", RULE, "--archive", archive, "--missed", "--reject").exit_code == 2
    done = run("label", "acme-1", "kb-999", "--archive", archive, "--missed", "--confirm")
    assert done.exit_code == 2 and 'no rule "kb-999" judged this case' in done.stderr


def test_one_of_several_findings_is_labelled_by_its_machine(tmp_path: Path) -> None:
    """Without --node all findings of the rule are meant, with it those of one machine."""
    place = tmp_path / "archive"
    stored = Archive.open(place, create=True)
    put(stored, "twins", [Host("h1", teams=2), Host("h2", teams=2)])
    assert (
        len(
            run(
                "label", "twins", RULE, "--archive", place, "--reject", "--node", "h2"
            ).stdout.splitlines()
        )
        == 1
    )
    assert [row[2] for row in given_labels(place)] == ["h2"]
    assert (
        len(run("label", "twins", RULE, "--archive", place, "--confirm").stdout.splitlines()) == 2
    )
    assert [(row[2], row[4]) for row in given_labels(place)] == [
        ("h1", "confirmed"),
        ("h2", "confirmed"),
    ]


def test_a_verdict_must_be_said(archive: Path) -> None:
    """Without --confirm, --reject or --remove nothing is stored."""
    assert run("label", "bert-1", RULE, "--archive", archive).exit_code == 2
    assert not (archive / "labels").exists()


def test_labels_of_cases_that_are_no_more_visible_are_left_out(archive: Path) -> None:
    """A case whose source was read again with other content keeps its labels; `labels` shows those of visible cases."""
    run("label", "bert-1", RULE, "--archive", archive, "--confirm")
    put(Archive.open(archive), "bert-1", [Host("host-e", teams=2)], content="another")
    assert given_labels(archive) == []
    assert len(labels.current_labels(Archive.open(archive))) == 1


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["confirmed", "rejected", "removed"]), st.integers(0, 3)),
        min_size=1,
        max_size=6,
    )
)
def test_of_several_labels_the_newest_counts(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, int]]
) -> None:
    """In whatever order labels are written, that of the latest time is the one, as a model says."""
    archive = Archive.open(tmp_path_factory.mktemp("labels") / "a", create=True)
    entry = put(archive, "twins", [Host("h1", teams=2)])
    stored = archive.take_snapshot().find_case(entry.id)
    model: tuple[datetime, str] | None = None
    for number, (word, hours) in enumerate(said):
        now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours, microseconds=number)
        try:
            labels.give_labels(archive, stored, labels.LabelRequest(RULE, label=word), now)
        except UsageError:
            assert word == "removed" and (model is None or model[1] == "removed")
            continue
        model = max(model, (now, word)) if model else (now, word)
    found = [label.label for label in labels.current_labels(archive, stored.id)]
    assert found == ([model[1]] if model and model[1] != "removed" else [])


def test_texts_of_labels_cannot_steer_the_terminal(archive: Path) -> None:
    """A note with control characters is shown as what it is, and a very long one refused."""
    done = run(
        "label",
        "bert-1",
        RULE,
        "--archive",
        archive,
        "--confirm",
        "--note",
        "x\x1b[2J\u202ey",
        "--by",
        "a\x07b",
    )
    shown = done.output + run("show", "bert-1", "--archive", archive).output
    assert "\x1b" not in shown and "\u202e" not in shown and "\x07" not in shown and "x1b" in shown
    assert (
        run(
            "label", "bert-1", RULE, "--archive", archive, "--confirm", "--note", "x" * 3000
        ).exit_code
        == 2
    )
