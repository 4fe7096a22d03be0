"""The other logs of an ESXi host: what vmsyslogd writes for any program, one declaration a log.

Source: `var/run/log/NAME.log` of a vm-support bundle with its rotated copies, names of 6.0 to 8.0. In the file a line
is read whatever its tag. docs/formats.md says which tags no real line has confirmed. A new log is one more line here
and two samples.
"""

from analyzer.forms.host_logs import host_log, other_log

_OF_SYSLOG = (
    r"jumpstart|sfcb[\w-]*|cimslp|crond|watchdog-[\w-]+|backup\.sh(?:\.\d+)?|smartd|ntpd|chronyd|snmpd|root|init|addVob"
    r"|iscsid|localcli|esxcfg-[\w-]+|openwsmand|lwsmd|netlogond|lsassd|DCUI|dcui|tmpwatch(?:\.py)?|heartbeat\.py"
)

PARSERS = (
    host_log("apiForwarder", "Lines of the API forwarder", "apiForwarder"),
    host_log("attestd", "Attestation of the host with its TPM", "attestd"),
    host_log("auth", "Logins over SSH and at the console", "sshd|login|dcui-login|su", shared=True),
    host_log("cimdiag", "Diagnosis of the CIM providers", "cimdiagd?"),
    host_log("clomd", "Placement, repair and rebalance of vSAN objects", "clomd"),
    host_log("clusterAgent", "The cluster agent of the host", "clusterAgent"),
    host_log("cmmdsd", "The daemon of the vSAN cluster directory", "cmmdsd"),
    host_log("configRP", "Lines of configRP", "configRP"),
    host_log("ddecomd", "Decommissioning of vSAN disks", "ddecomd"),
    host_log("dhclient", "DHCP client of the VMkernel adapters", "dhclient(?:-uw|6)?", shared=True),
    host_log("envoy", "The reverse proxy from 8.0 on: its own messages", "envoy"),
    host_log("envoy-access", "The reverse proxy from 8.0 on: each request", "envoy-access"),
    host_log("epd", "Lines of epd", "epd"),
    host_log("esxgdpd", "The daemon of the guest data publisher", "esxgdpd"),
    host_log("esxtokend", "The token daemon of the host", "esxtokend"),
    host_log("esxupdate", "Installation of software on the host", "esxupdate"),
    host_log("hbragent", "The agent of vSphere Replication", "hbragent"),
    host_log("hbrca", "The configuration agent of vSphere Replication", "hbrca"),
    host_log("hostd-probe", "Whether hostd still answers", "[Hh]ostd-probe"),
    host_log("iofiltervpd", "The provider of I/O filters", r"iofiltervpd|iofilterd(?:-\w+)?"),
    host_log("jumpstart-stdout", "What the start plugins of the host print", "jumpstart-stdout"),
    host_log("kmxa", "Keys of encrypted virtual machines and disks", "kmxa"),
    host_log("lacp", "Link aggregation with the physical switch", "lacp|LACP"),
    host_log("lifecycle", "Installation of images by vSphere Lifecycle Manager", "lifecycle"),
    host_log("loadESX", "Quick boot of the host", "loadESX"),
    host_log("nfcd", "Copies of files to and from the host (NFC)", "nfcd"),
    host_log("nsxdavim", "Lines of nsxdavim of NSX", "nsxdavim"),
    host_log("osfsd", "The daemon of the object store file system (vSAN, vVols)", "osfsd"),
    host_log("rabbitmqproxy", "The message bus proxy of NSX", "rabbitmqproxy"),
    host_log("rhttpproxy", "The reverse proxy of the host up to 7.x", "[Rr]httpproxy"),
    host_log("sandboxd", "The daemon of sandboxes", "sandboxd"),
    host_log("sdrsinjector", "Latency measurements of Storage DRS", "sdrs[iI]njector"),
    host_log("settingsd", "Settings that are applied to the host", "settingsd"),
    host_log("storagerm", "Storage I/O Control", "storage(?:RM|rm)"),
    host_log("swapobjd", "Swap objects of virtual machines", "swapobjd"),
    host_log(
        "syslog",
        "Boot, watchdogs, jobs, CIM and all that has no log of its own",
        _OF_SYSLOG,
        shared=True,
    ),
    host_log("upitd", "Lines of upitd", "upitd"),
    host_log("usb", "USB devices of virtual machines", "usb(?:arb|arbitrator)?", shared=True),
    host_log("vdfsd-proxy", "The proxy of vSAN File Services", "vdfsd-proxy"),
    host_log("vitd", "The iSCSI target of vSAN", "vitd"),
    host_log("vmauthd", "Authentication for consoles of virtual machines", "vmauthd"),
    host_log("vmkdevmgr", "Discovery of devices and load of their drivers", "vmkdevmgr"),
    host_log("vmkeventd", "Events that the VMkernel gives to user programs", "vmkeventd"),
    host_log(
        "vmksummary",
        "Boots, shutdowns and heartbeats of the host",
        "bootstop|heartbeat|mark|vmksummary",
    ),
    host_log("vsananalyticsevents", "Events of vSAN analytics", "vsananalyticsevents"),
    host_log("vsandevicemonitord", "Wear and failure of vSAN devices", "vsandevicemonitord"),
    host_log(
        "vsanmgmt", "The management service of vSAN", "VSANMGMTSVC|vsand|vsanperfsvc|vsanmgmtd?"
    ),
    host_log("vsansystem", "Configuration of vSAN on the host", "vsan[sS]ystem"),
    host_log("vsantraces", "Traces of vSAN as text", "vsantraced?"),
    host_log("vvold", "The daemon of virtual volumes", "vvold"),
    host_log("Xorg", "The display server of 3D graphics", "Xorg", shared=True),
    other_log("other_log"),
)
