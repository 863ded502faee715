"""Files of this computer. These functions block."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from typing import BinaryIO

from .errors import LocalFileError

_CHUNK_BYTES = 256 * 1024


def file_chunks(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file."""
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


def octal_mode(path: str) -> str | None:
    """Return the permission bits of a file as octal digits, or None for a folder."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        return None
    # Opening a named pipe would wait for its writer.
    if not stat.S_ISREG(mode):
        raise LocalFileError(f"{path} is not a file or folder.")
    return f"{mode & 0o777:03o}"


class Draft:
    """A file that is written beside its place and renamed at the end, so that nobody sees half of it."""

    def __init__(self, place: str, name: str) -> None:
        """If `place` is a folder, the file goes into it with `name`."""
        self._place = os.path.join(place, name) if os.path.isdir(place) else place
        folder = os.path.dirname(self._place)
        if folder:
            os.makedirs(folder, exist_ok=True)
        self._path = os.path.join(folder, f".dock-download-{uuid.uuid4()}")
        self._file: BinaryIO | None = open(self._path, "xb")

    def write(self, chunk: bytes) -> None:
        if self._file is not None:
            self._file.write(chunk)

    def finish(self, mode: int | None) -> None:
        """Move the complete file to its place, with these permission bits."""
        if self._file is not None:
            self._file.close()
            if mode is not None:
                os.chmod(self._path, mode)
            self._file = None
            os.replace(self._path, self._place)

    def close(self) -> None:
        """Remove a file that is not complete."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if os.path.lexists(self._path):
            os.unlink(self._path)
