"""What the headers of a response say about the bytes of a file in its body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FilePart:
    #: Names the version of the file, which includes its size. None if the service does not say.
    version: str | None
    #: The offset of the first byte.
    start: int
    #: The offset after the last byte. None if the service does not say.
    end: int | None
    #: The permission bits of the file, without its privileges. None if the service does not say.
    mode: int | None


def file_part(headers: Mapping[str, str]) -> FilePart:
    """Read the headers."""
    version = headers.get("etag")
    text = headers.get("x-dock-mode", "")
    mode = int(text, 8) & 0o777 if re.fullmatch(r"[0-7]{1,4}", text) else None
    found = re.match(r"bytes ([0-9]{1,16})-([0-9]{1,16})/", headers.get("content-range", ""))
    if found:
        return FilePart(version, int(found[1]), int(found[2]) + 1, mode)
    length = headers.get("content-length", "")
    return FilePart(version, 0, int(length) if re.fullmatch(r"[0-9]{1,16}", length) else None, mode)
