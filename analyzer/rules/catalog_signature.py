"""The signature of a catalog file; needs the extra `update`."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def is_signed(key: str, raw: bytes, signature: bytes) -> bool:
    """Say whether bytes are signed by a key of 64 hex digits."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, raw)
    except InvalidSignature:
        return False
    return True
