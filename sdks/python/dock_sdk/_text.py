"""Lines and words."""

from __future__ import annotations

import codecs
import re
import shlex
from collections.abc import Iterator, Sequence

#: A longer line is passed on in pieces: the other side decides how long its lines are.
_LINE_LENGTH_MAX = 1024 * 1024


class LineSplitter:
    """Splits chunks of UTF-8 into lines without their line breaks."""

    def __init__(self, length_max: int | None = _LINE_LENGTH_MAX) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest: list[str] = []
        self._length = 0
        self._length_max = length_max

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the lines that the chunk completes."""
        *lines, rest = self._decoder.decode(chunk).split("\n")
        if lines:
            lines[0] = "".join(self._rest) + lines[0]
            self._rest, self._length = [], 0
            yield from lines
        self._rest.append(rest)
        self._length += len(rest)
        if self._length_max is not None and self._length > self._length_max:
            yield self._take()

    def end(self) -> Iterator[str]:
        """Yield the last line if it has no line break."""
        self._rest.append(self._decoder.decode(b"", final=True))
        last = self._take()
        if last:
            yield last

    def _take(self) -> str:
        text = "".join(self._rest)
        self._rest, self._length = [], 0
        return text


def shell_line(command: str | Sequence[str]) -> str:
    """Return a line of shell: as it is, or one that stands for exactly these words."""
    return command if isinstance(command, str) else shlex.join(command)


WORK_FOLDER = "/home/user/work"


def absolute_path(path: str) -> str:
    """Return the absolute path of a path in the work folder."""
    if path.startswith("/"):
        return path
    relative = re.sub(r"^(\./+)*(\.$)?", "", path)
    return f"{WORK_FOLDER}/{relative}" if relative else WORK_FOLDER


def is_id(text: str) -> bool:
    """Return True if the text is the id of a Dock."""
    return re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text) is not None
