"""What the hosts and the Edge of the synthetic NSX for vSphere site give; formats as in `nsx_site`."""

from __future__ import annotations

from datetime import timedelta

from tools.case_pack import Files
from tools.nsx_site_plan import CONTROLLERS, HOSTS, MANAGER, NOW, RELEASES, Site


def host_files(site: Site, number: int) -> Files:
    """Return the files of a host's support bundle, below its top folder."""
    name = f"esx{number}.lab.example"
    here = site.clock(name, NOW)
    return {
        "README": (
            f"Command line: /sbin/vm-support\nBundle name: esx-{name}-2017-10-02--09.00-{71200 + number}\n"
            f"Captured on: {here:%Y-%m-%d %H:%M:%S}.000000\nvm-support version: v3.3\nOptions: {{}}\n\n(synthetic)\n"
        ),
        "error.log": "",
        "etc/vmware/esx.conf": f'/adv/Misc/HostName = "{name}"\n',
        "commands/uname_-a.txt": (
            f"VMkernel {name} 6.5.0 #1 SMP Release build-5969303 Jul  6 2017 21:15:55 x86_64 x86_64 x86_64 ESXi\n"
        ),
        "commands/localcli_software-vib-list.txt": (
            "Name        Version                        Vendor  Acceptance Level  Install Date\n"
            "----------  -----------------------------  ------  ----------------  ------------\n"
            "esx-base    6.5.0-0.23.5969303             VMware  VMwareCertified   2017-08-01\n"
            f"esx-nsxv    {RELEASES[site.release][1]:<29s}  VMware  VMwareCertified   2017-08-12\n"
        ),
        "commands/localcli_network-ip-connection-list.txt": _sockets(site, number),
        "commands/dump-vxlan-info.py.txt": _vxlan(site, number),
        "commands/dump-vdr-info.sh.txt": _routers(site, number),
        "var/run/log/vmkernel.log": "".join(
            f"{here - timedelta(minutes=minute):%Y-%m-%dT%H:%M:%S}.123Z cpu3:65912)(synthetic) nothing of note\n"
            for minute in range(110, 0, -10)
        ),
        "var/run/log/dfwpktlogs.log": _packets(site, number),
    }


def _reached(site: Site, host: int) -> list[int]:
    return [] if host in site.cut else site.up()


def _sockets(site: Site, host: int) -> str:
    rows = [("5671", MANAGER, "ESTABLISHED", "vsfwd")]
    rows += [("1234", CONTROLLERS[n], "ESTABLISHED", "netcpa-worker") for n in _reached(site, host)]
    rows += [
        ("1234", CONTROLLERS[n], "SYN_SENT", "netcpa-worker")
        for n in CONTROLLERS
        if n not in _reached(site, host)
    ]
    head = (
        "Proto  Recv Q  Send Q  Local Address                   Foreign Address       State        World ID  CC Algo  World Name\n"
        "-----  ------  ------  ------------------------------  --------------------  -----------  --------  -------  ---------------\n"
    )
    return head + "".join(
        f"tcp         0       0  {HOSTS[host] + ':' + str(43000 + at):<30s}  {ip + ':' + port:<20s}  {state:<11s}     44923  "
        f"newreno  {world}\n"
        for at, (port, ip, state, world) in enumerate(rows)
    )


def _vxlan(site: Site, host: int) -> str:
    up = _reached(site, host)
    text = (
        "VXLAN Global States:\n"
        f"\tControl plane Out-Of-Sync:\t{'No' if up else 'Yes'}\n\tUDP port:\t8472\nVXLAN VDS:\tLab_DVS\n"
        "\tVDS ID:\t1c ec 0e 50 02 9c a9 21-b6 d8 d0 fc 73 e5 79 01\n\tMTU:\t1600\n\tSegment ID:\t198.51.100.0\n"
        "\tGateway IP:\t198.51.100.1\n\tGateway MAC:\t00:50:56:0a:48:7d\n\tVmknic count:\t1\n\t\tVXLAN vmknic:\tvmk3\n"
        f"\t\t\tVDS port ID:\t905\n\t\t\tSwitch port ID:\t50331656\n\t\t\tEndpoint ID:\t0\n\t\t\tVLAN ID:\t120\n"
        f"\t\t\tIP:\t\t198.51.100.{host}\n\t\t\tNetmask:\t255.255.255.0\n\t\t\tSegment ID:\t198.51.100.0\n"
        "\tNetwork count:\t3\n"
    )
    for vni, controller in zip((5001, 5002, 5003), (1, 2, 3), strict=True):
        serving = controller if controller in up or not up else up[0]
        state = "up" if up else "down"
        text += (
            f"\t\tVXLAN network:\t{vni}\n\t\t\tMulticast IP:\tN/A (headend replication)\n"
            "\t\t\tControl plane:\tEnabled (multicast proxy,ARP proxy)\n"
            f"\t\t\tController:\t{CONTROLLERS[serving]} ({state})\n\t\t\tMAC entry count:\t1\n"
            "\t\t\tARP entry count:\t0\n\t\t\tPort count:\t1\n"
        )
    return text


def _routers(site: Site, host: int) -> str:
    active = "Yes" if _reached(site, host) else "No"
    serving = CONTROLLERS[min(_reached(site, host), default=1)]
    rows = "".join(
        f"{f'10.{n // 62500}.{n // 250 % 250}.{n % 250 + 1}':<18s}00:50:56:{n >> 16:02x}:{n >> 8 & 255:02x}:{n & 255:02x}"
        f"    V          311        50331658   570d45550000000c 2\n"
        for n in range(site.arp)
    )
    table = (
        "VDR default+edge-2:1460487509 ARP Information :\n"
        "Legend: [S: Static], [V: Valid], [P: Proxy], [I: Interface]\n"
        "Legend: [N: Nascent], [L: Local], [D: Deleted]\n\n"
        "Network           Mac                  Flags      Expiry     SrcPort    Interface Refcnt\n"
        f"-------           ---                  -----      -------    ---------  --------- ------\n{rows}"
    )
    return (
        "VDR Instance Information :\n---------------------------\n\n"
        "Vdr Name:                   default+edge-2\nVdr Id:                     1460487509\n"
        "Number of Lifs:             3\nNumber of Routes:           5\nState:                      Enabled\n"
        f"Controller IP:              {serving}\nControl Plane IP:           {HOSTS[host]}\n"
        f"Control Plane Active:       {active}\nNum unique nexthops:        1\nGeneration Number:          0\n"
        f"Edge Active:                No\n\n{table * site.arp_printed}"
    )


def _packets(site: Site, host: int) -> str:
    """Return the packets that the firewall of a host logged: a VM of the first host opens connections to the second."""
    direction = "OUT" if host == min(HOSTS) else "IN"
    text = ""
    for number in range(20):
        sent = NOW - timedelta(minutes=100 - 4 * number)
        when = site.clock(f"esx{host}.lab.example", sent)
        text += (
            f"{when:%Y-%m-%dT%H:%M:%S}.{200 + 7 * number + (host == max(HOSTS)) * (1 + number * 5 % 13):03d}Z 58734 INET match PASS "
            f"domain-c8/1006 {direction} 60 TCP 203.0.113.11/{36000 + number}->203.0.113.12/22 S\n"
        )
    return text


def edge_cli(unit: int) -> str:
    """Return what was typed on a unit of the Edge: 0 is active, 1 stands by."""
    text = (
        "edge-1-0> show service highavailability\n"
        "Highavailability Status:             running\nHighavailability Unit Name:          edge-1-0\n"
        "Highavailability Unit State:         active\nHighavailability Interface"
        "(s):       vNic_0 \n"
        "Unit Poll Policy:\n   Frequency:                      3     seconds\n"
        "   Deadtime:                       15    seconds\n   Stateful Sync-up Time:          10    seconds\n"
        "Highavailability Healthcheck Status:\n   Peer host [edge-1-1]: good\n   This host [edge-1-0]: good\n"
        "Highavailability Stateful Logical Status:\n   File-Sync                       running\n"
        "   Connection-Sync                 running\n      xmit       xerr       rcv        rerr      \n"
        "      11020484   0          10994648   0\n"
    )
    if unit == 1:
        text = (
            text.replace("edge-1-0", "edge-1-x")
            .replace("edge-1-1", "edge-1-0")
            .replace("edge-1-x", "edge-1-1")
        )
        text = text.replace("Unit State:         active", "Unit State:         standby")
    return text
