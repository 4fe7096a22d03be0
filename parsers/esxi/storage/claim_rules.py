"""`esxcli storage core claimrule list`: which multipath plugin claims which paths, and the masked ones."""

from analyzer.artefacts.signs import says_bad
from analyzer.forms import Field, Key, localcli_table

PARSER = localcli_table(
    "claim_rules",
    "storage core claimrule list",
    "esxi.claim_rule",
    "Claim rules: which plugin takes which paths or devices; MASK_PATH hides them from the host.",
    Key(
        "Rule Class",
        "rule_class",
        "str",
        "MP for paths, Filter and VAAI for devices",
        pattern=r"MP|Filter|VAAI|\S+",
    ),
    Key("Rule", "rule_number", "int", "number; the lowest rule that fits counts"),
    Key(
        "Class",
        "rule_state",
        "str",
        "runtime: in force; file: written down, loaded at the next boot",
        pattern=r"\S+",
    ),
    Field(
        "Type",
        "rule_type",
        "str",
        "what it goes by: transport, vendor, driver, location, target",
        pattern=r"\S+",
    ),
    Field(
        "Plugin",
        "plugin",
        "str",
        "plugin that takes the paths: NMP, HPP, MASK_PATH, …",
        pattern=r"\S+",
        sign=says_bad("mask_path", weight=2),
    ),
    Field("Matches", "rule_matches", "str", "paths it is for: transport=usb, vendor=DELL model=…"),
    Field(
        "XCOPY Use Array Reported Values",
        "xcopy_array_values",
        "bool",
        "copies go by what the array says",
        maybe=True,
    ),
    Field(
        "XCOPY Use Multiple Segments",
        "xcopy_many_segments",
        "bool",
        "a copy may have several segments",
        maybe=True,
    ),
    Field(
        "XCOPY Max Transfer Size KiB|XCOPY Max Transfer Size",
        "xcopy_max_kib",
        "int",
        "most that one copy command moves; 0 is the default",
        "KiB",
        maybe=True,
    ),
    options="--claimrule-class=all",
)
