"""The archive in the page: what is typed becomes which question, answers as tables, cases, labels, the map."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from analyzer.archive.labels import current_labels
from analyzer.archive.query import search
from analyzer.archive.store import Archive
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.web.questions import answers, library, question, stored
from analyzer.web.questions.answers import FieldQuestion, Library
from tests.kit.ask_kit import filled, id_of
from tests.kit.web_kit import client_of, serving_at

RING = 'esxi.pnic_info: driver == "ixgben"; esxi.pnic_stats: rx_missed_errors > 0'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of six small cases, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "archive"
    filled(folder)
    return folder


@pytest.fixture
def objects(tmp_path: Path, made: Path) -> Archive:
    """An archive of six small cases."""
    shutil.copytree(made, tmp_path / "archive")
    return Archive.open(tmp_path / "archive")


@pytest.fixture
def room(objects: Archive) -> Library:
    """The same as the page holds it."""
    return Library(str(objects.objects.url))


@pytest.fixture
def client(tmp_path: Path, objects: Archive) -> Iterator[TestClient]:
    """A browser that is signed in at a server with this archive."""
    serving = serving_at(tmp_path)
    serving.archive = str(objects.objects.url)
    with client_of(serving, library.library_routes) as one:
        yield one


REFUSED = '1 refused upload left out: nothing in it could be read. The state "refused" lists it.'


def ask(room: Library, field: str, **more: Any) -> dict[str, Any]:
    """Return the answer to what stands in the field."""
    return answers.answer_question(room, FieldQuestion(field, **more))


def column(answer: dict[str, Any], name: str) -> list[Any]:
    """Return the cells of a column."""
    at = [one["name"] for one in answer["columns"]].index(name)
    return [row["cells"][at] for row in answer["rows"]]


# --- what is typed ---


@pytest.mark.parametrize(
    ("field", "kind", "what"),
    [
        ("", "cases", {}),
        ("  ", "cases", {}),
        ("beacon-probing", "findings", {"rule": "beacon-probing"}),
        ("rule: Odd_name", "findings", {"rule": "Odd_name"}),
        ("KB 2039495", "findings", {"kb": 2039495}),
        ("kb:2039495", "findings", {"kb": 2039495}),
        ("2039495", "findings", {"kb": 2039495}),
        ("lost connectivity", "text", {"text": "lost connectivity"}),
        ("WARNING: lost", "text", {"text": "WARNING: lost"}),
        ('"nodes: version < 7"', "text", {"text": "nodes: version < 7"}),
        ("text: kb-2039495", "text", {"text": "kb-2039495"}),
        ("Driver: IXGBEN; version: 6.7.0", "machines", {}),
        ("Severity: Major", "cases", {"severity": "major"}),
    ],
)
def test_a_field_is_understood_as_what_it_looks_like(
    field: str, kind: str, what: dict[str, Any]
) -> None:
    """Terms, rules, articles and texts need no switch; quotes always mean a text."""
    found = question.read_question(field)
    assert found.kind == kind
    assert {name: getattr(found, name) for name in what} == what


def test_semicolons_part_terms_and_those_in_quotes_do_not() -> None:
    """`;` parts terms, `same:` names the column they agree in, and a text of a condition may hold a semicolon."""
    found = question.read_question(
        'esxi.pnic_info: driver == "a;b"; esxi.pnic_stats: rx_errors > 0 ; same: pnic'
    )
    assert [term.text for term in found.terms] == [
        'esxi.pnic_info: driver == "a;b"', "esxi.pnic_stats: rx_errors > 0",
    ]  # fmt: skip
    assert found.same == "pnic"


@pytest.mark.parametrize(
    ("field", "marked", "hint"),
    [
        ('esxi.pnic_info: drivr == "x"', "drivr", "driver"),
        ('nodes: version < "7"; esxi.pnic_info: drivr == "x"', "drivr", "driver"),
        ("esxi.pnic_inf: pnic == 1", "esxi.pnic_inf", "esxi.pnic_info"),
    ],
)
def test_a_mistake_points_into_the_field(field: str, marked: str, hint: str) -> None:
    """The caret stands below the wrong word, also in the second term, and the word that was meant is told."""
    with pytest.raises(question.Misread) as caught:
        question.read_question(field)
    told = question.mistake_record(caught.value, field)
    assert field[told["start"] :].startswith(marked)
    assert told["caret"].index("^") == told["line"].index(marked)
    assert hint in caught.value.do


@given(
    st.text(max_size=120)
    | st.from_regex(r"(nodes|esxi\.\w{1,9}|kb)[:; ]\s?[\w<>=\" ;()\n]{0,60}", fullmatch=True)
)
def test_any_field_is_a_question_or_a_mistake_inside_it(field: str) -> None:
    """Whatever is typed is understood or refused with a place that lies within what was typed."""
    try:
        found = question.read_question(field)
    except question.Misread as error:
        told = question.mistake_record(error, field)
        assert 0 <= told["start"] <= told["end"] <= max(len(field), told["start"])
        json.dumps(told)
    else:
        assert found.kind in ("cases", "machines", "findings", "text")


# --- answers ---


def test_no_word_lists_the_cases_newest_first(room: Library) -> None:
    """An empty field gives every visible case with its state; one that was refused is left out, said, and listed on demand."""
    answer = ask(room, "")
    assert column(answer, "Case")[:2] == ["acme-2", "acme-1"]
    assert sorted(column(answer, "State")) == ["ok"] * 4 + ["partial"]
    assert answer["said"] == "5 cases"
    assert answer["notes"] == [REFUSED]
    answer = ask(room, "", state="refused")
    at = column(answer, "Case").index("bert-3")
    assert column(answer, "Findings")[at] == "nothing could be read"
    assert column(answer, "Open questions")[at] is None
    assert answer["said"] == "1 case"


def test_terms_give_the_same_machines_as_the_command(room: Library) -> None:
    """A question of two terms finds what archive.search finds, with the rows that prove it and those untold counted."""
    answer = ask(room, RING)
    found = search.find_machines(room.require_archive(), question.read_question(RING).terms)
    assert column(answer, "Machine") == [row[3] for row in found.rows] == ["host-b", "host-a"]
    assert answer["untold"] == found.counts["untold"] == 2
    assert any("rx_missed_errors=9121" in line for line in column(answer, "Because")[1])
    agreed = ask(room, f"{RING}; same: pnic")
    assert len(agreed["rows"]) == len(
        [
            *search.find_machines(
                room.require_archive(), question.read_question(RING).terms, same="pnic"
            ).rows
        ]
    )


def test_those_nobody_can_tell_of_are_listed(room: Library) -> None:
    """The untold ones come with the reason and what to ask for; absence is never taken for innocence."""
    answer = ask(room, "esxi.pnic_stats: rx_missed_errors > 0", unknown=True)
    assert column(answer, "Machine") == ["host-c", "host-e"]
    assert "not whole" in column(answer, "Why")[1]
    assert all("nic stats" in text for text in column(answer, "Ask for"))


def test_a_rule_gives_its_findings_and_a_text_the_lines(room: Library) -> None:
    """The id of a rule lists what it found; any other word looks into findings and kept lines."""
    found = ask(room, "beacon-probing")
    assert found["kind"] == "findings"
    assert column(found, "Severity") == ["warning"]
    assert found["untold"] == 4
    lines = ask(room, "connectivity")
    assert lines["kind"] == "text"
    assert column(lines, "Where") == ["host-a.tgz!var/log/vobd.log:10"]


def test_what_looks_like_a_rule_and_is_none_is_looked_for_as_a_text(room: Library) -> None:
    """A slip in the id of a rule is named with the rule that is meant, and the text is searched all the same."""
    answer = ask(room, "beacon-probin")
    assert answer["kind"] == "text"
    assert "beacon-probing" in answer["notes"][0]
    with pytest.raises(UsageError):
        ask(room, "rule: beacon-probin")


def test_cases_that_could_not_be_asked_are_told_beside_every_answer(room: Library) -> None:
    """A text that stands nowhere, a rule and terms say that a refused upload answered nothing, which spoils no answer; a list, who has no time."""
    for words in ('"stands nowhere"', "nodes: version >= '6.5'"):
        found = ask(room, words)
        assert (found["notes"], found["partly"]) == ([REFUSED], False), words
    found = ask(room, "kb-2039495")
    assert "of 5; " in found["said"]
    assert "not judged by it" not in found["said"]
    assert (found["notes"], found["partly"]) == ([REFUSED], False)
    found = ask(room, "", since="2001-01-01")
    assert found["notes"] == ["1 case left out: no time is known."]


@pytest.mark.size
def test_what_can_be_searched_by_is_counted_and_each_value_is_a_question(
    client: TestClient, room: Library
) -> None:
    """Hosts, rules, articles, severities, drivers and versions come with their cases; asked, each finds so many cases."""
    found = {one["name"]: one["values"] for one in client.get("/archive/facets").json()["facets"]}
    assert [*found] == ["severity", "host", "rule", "KB", "driver", "version"]
    for name, values in found.items():
        assert [one["cases"] for one in values] == sorted(
            (one["cases"] for one in values), reverse=True
        )
        one = values[0]
        word = {"rule": one["value"], "KB": f"KB {one['value']}"}.get(
            name, f"{name}: {one['value']}"
        )
        answer = ask(room, word)
        assert len({row["case"] for row in answer["rows"]}) >= one["cases"] > 0, word


@pytest.mark.size
def test_a_case_is_found_by_its_name_machine_severity_and_driver(room: Library) -> None:
    """The one field finds a case by what it is called, by a machine, by how severe it is, and machines by driver."""
    every = ask(room, "")
    name = column(every, "Case")[0]
    by_name = ask(room, f"name: {name}")
    assert by_name["kind"] == "text"
    assert name in column(by_name, "Case")
    assert set(column(by_name, "Of")) <= {"name of the case", "name of a machine"}
    by_host = ask(room, "host: HOST-A")
    assert "of that name" in by_host["said"]
    assert column(by_host, "Machine") == ["host-a"]
    assert column(by_host, "Of") == ["name of a machine"]
    assert name in column(ask(room, f'"{name}"'), "Case")
    severe = ask(room, "severity: warning")
    assert severe["kind"] == "cases"
    assert set(column(severe, "Worst")) <= {"critical", "major", "warning"}
    assert 0 < len(severe["rows"]) < len(every["rows"])
    short, long = (
        ask(room, text)["rows"] for text in ("driver: ixgben", 'esxi.pnic_info: driver == "ixgben"')
    )
    assert [row["cells"][:4] for row in short] == [row["cells"][:4] for row in long] != []
    assert ask(room, "version: 6.5.0")["kind"] == "machines"


def test_filters_narrow_what_is_asked(room: Library) -> None:
    """Severity and state choose the cases that are asked, also of terms; no case that passes is said as that."""
    assert ask(room, 'nodes: version < "9"', state="partial")["said"].startswith(
        "1 machine in 1 case, of 1 asked"
    )
    assert ask(room, "beacon-probing", severity="warning")["said"].startswith(
        "1 finding on 1 machine in 1 case of 1"
    )
    assert ask(room, "beacon-probing", severity="critical")["said"] == "No case passes the filters."
    assert column(ask(room, "", since="2026"), "Case") == ["acme-2", "acme-1"]
    for wrong in ({"state": "odd"}, {"since": "yesterday"}):
        with pytest.raises(UsageError):
            ask(room, "", **wrong)


def test_more_rows_than_are_sent_are_counted(room: Library) -> None:
    """A bound on the rows is told, and the sentence counts all of them."""
    answer = ask(room, "", most=2)
    assert (len(answer["rows"]), answer["more"], answer["said"]) == (2, True, "5 cases")


def test_a_damaged_pack_is_left_out_and_told(room: Library, objects: Archive) -> None:
    """The cases that can be read are answered, and what cannot be read stands beside them."""
    path = next(Path(str(objects.objects.local)).glob(f"packs/*/{id_of('acme-1')}*"))
    data = bytearray(path.read_bytes())
    data[len(data) // 4 : 3 * len(data) // 4] = bytes(3 * len(data) // 4 - len(data) // 4)
    path.write_bytes(bytes(data))
    answer = ask(room, "")
    assert "acme-2" in column(answer, "Case")
    assert any(path.name in line for line in answer["damaged"])


def test_an_archive_that_was_never_there_is_empty_and_one_that_went_is_gone(
    room: Library, objects: Archive
) -> None:
    """Before the first case the answer is «empty»; an archive that vanished is an error, never «nothing found»."""
    folder = Path(str(objects.objects.local))
    assert not ask(room, "")["empty"]
    folder.rename(folder.with_name("away"))
    with pytest.raises(BacklineError, match="no longer there"):
        ask(room, "")
    assert ask(Library(str(folder.with_name("never"))), "")["empty"]
    folder.with_name("away").rename(folder)
    assert len(ask(room, "")["rows"]) == 5


# --- over the wire ---


def test_a_mistake_comes_with_its_caret_over_the_wire(client: TestClient) -> None:
    """A wrong column is status 400 with what was meant and the place in the field."""
    told = client.get("/archive/search", params={"q": 'esxi.pnic_info: drivr == "x"'})
    assert told.status_code == 400
    assert told.json()["error"]["mistake"]["start"] == 16
    assert "driver" in told.json()["error"]["do"]


def test_labels_are_given_and_taken_back(client: TestClient, objects: Archive) -> None:
    """A confirmed finding is stored as the command stores it, shown with the case, and taken back again."""
    case = id_of("bert-1")
    known = client.get(f"/archive/cases/{case}").json()
    finding = next(one for one in known["findings"] if one["rule"] == "beacon-probing")
    key = {name: finding[name] for name in ("rule", "node", "subject")}
    sent = key | {"label": "confirmed", "note": "two uplinks", "by": "me"}
    known = client.post(f"/archive/cases/{case}/labels", json=sent).json()
    label = next(one for one in known["findings"] if one["rule"] == "beacon-probing")["label"]
    assert (label["label"], label["note"], label["by"]) == ("confirmed", "two uplinks", "me")
    assert [one.note for one in current_labels(objects)] == ["two uplinks"]
    client.post(f"/archive/cases/{case}/labels", json=key | {"label": "removed"}).raise_for_status()
    assert current_labels(objects) == []


@pytest.mark.parametrize(
    "sent",
    [{}, {"rule": "beacon-probing", "label": "maybe"}, {"rule": 3, "label": "confirmed"},
     {"rule": "beacon-probing", "label": "confirmed", "note": "x" * 3000}, {"rule": "no-such", "label": "confirmed"},
     {"rule": "beacon-probing", "label": "rejected", "missed": True}],
)  # fmt: skip
def test_a_label_that_makes_no_sense_is_refused(
    client: TestClient, objects: Archive, sent: dict[str, Any]
) -> None:
    """Nothing is stored for a label of another kind, of an unknown rule, or with a note that is too long."""
    answer = client.post(f"/archive/cases/{id_of('bert-1')}/labels", json=sent)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]["what"]
    assert current_labels(objects) == []


@pytest.mark.parametrize(
    "case", ["0" * 32, "%2e%2e", "..%2f..%2fbackline-archive.json", "a75d", "%00" * 16, "z" * 32]
)
def test_only_ids_lead_to_cases(client: TestClient, case: str) -> None:
    """Nothing that a client sends becomes a path: what is no id of a stored case is not found."""
    assert client.get(f"/archive/cases/{case}").status_code == 404


def test_a_refused_case_says_why_there_is_no_report(client: TestClient) -> None:
    """A case that could not be read is told with its reason and without a report."""
    told = client.get(f"/archive/cases/{id_of('bert-3')}").json()
    assert (told["report"], told["why"]) == (False, "nothing could be read")


def test_the_map_is_sandboxed_and_knows_its_cases(client: TestClient, objects: Archive) -> None:
    """The map comes with the policy of a report, its links name stored cases, and a new case makes it anew."""
    first = client.get("/archive/heatmap")
    assert "sandbox" in first.headers["content-security-policy"]
    assert "allow-same-origin" not in first.headers["content-security-policy"]
    assert "acme-1" in first.text
    objects.objects.delete(
        next(item.name for item in objects.objects.list("packs/") if id_of("acme-1") in item.name)
    )
    assert "acme-1" not in client.get("/archive/heatmap").text


def test_the_beginning_of_an_id_finds_the_case_and_an_ambiguous_one_none(room: Library) -> None:
    """The map names cases by the first twelve digits; fewer are no name."""
    assert room.find_case(id_of("acme-1")[:12]).id == id_of("acme-1")
    with pytest.raises(BacklineError, match="no such case"):
        room.find_case(id_of("acme-1")[:11])


def test_without_an_archive_there_are_no_pages_of_it(tmp_path: Path) -> None:
    """A server without --archive answers 404, and never makes an archive by being asked."""
    with client_of(serving_at(tmp_path), library.library_routes) as client:
        assert client.get("/archive/search").status_code == 404


def test_an_archive_without_a_case_is_told_as_empty(tmp_path: Path) -> None:
    """Search, map and count of an archive that does not exist yet speak of nothing stored, and make nothing."""
    serving = serving_at(tmp_path)
    serving.archive = str(tmp_path / "later")
    with client_of(serving, library.library_routes) as client:
        assert client.get("/archive").json()["cases"] == 0
        assert client.get("/archive/search").json()["empty"]
        assert client.get("/archive/heatmap").status_code == 404
    assert not (tmp_path / "later").exists()


def test_nobody_without_the_cookie_reads_the_archive(tmp_path: Path, objects: Archive) -> None:
    """Every address of the archive asks for the cookie."""
    serving = serving_at(tmp_path)
    serving.archive = str(objects.objects.url)
    with client_of(serving, library.library_routes, signed_in=False) as client:
        for path in (
            "/archive",
            "/archive/search",
            "/archive/heatmap",
            "/archive/tables",
            f"/archive/cases/{'0' * 32}",
        ):
            assert client.get(path).status_code == 401


def test_tables_are_told_without_logs(client: TestClient) -> None:
    """The help names every table that a term may speak of with its columns, and no log."""
    tables = {table["name"]: table for table in client.get("/archive/tables").json()["tables"]}
    assert "version" in [one["name"] for one in tables["nodes"]["columns"]]
    assert "esxi.pnic_info" in tables
    assert "esxi.vobd" not in tables


def test_hostile_text_is_made_visible(tmp_path: Path) -> None:
    """Control signs and directions in the name of a case do not reach the page as such."""
    from tests.kit.ask_kit import Host, put

    archive = Archive.open(tmp_path / "odd", create=True)
    put(archive, "bad\u202ename\x1b[2J<b>", [Host("h\x07ost")])
    answer = ask(Library(str(tmp_path / "odd")), "")
    assert "\u202e" not in json.dumps(answer, ensure_ascii=False)
    assert "\x1b" not in json.dumps(answer, ensure_ascii=False)
    assert stored.describe_case(Library(str(tmp_path / "odd")), answer["rows"][0]["case"])[
        "name"
    ].startswith("bad")
    shutil.rmtree(tmp_path / "odd")
