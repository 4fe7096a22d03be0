"""A drafted rule holds no name that a customer gave to a switch, a network or a datastore."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.authoring.draft.mask import Mask
from analyzer.cli import main

NAMES = (
    "dvSwitch-prod", "dvSwitch-Kunde-01", "DSwitch-acme", "dvs_acme_prod", "vSwitch-DMZ", "VDS-Acme", "HS-acme",
    "PG-Acme-Web", "dvPG_acme", "DPG-vMotion-Acme", "portgroup-acme", "VLAN-120-Acme", "DS-Acme-Gold", "LUN-acme-07",
    "NFS-Backup-Acme", "vmfs_acme_01", "RP-Acme", "CL-Acme-02",
)  # fmt: skip
FORMS = (
    "port 0x2000014 on {} was disabled", "Lost uplink on {}: vmnic2 is down", "[{}] failed with status 0x5",
    "{}: 12 ports are gone", "moved from {} to vSwitch0.", "state of '{}' changed",
)  # fmt: skip
PRODUCT = (
    "vSwitch0", "vSwitch12", "DvsPortset-0", "dvportgroup-142", "datastore-17", "vmnic4", "vmk0", "VMFS-6", "NFS-3",
    "group-d1", "vsan-health", "pool-2",
)  # fmt: skip
STAMP = "2023-01-01T10:00:00.000Z cpu1:2097152)"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_names_of_objects_are_masked(name: str, form: str) -> None:
    """Whatever the line says around it, nothing of the name is left, and the values of the line are."""
    line = STAMP + "Net: 1879: " + form.format(name)
    shown = Mask().mask_text(line)
    assert name not in shown
    assert not re.search(r"(?i)acme|kunde|prod|dmz", shown)
    assert [
        value for value in re.findall(r"0x\w+|vmnic\d|vSwitch0", line) if value not in shown
    ] == []


@pytest.mark.parametrize("name", [name for name in PRODUCT if name != "vsan-health"])
def test_names_of_the_product_stay(name: str) -> None:
    """What ESXi itself numbers is no name of a customer's."""
    line = f"{STAMP}Net: 1879: {name} is down"
    assert Mask().mask_text(line) == line


@pytest.mark.parametrize("name", ["dvSwitch-prod", "PG-Acme-Web", "DS-Acme-Gold"])
def test_a_draft_of_a_log_holds_no_name(name: str, tmp_path: Path) -> None:
    """The file that `rules new --from-lines` writes: neither pattern nor examples nor header have the name."""
    log = tmp_path / "vmkernel.log"
    log.write_text(
        "".join(
            f"2023-01-01T10:0{minute}:00.000Z cpu1:2097152)NetPort: 1879: disabled port 0x200001{minute} on {name}\n"
            for minute in range(3)
        ),
        encoding="utf-8",
    )
    command = [
        "rules",
        "new",
        "port-off",
        "--from-lines",
        f"{log}:1-3",
        "--kb",
        str(tmp_path / "kb"),
    ]
    done = CliRunner().invoke(main, command)
    text = next((tmp_path / "kb").rglob("port-off.yaml")).read_text(encoding="utf-8")
    assert done.exit_code == 0, done.output
    assert name not in text and "Acme" not in text and "prod" not in text.replace("product", "")
