"""
Reads a tar that arrives in chunks. The tar is not trusted: what is kept in memory is bounded, and nothing that is not a
file, folder or link is passed on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .errors import LocalFileError

_BLOCK = 512
#: Bytes of a header that has the form of a file: a long name, or attributes of POSIX.
_EXTENSION_BYTES_MAX = 1024 * 1024
_PIECE_BYTES = 1024 * 1024
_KEYS = (b"path", b"linkpath", b"size", b"mtime")

EntryType = Literal["file", "folder", "link", "hardlink", "other"]


@dataclass(frozen=True)
class TarEntry:
    """An entry. Names are bytes as text, see `os.fsdecode`."""

    name: str
    type: EntryType
    size: int
    mode: int
    modified_at: float
    target: str


#: The end of the content of an entry.
END = None
TarEvent = TarEntry | bytes | None

_TYPES: dict[bytes, EntryType] = {
    b"0": "file", b"\0": "file", b"7": "file", b"1": "hardlink", b"2": "link", b"5": "folder",
}  # fmt: skip


class TarReader:
    """
    Turns chunks into events: an entry, the pieces of its content, and `END`. Feed it all chunks, and call `end` after
    the last one.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._content_left = 0
        self._padding_left = 0
        self._extension: bytes | None = None
        self._extension_type = b""
        self._is_in_entry = False
        self._is_over = False
        #: What headers of POSIX and GNU say of the next entry.
        self._next: dict[str, str] = {}

    def feed(self, chunk: bytes) -> Iterator[TarEvent]:
        """Yield what the chunk completes."""
        self._buffer += chunk
        while not self._is_over:
            if self._content_left > 0:
                if not self._buffer:
                    return
                yield from self._take_content()
            elif self._padding_left > 0:
                if not self._buffer:
                    return
                skipped = min(self._padding_left, len(self._buffer))
                del self._buffer[:skipped]
                self._padding_left -= skipped
            elif self._extension is not None:
                self._read_extension(self._extension)
                self._extension = None
            elif self._is_in_entry:
                self._is_in_entry = False
                yield END
            else:
                if len(self._buffer) < _BLOCK:
                    return
                block = bytes(self._buffer[:_BLOCK])
                del self._buffer[:_BLOCK]
                yield from self._read_header(block)
        # What follows the end of a tar is padding.
        self._buffer.clear()

    def end(self) -> None:
        """Raise if the tar broke off."""
        if not self._is_over:
            raise LocalFileError("The tar broke off before its end.")

    def _take_content(self) -> Iterator[TarEvent]:
        piece = bytes(self._buffer[: min(self._content_left, _PIECE_BYTES)])
        del self._buffer[: len(piece)]
        self._content_left -= len(piece)
        if self._extension is not None:
            self._extension += piece
        else:
            yield piece

    def _read_header(self, block: bytes) -> Iterator[TarEvent]:
        if block == bytes(_BLOCK):
            self._is_over = True
            return
        if _checksum(block) != _number(block[148:156]):
            raise LocalFileError("The Dock sent something that is no tar.")
        kind = block[156:157]
        size = _number(block[124:136])
        if kind in (b"x", b"g", b"L", b"K"):
            if size > _EXTENSION_BYTES_MAX:
                raise LocalFileError("The tar has a name or attributes of more than 1 MiB.")
            self._extension, self._extension_type = b"", kind
            self._content_left, self._padding_left = size, -size % _BLOCK
            return
        given, self._next = self._next, {}
        if "GNU.sparse" in given or kind == b"S":
            raise LocalFileError("The tar has a sparse file, which cannot be unpacked.")
        type: EntryType = _TYPES.get(kind, "other")
        size = _decimal(given["size"]) if "size" in given else size
        name, prefix = _string(block[:100]), _string(block[345:500])
        if block[257:263] == b"ustar\0" and prefix:
            name = f"{prefix}/{name}"
        name = given.get("path", name)
        if type == "file" and name.endswith("/"):
            type = "folder"
        # Links say the size of what they lead to in some old tars, and have no content.
        self._content_left = size if type in ("file", "other") else 0
        self._padding_left = -self._content_left % _BLOCK
        self._is_in_entry = True
        yield TarEntry(
            name=name,
            type=type,
            size=self._content_left,
            mode=_number(block[100:108]) & 0o777,
            modified_at=_seconds(given["mtime"]) if "mtime" in given else float(_number(block[136:148])),
            target=given.get("linkpath", _string(block[157:257])),
        )

    def _read_extension(self, data: bytes) -> None:
        if self._extension_type == b"g":
            return
        if self._extension_type in (b"L", b"K"):
            self._next["path" if self._extension_type == b"L" else "linkpath"] = _string(data)
            return
        at = 0
        while at < len(data):
            # Each record is "LENGTH KEY=VALUE\n", and its length counts all of it.
            length, space, _ = data[at : at + 20].partition(b" ")
            if not space or not length.isdigit() or int(length) <= len(length) + 1:
                raise LocalFileError("The tar has attributes that cannot be read.")
            key, _, value = data[at + len(length) + 1 : at + int(length) - 1].partition(b"=")
            if key in _KEYS or key.startswith(b"GNU.sparse"):
                # Others are not kept, so that many headers in a row do not fill the memory.
                name = "GNU.sparse" if key.startswith(b"GNU.sparse") else key.decode()
                self._next[name] = value.decode("utf-8", "surrogateescape")
            at += int(length)


def _string(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        if field[0] != 0x80:
            # A negative number, such as a time before 1970.
            return int.from_bytes(field, "big", signed=True)
        return int.from_bytes(field[1:], "big")
    text = field.strip(b" \0")
    if not all(0x30 <= digit <= 0x37 for digit in text):
        raise LocalFileError("The Dock sent something that is no tar.")
    return int(text, 8) if text else 0


def _decimal(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise LocalFileError("The tar has attributes that cannot be read.")
    return int(text)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _checksum(block: bytes) -> int:
    return sum(block) - sum(block[148:156]) + 8 * 0x20
