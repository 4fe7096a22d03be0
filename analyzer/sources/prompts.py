"""Prompts and command lines of the shells a support case shows.

ESXi (`[root@esx0:~] cmd`, `/var/log # cmd`, the vsish shell), Linux guests, the CLIs of NSX, Windows
and a bare `# cmd` of a blog. A prompt is looked for at the start of a line only: prose that
quotes one in its middle is prose. `commands_of` takes a command line apart into the commands that print.
"""

from __future__ import annotations

import posixpath
import re

from analyzer.kept_patterns import compiled
from analyzer.lazy_dataclass import dataclass

ESXI, GUEST, CONTROLLER, MANAGER, EDGE = "esxi", "guest", "nsx_controller", "nsx_manager", "nsx_edge"
NSXT_MANAGER, NSXT_EDGE = "nsxt_manager", "nsxt_edge"
NSXT = "nsx_t"  # either of them
_OF_NSXT = {MANAGER: NSXT_MANAGER, CONTROLLER: NSXT_MANAGER, EDGE: NSXT_EDGE}  # a controller is in the manager


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ESXI_TOOLS = _words("""
    vsish net-stats esxcli localcli esxtop vim-cmd nsxdp-cli net-vdr net-vdl2 net-dvs pktcap-uw vmkping
    vm-support
    vmkchdev smbiosDump vscsiStats voma partedUtil cmmds-tool vmfsfilelockinfo irqinfo vmkerrcode
    vmkload_mod vdq vmkfstools memstats sched-stats summarize-dvfilter vsipioctl esxcfg vmware vmkvsitools
""")
_SHELL_TOOLS = _words("""
    ethtool netstat free dmesg iperf iperf3 uname cat tail head grep ls zcat less more cd for while
    ip ifconfig ping
    lspci date uptime hostname sed awk ss lsmod modinfo sysctl top mpstat sar watch sudo ssh nc
    tcpdump tcpdump-uw
    arp route vi wget curl find ps lsof echo
    egrep fgrep zgrep zegrep zless zmore bzcat xzcat gunzip gawk
""")
# Words of prose too: a command only with something behind them that no sentence has.
_WORD_TOOLS = _words("cut sort uniq strings")
_ARGUMENT = compiled(r"(?:^|\s)-{1,2}\w|[/|]|\.(?:log|gz)\b")
_NSX_VERBS = _words("""
    show get set restart ping exit enable disable configure debug export ssh clear no list reset start stop
    traceroute save join deploy del nslookup help quit write st engineering copy detach sync vrf find watch
""")
_SETTERS = _words("sudo time watch nohup")
_ALONE = _ESXI_TOOLS | _SHELL_TOOLS | {"show", "get"}
_FILTERS = _words("grep egrep fgrep zgrep zegrep awk gawk sed head tail cut uniq wc tr")
# What tells of the machine it runs on, and of no other.
_OWN_FACTS = _words("""
    hostnamectl uname hostname uptime date free df du lsblk lsmod lspci lsusb ip ifconfig ethtool arp route netstat
    ss top ps systemctl service dpkg rpm apt yum dnf exportfs mount zpool zfs mdadm pvs vgs lvs timedatectl sysctl
    dmidecode
""")
# What prints a file from its first line to its last; any other program may leave lines of it out.
_LOG_TOOLS = _FILTERS | _words("dmesg less more zless zmore vi sort strings journalctl")
_PRINTS_WHOLE = _words("cat zcat bzcat xzcat type tee")
_UNPACKS_WHOLE = compiled(r"(?:gunzip|gzip|bunzip2|bzip2|unxz|xz|zstd)\s+(?:\S+\s+)*?(?:-\w*c\w*|--stdout)\b")
_SHOWS_WHOLE = compiled(r"show\s+(?:log\s+manager|manager\s+log)\s*$")
_BETWEEN = compiled(r"[\s'\"=|;()<>]+")
_LOG_FILE = compiled(r"[\w.+@-]+\.(?:log|gz)(?:\.\d+)?(?:\.gz)?$|(?:messages|syslog)(?:\.\d+)?$")

_NAME = r"[A-Za-z0-9][\w.-]*"
_ESXI_BRACKET = compiled(rf"\[[\w.-]+@(?P<host>{_NAME}):[^\]]*\] ?(?P<hash>[#$] ?)?(?P<cmd>.*)$")
_LINUX_BRACKET = compiled(rf"\[[\w.-]+@(?P<host>{_NAME}) [^\]]*\] ?[#$] ?(?P<cmd>.*)$")
# The path was left out by who wrote it down: a tool of ESXi behind it tells.
_CUT_BRACKET = compiled(rf"\[[\w.-]+@(?P<host>{_NAME})\] ?(?:[#$>] ?)?(?P<cmd>[a-z/][\w./-]* .*)$")
# The appliance for administration (vMA) names the host that its commands go to behind its own name.
_APPLIANCE = compiled(
    rf"(?:[\w.-]+@{_NAME}:[^\s\[\]]{{0,200}}|\[[\w.-]+@{_NAME} [^\]]{{0,200}}\])\[(?P<host>{_NAME})\]"
    r"[>$#] ?(?P<cmd>.*)$"
)
_LINUX = compiled(
    rf"(?:\([\w.-]+\) ?)?[\w.-]+@(?P<host>{_NAME}):(?:[~/][^\]\[#$>]*)?[#$]#?"
    r"(?: (?P<cmd>.*)|(?P<glued>[a-z].*)?)$"
)
_BUSYBOX = compiled(r"(?:~|/[\w./@:+-]*) #(?: (?P<cmd>.*))?$")
_VSISH = compiled(r"(?P<cwd>/(?:[^\s/>]+/)*)> ?(?P<cmd>(?:get|cat|ls|cd|set|exit|quit|help)\b.*)?$")
_VRF = r"(?:\([\w-]+(?:\[\d+\])?\))?"  # the router whose commands follow: edge01(tier0_sr)>, edge01(tier0_sr[1])>
# Only an NSX-T edge has such a router, or takes its number; `switch(config)#` is another machine.
_ON_EDGE = compiled(rf"{_NAME}\((?:vrf|tier[01])[\w-]*(?:\[\d+\])?\) ?>|{_NAME} ?> ?ping6?\s.*\svrfid\s+\d")
# Twice where the first command behind it was an empty line.
_NSX = compiled(rf"(?P<host>{_NAME}){_VRF}(?: ?[#>] ?(?P=host){_VRF})? ?[#>] ?(?P<cmd>[a-z?][\w-]*.*)?$")
_LONE = compiled(rf"(?P<host>{_NAME}){_VRF} ?[#>]$")
_SHELL_NAME = compiled(r"(?:ba|k|z|c|tc|da)?sh(?:-[\d.]+)?$|root$|user$|admin$")  # `bash-4.2# …` names no host
_WINDOWS = compiled(r"(?:PS |PowerCLI )?[A-Za-z]:\\[^>|<]*> ?(?P<cmd>.*)$")
_BARE = compiled(r"(?:[\w./~-]*[$#]|%) ?(?P<cmd>[a-z/(].*)$")
_TOOL_WORD = compiled(r"(?:/(?:[\w.-]+/)*)?([A-Za-z][\w.-]*)")
# A loop over unpacked bundles prints the folder of each before what it prints of it: `for d in esx-*; do echo $d; …`.
_BUNDLE = compiled(r"(?:\S*/)?esx-(?P<host>[\w.-]+)-\d{4}-\d\d-\d\d--\d\d\.\d\d(?:-\d+)?[/:]?$")
_STARTS = compiled(
    r"[\[(~/#$%]|esx-|\S+/esx-|[\w.-]++(?:@| ?[#>$]|\([\w-]+(?:\[\d+\])?\))|(?:PS |PowerCLI )?[A-Za-z]:\\|\w*+[$#] "
)
_LOOP = compiled(r"\bfor\s+(\w+)\s+in\s+([^;`$]+);\s*do\s+(.*?);?\s*done\b")
_LIST = compiled(r"for\s+\w+\s+in\s")  # what a loop goes over is not printed: `for d in $(esxcli … list); do …`
_SPLIT = compiled(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\$\([^)]*\)|(&&|\|\||;|\|)")
_TYPED = str.maketrans({"–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "\xa0": " "})
_SETTING = compiled(
    r"^(?:(?:sudo|time|nohup|do|then|LANG=\S+|LC_ALL=\S+)(?: -[A-Za-z])*\s+"
    r"|watch\s+(?:-n ?)?(?:-?[\d.]+\s+)?)+"
)
_FOLDER = compiled(r"^/(?:[\w.-]+/)+(?=[\w.-])")
_MOST_COMMANDS = 1000
MOST_TYPED = 4096  # no one types more; a longer "command" is hostile or not one


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and what was typed behind it.

    form     esxi, busybox, vsish, linux, nsx, named (`esx01# cmd`), windows, bare (`# cmd`), bundle (the
             folder of one, alone on a line), ruled (a command between two rules of dashes) or echo (a command alone)
    host     as the prompt shows it, "" when it shows none
    node     kind of node, "" when the form does not tell
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
    return _shell(line) or _vsish(line) or _bundle(line) or _nsx(line) or _bare(line)


def waiting_host(line: str) -> str:
    """Return the host of a line that may be a prompt with nothing typed behind it (`edge01>`), or ""."""
    found = _LONE.match(line)
    return found["host"] if found else ""


def _shell(line: str) -> Prompt | None:
    if found := _ESXI_BRACKET.match(line):
        return Prompt("esxi", found["host"], ESXI, found["hash"] is None, found["cmd"].strip())
    if found := _APPLIANCE.match(line):
        return Prompt("esxi", found["host"], ESXI, False, found["cmd"].strip())
    if found := _LINUX_BRACKET.match(line):
        return _linux(found["host"], found["cmd"])
    if (found := _CUT_BRACKET.match(line)) and first_word(found["cmd"]) in _ESXI_TOOLS:
        return Prompt("esxi", found["host"], ESXI, False, found["cmd"].strip())
    if found := _LINUX.match(line):
        return _linux(found["host"], found["cmd"] or found["glued"] or "")
    if found := _BUSYBOX.match(line):
        return Prompt("busybox", "", ESXI, True, (found["cmd"] or "").strip())
    if found := _WINDOWS.match(line):
        return Prompt("windows", "", GUEST, False, found["cmd"].strip())
    return None


def _vsish(line: str) -> Prompt | None:
    found = _VSISH.match(line)
    return Prompt("vsish", "", ESXI, True, _vsish_line(found["cwd"], found["cmd"] or "")) if found else None


def _bundle(line: str) -> Prompt | None:
    found = _BUNDLE.match(line)
    return Prompt("bundle", found["host"], ESXI, True, line) if found else None


def _linux(host: str, command: str) -> Prompt:
    named = node_by_name(host)
    node = named or (ESXI if first_word(command) in _ESXI_TOOLS else GUEST)
    return Prompt("linux", host, node, named in (NSXT_MANAGER, NSXT_EDGE), command.strip())


def _nsx(line: str) -> Prompt | None:
    found = _NSX.match(line)
    if not found:
        return None
    host, command = found["host"], (found["cmd"] or "").strip()
    node = node_by_name(host)
    word = command.split(" ", 1)[0]
    asks_others = word == "on" and " exec " in command  # the central CLI of NSX-T
    if not (word in _NSX_VERBS or asks_others or (not command and node)):
        return _host_prompt(host, node, command)
    if word == "get" or asks_others:  # the CLI of NSX for vSphere says `show`
        node = _OF_NSXT.get(node, node)
    elif not node and "control-cluster" in command:
        node = CONTROLLER
    if _ON_EDGE.match(line):
        node = NSXT_EDGE
    return Prompt("nsx", host, node, bool(node), command)


def _host_prompt(host: str, node: str, command: str) -> Prompt | None:
    """Return the prompt `esx01# grep …` or `esx01> dmesg`: a name, and a command that no sentence begins with."""
    if _SHELL_NAME.match(host) or not _is_typed(command):
        return None
    word = first_word(command)
    if word not in _ESXI_TOOLS and not (word == "dmesg" or _ARGUMENT.search(command)):
        return None
    return Prompt("named", host, node or (ESXI if word in _ESXI_TOOLS else ""), False, command)


def _is_typed(command: str) -> bool:
    word = first_word(command)
    if word in _WORD_TOOLS:
        return _ARGUMENT.search(command) is not None
    return word in _ESXI_TOOLS or word in _SHELL_TOOLS


def _bare(line: str) -> Prompt | None:
    found = _BARE.match(line)
    if not found:
        return None
    word = first_word(found["cmd"])
    if not _is_typed(found["cmd"]):
        return None
    node = ESXI if word in _ESXI_TOOLS and "vsi_traverse" not in line else ""
    return Prompt("bare", "", node, False, found["cmd"].strip())


def node_by_name(host: str) -> str:
    """Return the kind of node a host name speaks of (`nsx-controller`, `vShield-edge-3-0`, `esx0`), or ""."""
    name = host.lower()
    if "nsx" in name or name.startswith("vshield"):
        kind = CONTROLLER if "control" in name else EDGE if "edge" in name else ""
        kind = kind or (MANAGER if "mgr" in name or "manager" in name or "nsxm" in name else "")
        if kind:
            return _OF_NSXT[kind] if re.search(r"nsx-?t(?!est)", name) else kind
    if re.match(r"(?:v?esxi?)(?:[-\d.]|$)", name):
        return ESXI
    return ""


def first_word(command: str) -> str:
    """Return the program of a command line without `sudo` and folders; esxcfg-* and vicfg-* as `esxcfg`."""
    bare = _bare_command(command)
    found = _TOOL_WORD.match(bare)
    word = found[1] if found else ""
    return "esxcfg" if word.startswith(("esxcfg-", "vicfg-")) else word


def is_tool(line: str) -> bool:
    """Tell whether a line starts with a program we know, as a command copied without its prompt does."""
    word = line.split(None, 1)[0].rpartition("/")[2]
    if word in _SETTERS:
        word = first_word(line)
    return word in _ALONE or word.startswith(("esxcfg-", "vicfg-"))


def is_esxi_tool(line: str) -> bool:
    """Tell whether a command exists on ESXi only."""
    return first_word(line) in _ESXI_TOOLS


def opens_vsish(command: str) -> bool:
    """Tell whether a command opens the vsish shell, so that the next prompts are of the same host."""
    return first_word(command) == "vsish" and not re.search(r"\s-(?:p )?e\b", command)


def _vsish_line(cwd: str, typed: str) -> str:
    """Return what was typed in the vsish shell as one `vsish -e` command with its whole path."""
    word, _, path = typed.strip().partition(" ")
    path = path.strip()
    if word not in ("get", "cat", "ls", "set") or not (path or word == "ls"):
        return typed.strip()
    whole = posixpath.normpath(posixpath.join(cwd, path))
    return f"vsish -e {word} {whole}{'/' if path.endswith('/') and whole != '/' else ''}"


def _bare_command(text: str) -> str:
    """Return a command without sudo, time, watch, variable settings and the folder of its program."""
    text = text[:MOST_TYPED].strip()
    return _FOLDER.sub("", _SETTING.sub("", text if text.isascii() else text.translate(_TYPED)))


def remote_host(command: str) -> tuple[str, str]:
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


def commands_of(line: str) -> list[Command]:
    """Return the commands of a command line that print, in order.

    `a; b`, `a && b`, `for x in 1 2; do a $x; done` (unrolled where the list is written out) and pipes:
    behind `| grep`, `| head` and the like the output is filtered, so that a field that is not there
    proves nothing.
    """
    text = _LOOP.sub(_unroll, line.strip()[:MOST_TYPED])
    tail = re.search(r"\bdone\s*\|(.*)$", line[:MOST_TYPED])
    all_filtered = tail is not None and any(first_word(stage) in _FILTERS for stage in tail[1].split("|"))
    commands: list[Command] = []
    for stages in _stages(text):
        bare = _bare_command(stages[0])
        if bare in ("", "done", "do") or _LIST.match(bare):
            continue
        filtered = all_filtered or any(first_word(stage) in _FILTERS for stage in stages[1:])
        commands.append(Command(" | ".join(stage.strip() for stage in stages), bare, filtered))
        if len(commands) >= _MOST_COMMANDS:
            break
    return commands


def may_show(line: str) -> bool:
    """Tell whether a command may print what another machine printed: it shows files, asks that machine, or loops."""
    words = (first_word(stage) for stages in _stages(line.strip()[:MOST_TYPED]) for stage in stages)
    return not line.strip() or any(word not in _OWN_FACTS for word in words)


def excerpt_by(line: str) -> str:
    """Return the program of a command line that may leave lines of a file out, "" when files are printed whole.

    `cat f` and `zcat f | tee g` print all there is; `grep`, `tail`, `dmesg`, a pager, or a program that is
    not known may not. "" for an empty line as well.
    """
    if _BUNDLE.match(line):
        return "a loop over bundles"
    cuts = []
    whole = False
    for stages in _stages(line.strip()[:MOST_TYPED]):
        cut = next(filter(None, map(_shortens, stages)), "")
        whole = whole or (not cut and first_word(stages[0]) != "")
        cuts.append(cut)
    return next((cut for cut in cuts if cut and (cut in _LOG_TOOLS or not whole)), "")


def filtered_by(line: str) -> str:
    """Return the program behind a pipe that left lines out of an output, "" when none is known."""
    stages = (stage for command in _stages(line.strip()[:MOST_TYPED]) for stage in command[1:])
    return next((word for word in map(first_word, stages) if word in _FILTERS), "")


def _shortens(stage: str) -> str:
    """Return the program of one stage of a pipe, "" when it hands on every line of what it reads."""
    bare = _bare_command(stage)
    if not bare or bare in ("do", "done"):
        return ""
    word = first_word(stage)
    if word in _PRINTS_WHOLE or _UNPACKS_WHOLE.match(bare) or _SHOWS_WHOLE.match(bare):
        return ""
    return word or bare.split()[0][:40]


def log_files(line: str) -> list[str]:
    """Return the log files a command line names, as typed."""
    words = _BETWEEN.split(line[:MOST_TYPED])
    return list(dict.fromkeys(word for word in words if _LOG_FILE.match(word.rpartition("/")[2])))


def _unroll(loop: re.Match[str]) -> str:
    name, values, body = loop[1], loop[2].split(), loop[3]
    variable = re.compile(rf"\$(?:{name}\b|\{{{name}\}})")
    return "; ".join(variable.sub(value.replace("\\", ""), body) for value in values[:_MOST_COMMANDS])


def _stages(text: str) -> list[list[str]]:
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
