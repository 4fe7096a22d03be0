"""A word finds what is stored in any table; a field that is misspelt names its nearest; `driver:` asks all adapters."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer.archive.query import terms
from analyzer.archive.query.terms import adapter_tables
from analyzer.cli import main
from analyzer.web.questions import question

CASES = Path(__file__).parents[2] / "samples/cases"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of all sample cases."""
    folder = tmp_path_factory.mktemp("archive")
    CliRunner().invoke(
        main, ["batch", str(CASES), "--archive", str(folder), "--jobs", "1", "--no-settings"]
    )
    return folder


def search(archive: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["archive", "search", "--archive", str(archive), *words])


# a cell of a NIC, of an HBA or its device, of a VM's adapter, of a package, of a setting of a guest
@pytest.mark.parametrize("word", ["ixgben", "vmxnet3", "i40en", "VMXNET3", "vSwitch0"])
def test_a_word_finds_rows_of_any_table(archive: Path, word: str) -> None:
    """A word alone is looked for in findings, lines and the rows of all tables, capitals or not."""
    done = search(archive, word)
    assert done.exit_code == 0, done.output
    assert any(" esxi." in line or " guest." in line for line in done.stdout.splitlines()), (
        done.stdout
    )
    assert search(archive, "--text", word).stdout == done.stdout


def test_a_word_that_nothing_holds_is_told_with_the_next_step(archive: Path) -> None:
    """Nothing found is said with what was looked through and where else to look."""
    done = search(archive, "qwertyuiop")
    assert "0 lines and rows" in done.output and "backline log PATH --grep" in done.output


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("drivr", "driver"), ("Drivers", "driver"), ("verion", "version"), ("hosts", "host")],
)
def test_a_misspelt_field_names_its_nearest(archive: Path, typed: str, meant: str) -> None:
    """The command and the page say which field may be meant."""
    done = search(archive, f"{typed}: x1")
    assert done.exit_code == 2
    assert f"did you mean `{meant}`?" in done.output
    with pytest.raises(question.Misread) as caught:
        question.read_question(f"{typed}: x1")
    assert f"did you mean `{meant}`?" in caught.value.do


def test_a_text_with_a_colon_is_still_a_text() -> None:
    """Only a word that is near a field is taken for one."""
    assert question.read_question("ScsiDeviceIO: failed").kind == question.TEXT
    assert question.read_question("NetPort: disabled").kind == question.TEXT


@pytest.mark.parametrize("driver", ["ixgben", "vmxnet3"])
def test_driver_asks_all_adapters(archive: Path, driver: str) -> None:
    """NICs of hosts and of guests answer the same short question; each adapter is shown once."""
    done = search(archive, f"driver: {driver}")
    assert done.exit_code == 0
    shown = [line for line in done.stdout.splitlines() if line.startswith("  adapters: adapter=")]
    assert shown and all(f"driver={driver}" in line for line in shown)


def test_every_table_with_a_driver_is_asked() -> None:
    """NICs, HBAs, and what else names a driver; the rules of SATP name one that they look for."""
    names = {table.name for table in adapter_tables()}
    assert {
        "esxi.pnic_info",
        "esxi.pnic",
        "esxi.storage_adapter",
        "esxi.fc_adapter",
        "guest.ethtool_driver",
    } <= names
    assert "esxi.satp_rule" not in names


def test_no_such_driver_is_no_proof_where_adapters_were_not_listed(archive: Path) -> None:
    """A host whose HBAs nobody listed may have one with that driver: nobody can tell."""
    done = search(archive, "driver: no_such_driver")
    assert "cannot tell for" in done.output
    assert terms.read_term("driver: x").table is terms.ADAPTERS
