"""Log lines: whose they are, what time they were written, and that nothing makes the parsers fail."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analyzer.artefacts.parsing import Parser, registry
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.forms import logs as _log
from analyzer.parsers.common import _xml
from tests.kit.sample_kit import list_samples
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "../shared/corpus"
# `esxi_section_head` reads the heads of sections in logs of others: it owns no line.
LOGS: list[Parser] = [p for p in registry().values() if p.log and p.name != "esxi_section_head"]
XML = (
    "nsx_manager",
    "nsx_controllers",
    "nsx_hardware_gateway",
    "nsx_controller_disk",
    "nsx_component_status",
    "nsx_host_connection",
)


def owners(line: str) -> list[str]:
    """Return the log parsers that may own a line.

    A parser of the rest has the shape of any log of 8.x; the reader asks it last, so it owns what no other has.
    """
    found = [parser for parser in LOGS if parser.starts_at(line)]
    return [parser.name for parser in found if not parser.rest] or [parser.name for parser in found]


def rows(name: str, *lines: str, address: str = "x", taken: str = "") -> list[Row]:
    """Run a log parser over lines and return its rows; a fault fails the test."""
    found = list(registry()[name].parse(Block(list(lines), 1, address, taken=taken)))
    assert all(isinstance(item, Row) for item in found), found
    return [item for item in found if isinstance(item, Row)]


# --- whose line is it --------------------------------------------------------------------------

# file of the corpus -> parser of its stamped lines; a start of a line -> parser, where it differs
# (None: a log of a service we do not read)
REAL: dict[str, tuple[str | None, dict[str, str | None]]] = {
    "nsx/logs/controller_disk_latency_zookeeper.log": ("controller_java", {}),
    "nsx/logs/controller_glog.log": ("controller_glog", {}),
    "nsx/controller-cli/show_control-cluster_history_line.txt": ("controller_glog", {}),
    "nsx/logs/dfwpktlogs_nsxv_6.2-6.4.log": (
        "dfwpktlogs",
        {"2013-10-02T05:41:12.670Z cpu11": "vmkernel"},
    ),
    "nsx/logs/nsxt_appliance_rfc5424.log": ("nsxt_syslog", {}),
    "nsx/logs/vmkernel_nsx.log": ("vmkernel", {}),
    "nsx/logs/vsm_host_connection_status.log": ("vsm_log", {}),
    "nsx/logs/vsm_systemevent_syslog.log": ("vsm_event", {}),
    "esxi/esxi60/luntimestamps_hostd.log": ("hostd", {}),
    "esxi/esxi65/esos200_vmkernel.log": ("vmkernel", {}),
    "esxi/esxi67/nic-replace_vobd.log": ("vobd", {}),
    "esxi/esxi8/nfs-latency_vmkernel.log": ("vmkernel", {}),
    "esxi/intel-mfd/test_interrupt_esxi_L184_2023-11-11T03-32-59-783Z-cpu37-2098285-i.txt": (
        "vmkernel",
        {},
    ),
    "esxi/intel-mfd/test_interrupt_esxi_L41_TSC-548762-cpu0-1-BootConfig-705-interru.txt": (
        "vmkernel",
        {},
    ),
    "esxi/intel-mfd/test_interrupt_esxi_L73_2023-11-13T16-08-29-727Z-cpu105-2098150.txt": (
        "vmkernel",
        {},
    ),
    "esxi/elatov/2012-03-26-netapp-snapmanagersnapdrivesme-causes-esx-host-to_02.txt": (
        "vmkernel",
        {"Apr 7 17:39:16 esx_host Hostd": "hostd"},
    ),
    "esxi/elatov/2012-03-26-netapp-snapmanagersnapdrivesme-causes-esx-host-to_03.txt": (
        "hostd",
        {},
    ),
    "esxi/elatov/2012-06-14-vms-losing-high-number-pings-when-consolidating-s_02.txt": (
        "vm_log",
        {},
    ),
    "esxi/elatov/2012-08-20-esxi-host-experiencing-a-lot-of-active-path-chang_08.txt": (
        "vmkernel",
        {"Aug 15 06:07:13 vobd": "vobd"},
    ),
    "esxi/elatov/2012-09-09-vms-setup-to-use-windows-nlb-in-unicast-mode-lose_01.txt": (
        "vmkernel",
        {},
    ),
    "esxi/elatov/2012-11-23-host-with-emulex-nc553i-cna-disconnects-from-stro_00.txt": (
        "vmkernel",
        {},
    ),
    "esxi/elatov/2012-11-23-host-with-emulex-nc553i-cna-disconnects-from-stro_02.txt": (
        "vmkernel",
        {},
    ),
    "esxi/elatov/2013-01-07-vcap5-dca-objective-7-1-secure-esxi-hosts_07.txt": ("shell_log", {}),
    "esxi/elatov/2014-01-05-updating-esxi-5-0u2-esxi-5-1u1_05.txt": ("hostd", {}),
    "esxi/remote-syslog/esxi_remote_lines.log": (
        "hostd",
        {
            "<110>": "shell_log",
            "2016-09-14T14:14:25.234Z contosa": "vmkernel",
            "<14>1 2021": "vpxd",
        },
    ),
    "esxi/lnav/logfile_vmw_log.0": ("vpxd", {}),
    "esxi/lnav/vmw_and_esx_syslog_samples.log": (
        None,
        {
            "2022-06-02T05:34:56.746Z In(14) ConfigStore": "other_log",  # a line of 8.x shows that it is a host's
            "2022-06-02T05:34:23Z In(14)[+] hostprofile": "other_log",
            "2023-08-09T14:42:43.094Z In(14) settingsd": "settingsd",
            "2023-11-07T19:17:28.030Z In(14) settingsd": "settingsd",
            "2022-05-17T07:39:38.357Z In(9) watchdog-vobd": "syslog",
            "2020-05-11T22:32:38.751Z info vsansystem": "vsansystem",
            "2020-05-11T22:32:56Z lifecycle": "lifecycle",
            "2020-05-11T22:32:09Z esxupdate": "esxupdate",
            "2021-06-16T14:59:52.362Z info vsand": "vsanmgmt",
            "2022-06-02T08:33:42.692Z info rhttpproxy": "rhttpproxy",
            "2024-03-26T04:31:17.959Z In(166) Hostd": "hostd",
            "2021-05-24T20:31:05.671Z - last log rotation": "hostd",
            "[2011-04-01 15:14:34.203": "hostd",
            "2020-05-11T22:36:11.202Z verbose hostd": "hostd",
            "2022-06-02T02:56:51.118Z Db(167) Hostd": "hostd",
            "2022-06-02T02:56:51.640Z In(14) vmsyslogd": "hostd",
            "2022-06-02T02:15:22.987Z In(166) Hostd": "hostd",
            "2022-06-02T03:20:05.107Z Db(167) Hostd": "hostd",
            "2014-11-04T15:53:31.075+05:30 verbose vpxd": "vpxd",
            "2022-06-01T20:17:31.352Z info vpxd": "vpxd",
            "2022-06-01T14:23:06.536Z info vpxd": "vpxd",
            "2022-06-02T08:34:54.811Z info vpxd": "vpxd",
            "2022-06-02T08:34:55.613Z info vpxd": "vpxd",
            "2022-06-02T08:34:55.753Z info vpxd": "vpxd",
            "2022-06-02T08:34:55.421Z info vpxd": "vpxd",
            "2025-06-04T17:06:21.349Z INFO vpxd": "vpxd",
            "2014-01-17T04:55:50.347Z [7F03ECE76700": "vpxd",  # 5.x: a thread of twelve digits, a host's has eight
            "2014-11-04T12:46:42.990+05:30 Section for VMware VirtualCenter": "vpxd",
            # services beside vpxd: Lifecycle Manager, statistics, vSAN management, images
            "2022-06-02T12:21:26.285Z info vmware-vum-server": "vcenter_services",
            "2022-06-02T08:33:42.327Z info StatsMonitor": "vcenter_services",
            "2022-06-02T11:49:41.274Z INFO vsan-mgmt": "vcenter_services",
            "2022-06-02T12:26:24.319Z INFO vsan-mgmt": "vcenter_services",
            "2022-06-02T12:26:27.109Z info vsanvcmgmtd": "vcenter_services",
            "2023-08-04T11:01:42.873-07:00 info vmware-vum-server": "vcenter_services",
            "2023-10-28 02:56:46,013 INFO imageService": "vcenter_services",
        },
    ),
    "esxi/vmware-log/StatusCritical/vmware-1.log": ("vm_log", {}),
    "esxi/vmware-log/euanhume/vmware-2.log": ("vm_log", {}),
    "esxi/vmware-log/zerjioang/vmware.log": ("vm_log", {}),
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", sorted(REAL))
def test_a_real_line_is_its_own_parsers_and_no_others(name: str) -> None:
    """Each stamped line of a real capture has the shape of one log parser only, which reads it."""
    path = CORPUS / name
    if not path.exists():
        pytest.skip("the corpus of real captures is not here")
    default, others = REAL[name]
    seen = 0
    for number, line in enumerate(
        path.read_bytes().decode("utf-8", "surrogateescape").splitlines(), 1
    ):
        if not _log.STAMPED.match(line) and not line.startswith("INFO."):
            continue
        seen += 1
        wanted = next((who for start, who in others.items() if line.startswith(start)), default)
        assert owners(line) == ([wanted] if wanted else []), (number, line[:160])
        if wanted:
            [row] = rows(wanted, line)
            assert row.line == 1 and set(row.values) == {
                column.name for column in row.table.columns
            }
            if line[:1].isdigit() and not line.startswith("0:"):
                assert str(row.values["time"]).startswith("20"), line[:160]
    assert seen


@pytest.mark.corpus
def test_the_wrapped_lines_of_a_capture_join_the_line_they_continue() -> None:
    """A copy that breaks a line after the head gives one row with the whole message."""
    name = "test_interrupt_esxi_L41_TSC-548762-cpu0-1-BootConfig-705-interru.txt"
    path = CORPUS / "esxi/intel-mfd" / name
    if not path.exists():
        pytest.skip("the corpus of real captures is not here")
    found = rows("vmkernel", *path.read_text().splitlines())
    joined = [
        row for row in found if str(row.values["message"]).startswith("i40en: i40en_Validate")
    ]
    assert len(joined) == 4


@together("parser", LOGS, ids=lambda parser: parser.name)
def test_no_sample_line_has_the_shape_of_two_logs(parser: Parser) -> None:
    """What one log parser takes in our samples, no other claims."""
    for path in list_samples(parser.name, "*.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            found = owners(line)
            assert len(found) <= 1, (path.name, line)


def test_a_log_recognises_its_members_by_name() -> None:
    """Rotated and compressed members are the log's; neighbours with a longer name are not."""
    mine = {
        "vmkernel": [
            "vmkernel.log",
            "vmkernel.0.gz",
            "vmkernel.10.gz",
            "vmkernel.log.1",
            "vmkernel",
        ],
        "vobd": ["vobd.log", "vobd.3.gz"],
        "hostd": ["hostd.log", "hostd-7.log", "hostd.0.gz"],
        "vm_log": ["vmware.log", "vmware-34.log"],
        "vsm_log": ["vsm.log", "vsm.log.2.gz"],
    }
    others = {
        "vmkernel": ["vmkernel-zdump.1", "vmkwarning.log", "vmkernel.log.txt"],
        "hostd": ["hostd-probe.log", "hostdCgiServer.log"],
        "vm_log": ["vmware-vmsvc.log"],
    }
    for name, files in mine.items():
        assert all(registry()[name].matches_file(f"top/var/run/log/{file}") for file in files), name
    for name, files in others.items():
        assert not any(
            registry()[name].matches_file(f"top/var/run/log/{file}") for file in files
        ), name


# --- continuation, prefixes, damage ------------------------------------------------------------


def test_a_bare_continuation_joins_the_line_before() -> None:
    """`-->` and stack lines without a stamp are part of the message; a blank line is nothing."""
    [row] = rows(
        "hostd",
        "2017-03-08T05:55:24.316Z info hostd[32740B70] [Originator@6876 sub=Default] one",
        "--> two",
        "",
    )
    assert row.values["message"] == "one\n--> two"
    [trace] = rows(
        "vsm_log",
        "2017-10-02 10:05:07.000 GMT+00:00 ERROR NvpStatusCheck-1 NvpStatusCheck:120 - failed",
        "java.net.SocketTimeoutException: connect timed out",
        "\tat java.net.PlainSocketImpl.socketConnect(Native Method)",
    )
    assert str(trace.values["message"]).count("\n") == 2


def test_a_continuation_with_its_own_head_joins_too() -> None:
    """From 8.0 on every line has a head; `-->` after it and a + of vmware.log still continue."""
    head = "2024-03-26T04:31:17.959Z In(166) Hostd[2098914]: "
    [row] = rows("hostd", head + "[Originator@6876 sub=Libs] one", head + "--> two")
    assert row.values["message"] == "one\n--> two"
    [vm] = rows(
        "vm_log",
        "2024-07-23T23:42:08.577Z In(05) vmx one",
        "2024-07-23T23:42:08.577Z In(05)+ vmx two",
    )
    assert vm.values["message"] == "one\ntwo"


def test_a_line_of_an_agent_that_a_server_kept_without_its_severity() -> None:
    """A syslog server keeps the priority of 8.x lines or nothing in place of the severity: the line is the agent's own."""
    line = "<166>2024-02-11T18:01:45.587Z esx0.test Hostd[2099494]: [Originator@6876 sub=Vimsvc opID=1a] Task Completed"
    assert owners(line) == ["hostd"]
    (row,) = rows("hostd", line)
    assert (row.values["thread"], row.values["sub"], row.values["message"]) == (
        "2099494",
        "Vimsvc",
        "Task Completed",
    )
    twice = line.replace("]: [", "]: warning hostd[2099494] [")
    assert owners(twice) == ["hostd"]
    assert [row.values["level"] for row in rows("hostd", twice)] == ["warning"]


def test_a_continuation_alone_is_a_fault_that_says_so() -> None:
    """A line without head and without a line before it is reported, not guessed at."""
    [fault] = registry()["hostd"].parse(Block(["--> two"], 9, "a!b"))
    assert isinstance(fault, Fault) and (fault.line, fault.why) == (
        9,
        "does not look like a line of this log",
    )


def test_a_stamped_line_of_another_log_is_not_a_continuation() -> None:
    """In a mixed file a vobd line after a vmkernel line is a fault of its own."""
    vmkernel = "2017-10-14T09:00:01.100Z cpu3:33011)NetPort: 1879: disabled port 0x2000002"
    vobd = (
        "2017-10-14T09:12:44.100Z: [netCorrelator] 84us: [vob.net.vmnic.linkstate.down] vmnic2 down"
    )
    found = list(registry()["vmkernel"].parse(Block([vmkernel, vobd, "rest"], 1, "x")))
    assert [type(item) for item in found] == [Row, Fault, Fault]
    assert isinstance(found[0], Row) and "vob" not in str(found[0].values["message"])


def test_nul_runs_and_carriage_returns_are_dropped() -> None:
    """A crash leaves NUL bytes before a line, Windows a carriage return after it."""
    [row] = rows("vmkernel", "\0\0\0" + "2017-10-14T09:00:01Z cpu3:33011)NetPort: 1879: up\r")
    assert (row.values["time"], row.values["message"]) == (
        "2017-10-14 09:00:01",
        "NetPort: 1879: up",
    )


def test_the_year_of_a_stamp_without_one() -> None:
    """It comes from the bundle's name or capture time, never from today; without both there is none."""
    line = "Dec 31 23:59:59 esx4 vmkernel: 1:23:46:11.099 cpu13:882014)NMP: one"
    bundle = "esx-esx4.lab-2012-01-02--19.28.tgz!esx-esx4.lab-2012-01-02--19.28/var/log/messages"
    assert rows("vmkernel", line, address=bundle)[0].values["time"] == "2011-12-31 23:59:59"
    assert (
        rows("vmkernel", line, taken="2013-12-31T08:00:00Z")[0].values["time"]
        == "2013-12-31 23:59:59"
    )
    assert rows("vmkernel", line)[0].values["time"] is None
    assert rows("vmkernel", line)[0].values["uptime_s"] == 171971.099
    glog = "D0101 00:00:01.000000 1983 a.cc:1] b"
    name = "ctl.tgz!x/cloudnet_cpp.INFO.20161230-000550.1774"
    assert (
        rows("controller_glog", glog, address=name)[0].values["time"]
        == "2017-01-01 00:00:01.000000"
    )


@pytest.mark.parametrize(
    ("stamp", "wanted"),
    [
        ("2017-10-14T09:00:01.5Z", "2017-10-14 09:00:01.5"),
        ("2017-01-01T00:30:00+05:30", "2016-12-31 19:00:00"),
        ("2017-12-31T23:30:00.25-0100", "2018-01-01 00:30:00.25"),
        ("2016-05-23 23:36:34.736 GMT+02:00", "2016-05-23 21:36:34.736"),
        ("2016-05-23 23:36:34.736 PDT", "2016-05-23 23:36:34.736"),
        ("2015-05-30 13:25:07,382", "2015-05-30 13:25:07.382"),
        ("2015-02-30T13:25:07Z", None),
        ("2015-02-20T25:25:07Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("Feb 29 10:00:00", None),
        ("hello", None),
    ],
)
def test_a_stamp_becomes_utc(stamp: str, wanted: str | None) -> None:
    """Offsets are taken off; a name other than GMT and UTC is taken as UTC; no date is no time."""
    assert _log.read_utc(stamp, lambda _month, _day: 2015) == wanted


@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
    st.sampled_from(["", ":"]),
)
def test_any_offset_gives_the_same_moment(moment: datetime, minutes: int, colon: str) -> None:
    """A moment printed in any zone comes back as the same UTC time."""
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    local = moment + timedelta(minutes=minutes)
    sign, shift = ("-", -minutes) if minutes < 0 else ("+", minutes)
    text = f"{local:%Y-%m-%dT%H:%M:%S}.{local.microsecond // 1000:03d}{sign}{shift // 60:02d}{colon}{shift % 60:02d}"
    found = _log.read_utc(text)
    assert found is not None
    assert datetime.fromisoformat(found).replace(tzinfo=UTC) == moment.replace(tzinfo=UTC)


_HEADS = st.sampled_from(
    [
        "2017-10-14T09:00:00.000Z ",
        "2024-03-26T04:31:17.959Z In(166) Hostd[2098914]: [Originator@6876 sub=",
        "<166>2022-11-04T15:01:58.230Z esx0 ",
        "2017-10-02 08:00:00.412 GMT+00:00  INFO ",
        "Jan  8 04:35:00 host vobd: ",
        "D1002 08:25:29.452639 1983 ",
        "",
    ]
)


@together("parser", LOGS, ids=lambda parser: parser.name, parts=16)
@settings(max_examples=40, deadline=None)
@given(_HEADS, st.text(max_size=200), st.integers(1, 1000))
@example("", "\udcff\x85\u2028", 1)
def test_arbitrary_text_never_raises(parser: Parser, head: str, text: str, first: int) -> None:
    """Any line gives rows and faults on its own line and nothing else."""
    for item in parser.parse(Block([head + text, text], first, "a!b")):
        assert isinstance(item, Row | Fault)
        assert first <= item.line <= first + 1


@together("parser", LOGS, ids=lambda parser: parser.name, parts=16)
def test_a_hostile_line_is_done_with_quickly(parser: Parser) -> None:
    """A line of 64 KB made of what the forms look for costs well under a second each."""
    heads = ["2017-10-14T09:00:00.000Z ", "2017-10-02 08:00:00.412 GMT+00:00  INFO ", ""]
    for head in heads:
        for unit in (" ", "a", "[", "]", "'", ' k="v"', "a: ", "sub=a ", "Severity :: a;;"):
            line = head + unit * (64_000 // len(unit))
            begin = time.perf_counter()
            parser.starts_at(line)
            parser.goes_on(line)
            list(parser.parse(Block([line], 1, "x")))
            assert time.perf_counter() - begin < 5, (head, unit)


# --- XML and JSON ------------------------------------------------------------------------------

LAUGHS = (
    '<?xml version="1.0"?>\n<!DOCTYPE lolz [\n <!ENTITY a "lol">\n'
    + "".join(f' <!ENTITY a{n} "{f"&a{n - 1};" * 10}">\n' for n in range(1, 12))
    + "]>\n<controllers><controller><id>&a11;</id></controller></controllers>"
)
HOSTILE = {
    "billion laughs": LAUGHS,
    "external entity": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><controllers>&e;</controllers>',
    "depth": "<a>" * 200_000,
    "open comment": "<controllers><!--" + "<!--" * 100_000,
    "open tag": "<controllers><controller a='" + "x" * 500_000,
    "many close tags": "<controllers>" + "</b>" * 200_000 + "<!-- ",
    "open cdata": "<controllers><![CDATA[" + "]]" * 100_000,
}


@pytest.mark.parametrize("parser", XML)
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_xml_is_a_fault_and_quick(parser: str, name: str) -> None:
    """Entities are never expanded or fetched; depth and unclosed markup end the reading with a reason."""
    begin = time.perf_counter()
    found = list(registry()[parser].parse(Block(HOSTILE[name].split("\n"), 1, "a!b")))
    assert time.perf_counter() - begin < 5
    faults = [item for item in found if isinstance(item, Fault)]
    assert faults and all(fault.why for fault in faults)
    values = [
        str(value) for item in found if isinstance(item, Row) for value in item.values.values()
    ]
    assert not any("lol" in value or "root:" in value for value in values)


@given(st.text(alphabet=st.sampled_from("<>/!-[]?&;#x1 abid='\"\n"), max_size=300))
def test_xml_of_any_shape_never_raises(text: str) -> None:
    """Not well formed is read as far as it goes; lines of elements lie in the block."""
    block = Block(text.split("\n"), 5, "x")
    root, faults = _xml.read_xml(block, "test")
    assert all(5 <= element.line < 5 + len(block.lines) for element in root.walk())
    assert all(5 <= fault.line < 5 + len(block.lines) for fault in faults)


@given(
    st.recursive(
        st.text(alphabet=st.characters(categories=["L", "N", "P", "Zs"]), max_size=20),
        lambda inner: st.lists(inner, max_size=4),
        max_leaves=15,
    )
)
def test_xml_reads_what_a_writer_wrote(tree: object) -> None:
    """A well-formed document comes back: texts with entities resolved, children in order."""
    escape = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}

    def write(node: object) -> str:
        if isinstance(node, str):
            return "<t>" + "".join(escape.get(char, char) for char in node) + "</t>"
        assert isinstance(node, list)
        return "<l>\n" + "".join(write(child) for child in node) + "</l>"

    def back(element: _xml.Element) -> object:
        return element.text if element.tag == "t" else [back(child) for child in element.children]

    root, faults = _xml.read_xml(Block(write(tree).split("\n"), 1, "x"), "test")
    assert faults == [] and [back(child) for child in root.children] == [tree]


@pytest.mark.parametrize(
    "text",
    ['{"versionInfo":' * 50_000, '{"versionInfo":{"majorVersion":"6"', "{" * 9, "[" * 100_000],
)
def test_broken_json_is_a_fault(text: str) -> None:
    """JSON nested without end or cut gives a fault and no row."""
    block = Block(["{" + text if not text.startswith("{") else text], 1, "x")
    found = list(registry()["nsx_manager"].parse(block))
    assert [type(item) for item in found] == [Fault]


def test_json_states_the_version_as_number_or_text() -> None:
    """Both writings of the answer before 6.2.3 give the same row."""
    for quote in (str, int):
        info = {
            "majorVersion": quote(6),
            "minorVersion": quote(2),
            "patchVersion": quote(2),
            "buildNumber": quote(3604087),
        }
        block = Block([json.dumps({"globalInfo": {"versionInfo": info}})], 1, "x")
        [row] = registry()["nsx_manager"].parse(block)
        assert isinstance(row, Row)
        assert (row.values["version"], row.values["build"]) == ("6.2.2", 3604087)


# --- the DLR's table ---------------------------------------------------------------------------


def test_twenty_thousand_arp_entries_are_counted_and_quick() -> None:
    """A table at the limit of 20K is read entry by entry; the count stands in its own row."""
    lines = ["VDR default+edge-1:1460487509 ARP Information :"]
    lines += [
        "Network           Mac                  Flags      Expiry     SrcPort    Interface Refcnt"
    ]
    lines += [
        f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}  00:50:56:01:02:03  {'N' if n % 4 == 0 else 'V'}  {n % 600}  0  570d45550000000c 1"
        for n in range(20_000)
    ]
    begin = time.perf_counter()
    found = [
        item for item in registry()["nsx_vdr"].parse(Block(lines, 1, "x")) if isinstance(item, Row)
    ]
    assert time.perf_counter() - begin < 10
    assert sum(row.table.name == "nsx.dlr_arp" for row in found) == 20_000
    [table] = [row for row in found if row.table.name == "nsx.dlr_arp_table"]
    assert (table.values["entries"], table.values["nascent_entries"]) == (20_000, 5_000)


def test_an_empty_arp_table_is_a_table_with_no_entry() -> None:
    """A printed table without rows is not the same as no table."""
    title = "VDR default+edge-1:1460487509 ARP Information :"
    [row] = registry()["nsx_vdr"].parse(Block([title], 1, "x"))
    assert isinstance(row, Row) and row.values["entries"] == 0


def test_a_refusal_says_what_the_node_answered() -> None:
    """`error: not found` is an answer, reported as one."""
    for name in ("nsx_vdr", "nsx_controllers", "nsx_control_cluster_status"):
        [fault] = registry()[name].parse(Block(["error: not found"], 1, "x"))
        assert isinstance(fault, Fault) and fault.why == "the node answered: not found"
