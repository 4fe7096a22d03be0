"""Tells names by their place in lines of ESXi, NSX and of what runs next to them: worlds, events, logins, files, URLs.

Or by the words before them, or by the key they are the value of, whatever the form: `vmName=…`,
`"hostName":{"value":"…"}`, `<ns1:clusterName>…</`, `{"key":"guestinfo.hostname","value":"…"}`.

These signs are asked only where names are taken for pseudonyms, not for drafts of rules. Each entry is (kind, words
one of which is in such a text, pattern); group x is the name. No pattern goes on behind the end of a line.
"""

from __future__ import annotations

from analyzer.redact.signs import VOLUME

Places = tuple[tuple[str, tuple[str, ...], str], ...]

_NAME = r"[A-Za-z0-9][\w.$-]*\w"
_NUMBERED = r"(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w.-]*\w"  # a word that holds a digit and a letter
_LABEL = r"[A-Za-z0-9][\w-]{0,62}"
_DISKS = r"(?:vmx|vmxf|vmdk|vswp|nvram|vmsd|vmsn|vmss)"
_SCHEME = r"\b(?:jdbc:)?[a-z][a-z0-9+.-]{1,15}://"
_EVENT = r"\bEvent \d+ : "
_MOVES = rf"{_EVENT}(?:Migrating|Relocating|Migration of|Hot migrating)"
_IN_JSON = r"\\?[\"'] ?: ?\\?[\"']"  # between a name and its value, quotes escaped or not
_ID = r"[0-9a-f]{8}-[0-9a-f]{4,8}-(?:[0-9a-f]{4}-){1,2}[0-9a-f]{12}"
_HEX_SPLIT = r"[0-9A-Fa-f]{8}(?:[ :_-](?:0x)?[0-9A-Fa-f]{8}){1,3}"

PLACES: Places = (
    # what looks like a pseudonym of ours: put back, it must not be taken for one
    ("pseudonym", ("anon",), r"(?i)(?P<x>(?:[a-z]{2,10}|[:-])\d{2,8}[a-z]{0,3}anon(?:\.example)?)"),
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
    (
        "user",
        ("\\",),
        r"(?<![\w\\.:-])(?P<x>(?!HK)[A-Z][A-Z0-9.-]{1,30}\\(?:\\|(?![nrtu]))[A-Za-z][\w.$-]*)"
        r"(?= |\"|'|$|[,;)\]])",
    ),
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
    # rows of lists: a volume before its id, a peer of ntpq, a transport node before its address and id
    ("datastore", ("-",), rf"(?:^|[ \t]{{2}})(?P<x>(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w.-]*)[ \t]{{2,}}(?={VOLUME}[ \t])"),
    ("host", (" u ", " l ", " s ", " b "),
     rf"^[ *+#ox.-]?(?P<x>{_NAME})[ \t]+[\w.-]+[ \t]+\d{{1,2}}[ \t]+[ulsb][ \t]+(?=[\d-])"),
    ("host", (".",), rf"^(?P<x>{_NUMBERED})[ \t]+(?=\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d+[ \t]+{_ID}|[ \t]+(?:true|false))\b)"),
    ("host", (" esxi ",), r"(?<=\] ESXi )(?P<x>(?=[\w.-]*\d)[A-Za-z][\w.-]*\w)$"),
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
    ("uuid", ("vvol:",), r"(?i)\bvvol:(?P<x>[0-9a-f]{16}-[0-9a-f]{16})(?![0-9a-z-])"),
    # the kind of a partition, or any other id whose groups are not apart
    ("uuid", (), r"(?i)(?<![0-9a-z])(?P<x>[0-9a-f]{32})(?![0-9a-z])"),
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


_LETTER = r"(?=[\w.-]*[A-Za-z])"
_IN_QUOTES = r"(?P<q>[\"'])(?P<x>[^\"'\n]{1,100})(?P=q)"
_QUAD = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

WORDED: Places = (
    # addresses in percent signs; data centers and clusters of vi://user@host/DC/host/CLUSTER
    ("urlhost", ("%2f%2f",), r"%3[aA]%2[fF]%2[fF](?P<x>[A-Za-z0-9][\w.-]*)"),
    ("urlhost", ("%2e",), r"(?<![\w%])(?P<x>[A-Za-z0-9][\w-]*(?:%2[eE][\w-]+){1,5})"),
    ("label", ("vi://",), r"\bvi://[^\s/\"']+/(?P<x>[^\s/\"']+)"),
    ("label", ("vi://",), r"\bvi://[^\s/\"']+/[^\s/\"']+/host/(?P<x>[^\s/\"']+)"),
    # user@host without a domain
    ("label", ("://",), r"(?i)\bldaps?://[^\s/]+/(?:ou|dc|cn|o|uid)=(?P<x>[^,?/\s\"']+)"),
    ("label", ("krbtgt/",), r"\bkrbtgt/(?P<x>[A-Za-z][\w.-]*)"),
    ("user", ("@",), r"(?<![\w.+/@\[-])(?P<x>[A-Za-z][\w.$-]*)@(?=[A-Za-z][\w-]*(?:[: ,;)\"'\]]|$))"),
    ("host", ("@",), r"(?<![\w.+/@-])[A-Za-z][\w.$-]*@(?!v\d+_)(?P<x>[A-Za-z][\w-]*)(?=[: ,;)\"'\]]|$)"),
    ("host", ("@16",), r"(?<![\w.-])(?P<x>[A-Za-z][\w.-]*)@(?=16[12]\b)"),
    # a thing and its name in quotes
    ("user", ("user ", "account "), rf"(?i)\b(?:user|account) {_IN_QUOTES}"),
    (
        "title",
        (),
        r"(?i)\b(?:rule|segment|collection|section|group|profile|tenant|edge|server|member|pool|node|description|manager"
        rf"|host ?name|policy|zone|service|job|(?:with|by) name|named|called) {_IN_QUOTES}",
    ),
    ("vm", ("power",), rf"(?i)\bpower(?:ed|ing)?[ -]?(?:on|off) {_IN_QUOTES}"),
    ("label", ("-name ",), rf"\b(?:host|domain)-name {_IN_QUOTES}"),
    ("label", ("syscontact", "syslocation", "sysname"), rf"(?i)\bsys(?:contact|location|name) {_IN_QUOTES}"),
    # a thing and its name, which holds a number
    (
        "thing",
        (),
        r"(?i)\b(?:ipset|securitygroup|(?:lb )?pool|member|(?:virtual )?server|manager|vcenter|vm"
        rf"|(?:dv)?portgroup|v?switch|dvs|on|host|proxy) (?=[A-Za-z])(?P<x>{_NUMBERED})(?![\w(/=]|:\S)",
    ),
    # a thing of NSX and its name, any word with a dash; what a switch's neighbour is called
    (
        "title",
        ("-",),
        r"(?i)\b(?:ipset|securitygroup|lb ?pool|transport[ -]node|edge[ -]node|tier-?[01]|cluster member|proxy"
        r"|segment)[ =:]{1,2}"
        r"(?P<x>(?=[\w.]+-)[A-Za-z0-9][\w.-]*\w)(?![\w(/=]|:\S)",
    ),
    (
        "host",
        ("neighbo", "system name", "device id"),
        r"(?i)(?<!bgp )\b(?:neighbou?r(?: is)?|system name|device id)[:=]? "
        rf"{_LETTER}(?P<x>{_NUMBERED}|(?=\w+-){_NAME})(?![\w:])",
    ),
    # what a volume, a device or a datastore is called in problems, and where a file system is mounted
    ("label", ("identifier [",), r"\bidentifier \[(?P<x>[^\]\n]{1,80})\](?= )"),
    (
        "datastore",
        ("affected datastore",),
        r"(?i)\baffected datastores?(?: \(if any\))?: ?\"{1,2}(?P<x>[^\"\n]{1,80})\"",
    ),
    ("label", ("open device '",), r"\bopen device '(?P<x>[^':/\n]{1,80}):\d{1,3}'"),
    ("label", ("mount point",), r"\bmount point (?P<x>[^,/\n]{1,80}), mounted as "),
    ("vm", ("swap file from",), rf"\bswap file from (?P<x>{_NAME})(?=\.? \()"),
    ("label", ("cluster ",), r"\bcluster (?P<x>[^\n,;:\"'=]{2,60}?)(?= in data ?center )"),
    ("label", ("in data",), r"\bin data ?center (?P<x>[A-Z][^\n,;:\"'=]{1,60})$"),
    (
        "host",
        ("added to cluster", "removed from cluster", "moved "),
        rf"\b[Hh]ost (?P<x>{_NAME}) (?:added to|removed from|moved (?:to|into)) cluster ",
    ),
    # a volume and the id behind it, what is mounted
    ("label", ("-",), rf"(?i)(?<![\w.-])(?P<x>{_LETTER}{_NAME}) \((?={_ID}\))"),
    ("label", ("share (",), rf"\bshare \([^()\n]{{1,200}}\) as (?P<x>{_NAME})"),
    ("host", ("nfs",), rf"(?i)\bnfs\w*: [^\n]{{0,160}}? (?P<x>{_LETTER}{_NAME}):(?=/\w)"),
    ("label", ("nfs",), rf"(?i)\bnfs\w*: [^\n]{{0,200}}? label:? (?P<x>{_NAME})"),
    ("vm", (".eth",), r"\bclient '?(?P<x>[^\n'\"]{1,80}?)\.eth\d{1,2}\b"),
    ("user", ("iqn.",), rf"\biqn\.\S+,? user (?P<x>{_NAME})"),
    ("label", ("addrset",), rf"\baddrset (?!r?(?:src|dst)\d+\b|(?:ip|mac)-[a-z]+-\d+\b){_LETTER}(?P<x>{_NAME})"),
    ("label", ("vim.",), r"\bvim\.(?:Datastore|Network):(?:HaNetwork-)?(?P<x>[A-Za-z][^'\"\n]{1,80}?)(?=')"),
    # events, logins, directories, keys
    ("host", ("event ",), rf"\bEvent \d+ : [^\n]{{1,200}}? on (?P<x>{_NAME}) in "),
    ("label", ("event ",), rf"\bEvent \d+ : [^\n]{{1,200}}? in cluster (?P<x>{_NAME})"),
    ("user", ("\\",), r"-- (?:\w+:)?(?P<x>[\w.-]+\\[\w.$-]+)(?= --)"),
    ("label", ("domain",), rf"\bjoin(?:ing|ed)? (?:the )?domain (?P<x>{_NAME})"),
    ("user", ("account",), rf"\bwith account (?P<x>{_NAME})"),
    ("host", ("not found",), rf"\b[Hh]ost name not found:? (?P<x>{_NAME})"),
    (
        "host",
        ("ssh-", "ecdsa-"),
        r"(?<![\w.-])(?P<x>[A-Za-z][\w.-]*)(?:,[\w.:,\[\]-]+)? (?=(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2)[\w-]* )",
    ),
    ("label", ("ssh-", "ecdsa-"), r"\b(?:ssh-\w+|ecdsa-[\w-]+) (?:AAAA)?[\w+/=*]{5,} (?P<x>[A-Za-z][\w.-]*)$"),
    ("host", ("@",), r"(?<![\w/.-])(?:host|HTTP|ldap|nfs|cifs|TERMSRV|MSSQLSvc)/(?P<x>[A-Za-z][\w.-]*)(?=@[A-Z])"),
    (
        "name",
        ("=",),
        r"(?<![\w=])(?P<x>(?:CN|OU|O|L|ST|DC|C) = [^,\"<>/;*\n]{1,80}"
        r"(?:, ?(?:CN|OU|O|L|ST|DC|C) = [^,\"<>/;*\n]{1,80})+)",
    ),
    ("dashed", ("-",), rf"(?i)\b(?:ip|host|server|node|srv|vm)-(?P<x>{_QUAD}(?:-{_QUAD}){{3}})(?![\w-])"),
    ("title", ("policy/",), r"\b(?:Security|Gateway)Policy/(?P<x>[A-Za-z][\w.-]*)"),
    ("policypath", ("infra/",), r"/(?:global-)?infra/(?P<x>[\w-]+(?:/[\w.%-]+)+)"),
)  # fmt: skip


# Keys of names, in any capitals; another word may stand before them (`guestHostName`, `compute_cluster_name`).
_KEYS = {
    "host": r"(?:[\w.-]{0,20}[_.-])?(?:\w{0,12}host[_.-]?name|host|fqdn|server[_-]?name|v?center(?:[_-]?server)?)",
    "user": (
        r"(?:[\w.-]{0,20}[_.-])?(?:user(?:[_-]?name)?|login|account(?:[_-]?name)?|principal|owner|samaccountname)"
    ),
    "label": (
        r"(?:\w{0,24}(?:vm|cluster|datastore|network|folder)[_-]?name|(?:[\w.-]{0,20}[_.-])?(?:(?:vm|virtual[_-]?machine|datastore|ds|volume|cluster|network|segment|switch|dvs"
        r"|port[_-]?group|folder|data[_-]?center|resource[_-]?pool|pool|tenant|zone|tz|edge|group|ip[_-]?set|rule|policy)s?"
        r"(?:[_-]?(?:name|label))?|(?:tenant|display|service|profile)[_-]?(?:name|id)|datacenter|dc))"
    ),
}
_ONE_OF = {  # one of them is in a text that has such a key
    "host": ("host", "fqdn", "server", "center"),
    "user": ("user", "login", "account", "principal", "owner"),
    "label": ("vm", "virtual", "datastore", "ds", "volume", "cluster", "network", "segment", "switch", "dvs", "group",
              "folder", "center", "pool", "tenant", "zone", "tz", "edge", "ipset", "rule", "policy", "display",
              "service", "profile", "dc"),
}  # fmt: skip
_QUOTED = r"[^\"'\\<>{}\[\]|\n]{1,100}"
_BARE = r"(?=[\w.$-]*[A-Za-z])[A-Za-z0-9][\w.$-]*\w"
_Q = r"\\{0,3}[\"']"


def _key_signs(kind: str, keys: str) -> Places:
    key, gate = _KEYS[keys], _ONE_OF[keys]
    return (
        # "vmName":"…", "hostName": {"value": "…"}, networkName = "…"
        (
            kind,
            gate,
            rf"(?i){_Q}{key}{_Q} ?[:=] ?(?:\{{ ?{_Q}(?:value|name){_Q} ?: ?)?{_Q}(?P<x>{_QUOTED})(?={_Q})",
        ),
        (kind, gate, rf"(?i)(?<![\w.-]){key} ?= ?\\?\"(?P<x>{_QUOTED})(?=\\?\")"),
        # {"key":"guestinfo.hostname","value":"…"}, <Property oe:key="hostname" oe:value="…"/>; a .vmx writes |22 for "
        (
            kind,
            ("value",),
            rf"(?i)(?:key|name|id)(?:{_Q} ?: ?{_Q}|=(?:[\"']|\|22)){key}(?:{_Q}|\|22)[, ][^<>{{}}\n]{{0,60}}?"
            rf"value(?:{_Q} ?: ?{_Q}|=(?:[\"']|\|22))(?P<x>{_QUOTED})",
        ),
        (
            kind,
            ("value",),
            rf"(?i)<(?:\w+:)?(?:key|name)>{key}</[^<>\n]{{1,40}}> ?"
            r"<(?:\w+:)?value(?: [^<>\n]{0,80})?>(?P<x>[^<>\n]{1,100})",
        ),
        # <hostName>…</hostName>, <property name="HostName">…</property>
        (kind, ("</",), rf"(?i)<(?:\w+:)?{key}(?: [^<>\n]{{0,80}})?>(?P<x>[^<>\n]{{1,100}})(?=</)"),
        (
            kind,
            ("</",),
            rf"(?i)<\w+ [^<>\n]{{0,40}}name=[\"']{key}[\"'][^<>\n]{{0,40}}>(?P<x>[^<>\n]{{1,100}})(?=</)",
        ),
        # ?vmName=…&filter.names=…
        (
            f"url{kind}",
            ("?", "&"),
            rf"(?i)[?&;]{key}=(?P<x>[^&;\s\"'<>=]{{2,200}})(?=[&;\s\"'<>]|$)",
        ),
    )


KEYED: Places = (
    *_key_signs("host", "host"),
    *_key_signs("user", "user"),
    *_key_signs("title", "label"),
    ("urluser", ("uid=",), r"[?&;]uid=(?P<x>[^&;\s\"'<>]{2,100})"),
    ("urllabel", ("names=",), r"[?&;](?:filter\.)?names(?:\.\d+)?=(?P<x>[^&;\s\"'<>]{2,200})"),
    # "vm":{"moid":"vm-3","name":"…"}, <vm name="…">, <obj …><name>…</name>
    (
        "label",
        ("name",),
        rf"(?i){_Q}(?:vm|host|cluster|datastore|network|folder|group|segment|edge){_Q} ?: ?\{{[^{{}}\n]{{0,200}}?"
        rf"{_Q}name{_Q} ?: ?{_Q}(?P<x>{_QUOTED})(?={_Q})",
    ),
    (
        "label",
        ("name=",),
        r"(?i)<(?:\w+:)?(?:vm|virtualmachine|host|cluster|datastore|network|portgroup|ipset|securitygroup|edge|group|tenant)"
        r" (?:[^<>\n]{0,80} )?name=[\"'](?P<x>[^\"'\n]{1,100})",
    ),
    ("title", ("name>",), r"<(?:\w+:)?name>(?P<x>[^<>\n]{1,100})(?=</)"),
    ("title", ("description>",), r"<(?:\w+:)?description>(?P<x>[^<>\n]{1,100})(?=</)"),
    # objects of Java and of hostd: LogicalSwitch{displayName=…, tz=…}, [name=…, hostName=…], (vim.fault…) { name = "…"
    (
        "label",
        ("name=", "tz="),
        rf"(?<=[\[{{(, ])(?:name|displayName|hostName|tz|vmName|[a-z]+Name)=(?P<x>{_BARE})(?=[,\]}})])",
    ),
    ("title", ("name = ",), r"\bname = \"(?P<x>[^\"\n]{1,100})\"(?=,| ?\})"),
    ("title", ("display_name=",), r"\bdisplay_name=[\"'](?P<x>[^\"'\n]{1,100})"),
    # what NSX puts on machines: tags with their scope, criteria of a group
    ("label", ("tag", "scope"), rf"{_Q}(?:tag|scope){_Q} ?: ?{_Q}(?P<x>{_QUOTED})(?={_Q})"),
    (
        "tag",
        ("operator",),
        rf"{_Q}operator{_Q} ?: ?{_Q}\w+{_Q}, ?{_Q}value{_Q} ?: ?{_Q}(?P<x>[^\"'\\\n]{{1,100}})(?={_Q})",
    ),
    # without quotes up to the next sign between values: newName=…, resourcePool=RP Gold; folder=…
    (
        "title",
        ("name=", "pool=", "folder=", "group=", "node=", "segment=", "cluster=", "center="),
        r"(?i)(?<![\w.-])(?:(?:new|display|old|dest)_?name|resource_?pool|folder|security_?group|group|(?:edge|transport)[-_]?node"
        r"|segment|cluster|data_?center)=(?!vim\.|group-)(?P<x>[A-Za-z0-9][^\n;,=\"'<>{}()\[\]|&/\\]{1,60}?)"
        r"(?=[;,\])}]|$| [\w.-]{1,24}=)",
    ),
    # what somebody wrote on it
    (
        "title",
        ("annotation", "notes", "comment"),
        r"(?i)\b(?:annotation|notes?|comment)[\"']? ?[=:] ?\"(?P<x>[^\"\n]{1,200})\"",
    ),
    # RecordOp ASSIGN: guest.hostName, 5. value=…
    (
        "host",
        ("value",),
        r"(?i)\b\w*host_?name\b[^\n=]{1,24}[ .]value ?= ?\"?(?P<x>[A-Za-z0-9][\w.-]*\w)",
    ),
    # short keys without a blank: vmname:…, ds=…, pg=…
    (
        "label",
        ("vmname", "host", "datastore", "portgroup", "ds=", "pg=", "network", "cluster"),
        rf"(?i)(?<![\w.-])(?:vm_?name|host[._]name|datastore(?:_?name)?|port_?group(?:_?name)?|ds|pg|network_?name|cluster_?name)"
        rf"[:=](?!vim\.){_BARE.replace('(?=', '(?P<x>(?=', 1)})(?![\w:/])",
    ),
)  # fmt: skip
