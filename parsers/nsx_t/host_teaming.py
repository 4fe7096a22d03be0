"""`nsxdp-cli vswitch teaming policy get -dvs NAME`: which uplinks an NSX switch of a host uses.

Source: an output of a host with an N-VDS in a public post.
"""

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, Made, key_value

_MAY_BE_EMPTY = r"\S.*?|"


def finish_row(row: Row) -> None:
    """Take the distributed switch from the command."""
    row.values["dvs_name"] = row.block.params.get("dvs_name")


PARSER = key_value(
    "host_teaming",
    "esxi.switch_teaming",
    Made("dvs_name", "str", "name of the switch, where the command names it", key=True),
    Field("loadBalance", "load_balancing", "str", "FO_EXPLICIT, …: how a port takes an uplink"),
    Field(
        "linkCriteria", "link_criteria", "str", "what makes an uplink good: DRV_PRESENT LINK_STATE"
    ),
    Field(
        "flags",
        "teaming_flags",
        "str",
        "SHOTGUN, BEST_EFFORT, NOTIFY_SWITCH, as printed",
        pattern=_MAY_BE_EMPTY,
    ),
    Field(
        "activeUplinkPorts",
        "active_uplinks",
        "str",
        "uplinks in use, as printed",
        pattern=_MAY_BE_EMPTY,
    ),
    Field(
        "standbyUplinkPorts",
        "standby_uplinks",
        "str",
        "uplinks that stand by, as printed",
        pattern=_MAY_BE_EMPTY,
    ),
    meaning="Teaming of a distributed switch on a host, one row a switch.",
    source="nsxdp-cli vswitch teaming policy get -dvs <name>",
    ask="`nsxdp-cli vswitch teaming policy get -dvs <name>` on the host",
    node="esxi",
    commands=(
        r"\bnsxdp-cli vswitch teaming policy get\b(?:.*?\s-{1,2}dvs(?:-alias)?\s+(?P<dvs_name>\S+))?",
    ),
    begins="loadBalance",
    ignored=r"(?:percentError|fullDuplex|speed)",
    finish=finish_row,
)
