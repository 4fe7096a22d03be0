"""`date` on the host: what its clock said when the bundle was made."""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser
from analyzer.forms.columns import bundle_files

TABLE = Table.of(
    "esxi.clock",
    "Clock of the host when it was asked.",
    "date; commands/date.txt",
    Column("host_time", "time", "time of the host, UTC"),
    ask="`date`",
)

_DATE = r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d (?:[A-Z]{2,5} )?\d{4}"

PARSER = template_parser(
    "clock",
    TABLE,
    node="esxi",
    files=bundle_files("date"),
    commands=(r"^date\s*$",),
    body=rf"^\s*{_DATE}\s*$",
    common=True,
)
