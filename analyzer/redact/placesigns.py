"""Tells names by their place in lines of ESXi, NSX and of what runs next to them: worlds, events, logins, files, URLs.

These signs are asked only where names are taken for pseudonyms, not for drafts of rules. Each entry is (kind, words
one of which is in such a text, pattern); group x is the name. No pattern goes on behind the end of a line.
"""

from __future__ import annotations

Places = tuple[tuple[str, tuple[str, ...], str], ...]

_NAME = r"[A-Za-z0-9][\w.$-]*\w"
_NUMBERED = r"(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w.-]*\w"  # a word that holds a digit and a letter
_LABEL = r"[A-Za-z0-9][\w-]{0,62}"
_DISKS = r"(?:vmx|vmxf|vmdk|vswp|nvram|vmsd|vmsn|vmss)"
_SCHEME = r"\b(?:jdbc:)?[a-z][a-z0-9+.-]{1,15}://"
_EVENT = r"\bEvent \d+ : "
_MOVES = rf"{_EVENT}(?:Migrating|Relocating|Migration of|Hot migrating)"
_IN_JSON = r"\\?[\"'] ?: ?\\?[\"']"  # between a name and its value, quotes escaped or not
_HEX_SPLIT = r"[0-9A-Fa-f]{8}(?:[ :_-](?:0x)?[0-9A-Fa-f]{8}){1,3}"

PLACES: Places = (
    # worlds of a VM, and its ports: vmm0:NAME, vmx-vcpu-0:NAME, client NAME.eth0, NAME.eth0,00:50:56:…
    ("vm", ("world vmm",), r"\bworld vmm\d+:(?P<x>[^\n]{1,80}?)(?= of type\b|[),\"]|$)"),
    ("vm", ("vmx-", "vmm"), rf"(?<![\w-])(?:vmm\d+|vmx-(?:vcpu-\d+|mks|svga|vthread-\d+)):(?P<x>{_NAME})"),
    ("vm", (".eth",), rf"\bclient '?(?P<x>{_NAME})\.eth\d{{1,2}}\b"),
    (
        "vm",
        (".eth",),
        rf"(?<![\w.-])(?P<x>{_NAME})\.eth\d{{1,2}}(?=, ?(?:[0-9A-Fa-f]{{2}}:){{5}}|, ?portID| eth\d)",
    ),
    # files of a VM without their folder
    ("file", (".v", ".nvram"), rf"(?P<q>[\"'])(?P<x>[^\"'/\[\]\n]{{1,80}}\.{_DISKS})(?P=q)"),
    ("barefile", (".v", ".nvram"), rf"(?<![\w/.\]$<%-])(?P<x>[A-Za-z0-9][\w-]*(?:\.[\w-]+)*?\.{_DISKS})\b(?![\w/(])"),
    ("file", (".vswp",), rf"(?<![\w.-])vmx-(?P<x>{_NAME})-\d{{6,10}}-\d+\.vswp\b"),
    # events of hostd
    ("vm", ("event ",), rf"{_EVENT}(?P<x>(?!User )[^\n:]{{1,80}}?) on {_NAME} in \S+(?: in \S+)? is "),
    (
        "vm",
        ("event ",),
        rf"{_EVENT}(?:Reconfigured|Registered|Removed|Created virtual machine|Upgrading|Message on|Resetting"
        rf"|Starting|Stopping|Suspending|Resuming|Renamed|Cloning|Migrating|Relocating)"
        rf" (?P<x>[^\n:]{{1,80}}?) (?:on|from|to) {_NAME}",
    ),
    ("vm", ("virtual machine",), rf"{_EVENT}Virtual machine (?P<x>[^\n:]{{1,80}}?) (?:disks|is|on) "),
    ("label", ("event ",), rf"{_EVENT}[^\n]{{1,200}}? on {_NAME} in (?:cluster \S+ in )?(?P<x>{_NAME})"),
    ("vm", ("displayname",), r"(?i)\bdisplayname ?= ?(?P<q>[\"'])(?P<x>[^\"'\n]{1,80})(?P=q)"),
    # logins and commands
    ("user", ("\\\\",), r"(?<![\w\\.:-])(?P<x>[A-Z][A-Z0-9.-]{1,30}\\\\[A-Za-z][\w.$-]*)(?= |\"|'|$|[,;)\]])"),
    ("user", ("sudo",), r"\bsudo(?:\[\d+\])?: +(?P<x>[A-Za-z][\w.$-]*) : "),
    (
        "user",
        (" for ",),
        rf"(?:\b(?:password|passwd)|\*{{3,}})(?: changed)? for (?:user )?(?P<q>[\"'])(?P<x>{_NAME})(?P=q)",
    ),
    # the account of a machine
    ("user", ("$",), r"\b(?:as|account|user|principal|for) (?P<x>[A-Z][A-Z0-9-]{2,14}\$)(?=[\s@,;:'\"]|$)"),
    ("user", ("session ", "user"), r"\bsession (?:opened|closed) for (?:local )?user '?(?P<x>[A-Za-z][\w.$\\@-]*\w)"),
    ("user", (" user ",), rf"\b(?:authenticating|invalid|from) user (?P<x>{_NAME}) (?=[0-9a-f.:]+ port\b)"),
    ("user", ("(to ",), rf"\bsu(?:\[\d+\])?: [^\n]{{0,40}}?\(to [\w.-]+\) (?P<x>{_NAME}) on "),
    ("user", ("shell[",), rf"(?i)\b(?:ESX)?shell\[\d+\]: \[(?P<x>{_NAME})\]: "),
    ("user", ("authhash", "auth-hash"), rf"(?i)\buser[ =](?P<x>{_NAME}) auth-?hash\b"),
    ("user", ("<",), rf"(?i)<(?:\w+:)?(?:user(?:[-_]?name)?|login|account|principal)>(?P<x>{_NAME})(?=</)"),
    ("host", ("<",), rf"(?i)<(?:\w+:)?(?:host(?:[-_]?name)?|fqdn|server|vcenter)>(?P<x>{_NAME})(?=</)"),
    ("user", ("-u ",), rf"\bsmbclient\b[^\n]{{0,120}}? -U (?P<x>{_NAME})(?=%)"),
    ("user", ("chap",), rf"(?i)\bchap (?:user ?)?name[ =:]{{1,2}}(?P<x>{_NAME})"),
    ("user", ("ruser=",), r"\bruser=(?P<x>[A-Za-z][\w.$-]*)"),
    ("user", ("users",), r"(?i)(?:[A-Z]:)?[\\/]{1,2}Users[\\/]{1,2}(?P<x>[A-Za-z][\w.$-]*)(?=[\\/\s\"',;]|$)"),
    ("user", ("/home/",), r"(?<![\w.])/home/(?P<x>[a-z][\w.-]{1,30})(?=[\s\"',;:)]|$)"),
    ("user", ("user id",), rf"(?i)\buser id ?= ?(?P<x>{_NAME})"),
    ("user", (":*****:",), r"(?<![\w:.-])(?P<x>[a-z_][\w.-]{1,31}):\*{5}:\d+:"),  # a line of /etc/shadow
    ("user", ("auth chap",), rf"\bauth chap\b[^\n]{{0,120}}?\s(?:-N|--authname)[ =](?P<x>{_NAME})"),
    ("user", ("domainjoin",), rf"\bdomainjoin-cli +join +(?:--ou +\S+ +)?\S+ +(?P<x>{_NAME})"),
    ("user", (" -u ",), rf"\bcurl\b[^\n]{{0,200}}? -u [\"']?(?P<x>{_NAME})(?=:\*)"),
    ("user", ("x-nsx-user",), rf"(?i)\bx-nsx-username[\"']?: ?[\"']?(?P<x>{_NAME})"),
    ("keymail", ("ssh-", "ecdsa-"), r"\b(?:ssh-\w+|ecdsa-[\w-]+) AAAA[\w+/=*]+ (?P<x>[\w.-]+@[\w.-]+)"),
    ("label", ("syscontact", "syslocation", "sysname"),
     r"(?i)\bsys(?:contact|location|name)(?:\.0)? ?[:=] ?(?:STRING: )?[\"']?(?P<x>[^\"'\n]{2,80}?)(?=[\"'\n]| sys|$)"),
    # hosts
    ("host", (" -> ",), rf"\bDNS (?P<x>{_NAME}) -> (?=[0-9a-f.:]+)"),
    ("host", ("event ",), rf"{_MOVES} [^\n]{{1,200}}? from (?P<x>{_NAME})(?=, | to )"),
    ("host", ("event ",), rf"{_MOVES} [^\n]{{1,200}}? to (?P<x>{_NAME})(?=, | in )"),
    ("datastore", ("event ",), rf"{_MOVES} [^\n]{{1,200}}? from {_NAME}, (?P<x>{_NAME})(?= to )"),
    ("datastore", ("event ",), rf"{_MOVES} [^\n]{{1,200}}? to {_NAME}, (?P<x>{_NAME})(?= in )"),
    ("host", ("nfs",), rf"\bstorage nfs(?:41)? add\b[^\n]{{0,200}}?\s(?:-H|--hosts?)[ =](?P<x>{_NAME})"),
    ("export", ("nfs",), r"\bstorage nfs(?:41)? add\b[^\n]{0,200}?\s(?:-s|--share)[ =](?P<x>/?[\w.+@$/-]+)"),
    ("datastore", ("nfs",), rf"\bstorage nfs(?:41)? add\b[^\n]{{0,200}}?\s(?:-v|--volume-name)[ =](?P<x>{_NAME})"),
    (
        "host",
        ("://",),
        rf"{_SCHEME}(?:[^\s:@/\"']{{1,60}}(?::[^\s/@]*)?@)?"
        rf"(?P<x>{_LABEL}(?:\.{_LABEL})*)(?=[:/;\s\"',)\]]|$)",
    ),
    ("user", ("://",), rf"{_SCHEME}(?P<x>{_NAME})(?::\*+)?@"),
    # behind the time of a line of syslog, which stands here as signs that are no text
    (
        "host",
        ("\x1f ",),
        r"^(?:<\d{1,3}>(?:1 )?)?\x1f{15,} "
        r"(?P<x>(?!(?i:info|warning|warn|error|verbose|trivia|debug|panic|notice|fatal|severe|trace|critical)\b)[A-Za-z][\w.-]*)"
        r" (?=[a-zA-Z][\w.-]*\[\d+\]:|NSXV? )",
    ),
    ("host", ("@",), r"\[[a-z][\w.-]*@(?P<x>[A-Za-z0-9][\w.-]*):"),
    ("host", ("rhost",), rf"\brhost=(?P<x>{_NAME})"),
    (
        "host",
        ("host", "server"),
        r"(?i)\b(?:host(?:[-_. ]?name)?|server) = [\"']?"
        r"(?P<x>(?=[\w.-]*[a-z])[A-Za-z0-9][\w.-]*\w)",
    ),
    ("host", ("host-",), rf"\bhost-\d+ \((?P<x>{_NUMBERED})\)"),
    (
        "hostlike",
        ("host", "server", "peer"),
        rf"(?i)\b(?:host(?:[-_]?name)?|server|peer) "
        rf"(?P<x>{_NUMBERED})(?![\w:(/])",
    ),
    ("host", ("server",), rf"\b[Ss]erver:? ?\((?P<x>{_NAME})\)"),
    ("host", (":/",), r"(?<![\w/.:@-])(?P<x>[A-Za-z][\w.-]*\w)(?=:/(?:vol|exports?|nfs|ifs|volume\d*|mnt|shares?)\b)"),
    ("export", ("path",), r"(?i)\bpath:? ?\((?P<x>/[\w.+@$-]+(?:/[\w.+@$-]+)*)\)"),
    ("host", ("cifs", "smb"), rf"\b(?:cifs|smb(?:client)?)\b[^\n]{{0,60}}? //(?P<x>{_NAME})/"),
    ("export", ("cifs", "smb"), rf"\b(?:cifs|smb(?:client)?)\b[^\n]{{0,60}}? //{_NAME}(?P<x>/[\w.$-]+)"),
    (
        "label",
        ("\\\\",),
        rf"(?<![\w\\])\\\\(?:\\\\)?(?!u[0-9a-f]{{4}}\\){_LABEL}"
        rf"(?:\.{_LABEL})*\\{{1,2}}(?P<x>[A-Za-z][\w-]*)\$",
    ),
    ("host", ("dns:",), rf"\bDNS:(?P<x>{_LABEL}(?:\.{_LABEL})*)"),
    ("hostlike", ("transport",), rf"(?i)\btransport ?node (?P<x>{_NUMBERED})(?![\w:/])"),
    ("host", ("(",), rf"\((?P<x>{_NUMBERED}), (?=\d{{1,3}}(?:\.\d{{1,3}}){{3}}\))"),
    ("export", ("://",), r"\b(?:sftp|scp|ftps?|nfs|smb|cifs)://[^\s/\"']{1,120}(?P<x>/[\w.+@$/-]+)"),
    # NSX: paths of the policy, and its objects
    ("label", ("display",), r"\bdisplay_?[nN]ame(?:\\?[\"'])? ?: ?\\?[\"'](?P<x>[^\"'\\\n]{1,100})(?=\\?[\"'])"),
    (
        "label",
        (" name=",),
        r"\b(?:[Rr]ule|[Ss]ection|[Pp]olicy|[Gg]roup|[Ss]egment|Edge)\b[\w:. -]{0,20} "
        r"name=[\"'](?P<x>[^\"'\n]{1,100})(?=[\"'])",
    ),
    (
        "label",
        ("zone", "logical", "cluster", "pool", "group"),
        r"(?i)\b(?:transport ?zone|logical ?(?:switch|router)|edge ?cluster|ip ?pool|security ?group) "
        r"(?P<q>[\"'])(?P<x>[^\"'\n]{1,100})(?P=q)",
    ),
    (
        "label",
        ("/infra", "/global-infra", "/orgs/"),
        r"/(?:tier-[01]s|segments|groups|security-policies|gateway-policies|locale-services|edge-clusters|edge-nodes|ip-pools"
        r"|lb-services|lb-pools|lb-virtual-servers|projects|vpcs|sites|ipsec-vpn-services|neighbors|sessions|transport-zones"
        r"|host-transport-nodes|ip-blocks)/(?P<x>[\w.-]*[A-Za-z][\w.-]*)",
    ),
    (
        "labellike",
        ("edge", "segment", "logical", "router", "tenant", "ls "),
        rf"(?i)\b(?:edge|segment|logical ?switch|logical ?router|tenant) (?P<x>{_NUMBERED})(?![\w:(/])",
    ),
    ("label", ("dr-", "sr-"), r"(?<![\w-])(?:DR|SR)-(?P<x>(?=[\w-]*[a-z])[A-Za-z][\w-]{2,})"),
    ("label", ("entid",), r"\bentId=\"(?P<x>[A-Za-z0-9][\w.$-]{3,}\w)\""),
    # addresses of the data browser: /folder/NAME/NAME.vmx?dcPath=NAME&dsName=NAME, in percent signs
    ("urllabel", ("dcpath=",), r"[?&;]dcPath=(?P<x>[^&;\s\"'<>]{1,200})"),
    ("urldatastore", ("dsname=",), r"[?&;]dsName=(?P<x>[^&;\s\"'<>]{1,200})"),
    ("urlfile", ("/folder/",), r"/folder/(?P<x>[^?\s\"'<>]{1,300})(?=\?[^\s]*dsName=)"),
    # rows of JSON whose quotes are escaped, or written as Python prints them
    ("vm", ("vm",), rf"(?i)[\"']vm_?name{_IN_JSON}(?P<x>[^\"'\\\n]{{1,100}})(?=\\?[\"'])"),
    ("datastore", ("datastore",), rf"(?i)[\"']datastore_?(?:name)?{_IN_JSON}(?P<x>[^\"'\\\n]{{1,100}})(?=\\?[\"'])"),
    ("user", ("user", "login"), rf"(?i)[\"'](?:user(?:_?name)?|login){_IN_JSON}(?P<x>[^\"'\n]{{1,100}}?)(?=\\?[\"'])"),
    ("host", ("host", "fqdn"), rf"(?i)[\"'](?:host_?name|fqdn){_IN_JSON}(?P<x>{_NAME})(?=\\?[\"'])"),
    ("label", ("addr", "ip"), rf"(?i)[\"']name{_IN_JSON}(?P<x>{_NAME})\\?[\"'], ?\\?[\"'](?:ip|addr)"),
    # what is typed in a shell: port groups, volumes, exports
    ("user", ("]: ",), rf"^\x1f{{15,}} \[(?P<x>{_NAME})\]: (?=\S)"),
    (
        "portgroup",
        ("portgroup",),
        r"\bportgroup\b[^\n]{0,200}?\s(?:-p|--portgroup-name|-n|--name)[ =](?P<q>[\"'])(?P<x>[^\"'\n]{1,100})(?P=q)",
    ),
    ("portgroup", ("portgroup",), rf"\bportgroup\b[^\n]{{0,200}}?\s(?:-p|--portgroup-name)[ =](?P<x>{_NAME})(?=\s|$)"),
    ("label", ("vmfs snapshot",), rf"\bvmfs snapshot [^\n]{{0,80}}?\s(?:-l|--volume-label)[ =][\"']?(?P<x>{_NAME})"),
    ("export", ("esxcfg-nas",), r"\besxcfg-nas\b[^\n]{0,200}?\s-s[ =](?P<x>/[\w.+@$/-]+)"),
    ("datastore", ("esxcfg-nas",), rf"\besxcfg-nas +-a\b[^\n]{{0,200}}?\s(?P<x>{_NAME})$"),
    (
        "portgroup",
        ("affected portgroup",),
        r"(?<=[:,] )(?P<x>[^\s\",:][^\",:\n]{0,80}?)(?=(?:, [^\",:\n]{1,80}){0,20}\. \d+ uplinks? )",
    ),
    ("user", ("failure for",), rf"(?i)\bauthentication failure for (?P<x>{_NAME}) from "),
    ("user", ("failed login",), rf"\bFAILED LOGIN \d+ FROM \S+ FOR (?P<x>{_NAME})"),
    ("vm", ("event ",), rf"{_EVENT}Renamed [^\n:]{{1,160}}? to (?P<x>[^\n:]{{1,80}}?) in {_NAME}"),
    ("vm", ("event ",), rf"{_EVENT}[^\n:]{{1,120}}? (?:is|was|being) cloned to (?P<x>[^\n:]{{1,80}}?) on "),
    ("file", ("/nfc/",), r"/nfc/[0-9a-fA-F-]{36}/(?P<x>[^?\s\"'<>/]{1,200}\.\w{3,5})\b"),
    (
        "hostlike",
        ("hostd", "vpxa", "fdm", "vobd", "vmkernel", "crond", "sshd", "httpproxy", "vmkwarning"),
        rf"^(?:<\d{{1,3}}>(?:1 )?)?(?:\x1f{{15,}} )?(?P<x>{_NUMBERED}) (?=(?:Hostd|Vpxa|Fdm|vobd|vmkernel"
        r"|vmkwarning|crond|sshd|[Rr]httpproxy)(?:\[\w+\])?: )",
    ),
    ("hostlike", (".",), rf"^(?P<x>{_NUMBERED})[ \t]+(?=\d{{1,3}}(?:\.\d{{1,3}}){{3}}[ \t])"),
    (
        "label",
        ("contact", "caller", "requester", "engineer", "customer"),
        r"(?i)\b(?:contact(?: person)?|caller|requester|engineer|customer)(?: is)?[:=]? ?(?P<q>[\"'])"
        r"(?P<x>[^\"'\n]{2,80})(?P=q)",
    ),
    # ids
    ("namedmac", ("mac",), r"(?i)\bmac(?:[-_ ]?addr(?:ess)?)?[\"']? ?[:= ] ?[\"']?(?P<x>[0-9a-f]{12})(?![0-9a-z])"),
    ("serial", ("wwpn", "wwnn"), r"(?i)\bwwp?n?n[\"']? ?[:= ] ?[\"']?(?P<x>\d{18,20})(?!\w)"),
    ("serial", ("s-1-5-21-",), r"(?<![\w-])(?P<x>S-1-5-21(?:-\d{4,10}){3})(?!\d)"),
    ("serial", ("ssh-", "ecdsa-"), r"\b(?:ssh-\w+|ecdsa-[\w-]+) (?P<x>AAAA[\w+/=]{20,})"),
    ("reversed", (".in-addr",), r"(?<![\w.])(?P<x>\d{1,3}(?:\.\d{1,3}){3})\.in-addr\.arpa"),
    ("email", ("@",), r"(?i)\b(?:to|from|rcpt|sender)[=:] ?<?(?P<x>[\w.+-]+@[\w.-]*\w)"),
    ("uuid", ("uuid",), r"(?i)uuid[\w.]*[\"'=:{ ]{1,4}(?P<x>[0-9a-f]{32})(?![0-9a-z])"),
    ("wwn", ("-",), r"(?i)(?<![\w-])(?P<x>[125][0-9a-f](?:-[0-9a-f]{2}){7})(?![\w-])"),
    ("wwn", ("0x",), r"(?i)(?<![0-9a-z])0x(?P<x>(?:5[0-9a-f]|[12]0)[0-9a-f]{14})(?![0-9a-z])"),
    (
        "serial",
        ("s/n", "sn"),
        r"(?<![\w.])(?:S/N|SN|sernum|sn)(?: ?[:=] ?| )[\"']?(?P<x>"
        r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{7,30})(?![\w.:])",
    ),
    ("serial", ("idrac-",), r"(?i)\bidrac-(?P<x>[0-9A-Z]{7})(?!\w)"),
    ("ticket", ("jira", "issue", "ticket"), r"\b(?i:jira|issue|ticket)[ :#=]{1,2}(?P<x>[A-Z][A-Z0-9]{1,9}-\d{2,7})\b"),
    (
        "splitdevice",
        ("naa", "eui", "nvme"),
        rf"(?i)(?<![0-9a-z])(?:(?:naa|eui|nvme)[._ ]?|"
        rf"(?=0x6))(?:0x)?(?P<x>{_HEX_SPLIT})(?![0-9a-z])",
    ),
    (
        "device",
        ("naa", "eui", "nvme"),
        r"(?i)(?<![0-9a-z])(?:naa|eui|nvme)[._]?"
        r"(?P<x>[0-9a-f]{16,32})(?![0-9a-z])",
    ),
    ("nqn", ("nqn.",), r"(?i)(?<!\w)(?P<x>nqn\.\d{4}-\d\d\.[\w.:-]+)"),
    ("mac", ("0050", "000c", "0:50"), r"(?i)(?<![0-9a-z-])(?:0x)?(?P<x>(?:005056|000c29)[0-9a-f]{6})(?![0-9a-z])"),
    (
        "splitmac",
        ("50 56",),
        r"(?i)(?<!\b[0-9a-f]{2} )(?<![0-9a-z])(?P<x>00 50 56"
        r"(?: [0-9a-f]{2}){3})(?![0-9a-z]| [0-9a-f]{2}(?: |$))",
    ),
)  # fmt: skip
