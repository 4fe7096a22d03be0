"""A tree is recognised by its marker members and what they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import open_case
from analyzer.sources.kinds import KindFinder, name_wrapper

TOP = "esx-esx0.lab.local-2018-01-05--14.49-17885597"


def found(root: str, *members: tuple[str, bytes]) -> KindFinder:
    finder = KindFinder()
    for path, head in members:
        finder.see_member(root, path, head if finder.needs_head(path) else b"")
    return finder


def test_vm_support_with_everything() -> None:
    """A vm-support tree is an ESXi host; name from uname, time from the README."""
    root = f"case.tgz!{TOP}"
    finder = found(
        root,
        (f"{TOP}/README", b"Captured on: 2018-01-05 14:49:12.123\nvm-support version: v3.3\n"),
        (f"{TOP}/commands/vmware_-vl.txt", b"VMware ESXi 6.5.0 build-10719125\n"),
        (f"{TOP}/commands/uname_-a.txt", b"VMkernel esx0 6.5.0 #1 SMP Release build-10719125\n"),
    )
    kind = finder.find_kind(root)
    assert (kind.kind, kind.host, kind.captured) == ("esxi", "esx0", "2018-01-05T14:49:12Z")
    assert finder.find_hints(root)["vm-support version"] == "v3.3"


@pytest.mark.parametrize(
    "members",
    [
        [("commands/vmware_-vl.txt", b"VMware ESXi 8.0.2 build-22380479\n")],
        [("etc/vmware/esx.conf", b""), ("error.log", b"")],
        [("etc/vmware/vm-support/x.mfx", b"")],
        [("commands/nicinfo.sh.txt", b"")],
        [("var/run/log/vmkernel.log", b"")],
    ],
)
def test_part_of_a_bundle(members: list[tuple[str, bytes]]) -> None:
    """One of the three known sets of markers is enough; host and UTC time come from the top directory."""
    root = f"renamed.zip!{TOP}"
    kind = found(root, *((f"{TOP}/{path}", head) for path, head in members)).find_kind(root)
    assert (kind.kind, kind.host, kind.captured) == (
        "esxi",
        "esx0.lab.local",
        "2018-01-05T14:49:00Z",
    )


def test_name_alone_is_no_kind() -> None:
    """A folder called like a bundle with holiday pictures in it is loose files."""
    root = f"case.tgz!{TOP}"
    assert found(root, (f"{TOP}/beach.jpg", b"\xff\xd8")).find_kind(root).kind == "loose"


def test_marker_must_hold_what_it_should() -> None:
    """A file called vmware_-vl.txt with other text in it is no marker."""
    root = "x.tgz!stuff"
    assert (
        found(root, ("stuff/commands/vmware_-vl.txt", b"shopping list\n")).find_kind(root).kind
        == "loose"
    )


@pytest.mark.parametrize(
    ("member", "head", "kind"),
    [
        ("t/sys_info", b"\nSystem Version: 6.3.3.6276725\n", "nsx_manager"),
        ("t/logs/vsm.log", b"", "nsx_manager"),
        ("t/preupgradeslot/logs/x.log", b"", "nsx_manager"),
        ("t/cloudnet/cloudnet_java-zookeeper.20150530-000550.1806.log", b"", "nsx_controller"),
        (
            "t/x.INFO.20150525-134607.1774",
            b"D0525 13:46:07.185200 31 r.cc:369] x\n",
            "nsx_controller",
        ),
        ("t/var/log/proton/nsxapi.log", b"", "nsxt_manager"),
        ("t/var/log/cloudnet/nsx-ccp.log", b"", "nsxt_manager"),
        ("t/var/log/frr/frr.log", b"", "nsxt_edge"),
        ("t/usr/lib/vmware-sca/conf/vc-support.properties", b"", "vcenter"),
    ],
)
def test_markers_of_other_products(member: str, head: bytes, kind: str) -> None:
    """Each product's own files tell it."""
    root = "bundle.tar.gz!t"
    assert found(root, (member, head)).find_kind(root).kind == kind


def test_manager_says_its_version() -> None:
    """The System Version line of sys_info is kept as a hint."""
    finder = found("m!t", ("t/sys_info", b"Host\nSystem Version: 6.3.3.6276725\n"))
    assert finder.find_hints("m!t")["system version"] == "6.3.3.6276725"


def test_edge_by_name_only() -> None:
    """An Edge bundle is known by its name only; its stamp is read (MMDDYY, GMT)."""
    root = "NSX_Edge_Support_edge-4_050217_155853GMT+00:00.log.gz"
    kind = KindFinder().find_kind(root)
    assert (kind.kind, kind.host, kind.captured) == ("nsx_edge", "edge-4", "2017-05-02T15:58:53Z")


def test_the_text_of_an_edge_in_the_bundle_of_a_site_is_a_machine_of_its_own(
    tmp_path: Path,
) -> None:
    """Two Edges of one bundle are two nodes, and a line without a year gets that of the name."""
    folder = tmp_path / "VMware-NSX-TechSupport-Bundle-2019-10-24_21-00-02" / "Edge"
    folder.mkdir(parents=True)
    line = "Oct 24 11:01:19 esg-0 kernel: [12.3] neighbour: arp_cache: neighbor table overflow!\n"
    for edge in ("edge-4", "edge-5"):
        (folder / f"NSX_Edge_Support_{edge}_102419_210012GMT+00:00.log").write_text(
            line, encoding="utf-8"
        )

    full = [one for one in open_case(tmp_path).findings if one.rule == "nsx-edge-arp-full"]

    assert sorted(one.node for one in full) == ["edge-4", "edge-5"]
    assert all("2019-10-24 11:01:19" in one.say for one in full)


def test_vcenter_export_gives_the_host_name() -> None:
    """In a vCenter export the inner archive's name holds the host when the top directory does not."""
    root = "VMware-vCenter-support-2021-03-08@14-49-25.zip!esx7.lab-vm2021-8-03@14-49-26.tgz!"
    kind = found(
        root, ("commands/vmware_-vl.txt", b"VMware ESXi 7.0.1 build-17551050\n")
    ).find_kind(root)
    assert kind.host == "esx7.lab"
    assert name_wrapper("VMware-vCenter-support-2021-03-08@14-49-25.zip").startswith(
        "vCenter export"
    )
    assert name_wrapper("VMware-NSX-TechSupport-Bundle-2017-11-07_11-25-46.tar.gz").startswith(
        "aggregated NSX"
    )
    assert name_wrapper("case.zip") == ""


def test_esx4_top_directory() -> None:
    """The top directory of a 4.x bundle gives host and day."""
    top = "vm-support-esx41-2009-08-11.22567"
    root = f"esx-2009-08-11.22567.tgz!{top}"
    kind = found(root, (f"{top}/etc/vmware/esx.conf", b"")).find_kind(root)
    assert (kind.kind, kind.host) == ("esxi", "esx41")


def test_trees_do_not_mix() -> None:
    """Two hosts in one archive are two trees."""
    finder = KindFinder()
    for host in ("a", "b"):
        top = f"esx-{host}-2018-01-05--14.49-1"
        finder.see_member(f"z.zip!{top}", f"{top}/etc/vmware/vm-support/m.mfx")
    assert [finder.find_host(root) for root in finder.list_roots()] == ["a", "b"]
