"""The logs of a host that vmsyslogd writes: found in a bundle, told apart in a syslog server's file, taken from no one else.

The lines are made up, in the forms of docs/formats.md.
"""

from __future__ import annotations

from pathlib import Path

from analyzer.pipeline.triage import Options, triage

BUNDLE = "esx-esx0.lab.example-2023-10-14--16.53-71234"
LINE = "2023-10-14T09:01:0{n}.110Z {head}: {text}"


def read_as(tmp_path: Path, files: dict[str, list[str]]) -> dict[str, str]:
    """Triage some files; return path of the member -> what read it."""
    for path, lines in files.items():
        target = tmp_path / "case" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = triage([tmp_path / "case"], Options()).document
    return {
        path: record.get("read_by", "")
        for path in files
        for record in document.sources
        if path in record.address
    }


def line(head: str, text: str = "something happened", n: int = 1) -> str:
    return LINE.format(head=head, text=text, n=n)


def test_a_bundle_has_its_logs_read_whatever_the_tag(tmp_path: Path) -> None:
    """Current and rotated logs of a host go to their tables by their place; one with a tag of its own does, too."""
    files = {
        f"{BUNDLE}/var/run/log/sandboxd.log": [line("In(14) sandboxd[2100112]")],
        f"{BUNDLE}/var/run/log/sandboxd.0": [line("In(14) sandbox-helper[2100112]")],
        f"{BUNDLE}/var/run/log/syslog.log": [line("In(14) some-script[2100112]")],
        f"{BUNDLE}/var/run/log/auth.log": [
            line("In(38) sshd[2100112]", "Connection from 192.0.2.7 port 52344")
        ],
        f"{BUNDLE}/var/log/envoy.log": [line("In(166) envoy[2100112]")],
    }
    assert read_as(tmp_path, files) == dict(
        zip(files, ("sandboxd", "sandboxd", "syslog", "auth", "envoy"), strict=True)
    )


def test_logs_of_other_systems_are_not_those_of_a_host(tmp_path: Path) -> None:
    """A log of the same name on vCenter Server or an appliance of NSX is not taken for that of a host."""
    files = {
        "vc/var/log/vmware/rhttpproxy/rhttpproxy.log": [
            "2023-10-14T09:01:01.110Z info rhttpproxy[1] no bracket"
        ],
        f"{BUNDLE}/var/run/log/sandboxd.log": [
            line("In(14) sandboxd[2100112]")
        ],  # or there were nothing to read
        "nsx/var/log/auth.log": [
            "2023-10-14T09:01:01.110+00:00 nsxmgr1 sshd 2 - - Connection closed"
        ],
    }
    told = read_as(tmp_path, files)
    assert list(told.values()) == ["", "sandboxd", ""]


def test_a_syslog_server_keeps_them_in_one_file(tmp_path: Path) -> None:
    """Lines of many programs in one file go to the log of each; those of a program that nobody knows are counted."""
    log = tmp_path / "esx.log"
    heads = (
        "esx0 sandboxd[2100112]",
        "esx0 In(38) sshd[2100112]",
        "esx0 esxupdate",
        "esx0 nobody-knows[7]",
    )
    log.write_text(
        "".join(line(head, n=n) + "\n" for n in range(5) for head in heads), encoding="utf-8"
    )

    document = triage([log], Options()).document

    [source] = document.sources
    assert source.read_by == "auth, esxupdate, sandboxd"
    assert "5 lines of programs whose log Backline does not read" in source.why


def test_the_level_of_a_python_program_is_read(tmp_path: Path) -> None:
    """esxupdate of 5.x to 7.x has no severity in the head: the word after the module tells, and a trace joins its line."""
    from analyzer.artefacts.parsing import registry
    from analyzer.artefacts.tables import Block, Row

    lines = [
        "2018-10-08T08:23:18Z esxupdate: 5557508: BootBankInstaller.pyc: ERROR: no space",
        "Traceback (most recent",
    ]
    [row] = registry()["esxupdate"].parse(Block(lines))
    assert isinstance(row, Row)
    assert (row.values["program"], row.values["level"]) == ("esxupdate", "error")
    assert str(row.values["message"]).endswith("no space\nTraceback (most recent")


def test_a_log_that_no_parser_knows_is_read_too(tmp_path: Path) -> None:
    """Any further log of a host is searched; a binary file, a log with a parser of its own and a folder below are not its."""
    files = {
        f"{BUNDLE}/var/run/log/nicmgmtd.log": [line("In(14) nicmgmtd[2100112]")],
        f"{BUNDLE}/var/run/log/gstored.0": [line("nicmgmtd[2100112]")],
        f"{BUNDLE}/var/run/log/vobd.log": [
            line("In(14) vobd[2100112]", " [netCorrelator] 1us:  [vob.test] made up")
        ],
        f"{BUNDLE}/var/run/log/made-up/trace.log": [line("trace[2100112]")],
        f"{BUNDLE}/var/run/log/made-up.bin": [line("trace[2100112]")],
    }
    assert list(read_as(tmp_path, files).values()) == ["other_log", "other_log", "vobd", "", ""]


def test_a_known_log_keeps_its_lines_below_those_of_unknown_programs(tmp_path: Path) -> None:
    """A file of a syslog server begins with programs nobody knows: vobd and hostd further down still go to their logs."""
    lines = [line("esx0 In(14) nicmgmtd[2100112]", n=n % 10) for n in range(250)]
    lines += [
        line("esx0 In(14) vobd[2100113]", " [netCorrelator] 1us:  [vob.test] made up"),
        line("esx0 In(166) Hostd[2100114]", "[Originator@6876 sub=Default] up"),
    ]

    assert read_as(tmp_path, {"remote.txt": lines}) == {"remote.txt": "hostd, other_log, vobd"}


def test_a_known_log_keeps_its_lines_where_no_line_names_its_host(tmp_path: Path) -> None:
    """Logs of a host put together: hundreds of lines of programs nobody knows stand first, no line names the host."""
    lines = [line("In(14) nicmgmtd[2100112]", n=n % 10) for n in range(250)]
    lines += [
        line("In(14) vobd[2100113]", " [netCorrelator] 1us:  [vob.test] made up"),
        line("In(166) Hostd[2100114]", "[Originator@6876 sub=Default] up"),
        line("In(14) nicmgmtd[2100112]", n=9),
    ]

    assert read_as(tmp_path, {"together.txt": lines}) == {"together.txt": "hostd, other_log, vobd"}


def test_a_line_of_8x_shows_that_it_is_a_hosts(tmp_path: Path) -> None:
    """In a file with any name, lines with the head of vmsyslogd of 8.x are of a host; those of a known log go there."""
    lines = [
        line("In(14) nicmgmtd[2100112]", n=1),
        line("In(166) Hostd[2100112]", "[Originator@6876 sub=Default] up", n=2),
    ]
    told = read_as(tmp_path, {"pasted.txt": [*lines, line("nobody[1]", n=3), "and a remark"]})

    assert told == {"pasted.txt": "hostd, other_log"}
