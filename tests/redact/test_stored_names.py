"""A stored case tells its names by itself: what things are called there, and rows that no parser understood."""

from __future__ import annotations

import pytest

from analyzer.redact.identities import Identities
from analyzer.redact.redaction import Redaction


@pytest.mark.parametrize(
    ("row", "gone"),
    [
        ("zwickel07   5f1e2d3c-fb65cc89-eead-319fa13efba2 true VMFS-6 2198754820096", "zwickel07"),
        ("    quendel   5f1e2d3c-fb65cc89-eead-319fa13efba2 false VMFS-unknown version", "quendel"),
        ("*zwickel1 .PPS.            1 u  112  128  377    0.1  0.0  0.0", "zwickel1"),
        ("zwickel61 10.2.0.71:22959 fc3e9fa3-ceaa-0134-5e48-564c6b96a3de true", "zwickel61"),
        ("zwickel72 127.0.0.1 true OPENED 1.1.0.0.0.0", "zwickel72"),
        ("true OPENED [4.1, 4.0, 3.2] ESXi zwickel2", "zwickel2"),
        ("1 64 204863 C12A7328F81F6eD2BAaB99AaC3fECb9B systemPartition 128", "C12A7328F81F6eD2"),
        ("on vvol:1a2b3c4dd45f028b-154f2d06f573af61 there", "1a2b3c4dd45f028b-154f2d06f573af61"),
    ],
)
def test_rows_tell_names_by_their_form(row: str, gone: str) -> None:
    """A row that a parser refuses is shown, and its names are in no table."""
    redaction = Redaction()
    redaction.take_lines([row])
    made = redaction.redact_text(row)
    assert gone not in made
    assert len(made.split()) == len(row.split())


@pytest.mark.parametrize("name", ["192.0.2", "10.4", "2001.17.2"])
def test_a_name_of_numbers_eats_no_part_of_an_address(name: str) -> None:
    """A VM may be called as a network; addresses and versions that begin so stay whole."""
    redaction = Redaction()
    redaction.begin_taking().take_cell("vm", name)
    assert redaction.redact_text(f"to {name}.71, 1.{name}:80 and {name}.") == (
        f"to {name}.71, 1.{name}:80 and vm01anon."
    )


def test_what_a_thing_is_called_is_a_name_unless_the_product_says_it() -> None:
    """Words of the product, devices and addresses stay what they are; a name that is known keeps its kind."""
    names = Identities()
    names.take_cell("datastore", "quendel gold 07")
    names.take_cell("host", "quendel")
    for text in (
        "quendel gold 07", "zwickel 5010", "NSX control cluster", "vmhba64 vmk2", "vmhba2:C0:T1:L1", "CLUSTER_BOOT_MANAGER",
        "10.2.0.9", "quendel: netqueue-psod", "edge-1", "ens2f0", "hoyer|plauen-09",
    ):  # fmt: skip
        names.take_called(text)
    assert [name for kind, name in names.list_found() if kind == "label"] == [
        "hoyer",
        "plauen-09",
        "zwickel",
    ]


def test_a_bundle_of_a_host_without_a_name_keeps_its_name() -> None:
    """vm-support calls it `esx-localhost-…`: it is nobody's own, and the host keeps its name."""
    names = Identities()
    names.take_given("localhost.tgz!esx-localhost.localdomain-2017-10-14--16.53-71234")
    assert names.list_found() == []
