"""A strict redaction: no word of the material that nothing marks leaves in any form; findings and the product's words stay."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.case.document import CaseDocument
from analyzer.cli import main
from analyzer.redact.provenance import CUSTOMER, PRODUCT, Each, Parts, Plan, list_texts, plan_record
from analyzer.redact.redaction import Redaction
from analyzer.redact.strict import HIDDEN, StrictWords
from analyzer.redact.words import has_word
from tests.kit.case_factory import rich_case
from tests.kit.every_form import render_forms
from tests.kit.redaction_check import left

# Words that stand alone, in other case, joined, with marks, in other alphabets, with digits, in hexadecimal.
PLANTED = (
    "Zwiebelturm", "KRONPRINZ", "mühlbauer", "Mu\u0308hlbacher", "Ивановская", "東京支店", "quorvix_nord", "Brombeer-Keller",
    "HostZwirbel", "VioletFjordSystem", "drabblewick7", "O'Flannelly", "Gr\u00adaupner",
)  # fmt: skip
PARTS = (
    "zwiebelturm", "kronprinz", "mühlbauer", "hlbacher", "ивановская", "東京支店", "quorvix", "brombeer", "keller",
    "zwirbel", "fjord", "drabblewick", "flannelly", "aupner",
)  # fmt: skip
NOTE = f"2024-03-05T10:11:12.345Z cpu3:2099)WARNING: {' '.join(PLANTED)} lost access to volume 17"
FREE = ("text", "before", "after", "what", "why", "advice", "say", "note", "cell", "command")


def plant_words(value: Any, plan: Plan, key: str = "") -> Any:
    """Return a document of plain values with words planted into what people and programs wrote."""
    if isinstance(value, str):
        return f"{value} {' '.join(PLANTED)}" if plan == CUSTOMER and key in FREE else value
    if isinstance(value, dict):
        inner_plan = plan if isinstance(plan, Parts) else {}
        return {name: plant_words(one, inner_plan.get(name), name) for name, one in value.items()}
    if isinstance(value, list):
        return [plant_words(one, plan[0] if isinstance(plan, Each) else plan, key) for one in value]
    return value


def strip_texts(value: Any) -> Any:
    """Return a document with its texts left out."""
    if isinstance(value, dict):
        return {name: strip_texts(one) for name, one in value.items() if name != "masked"}
    if isinstance(value, list):
        return [strip_texts(one) for one in value]
    return "" if isinstance(value, str) else value


def test_no_planted_word_leaves_in_any_form() -> None:
    """Words that nothing marks are in the normal redaction and in no form of the strict one; numbers and the product's words stay."""
    plan = plan_record(CaseDocument)
    plain = rich_case()
    plain.settings.catalogs = [one for one in plain.settings.catalogs if one.kind == "shipped"]
    given_words = plant_words(msgspec.to_builtins(plain), plan)
    document = msgspec.convert(given_words, CaseDocument)
    document.findings[0].object = "adapter grellinger9"
    normal = msgspec.to_builtins(Redaction().redact_document(document))
    redaction = Redaction(strict=True)
    made = redaction.redact_document(document)
    strict = msgspec.to_builtins(made)
    assert all(part in json.dumps(normal, ensure_ascii=False).lower() for part in PARTS)
    forms = render_forms(made)
    redaction.check_results(forms)
    for name, text in forms.items():
        low = text.lower()
        assert [part for part in (*PARTS, "grellinger") if part in low] == [], name
    assert HIDDEN in forms["case.json"]
    assert strip_texts(normal | {"case": {}}) == strip_texts(strict | {"case": {}})
    assert [one for one in list_texts(strict | {"case": {}}, plan) if one[0] == PRODUCT] == [
        one for one in list_texts(normal | {"case": {}}, plan) if one[0] == PRODUCT
    ]
    assert len({finding.id for finding in made.findings}) == len(made.findings)


@given(st.text(max_size=40))
@example("TargetOrangenhof 0xdeadbeef 00:50:56:00:00:1a naa.600508b1001c0000000000000000a107")
@example("6d75656c6c65726b deadbeef cafe01 2024-03-05T10:11:12Z ‹word›")
def test_what_stays_is_the_products_or_a_number(text: str) -> None:
    """Each word of letters that is left is one of the product; done twice, nothing more changes."""
    words = StrictWords(("host-01",))
    made = words.hide_words(text)
    assert words.hide_words(made) == made
    assert [*words.list_unknown(made)] == []
    for word in made.replace(HIDDEN, " ").split():
        if word.isalpha() and word.isascii() and not words._may_stay(word):
            pytest.fail(word)


def test_numbers_ids_and_pseudonyms_stay() -> None:
    """What a line counts and where it points stays as it was."""
    line = "2017-10-14T16:40:02.101Z cpu1:2097) 0x43ab vmnic4 fe80::250:56ff:fe00:1 00:50:56:00:00:1a host-01 4fd01 100 ms"
    assert StrictWords(("host-01",)).hide_words(line) == line
    assert StrictWords(()).hide_words("call Zwirbel on 0815") == f"call {HIDDEN} on 0815"
    assert not has_word("zwirbel")


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with planted words, alone in a folder."""
    folder = tmp_path_factory.mktemp("strict") / "logs"
    folder.mkdir()
    (folder / "vmkernel.log").write_text(f"{NOTE}\n" * 3, encoding="utf-8")
    return folder


def run(*words: object) -> Any:
    """Run the command in this process."""
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.size
def test_no_planted_word_leaves_by_any_command(material: Path) -> None:
    """`triage`, `compare`, `log` and `archive export` of one log hide its words; without `strict` they show them."""
    base, keep = material.parent, ("--redact-map", material.parent / "names")
    shown = run("log", "--redact=strict", material, *keep)
    assert (
        shown.exit_code == 0
        and HIDDEN in shown.stdout
        and "lost access to volume 17" in shown.stdout
    )
    assert "zwiebelturm" in run("log", "--redact", material, *keep).stdout.lower()
    assert run("triage", "--redact=strict", material, "-o", base / "out", *keep).exit_code == 0
    assert (
        run(
            "compare", material, material, "-o", base / "out" / "two", "--redact=strict", *keep
        ).exit_code
        == 0
    )
    assert run("batch", material, "--archive", base / "archive", "--jobs", 1).exit_code == 0
    stored = ("--archive", base / "archive", "--all", "--facts", "csv", "-o")
    assert (
        run(
            "archive", "export", *stored, base / "out" / "stored", "--redact=strict", *keep
        ).exit_code
        == 0
    )
    assert run("archive", "export", *stored, base / "plain", "--redact", *keep).exit_code == 0
    (base / "out" / "log.txt").write_text(shown.stdout, encoding="utf-8")
    assert left(base / "out", [*PARTS]) == []
    assert left(base / "plain", ["zwiebelturm"])
    for path in (base / "plain" / "facts").glob("*.csv"):
        with (
            path.open(newline="") as one,
            (base / "out" / "stored" / "facts" / path.name).open(newline="") as other,
        ):
            assert [len(row) for row in csv.reader(one)] == [len(row) for row in csv.reader(other)]


def test_the_option_takes_no_path(material: Path) -> None:
    """`--redact` takes nothing behind it, `--redact=strict` is one word, another one is refused, behind `--` it is a path."""
    keep = ("--redact-map", material.parent / "other-names")
    normal = run("log", "--redact", material, *keep)
    assert normal.exit_code == 0 and HIDDEN not in normal.stdout and "lost access" in normal.stdout
    assert (
        run(
            material, "-o", material.parent / "first", "--redact=strict", "--quiet", *keep
        ).exit_code
        == 0
    )
    refused = run("log", "--redact=loose", material, *keep)
    assert refused.exit_code == 2 and "--redact" in refused.output
    assert "no such file" in run("log", *keep, "--redact", "--", "--redact=strict").output.lower()
