"""`ntpq -p`: time servers of the host, which one it follows, and how far off the clock is.

Source: `commands/ntpq_-p.txt` or the command. The first character: `*` followed, `+` a candidate, `-` an outlier,
`x` a false ticker, none: not used. `reach` is octal, 377 = the last eight polls were answered.
"""

from analyzer.artefacts.signs import lies_above, says_bad
from analyzer.artefacts.tables import Row
from analyzer.forms import Field, Key, Made, text_table
from analyzer.forms.columns import bundle_files


def finish_row(row: Row) -> None:
    """Take the sign off the name, and count the polls that were answered.

    In a text without its indents a first letter `x` or `o` belongs to the name as likely as not, and stays there.
    """
    name = str(row.values["ntp_server"] or "")
    reach = str(row.values["ntp_reach"] or "")
    lines = row.block.lines
    heading = next((line for line in lines if line.strip().startswith("remote")), "")
    is_indented = heading.startswith(" ") and not lines[row.line - row.block.first_line].startswith(
        " "
    )
    signs = "*+-#.xo" if is_indented else "*+-#"
    if name[:1] in signs:
        row.values["ntp_tally"] = name[:1]
        row.values["ntp_server"] = name[1:] or None
    row.values["ntp_followed"] = row.values["ntp_tally"] == "*"
    if reach:
        row.values["ntp_answered"] = int(reach, 8).bit_count()
    else:
        row.values["ntp_answered"] = None


PARSER = text_table(
    "ntpq_peers",
    "esxi.ntp_peer",
    Key(
        "remote",
        "ntp_server",
        "str",
        "name or address of the server, cut to 15 characters",
        pattern=r"\S+",
    ),
    Field(
        "refid",
        "ntp_refid",
        "str",
        "what the server follows; .INIT. = it never answered",
        pattern=r"\S+",
    ),
    Field(
        "st",
        "ntp_stratum",
        "int",
        "stratum of the server; 16 = it has no time",
        pattern=r"\d+",
        sign=lies_above(15, weight=3),
    ),
    Field("t", "ntp_type", "str", "u unicast, l local, …", pattern=r"[a-zA-Z]"),
    Field(
        "when",
        "ntp_when",
        "str",
        "seconds since its last answer, with m, h, d as units; - for none",
        pattern=r"\d+[mhd]?|-",
    ),
    Field("poll", "ntp_poll_s", "int", "seconds between polls", "s", pattern=r"\d+"),
    Field(
        "reach",
        "ntp_reach",
        "str",
        "last eight polls as bits, octal: 377 = all were answered",
        pattern=r"[0-7]{1,3}",
        sign=says_bad("0", weight=3.5),
    ),
    Field("delay", "ntp_delay_ms", "float", "time to the server and back", "ms"),
    Field(
        "offset",
        "ntp_offset_ms",
        "float",
        "how far the clock is from the server's",
        "ms",
        sign=lies_above(128, weight=3),
    ),
    Field("jitter|disp", "ntp_jitter_ms", "float", "how much the offset varies", "ms"),
    Made("ntp_tally", "str", "* followed, + candidate, - outlier, x false ticker; none: not used"),
    Made("ntp_followed", "bool", "the host follows it"),
    Made("ntp_answered", "int", "polls of the last eight that were answered", "polls"),
    meaning="Time servers of the host, one row a server.",
    source="ntpq -p",
    node="esxi",
    files=bundle_files("ntpq -p"),
    commands=(r"\bntpq\s+-n?pn?\b",),
    heading=r"(?:remote\s+refid\s+st|={20,})",
    finish=finish_row,
    body=r"[*+x.#o-]?\S+\s+\S+\s+\d+ [a-zA-Z]\s",
    common=True,
)
