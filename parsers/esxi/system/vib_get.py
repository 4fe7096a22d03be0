"""`esxcli software vib get`: packages with what they depend on and whether they install without a reboot.

Source: `commands/localcli_software-vib-get.txt`, and the same with `--rebooting-image`: the image that the next boot
takes, where an update waits for one. The day of the installation is in `software vib list` only (esxi.vib).
"""

from analyzer.artefacts.tables import Row
from analyzer.forms import Field, Key, Made, get_blocks
from analyzer.forms.columns import bundle_files

NEXT_BOOT = "rebooting-image"


def name_image(row: Row) -> None:
    """Set the image a row speaks of, which the command alone tells."""
    asked = row.block.command or row.block.address
    row.values["image"] = "next boot" if NEXT_BOOT in asked else "running"


PARSER = get_blocks(
    "vib_get",
    "software vib get",
    "esxi.vib_detail",
    "Packages (VIBs) of an image with what they need, one row a package.",
    Key("Name", "name", "str", "name of the package: esx-base, esx-nsxv, ixgben"),
    Field("Version", "version", "version", "version as printed"),
    Field("Type", "vib_type", "str", "bootbank, locker, …"),
    Field("Vendor", "vendor", "str", "who made it"),
    Field(
        "Acceptance Level",
        "acceptance",
        "str",
        "VMwareCertified, VMwareAccepted, PartnerSupported, …",
    ),
    Field("Creation Date|Release Date", "vib_created", "str", "day it was built, YYYY-MM-DD"),
    Field("Depends", "vib_depends", "str", "what it needs, by commas"),
    Field("Conflicts", "vib_conflicts", "str", "what it does not stand, by commas"),
    Field("Replaces", "vib_replaces", "str", "what it takes the place of, by commas"),
    Field(
        "Maintenance Mode Required",
        "maintenance_required",
        "bool",
        "its installation needs maintenance mode",
    ),
    Field("Live Install Allowed", "live_install", "bool", "it installs without a reboot"),
    Field("Live Remove Allowed", "live_remove", "bool", "it is removed without a reboot"),
    Field("Overlay", "overlay", "bool", "it replaces files of other packages"),
    Made(
        "image", "str", "running: what the host runs; next boot: what the next boot takes", key=True
    ),
    files=bundle_files("localcli software vib get --rebooting-image", twin=True),
    begins="Name",
    titled=r"\S{1,200}",
    finish=name_image,
)
