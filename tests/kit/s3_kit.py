"""A real S3 server on loopback for one test: empty when the test begins, empty when it ends, with a bucket of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.request import Request, urlopen
from uuid import uuid4


@dataclass(frozen=True, slots=True)
class S3:
    """A running server: the environment by which clients find it, and the name of a bucket that is there and empty."""

    env: dict[str, str]
    bucket: str

    @property
    def url(self) -> str:
        """The bucket as a URL."""
        return f"s3://{self.bucket}"


@contextlib.contextmanager
def s3_server() -> Iterator[S3]:
    """Run an S3 server (moto) with one empty bucket; the environment names it while it runs.

    moto keeps its objects in the process, not in the server: without the reset a second server would
    find the buckets of the first.
    """
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    env = {
        "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing-secret", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint, "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in env}
    os.environ.update(env)
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        _reset(endpoint)
        bucket = f"bucket-{uuid4().hex[:12]}"
        s3fs.S3FileSystem(skip_instance_cache=True).mkdir(bucket)
        yield S3(env, bucket)
        _reset(endpoint)
    finally:
        server.stop()
        s3fs.S3FileSystem.clear_instance_cache()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _reset(endpoint: str) -> None:
    with urlopen(Request(f"{endpoint}/moto-api/reset", method="POST"), timeout=30) as answer:
        assert answer.status == 200
