"""Texts of host events for sweeps over the whole table of events: a form with a place for the object, by family of ids.

All texts are made up, in the wording of the captures that parsers/esxi/logs/esx_event.py and the samples name; where no capture
of an event is at hand, the form of its family stands for it.
"""

from __future__ import annotations

from typing import NamedTuple


class EventForm(NamedTuple):
    """How the events of a family read.

    ids     how their ids begin, behind `esx.problem.`
    text    with {} where the object stands; end: the text of the event that ends the problem
    things  two objects; named: what of them the subject must show, where it is not the whole
    """

    ids: tuple[str, ...]
    text: str
    end: str
    things: tuple[str, str]
    named: tuple[str, str] = ("", "")


_APD = "Device or filesystem with identifier [{}] has entered the All Paths Down state."
_OUT = "Device or filesystem with identifier [{}] has exited the All Paths Down state."
_NAA = ("naa.60002ac00000000000001abc0001d2e3", "naa.60002ac00000000000001abc0001d2e4")
_VOLUMES = ("5b0c1c39-7a1b2c3d-0f11-002590aa1000", "5b0c1c39-7a1b2c3d-0f11-002590aa1001")
_DISKS = ("52e4a1b0-1111-2222-3333-444455556666", "52e4a1b0-1111-2222-3333-444455556667")
_PATHS = ("vmhba2:C0:T1:L5", "vmhba2:C0:T1:L6")

FORMS = (
    EventForm(("storage.apd.", "bootdevice.apd."), _APD, _OUT, _NAA),
    EventForm(("storage.apd.",), _APD, _OUT, ("11112222-33334444", "aaaabbbb-ccccdddd")),
    EventForm(("storage.apd.",), _APD, _OUT, ("mpx.vmhba32:C0:T0:L0", "mpx.vmhba33:C0:T0:L0")),
    EventForm(
        ("application.core.", "hostd.core.", "vpxa.core."),
        "{} crashed (1 time(s) so far) and a core file might have been created at /var/core/made-up-zdump.000.",
        "",
        ("/bin/sdrsInjector", "/usr/lib/vmware/rhttpproxy/bin/rhttpproxy"),
        ("sdrsInjector", "rhttpproxy"),
    ),
    EventForm(
        ("application.core.",),
        "/bin/vmx crashed (1 time(s) so far) and a core file might have been created at /vmfs/volumes/5b0c1c39-7a1b2c3d-0f11-002590aa1000/{}/vmx-zdump.000.",
        "",
        ("web 01", "web 02"),
    ),
    EventForm(
        ("storage.iscsi.target.",),
        "Login to iSCSI target {} on vmhba64 @ vmk1 failed. Target returned login error of: 0201.",
        "",
        ("iqn.2001-05.com.example:t1", "iqn.2001-05.com.example:t2"),
    ),
    EventForm(
        ("storage.iscsi.target.permanently",),
        "The iSCSI target {} was permanently removed from vmhba64.",
        "",
        ("eui.0123456789abcde1", "eui.0123456789abcde2"),
    ),
    EventForm(
        ("storage.iscsi.discovery.", "storage.iscsi.isns."),
        "iSCSI discovery to {} on vmhba64 failed. The discovery address returned an error.",
        "",
        ("192.0.2.10", "192.0.2.11"),
    ),
    EventForm(
        ("vmfs.nfs.server.",),
        "filer1.example.com /vol/ds {} ds",
        "filer1.example.com /vol/ds {} ds",
        ("a1b2c3d4-e5f60718-0000-000000000000", "a1b2c3d4-e5f60719-0000-000000000000"),
    ),
    EventForm(("vmfs.nfs.server.",), "192.0.2.7 {}", "192.0.2.7 {}", ("/vol/x", "/vol/y")),
    EventForm(
        ("vmfs.nfs.mount.",), "NFS mount failed to {}", "", ("filer9.example.com:/vol/x", "filer9.example.com:/vol/y")
    ),
    EventForm(
        ("vmfs.nfs.mount.",), "NFS mount {} failed: Unable to connect to NFS server.", "", ("192.0.2.7:/x", "192.0.2.7:/y")
    ),
    EventForm(
        ("vmfs.nfs.volume.",),
        "NFS volume {} performance has deteriorated. I/O latency increased from average value of 2000 microseconds to 50000 microseconds.",
        "NFS volume {} performance has improved. I/O latency reduced from 50000 microseconds to 2000 microseconds.",
        ("ds5", "ds6"),
    ),
    EventForm(("vmfs.nfs.vmknic.",), "VMkernel interface {} of an NFS mount was removed.", "", ("vmk1", "vmk2")),
    EventForm(("vmfs.extent.",), "{} ds", "{} ds", _NAA),
    EventForm(("vmfs.",), "{} label", "{} label", _VOLUMES),
    EventForm(("vfat.",), "The VFAT filesystem '{}' is full.", "", ("5b0c1c39-7a1b2c3d", "5b0c1c39-7a1b2c3e")),
    EventForm(
        ("net.connectivity.", "net.redundancy."),
        'Lost network connectivity on virtual switch "{}". Physical NIC vmnic2 is down. Affected port groups: "lab".',
        'Network connectivity restored on virtual switch "{}", port groups: "lab". Physical NIC vmnic2 is up.',
        ("lab a", "lab b"),
    ),
    EventForm(
        ("net.connectivity.", "net.redundancy."),
        'Lost network connectivity on virtual switch "{}". Physical NIC vmnic2 is down. Affected port groups: "lab".',
        'Network connectivity restored on virtual switch "{}", port groups: "lab". Physical NIC vmnic3 is up.',
        ("vSwitch1", "vSwitch2"),
    ),
    EventForm(
        ("net.dvport.",),
        'Lost uplink redundancy on DVPorts: "12/50 1a 2b". Physical NIC {} is down.',
        'Uplink redundancy restored on DVPorts: "12/50 1a 2b". Physical NIC {} is up.',
        ("vmnic2", "vmnic3"),
    ),
    EventForm(
        ("net.lacp.lag.",),
        "LACP warning: LAG {} on VDS DvsPortset-0 is down.",
        "LACP info: LAG {} on VDS DvsPortset-0 is up.",
        ("lag1", "lag2"),
    ),
    EventForm(
        ("net.lacp.lag.",),
        "LACP warning: LAG lag1 on VDS {} is down.",
        "LACP info: LAG lag1 on VDS {} is up.",
        ("DvsPortset-0", "DvsPortset-1"),
    ),
    EventForm(
        ("net.lacp.", "net.vmnic.", "net.uplink.", "net.teaming.", "net.rspan."),
        "LACP warning: uplink {} on VDS DvsPortset-0 is moved out of link aggregation group.",
        "LACP info: uplink {} on VDS DvsPortset-0 is moved into link aggregation group.",
        ("vmnic3", "vmnic4"),
    ),
    EventForm(
        ("net.vmnic.",), "Physical NIC {} linkstate is down.", "Physical NIC {} linkstate is up.", ("vmnic3", "vusb0")
    ),
    EventForm(
        ("net.vmknic.", "net.migrate.", "dhclient."),
        "A duplicate IP address was detected for 192.0.2.1 on interface {}. The current owner is 00:50:56:00:00:01.",
        "",
        ("vmk1", "vmk2"),
    ),
    EventForm(("vsan.net.", "vsan.no.", "vsan.vmknic."), "vmknic {} that vSAN uses has no address.", "vmknic {} has an address.", ("vmk1", "vmk2")),
    EventForm(("net.portset.", "net.fence."), "Portset {} has no free port.", "", ("DvsPortset-0", "DvsPortset-1")),
    EventForm(("net.firewall.port.",), "Adding port {} to Firewall failed.", "", ("33554464", "33554465")),
    EventForm(
        ("net.proxyswitch.",),
        "Virtual NIC with hardware address {} failed to connect to distributed virtual port 12 on switch DvsPortset-0.",
        "",
        ("00:50:56:00:00:01", "00:50:56:00:00:02"),
    ),
    EventForm(
        ("net.e1000.", "sched.latency.", "vscsi.shared.vmdk.virtual."),
        "The setting was not applied to virtual machine {}. It has no effect.",
        "",
        ("web01", "web02"),
    ),
    EventForm(
        ("scsi.device.", "psastor.device.", "storage.connectivity.", "storage.redundancy."),
        "Lost connectivity to storage device {}. Path vmhba2:C0:T1:L5 is down.",
        "Connectivity to storage device {} restored. Path vmhba2:C0:T1:L5 is up.",
        _NAA,
    ),
    EventForm(
        ("storage.connectivity.pathpor", "scsi.scsipath.badpath"),
        "Frequent power-on reset unit attentions on path {}. This might indicate a storage problem.",
        "",
        _PATHS,
    ),
    EventForm(
        ("visorfs.ramdisk.",), "The ramdisk '{}' is full.  As a result, the file /a/x could not be written.", "", ("tmp", "vartmp")
    ),
    EventForm(
        ("vmsyslogd.remote.",),
        'The host "{}" has become unreachable.  Remote logging to this host has stopped.',
        "",
        ("log1.example.com:514", "log2.example.com:514"),
    ),
    EventForm(
        ("vm.kill.", "pageretire.mce.", "inventory."),
        "The virtual machine using the configuration file /vmfs/volumes/5b0c1c39-7a1b2c3d-0f11-002590aa1000/{0}/{0}.vmx was stopped.",
        "",
        ("web 01", "web 02"),
    ),
    EventForm(
        ("vob.vsan.lsom.", "vob.vsan.pdl.", "vob.vsan.dom.single", "vsan.health.", "vsan.lsom."),
        "vSAN device {} is under permanent failure.",
        "vSAN device {} has come online.",
        _DISKS,
    ),
    EventForm(
        ("hardware.fpin.",),
        "FPIN FC congestion: Host WWPN 10:00:00:00:00:00:00:01, target WWPN {}.",
        "FPIN FC congestion clear: Host WWPN 10:00:00:00:00:00:00:01, target WWPN {}.",
        ("50:00:00:00:00:00:00:01", "50:00:00:00:00:00:00:02"),
    ),
    EventForm(("apei.bert.pcie.", "module."), "A PCIe error of device {} was reported.", "", ("0000:3b:00.0", "0000:3b:00.1")),
    EventForm(
        ("hardware.nvd.", "esx.audit.hardware.nvd."),
        "NVDIMM ({}, idString 8089-a2-1748-00000001): the module reports a fault.",
        "NVDIMM ({}, idString 8089-a2-1748-00000001): the module is well.",
        ("handle 0x10", "handle 0x20"),
    ),
    EventForm(
        ("esx.audit.account.",), "Multiple remote login failures detected for ESXi local user account '{}'.", "", ("root", "backup")
    ),
    EventForm(("iofilter.",), "I/O Filter {} has been disabled.", "", ("vmwarevmcrypt", "spm")),
    EventForm(("driver.",), "Driver {} is abnormal.", "", ("nmlx5_core", "i40en")),
    EventForm(
        ("vvol.container.",),
        "VVol container {} has gone offline.",
        "VVol container {} has come online.",
        ("vvol:0a1b2c3d4e5f6071-0a1b2c3d4e5f6071", "vvol:0a1b2c3d4e5f6071-0a1b2c3d4e5f6072"),
    ),
    EventForm(
        ("iorm.",), "An external I/O activity is detected on datastore {}, this is an unsupported configuration.", "", ("ds1", "ds2")
    ),
)  # fmt: skip

# the whole host is what such an event is about: its clock, its memory, its boot, its settings
HOST_WIDE = (
    "apei.bert.memory.", "boot.", "clock.", "coredump.", "cpu.", "cs.", "entropy.", "esximage.", "evc.", "hardware.acpi.",
    "hardware.ioapic.", "hardware.ipmi.", "hardware.tpm2.", "host.", "hyperthreading.", "migrate.", "net.firewall.config.",
    "net.gateway.", "net.heap.", "ntpd.", "osdata.", "pageretire.", "psastor.apd.", "psastor.device.limit", "psastor.psastorpath.", "psastor.unsupported.", "scratch.",
    "scsi.apd.", "scsi.device.limit", "scsi.scsipath.limit", "scsi.unsupported.", "slp.", "swap.", "unsupported.", "visorfs.configstore.", "visorfs.inodetable.",
    "vmsyslogd.storage.", "vmsyslogd.unexpected", "vob.vsan.dom.", "vob.vsan.zdom.", "vsan.clustering.", "vsan.dom.",
    "vscsi.", "wbem.", "3rdParty.", "dpu.", "esx.audit.", "metadatastore.", "resourcegroup.", "sched.qos.", "sgx.", "syslog.",
)  # fmt: skip

# what stands for an event of which no family is known: a name in quotes
_ANY = EventForm(
    ("",),
    'Something is wrong with the part "{}".',
    'The part "{}" works again.',
    ("first", "second"),
)


def forms_of(event_id: str) -> list[EventForm]:
    """Return the forms of an event, those of the nearest family; none for one about the whole host."""
    rest = event_id.removeprefix("esx.problem.")
    begins = {start for form in FORMS for start in form.ids if rest.startswith(start)}
    wide = {start for start in HOST_WIDE if rest.startswith(start)}
    nearest = max((len(start), start) for start in begins | wide)[1] if begins | wide else ""
    if nearest in wide:
        return []
    return [form for form in FORMS if nearest in form.ids] if nearest else [_ANY]


def names_of(form: EventForm) -> tuple[str, str]:
    """Return what the subject of each of the two events must show."""
    return (form.named[0] or form.things[0], form.named[1] or form.things[1])
