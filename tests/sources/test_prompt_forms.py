"""Every form of prompt gives its host and the whole command, whatever host, folder and user stand in it.

All prompts are synthetic.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from analyzer.sources.passes import find_typed
from analyzer.sources.prompts import find_prompt

NAMED = {
    "ESXi": "[{user}@{host}:{cwd}] ",
    "ESXi with a sign": "[{user}@{host}:{cwd}]# ",
    "Red Hat": "[{user}@{host} {last}]# ",
    "Debian, root": "{user}@{host}:{cwd}# ",
    "Debian": "{user}@{host}:{cwd}$ ",
    "SUSE with a login": "{user}@{host}:{cwd}> ",
    "SUSE": "{host}:{cwd} # ",
    "without a blank": "{host}:{cwd}# ",
    "of a user": "{host}:{cwd}> ",
    "Photon": "{user}@{host} [ {cwd} ]# ",
    "a name": "{host}# ",
    "a name and a blank": "{host} # ",
    "an NSX CLI": "{host}> ",
}
NAMELESS = [
    "{cwd} # ",
    "PS C:\\> ",
    "PS C:\\Users\\{user}> ",
    "PowerCLI C:\\> ",
    "PS vmstore:\\> ",
    "PS {cwd}> ",
]
HOSTS = st.from_regex(
    r"[A-Za-z][A-Za-z0-9]{1,8}(?:-[a-z0-9]{1,6}){0,2}(?:\.[a-z][a-z0-9]{1,8}){0,3}", fullmatch=True
)
FOLDERS = st.sampled_from(
    ["~", "/", "/var/log", "/var/run/log", "/vmfs/volumes/5a1b-2c", "/tmp/a.b_c+d"]
)
USERS = st.sampled_from(["root", "admin", "svc-backup", "a.b", "user_1"])
COMMANDS = st.sampled_from(
    [
        "egrep -i vmhba /var/run/log/vmkernel.log",
        "cat /var/log/syslog.log | grep w2c",
        "tail -n 50 /var/log/hostd.log",
        "esxcli storage core path list",
        "zless vmkernel.0.gz",
    ]
)  # fmt: skip
SHELL = re.compile(r"(?:ba|k|z|c|tc|da)?sh(?:-[\d.]+)?$|root$|user$|admin$", re.IGNORECASE)


@pytest.mark.parametrize("form", NAMED)
@given(host=HOSTS, cwd=FOLDERS, user=USERS, command=COMMANDS)
@example(host="esx-w2", cwd="~", user="root", command="egrep -i vmhba /var/run/log/vmkernel.log")
@example(host="10.1.2.3", cwd="/", user="root", command="zless vmkernel.0.gz")
def test_named_prompts(form: str, host: str, cwd: str, user: str, command: str) -> None:
    """The host of the prompt and the command are told, also where the text is asked for its first prompt."""
    assume(not SHELL.search(host))
    line = (
        NAMED[form].format(host=host, cwd=cwd, last=cwd.rpartition("/")[2] or "/", user=user)
        + command
    )
    prompt = find_prompt(line)
    assert prompt is not None, line
    assert (prompt.host, prompt.command) == (host, command)
    typed = find_typed(f"a remark\n{line}\nwhat it printed\n".encode())
    assert typed is not None
    assert (typed.host, typed.command) == (host, command)


@pytest.mark.parametrize("form", NAMELESS)
@given(cwd=FOLDERS, user=USERS, command=COMMANDS)
def test_nameless_prompts(form: str, cwd: str, user: str, command: str) -> None:
    """A prompt without a host is one as well, and names none."""
    line = form.format(cwd=cwd, user=user) + command
    prompt = find_prompt(line)
    assert prompt is not None, line
    assert (prompt.host, prompt.command) == ("", command)


@pytest.mark.parametrize(
    "line",
    [
        "https://files.example/a # of the list",
        "10.1.1.1:/export/vol # mounted",
        "C:/Users/me> ",
        "ratio:~ 5 > 3",
        "see web01:/etc/fstab > the second line",
        "Caused by: a:/b",
        "2021-03-01T10:00:01Z esx01 Hostd: /a/b # c",
    ],
)
def test_no_prompts(line: str) -> None:
    """Addresses, exports of NFS and comparisons have such signs too."""
    assert find_prompt(line) is None


@pytest.mark.parametrize(
    ("line", "is_command"),
    [
        ("# for i in vmnic0 vmnic1; do esxcli network nic get -n $i; done", True),
        ("# for s in $(net-stats -l | awk '{print $1}'); do echo $s; done", True),
        ("# while true; do date; sleep 5; done", True),
        ("# for programs of Windows, even if they are started from here", False),
        ("# while this is set, nothing is written", False),
    ],
)
def test_a_comment_that_begins_like_a_loop_is_no_command(line: str, is_command: bool) -> None:
    """A bare prompt is also the sign of a comment: a loop needs the words of one."""
    assert (find_prompt(line) is not None) is is_command
