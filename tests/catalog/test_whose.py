"""Whose a file is: by the names its lines and prompts carry, never by what would be convenient.

All lines and answers are synthetic, in the forms that the hosts, collectors and products write.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tests.ingest.test_excerpts import VERSION, case, log, verdicts

SYSLOG = [
    "{old} {host} vmkernel: {up} cpu1:33011){text}",
    "<181>{old} {host} vmkernel: {up} cpu1:33011){text}",
    "{iso} {host} vmkernel: cpu1:33011){text}",
    "<181>{iso} {host} vmkernel: cpu1:33011){text}",
    "<166>1 {iso} {host} vmkernel: cpu1:33011){text}",
    "{iso} {host} In(182) vmkernel: cpu1:33011){text}",
]
DEAD = "NMP: path vmhba1:C0:T0:L1 is dead"


def lines_of(form: str, host: str, count: int = 12, *, dead: int | None = None) -> list[str]:
    """Return lines of a host as a collector keeps them; number `dead` says that a path is dead."""
    return [
        form.format(
            old=f"Nov  3 10:00:{number:02d}", iso=f"2017-11-03T10:00:{number:02d}.123Z", host=host,
            up=f"0:01:00:{number:02d}.123", text=DEAD if number == dead else f"ScsiDeviceIO: 2595: all is well {number}",
        )
        for number in range(count)
    ]  # fmt: skip


def document(folder: Path) -> dict[str, Any]:
    """Run `backline triage` over a folder and return its case document."""
    done = CliRunner().invoke(main, ["triage", str(folder), "--no-packs", "--json", "-"])
    assert done.exit_code in (0, 5), done.output
    return json.loads(done.stdout)


def names(doc: dict[str, Any], kind: str = "esxi") -> list[str]:
    """Return the names of the nodes of a kind."""
    return [node["name"] for node in doc["nodes"] if node["kind"] == kind]


def findings(doc: dict[str, Any], rule: str) -> set[str]:
    """Return the nodes on which a rule found something."""
    return {one["node"] for one in doc["findings"] if one["rule"] == rule}


@pytest.mark.parametrize("form", SYSLOG)
def test_a_syslog_file_belongs_to_the_host_it_names(tmp_path: Path, form: str) -> None:
    """Lines that name esx02 are esx02's, though esx01 is the only host that has a name otherwise."""
    folder = case(
        tmp_path / "case",
        a_txt=f"[root@esx01:~] vmware -v\n{VERSION}",
        collected_log="\n".join(lines_of(form, "esx02", dead=5)),
    )
    found = verdicts(folder, "tabled")

    assert names(found["document"]) == ["esx01", "esx02"]
    assert findings(found["document"], "tabled") == {"esx02"}
    assert not any(
        "taken as" in text for node in found["document"]["nodes"] for text in node["warnings"]
    )


@pytest.mark.size
@pytest.mark.parametrize("form", SYSLOG)
@pytest.mark.parametrize("name", ["collected_log", "vmkernel_log", "syslog_txt"])
def test_a_file_of_several_hosts_goes_to_each_by_line(tmp_path: Path, form: str, name: str) -> None:
    """Three hosts in one file, interleaved: the dead path is that of its line, and the others are known not to have it."""
    parts = [
        lines_of(form, host, dead=5 if host == "esx02" else None)
        for host in ("esx01", "esx02", "esx03")
    ]
    text = "\n".join(line for row in zip(*parts, strict=True) for line in row) + "\n"
    found = verdicts(case(tmp_path / "case", **{name: text}), "tabled")
    doc = found["document"]
    [finding] = [one for one in doc["findings"] if one["rule"] == "tabled"]

    assert names(doc) == ["esx01", "esx02", "esx03"]
    assert (finding["node"], finding["evidence"][0]["line"]) == ("esx02", 5 * 3 + 2)
    assert text.split("\n")[5 * 3 + 1] == finding["evidence"][0]["text"]
    assert not any("esx01" in line or "esx03" in line for line in finding["evidence"][0]["before"])
    assert not any("tabled" in group["rules"] for group in doc["cannot_tell"])


def test_each_line_of_a_collector_goes_to_the_log_of_its_program(tmp_path: Path) -> None:
    """Most lines are hostd's; the VMkernel's dead path among them is found all the same."""
    hostd = "<166>2022-11-04T15:01:{n:02d}.230Z esx05 Hostd: info hostd[1053970] [Originator@6876 sub=Vimsvc] Event {n} : synthetic"
    lines = [hostd.format(n=number) for number in range(30)]
    lines.insert(20, "<181>2022-11-04T15:01:20.230Z esx05 vmkernel: cpu1:33011)" + DEAD)
    found = verdicts(case(tmp_path / "case", remote_log="\n".join(lines)), "tabled")

    assert findings(found["document"], "tabled") == {"esx05"}
    assert {one["table"] for node in found["document"]["nodes"] for one in node["logs"]} == {
        "esxi.hostd",
        "esxi.vmkernel",
    }


def test_a_collectors_file_of_mostly_other_programs_is_a_log(tmp_path: Path) -> None:
    """Three of four lines are of programs that no one reads: what the VMkernel wrote between is known whole."""
    other = "<86>2022-11-04T15:01:{n:02d}.230Z esx05 {tag}[2{n:02d}]: synthetic line of a program that nothing reads"
    lines = [
        other.format(n=number, tag=("made-downd", "made-upd", "nothingd")[number % 3])
        for number in range(30)
    ]
    for name, text in (("hit", DEAD), ("none", "all is well")):
        mixed = [*lines, *["<181>2022-11-04T15:01:31.230Z esx05 vmkernel: cpu1:33011)" + text] * 10]
        found = verdicts(
            case(
                tmp_path / name,
                remote_log="\n".join(mixed),
                a_txt=f"[root@esx05:~] vmware -v\n{VERSION}",
            ),
            "counted",
        )
        assert found["counted"] == ("match" if name == "hit" else "no_match")
        assert names(found["document"]) == ["esx05"]
        [source] = [
            one for one in found["document"]["sources"] if one["address"].endswith("remote.log")
        ]
        assert (source["lines"], source["why"]) == (
            40,
            "30 lines of programs whose log Backline does not read",
        )


@pytest.mark.size
def test_forty_hosts_in_one_large_file(tmp_path: Path) -> None:
    """40 hosts x 6,000 lines, 16 MB: each keeps its lines, and a dead path on the last one is its own."""
    rows = [
        lines_of(SYSLOG[2], f"esx{number:02d}", 60, dead=7 if number == 39 else None)
        for number in range(40)
    ]
    block = "\n".join(line for row in zip(*rows, strict=True) for line in row) + "\n"
    quiet = block.replace(DEAD, "all is well")
    found = verdicts(case(tmp_path / "case", all_log=quiet * 99 + block), "tabled")
    doc = found["document"]

    assert findings(doc, "tabled") == {"esx39"}
    assert len(names(doc)) == 40
    assert {one["lines"] for node in doc["nodes"] for one in node["logs"]} == {6000}


def test_no_secret_goes_out_of_a_collectors_file(tmp_path: Path) -> None:
    """A password in the first, the last or a hit's line of one of two hosts stands nowhere in the document."""
    lines = [
        line
        for pair in zip(
            lines_of(SYSLOG[2], "esx01"), lines_of(SYSLOG[2], "esx02", dead=5), strict=True
        )
        for line in pair
    ]
    for at in (0, 11, 23):
        lines[at] += " --password=CANARY-4711"
    found = verdicts(case(tmp_path / "case", all_log="\n".join(lines)), "tabled")

    assert findings(found["document"], "tabled") == {"esx02"}
    assert "CANARY" not in json.dumps(found["document"])


def test_a_name_that_is_no_host_is_none(tmp_path: Path) -> None:
    """`localhost` and levels are no names: such a log belongs to the only host, and that is said."""
    for number, text in enumerate(("\n".join(lines_of(SYSLOG[0], "localhost")), "\n".join(log()))):
        doc = document(
            case(
                tmp_path / f"case{number}",
                a_txt=f"[root@esx01:~] vmware -v\n{VERSION}",
                some_log=text,
            )
        )
        assert names(doc) == ["esx01"]
        assert any(
            "some.log names no host; treated as part of esx01" in text
            for node in doc["nodes"]
            for text in node["warnings"]
        )


def test_a_prompt_of_localhost_is_no_host_that_has_a_name(tmp_path: Path) -> None:
    """`[root@localhost:~]` shows what that host is called: beside one with a name it is another, and that is said."""
    known, other = (
        f"[root@esx01:~] vmware -v\n{VERSION}",
        f"[root@localhost:~] vmware -v\n{VERSION}",
    )
    doc = document(case(tmp_path / "two", a_txt=known, b_txt=other))

    assert names(doc) == ["b.txt", "esx01"]
    assert "a machine that is called localhost, unlike esx01" in str(
        [node["warnings"] for node in doc["nodes"]]
    )
    assert len(names(document(case(tmp_path / "one", a_txt=other, b_txt=other)))) == 1


HOSTD = (
    "{day}T10:00:01.000Z Section for VMware ESX, pid=2099, version={version}, build={build}, option=Release\n"
    "{day}T10:00:02.000Z info hostd[2099] [Originator@6876 sub=Default] synthetic\n"
    "{day}T10:00:03.000Z info hostd[2099] [Originator@6876 sub=Default] synthetic\n"
)


def test_files_that_contradict_each_other_are_of_different_hosts(tmp_path: Path) -> None:
    """A version of 6.5 and a hostd.log of 5.5 in one folder, no names: two hosts, and why is said."""
    old = HOSTD.format(day="2014-03-01", version="5.5.0", build="1331820")
    doc = document(case(tmp_path / "case", version_txt=VERSION, hostd_log=old))
    versions = {node["name"]: node["version"] for node in doc["nodes"]}

    assert versions == {"version.txt": "6.5.0", "hostd.log": "5.5.0"}
    assert all("is kept separate" in " ".join(node["warnings"]) for node in doc["nodes"])


def test_logs_years_apart_are_not_one_host(tmp_path: Path) -> None:
    """Logs of 2011 and of 2024 make no span of thirteen years."""
    old, new = (
        HOSTD.format(day=day, version="6.5.0", build="4564106")
        for day in ("2011-05-01", "2024-12-14")
    )
    doc = document(
        case(
            tmp_path / "case",
            hostd_log=old,
            vmk_log="\n".join(log()).replace("2017-10", "2024-12"),
            vpxa_log=new,
        )
    )

    assert sorted(len(node["sources"]) for node in doc["nodes"]) == [1, 2]
    for node in doc["nodes"]:
        assert len({one["first"][:4] for one in node["logs"]}) == 1


def test_files_that_agree_are_one_host_as_before(tmp_path: Path) -> None:
    """Nothing speaks against it: loose files without names are one host."""
    same = HOSTD.format(day="2017-10-14", version="6.5.0", build="4564106")
    doc = document(
        case(tmp_path / "case", version_txt=VERSION, hostd_log=same, vmkernel_log="\n".join(log()))
    )

    assert names(doc) == ["ESXi host (loose files)"]


def test_a_file_of_nobody_beside_two_hosts_stands_alone(tmp_path: Path) -> None:
    """A hostd.log that names nobody is given to neither of two hosts, and the report says so."""
    files = {f"{name}_txt": f"[root@{name}:~] vmware -v\n{VERSION}" for name in ("esx01", "esx02")}
    doc = document(
        case(
            tmp_path / "case",
            hostd_log=HOSTD.format(day="2017-10-14", version="6.5.0", build="4564106"),
            **files,
        )
    )

    assert names(doc) == ["esx01", "esx02", "hostd.log"]
    [alone] = [node for node in doc["nodes"] if node["name"] == "hostd.log"]
    assert alone["warnings"] == [
        "hostd.log names no host, so it is kept separate: the case has 2 of its kind (esx01, esx02)"
    ]


def test_a_file_that_cannot_be_the_only_hosts_is_not_given_to_it(tmp_path: Path) -> None:
    """The only host runs 6.5; a hostd.log of 5.5 that names nobody is not its own."""
    doc = document(
        case(
            tmp_path / "case",
            a_txt=f"[root@esx01:~] vmware -v\n{VERSION}",
            hostd_log=HOSTD.format(day="2014-03-01", version="5.5.0", build="1"),
        )
    )

    assert names(doc) == ["esx01", "hostd.log"]
    assert any(
        "states version 5.5.0, unlike esx01" in text
        for node in doc["nodes"]
        for text in node["warnings"]
    )


CONTROLLERS = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<controllers>\n<controller>\n<id>controller-1</id>\n<ipAddress>10.0.0.1</ipAddress>\n'
    "<status>RUNNING</status>\n</controller>\n</controllers>\n"
)
GLOBAL = (
    "<globalInfo>\n<versionInfo>\n<majorVersion>6</majorVersion>\n<minorVersion>3</minorVersion>\n<patchVersion>3</patchVersion>\n"
    "<buildNumber>6276725</buildNumber>\n</versionInfo>\n{host}</globalInfo>\n"
)


def manager(folder: Path, name: str = "mgr") -> None:
    """Write a bundle of an NSX Manager that names no host."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / f"{name}.tgz", "w:gz") as tar:
        for path, text in (
            (f"{name}/sys_info", "System Version: 6.3.3 Build 6276725\n"),
            (
                f"{name}/logs/vsm.log",
                "2017-10-02 08:00:00.100 GMT+00:00  INFO main Sync:1 - synthetic\n",
            ),
        ):
            info = tarfile.TarInfo(path)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))


@pytest.mark.parametrize("host", ["", "<hostName>nsxmgr07</hostName>\n"])
def test_rest_answers_beside_a_bundle_are_of_its_manager(tmp_path: Path, host: str) -> None:
    """An unnamed Manager bundle and loose REST answers, with a name in them or without: one Manager, and that is said."""
    folder = tmp_path / "case"
    manager(folder)
    (folder / "controllers.xml").write_text(CONTROLLERS)
    (folder / "global.xml").write_text(GLOBAL.format(host=host))
    doc = document(folder)
    [one] = [node for node in doc["nodes"] if node["kind"] == "nsx_manager"]

    assert one["name"] == ("nsxmgr07" if host else "mgr")
    assert "controllers.xml names no host; treated as part of" in " ".join(one["warnings"])
    assert len([finding for finding in doc["findings"] if finding["rule"] == "nsx-1961105"]) <= 1


def test_two_managers_share_no_rest_answer(tmp_path: Path) -> None:
    """Two unnamed Manager bundles: a loose answer is given to neither."""
    folder = tmp_path / "case"
    manager(folder, "one")
    manager(folder, "two")
    (folder / "controllers.xml").write_text(CONTROLLERS)
    doc = document(folder)

    assert sorted(names(doc, "nsx_manager")) == ["controllers.xml", "one", "two"]


NSXT = '<182>1 2021-03-01T10:00:0{n}.123Z {host} NSX 3101 SYSTEM [nsx@6876 comp="{comp}" subcomp="http" level="INFO"] synthetic {n}'


@pytest.mark.parametrize("name", ["nsxapi_log", "syslog_log", "t_txt"])
@pytest.mark.parametrize(
    ("comp", "kind"),
    [("nsx-manager", "nsxt_manager"), ("nsx-edge", "nsxt_edge"), ("nsx-esx", "esxi")],
)
def test_loose_nsx_t_logs_are_of_an_nsx_t_node(
    tmp_path: Path, name: str, comp: str, kind: str
) -> None:
    """They are no ESXi host that is asked for esxtop, except where a host wrote them."""
    lines = [NSXT.format(n=number, host="nsxt-mgr-1", comp=comp) for number in range(6)]
    doc = document(case(tmp_path / "case", **{name: "\n".join(lines)}))

    assert [(node["kind"], node["name"]) for node in doc["nodes"]] == [(kind, "nsxt-mgr-1")]
    if kind != "esxi":
        assert "esxtop" not in json.dumps([group.get("ask") for group in doc["cannot_tell"]])


DESKTOP = [
    '2015-01-13T11:10:25.641+01:00| vmx| I120: Log for VMware Player pid=4280 version=7.0.0 build=build-2305329 option=Release',
    '2024-07-23T23:42:08.577Z In(05) vmx Log for VMware Workstation pid=25976 version=17.5.2 build=build-23775571 option=Release',
    '2020-07-23T23:42:08.577Z In(05) vmx Log for VMware Fusion pid=25976 version=13.0.0 build=build-1 option=Release',
    '2024-07-23T23:42:08.577Z In(05) vmx Host is Windows 11 Home, 64-bit (Build 22635.3930)',
    'Apr 17 11:51:58.540: vmx| Log for VMware Workstation pid=4816 version=7.0.0 build=build-203739 option=Release',
    '2024-07-23T23:42:08.577Z In(05) vmx DISK: OPEN scsi0:0 "D:\\VMs\\lab 1\\lab.vmdk" persistent (synthetic)',
    "2015-01-13T11:10:25.641+01:00| vmx| I120: DISK: OPEN scsi0:0 '/home/user/vmware/lab/lab.vmdk' persistent (synthetic)",
]  # fmt: skip
MORE = {"|": "{head}| vmx| I120: synthetic", ")": "{head} In(05) vmx synthetic"}
DESKTOP_VMX = (
    '.encoding = "windows-1252"\nconfig.version = "8"\nvirtualHW.version = "7"\nmemsize = "512"\n'
    'ethernet0.present = "TRUE"\nethernet0.connectionType = "nat"\nvirtualHW.productCompatibility = "hosted"\n'
)
HOST_VMX = (
    '.encoding = "UTF-8"\nconfig.version = "8"\nvirtualHW.version = "13"\nmemSize = "2048"\nsched.cpu.units = "mhz"\n'
    'ethernet0.present = "TRUE"\nethernet0.virtualDev = "e1000"\nethernet0.networkName = "VM Network"\n'
    'virtualHW.productCompatibility = "hosted"\n'
)


@pytest.mark.parametrize("first", DESKTOP)
def test_a_vm_of_a_desktop_product_is_no_esxi_host(tmp_path: Path, first: str) -> None:
    """vmware.log and .vmx of Workstation, Player and Fusion are named as such; no rule judges them."""
    head = first.split(" vmx", maxsplit=1)[0].split("|", maxsplit=1)[0].removesuffix(" In(05)")
    more = (
        (MORE[")"] if "In(05)" in first else MORE["|"]).format(head=head)
        if first[0].isdigit()
        else f"{head} vmx| synthetic"
    )
    doc = document(
        case(tmp_path / "case", vmware_log="\n".join([first, *[more] * 5]), linux_vmx=DESKTOP_VMX)
    )

    assert {node["kind"] for node in doc["nodes"]} == {"hosted"}
    said = " ".join(text for node in doc["nodes"] for text in node["warnings"])
    assert "Workstation, Player or Fusion" in said
    if "Log for" in first:
        product, version = (
            first.split("Log for ")[1].split(" pid=", maxsplit=1)[0],
            first.split("version=")[1].split(" ", maxsplit=1)[0],
        )
        assert f"under {product} {version}" in said
    assert not doc["findings"]
    assert not doc["cannot_tell"]


def test_a_vm_of_esxi_stays_one(tmp_path: Path) -> None:
    """ESXi writes `productCompatibility = "hosted"` too: with its own keys beside it the VM is a host's, and is judged."""
    doc = document(case(tmp_path / "case", app_vmx=HOST_VMX))

    assert {node["kind"] for node in doc["nodes"]} == {"esxi"}
    assert "adapter-not-vmxnet3" in {one["rule"] for one in doc["findings"]}


def test_the_tables_still_show_a_desktop_vm(tmp_path: Path) -> None:
    """`backline tables` prints what was parsed, whoever judges it."""
    folder = case(tmp_path / "case", linux_vmx=DESKTOP_VMX)
    done = CliRunner().invoke(main, ["tables", str(folder / "linux.vmx"), "esxi.vm", "--json"])

    assert json.loads(done.stdout)["memory_mb"] == 512


@pytest.mark.parametrize(
    ("name", "stamp", "year"),
    [
        ("messages-20150412", "Apr 11", "2015"),
        (
            "messages-20150104",
            "Dec 30",
            "2014",
        ),  # put away in January: its December is the year before
        ("vmkernel-2015-01-04.log", "Jan  4", "2015"),
    ],
)
def test_a_year_of_a_file_name_is_called_a_guess(
    tmp_path: Path, name: str, stamp: str, year: str
) -> None:
    """Lines without a year get that of the date in the name, never a later day than it, and the report says it is a guess."""
    folder = tmp_path / "case"
    folder.mkdir()
    lines = [line.replace("Nov  3", stamp) for line in lines_of(SYSLOG[0], "esx01")]
    (folder / f"{name}.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    [node] = document(folder)["nodes"]

    assert {one["first"][:4] for one in node["logs"]} == {year}
    assert any(f"{year} is a guess" in text for text in node["warnings"])


def test_where_nothing_tells_the_year_there_is_no_time(tmp_path: Path) -> None:
    """No year in lines or name: no time is made up, and nothing is called a guess."""
    doc = document(case(tmp_path / "case", messages_txt="\n".join(lines_of(SYSLOG[0], "esx01"))))
    [node] = doc["nodes"]

    assert [(one["first"], one["last"]) for one in node["logs"]] == [("", "")]
    assert doc["case"]["span"] is None
    assert not any("guess" in text for text in node["warnings"])
