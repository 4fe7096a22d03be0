"""`esxcli system syslog config get`: where the logs of the host go, and whether they outlive a boot."""

from analyzer.artefacts.signs import NOTHING
from analyzer.forms import Field, get_block

PARSER = get_block(
    "syslog_config",
    "system syslog config get",
    "esxi.syslog_config",
    "Logging of the host: folder, rotation and remote hosts.",
    Field("Local Log Output|Log Output", "log_folder", "str", "folder of the logs: /scratch/log"),
    Field("Local Log Output Is Configured", "log_folder_set", "bool", "the folder was set by hand"),
    Field("Local Log Output Is Persistent", "log_persistent", "bool", "logs outlive a boot"),
    Field(
        "Local Logging Default Rotation Size|Default Rotation Size",
        "rotation_kib",
        "int",
        "size at which a log is rotated",
        "KiB",
    ),
    Field(
        "Local Logging Default Rotations|Default Rotations",
        "rotations",
        "int",
        "rotated logs that are kept",
        "files",
    ),
    Field(
        "Log To Unique Subdirectory", "log_own_folder", "bool", "a folder a host below the folder"
    ),
    Field(
        "Default Network Retry Timeout",
        "syslog_retry_s",
        "int",
        "seconds until a remote host is tried again",
        "s",
    ),
    Field(
        "Message Queue Drop Mark",
        "drop_mark_pct",
        "int",
        "fill of the queue at which messages are dropped",
        "%",
        sign=NOTHING,
    ),
    Field(
        "Enforce SSLCertificates",
        "syslog_checks_certificate",
        "bool",
        "certificates of remote hosts are checked",
    ),
    Field("Remote Host", "remote_hosts", "str", "remote hosts, by commas", none=("<none>",)),
    sign="Local Log Output|Local Logging Default Rotation Size|Default Rotation Size",
)
