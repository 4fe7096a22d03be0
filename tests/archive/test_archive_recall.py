"""Cases out of the archive: the same bytes of case.json from packs and segments, with the catalog of then or of today."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from analyzer import rules
from analyzer.archive.documents import DamagedError
from analyzer.archive.entry import Stored
from analyzer.archive.packs import encode, factcolumns, smalltables
from analyzer.archive.restore import recall
from analyzer.archive.restore.reading import WRITTEN_OUT
from analyzer.archive.restore.relations import relation_sql
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.case import case_file
from analyzer.facts import database
from analyzer.judge import judge, judge_cases
from analyzer.pipeline.case_data import CaseData, conclude
from analyzer.pipeline.triage import Options, gather_case
from analyzer.rules import Catalog, Rule
from analyzer.rules.language.rulefile import RuleText
from analyzer.rules.settings import Settings
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import Signature
from tests.kit import archive_kit as kit
from tests.kit import rule_kit
from tools.make_bundle import write_bundle

UNUSED = "esxi.advanced_option"  # a declared table of which the first sample has no row
STORM = "slow-storage"  # the sample whose logs have hits of several rules


@pytest.fixture(scope="module", params=["loose", "compacted"])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Return an archive of all sample cases, in packs or in a segment."""
    made = Archive.open(tmp_path_factory.mktemp("recall") / "archive", create=True)
    for number, name in enumerate(kit.SAMPLES):
        kit.stored(made, name, kit.packed(name)[0], stamp=number)
    if request.param == "compacted":
        assert compact_archive(made, all=True, older_than=0).cases == len(kit.SAMPLES)
    return made


def by_name(archive: Archive) -> dict[str, Stored]:
    """Return the stored cases by name."""
    return {
        archive.read_meta(stored)["name"]: stored
        for stored in archive.take_snapshot().list_visible_cases()
    }


@pytest.fixture
def empty(tmp_path: Path) -> Archive:
    """Return an empty archive."""
    return Archive.open(tmp_path / "archive", create=True)


@pytest.mark.process
@pytest.mark.parametrize("name", kit.SAMPLES)
def test_a_stored_case_gives_the_same_bytes(archive: Archive, name: str) -> None:
    """Judged again from what was stored, every sample case gives its case.json to the last byte."""
    stored = by_name(archive)[name]
    again = recall.recall_case(archive, stored, kit.catalog().signatures())
    assert kit.text_of(again) == kit.packed(name)[1] == archive.document_text(stored)


@pytest.mark.size
def test_many_cases_come_back_at_once(archive: Archive) -> None:
    """All cases asked for together are what each is alone, in the order they were asked for."""
    stored = by_name(archive)
    asked = [stored[name] for name in reversed(kit.SAMPLES)]
    found = recall.recall_cases(archive, asked, kit.catalog().signatures())
    assert list(found) == [one.id for one in asked]
    for name, one in stored.items():
        assert kit.text_of(found[one.id]) == kit.packed(name)[1]


@pytest.mark.size
def test_the_lean_facts_give_the_verdicts_of_the_whole(archive: Archive) -> None:
    """Every shipped rule says of every sample the same from its own tables alone as from all facts.

    Of packs each second rule is enough; a segment gives the tables that a pack gives (the tests above): there each fourth.
    """
    stored = by_name(archive)
    whole = recall.recall_cases(archive, [*stored.values()], kit.catalog().signatures())
    packs = {one.judged.holder for one in stored.values()}
    for rule in kit.catalog().rules[:: 2 if len(packs) > 1 else 4]:
        lean = judge_cases(rule, recall.recall_facts(archive, [*stored.values()], rule), lean=True)
        for id, own in lean.items():
            judged = judge(Catalog([rule]), whole[id].facts)
            assert own.counts == judged.counts, rule.id
            assert own.cannot_tell == judged.cannot_tell
            assert [_lean(one) for one in own.findings] == [_lean(one) for one in judged.findings]


def _lean(finding: Any) -> Any:
    return replace(
        finding, evidence=[], trace=None, chart=[], first_seen="", explains=[], explained_by=[]
    )


@pytest.mark.release
@pytest.mark.size
def test_a_large_bundle_comes_back(empty: Archive, tmp_path: Path) -> None:
    """A synthetic bundle with many rotated logs gives the same bytes from the archive."""
    path = tmp_path / "big.tgz"
    write_bundle(path, 20 << 20, 3)
    material = gather_case([path], kit.catalog().signatures(), Options())
    stored = kit.put(empty, "big", material)
    assert kit.text_of(
        recall.recall_case(empty, stored, kit.catalog().signatures())
    ) == kit.text_of(material)
    assert len(material.facts.scans) > 10


# -- another catalog


@cache
def renamed() -> Catalog:
    """Return the shipped rules under other ids, so that all signatures have other names."""
    found = []
    for rule in kit.catalog().rules:
        text = rule.text.text.replace(f"rule: {rule.id}\n", f"rule: {rule.id}-two\n", 1)
        found.append(rules.build(RuleText(rule.text.name, text), kit.catalog().tables, Limits()))
    return Catalog(found, hash="of renamed rules")


@pytest.mark.size
def test_a_changed_threshold_gives_what_a_fresh_triage_gives(archive: Archive) -> None:
    """With another threshold, and with fewer rules, a stored case gives the bytes of reading the case anew."""
    changed = rules.load(thresholds=_moved())
    assert changed.hash != kit.catalog().hash
    fewer = Catalog(kit.catalog().rules[::2], hash="half")
    stored_of = by_name(archive)
    for name in (STORM, "cpu-limited-vm", "lab-ring-before"):
        stored = stored_of[name]
        for catalog in (changed, fewer):
            again = recall.recall_case(archive, stored, catalog.signatures())
            fresh = gather_case(
                [kit.ROOT / "samples" / "cases" / name], catalog.signatures(), Options()
            )
            assert kit.text_of(again, catalog) == kit.text_of(fresh, catalog)


def _moved() -> dict[str, dict[str, float]]:
    """Return every threshold of the catalog, a little changed."""
    return {
        rule.id: {name: type(value)(value + 1) for name, (value, _) in rule.thresholds.items()}
        for rule in kit.catalog().rules
        if rule.thresholds
    }


@pytest.mark.size
@pytest.mark.parametrize("cap", [10_000, 2])
def test_renamed_signatures_find_their_hits(empty: Archive, cap: int) -> None:
    """Rules under other ids find what was searched for them, the limits that were reached are told under their names."""
    limits = Limits(hits_per_signature=cap)
    options = Options(limits=limits)
    path = kit.ROOT / "samples" / "cases" / STORM
    material = gather_case([path], kit.catalog().signatures(), options)
    stored = kit.put(empty, STORM, material)
    other = renamed()
    fresh = gather_case([path], other.signatures(), options)
    again = recall.recall_case(empty, stored, other.signatures())
    assert bool(fresh.limits) is (cap == 2)
    assert _judged(again, other, limits) == _judged(fresh, other, limits)
    assert "-two" in _judged(again, other, limits)


def test_a_limit_of_a_rule_that_is_gone_is_gone(empty: Archive) -> None:
    """Without the rule whose hits were cut off the case is whole again, as a fresh triage would find it."""
    limits = Limits(hits_per_signature=2)
    path = kit.ROOT / "samples" / "cases" / STORM
    material = gather_case([path], kit.catalog().signatures(), Options(limits=limits))
    assert not material.complete
    stored = kit.put(empty, STORM, material)
    without = Catalog([rule for rule in kit.catalog().rules if not rule.logs], hash="no logs")
    fresh = gather_case([path], without.signatures(), Options(limits=limits))
    again = recall.recall_case(empty, stored, without.signatures())
    assert (again.limits, again.complete) == (fresh.limits, fresh.complete)
    assert _judged(again, without, limits) == _judged(fresh, without, limits)


def _judged(material: CaseData, catalog: Catalog, limits: Limits) -> str:
    return case_file.write_case(conclude(material, catalog, Settings(), limits).document)


@pytest.mark.process
def test_two_rules_with_one_pattern_share_the_hits(empty: Archive) -> None:
    """What was searched once serves every rule that has the same pattern now."""
    material = kit.sample(STORM)
    stored = kit.put(empty, STORM, material)
    both = Catalog([*kit.catalog().rules, *renamed().rules], hash="both")
    fresh = gather_case([kit.ROOT / "samples" / "cases" / STORM], both.signatures(), Options())
    again = recall.recall_case(empty, stored, both.signatures())
    assert kit.text_of(again, both) == kit.text_of(fresh, both)


# -- signatures that were not searched


def _without(ids: set[str]) -> list[Signature]:
    return [one for one in kit.catalog().signatures() if one.id.partition("/")[0] not in ids]


def test_a_signature_that_was_not_searched_leaves_its_rule_open(empty: Archive) -> None:
    """Rules whose signatures are new cannot tell and say why, with nothing to ask the customer for; all others stand."""
    path = kit.ROOT / "samples" / "cases" / STORM
    whole = kit.judged(kit.sample(STORM))
    found = {one.rule for one in whole.judgement.findings}
    new = {rule.id for rule in kit.catalog().rules if rule.logs and rule.id in found}
    assert new
    known = _without(new)
    material = gather_case([path], known, Options())
    outcome = kit.judged(
        material, Catalog([rule for rule in kit.catalog().rules if rule.id not in new])
    )
    pack = encode.encode_case(material, outcome, kit.meta_of(STORM, kit.searched(known)))
    stored = kit.stored(empty, STORM, pack)
    signatures = kit.catalog().signatures()
    missing = recall.find_unsearched(empty.read_meta(stored)["searched"], signatures)
    assert {one.id.partition("/")[0] for one in missing} == new
    again = kit.judged(recall.recall_case(empty, stored, signatures))
    assert {one.rule for one in again.judgement.findings} == found - new
    open_now = [one for one in again.judgement.cannot_tell if one.rule in new]
    assert {one.rule for one in open_now} == new
    for one in open_now:
        assert (
            "was not searched when this case was stored; `backline batch --rescan` does" in one.why
        )
        assert (one.reason, one.ask) == ("unreadable", "")
    others = [one for one in again.judgement.cannot_tell if one.rule not in new]
    assert others == [one for one in whole.judgement.cannot_tell if one.rule not in new]


def test_events_of_a_case_stored_before_they_were_a_log_are_to_be_searched_for(
    empty: Archive,
) -> None:
    """Its vobd.log was kept, its events were not: the rule cannot tell and names `--rescan`, not a file to send."""
    material = kit.sample("slow-storage")
    whole = kit.judged(kit.sample("slow-storage"))
    assert "esx-event" in {one.rule for one in whole.judgement.findings}
    material.facts.scans = [scan for scan in material.facts.scans if not scan.part_of]
    for node in material.facts.nodes:
        material.facts._covers.pop((node, "esxi.event"), None)
    material.facts._covered.pop("esxi.event")
    known = [one for one in kit.catalog().signatures() if one.table != "esxi.event"]
    outcome = kit.judged(
        material, Catalog([rule for rule in kit.catalog().rules if rule.id != "esx-event"])
    )
    stored = kit.stored(
        empty,
        "slow-storage",
        encode.encode_case(material, outcome, kit.meta_of("slow", kit.searched(known))),
    )
    again = kit.judged(recall.recall_case(empty, stored, kit.catalog().signatures()))
    (unknown,) = [one for one in again.judgement.cannot_tell if one.rule == "esx-event"]
    assert (
        "was not searched when this case was stored; `backline batch --rescan` does" in unknown.why
    )
    assert unknown.ask == ""


@pytest.mark.parametrize("old", [False, True])
def test_a_stored_log_within_another_names_that_log(
    empty: Archive, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    """Events in vobd.log come back as a part of it, also of a case stored before the archive held which log that is."""
    if old:
        now = factcolumns._scan_info
        monkeypatch.setattr(
            factcolumns, "_scan_info", lambda scan: [*now(scan)[:-1], now(scan)[-1][:2]]
        )
    material = kit.sample("slow-storage")
    parts = {(scan.table, scan.address): scan.part_of for scan in material.facts.scans}
    assert "esxi.vobd" in parts.values()
    stored = kit.stored(
        empty,
        "slow-storage",
        encode.encode_case(material, kit.judged(material), kit.meta_of("slow")),
    )
    again = recall.recall_case(empty, stored, kit.catalog().signatures())
    assert {(scan.table, scan.address): scan.part_of for scan in again.facts.scans} == parts


def test_a_log_that_was_never_there_stays_missing(empty: Archive) -> None:
    """A new signature in a log the case does not have is asked for as ever: another search would find nothing."""
    name = "lab-ring-before"  # transcripts only
    fresh = kit.text_of(kit.sample(name))
    material = gather_case([kit.ROOT / "samples" / "cases" / name], [], Options())
    pack = encode.encode_case(
        material, kit.judged(material, Catalog()), kit.meta_of(name, kit.searched([]))
    )
    stored = kit.stored(empty, name, pack)
    assert kit.text_of(recall.recall_case(empty, stored, kit.catalog().signatures())) == fresh


SEEN = {
    "logs": "{old: {in: esxi.made_up_log, match: 'old'}, new: {in: esxi.made_up_log, match: 'new'}}",
    "seen": "{had_old: {log: old, at_least: 1}, had_new: {log: new, at_least: 1}, quiet: {none: new}}",
}


def _unsearched(rule: Rule, text: str) -> rule_kit.Kit:
    """Return facts of a log that was searched for the signature `old` only."""
    facts = rule_kit.Kit().add(rule_kit.BASE, [{"key": 1}]).log(rule, text)
    (scan,) = facts.facts.scans
    scan.hits = [hit for hit in scan.hits if hit.signature == "made-up/old"]
    scan.counts.pop("made-up/new")
    scan.unsearched = frozenset({"made-up/new"})
    return facts


@pytest.mark.parametrize(
    ("condition", "text", "verdict"),
    [
        ("had_old or had_new", "old one", "match"),
        ("had_old and had_new", "old one", "cannot_tell"),
        ("had_old or had_new", "none", "cannot_tell"),
        ("had_old and had_new", "none", "no_match"),
        ("not had_new", "old one", "cannot_tell"),
        ("quiet and not had_old", "none", "cannot_tell"),
        ("quiet and not had_old", "old", "no_match"),
    ],
)
def test_a_hit_that_is_known_stays_certain(condition: str, text: str, verdict: str) -> None:
    """What was not searched is unknown, neither there nor not: only what hangs on it becomes «cannot tell»."""
    rule = rule_kit.rule(condition, **SEEN)
    facts = _unsearched(rule, text)
    assert facts.counts(rule) == {verdict: 1}
    for doubt in facts.judge(rule).cannot_tell:
        assert (doubt.reason, doubt.missing, doubt.ask) == ("unreadable", rule_kit.LOG.name, "")
        assert "the signature `new` was not searched when this case was stored" in doubt.why


TABLE = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
logs:
  old: {in: esxi.made_up_log, match: 'old (?P<key>.*)'}
  new: {in: esxi.made_up_log, match: 'new (?P<key>.*)'}
join:
  hit: {table: %s, by: [], rows: many}
subject: "thing {one.key}"
ask: the log of the day
when: count(hit.key) > 0
outcomes: [{when: true, severity: major, confidence: confirmed, say: found}]
"""


def test_a_signature_as_a_table_that_was_not_searched_cannot_tell() -> None:
    """Rows of a signature that was not searched may be there: no «no», and nothing to ask the customer for."""
    known, new = rule_kit.full(TABLE % "old"), rule_kit.full(TABLE % "new")
    assert _unsearched(known, "none").counts(known) == {"no_match": 1}
    facts = _unsearched(new, "new a")
    assert facts.counts(new) == {"cannot_tell": 1}
    (doubt,) = facts.judge(new).cannot_tell
    assert doubt.ask == ""
    assert "the signature `new` was not searched when this case was stored" in doubt.why


# -- relations


@pytest.mark.size
def test_a_relation_has_the_rows_of_every_case_under_its_number(archive: Archive) -> None:
    """The rows of a table over many cases are those of each case alone, with its place in the list."""
    stored = by_name(archive)
    cases = [stored[name] for name in kit.SAMPLES]
    con = database.connect()
    sql = relation_sql(archive, cases, con, "esxi.version")
    found = con.execute(
        f"SELECT _case, node, version, _line FROM ({sql}) ORDER BY _case, _row"
    ).fetchall()
    wanted = []
    for number, name in enumerate(kit.SAMPLES):
        facts = kit.sample(name).facts
        for row in facts.store("esxi.version").rows:
            wanted.append((number, facts.name(row.block.node), row.values.get("version"), row.line))
    assert found == wanted
    counted = con.execute(
        f"SELECT count(*) FROM ({relation_sql(archive, cases[:3], con, '_case')})"
    ).fetchall()
    assert counted == [(3,)]
    con.close()


def test_a_table_that_no_case_has_is_empty_and_has_its_columns(archive: Archive) -> None:
    """A relation without any holder has the declared columns and no rows; so has one over no cases."""
    con = database.connect()
    (stored, *_) = by_name(archive).values()
    for cases in ([], [stored]):
        sql = relation_sql(archive, cases, con, UNUSED)
        assert con.execute(
            f"SELECT count(*), count(node), count(_case) FROM ({sql})"
        ).fetchall() == [(0, 0, 0)]
    with pytest.raises(KeyError):
        relation_sql(archive, [stored], con, "no.table")
    con.close()


def test_a_relation_works_in_a_locked_database(archive: Archive) -> None:
    """Once the folder of the archive is allowed, the SQL runs in a locked database that reads no other file."""
    con = database.connect()
    cases = [*by_name(archive).values()]
    sql = relation_sql(archive, cases, con, "_nodes")
    con.execute(f"SET allowed_directories=['{archive.objects.local}/']")
    database.lock(con)
    assert con.execute(f"SELECT count(DISTINCT _case) FROM ({sql})").fetchall() == [(len(cases),)]
    con.close()


@pytest.mark.size
def test_many_cases_of_a_segment_are_found_by_their_places(empty: Archive) -> None:
    """More cases than stand in the SQL itself come out of a segment under their numbers."""
    pack, _ = kit.packed("cut-bundle")
    for number in range(WRITTEN_OUT + 5):
        name = f"case {number}"
        with zipfile.ZipFile(io.BytesIO(pack)) as file:
            members = {one: file.read(one) for one in file.namelist()}
        members["meta.json"] = encode._encode_meta(kit.meta_of(name))
        kit.stored(empty, name, encode._zip_members(members), stamp=number)
    compact_archive(empty, all=True, older_than=0)
    cases = empty.take_snapshot().list_visible_cases()[::-1]
    con = database.connect()
    sql = relation_sql(empty, cases, con, "_nodes")
    assert [
        row[0] for row in con.execute(f"SELECT _case FROM ({sql}) ORDER BY _case").fetchall()
    ] == [*range(len(cases))]
    assert len(recall.recall_facts(empty, cases, kit.catalog().rules[0])) == len(cases)
    con.close()


# -- damage


def test_a_case_without_facts_says_so(empty: Archive) -> None:
    """A case of which only a judgement is stored cannot come back, and the error says what helps."""
    pack = encode.encode_case(
        None, kit.judged(kit.sample("cut-bundle")), kit.meta_of("x"), kind="case"
    )
    stored = kit.stored(empty, "x", pack, kind="case")
    with pytest.raises(BacklineError, match="not stored"):
        recall.recall_case(empty, stored, [])


@pytest.mark.parametrize(
    "member", ["tables/_blocks.parquet", "tables/esxi.vnic.parquet", "tables.jsonl"]
)
def test_a_table_whose_name_was_damaged_is_not_taken_for_one_that_was_never_there(
    empty: Archive, member: str
) -> None:
    """One changed byte of a name in the list of a pack would hide its table: that is damage, not an empty table."""
    material = kit.sample("slow-storage")
    with patch.object(smalltables, "ROWS", smalltables.ROWS if member == smalltables.MEMBER else 0):
        pack = encode.encode_case(material, kit.judged(material), kit.meta_of("slow-storage"))
    at = pack.rindex(member.encode())
    broken = pack[: at + 8] + bytes([pack[at + 8] ^ 1]) + pack[at + 9 :]
    stored = kit.stored(empty, "x", pack)
    empty.objects.put(stored.judged.holder, broken)
    with pytest.raises(DamagedError):
        recall.recall_case(empty, stored, kit.catalog().signatures())


@pytest.mark.size
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_a_damaged_pack_is_one_plain_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A pack that is cut, or has bytes changed, or lost a member, gives DamagedError or the case as it was."""
    pack, text = kit.packed("cpu-limited-vm")
    how = data.draw(st.sampled_from(["cut", "changed", "member", "garbled"]))
    if how == "cut":
        broken = pack[: data.draw(st.integers(0, len(pack) - 1))]
    elif how == "changed":
        at = data.draw(st.integers(0, len(pack) - 1))
        broken = pack[:at] + bytes([pack[at] ^ data.draw(st.integers(1, 255))]) + pack[at + 1 :]
    else:
        with zipfile.ZipFile(io.BytesIO(pack)) as file:
            members = {one: file.read(one) for one in file.namelist()}
        name = data.draw(st.sampled_from(sorted(members)))
        at = data.draw(st.integers(0, len(members[name]) - 1))
        changed = members[name][:at] + bytes([members[name][at] ^ 1]) + members[name][at + 1 :]
        members = {one: raw for one, raw in members.items() if one != name} | (
            {} if how == "member" else {name: changed}
        )
        broken = encode._zip_members(members)
    archive = Archive.open(tmp_path_factory.mktemp("damage") / "archive", create=True)
    stored = kit.stored(archive, "x", pack)
    archive.objects.put(stored.judged.holder, broken)
    try:
        again = recall.recall_case(archive, stored, kit.catalog().signatures())
    except DamagedError as error:
        assert stored.judged.holder in str(error)
        return
    if how in ("cut", "changed"):
        assert kit.text_of(again) == text
