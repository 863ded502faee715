"""Packs a folder of this computer as tar. Links are packed as links and never followed."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator

from .errors import LocalFileError

_CHUNK_BYTES = 256 * 1024


def pack_folder(folder: str) -> Iterator[bytes]:
    """Yield the tar. Pipes, sockets and devices are left out."""
    yield from _pack(folder, "")
    yield bytes(2 * tarfile.BLOCKSIZE)


def _pack(folder: str, prefix: str) -> Iterator[bytes]:
    for name in sorted(os.listdir(folder), key=os.fsencode):
        place, path = os.path.join(folder, name), prefix + name
        found = os.lstat(place)
        header = tarfile.TarInfo(path)
        header.mode = found.st_mode & 0o777
        header.mtime = max(0, int(found.st_mtime))
        if stat.S_ISREG(found.st_mode):
            yield from _pack_file(place, header)
        elif stat.S_ISLNK(found.st_mode):
            header.type, header.linkname = tarfile.SYMTYPE, os.readlink(place)
            yield _block(header)
        elif stat.S_ISDIR(found.st_mode):
            header.type, header.name = tarfile.DIRTYPE, f"{path}/"
            yield _block(header)
            yield from _pack(place, f"{path}/")


def _pack_file(place: str, header: tarfile.TarInfo) -> Iterator[bytes]:
    with open(place, "rb") as file:
        header.size = os.fstat(file.fileno()).st_size
        yield _block(header)
        left = header.size
        while left > 0:
            chunk = file.read(min(_CHUNK_BYTES, left))
            if not chunk:
                raise LocalFileError(f"{place} became shorter while it was read.")
            left -= len(chunk)
            yield chunk
        yield bytes(-header.size % tarfile.BLOCKSIZE)


def _block(header: tarfile.TarInfo) -> bytes:
    return header.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
