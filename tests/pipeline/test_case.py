"""The case document: its schema, its bytes, its order, and what happens to a broken file."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs, to_builtins

from analyzer.case import case_file
from analyzer.case.document import CaseDocument, ChartLine
from analyzer.case.fields import DocumentRecord
from analyzer.case.ranking import order_findings
from analyzer.case.verdicts import Judgement, Reason
from analyzer.commands.made_pages import make_case_schema
from analyzer.pipeline import case
from analyzer.pipeline.triage import triage
from analyzer.runtime.errors import RefusedError
from tests.kit.case_factory import HOSTILE, hostile_case, judgement, quiet_case, rich_case, unknowns

SCHEMA: dict[str, Any] = json.loads(make_case_schema())
CASES = Path(__file__).resolve().parents[2] / "samples" / "cases"
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def list_records(kind: type[DocumentRecord]) -> list[type[DocumentRecord]]:
    """Return a record and all that it holds, each once."""
    found: dict[type[DocumentRecord], None] = {}

    def visit(one: Any) -> None:
        if isinstance(one, msgspec.inspect.StructType):
            if one.cls in found:
                return
            found[one.cls] = None
            for field in one.fields:
                visit(field.type)
        for part in ("type", "item_type", "value_type"):
            visit(getattr(one, part)) if hasattr(one, part) else None
        for option in getattr(one, "types", ()):
            visit(option)

    visit(msgspec.inspect.type_info(kind))
    return list(found)


def find_texts(kind: Any, extra: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the texts of a field with what is noted of them."""
    if isinstance(kind, msgspec.inspect.Metadata):
        yield from find_texts(kind.type, extra | (kind.extra or {}))
    elif isinstance(kind, msgspec.inspect.StrType):
        yield kind, extra
    elif isinstance(kind, msgspec.inspect.ListType):
        yield from find_texts(kind.item_type, extra)
    elif isinstance(kind, msgspec.inspect.DictType):
        yield from find_texts(kind.value_type, extra)
    elif isinstance(kind, msgspec.inspect.UnionType):
        for option in kind.types:
            yield from find_texts(option, extra)


@pytest.fixture(scope="module")
def doc() -> CaseDocument:
    return rich_case()


def test_the_schema_is_itself_valid() -> None:
    """The schema that `backline show --schema` prints is a JSON Schema 2020-12."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("make", [rich_case, quiet_case, hostile_case])
def test_documents_validate_against_the_published_schema(make: Any) -> None:
    """A full, an empty and a hostile document have exactly the keys and kinds of the schema."""
    assert [error.message for error in VALIDATOR.iter_errors(to_builtins(make()))] == []


def test_the_schema_refuses_a_key_it_does_not_name(doc: CaseDocument) -> None:
    """The schema is strict at every level."""
    evidence = ("findings", 0, "evidence", 0)
    for path in ((), ("case",), ("findings", 0), evidence, ("nodes", 0), ("sources", 0)):
        changed = to_builtins(doc)
        place: Any = changed
        for key in path:
            place = place[key]
        place["surprise"] = 1
        assert list(VALIDATOR.iter_errors(changed)), path


@pytest.mark.parametrize("kind", list_records(CaseDocument))
def test_every_text_says_whose_it_is(kind: type[DocumentRecord]) -> None:
    """Each text of each record is the product's, the customer's, or a template; the schema requires every key."""
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        for text, extra in find_texts(field.type, {}):
            assert extra.get("text") in ("product", "customer", "template"), (field.name, text)
    found = SCHEMA if kind is CaseDocument else SCHEMA["$defs"][kind.__name__]
    assert found["required"] == [name for name in kind.__struct_fields__ if name != "map"]


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_a_sample_reads_back_as_the_same_bytes(name: str) -> None:
    """Every sample case is written, read and written again as the same bytes."""
    written = case_file.write_case(triage([CASES / name]).document)
    assert case_file.write_case(case_file.parse_case(written, name)) == written


def test_top_level_keys_stand_in_the_documented_order(doc: CaseDocument) -> None:
    """The document has the keys of the schema in its order."""
    assert list(to_builtins(doc)) == [*SCHEMA["properties"]]


def test_same_input_gives_the_same_bytes() -> None:
    """Two runs over the same input write the same text, and loading it gives the document back."""
    assert case_file.write_case(rich_case()) == case_file.write_case(rich_case())
    assert json.loads(case_file.write_case(rich_case())) == to_builtins(rich_case())


def test_one_record_stands_on_one_line(doc: CaseDocument) -> None:
    """Two case files can be compared with diff: each finding is one line."""
    lines = case_file.write_case(doc).split("\n")
    assert sum('"rule":"adapter-not-vmxnet3"' in line for line in lines) == 48


@given(st.text(st.characters(codec=None), max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_survives_and_cannot_steer_a_terminal(text: str) -> None:
    """Every text comes back as it was (lone surrogates visible); no control sign stands raw in the file."""
    written = case_file.write_case(structs.replace(quiet_case(), advice=[text]))
    assert json.loads(written)["advice"] == case_file.clean_value([text])
    written.encode("utf-8")
    assert not [
        sign for sign in written if sign != "\n" and (ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0)
    ]
    assert not set(written) & set("\u2028\u2029\u202a\u202e\u2066\u2069\u200e\u200f\u061c\ufeff")


def test_undecodable_bytes_become_visible() -> None:
    r"""A byte that was no text stands as \xNN in the document itself, so that all reports agree."""
    assert HOSTILE.replace("\udcff", r"\xff") in hostile_case().nodes[0].name


def test_numbers_that_json_does_not_know_are_null() -> None:
    """NaN and infinity of a chart are written as null."""
    chart = {
        "title": "t",
        "unit": "%",
        "node": "n",
        "times": [1, 2],
        "a": [float("nan"), float("inf")],
    }
    document = rich_case(judgement=Judgement(series={"x/y": chart}))
    assert document.series["x/y"].lines == [ChartLine(label="a", values=[None, None])]


def test_an_unknown_key_is_a_fault_of_the_caller() -> None:
    """A record with a key the schema does not have is refused at once, by name."""
    with pytest.raises(ValueError, match="no key 'colour'"):
        rich_case(topology=[{"node": "x", "colour": "red"}])


# --- order ---------------------------------------------------------------------------------------


def test_findings_stand_worst_first_and_causes_before_signs(doc: CaseDocument) -> None:
    """The worst story first, and what it explains below it; muted and broken rules last."""
    rules = list(dict.fromkeys(finding.rule for finding in doc.findings))
    assert rules == [
        "cpu-limit-starves-vm",
        "kb-2039495",
        "adapter-not-vmxnet3",
        "kb-2149630",
        "kb-2151719",
        "shell-warning-suppressed",
        "coalescing-non-default",
    ]


def test_a_milder_cause_still_stands_before_its_sign() -> None:
    """A warning that explains a critical finding comes right before it."""
    findings = rich_case().findings
    sign = next(finding for finding in findings if finding.rule == "kb-2039495")
    cause = next(finding for finding in findings if finding.rule == "cpu-limit-starves-vm")
    sign.severity, cause.severity = "critical", "info"
    rules = [finding.rule for finding in order_findings(findings)]
    assert rules[:2] == ["cpu-limit-starves-vm", "kb-2039495"]


def test_findings_that_explain_each_other_do_not_hang() -> None:
    """A circle of causes ends in some order with every finding in it once."""
    findings = rich_case().findings[:2]
    findings[0].explained_by, findings[1].explained_by = (
        [findings[1].id],
        [findings[0].id],
    )
    assert sorted(f.id for f in order_findings(findings)) == sorted(f.id for f in findings)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_order_loses_nothing_and_keeps_a_rule_together(seed: int) -> None:
    """Whatever order the judge gives, no finding is lost and those of one rule are side by side."""
    findings = list(judgement(adapters=6).findings)
    random.Random(seed).shuffle(findings)
    result = order_findings(findings)
    assert sorted(f.id for f in result) == sorted(f.id for f in findings)
    rules = [rule for rule, _ in itertools.groupby(finding.rule for finding in result)]
    assert len(rules) == len(set(rules))


# --- cannot tell, quiet, sources -----------------------------------------------------------------


def test_cannot_tell_is_grouped_by_what_is_missing() -> None:
    """Six verdicts on five ports by two rules are one group with one ask; the widest comes first, muted ones last."""
    groups = case.group_questions(unknowns())
    assert [bool(group.muted) for group in groups] == [False] * 4 + [True]
    assert groups[0].missing == "esxi.vmxnet3_rx_summary"
    assert groups[0].rules == ["kb-2039495", "rings-at-maximum"]
    assert len(groups[0].subjects) == 5
    assert groups[0].nodes == ["esx07.lab"]


def test_different_reasons_of_one_group_are_all_said() -> None:
    """Up to three different reasons are joined, more are counted."""
    items = unknowns()[:5]
    for number, item in enumerate(items):
        item.why = f"why {number}"
    assert case.group_questions(items)[0].why == "why 0; why 1; why 2; and 2 more like this"


def test_reasons_are_written_as_words() -> None:
    """A reason given as an enumeration is the plain word in the document."""
    items = unknowns()[:1]
    items[0].reason = Reason.UNREADABLE
    document = rich_case(judgement=Judgement(cannot_tell=items))
    assert json.loads(case_file.write_case(document))["cannot_tell"][0]["reason"] == "unreadable"


def test_every_rule_is_in_exactly_one_list(doc: CaseDocument) -> None:
    """A quiet rule is neither found nor unknown; one that matched somewhere is not called quiet."""
    loud = {f.rule for f in doc.findings} | {rule for g in doc.cannot_tell for rule in g.rules}
    quiet = {row.rule for row in doc.quiet}
    assert not loud & quiet
    assert len(quiet) == 61 + 9
    assert "kb-2039495" not in quiet


def test_listed_members_are_folded_only_beyond_two_thousand() -> None:
    """2,000 sources stay; beyond, those nobody reads are one row a folder with count and size."""
    rows = [
        {"address": f"a.tgz!top/commands/{n}.txt", "size": 10, "state": "listed"}
        for n in range(1999)
    ]
    read = {"address": "a.tgz!top/commands/x.txt", "size": 5, "state": "read"}
    assert len(rich_case(sources=[*rows, read]).sources) == 2000
    extra = [{"address": "a.tgz!top/etc/hosts", "size": 7, "state": "listed"}]
    folded = rich_case(sources=[*rows, read, *extra]).sources
    assert [(row.address, row.size, row.state) for row in folded] == [
        ("a.tgz!top/commands/ (1999 files)", 19990, "listed"),
        ("a.tgz!top/commands/x.txt", 5, "read"),
        ("a.tgz!top/etc/hosts", 7, "listed"),
    ]


def test_faults_are_kept_to_two_hundred_and_counted_in_full() -> None:
    """The document holds 200 lines not understood and their true number, also when the caller kept fewer."""
    faults = [
        {"address": "a", "line": n, "text": "", "parser": "p", "why": ""} for n in range(1, 301)
    ]
    document = rich_case(faults=faults)
    assert (len(document.faults), document.faults_total) == (200, 300)
    assert rich_case(faults=faults, faults_total=5000).faults_total == 5000


def test_charts_follow_the_findings(doc: CaseDocument) -> None:
    """The charts of the worst finding come first; flat lines of the judge get their label."""
    assert next(iter(doc.series)) == "cpu-limit-starves-vm/iperf-test1/rdy_pct"
    limited = doc.series["cpu-limit-starves-vm/iperf-test1/mlmtd_pct"]
    assert limited.lines[0].label == "%MLMTD"
    assert len(limited.lines[0].values) == len(limited.times) == 720


# --- reading it back ------------------------------------------------------------------------------


def test_load_gives_the_document_back(tmp_path: Path, doc: CaseDocument) -> None:
    """What was written is what is read, also with a byte order mark in front."""
    path = tmp_path / "case.json"
    path.write_text(case_file.write_case(doc), encoding="utf-8-sig")
    assert case_file.read_case(path) == doc


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'{\n "schema": "backline/case-1",\n oops}', "case.json:3"),
        (b"[]", "no key `schema`"),
        (b'{"schema": "backline/case-99"}', "'backline/case-99'"),
        (b'{"schema": "backline/case-1"}', "has no key `case`"),
        (b"[" * 200_000, "too large"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "too large"),
    ],
)
def test_a_file_that_is_no_case_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes, said: str
) -> None:
    """The error names the file, what is wrong and what to do; it is no traceback."""
    path = tmp_path / "case.json"
    path.write_bytes(content)
    with pytest.raises(RefusedError) as error:
        case_file.read_case(path)
    assert said in str(error.value)
    assert "case.json" in str(error.value)
    assert "run triage again" in str(error.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The error of the system is in the sentence."""
    with pytest.raises(RefusedError, match="No such file"):
        case_file.read_case(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["findings"][3].pop("say"), "findings[3] has no key `say`"),
        (
            lambda d: d["findings"][2]["evidence"][0].pop("address"),
            "findings[2].evidence[0] has no key",
        ),
        (
            lambda d: d["findings"][0].update(kb=["x"]),
            "findings[0] has a value that is not a number under `kb`",
        ),
        (lambda d: d["findings"][0].update(also=[1]), "a value that is not text under `also`"),
        (
            lambda d: d["nodes"][0]["logs"][0].update(lines="x"),
            "another kind of value under `lines`",
        ),
        (lambda d: d["sources"].append(7), "is not an object"),
        (
            lambda d: next(iter(d["series"].values()))["lines"][0]["values"].append("x"),
            "not a number",
        ),
        (lambda d: d["case"].update(span=[]), "case.span is not an object"),
    ],
)
def test_a_damaged_document_names_the_place(tmp_path: Path, change: Any, said: str) -> None:
    """A document with a hole is refused before a report trips over it."""
    document = to_builtins(rich_case())
    change(document)
    path = tmp_path / "case.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RefusedError) as error:
        case_file.read_case(path)
    assert said in str(error.value)


def test_a_bottomless_trace_is_refused(tmp_path: Path) -> None:
    """A trace deeper than a report can draw is no case document."""
    document = to_builtins(rich_case())
    trace: dict[str, Any] = {"text": "x", "value": "", "children": [], "at": "", "note": ""}
    for _ in range(300):
        trace = {**trace, "children": [trace]}
    document["findings"][0]["trace"] = trace
    path = tmp_path / "case.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RefusedError, match="deeper than 200"):
        case_file.read_case(path)


def test_the_written_parts_are_the_whole_text() -> None:
    """Part by part or at once: the same bytes, also of what is no plain JSON yet."""
    document = rich_case()
    document.case.name = "odd \udc80 name"
    document.findings[0].magnitude = float("nan")
    parts = list(case_file.write_parts(document))
    assert (
        "".join(parts)
        == case_file.write_case(document)
        == case_file.write_case(case_file.clean_value(document))
    )
    assert len(parts) > 20
    assert json.loads("".join(parts))["findings"][0]["magnitude"] is None


def test_what_is_clean_is_not_copied() -> None:
    """A clean record comes back as it is; one odd value costs its own way down only."""
    clean = {"a": [1, "x", None, {"b": 0.5}], "c": "text"}
    assert case_file.clean_value(clean) is clean
    odd = {"kept": clean, "odd": ["\udc80", float("inf")]}
    made = case_file.clean_value(odd)
    assert made == {"kept": clean, "odd": ["\\x80", None]}
    assert made["kept"] is clean
