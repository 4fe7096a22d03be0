"""Paths of a VM's files."""


def host_path(path: object) -> str | None:
    """Return a path as the host knows it: a bundle holds the file below `vmfs/volumes`; None for any other."""
    text = str(path or "")
    start = text.find("vmfs/volumes/")
    if start < 0:
        return None
    return f"/{text[start:]}"
