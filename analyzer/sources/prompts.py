"""Prompts and command lines of the shells a support case shows.

ESXi (`[root@esx0:~] cmd`, `/var/log # cmd`, the vsish shell), Linux guests, the CLIs of NSX, Windows
and a bare `# cmd` of a blog. A prompt is looked for at the start of a line only: prose that
quotes one in its middle is prose. `split_commands` takes a command line apart into the
commands that print.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ESXI, GUEST, CONTROLLER, MANAGER, EDGE = (
    "esxi",
    "guest",
    "nsx_controller",
    "nsx_manager",
    "nsx_edge",
)
NSXT_MANAGER, NSXT_EDGE = "nsxt_manager", "nsxt_edge"
NSXT = "nsx_t"  # either of them
_OF_NSXT = {
    MANAGER: NSXT_MANAGER,
    CONTROLLER: NSXT_MANAGER,
    EDGE: NSXT_EDGE,
}  # a controller is in the manager


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ESXI_TOOLS = _split_words("""
    vsish net-stats esxcli localcli esxtop vim-cmd nsxdp-cli net-vdr net-vdl2 net-dvs pktcap-uw vmkping
    vm-support
    vmkchdev smbiosDump vscsiStats voma partedUtil cmmds-tool vmfsfilelockinfo irqinfo vmkerrcode
    vmkload_mod vdq vmkfstools memstats sched-stats summarize-dvfilter vsipioctl esxcfg vmware vmkvsitools
""")
_SHELL_TOOLS = _split_words("""
    ethtool netstat free dmesg iperf iperf3 uname cat tail head grep ls zcat less more cd for while
    ip ifconfig ping
    lspci date uptime hostname sed awk ss lsmod modinfo sysctl top mpstat sar watch sudo ssh nc
    tcpdump tcpdump-uw
    arp route vi wget curl find ps lsof echo
    egrep fgrep zgrep zegrep zless zmore bzcat xzcat gunzip gawk
""")
# Words of prose too: a command only with something behind them that no sentence has.
_WORD_TOOLS = _split_words("cut sort uniq strings")
_ARGUMENT = re.compile(r"(?:^|\s)-{1,2}\w|[/|]|\.(?:log|gz)\b")
_LOOP_HEAD = re.compile(r"for \w+ in\b|while [^;]*; *do\b")
_NSX_VERBS = _split_words("""
    show get set restart ping exit enable disable configure debug export ssh clear no list reset start stop
    traceroute save join deploy del nslookup help quit write st engineering copy detach sync vrf find watch
""")
_SETTERS = _split_words("sudo time watch nohup")
_ALONE = _ESXI_TOOLS | _SHELL_TOOLS | {"show", "get"}
_FILTERS = _split_words("grep egrep fgrep zgrep zegrep awk gawk sed head tail cut uniq wc tr")
# Programs that describe the machine they run on, and no other.
_OWN_FACTS = _split_words("""
    hostnamectl uname hostname uptime date free df du lsblk lsmod lspci lsusb ip ifconfig ethtool arp route netstat
    ss top ps systemctl service dpkg rpm apt yum dnf exportfs mount zpool zfs mdadm pvs vgs lvs timedatectl sysctl
    dmidecode
""")
# What prints a file from its first line to its last; any other program may leave lines of it out.
_LOG_TOOLS = _FILTERS | _split_words("dmesg less more zless zmore vi sort strings journalctl")
_PRINTS_WHOLE = _split_words("cat zcat bzcat xzcat type tee")
_UNPACKS_WHOLE = re.compile(
    r"(?:gunzip|gzip|bunzip2|bzip2|unxz|xz|zstd)\s+(?:\S+\s+)*?(?:-\w*c\w*|--stdout)\b"
)
_SHOWS_WHOLE = re.compile(r"show\s+(?:log\s+manager|manager\s+log)\s*$")
_BETWEEN = re.compile(r"[\s'\"=|;()<>]+")
_LOG_FILE = re.compile(r"[\w.+@-]+\.(?:log|gz)(?:\.\d+)?(?:\.gz)?$|(?:messages|syslog)(?:\.\d+)?$")

_NAME = r"[A-Za-z0-9][\w.-]*"
_ESXI_BRACKET = re.compile(rf"\[[\w.-]+@(?P<host>{_NAME}):[^\]]*\] ?(?P<hash>[#$] ?)?(?P<cmd>.*)$")
_LINUX_BRACKET = re.compile(rf"\[[\w.-]+@(?P<host>{_NAME}) [^\]]*\] ?[#$] ?(?P<cmd>.*)$")
# The path was left out by who wrote it down: a tool of ESXi behind it proves the host.
_CUT_BRACKET = re.compile(
    rf"\[[\w.-]+@(?P<host>{_NAME})\] ?(?:[#$>] ?)?(?P<cmd>[a-z/][\w./-]* .*)$"
)
# The appliance for administration (vMA) names the host that its commands go to behind its own name.
_APPLIANCE = re.compile(
    rf"(?:[\w.-]+@{_NAME}:[^\s\[\]]{{0,200}}|\[[\w.-]+@{_NAME} [^\]]{{0,200}}\])\[(?P<host>{_NAME})\]"
    r"[>$#] ?(?P<cmd>.*)$"
)
_LINUX = re.compile(
    rf"(?:\([\w.-]+\) ?)?[\w.-]+@(?P<host>{_NAME}):(?:[~/][^\]\[#$>]*)?(?:[#$]#?|>)"
    r"(?: (?P<cmd>.*)|(?P<glued>[a-z].*)?)$"
)
# Photon (vCenter, Edge): `root@vcsa [ /var/log ]# cmd`
_PHOTON = re.compile(rf"[\w.-]+@(?P<host>{_NAME}) \[ ?[~/][^\]]{{0,200}}\](?:[#$>]) ?(?P<cmd>.*)$")
# SUSE, and shells whose prompt has no login: `vcenter:~ # cmd`, `esx01:/var/log # cmd`. `C:/` is a Windows drive.
_LOGINLESS = re.compile(
    rf"(?P<host>{_NAME})(?::~[\w./+-]{{0,200}}|(?<=..):/[^\]\[#$>:]{{0,200}})(?P<gap> ?)(?P<sign>[#$>])"
    r"(?: (?P<cmd>.*)|(?P<glued>[a-z].*)?)$"
)
_BUSYBOX = re.compile(r"(?:~|/[\w./@:+-]*) #(?: (?P<cmd>.*))?$")
_VSISH = re.compile(
    r"(?P<cwd>/(?:[^\s/>]+/)*)> ?(?P<cmd>(?:get|cat|ls|cd|set|exit|quit|help)\b.*)?$"
)
_VRF = r"(?:\([\w-]+(?:\[\d+\])?\))?"  # the router whose commands follow: edge01(tier0_sr)>, edge01(tier0_sr[1])>
# Only an NSX-T edge has such a router, or takes its number; `switch(config)#` is another machine.
_ON_EDGE = re.compile(
    rf"{_NAME}\((?:vrf|tier[01])[\w-]*(?:\[\d+\])?\) ?>|{_NAME} ?> ?ping6?\s.*\svrfid\s+\d"
)
# Twice where the first command behind it was an empty line.
_NSX = re.compile(
    rf"(?P<host>{_NAME}){_VRF}(?: ?[#>] ?(?P=host){_VRF})? ?[#>] ?(?P<cmd>[a-z?][\w-]*.*)?$"
)
_LONE = re.compile(rf"(?P<host>{_NAME}){_VRF} ?[#>]$")
_SHELL_NAME = re.compile(
    r"(?:ba|k|z|c|tc|da)?sh(?:-[\d.]+)?$|root$|user$|admin$|Command$"
)  # `bash-4.2# …` names no host
# PowerShell names its drives as it likes: PS C:\>, PS vmstore:\>, PS /home/admin>
_WINDOWS = re.compile(
    r"(?:(?:PS |PowerCLI )?[A-Za-z]:\\|(?:PS|PowerCLI) (?:\w{2,32}:\\|/|~))[^>|<]*> ?(?P<cmd>.*)$"
)
_BARE = re.compile(r"(?:[\w./~-]*[$#]|%) ?(?P<cmd>[a-z/(].*)$")
_TOOL_WORD = re.compile(r"(?:/(?:[\w.-]+/)*)?([A-Za-z][\w.-]*)")
# A loop over unpacked bundles prints the folder of each before what it prints of it: `for d in esx-*; do echo $d; …`.
_BUNDLE = re.compile(r"(?:\S*/)?esx-(?P<host>[\w.-]+)-\d{4}-\d\d-\d\d--\d\d\.\d\d(?:-\d+)?[/:]?$")
_STARTS = re.compile(
    r"[\[(~/#$%]|esx-|\S+/esx-|[\w.-]++(?:@|:[~/]| ?[#>$]|\([\w-]+(?:\[\d+\])?\))"
    r"|(?:PS |PowerCLI )?[A-Za-z]:\\|(?:PS|PowerCLI) [\w/~]|\w*+[$#] "
)
_LOOP = re.compile(r"\bfor\s+(\w+)\s+in\s+([^;`$]+);\s*do\s+(.*?);?\s*done\b")
_LIST = re.compile(
    r"for\s+\w+\s+in\s"
)  # what a loop goes over is not printed: `for d in $(esxcli … list); do …`
_SPLIT = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\$\([^)]*\)|(&&|\|\||;|\|)")
_TYPED = str.maketrans({"–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "\xa0": " "})
_SETTING = re.compile(
    r"^(?:(?:sudo|time|nohup|do|then|LANG=\S+|LC_ALL=\S+)(?: -[A-Za-z])*\s+"
    r"|watch\s+(?:-n ?)?(?:-?[\d.]+\s+)?)+"
)
_FOLDER = re.compile(r"^/(?:[\w.-]+/)+(?=[\w.-])")
_MOST_COMMANDS = 1000
MOST_TYPED = 4096  # no one types more; a longer "command" is hostile or not one


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and what was typed behind it.

    form     esxi, busybox, vsish, linux, nsx, named (`esx01# cmd`), windows, bare (`# cmd`), bundle (the
             folder of one, alone on a line), ruled (a command between two rules of dashes) or echo (a command alone)
    host     as the prompt shows it, "" when it shows none
    node     kind of node, "" when the form does not show it
    sure     True when the form alone proves `node`; a command may correct an unsure one
    command  as typed; for the vsish shell the same command as one `vsish -e` line
    """

    form: str
    host: str
    node: str
    sure: bool
    command: str


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a command line: as typed, bare for matching, and whether a filter follows."""

    text: str
    bare: str
    filtered: bool


def find_prompt(line: str) -> Prompt | None:
    """Return the prompt a line starts with, or None; `line` has no indent and no quote marks.

    A form that prose could have by chance (`name> show`, `# cmd`) counts only with a command
    word behind it.
    """
    if not _STARTS.match(line):
        return None
    prompt = _read_shell(line) or _read_vsish(line)
    if prompt is None and (found := _BUNDLE.match(line)):
        return Prompt("bundle", found["host"], ESXI, True, line)
    prompt = prompt or _read_nsx(line)
    if prompt is None and (found := _BARE.match(line)) and _is_typed(found["cmd"]):
        command = found["cmd"]
        on_esxi = find_program(command) in _ESXI_TOOLS and "vsi_traverse" not in line
        return Prompt("bare", "", ESXI if on_esxi else "", False, command.strip())
    return prompt


def may_be_prompt(line: str) -> bool:
    """Say whether a line without indent may be a prompt: too often sometimes, never too seldom."""
    return _STARTS.match(line) is not None


def find_possible_commands(lines: Sequence[str]) -> set[str]:
    """Return those of some lines without indent that may be a prompt or a command: too many sometimes, never too few."""
    found = set(filter(_STARTS.match, lines))
    words = [line.split(None, 1)[0] for line in lines]
    tools = {word for word in set(words) if word in _SETTERS or is_tool(word.strip("`"))}
    if tools:
        found.update(line for line, word in zip(lines, words, strict=True) if word in tools)
    return found


def find_waiting_host(line: str) -> str:
    """Return the host of a line that may be a prompt with nothing typed behind it (`edge01>`), or ""."""
    found = _LONE.match(line)
    return found["host"] if found else ""


def _read_shell(line: str) -> Prompt | None:
    """Read the prompt of a shell of ESXi, Linux or Windows."""
    if found := _ESXI_BRACKET.match(line):
        host, hash_sign, command = found.group("host", "hash", "cmd")
        return Prompt("esxi", host, ESXI, hash_sign is None, command.strip())
    if found := _APPLIANCE.match(line):
        host, command = found.group("host", "cmd")
        return Prompt("esxi", host, ESXI, False, command.strip())
    if found := _LINUX_BRACKET.match(line):
        host, command = found.group("host", "cmd")
        return _make_linux_prompt(host, command)
    if found := _CUT_BRACKET.match(line):
        host, command = found.group("host", "cmd")
        if find_program(command) in _ESXI_TOOLS:
            return Prompt("esxi", host, ESXI, False, command.strip())
    if found := _LINUX.match(line):
        host, command, glued = found.group("host", "cmd", "glued")
        return _make_linux_prompt(host, command or glued or "")
    if found := _PHOTON.match(line):
        return _make_linux_prompt(found["host"], found["cmd"])
    if found := _LOGINLESS.match(line):
        return _read_loginless(found)
    if found := _BUSYBOX.match(line):
        return Prompt("busybox", "", ESXI, True, (found["cmd"] or "").strip())
    if found := _WINDOWS.match(line):
        return Prompt("windows", "", GUEST, False, found["cmd"].strip())
    return None


def _read_loginless(found: re.Match[str]) -> Prompt | None:
    """Read a prompt that shows a host and a folder alone; prose and paths have such signs too, so that a command counts.

    A tilde, and a blank before the sign, are of a prompt whatever is typed; another form needs a program we know.
    """
    command = (found["cmd"] or found["glued"] or "").strip()
    line = found.string
    is_shell = line[len(found["host"]) + 1] == "~" or (found["gap"] and found["sign"] == "#")
    if not is_shell and not _is_typed(command):
        return None
    return _make_linux_prompt(found["host"], command)


def _make_linux_prompt(host: str, command: str) -> Prompt:
    named = guess_node(host)
    node = named or (ESXI if find_program(command) in _ESXI_TOOLS else GUEST)
    sure = named in (NSXT_MANAGER, NSXT_EDGE)
    return Prompt("linux", host, node, sure, command.strip())


def _read_vsish(line: str) -> Prompt | None:
    """Read the prompt of the vsish shell; the command becomes one `vsish -e` line with its whole path."""
    found = _VSISH.match(line)
    if not found:
        return None
    typed = (found["cmd"] or "").strip()
    word, _, path = typed.partition(" ")
    path = path.strip()
    if word in ("get", "cat", "ls", "set") and (path or word == "ls"):
        whole = posixpath.normpath(posixpath.join(found["cwd"], path))
        if path.endswith("/") and whole != "/":
            whole += "/"
        typed = f"vsish -e {word} {whole}"
    return Prompt("vsish", "", ESXI, True, typed)


def _read_nsx(line: str) -> Prompt | None:
    """Read the prompt of an NSX CLI, or of a host whose name looks alike."""
    found = _NSX.match(line)
    if not found:
        return None
    host, typed = found.group("host", "cmd")
    command = (typed or "").strip()
    node = guess_node(host)
    word = command.split(" ", 1)[0]
    asks_others = word == "on" and " exec " in command  # the central CLI of NSX-T
    is_nsx = word in _NSX_VERBS or asks_others or (not command and node)
    if not is_nsx:
        if _SHELL_NAME.match(host) or not _is_typed(command):
            return None
        program = find_program(command)
        is_esxi = program in _ESXI_TOOLS
        if not is_esxi and program != "dmesg" and not _ARGUMENT.search(command):
            return None
        return Prompt("named", host, node or (ESXI if is_esxi else ""), False, command)
    if word == "get" or asks_others:  # the CLI of NSX for vSphere says `show`
        node = _OF_NSXT.get(node, node)
    elif not node and "control-cluster" in command:
        node = CONTROLLER
    if _ON_EDGE.match(line):
        node = NSXT_EDGE
    return Prompt("nsx", host, node, bool(node), command)


def _is_typed(command: str) -> bool:
    """Say whether a command begins with a program we know, and not with a word that a sentence may begin with."""
    program = find_program(command)
    if program in ("for", "while"):
        return _LOOP_HEAD.match(command.lstrip()) is not None
    if program in _WORD_TOOLS:
        return _ARGUMENT.search(command) is not None
    return program in _ESXI_TOOLS or program in _SHELL_TOOLS


def guess_node(host: str) -> str:
    """Return the kind of node a host name speaks of (`nsx-controller`, `vShield-edge-3-0`, `esx0`), or ""."""
    name = host.lower()
    if "nsx" in name or name.startswith("vshield"):
        kind = ""
        if "control" in name:
            kind = CONTROLLER
        elif "edge" in name:
            kind = EDGE
        elif "mgr" in name or "manager" in name or "nsxm" in name:
            kind = MANAGER
        if kind:
            return _OF_NSXT[kind] if re.search(r"nsx-?t(?!est)", name) else kind
    return ESXI if re.match(r"(?:v?esxi?)(?:[-\d.]|$)", name) else ""


def find_program(command: str) -> str:
    """Return the program of a command line without `sudo` and folders; esxcfg-* and vicfg-* as `esxcfg`."""
    bare = _strip_command(command)
    found = _TOOL_WORD.match(bare)
    word = found[1] if found else ""
    return "esxcfg" if word.startswith(("esxcfg-", "vicfg-")) else word


def is_tool(line: str) -> bool:
    """Say whether a line starts with a program we know, as a command copied without its prompt does."""
    word = line.split(None, 1)[0].rpartition("/")[2]
    if word in _SETTERS:
        word = find_program(line)
    return word in _ALONE or word.startswith(("esxcfg-", "vicfg-"))


def is_esxi_tool(line: str) -> bool:
    """Say whether a command exists on ESXi only."""
    return find_program(line) in _ESXI_TOOLS


def opens_vsish(command: str) -> bool:
    """Say whether a command opens the vsish shell, so that the next prompts are of the same host."""
    return find_program(command) == "vsish" and not re.search(r"\s-(?:p )?e\b", command)


def _strip_command(text: str) -> str:
    """Return a command without sudo, time, watch, variable settings and the folder of its program."""
    text = text[:MOST_TYPED].strip()
    if not text.isascii():
        text = text.translate(_TYPED)
    return _FOLDER.sub("", _SETTING.sub("", text))


def split_remote(command: str) -> tuple[str, str]:
    """Return (host, command) of `ssh root@host 'command'`, or ("", command)."""
    words = command.split()
    if not words or words[0] != "ssh":
        return "", command
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-o", "-p", "-l", "-i", "-F", "-J", "-b", "-c") else 1
    typed = " ".join(words[at + 1 :])
    if not typed:
        return "", command
    if typed[0] in "'\"" and typed[-1] == typed[0]:
        typed = typed[1:-1]
    return words[at].rpartition("@")[2], typed


def split_commands(line: str) -> list[Command]:
    """Return the commands of a command line that print, in order.

    `a; b`, `a && b`, `for x in 1 2; do a $x; done` (unrolled where the list is written out) and pipes:
    behind `| grep`, `| head` and the like the output is filtered, so that a field that is not there
    proves nothing.
    """
    tail = re.search(r"\bdone\s*\|(.*)$", line[:MOST_TYPED])
    all_filtered = tail is not None and _find_filter(tail[1].split("|")) != ""
    commands: list[Command] = []
    for stages in _split_stages(_LOOP.sub(_unroll_loop, line.strip()[:MOST_TYPED])):
        bare = _strip_command(stages[0])
        if bare in ("", "done", "do") or _LIST.match(bare):
            continue
        filtered = (
            all_filtered or _find_filter(stages) != ""
        )  # `grep x file` leaves lines out as well
        commands.append(Command(" | ".join(stage.strip() for stage in stages), bare, filtered))
        if len(commands) >= _MOST_COMMANDS:
            break
    return commands


def _unroll_loop(loop: re.Match[str]) -> str:
    """Return the body of a loop once for each value of its list."""
    name, values, body = loop.groups()
    variable = re.compile(rf"\$(?:{name}\b|\{{{name}\}})")
    unrolled = []
    for value in values.split()[:_MOST_COMMANDS]:
        unrolled.append(variable.sub(value.replace("\\", ""), body))
    return "; ".join(unrolled)


def _find_filter(stages: Iterable[str]) -> str:
    """Return the first program of some stages of a pipe that leaves lines out, or ""."""
    for stage in stages:
        program = find_program(stage)
        if program in _FILTERS:
            return program
    return ""


def find_filter(line: str) -> str:
    """Return the program that left lines out of an output or of a file, "" when none is known."""
    for command in _split_stages(line.strip()[:MOST_TYPED]):
        if program := _find_filter(command):
            return program
    return ""


def may_show(line: str) -> bool:
    """Say whether a command may print what another machine printed: it shows files, asks that machine, or loops."""
    if not line.strip():
        return True
    for stages in _split_stages(line.strip()[:MOST_TYPED]):
        if any(find_program(stage) not in _OWN_FACTS for stage in stages):
            return True
    return False


def find_excerpt_tool(line: str) -> str:
    """Return the program of a command line that may leave lines of a file out, "" when files are printed whole.

    `cat f` and `zcat f | tee g` print all there is; `grep`, `tail`, `dmesg`, a pager, or a program that is
    not known may not. "" for an empty line as well.
    """
    if _BUNDLE.match(line):
        return "a loop over bundles"
    shortening = []
    prints_whole = False
    for stages in _split_stages(line.strip()[:MOST_TYPED]):
        program = next(filter(None, map(_find_shortening, stages)), "")
        if program:
            shortening.append(program)
        elif find_program(stages[0]):
            prints_whole = True
    for program in shortening:
        if program in _LOG_TOOLS or not prints_whole:
            return program
    return ""


def _find_shortening(stage: str) -> str:
    """Return the program of one stage of a pipe, "" when it hands on every line of what it reads."""
    bare = _strip_command(stage)
    if not bare or bare in ("do", "done"):
        return ""
    program = find_program(stage)
    if program in _PRINTS_WHOLE or _UNPACKS_WHOLE.match(bare) or _SHOWS_WHOLE.match(bare):
        return ""
    return program or bare.split()[0][:40]


def find_log_files(line: str) -> list[str]:
    """Return the log files a command line names, as typed."""
    words = _BETWEEN.split(line[:MOST_TYPED])
    files = [word for word in words if _LOG_FILE.match(word.rpartition("/")[2])]
    return list(dict.fromkeys(files))


def _split_stages(text: str) -> list[list[str]]:
    """Return the commands between `;`, each as its stages between `|`; quotes hold both together."""
    commands: list[list[str]] = [[""]]
    at = 0
    for found in _SPLIT.finditer(text):
        if not found[1]:
            continue
        commands[-1][-1] += text[at : found.start()]
        at = found.end()
        if found[1] == "|":
            commands[-1].append("")
        else:
            commands.append([""])
    commands[-1][-1] += text[at:]
    return commands
