"""Pasted sessions, blog posts and mails are split into commands, outputs and prose, line by line."""

from __future__ import annotations

import pytest

from analyzer.sources.prompts import find_prompt, split_commands, split_remote
from analyzer.sources.transcript import split
from tests.kit.transcript_kit import (
    ALL,
    GET_RX,
    PORTS_DUMP,
    QUEUE_DUMP,
    RX_DUMP,
    STATS_DUMP,
    only,
    outputs,
    spot,
)

# -- prompts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "host", "node", "command"),
    [
        ("[root@esx0:~] net-stats -l", "esx0", "esxi", "net-stats -l"),
        ("[root@esx0.lab.local:/vmfs/volumes] ls", "esx0.lab.local", "esxi", "ls"),
        ("[root@esx0:~]", "esx0", "esxi", ""),
        ("~ # esxcfg-vswitch -l", "", "esxi", "esxcfg-vswitch -l"),
        ("/var/log # tail vmkernel.log", "", "esxi", "tail vmkernel.log"),
        ("/> get /net/x", "", "esxi", "vsish -e get /net/x"),
        ("[root@esx5.lab] esxcli vm process list", "esx5.lab", "esxi", "esxcli vm process list"),
        (
            "[root@esx5.lab]# vim-cmd vmsvc/power.on 1",
            "esx5.lab",
            "esxi",
            "vim-cmd vmsvc/power.on 1",
        ),
        (
            "vi-admin@vma:~[esx5.lab]> esxcli vm process list",
            "esx5.lab",
            "esxi",
            "esxcli vm process list",
        ),
        (
            "[vi-admin@vma ~][esx5.lab]$ esxcli vm process list",
            "esx5.lab",
            "esxi",
            "esxcli vm process list",
        ),
        (
            "/net/portsets/vSwitch0/> cat ports/5/clientStats",
            "",
            "esxi",
            "vsish -e cat /net/portsets/vSwitch0/ports/5/clientStats",
        ),
        ("/net/a/b/> ls ../c/", "", "esxi", "vsish -e ls /net/a/c/"),
        ("/net/a/> cat /net/b", "", "esxi", "vsish -e cat /net/b"),
        ("root@iperf-test2:~# netstat -s", "iperf-test2", "guest", "netstat -s"),
        ("[root@guest ~]# free", "guest", "guest", "free"),
        ("user@web01:/var/log$ dmesg", "web01", "guest", "dmesg"),
        ("(venv) user@web01:~$ dmesg", "web01", "guest", "dmesg"),
        ("root@box:~# esxcli network nic list", "box", "esxi", "esxcli network nic list"),
        (
            "nsx-controller # show control-cluster status",
            "nsx-controller",
            "nsx_controller",
            "show control-cluster status",
        ),
        (
            "ctrl1 # show control-cluster roles",
            "ctrl1",
            "nsx_controller",
            "show control-cluster roles",
        ),
        ("nsxmgr# show system", "nsxmgr", "nsx_manager", "show system"),
        ("nsxmgr> show controller list all", "nsxmgr", "nsx_manager", "show controller list all"),
        ("nsxmgr>", "nsxmgr", "nsx_manager", ""),
        ("vShield-edge-3-0> show interface", "vShield-edge-3-0", "nsx_edge", "show interface"),
        ("edge-south(vrf)> ping 10.67.1.4", "edge-south", "nsxt_edge", "ping 10.67.1.4"),
        ("edge-south(tier0_sr[1])> get route", "edge-south", "nsxt_edge", "get route"),
        (
            "edge-south> ping 10.67.1.4 vrfid 0 repeat 5",
            "edge-south",
            "nsxt_edge",
            "ping 10.67.1.4 vrfid 0 repeat 5",
        ),
        ("core-switch(config)# show vlan", "core-switch", "", "show vlan"),
        ("$ ethtool -S eth0", "", "", "ethtool -S eth0"),
        ("# net-stats -l", "", "esxi", "net-stats -l"),
        ("commands$ head -11 nicinfo.sh.txt", "", "", "head -11 nicinfo.sh.txt"),
    ],
)
def test_prompts(line: str, host: str, node: str, command: str) -> None:
    """Each shell's prompt gives host, kind of node and the whole command."""
    prompt = find_prompt(line)
    assert prompt is not None
    assert (prompt.host, prompt.node, prompt.command) == (host, node, command)


@pytest.mark.parametrize(
    "line",
    [
        "Type [root@esx0:~] net-stats -l to see it",
        "Then run nsx-controller # restart api-server on it",
        "# of times the 1st ring is full:0",
        "#1 is the first ring",
        "a > b",
        "foo# bar",
        "[ 14] local 10.0.0.1 port 45280",
        "/net/portsets/vSwitch0",
        "2018-01-01T00:00:00Z cpu1:1)x # show",
        "",
    ],
)
def test_no_prompts(line: str) -> None:
    """A prompt in the middle of a sentence, a field that starts with # and the like are no prompts."""
    assert find_prompt(line) is None


def test_command_lines() -> None:
    """Command lines are taken apart at ; and pipes, loops with a written list are unrolled."""
    texts = [
        one.bare
        for one in split_commands("vsish -e get /a; sudo /sbin/ethtool -S eth0 | grep 'a|b;c'")
    ]
    assert texts == ["vsish -e get /a", "ethtool -S eth0"]
    assert [one.filtered for one in split_commands("ethtool -S eth0|grep OOB; free | less")] == [
        True,
        False,
    ]
    loop = split_commands("for q in 0 1; do vsish -e get /rxqueues/$q/status; done | grep size")
    assert [(one.bare, one.filtered) for one in loop] == [
        ("vsish -e get /rxqueues/0/status", True),
        ("vsish -e get /rxqueues/1/status", True),
    ]
    assert split_remote("ssh -p 22 root@esx1 'net-stats -l'") == ("esx1", "net-stats -l")


# -- commands and outputs -------------------------------------------------------------------------------


def test_one_command() -> None:
    """The output below a prompt goes to the parser of the command, with host, kind and parameters."""
    piece = only([f"[root@esx0:~] {GET_RX}", *RX_DUMP])
    assert spot(piece) == ("rx", 2, 4)
    assert (piece.host, piece.kind, piece.command, piece.command_line) == (
        "esx0",
        "esxi",
        GET_RX,
        1,
    )
    assert piece.params == {"switch": "vSwitch0", "port_id": "33554464"}
    assert not piece.filtered


@pytest.mark.parametrize(
    "program",
    ["vsish", "/bin/vsish", "sudo /bin/vsish", "vsish -c vsi_traverse_-s.txt", "vsish –e"],
)
def test_ways_to_call_vsish(program: str) -> None:
    """Full path, sudo, a cache file and a typographic dash make no difference."""
    path = "/net/portsets/DvsPortset-0/ports/67108866/clientStats"
    option = "" if program.endswith("–e") else "-e "
    piece = only([f"~ # {program} {option}cat {path}", *STATS_DUMP])
    assert piece.params == {"switch": "DvsPortset-0", "port_id": "67108866"}


def test_vsish_shell() -> None:
    """Relative vsish paths are joined with the prompt; the host is that of the shell vsish was opened in."""
    text = [
        "[root@esx0:~] vsish",
        "/> cd /net/portsets/vSwitch0/ports/33554464/vmxnet3/",
        "/net/portsets/vSwitch0/ports/33554464/vmxnet3/> cat rxSummary",
        *RX_DUMP,
        "/net/portsets/vSwitch0/ports/33554464/vmxnet3/> get rxqueues/1/status",
        *QUEUE_DUMP,
    ]
    first, second = outputs(text)
    assert (first.host, first.params) == ("esx0", {"switch": "vSwitch0", "port_id": "33554464"})
    assert (second.host, second.params["queue"]) == ("esx0", "1")


def test_filter_is_told() -> None:
    """Behind grep the command is still ethtool -S, and the piece says that lines are missing."""
    piece = only(
        [
            "root@vm1:~# ethtool -S eth0 |grep OOB",
            " pkts rx OOB: 71",
            " pkts rx OOB: 32",
            "",
            "Prose: 5",
        ]
    )
    assert spot(piece) == ("ethtool", 2, 2)
    assert piece.filtered
    assert (piece.kind, piece.params) == ("guest", {"nic": "eth0"})


def test_snip_is_told() -> None:
    """`<snip>` inside an output means that rows are missing; the parser does not see the word."""
    piece = only(["[root@esx0:~] net-stats -l", PORTS_DUMP[0], "<snip>", PORTS_DUMP[1]])
    assert piece.filtered
    assert piece.lines == [PORTS_DUMP[0], "", PORTS_DUMP[1]]


def test_several_commands_in_a_line() -> None:
    """`a; b` gives each output its own command and parameters."""
    line = f"[root@esx0:~] {GET_RX}; vsish -e get /net/portsets/vSwitch0/ports/33554464/clientStats; hostname"
    rx, stats, name = outputs([line, *RX_DUMP, *STATS_DUMP, "esx0"])
    assert (rx.parser, rx.command, stats.parser) == ("rx", GET_RX, "stats")
    assert stats.params == {"switch": "vSwitch0", "port_id": "33554464"}
    assert spot(name) == ("hostname", 10, 1)


def test_loop_over_queues() -> None:
    """A loop with a written list gives each dump its own queue number."""
    path = "/net/portsets/vSwitch0/ports/33554464/vmxnet3/rxqueues/$q/status"
    pieces = outputs(
        [f"[root@esx0:~] for q in 0 1; do vsish -e get {path}; done", *QUEUE_DUMP, *QUEUE_DUMP]
    )
    assert [piece.params["queue"] for piece in pieces] == ["0", "1"]


def test_unsure_parameters_are_left_out() -> None:
    """When a loop printed fewer dumps than it has turns, only what all turns share is kept."""
    path = "/net/portsets/vSwitch0/ports/33554464/vmxnet3/rxqueues/$q/status"
    piece = only([f"[root@esx0:~] for q in 0 1; do vsish -e get {path}; done", *QUEUE_DUMP])
    assert piece.params == {"switch": "vSwitch0", "port_id": "33554464"}


def test_loop_nobody_can_unroll() -> None:
    """Dumps of a loop over a command's output keep the host and claim no parameters."""
    line = "[root@esx0:~] for p in `seq 1 2`; do vsish -e get /net/portsets/vSwitch0/ports/$p/clientStats; done"
    pieces = outputs([line, *STATS_DUMP, *STATS_DUMP])
    assert [(piece.host, piece.params) for piece in pieces] == [("esx0", {}), ("esx0", {})]


def test_output_ends_before_prose() -> None:
    """Text of the writer below a dump, with or without closing brace, is not given to the parser."""
    prose = ["", "Physical Host:", "", "Note: see https://example.org for more of it."]
    for dump in (RX_DUMP, RX_DUMP[:-1]):
        assert spot(only([f"[root@esx0:~] {GET_RX}", *dump, *prose])) == ("rx", 2, len(dump))


def test_command_without_output() -> None:
    """A command that printed nothing takes no dump from the prose below it."""
    text = [
        f"[root@esx0:~] {GET_RX}",
        "",
        "Above, we can see that this has two queues and nothing else in it.",
        *STATS_DUMP,
    ]
    piece = only(text)
    assert (piece.parser, piece.host, piece.params) == ("stats", "", {})


def test_shape_beats_a_wrong_command() -> None:
    """When the command does not print such an output, its shape decides and no parameters are claimed."""
    piece = only([f"[root@esx0:~] {GET_RX}", *STATS_DUMP])
    assert (piece.parser, piece.host, piece.params) == ("stats", "esx0", {})


def test_no_shape_ends_at_prose() -> None:
    """An output that only its command tells goes to the sentence or heading behind it, blank lines inside."""
    text = [
        "~ # esxcli software profile get",
        "(Updated) ESXi-6.5",
        "   Name: x",
        "",
        "   Vendor: y",
        "",
        "My Heading",
        "",
        "x",
    ]
    assert spot(only(text)) == ("profile", 2, 4)


def test_lost_title() -> None:
    """A dump whose title line was not copied still goes to its command's parser."""
    assert spot(only([f"[root@esx0:~] {GET_RX}", *RX_DUMP[1:]])) == ("rx", 2, 3)


def test_remark_inside_a_dump() -> None:
    """A remark typed into a dump does not cut off the rest of it (the parser will report the line)."""
    dump = [*RX_DUMP[:2], "   <-- look here, Bob", *RX_DUMP[2:]]
    assert spot(only([f"[root@esx0:~] {GET_RX}", *dump])) == ("rx", 2, 5)


def test_wrapped_command() -> None:
    """A command that the terminal broke at its right edge is one command."""
    line = "[root@esx0:~] vsish -e get /net/portsets/vSwitch0/ports/33554464/vmxnet3/rxqueue"
    piece = only([line, "s/1/status", *QUEUE_DUMP])
    assert (piece.params["queue"], piece.first_line) == ("1", 3)


def test_kind_of_a_host_is_one() -> None:
    """A Linux prompt is a guest, unless one command on the same host says ESXi."""
    text = [
        "root@box:~# ethtool -S eth0",
        "NIC statistics:",
        " rx: 1",
        "root@box:~# net-stats -l",
        *PORTS_DUMP,
    ]
    assert {piece.kind for piece in split(text, ALL)} == {"esxi"}
    assert {piece.kind for piece in split(text[:3], ALL)} == {"guest"}


def test_controller() -> None:
    """NSX CLI output belongs to the host of its prompt; a command without output is still told."""
    text = [
        "nsx-controller # show control-cluster roles",
        "   Listen-IP  Master?",
        "api_provider  N/A  Yes",
    ]
    piece = only(text)
    assert (piece.parser, piece.host, piece.kind) == ("roles", "nsx-controller", "nsx_controller")
    restart = split(["nsx-controller # restart api-server", "", "VMware will fix it."], ALL)[0]
    assert (restart.role, restart.command) == ("command", "restart api-server")


def test_unread_output_is_told() -> None:
    """The output of a command nobody reads is a piece of its own with its command, for the coverage part."""
    pieces = split(
        ["[root@esx0:~] esxcli system time get", "2018-01-01", "[root@esx0:~] date"], ALL
    )
    assert [(piece.role, piece.command) for piece in pieces] == [
        ("command", "esxcli system time get"),
        ("unread", "esxcli system time get"),
        ("command", "date"),
    ]
