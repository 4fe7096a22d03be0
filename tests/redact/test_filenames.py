"""Of the name of a given file or folder stays what the grammar of bundles and logs knows; the rest goes, whatever it is."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.redact.filenames import own_parts, rename_file
from analyzer.redact.redaction import Redaction
from tests.kit.redaction_check import files, readings

LINE = "2024-03-05T10:11:12.345Z cpu3:2099)WARNING: NMP: lost access to volume 17\n"
# Given name -> what of it is somebody's own, and what stays around it.
NAMES = {
    "acme-prod-vmkernel.log": "<>-vmkernel.log", "Müller GmbH.tgz": "<>.tgz", "host.tgz": "<>.tgz", "memory.zip": "<>.zip",
    "Time.log": "<>.log", "site 2 west": "<>", "db-01.zip": "<>.zip", "12345678.zip": "<>.zip", "Target": "<>",
    "esxcli_zwirbel.txt": "esxcli_<>.txt",
    "nsx_manager_acme_20240305.tgz": "nsx_manager_<>_20240305.tgz", "<b>&amp;.log": "<>>&<>.log", "\u202egol.tgz": "<>.tgz",
    "esx-esx31.lab.example-2017-10-14--16.53-71234.tgz": "esx-<>-2017-10-14--16.53-71234.tgz",
    "vm-support-network-2017-10-14--16.53.1234.tgz": "vm-support-<>-2017-10-14--16.53.1234.tgz",
}  # fmt: skip
WHOLE = (
    "vmkernel.log", "vmkernel.0.gz", "hostd-2.log", "vmware-3.log", "messages.1.gz", "esxtop.csv", "vsish.txt", "logs", "esx.tgz",
    "esxcli_network_nic_list.txt", "VMware-NSX-TechSupport-Bundle-2017-10-14_10-11-12.tgz", "README.md",
    "NSX_Edge_Support_edge-12_171014_120000GMT+00:00.log.gz", ".", "..", "",
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in NAMES if "amp" not in name])
def test_the_customers_part_goes(name: str) -> None:
    """A name is left with its prefix, date, number of the process and ending."""
    assert rename_file(name, lambda _part: "<>") == NAMES[name]


@pytest.mark.parametrize("name", WHOLE)
def test_what_the_grammar_knows_stays(name: str) -> None:
    """Names that bundles and logs have by themselves stay as they are."""
    assert rename_file(name, lambda _part: "<>") == name


@given(
    st.text("aZä-_. 0@(", max_size=12),
    st.sampled_from(["", "vmkernel", "esx-", "-2024-03-05", "_hostd_"]),
)
@example("acme", "vmkernel")
def test_a_part_is_never_lost_nor_left(own: str, known: str) -> None:
    """What stays and what goes are the name, in order; no letter outside of the grammar stays."""
    name = f"{own}{known}qzx"
    parts = [name[start:end] for start, end in own_parts(name)]
    assert any("qzx" in part for part in parts)
    left_over = iter(parts)
    assert rename_file(name, lambda _part: next(left_over)) == name
    assert "qzx" not in rename_file(name, lambda _part: "")


def test_a_long_name_takes_no_time() -> None:
    """The name of a member may be as long as an archive has it."""
    began = time.process_time()
    rename_file("acme 1 vmkernel-" * 4000, lambda _part: "")
    assert time.process_time() - began < 2


def run(*words: object) -> Any:
    """Run the command in this process."""
    return CliRunner().invoke(main, [str(word) for word in words])


OWN = (
    "acme-prod",
    "acme's",
    "müller",
    "gmbh",
    "memory.zip",
    "time.log",
    "orange",
    "host.log",
    "network/file-",
)


@pytest.mark.size
def test_no_command_tells_the_name_of_a_file(tmp_path: Path) -> None:
    """Titles, addresses, lines of the log, folders of an export and errors: none tells what the customer called a file."""
    folder = tmp_path / "Orange AG"
    inner = folder / "network" / "Müller GmbH"
    inner.mkdir(parents=True)
    (inner / "acme-prod-vmkernel.log").write_text(LINE, encoding="utf-8")
    (folder / "Time.log").write_text(LINE.replace("17", "18"), encoding="utf-8")
    with zipfile.ZipFile(folder / "memory.zip", "w") as made:
        made.writestr("acme's notes/host.log", LINE.replace("17", "19"))
    keep = ("--redact-map", tmp_path / "names")
    out = tmp_path / "out"
    assert run("triage", folder, "-o", out / "case", "--redact", *keep).exit_code in (0, 5)
    shown = run("log", folder, folder / "memory.zip", "--redact", *keep)
    assert (
        shown.exit_code == 0
        and "lost access to volume 19" in shown.stdout
        and "vmkernel.log" in shown.stdout
    )
    assert run("batch", folder, "--archive", tmp_path / "archive", "--jobs", 1).exit_code in (0, 5)
    stored = ("--archive", tmp_path / "archive", "--all", "--facts", "csv")
    assert run("archive", "export", *stored, "-o", out / "stored", "--redact", *keep).exit_code == 0
    (out / "log.txt").write_text(shown.stdout + shown.stderr, encoding="utf-8")
    texts = [(name, text) for name, raw in files(out) for text in (name.lower(), *readings(raw))]
    assert len(texts) > 20
    found = [
        (name, own, text[max(0, at - 60) :][:120])
        for name, text in texts
        for own in OWN
        if (at := text.find(own)) >= 0
    ]
    assert found[:9] == []


@pytest.mark.parametrize("name", ["nsx-controller-1", "esx-07", "vcsa 1", "hostd-probe-2"])
@pytest.mark.parametrize("folder", ["site/", "", "acme/"])
def test_a_host_called_like_a_file_is_replaced_in_the_name_of_the_file(
    name: str, folder: str
) -> None:
    """The grammar knows `nsx-controller-1.tgz`; where a host is called so, the name of the file is its name as well."""
    redaction = Redaction()
    redaction.begin_taking().take_cell("host", name)
    redaction.begin_taking().take_case(folder.strip("/"), "")
    redaction.begin_taking().take_given(f"{folder}{name}.tgz")
    made = redaction.redact_text(f"read from {folder}{name}.tgz")
    assert name not in made
    assert made.endswith(".tgz")
    redaction.check_results({"report.md": made})
