"""The fleet: what the archive says of every rule in every case, its order, the page as text, the terminal, the command."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from analyzer.archive.query import fleet as fleet_query
from analyzer.archive.query.fleet import FleetFilter, short_ids
from analyzer.archive.query.fleet import read_fleet as of_archive
from analyzer.archive.query.search import Window
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.commands import archive_heatmap, counter
from analyzer.report import fleet as page
from analyzer.report import fleetmap, fleetterm
from analyzer.report.fleetmap import FOUND, RANK, SIGNS, Fleet, FleetCase, FleetHit, FleetRule, Host
from analyzer.report.styles import read_styles
from analyzer.runtime.errors import UsageError
from tests.kit.ask_kit import filled, run
from tests.kit.case_factory import HOSTILE
from tests.kit.fleet_factory import KB, Told, fleet, stored
from tests.report.test_report_html import Page

REPORT = Path(page.__file__).parent
SHOWN = "</script><img src=x onerror=alert(1)>\\u202e\\x1b[31m`|*_=cmd|'/c calc'!A0\\xff"
CASES = [
    Told(
        "alpha",
        "2017-10-05T10:00:00Z",
        "ring C esx1 2017-10-03; ring W esx2 2017-09-02; paths ? esx1",
        "limit",
        "old",
    ),
    Told(
        "beta",
        "2017-09-20T10:00:00Z",
        "ring M esx1 2017-09-19; ring m esx1 2017-09-18; limit V esx3",
        "paths old",
    ),
    Told(
        "gamma", "2017-08-02T10:00:00Z", "paths M esx4; paths M esx4; old ! esx4", "ring", "limit"
    ),
    Told("delta", "2017-07-11T10:00:00Z", "ring m esx5 2017-07-01; paths mM esx5", "limit", "old"),
    Told("epsilon", "", "limit I esx6 2016-01-02", "ring paths", ""),
    Told("zeta", "2017-10-01T10:00:00Z", "", "ring", "paths", complete=False),
    Told("eta", "", refused="no file in it could be opened"),
    Told("theta", "2017-10-02T10:00:00Z", "ring ? esx1; limit ? esx1", "paths"),
]
ORDER = ["alpha", "beta", "gamma", "epsilon", "eta", "theta", "zeta", "delta"]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return stored(tmp_path_factory.mktemp("archive") / "a", CASES)


@pytest.fixture(scope="module")
def found(archive: Archive) -> Fleet:
    return of_archive(archive)


def reckoned(told: Told, rule: str) -> str:
    """Return what a cell must show, computed from the words of the case alone."""
    signs = {"m" if sign == "mM" else sign for other, sign, _, _ in told.rows if other == rule}
    for sign in "CMWIV!?m":
        if sign in signs:
            return sign
    return "." if rule in told.quiet.split() else "-" if rule in told.absent.split() else "/"


# --- from the archive -----------------------------------------------------------------------------


def test_every_cell_is_the_worst_that_was_said(found: Fleet) -> None:
    """Each of the 32 cells is what a plain reading of the made-up cases gives, refused and absent ones included."""
    cases = {told.name: told for told in CASES}
    cells = {
        (one.name, rule.id): sign
        for one in found.cases
        for rule, sign in zip(found.rules, one.cells, strict=True)
    }
    assert cells == {
        (name, rule): reckoned(told, rule) for name, told in cases.items() for rule in KB
    }
    assert set("".join(one.cells for one in found.cases)) == set("CMVI!?m.-/")


def test_findings_questions_and_muted_ones_are_counted_by_host(found: Fleet) -> None:
    """The hits are the findings and questions of the cases, each with its host, its number and its earliest time."""
    wanted = Counter()
    first: dict[tuple[str, str, str, str], str] = {}
    for told in CASES:
        for rule, sign, host, time in told.rows:
            key = (told.name, rule, host, "m" if sign == "mM" else sign)
            wanted[key] += 1
            first[key] = min(
                filter(None, (first.get(key), f"{time}T00:00:00Z" if time else "")), default=""
            )
    hits = {
        (found.cases[h.case].name, found.rules[h.rule].id, found.hosts[h.host].name, h.sign): h
        for h in found.hits
    }
    assert {key: hit.count for key, hit in hits.items()} == dict(wanted)
    assert {key: hit.first for key, hit in hits.items()} == first


@pytest.mark.parametrize(("most", "asked", "cases"), [(1, ["alpha"], 5), (3, ["alpha", "theta"], 7), (4, ["alpha", "theta", "delta"], 8)])  # fmt: skip
def test_open_questions_by_host_are_bounded_and_nothing_else_is(
    archive: Archive, found: Fleet, monkeypatch: pytest.MonkeyPatch, most: int, asked: list[str], cases: int
) -> None:  # fmt: skip
    """Where there are many, those of the worst cases are read by host, and it says so; cells and hosts are all there."""
    monkeypatch.setattr(fleet_query, "OPEN", most)
    bounded = of_archive(archive)
    questions = {hit.case for hit in bounded.hits if hit.notes[0].missing}
    assert [bounded.cases[number].name for number in sorted(questions)] == asked
    assert [case.cells for case in bounded.cases] == [case.cells for case in found.cases]
    assert {host.name for host in bounded.hosts} == {host.name for host in found.hosts}
    findings = [hit for hit in bounded.hits if hit.sign in FOUND]
    assert [hit.first for hit in findings] == [hit.first for hit in found.hits if hit.sign in FOUND]
    sentence = f"What is open on each host is shown for the worst {cases} of 8 cases; the map by case shows it for all."
    assert bounded.filters == ([] if cases == 8 else [sentence])


def test_a_note_says_what_the_case_says(found: Fleet) -> None:
    """Sentence, subject, weight, time and what to ask for reach the panel as they were judged."""
    notes = {
        (found.cases[hit.case].name, hit.sign): hit.notes[0]
        for hit in found.hits
        if found.rules[hit.rule].id == "ring"
    }
    assert (notes["alpha", "C"].say, notes["alpha", "C"].weight) == (
        "ring on vm0 is bad.",
        "critical, likely",
    )
    assert notes["beta", "m"].muted == "Wanted here"
    assert (notes["theta", "?"].missing, notes["theta", "?"].ask) == (
        "esxi.x",
        "`get x` on the host",
    )


def test_a_case_that_could_not_be_read_is_never_clean(found: Fleet) -> None:
    """It is there, says why, and every cell of it is «not judged»; a cut one is marked incomplete."""
    refused = next(one for one in found.cases if one.name == "eta")
    assert (refused.read, refused.why, set(refused.cells)) == (
        False,
        "no file in it could be opened",
        {"/"},
    )
    assert [one.name for one in found.cases if one.read and not one.complete] == ["zeta"]


def test_worst_first(found: Fleet) -> None:
    """Cases by what was found, then those that could not be read; rules by the weight of all cases."""
    assert [one.name for one in found.cases] == ORDER
    assert [rule.id for rule in found.rules] == ["ring", "paths", "limit", "old"]
    assert [host.name for host in found.hosts][:3] == ["esx1", "esx4", "esx2"]
    assert fleetmap.write_headline(found) == (
        "8 cases by their worst: critical 1, major 2, info 1, open questions only 1, muted only 1, nothing found 1, "
        "could not be read 1"
    )


def test_not_looked_at_is_not_called_clean(archive: Archive) -> None:
    """With one rule only, cases it did not apply to or was not asked in are told apart from those it found clean."""
    some = of_archive(archive, FleetFilter(("old",)))
    assert fleetmap.write_headline(some) == (
        "8 cases by their worst: a rule that broke 1, nothing found 1, nothing to look at 2, not judged 3, could not be read 1"
    )


def test_as_of_is_the_newest_stamp_and_not_the_clock(found: Fleet) -> None:
    """The eighth case was stored seven seconds after the first."""
    assert found.as_of == "2017-10-21T06:30:07Z"


def test_a_window_leaves_out_by_time_and_counts_what_has_none(archive: Archive) -> None:
    """Only cases of September and later; the two without a date are counted as left out."""
    some = of_archive(
        archive,
        FleetFilter(
            window=Window("2017-09-01 00:00:00", "2017-10-02 00:00:00"),
            since="2017-09",
            until="2017-10-01",
        ),
    )
    assert sorted(one.name for one in some.cases) == ["beta", "zeta"]
    assert some.undated == 2
    assert some.filters == ["Only cases captured from 2017-09 to 2017-10-01 (UTC)."]


@pytest.mark.parametrize("word", ["paths", "pa*", "1005577", "kb-2113956", "KB 1005577"])
def test_a_rule_is_named_by_id_pattern_or_article(archive: Archive, word: str) -> None:
    """Each way leads to the one rule; its cells are those of the whole map."""
    some = of_archive(archive, FleetFilter((word,)))
    assert [rule.id for rule in some.rules] == ["paths"]
    assert sorted("".join(one.cells for one in some.cases)) == sorted(
        reckoned(told, "paths") for told in CASES
    )


def test_an_unknown_rule_is_refused(archive: Archive) -> None:
    """A word that no judged rule answers to is an error, not an empty map."""
    with pytest.raises(UsageError, match="rign"):
        of_archive(archive, FleetFilter(("ring", "rign")))


def test_only_the_newest_of_a_source_is_shown(tmp_path: Path) -> None:
    """A case read again with other content stands as it is now."""
    again = [
        Told("a", "2017-10-01T00:00:00Z", "ring C esx1"),
        Told("a", "2017-10-02T00:00:00Z", quiet="ring", content="more"),
    ]
    assert [one.cells for one in of_archive(stored(tmp_path / "a", again)).cases] == ["."]


def test_an_empty_archive_is_an_empty_map(tmp_path: Path) -> None:
    """No case, no rule, no error, in all three outputs."""
    empty = of_archive(Archive.open(tmp_path / "a", create=True))
    assert (empty.cases, empty.rules, empty.as_of) == ([], [], "")
    assert "No cases" in Page(page.render_page(empty)).text
    for by in ("case", "host", "month"):
        fleetterm.print_fleet(empty, Console(file=(tmp_path / "out").open("w"), width=80), by)


def test_segments_and_loose_packs_give_the_same_page(tmp_path: Path) -> None:
    """Compaction moves all cases into segments; the bytes of the page stay."""
    archive = stored(tmp_path / "a", CASES)
    before = page.render_page(of_archive(archive))
    compact_archive(archive)
    assert list(archive.objects.list("segments/"))
    assert page.render_page(of_archive(Archive.open(tmp_path / "a"))) == before


def test_hosts_tell_what_they_are(tmp_path: Path) -> None:
    """Product and version of a host come from the facts of its newest case."""
    hosts = {host.name: host.about for host in of_archive(filled(tmp_path / "a")).hosts}
    assert hosts["host-a"] == "VMware ESXi 6.5.0"


def test_a_manifest_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """The cases of a damaged segment are missing, and the page, the terminal and the exit code say so."""
    archive = stored(tmp_path / "a", CASES)
    compact_archive(archive)
    for item in archive.objects.list("segments/"):
        if item.name.endswith("manifest.json"):
            archive.objects.put(item.name, b"{")
    some = of_archive(Archive.open(tmp_path / "a"))
    assert len(some.missing) == 1
    assert "NOT COMPLETE" in Page(page.render_page(some)).text
    done = run("heatmap", "--archive", tmp_path / "a")
    assert "NOT COMPLETE" in done.output
    assert done.exit_code == 5


@given(st.lists(st.text("0123456789abcdef", min_size=32, max_size=32), min_size=1, max_size=40))
def test_short_ids_are_beginnings_and_all_different(ids: list[str]) -> None:
    """Also when ids share their beginning."""
    twins = [*ids, ids[0][:20] + "0" * 12, ids[0][:20] + "1" * 12]
    short = short_ids(twins)
    assert len(set(short.values())) == len(set(twins))
    assert all(identity.startswith(name) and len(name) >= 12 for identity, name in short.items())


# --- months and what is rising ---------------------------------------------------------------------


def test_a_case_counts_once_in_the_month_of_its_first_sign(found: Fleet) -> None:
    """Alpha shows the ring in October and September: it counts in September. Muted ones do not count."""
    ring = [rule.id for rule in found.rules].index("ring")
    limit = [rule.id for rule in found.rules].index("limit")
    counted = dict(zip(found.months.names, found.months.counts[ring], strict=True))
    assert {month: number for month, number in counted.items() if number} == {"2017-09": 2}
    assert dict(zip(found.months.names, found.months.counts[limit], strict=True))["2016-01"] == 1


def test_months_follow_each_other_and_end_with_the_newest_sign(found: Fleet) -> None:
    """21 months from the first sign to the last, none left out."""
    names = found.months.names
    assert (names[0], names[-1], len(names)) == ("2016-01", "2017-09", 21)
    assert all(fleetmap.find_month_before(after) == before for before, after in pairwise(names))


def rows(*times: str, as_of: str = "2017-10-21T00:00:00Z", captured: str = "") -> Fleet:
    """Return a fleet of one rule that shows up once a case, at these times."""
    cases = [
        FleetCase(f"{n:032x}", f"{n:012x}", f"c{n}", captured=captured or time, cells="W")
        for n, time in enumerate(times)
    ]
    hits = [FleetHit(n, 0, 0, "W", 1, time) for n, time in enumerate(times)]
    return fleetmap.arrange_fleet(
        Fleet(
            "a", as_of, rules=[FleetRule("r", "Title")], hosts=[Host("h")], cases=cases, hits=hits
        )
    )


def test_a_sign_without_a_time_counts_when_the_case_was_captured() -> None:
    """And one without any time is counted as such, not left out."""
    undated = rows("", "", captured="2017-05-01T00:00:00Z")
    assert (undated.months.names, undated.months.counts) == (["2017-05"], [[2]])
    nothing = rows("", "")
    assert (nothing.months.names, nothing.months.undated) == ([], [2])


def test_a_wrong_clock_does_not_move_the_months() -> None:
    """Signs of the year 2099 are counted apart; signs older than two years share one number."""
    clock = rows("2099-01-01T00:00:00Z", "2017-10-01T00:00:00Z", "2012-01-01T00:00:00Z")
    assert (clock.months.names[-1], len(clock.months.names)) == ("2017-10", 24)
    assert (clock.months.later, clock.months.older, sum(clock.months.counts[0])) == ([1], [1], 1)


def test_a_rule_rises_when_it_doubles() -> None:
    """Four cases against one a month rise; three against two do not; the sentence names both numbers."""
    before = [f"2017-0{month}-05T00:00:00Z" for month in (7, 8, 9)]
    up = rows(*before, *["2017-10-02T00:00:00Z"] * 4, captured="2017-01-01T00:00:00Z")
    assert [fleetmap.describe_trend(up, trend) for trend in up.rising] == [
        "r: 4 cases in 2017-10, 1.0 a month in the 3 months before. Title"
    ]
    flat = rows(*before, *before, *["2017-10-02T00:00:00Z"] * 3, captured="2017-01-01T00:00:00Z")
    assert (flat.month, flat.rising) == ("2017-10", [])


def test_more_cases_alone_are_no_rise() -> None:
    """Where four times as many cases were captured, four times as many findings are as before."""
    before = [f"2017-0{month}-05T00:00:00Z" for month in (7, 8, 9)]
    assert rows(*before, *["2017-10-02T00:00:00Z"] * 4).rising == []


def test_the_first_month_of_an_archive_is_no_trend() -> None:
    """Without anything before it, nothing can be told, and that is said."""
    first = rows(*["2017-10-02T00:00:00Z"] * 9)
    assert (first.month, first.rising) == ("", [])
    assert fleetmap.describe_month(first).startswith("No trend yet")


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from("CMWIV!?m"), st.sampled_from(["", "2017-03", "2017-10", "2011-01", "2030-02"])), max_size=30), st.randoms())  # fmt: skip
def test_months_lose_nothing_and_order_does_not_matter(
    signs: list[tuple[int, int, str, str]], chance: Any
) -> None:
    """Older, later, undated and monthly counts add up to the found cells; any order of input gives one fleet."""

    def made(order: list[tuple[int, int, str, str]]) -> Fleet:
        out = Fleet(
            "a",
            "2017-10-21T00:00:00Z",
            rules=[FleetRule(f"r{n}") for n in range(5)],
            hosts=[Host("h")],
        )
        out.cases = [FleetCase(f"{n:032x}", f"{n:012x}", f"c{n}") for n in range(4)]
        cells = [["."] * 5 for _ in range(4)]
        for number, rule, sign, month in order:
            out.hits.append(
                FleetHit(number, rule, 0, sign, 1, f"{month}-01T00:00:00Z" if month else "")
            )
            cells[number][rule] = min(cells[number][rule], sign, key=RANK.__getitem__)
        for one, row in zip(out.cases, cells, strict=True):
            one.cells = "".join(row)
        return fleetmap.arrange_fleet(out)

    some = made(signs)
    cells = "".join(one.cells for one in some.cases)
    months = some.months
    assert sum(map(sum, [*months.counts, months.older, months.later, months.undated])) == sum(
        map(cells.count, FOUND)
    )
    other = list(signs)
    chance.shuffle(other)
    again = made(other)
    assert ([one.cells for one in again.cases], again.months) == (
        [one.cells for one in some.cases],
        some.months,
    )


# --- the page as text -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile() -> str:
    return page.render_page(fleet(40, 9, spoil=HOSTILE), reports=["0" * 32])


def test_the_same_fleet_gives_the_same_bytes(archive: Archive, found: Fleet) -> None:
    """Read twice and rendered twice, nothing of a clock or an order of a set is in the page."""
    assert page.render_page(of_archive(archive)) == page.render_page(found)


def test_the_policy_holds_the_hashes_of_exactly_what_runs(hostile: str) -> None:
    """Nothing by default; the three scripts and the style by hash; it is the first thing in the head."""
    whole = Page(hostile)
    policy = next(str(a["content"]) for t, a in whole.elements if t == "meta" and "http-equiv" in a)
    running = [body for attrs, body in whole.raw if attrs.get("type") != "application/json"]
    assert len(running) == len(page.SCRIPTS)
    sums = [
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        for part in [*running, *whole.styles]
    ]
    assert re.findall(r"'sha256-([A-Za-z0-9+/=]{44})'", policy) == sums
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert hostile.split("<head>\n", 1)[1].startswith('<meta http-equiv="Content-Security-Policy"')


def test_hostile_names_are_text_in_the_page_and_in_its_data(hostile: str) -> None:
    """Case, host, title and sentence named like markup stand letter by letter, and make no element or attribute."""
    whole = Page(hostile)
    assert not {tag for tag, _ in whole.elements} & {
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
    }
    assert not [
        name
        for _, attrs in whole.elements
        for name in attrs
        if name == "style" or name.startswith("on") or name == "src"
    ]
    assert f"/archives/lab{SHOWN}" in whole.text
    data = json.loads(next(body for attrs, body in whole.raw if attrs.get("id") == "fleet"))
    assert f"case-18000{SHOWN}" in data["texts"]
    assert any(text.endswith(f"lines were not understood{SHOWN}") for text in data["texts"])
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]", hostile
    )
    block = hostile.split('id="fleet">', 1)[1].split("</script>", 1)[0]
    assert "<" not in block
    assert block.isascii()


def test_the_data_is_one_sign_a_cell(found: Fleet) -> None:
    """The page carries exactly the cells, and every hit and sentence, for the script to read."""
    data = _data(page.render_page(found))
    assert data["cells"] == [one.cells for one in found.cases]
    assert [state[0] for state in data["states"]] == list(SIGNS)
    assert len(data["hits"]["case"]) == len(found.hits)
    assert len(data["notes"]) == sum(hit.count for hit in found.hits)


def test_without_javascript_the_worst_cases_and_rules_are_tables(found: Fleet) -> None:
    """Every case of a small archive stands there in words, worst first, refused and open ones told as such."""
    whole = Page(page.render_page(found))
    places = [
        whole.text.index(f"{name} {next(one.short for one in found.cases if one.name == name)}")
        for name in ORDER
    ]
    assert places == sorted(places)
    assert "Could not be read: no file in it could be opened" in whole.text
    assert "nothing, but not everything could be judged" in whole.text
    assert all("scope" in attrs for tag, attrs in whole.elements if tag == "th")
    assert "JavaScript is off" in whole.text


def test_every_state_has_its_mark_and_its_words(found: Fleet) -> None:
    """The legend names all eleven states; no two share a mark or a word."""
    text = Page(page.render_page(found)).text
    for state in fleetmap.STATES:
        assert f"{state.mark}{state.word}: {state.meaning}" in text
    assert (
        len({state.mark for state in fleetmap.STATES})
        == len({state.word for state in fleetmap.STATES})
        == 11
    )


@pytest.mark.parametrize("most", [190_000, 170_000, 160_000])
def test_a_page_that_would_be_too_large_says_what_is_left_out(most: int) -> None:
    """The page keeps its bound; sentences go first, the least first, and their numbers stand at the top."""
    text = page.render_page(fleet(200, 20), report_bytes=most)
    assert len(text.encode()) <= most
    said = re.search(
        r"It holds the sentences of the worst ([\d,]+) of ([\d,]+) findings", Page(text).text
    )
    assert said is not None
    data = _data(text)
    assert len(data["notes"]) == int(said[1].replace(",", "")) < int(said[2].replace(",", ""))
    signs = [RANK[data["hits"]["sign"][note[0]]] for note in data["notes"]]
    assert signs == sorted(signs)
    assert len(data["cells"]) == 200


def test_the_bound_is_kept_to_the_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever room is left behind the last sentence, the page is not a byte larger, its word of what is left out included."""
    monkeypatch.setattr(page, "NOTES", 1)  # the same sentence of every finding: small steps
    whole = fleet(40, 20)
    least = len(page.render_page(whole).encode()) - 1_200
    over = {
        most: len(page.render_page(whole, report_bytes=most).encode()) - most
        for most in range(least, least + 30)
    }
    assert max(over.values()) <= 0, over


def test_cases_go_last_and_months_still_speak_of_all() -> None:
    """When even the bare map is too large the worst half is kept, and so on; the page says how many and what to do."""
    whole = fleet(600, 40)
    text = page.render_page(whole, report_bytes=160_000)
    data = _data(text)
    kept = len(data["cells"])
    assert len(text.encode()) <= 160_000
    assert 0 < kept < 600
    assert data["cells"] == [one.cells for one in whole.cases[:kept]]
    assert f"It shows the worst {kept} of 600 cases" in Page(text).text
    assert data["months"]["counts"] == whole.months.counts


def test_top_is_told(found: Fleet) -> None:
    """A page of the worst three says that it is not all."""
    text = page.render_page(fleetmap.keep_worst(found, 3))
    assert _data(text)["cells"] == [one.cells for one in found.cases[:3]]
    assert "Shown as asked: the worst 3 of 8 cases." in Page(text).text


@pytest.mark.release
@pytest.mark.size
def test_ten_thousand_cases_of_three_hundred_rules_fit() -> None:
    """3,000,000 cells and 60,000 hits with their sentences stay below the default bound."""
    many = fleet(500, 300)
    cases = [
        replace(one, id=f"{n:032x}", short=f"{n:012x}") for n, one in enumerate(many.cases * 20)
    ]
    hits = [
        replace(hit, case=hit.case + 500 * part) for part in range(20) for hit in many.hits[::10]
    ]
    text = page.render_page(replace(many, cases=cases, hits=hits, total=10_000))
    assert len(hits) > 50_000
    assert len(text.encode()) <= 20 << 20
    assert len(_data(text)["cells"]) == 10_000


def _data(text: str) -> dict[str, Any]:
    block: dict[str, Any] = json.loads(text.split('id="fleet">', 1)[1].split("</script>", 1)[0])
    return block


# --- scripts and colours ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", page.SCRIPTS)
def test_our_script_never_writes_markup(name: str) -> None:
    """No innerHTML, no eval, no request, no inline style text, no storage."""
    script = (REPORT / name).read_text(encoding="utf-8")
    for word in (
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch(", "XMLHttpRequest",
        "WebSocket", "import(", "cssText", 'setAttribute("style', "</", "localStorage",
    ):  # fmt: skip
        assert word not in script, word


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("name", page.SCRIPTS)
def test_our_script_is_valid(name: str) -> None:
    """node can parse it."""
    subprocess.run(["node", "--check", str(REPORT / name)], check=True, capture_output=True)


@pytest.mark.parametrize("place", [0, 1, 2], ids=["light", "dark by system", "dark by choice"])
def test_every_mark_has_a_contrast_of_at_least_four_and_a_half(place: int) -> None:
    """The mark of each state on its ground, the stripes of «cannot tell», and the numbers of the months."""
    from tests.report.test_report_html import _luminance

    css = read_styles("fleet.css")
    blocks = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))
        for block in re.findall(r"\{([^{}]*)\}", css)
        if "--fill0:" in block
    ]
    assert len(blocks) == 3
    colours = blocks[place]
    pairs = (
        [(f"on{n}", f"fill{n}") for n in range(8)]
        + [("on6", "hatch")]
        + [(f"warm{n}", f"heat{n}") for n in range(1, 5)]
    )
    for ink, ground in pairs:
        light, dark = sorted((_luminance(colours[ink]), _luminance(colours[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)


# --- the terminal and the command ------------------------------------------------------------------


def test_the_terminal_shows_the_worst_rows_and_counts_the_rest(archive: Archive) -> None:
    """Marks of the worst cases by rule, the names of the rules, and how many more there are."""
    text = run("heatmap", "--archive", archive.objects.url, "--top", 2).output
    lines = text.splitlines()
    assert next(line for line in lines if line.startswith("alpha")).split()[1:5] == [
        "C",
        "?",
        "·",
        "–",
    ]
    assert next(line for line in lines if line.startswith("beta")).split()[1:5] == [
        "M",
        "·",
        "V",
        "·",
    ]
    assert "  1  ring KB 2039495: 2 cases, cannot tell in 1. The ring is bad" in lines
    assert "6 more cases: --top 8 shows all." in lines


def test_a_pipe_gets_a_map_that_can_be_read(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe has no width: the map has 160 columns there; what does not fit is counted."""
    assert archive_heatmap.PIPED == 160
    monkeypatch.setattr(archive_heatmap, "PIPED", 46)
    monkeypatch.delenv("COLUMNS", raising=False)
    text = run("heatmap", "--archive", archive.objects.url).output
    assert next(line for line in text.splitlines() if line.startswith("alpha")).split()[1:3] == [
        "C",
        "?",
    ]
    assert "more rules would not fit the width" in text


def test_the_terminal_shows_hosts_with_their_first_time(archive: Archive) -> None:
    """A host stands with the worst of each rule, in how many cases, and when it was first seen."""
    text = run("heatmap", "--archive", archive.objects.url, "--by", "host", "--rule", "ring").output
    row = next(line for line in text.splitlines() if line.startswith("esx1"))
    assert row.split() == ["esx1", "C3", "first", "seen", "2017-09-19"]


def test_a_host_whose_signs_have_no_time_says_so(tmp_path: Path) -> None:
    """Found without a time: the day of the capture, and where that is unknown too, that no time is known; else nothing."""
    cases = [
        Told("one", "2017-10-05T00:00:00Z", "ring C esxa"),
        Told("two", "", "ring M esxb; ring W esxd 2017-10-02"),
        Told("three", "2017-10-06T00:00:00Z", "ring ? esxc"),
    ]
    text = run(
        "heatmap", "--archive", stored(tmp_path / "a", cases).objects.url, "--by", "host"
    ).output
    rows = {line.split()[0]: line for line in text.splitlines() if line.startswith("esx")}
    assert rows["esxa"].endswith("captured 2017-10-05; its signs have no time")
    assert rows["esxb"].endswith("no time known")
    assert rows["esxc"].split() == ["esxc", "?"]
    assert rows["esxd"].endswith("first seen 2017-10-02")


def test_list_report_and_sql_count_the_same_open_questions(tmp_path: Path) -> None:
    """Three subjects that one thing would settle are one «cannot tell» in list, report and SQL; the map names subjects."""
    told = Told(
        "one",
        "2017-10-05T00:00:00Z",
        "ring ? esxa; ring ? esxa; paths ? esxb; limit mM esxa",
        quiet="old",
    )
    url = stored(tmp_path / "a", [told]).objects.url
    (row,) = (
        json.loads(line) for line in run("list", "--archive", url, "--json").stdout.splitlines()
    )
    assert row["cannot_tell"] == 1
    assert "1 needs more data" in run("show", "one", "--archive", url).stdout
    assert (
        run("sql", "SELECT unknowns FROM cases", "--archive", url, "--csv").stdout.splitlines()[-1]
        == "1"
    )
    asked = "SELECT count(*), count(DISTINCT (missing, ask)) FROM unknowns WHERE muted = ''"
    assert run("sql", asked, "--archive", url, "--csv").stdout.splitlines()[-1] == "3,1"
    text = run("heatmap", "--archive", url).output
    assert "?2" in next(line for line in text.splitlines() if line.startswith("one"))
    assert "with ? the objects that the rule cannot judge" in text


def test_the_terminal_shows_hits_per_rule_per_month(archive: Archive) -> None:
    """Numbers of cases by month, and in how many a rule cannot tell."""
    text = run("heatmap", "--archive", archive.objects.url, "--by", "month").output
    row = next(line for line in text.splitlines() if line.startswith("ring"))
    assert row.split()[:2] == ["ring", "2"]
    assert row.endswith("cannot tell in 1")
    head = next(line for line in text.splitlines() if line.startswith("rule, worst first")).split()
    assert row.split()[head.index("2017-09") - 2] == "2"


def test_hostile_names_do_not_steer_the_terminal(tmp_path: Path) -> None:
    """Control and bidi signs of names and sentences are shown, not sent."""
    archive = stored(
        tmp_path / "a", [replace(CASES[0], name=f"alpha{HOSTILE.replace('/', ' ')[:40]}")], HOSTILE
    )
    for by in ("case", "host", "month"):
        text = run("heatmap", "--archive", archive.objects.url, "--by", by).output
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_a_poor_terminal_never_shows_another_mark(tmp_path: Path, found: Fleet) -> None:
    """Where «found nothing» cannot be written it is not the question mark of «cannot tell»."""
    with (tmp_path / "out").open("w", encoding="ascii") as out:
        fleetterm.print_fleet(found, Console(file=out, width=90))
    row = next(
        line for line in (tmp_path / "out").read_text().splitlines() if line.startswith("zeta")
    )
    assert row.split()[1:5] == [".", "-", "/", "/"]


def test_the_page_and_the_reports_are_written_below_ids_only(
    archive: Archive, found: Fleet, tmp_path: Path
) -> None:
    """fleet.html, and one report for each case that was read; the page links those; a second run gives the same bytes."""
    words = ("heatmap", "--archive", archive.objects.url, "-o", tmp_path / "out", "--with-reports")
    done = run(*words)
    assert done.exit_code == 0
    assert "7 case reports" in done.output
    names = {path.name for path in (tmp_path / "out" / "cases").iterdir()}
    assert names == {one.short for one in found.cases if one.read}
    assert all(re.fullmatch("[0-9a-f]{12}", name) for name in names)
    text = (tmp_path / "out" / "fleet.html").read_text(encoding="utf-8")
    assert _data(text)["cases"]["report"] == "".join(
        "y" if one.read else "n" for one in found.cases
    )
    first = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.html")}
    run(*words)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.html")} == first


def test_reports_of_many_cases_show_how_far_they_are(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each report moves the counter, of as many as will be written."""
    shown: list[tuple[int, int]] = []
    monkeypatch.setattr(
        counter.Counter, "show", lambda self, done, total: shown.append((done, total))
    )
    assert (
        run(
            "heatmap", "--archive", archive.objects.url, "-o", tmp_path / "out", "--with-reports"
        ).exit_code
        == 0
    )
    assert shown == [(number, 7) for number in range(7)]


def test_reports_of_an_earlier_run_stay(archive: Archive, tmp_path: Path) -> None:
    """What an earlier run, or anybody else, left in the folder is not deleted, and the new page does not link it."""
    words = ("heatmap", "--archive", archive.objects.url, "-o", tmp_path / "out", "--with-reports")
    run(*words)
    before = set((tmp_path / "out" / "cases").iterdir())
    assert run(*words, "--top", 1).exit_code == 0
    assert set((tmp_path / "out" / "cases").iterdir()) == before
    text = (tmp_path / "out" / "fleet.html").read_text(encoding="utf-8")
    assert _data(text)["cases"]["report"] == "y"


def test_reports_need_a_folder(archive: Archive) -> None:
    """--with-reports without -o is a usage error."""
    done = run("heatmap", "--archive", archive.objects.url, "--with-reports")
    assert done.exit_code == 2
    assert "-o FOLDER" in done.output


def test_nothing_is_written_but_into_the_folder(archive: Archive, tmp_path: Path) -> None:
    """The archive is as it was, and beside the page nothing lies."""
    before = {item.name: item.mtime for item in archive.objects.list()}
    run("heatmap", "--archive", archive.objects.url, "-o", tmp_path / "out", "--top", 3)
    assert {item.name: item.mtime for item in archive.objects.list()} == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["fleet.html"]
