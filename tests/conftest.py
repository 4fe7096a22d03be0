"""Settings of the whole suite: hypothesis searches anew on a desk and repeats itself in a check run."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("desk", deadline=None)
settings.register_profile("check", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("check" if os.environ.get("CI") else "desk")
