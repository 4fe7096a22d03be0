"""What the product says itself, numbers included, is no name: it neither gets a pseudonym nor refuses an output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.redact.namemap import load_map, name_forms
from analyzer.redact.redaction import Redaction
from analyzer.redact.replacing import Replacer
from analyzer.rules import catalog

SAID = [
    ("input", "kb-417889", "Rules that need it: kb-417889, kb-324503"),
    ("ipv4", "2.4.1.0", "Drivers of the vendor from 2.4.1.0 on are sound; the inbox drivers of 7.0 are not."),
    ("ticket", "000001", "a disk named -000001.vmdk is that of a snapshot"),
    ("ticket", "2039495", "https://knowledge.broadcom.com/external/article/2039495"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "sentence"), SAID, ids=[one[1] for one in SAID])
def test_a_number_of_the_product_is_no_name(kind: str, name: str, sentence: str) -> None:
    """A folder called like a rule, an address like a version, a ticket like an article: the sentence stays, and may leave."""
    redaction = Redaction()
    redaction.begin_taking().take_cell(kind, name)
    redaction.begin_taking().take_cell("host", "esx-acme-07")
    text = f"{sentence}\nesx-acme-07"
    made = redaction.redact_text(text)
    assert made.startswith(sentence)
    assert "acme" not in made
    redaction.check_results({"report.md": made})


def test_other_numbers_of_the_same_kinds_are_names() -> None:
    """Only what the product says is left: a ticket, an address and a folder of somebody's own are replaced."""
    redaction = Redaction()
    for kind, name in (("input", "acme-417881"), ("ipv4", "10.4.1.7"), ("ticket", "31415926")):
        redaction.begin_taking().take_cell(kind, name)
    made = redaction.redact_text("acme-417881 at 10.4.1.7, SR 31415926")
    assert not any(name in made for name in ("417881", "10.4.1.7", "31415926"))


def test_no_rule_is_a_name_of_a_folder() -> None:
    """Whichever rule a folder is called like, a sentence that names the rule may leave."""
    redaction = Redaction()
    ids = sorted(rule.id for rule in catalog.load().rules)
    for name in ids:
        redaction.begin_taking().take_given(name)
    redaction.check_results({"case.json": redaction.redact_text("\n".join(ids))})


@given(st.sampled_from(["VM 01", "web 7", "db  12 x", "Büro 3"]), st.integers(0, 99))
def test_a_masked_escape_is_no_form_of_a_name(name: str, number: int) -> None:
    """`VM\\04001` with its digits masked would read as `VM` and the end of a line, as JSON writes it."""
    forms = {form.lower() for _, form in name_forms(f"{name}{number}")}
    escapes = json.dumps("\n")[1:-1]
    assert not any(form.endswith(escapes) for form in forms)


def test_a_name_that_the_product_says_with_its_number_is_sought_where_a_name_stands() -> None:
    """A rule says `fp-eth1`: in its sentence that stays, and a port of that name is replaced where it is the port."""
    said = "The ports fp-eth0, fp-eth1, … carry the tunnels."
    replacer = Replacer(load_map(None), [("label", "fp-eth1"), ("label", "fp-acme1")], said.lower())
    assert replacer.replace_text(f"{said} fp-acme1").startswith(said)
    assert "acme" not in replacer.replace_text(f"{said} fp-acme1")
    assert ("label", "fp-eth1") in replacer.placed


def test_a_sign_whose_masked_line_reads_as_a_masked_name_is_replaced(tmp_path: Path) -> None:
    """The host is `vse-lab-1`; its line speaks of `vse-lab-0`, which with masked digits reads the same."""
    time = "2015-04-13T15:22"
    lines = [
        f"{time}:10+00:00 vse-lab-1 heartbeat:  [daemon.info] [1919]: info: Link vse-lab-0:vNic_1 dead.",
        f"{time}:12+00:00 vse-lab-1 heartbeat:  [daemon.warning] [1919]: WARN: node vse-lab-0: is dead",
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/no_pid.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["triage", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--redact"]
    ended = CliRunner().invoke(main, [*words, "--redact-map", str(tmp_path / "map.json")])
    assert ended.exit_code in (0, 1), ended.output
    document = (tmp_path / "out/case.json").read_text(encoding="utf-8")
    assert "vNic_#" in document
    assert "vse-lab-1" not in document and "vse-lab-#" not in document
