"""What the NSX Manager says of itself over REST: its certificates, backups and clock.

Source: `x509Certificates`, `backupRestoreSettings`, `list` of `backupFileProperties` and `timeSettings` of the API
guide (NSX for vSphere 6.4), which leaves the cells of certificates and backup files empty: a number as a time is
taken as milliseconds since 1970. Passwords and the passphrase of backups are not read.
"""

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsx import XML_BODY, convert_stamp, make_row, xml_shape
from ..common._x509 import COLUMNS
from ..common._xml import Element, read_xml

_API = "/api/1.0/appliance-management"
CERTIFICATES = Table.of(
    "nsx.certificate",
    "Certificates of the NSX Manager, one row a certificate of its chain.",
    f"GET {_API}/certificatemanager/certificates/nsx",
    *COLUMNS,
    Column("is_valid", "bool", "the Manager takes it as valid"),
    ask=f"`GET {_API}/certificatemanager/certificates/nsx`",
)
SETTINGS = Table.of(
    "nsx.backup_setting",
    "Backups of the NSX Manager as they are set up.",
    f"GET {_API}/backuprestore/backupsettings",
    Column("backup_server", "str", "server the backups go to"),
    Column("backup_protocol", "str", "SFTP or FTP"),
    Column("backup_folder", "str", "folder on that server"),
    Column("backup_frequency", "str", "DAILY, WEEKLY, HOURLY; none where no time is set"),
    Column("backup_left_out", "str", "tables that are not backed up, by commas"),
    ask=f"`GET {_API}/backuprestore/backupsettings`",
)
FILES = Table.of(
    "nsx.backup_file",
    "Backups of the NSX Manager that are on their server.",
    f"GET {_API}/backuprestore/backups",
    KeyColumn("file_name", "str", "name of the backup"),
    Column("size_text", "str", "size as printed"),
    Column("created_text", "str", "when it was made, as printed"),
    ask=f"`GET {_API}/backuprestore/backups`",
)
CLOCK = Table.of(
    "nsx.manager_clock",
    "Clock of the NSX Manager: where it gets the time from.",
    f"GET {_API}/system/timesettings",
    Column("ntp_servers", "str", "servers of NTP, by commas; none where none is set"),
    Column("clock_text", "str", "date and time as printed"),
    Column("timezone", "str", "time zone of the Manager"),
    ask=f"`GET {_API}/system/timesettings`",
)


def parse_block(block: Block) -> Output:
    """Read an answer: a row for each certificate, file or setting in it."""
    root, faults = read_xml(block, PARSER.name)
    for element in root.find(
        "x509certificate", "backupRestoreSettings", "backupFileProperties", "timeSettings"
    ):
        table, cells = _READ[element.tag](element)
        yield from make_row(table, block, element, cells)
    yield from faults


TableCells = tuple[Table, dict[str, Element | str | None]]


def _read_certificate(element: Element) -> TableCells:
    return CERTIFICATES, {
        "subject_name": element.child("subjectCn"),
        "issuer_name": element.child("issuerCn"),
        "valid_from": convert_stamp(element.child("notBefore")),
        "valid_until": convert_stamp(element.child("notAfter")),
        "is_valid": element.child("isValid"),
    }


def _read_settings(element: Element) -> TableCells:
    server = element.child("ftpSettings") or Element("", element.line)
    often = element.child("backupFrequency") or Element("", element.line)
    return SETTINGS, {
        "backup_server": server.child("hostNameIPAddress"),
        "backup_protocol": server.child("transferProtocol"),
        "backup_folder": server.child("backupDirectory"),
        "backup_frequency": often.child("frequency"),
        "backup_left_out": _join_texts(element, "excludeTable"),
    }


def _read_file(element: Element) -> TableCells:
    cells = {"file_name": "fileName", "size_text": "fileSize", "created_text": "creationTime"}
    return FILES, {column: element.child(tag) for column, tag in cells.items()}


def _read_clock(element: Element) -> TableCells:
    return CLOCK, {
        "ntp_servers": _join_texts(element, "string"),
        "clock_text": element.child("datetime"),
        "timezone": element.child("timezone"),
    }


def _join_texts(element: Element, tag: str) -> str:
    return ", ".join(one.text.strip() for one in element.find(tag))


_READ = {
    "x509certificate": _read_certificate, "backupRestoreSettings": _read_settings, "backupFileProperties": _read_file,
    "timeSettings": _read_clock,
}  # fmt: skip

PARSER = Parser(
    name="nsx_appliance",
    tables=(CERTIFICATES, SETTINGS, FILES, CLOCK),
    parse=parse_block,
    node="nsx_manager",
    commands=(
        r"/api/1\.0/appliance-management/(?:certificatemanager/certificates/nsx|system/timesettings"
        r"|backuprestore/(?:backupsettings|backups))\b",
    ),
    shape=(
        rf"{xml_shape('x509Certificates', 'backupRestoreSettings', 'timeSettings')}"
        r"|^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<list>\s*)?<backupFileProperties>"
    ),
    body=XML_BODY,
    lead=r"^\s*<list>\s*$",
)
