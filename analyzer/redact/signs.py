"""Detects customer data in log lines and command output, for drafts of rules and for what is handed out.

Each detector is a regex whose group `x` is what must not stay. They are tried in their order and the first
that claims a stretch keeps it: STRONG by form (secrets, ids, addresses, paths), then the names known from
the case, then WEAK by place ("user=…", "VM …"), then, in log lines only, what is quoted.
"""

from __future__ import annotations

import re
from functools import cache

# What must not be touched: stamps and clock times look like addresses.
STAMP = re.compile(
    r"(?=[\dJFMASOND])(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,:]\d{1,9})?)?(?:Z|\s?(?:GMT|UTC)?[+-]\d\d:?\d\d)?"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"|(?<![\w:.])\d{1,3}:\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?![\w:]))",
    re.ASCII,
)

_KEY = (
    r"(?:pass(?:word|wd|phrase|code)|secret|(?:access|auth|bearer|api)?[-_ ]?token|api[-_ ]?key|private[-_ ]?key"
    r"|authorization|credentials?|cookie|session[-_ ]?(?:id|key|ticket|token)|\bcommunity|\bpwd|\bsid)"
)
_SEP = r"[\"'\]]{0,2} ?(?::=|=>|[:=]) ?"
_NAME = r"[A-Za-z0-9][\w.$+-]*"
_MAYBE = r"(?=[\w.-]*[\d_-])[A-Za-z][\w.-]*\w"  # a word that can hardly be a word of the language
_LABEL = r"[A-Za-z0-9][\w-]{0,62}"
# The path of an NFS export; what begins with a folder of ESXi itself is none.
_EXPORT = (
    r"/(?!(?:bin|bootbank|altbootbank|dev|etc|host|lib|lib64|locker|opt|proc|productLocker|sbin|scratch|store|tardisks|tmp|usr|var|vmfs"
    r"|vmimages|vmupgrade)(?![\w-]))[\w.+@$-]+(?:/[\w.+@$-]+)*"
)
_PART = r"[^\"'<>|,;)\]/]+"  # of a path, blanks and all
_FILES = r"(?:vmx|vmxf|vmdk|vswp|nvram|vmsd|vmsn|vmss|vmtx|log|iso|flp|ova|ovf)"
# "[datastore] folder/file.vmx": no "[Originator@6876 sub=Hostsvc] Opening x.vmdk", a sentence of hostd
_STORE = r"(?![^\[\]]*[@=])[^\[\]/\\\"']{1,80}"
_OWN_PATH = r"(?:[^\s\"'\[\]/][^\"'\[\]/:]{0,100}/(?:[^\"'\[\]/:]{1,100}/)*)?[^\s\"'\[\]/][^\"'\[\]/:]{0,100}"
_ENDS = r"(?:gz|tgz|zip|txt|log|csv|json|xml|out|p?cap)"  # of a file that is called as an address
_QUAD = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_TOP = (
    r"(?:com|net|org|edu|gov|mil|int|info|biz|cloud|tech|online|local|lan|internal|intranet|intern|corp|home|private|lab|test"
    r"|example|invalid|localdomain|loc|dom|de|fr|uk|us|ca|nl|ch|at|it|es|pl|se|no|fi|dk|be|cz|hu|ru|cn|jp|kr|in|br|au|nz|eu"
    r"|ie|pt|gr|tr|za|mx|sg|hk|tw|il|ua|ro)"
)
UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
# Pairs of digits between colons, no part of more pairs; `mac:` may stand before, a colon of the sentence behind.
# The first sign comes before what is asked of the sign before it: one of a set is found fast.
_PAIRED = (
    r"[0-9a-fA-F](?<![0-9a-zA-Z.].)(?<!\b[0-9a-fA-F]{2}:.)(?<!::.)[0-9a-fA-F]:(?:[0-9a-fA-F]{2}:){COUNT}"
    r"[0-9a-fA-F]{2}(?![0-9a-zA-Z]|:[0-9a-fA-F]{2}\b)"
)
MAC, WWN = (_PAIRED.replace("COUNT", str(count)) for count in (4, 6))
VOLUME = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"

# Words that stand where a user or a name stands and are the product's own.
SYSTEM_USERS = frozenset((
    "root", "dcui", "vpxuser", "nobody", "daemon", "system", "admin", "administrator", "user", "users", "unknown",
    "none", "null", "vpxd-extension", "vpxd", "hostd", "sshd", "audit", "anonymous",
))  # fmt: skip
DEFAULT_NAMES = frozenset((
    "none", "null", "unknown", "localhost", "default", "true", "false", "yes", "no", "on", "off", "up", "down", "esxi",
    "esx", "vmware", "vcenter", "nsx", "vsphere.local", "n/a", "localhost.localdomain", "ha-datacenter", "ha-folder-vm",
    "ha-folder-root", "ha-root-pool", "defaulttcpipstack", "vmware.com", "vm network", "management network",
    "toolbox", "toolbox-dnd", "rabbitmq - messaging service",
))  # fmt: skip
# First words of dotted names that are no domains: event ids, Java packages.
NO_DOMAIN = frozenset(
    ("esx", "vob", "vprob", "vim", "com", "org", "net", "java", "javax", "sun", "vmw", "vmware")
)
# Words of the product that look like names by their form.
TECHNICAL = re.compile(
    r"(?i)(?:v?m?nic|vmhba|vmk|vswitch|dvsportset|dvs|v?p?cpu|eth|ens|rxq|txq|port|queue|host|vm|vim|domain-c|group-[a-z]|resgroup|dvportgroup"
    r"|datastore|network|edge|controller|task|event|session|thread|pool|world|x86|utf|sha|aes|rfc|iso|ipv|node|disk|nfs|vmfs|cbt"
    r"|slot|lag|vlan|vxlan|virtualwire|universalwire|securitygroup|ipset|naa|eui|mpx|t10|dvfilter|vcpu|build|lun|path)-?\d+"
    r"|x86-64|com\.vmware\..*|srat|slit|dmar|dsdt|ssdt|(?:.*-)?(?:thread|exec|pool|nio|worker)-.*"
)
DEVICES = re.compile(r"(?i)(?:vmnic|vmhba|vmk|vSwitch|DvsPortset-|lag|eth|vmservice-vmk)\d+")
_HEXED = re.compile(r"(?i)[0-9a-f-]+")


Signs = tuple[tuple[str, str], ...]  # (kind, pattern): compiled by who needs them, `compile_signs`


@cache
def compile_signs(signs: Signs) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return (kind, pattern) of some signs, ready to search with."""
    return tuple((kind, re.compile(pattern, re.ASCII)) for kind, pattern in signs)


STRONG: Signs = (
    ("secret", r"(?i)\b(?:basic|bearer|digest) +(?P<x>[A-Za-z0-9+/=._~-]{6,})"),
    ("secret", rf"(?i){_KEY}{_SEP}(?P<q>[\"'])(?P<x>[^\"']+)(?P=q)"),
    ("secret", rf"(?i){_KEY}{_SEP}[\"']?(?P<x>[^\s\"',;&]+)"),
    ("secret", r"(?i)--?(?:password|passwd|pwd|token|secret)[ =][\"']?(?P<x>[^\s\"']+)"),
    ("secret", r"(?i)\b(?:password|passphrase) (?:is|was|of \S+ is) [\"']?(?P<x>[^\s\"']+)"),
    ("secret", r"\b[a-z][a-z0-9+.-]*://(?P<x>[^/\s:@]+:[^/\s@]+)@"),
    ("secret", r"\b(?P<x>eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?)"),
    (
        "secret",
        # in a path the first part has not all three of A-Z, a-z, 0-9
        r"(?<![\w+/=.])(?P<x>(?=[a-z0-9+]{0,60}[A-Z])(?=[A-Z0-9+]{0,60}[a-z])(?=[A-Za-z+]{0,60}\d)[A-Za-z0-9+/]{40,}={0,2})",
    ),
    ("thumbprint", r"(?<![\w:])(?P<x>(?:[0-9A-Fa-f]{2}:){15,}[0-9A-Fa-f]{2})(?![\w:])"),
    ("thumbprint", r"(?<![\w.])(?P<x>[0-9A-Fa-f]{40,64})(?![\w.])"),
    ("licence", r"(?<![\w-])(?P<x>[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4})(?![\w-])"),
    (
        "ticket",
        r"(?i)\b(?:sr|case|ticket|incident|pr|request)(?: ?(?:no\.?|number|id))? ?[:=#-]? ?(?P<x>\d{6,12})\b",
    ),
    ("ticket", r"(?<![\w-])(?P<x>(?:INC|CHG|TASK|REQ|RITM|PRB|CS)-?\d{5,10})(?!\w)"),
    (
        "biosuuid",
        r"(?i)(?<!\w)(?P<x>(?:[0-9a-f]{2} ){7}[0-9a-f]{2}-(?:[0-9a-f]{2} ){7}[0-9a-f]{2})(?!\w)",
    ),
    (
        "serial",
        r"(?i)\b(?:serial|asset[ _]?tag|service[ _]?tag)(?:[ _]?(?:number|no\.?|num))?[\"']? ?[:=#]? ?[\"']?"
        r"(?!VMware-[0-9A-Fa-f]{2} )(?P<x>(?=[\w-]*\d)[\w-]{4,})",
    ),
    ("uuid", rf"(?<![0-9A-Za-z])(?P<x>{UUID})(?![0-9A-Za-z])"),
    ("volume", rf"(?i)(?<![0-9a-z])(?P<x>{VOLUME}|[0-9a-f]{{8}}-[0-9a-f]{{8}}(?=/))(?![0-9a-z])"),
    ("iqn", r"(?i)(?<!\w)(?P<x>iqn\.\d{4}-\d\d\.[\w.:-]+)"),
    ("device", r"(?i)(?<![0-9a-z])(?P<x>(?:naa|eui|vml)\.[0-9a-f]{6,})"),
    ("t10", r"(?<!\w)(?P<x>t10\.[\w.-]+)"),
    ("wwn", rf"(?P<x>{WWN})"),
    # without colons: in the name of a path, fc.NODE:PORT, and in what adapters print
    ("wwn", r"(?i)(?<![0-9a-z])(?P<x>(?:1000|[256c][0-9a-f]{3})[0-9a-f]{12})(?![0-9a-z])"),
    (
        "mac",
        rf"(?P<x>{MAC}|[0-9a-fA-F](?<![\w.-].)[0-9a-fA-F]-(?:[0-9a-fA-F]{{2}}-){{4}}[0-9a-fA-F]{{2}}(?![\w-]))",
    ),
    ("mac", r"(?i)(?<![\w.])(?P<x>[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})(?!\w|\.\w)"),
    (
        "ipv6",  # behind `ip:`, and with a colon of the sentence behind it, too
        r"(?i)(?:(?<![\w:.])|(?<=[g-z]:)|(?<=[g-z][\w]:))"
        r"(?P<x>(?=[0-9a-f]{0,4}:[0-9a-f:]{0,40}:|::)[0-9a-f:]{1,44}(?:(?:[0-9a-f]|::)|\d{0,3}(?:\.\d{1,3}){3}))"
        r"(?![\w.]*\w|:[0-9a-f:])",
    ),
    (
        "name",
        r"(?i)(?<![\w=])"
        r"(?P<x>(?:CN|OU|O|L|ST|DC|C|UID)=[^,\"<>/;*]{1,80}(?:[,/] ?(?:CN|OU|O|L|ST|DC|C|UID)=[^,\"<>/;*]{1,80})+)",
    ),
    (
        "host",
        r"(?<![\w\\])\\\\(?:\\\\)?(?!u[0-9a-f]{4}\\)(?P<x>[A-Za-z][\w-]{1,62})(?=\\)",
    ),  # \\server\share
    ("user", r"(?<![\w.])/home/(?P<x>[a-z][\w.-]{1,30})(?=/)"),
    ("email", rf"(?<![\w.+-])(?P<x>[\w.+-]+@{_LABEL}(?:\.{_LABEL})*\.[A-Za-z]{{2,}})(?![\w-])"),
    ("user", rf"(?<![\w.+$-])(?P<x>[\w.+$-]+)@(?={_QUAD}(?:\.{_QUAD}){{3}}\b)"),
    (
        "ipv4",
        rf"(?<![A-Za-z0-9.])(?P<x>{_QUAD}(?:\.{_QUAD}){{3}})(?!\.?\d|[A-Za-z]|\.(?!{_ENDS}\b)[A-Za-z]|-\d+(?:OEM|vmw))",
    ),
    ("export", rf"(?<![\w/.])(?:{_QUAD}(?:\.{_QUAD}){{3}}|{_NAME}):(?P<x>{_EXPORT})"),
    (
        "export",
        r"(?i)(?<![\w/])(?:mount point|remote (?:path|share|dir)|share|export)(?: name)?[\"']? ?[:=]? ?[\"'(]?"
        rf"(?P<x>{_EXPORT})",
    ),
    ("export", rf"(?i)\bPath: \((?P<x>{_EXPORT})\)"),
    ("path", r"(?i)(?P<q>[\"'])/vmfs/volumes/(?P<x>[^\"']+)(?P=q)"),
    ("path", rf"(?i)/vmfs/volumes/(?P<x>(?=\S){_PART}/(?:{_PART}/)*{_PART}?\.{_FILES})\b"),
    ("path", r"(?i)/vmfs/volumes/(?P<x>[^\s\"'<>|,;)\]]+)"),
    ("datastore", rf"\[(?P<x>{_STORE})\] (?={_OWN_PATH}\.{_FILES}\b)"),
    ("path", rf"\[{_STORE}\] (?P<x>{_OWN_PATH}?\.{_FILES})\b"),
    ("fqdn", rf"(?i)(?:(?<![\w./-])|(?<=//))(?P<x>{_LABEL}(?:\.{_LABEL})*\.{_TOP})(?![\w-]|\.\w)"),
)

WEAK: Signs = (
    ("host", r"\bserver (?P<x>[A-Za-z0-9][\w.-]*\w) (?=mount point\b)"),
    # Affected portgroups:"A", "B C"
    ("portgroup", r"(?i)(?:\bport ?groups?: ?|\", ?)\"(?P<x>[^\"]{1,100})(?=\")"),
    ("portgroup", r"(?i)\bport ?group (?P<q>[\"'])(?P<x>[^\"']{1,100})(?P=q)"),
    ("switch", r"(?i)\b(?:switch|dvs|dvswitch|vds) (?P<q>[\"'])(?P<x>[^\"']{1,100})(?P=q)"),
    (
        "switch",
        r"(?i)\b(?:v?switch|dvs|dvswitch|vds)(?:[-_ ]?name)?[\"']? ?(?:=|: )[\"'(]?(?P<x>[^\s\"',;\])]+)",
    ),
    ("datastore", r"(?i)\bmounted as \S+ \(\"?(?P<x>[^()\"]{1,80})\"?\)"),
    ("datastore", r"\bLabel: \((?P<x>[^()]{1,80})\)"),
    ("label", rf"(?i)(?<![0-9a-z]){VOLUME}[ ,:]{{1,2}}[\"'(]?(?P<x>{_MAYBE}|[\w.-]+(?=\s*$))"),
    (
        "user",
        r"(?<![\w\\.-])(?P<x>[A-Za-z][\w.-]{1,30}\\[A-Za-z][\w.$-]*)"
        r"(?=\]|@| (?:logged|from|connected|has|was|failed)|$)",
    ),
    (
        "user",
        r"(?i)\b(?:user(?:[-_ ]?name)?|login|account|principal|owner|logname)[\"']? ?[=:] ?[\"']?"
        rf"(?P<x>{_NAME}(?:[\\:@][\w.$\\@-]+)?)",
    ),
    (
        "user",
        rf"\b[Uu]ser [\"']?(?P<x>{_NAME}(?:\\[\w.$-]+)?)"
        r"(?=@|[\"']? (?:logged|from|connected|has|was|failed|authent|cannot|could))",
    ),
    ("user", rf"\bfor (?:invalid user |user )?(?P<x>{_NAME}) from (?=\d|\S+ port)"),
    (
        "host",
        r"^(?:<\d{1,3}>(?:1 )?)?(?:\d{4}-\d\d-\d\d[T ]\S+|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d\S*) "
        r"(?P<x>(?!(?i:info|warning|warn|error|verbose|trivia|debug|panic|notice)\b)[A-Za-z][\w.-]*) "
        r"(?=[\w.-]+(?:\[\w+\])?:|[A-Z][a-z]\(\d|NSXV? |\d{4}-\d\d-\d\d[T ]|Event ID )",
    ),
    ("host", r"^\[?[a-z]\w*@(?P<x>[A-Za-z0-9][\w.-]*)(?=[: ])"),
    ("host", r"^(?P<x>[A-Za-z](?:[\w.-]*\w)?)[>#] ?(?=\S)"),
    (
        "host",
        r"(?i)\b(?:host(?:[-_ ]?name)?|server|vcenter|esxi?)[\"']? ?(?:=|: ?)[\"']?"
        r"(?P<x>(?=[\w.-]*[a-z])[A-Za-z0-9][\w.-]*\w)",
    ),
    (
        "vm",
        r"(?i)\b(?:vm|virtual machine|vm[-_ ]?name|displayname)[\"']? ?(?:=|: )[\"']?(?P<x>[^\s\"',;\])]+)",
    ),
    ("vm", r"(?i)\b(?:vm|virtual machine) (?P<q>[\"'])(?P<x>[^\"']+)(?P=q)"),
    (
        "label",
        r"(?i)\b(?:switch|dvs|port ?group|datastore|volume|host|cluster|network|folder|pool|datacenter)s? "
        r"(?P<q>[\"'])(?P<x>[^\"']{1,100})(?P=q)",
    ),
    ("vm", rf"\b(?:VM|virtual machine|guest) (?P<x>{_MAYBE})"),
    ("vm", r"\bGuest OS (?:reboot|shut ?down|standby) for (?P<x>\S+)"),
    (
        "label",
        r"(?i)\b(?:datastore|volume|lun label|portgroup|port group|network|cluster|datacenter|folder|pool|domain|realm"
        r"|tenant|site|dvs)(?:[-_ ]?name)?[\"']? ?(?:=|: )[\"']?(?P<x>[^\s\"',;\])]+)",
    ),
    ("label", rf"(?i)\b(?:datastore|volume|vol|cluster|portgroup) (?P<x>{_MAYBE})"),
)

# Only in log lines, where no column tells what a word is; `quoted_name` and `name_like` are asked as well.
GUESSES: Signs = (
    ("quoted", r'(?<!=)"(?P<x>[^"]{1,100})"'),
    ("quoted", r"(?<![\w=])'(?P<x>[^']{1,100})'(?!\w)"),
    ("name", r"(?<![\w./:@+-])(?P<x>[A-Za-z][\w-]{2,79})(?![\w-])"),
)
_PADDED = re.compile(r"[A-Za-z]{2,}(?:[-_][A-Za-z]+)*[-_]?0\d{1,2}", re.ASCII)
_DASHED = re.compile(r"(?:[a-z0-9]+(?:[-_][a-z0-9]+)+|[A-Z0-9]+(?:[-_][A-Z0-9]+)+)", re.ASCII)


def quoted_name(text: str) -> bool:
    """Say whether a quoted text may be a name: short, with a digit or a dash; no path, no sentence, no time."""
    if TECHNICAL.fullmatch(text) or _HEXED.fullmatch(text):
        return False
    odd = any(sign.isdigit() or sign in "-_." or not sign.isascii() for sign in text)
    return odd and len(text.split()) <= 4 and "/" not in text and ":" not in text


def name_like(word: str) -> bool:
    """Say whether a word has the form of a machine's name: lin-app07, ESX-12, web01; not i40en or vmnic4."""
    if TECHNICAL.fullmatch(word) or (_HEXED.fullmatch(word) and not _PADDED.fullmatch(word)):
        return False
    if _PADDED.fullmatch(word):
        return True
    return "-" in word and any(sign.isdigit() for sign in word) and bool(_DASHED.fullmatch(word))
