"""The table of VMkernel adapters: `esxcfg-vmknic -l` and `esxcli network ip interface ipv4 get` fill it."""

from analyzer.artefacts.signs import lies_below, says_bad
from analyzer.artefacts.tables import MAC_FORM, Column, KeyColumn, Table

VMK = Table.of(
    "esxi.vmk",
    "VMkernel adapters of the host, one row an address.",
    "esxcfg-vmknic -l; esxcli network ip interface ipv4 get; commands/esxcfg-vmknic_-l.txt",
    KeyColumn("vmk", "str", "VMkernel adapter: vmk0"),
    Column(
        "network",
        "str",
        "port group it is connected to, distributed port or opaque network (esxcfg only)",
    ),
    Column("ip_family", "str", "IPv4 or IPv6; 4.x prints IPv4 alone and does not say so"),
    KeyColumn("ip_address", "str", "address of the adapter"),
    Column("netmask", "str", "network mask as printed; of IPv6 the length of the prefix"),
    Column("broadcast", "str", "broadcast address"),
    Column("gateway", "str", "gateway of the adapter, where esxcli prints one"),
    Column("mac", "str", "MAC address of the client", form=MAC_FORM),
    Column(
        "mtu",
        "int",
        "largest frame payload",
        "bytes",
        sign=lies_below(1600, weight=4).only_where("netstack", "vxlan"),
    ),
    Column("tso_mss", "int", "largest segment for TSO", "bytes"),
    Column(
        "enabled",
        "bool",
        "the adapter is enabled (esxcfg only)",
        sign=says_bad("false", weight=1.5),
    ),
    Column(
        "address_type",
        "str",
        "where the address comes from: STATIC, DHCP, AUTOCONF, with PREFERRED for IPv6",
    ),
    Column("netstack", "str", "TCP/IP stack: defaultTcpipStack, vmotion, vxlan, hyperbus, …"),
    ask="`esxcfg-vmknic -l`",
)
