"""Comparisons and merged logs handed out: the same pseudonyms, and no name is left."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.case.comparison import Comparison
from analyzer.cli import main
from analyzer.commands import compare
from analyzer.redact import namemap
from analyzer.redact.provenance import CUSTOMER, PRODUCT, list_texts, plan_record
from analyzer.redact.redaction import Redaction
from analyzer.redact.reversing import reverse_text
from analyzer.report import comparison
from analyzer.runtime.output import write_all
from tests.kit.changed_twin import OTHERS, told, write_twin
from tests.kit.compare_kit import HostMoment, Vm
from tests.kit.redaction_check import left

CASES = Path(__file__).resolve().parents[2] / "samples" / "cases"
EVERY = sorted(path.name for path in CASES.iterdir() if path.is_dir())
BESIDE = {"cut-bundle": "config-traps", "lab-ring-before": "lab-ring-after"}
# What the makers of the samples call things, and what their twins are called.
NAMES = [
    *(name for name in OTHERS.values() if name[:2] not in ("20", "ab", "a6", "c2", "00")), "iperf-test1", "iperf-test2",
    "lin-app07", "lin-db,02 (prod)", "win-file01", "lin-web01", "lin-erp02", "old-print01", "lab.example", "nsxmgr01",
    *(f"esx{number}" for number in (21, 31, 41, 42, 51, 61, 71)), "a6:70:01", "00:25:90:ab:17:22",
]  # fmt: skip


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Every sample case compared with its changed twin, redacted with one map, and the documents as they were before.

    The bundle that was cut short cannot be changed: the whole one of the same host stands beside it. The lab before its
    fix stands beside the lab after it.
    """
    base = tmp_path_factory.mktemp("compared")
    whole = compare._redact_comparison
    before: list[dict[str, Any]] = []

    def watched(redaction: Redaction, document: dict[str, Any], sides: Any) -> dict[str, Any]:
        before.append(document)
        return whole(redaction, document, sides)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "_redact_comparison", watched)
        for name in EVERY:
            twin = (
                CASES / BESIDE[name]
                if name in BESIDE
                else write_twin(CASES / name, base / "in" / name)
            )
            words = [
                "compare",
                str(CASES / name),
                str(twin),
                "-o",
                str(base / "out" / name),
                "--redact",
            ]
            done = CliRunner().invoke(main, [*words, "--redact-map", str(base / "names")])
            assert done.exit_code in (0, 5), done.output
            write_all(base / "plain" / name, {"compare.json": comparison.dump_document(before[-1])})
            write_all(base / "out" / name / "printed", {"stdout.txt": done.stdout})
    yield base


@pytest.mark.size
def test_no_comparison_of_a_sample_names_anybody(handed_out: Path) -> None:
    """Page, note, JSON and what is printed of every sample hold none of the names; the plain comparisons do."""
    found = {
        one for line in left(handed_out / "plain", NAMES) for one in NAMES if repr(one) in line
    }
    assert len(found) > 25, set(NAMES) - found
    for name in EVERY:
        both = [CASES / name, CASES / BESIDE[name] if name in BESIDE else handed_out / "in" / name]
        addresses = [one for folder in both if folder.name != "cut-bundle" for one in told(folder)]
        assert left(handed_out / "out" / name, [*NAMES, *addresses]) == []


def test_nothing_but_names_changed_in_a_comparison(handed_out: Path) -> None:
    """With the names put back every comparison is the plain one: counters, findings, sentences and their order."""
    known = namemap.load_map(handed_out / "names")
    sizes = []
    for name in EVERY:
        before, after = (
            (handed_out / folder / name / "compare.json").read_text(encoding="utf-8")
            for folder in ("plain", "out")
        )
        document = json.loads(after)
        again = reverse_text(known, json.dumps(document, ensure_ascii=False))
        assert json.loads(again) == json.loads(before), name
        for number in ("10370", "1656") if name == "lab-ring-before" else ():
            assert before.count(number) == after.count(number) > 0
        sizes.append(len(document["changes"]) + len(document["counters"]))
    # The twin of cpu-limited-vm has another address on the one NIC that is known: another host, of which no row is compared.
    assert sum(sizes) > 90, dict(zip(EVERY, sizes, strict=True))


def test_merged_lines_name_nobody(tmp_path: Path) -> None:
    """`log --redact` prints as many lines as without, in every form, without a name of the bundle's tables or lines."""
    case = CASES / "slow-storage"
    plain = CliRunner().invoke(main, ["log", str(case)])
    names = [
        "esx71",
        "lab.example",
        "lin-erp02",
        "lun-prod-07",
        "naa.600508b1001c0000000000000000a107",
    ]
    (tmp_path / "plain").write_text(plain.stdout, encoding="utf-8")
    assert left(tmp_path / "plain", names)
    for form in ("text", "jsonl", "csv"):
        words = [
            "log",
            str(case),
            "--format",
            form,
            "--redact",
            "--redact-map",
            str(tmp_path / "map"),
        ]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == plain.exit_code, done.output
        out = tmp_path / form
        out.write_text(done.stdout, encoding="utf-8")
        assert left(out, names) == []
    assert len((tmp_path / "text").read_text(encoding="utf-8").splitlines()) == len(
        plain.stdout.splitlines()
    )


WORDS = ("host", "memory", "network", "controller", "Time", "error")


def _write_words(folder: Path, *, later: bool) -> Path:
    """Write a host whose VMs are called by words of the product: later other counters, one VM less, one made anew."""
    vms = []
    for number, word in enumerate(WORDS):
        if later and word == "Time":
            continue
        mac = f"00:50:56:a6:91:{number + 16 * (later and word == 'error'):02x}"
        uuid = f"56 4d 00 00 00 00 00 01-00 00 00 00 00 00 00 {number:02x}"
        missed = 900 * (number + 1) if later else 10
        vm = Vm(word, mac, 33554470 + number, uuid=uuid, missed=missed, ring=512 if later else 256)
        vms.append(vm)
    moment = HostMoment(name="memory.lab.example", vms=vms, crc=500 if later else 0)
    if later:
        moment.captured, moment.uptime = "2017-10-16 16:53:20", 3_715_200
    return moment.write(folder)


def test_a_comparison_of_things_called_by_words_changes_its_slots_alone(tmp_path: Path) -> None:
    """Words of the product stay byte for byte in a comparison, every slot is replaced, reversed it is the plain one."""
    sides = [
        str(_write_words(tmp_path / "in" / name, later=name == "after"))
        for name in ("before", "after")
    ]
    texts = []
    for words in ((), ("--redact", "--redact-map", str(tmp_path / "names"))):
        done = CliRunner().invoke(main, ["compare", *sides, "--json", "-", *words])
        assert done.exit_code in (0, 5), done.output
        texts.append(done.stdout)
    plain, made = map(json.loads, texts)
    assert json.loads(reverse_text(namemap.load_map(tmp_path / "names"), texts[1])) == plain
    plan = plan_record(Comparison)
    both = zip(list_texts(plain, plan), list_texts(made, plan), strict=True)
    slots = 0
    for (owner, old), (_, new) in both:
        assert owner != PRODUCT or old == new
        if owner == CUSTOMER and re.match(rf"(?:{'|'.join(WORDS)})(?: \(|, |\.lab|$)", old):
            assert old.split()[0] not in new.split() and old != new, old
            slots += 1
    assert slots > 30
    said = " ".join([made["summary"], *(one["text"] for one in made["conclusion"]), *made["notes"]])
    for word in WORDS:
        assert not re.search(rf"(?:VMs?|of|on) {word}(?:[,.]| \(|$)", said), said
