"""What the outputs of `esxcli storage san` share: the adapter, its port, its firmware, and counters of its link."""

from analyzer.artefacts.signs import says_good
from analyzer.forms import Field, Key

HBA = Key("Adapter", "hba", "str", "disk adapter as the host names it: vmhba2")
PORT = (
    Field("Port ID", "port_fcid", "str", "address in the fabric, hex; 000000 without a login"),
    Field("Node Name", "wwnn", "str", "WWN of the node"),
    Field("Port Name", "wwpn", "str", "WWN of the port, which zones are made of"),
    Field(
        "Speed",
        "speed_gbps",
        "int",
        "speed of the link; 0 while it is down",
        "Gbit/s",
        behind=" Gbps",
    ),
    Field("Port Type", "port_type", "str", "NPort, NLPort, Unknown, …"),
    Field(
        "Port State",
        "port_state",
        "str",
        "ONLINE, OFFLINE, LINK DOWN, …",
        sign=says_good("online", "link up"),
    ),
)
FIRMWARE = (
    Field("Hardware Version", "hardware_version", "str", "version of the card"),
    Field("OptionROM Version", "option_rom", "str", "version of the boot code"),
    Field("Firmware Version", "hba_firmware", "str", "firmware in use, as the driver words it"),
    Field("Driver Name", "driver", "str", "driver in use"),
    Field(
        "DriverVersion|Driver Version",
        "hba_driver_version",
        "str",
        "version of the driver, as it words it",
    ),
)
FRAMES = (
    Field("Tx Frames", "tx_frames", "int", "frames sent", "frames"),
    Field("Rx Frames", "rx_frames", "int", "frames received", "frames"),
    Field("Lip Count", "lips", "int", "times the loop was begun anew", "times"),
    Field("Error Frames", "error_frames", "int", "frames with an error", "frames"),
    Field("Dumped Frames", "dumped_frames", "int", "frames thrown away", "frames"),
    Field("Link Failure Count", "link_failures", "int", "times the link failed", "times"),
    Field("Loss of Signal Count", "signal_losses", "int", "times the signal was lost", "times"),
    Field(
        "PrimSeq Protocol Err Count",
        "sequence_errors",
        "int",
        "errors of primitive sequences",
        "times",
    ),
    Field(
        "Invalid Tx Word Count",
        "invalid_words",
        "int",
        "words that are none: cable, SFP or port",
        "times",
    ),
    Field(
        "Invalid CRC Count",
        "invalid_crcs",
        "int",
        "frames with a wrong checksum: cable, SFP or port",
        "times",
    ),
    Field("VLink Failure Count", "vlink_failures", "int", "times the virtual link failed", "times"),
    Field(
        "Miss Disc Adv Count",
        "missed_advertisements",
        "int",
        "advertisements of the FCoE forwarder that did not come",
        "times",
    ),
    Field("Input Requests", "input_requests", "int", "reads", "times"),
    Field("Output Requests", "output_requests", "int", "writes", "times"),
    Field("Control Requests", "control_requests", "int", "other commands", "times"),
)
