"""Cells of tables as signals: what is bad is told once with its numbers, and what is good says nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts import parsing
from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Frame, Row, Value
from analyzer.case.verdicts import Evidence, Finding, Judgement
from analyzer.facts import Facts
from analyzer.judge import judge
from analyzer.pipeline import triage
from analyzer.rules import Catalog, run_catalog
from analyzer.signals.cell_signs import find_named_sign
from analyzer.signals.cells import find_cell_signals
from analyzer.signals.columns import list_meanings
from tests.kit.sample_kit import ALL, recognised, run

NODE = "esx1"
Cells = Mapping[str, Value]


def make_facts(
    rows: Mapping[str, Sequence[Cells]], captured: str = "2024-01-10T00:00:00Z"
) -> Facts:
    """Return facts of one host with some rows, each on a line of its own."""
    facts = Facts()
    facts.node(NODE, "esx1.lab.example", "esxi", captured=captured)
    for name, some in rows.items():
        lines = [f"line of row {number}" for number in range(len(some))]
        block = Block(lines, 1, f"case!{name}").assign_node(NODE)
        for number, cells in enumerate(some, 1):
            facts.add(Row(facts.tables[name], dict(cells), block, number))
    return facts


def find_signals(
    rows: Mapping[str, Sequence[Cells]], findings: Sequence[Finding] = ()
) -> list[dict[str, Any]]:
    """Return the signals of rows next to some findings."""
    facts = make_facts(rows)
    judgement = judge(Catalog([]), facts)
    judgement.findings.extend(findings)
    return find_cell_signals(facts, judgement)


def say_found(address: str, line: int, label: str) -> Finding:
    """Return a finding that rests on one line."""
    evidence = Evidence(label=label, address=address, line=line, text="the line", node="")
    return Finding(
        id="rule/thing",
        rule="rule",
        title="A fault",
        kb=[],
        issues=[],
        status="stable",
        node="esx1.lab.example",
        subject="thing",
        object="thing",
        verdict="match",
        severity="major",
        confidence="confirmed",
        say="It is so.",
        evidence=[evidence],
    )


NIC = {"pnic": "vmnic3", "rx_packets": 1_000_000, "tx_packets": 500_000}
PATH = {"path_uid": "fc.a-fc.b-naa.1", "path_state": "active"}


def test_counters_of_one_object_are_one_signal_with_their_shares() -> None:
    """The counter with the largest share comes first; the record is complete and has no severity."""
    row = NIC | {"rx_missed_errors": 4_000, "rx_crc_errors": 20, "tx_dropped": 0}

    (found,) = find_signals({"esxi.pnic_stats": [row]})

    assert found == {
        "node": NODE,
        "kind": "cell",
        "module": "esxi.pnic_stats.rx_missed_errors",
        "what": "rx_missed_errors is 4,000, 0.4 % of rx_packets; rx_crc_errors is 20, 0.002 % of rx_packets",
        "object": "vmnic3",
        "title": "",
        "count": 1,
        "first": "",
        "last": "",
        "ended": "",
        "address": "case!esxi.pnic_stats",
        "line": 1,
        "text": "line of row 0",
        "last_address": "",
        "last_line": 0,
        "weight": 3.5,
        "why": ["counter of loss", "0.4 % of rx_packets"],
    }


def test_the_share_decides_the_weight() -> None:
    """One packet in a hundred weighs more than one in a thousand, and that more than one in a million."""
    lost = {"vmnic0": 10_000, "vmnic1": 1_000, "vmnic2": 1}
    rows = [NIC | {"pnic": name, "rx_dropped": number} for name, number in lost.items()]

    found = find_signals({"esxi.pnic_stats": rows})

    weights = [(one["object"], one["weight"]) for one in found]
    assert weights == [("vmnic0", 4.5), ("vmnic1", 3.5), ("vmnic2", 2.2)]


def test_two_objects_are_two_subjects() -> None:
    """Counters of two NICs are told apart; the same state of two paths is one line that counts both."""
    nics = [NIC | {"pnic": name, "rx_dropped": 5} for name in ("vmnic0", "vmnic1")]
    paths = [PATH | {"path_uid": name, "path_state": "dead"} for name in ("a", "b")]

    found = find_signals({"esxi.pnic_stats": nics, "esxi.storage_path": paths})

    told = [(one["module"], one["object"], one["count"]) for one in found]
    assert told == [
        ("esxi.storage_path.path_state", "a", 2),
        ("esxi.pnic_stats.rx_dropped", "vmnic0", 1),
        ("esxi.pnic_stats.rx_dropped", "vmnic1", 1),
    ]


def test_two_states_are_two_signals() -> None:
    """What says something else of the same column is told by itself, the worse first."""
    rows = [PATH | {"path_uid": name, "path_state": name} for name in ("dead", "off", "standby")]
    found = find_signals({"esxi.storage_path": rows})
    assert sorted(one["what"] for one in found) == ["path_state is dead", "path_state is off"]


def test_many_objects_are_folded_with_their_number() -> None:
    """Of two hundred NICs with drops the worst are told one by one, the rest by number: none is lost in silence."""
    rows = [NIC | {"pnic": f"vmnic{number}", "rx_dropped": number + 1} for number in range(200)]

    found = find_signals({"esxi.pnic_stats": rows})

    assert len(found) == 21
    assert sum(one["count"] for one in found) == 200
    folded = max(found, key=lambda one: int(one["count"]))
    assert folded["what"].startswith("counters of loss of 180 more objects are not 0")


def test_all_counters_that_are_not_0_are_named() -> None:
    """Ten counters of one NIC: five with their values, the others by name."""
    table = parsing.tables()["esxi.pnic_stats"]
    lost = [name for name, one in list_meanings(table).items() if one.sign.how == "loss"]
    (found,) = find_signals({"esxi.pnic_stats": [NIC | dict.fromkeys(lost, 7)]})
    assert len(lost) > 10
    assert all(name in found["what"] for name in lost)


def test_how_full_a_thing_is_stands_once() -> None:
    """Used, free and percent of one file system are one record; its inodes are another thing."""
    df = {
        "mount_point": "/",
        "used_bytes": 99,
        "free_bytes": 1,
        "size_bytes": 100,
        "fs_used_pct": 99,
    }
    ramdisk = {"used_kib": 95, "maximum_kib": 100, "used_inodes": 99, "maximum_inodes": 100}

    found = find_signals({"esxi.df": [df], "esxi.ramdisk": [ramdisk | {"ramdisk": "tmp"}]})

    assert [one["module"] for one in found if one["module"].startswith("esxi.df")] == [
        "esxi.df.fs_used_pct"
    ]
    assert sorted(one["what"] for one in found if one["module"].startswith("esxi.ramdisk")) == [
        "used_inodes is 99, 99 % of maximum_inodes",
        "used_kib is 95, 95 % of maximum_kib",
    ]


def test_a_bundle_tells_its_own_capture() -> None:
    """A snapshot is as old as it was when the bundle was made, whatever else is known of the host."""
    snapshot = {"vm_folder": "web01", "snapshot_uid": 1, "created": "2023-12-30 00:00:00"}
    bundle = {"captured": "2024-01-01 00:00:00"}
    assert find_signals({"esxi.vm_snapshot": [snapshot], "esxi.bundle": [bundle]}) == []
    (found,) = find_signals({"esxi.vm_snapshot": [snapshot]})
    assert found["what"] == "created is 2023-12-30, more than 3 days ago"


# -- nothing to say


@cache
def read_good_rows() -> list[tuple[str, Cells]]:
    """Return rows of which nothing is bad, some of each kind of sign."""
    return [
        ("esxi.pnic_stats", NIC | {"rx_dropped": 0, "tx_errors": 0}),
        ("esxi.storage_path", PATH),
        ("esxi.storage_path", PATH | {"path_uid": "x", "path_state": "Standby"}),
        ("esxi.advanced_option", {"option": "/A/B", "value": 5, "default_value": 5}),
        ("esxi.df", {"mount_point": "/", "used_bytes": 10, "size_bytes": 100, "fs_used_pct": 10}),
        ("esxi.pnic", {"pnic": "vmnic0", "link_up": True, "duplex": "Full", "speed_mbps": 10000}),
        ("esxi.certificate", {"valid_until": "2030-01-01 00:00:00"}),
        ("nsxt.cluster_group", {"group_status": "STABLE", "overall_status": "STABLE"}),
        ("esxi.ipmi_sel", {"sel_message": "Deassert + Uncorrectable ECC", "is_asserted": False}),
        ("esxi.ipmi_sel", {"sel_message": "Assert + Drive Presence", "is_asserted": True}),
        ("esxi.ntp_variable", {"ntp_name": "stratum", "ntp_number": 3}),
        ("esxi.pnic_private_stats", {"pnic": "vmnic0", "key": "rx_packets", "value": 9}),
        ("esxi.pnic_private_stats", {"pnic": "vmnic0", "key": "rx_dropped", "value": 0}),
        ("esxi.command_value", {"label": "Health Status", "cell_text": "OK"}),
    ]


def test_good_values_say_nothing() -> None:
    """Zeros, defaults, good states and dates to come are no signal."""
    rows: dict[str, list[Cells]] = {}
    for name, cells in read_good_rows():
        rows.setdefault(name, []).append(cells)
    assert find_signals(rows) == []


def test_cells_without_a_value_say_nothing() -> None:
    """A row of which no cell is known, in every table that has a meaning, is no signal and no error."""
    rows = {}
    for table in parsing.tables().values():
        if not table.log and table.given is None and not table.made_of and list_meanings(table):
            rows[table.name] = [table.blank(), dict.fromkeys(table.blank(), "")]
    made = ("site.", "nsxt.site_")  # made of these rows: a member that does not answer
    assert [one for one in find_signals(rows) if not one["module"].startswith(made)] == []


def test_what_is_switched_off_weighs_little() -> None:
    """An interface that somebody switched off is down on purpose."""
    rows = [
        {"interface": "vNic_0", "admin_up": True, "link_up": False},
        {"interface": "vNic_1", "admin_up": False, "link_up": False},
    ]
    found = find_signals({"nsx.edge_interface": rows})
    assert [(one["what"], one["count"], one["weight"]) for one in found] == [
        ("link_up is false", 2, 3.5),
        ("admin_up is false", 1, 1.5),
    ]


@pytest.mark.size
def test_the_sample_of_a_healthy_host_is_quiet() -> None:
    """Of a host without trouble at most five cells are told."""
    options = triage.Options()
    material = triage.gather_case([Path("samples/cases/healthy-host")], [], options)
    assert len(find_cell_signals(material.facts, judge(Catalog([]), material.facts))) <= 5


# -- explained


def test_what_a_finding_rests_on_is_left_out() -> None:
    """The row of the evidence is explained, the other one is not."""
    rows = [PATH | {"path_uid": name, "path_state": "dead"} for name in ("a", "b")]
    finding = say_found("case!esxi.storage_path", 2, "path.path_state = dead")
    (found,) = find_signals({"esxi.storage_path": rows}, [finding])
    assert (found["object"], found["count"]) == ("a", 1)


def test_of_a_long_line_the_value_is_explained() -> None:
    """JSON may hold a whole table in one line: a finding about one NIC explains no other."""
    facts = make_facts({"esxi.pnic_stats": []})
    block = Block(["{}"], 1, "case!nics.json").assign_node(NODE)
    for name, lost in (("vmnic0", 7_000), ("vmnic1", 9)):
        cells = NIC | {"pnic": name, "rx_dropped": lost}
        facts.add(Row(facts.tables["esxi.pnic_stats"], cells, block, 1))
    finding = say_found("case!nics.json", 1, "nic.rx_dropped = 7000")
    finding.evidence[0].text = "x" * 1_000
    judgement = judge(Catalog([]), facts)
    judgement.findings.append(finding)

    assert [one["object"] for one in find_cell_signals(facts, judgement)] == ["vmnic1"]


def test_the_twin_of_an_explained_row_is_left_out() -> None:
    """The same path printed by two files is one path: what explains one print explains the other."""
    rows = [PATH | {"path_state": "dead"}, PATH | {"path_state": "dead"}]
    finding = say_found("case!esxi.storage_path", 1, "path.path_state = dead")
    assert find_signals({"esxi.storage_path": rows}, [finding]) == []


def test_of_many_rows_that_decide_all_are_explained() -> None:
    """A finding shows some of the rows it rests on, and says how many there are."""
    rows = [PATH | {"path_uid": str(number), "path_state": "dead"} for number in range(30)]
    finding = say_found("case!esxi.storage_path", 1, "path.path_state = dead (25 more not shown)")
    assert find_signals({"esxi.storage_path": rows}, [finding]) == []


def test_evidence_of_another_node_explains_nothing() -> None:
    """Two hosts may have files of one name."""
    finding = say_found("case!esxi.storage_path", 1, "path.path_state = dead")
    finding.node = "esx2.lab.example"
    rows = {"esxi.storage_path": [PATH | {"path_state": "dead"}]}
    assert len(find_signals(rows, [finding])) == 1


# -- tables of values by name


def test_a_named_value_is_read_by_its_name() -> None:
    """A driver's own counters are rows: the name says which are of loss, and which count the whole."""
    own = {"pnic": "vmnic0", "queue_name": None}
    rows = [
        own | {"key": "rx_dropped_no_bufs", "value": 30_000},
        own | {"key": "rx_packets", "value": 1_000_000},
        own | {"key": "txTimeouts", "value": 3_000},
    ]
    (found,) = find_signals({"esxi.pnic_private_stats": rows})
    assert found["object"] == "vmnic0"
    assert (
        found["what"]
        == "rx_dropped_no_bufs is 30,000, 3 % of rx_packets; txTimeouts is 3,000, 0.3 % of rx_packets"
    )
    assert (found["weight"], found["count"]) == (4.5, 2)


def test_a_name_tells_its_own_bar() -> None:
    """Stratum 16 is a clock without a source, as the parser declares of that name."""
    (found,) = find_signals({"esxi.ntp_variable": [{"ntp_name": "stratum", "ntp_number": 16}]})
    assert found["what"] == "stratum is 16, above 15"


def test_a_date_is_held_against_the_capture() -> None:
    """A certificate that is over, one that ends in a month, and one that has years."""
    rows = [
        {"certificate": name, "valid_until": until}
        for name, until in (
            ("over", "2024-01-01 00:00:00"),
            ("soon", "2024-02-01 00:00:00"),
            ("good", "2026-01-01 00:00:00"),
        )
    ]
    found = find_signals({"esxi.certificate": rows})
    assert [(one["what"], one["weight"]) for one in found] == [
        ("valid_until is 2024-01-01, in the past", 4.5),
        ("valid_until is 2024-02-01, soon", 2.5),
    ]


# -- samples of a capture


def test_of_a_capture_the_worst_sample_is_told() -> None:
    """The record counts the samples that are over the bar and names the device of the worst."""
    np = pytest.importorskip("numpy")
    table = parsing.tables()["esxtop.disk_device"]
    devices = np.array(["naa.1", "naa.2"] * 20, dtype=object)
    latency = np.full(40, 1.0)
    latency[5:9], latency[7], latency[11] = 50.0, 180.5, np.nan
    facts = Facts()
    facts.node(NODE, NODE, "esxi")
    block = Block([], address="case!esxtop.csv").assign_node(NODE)
    columns = {"storage_device": devices, "davg_ms": latency}
    facts.add_frame(Frame(table, columns, np.arange(2, 42), block, {"davg_ms": "Average Device"}))

    (found,) = find_cell_signals(facts, judge(Catalog([]), facts))

    assert found["what"] == "davg_ms is 180.5, above 20 in 4 of 40 samples"
    assert (found["object"], found["line"], found["count"]) == ("naa.2", 9, 4)
    assert found["text"] == "Average Device = 180.5"


# -- whatever stands in the cells


TEXTS = (
    "dead",
    "down",
    "2024-01-01 00:00:00",
    "9999-99-99",
    "<script>alert(1)</script> failed",
    "failed\nlink is down\x1b[31m\u202e",
    "=cmd|' /C calc'!A0 error",
    "rx_dropped",
    "failed " * 500,
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=40),
    st.sampled_from(TEXTS),
)
SOME_TABLES = (
    "esxi.pnic_stats",
    "esxi.storage_path",
    "esxi.pnic_private_stats",
    "esxi.ipmi_sel",
    "esxi.certificate",
    "esxi.advanced_option",
    "nsxt.alarm",
)


@st.composite
def draw_rows(draw: st.DrawFn) -> dict[str, list[Cells]]:
    """Draw rows whose cells hold anything."""
    name = draw(st.sampled_from(SOME_TABLES))
    columns = [one.name for one in parsing.tables()[name].columns]
    row = st.dictionaries(st.sampled_from(columns), VALUES, max_size=5)
    return {name: draw(st.lists(row, max_size=4))}


@settings(max_examples=40)
@given(draw_rows())
def test_hostile_cells_break_nothing(rows: dict[str, list[Cells]]) -> None:
    """Whatever a cell holds, records are whole, on one line and bounded, and of no severity."""
    for one in find_signals(rows):
        assert one["weight"] > 0
        assert one["count"] >= 1
        assert one["why"]
        assert "\n" not in one["what"] + one["object"]
        assert len(one["what"]) < 2_000
        assert len(one["text"]) <= 300
        assert "severity" not in one


@settings(max_examples=40)
@given(draw_rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    rows: dict[str, list[Cells]], dice: random.Random
) -> None:
    """A table that is shuffled, its rows on other lines, says the same of the same objects."""
    ((name, some),) = rows.items()
    key = parsing.tables()[name].key
    apart = {tuple(one.get(part) for part in key): one for one in some}
    own = list(apart.values()) if key else some
    shuffled = dice.sample(own, len(own))

    def tell(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return sorted((one["module"], one["count"], one["weight"]) for one in found)

    assert tell(find_signals({name: own})) == tell(find_signals({name: shuffled}))


def test_names_of_counters_are_made_visible() -> None:
    """A driver may call its counters what it likes: none breaks the line, and none makes it endless."""
    rows = [{"key": f"rx_errors {n}\n\x1b[31m" + "x" * 500, "value": 5} for n in range(40)]
    (found,) = find_signals({"esxi.pnic_private_stats": rows})
    assert "and 20 more" in found["what"]
    assert found["what"].isprintable()
    assert len(found["what"]) < 3_000


def test_secrets_are_hidden() -> None:
    """A sentence or a line that holds a password shows none."""
    facts = make_facts(
        {"esxi.ipmi_sel": [{"sel_message": "Failed: password=Secret123!", "is_asserted": True}]}
    )
    facts.store("esxi.ipmi_sel").rows[0].block.lines[0] = "login failed, password=Secret123!"
    (found,) = find_cell_signals(facts, judge(Catalog([]), facts))
    assert "Secret123" not in f"{found}"


# -- the samples of the parsers


@cache
def read_samples() -> tuple[Facts, list[Row]]:
    """Return the rows of all samples of outputs as facts, one node each, and these rows."""
    facts, rows = Facts(), []
    for number, sample in enumerate(ALL):
        parser = registry()[sample.parser]
        if parser.log or parser.stream is not None:
            continue
        block = recognised(parser, sample)
        node = f"node-{number}"
        facts.node(node, node, parser.node, captured="2024-01-01T00:00:00Z")
        found = [one for one in run(parser, block) if isinstance(one, Row)]
        for own in {id(one.block): one.block for one in found}.values():
            own.assign_node(node)
        facts.add_read(found)
        rows += found
    return facts, rows


def list_losses(row: Row) -> list[tuple[str, str]]:
    """Return column and name of the counters of loss of a row that are not 0."""
    found = []
    for column, meaning in list_meanings(row.table).items():
        value, sign = row.values.get(column), meaning.sign
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            continue
        if sign.how == "loss":
            found.append((column, column))
        name = row.values.get(sign.of) if sign.how == "named" else None
        if isinstance(name, str):
            own = find_named_sign(sign, name, is_text=False)
            if own is not None and own.how == "loss":
                found.append((column, name))
    return found


@pytest.mark.size
def test_the_samples_of_parsers() -> None:
    """Every counter of loss that is not 0 in a sample is told, and each kind of sign has an example."""
    facts, rows = read_samples()
    told: dict[tuple[str, str], str] = {}
    kinds = set()
    for one in find_cell_signals(facts, judge(Catalog([]), facts)):
        name, _, column = one["module"].rpartition(".")
        kinds.add(list_meanings(facts.tables[name])[column].sign.how)
        key = one["node"], name
        told[key] = f"{told.get(key, '')} {one['what']}"
    wanted = {
        (row.block.node, row.table.name, name) for row in rows for _, name in list_losses(row)
    }
    hidden = [one for one in wanted if one[2] not in told.get(one[:2], "")]
    assert not hidden
    assert len({one[1:] for one in wanted}) > 120
    assert kinds == {
        "rows", "loss", "good", "bad", "state", "message", "above", "below", "differs", "older", "named",
        "entry",
    }  # fmt: skip


@pytest.mark.size
def test_findings_of_the_catalog_explain_their_cells() -> None:
    """With its rules a case of known faults leaves a handful of cells to tell."""
    catalog = run_catalog.load_run_catalog(run_catalog.Local())
    case = [Path("samples/cases/slow-storage")]
    material = triage.gather_case(case, catalog.signatures(), triage.Options())
    judgement: Judgement = judge(catalog, material.facts)
    assert len(judgement.findings) >= 5
    assert len(find_cell_signals(material.facts, judgement)) <= 5
