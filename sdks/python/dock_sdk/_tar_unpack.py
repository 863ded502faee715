"""
Unpacks a tar from a Dock into a folder of this computer. The tar is not trusted. Nothing is written outside of the
folder: no name leads out of it, no link is followed (also none that was there before), and links that lead out of it are
left out.
"""

from __future__ import annotations

import os
import stat
import uuid
from typing import BinaryIO, List

from ._tar_reader import TarEntry, TarReader
from .errors import LocalFileError


def _parts_of(name: str) -> List[str]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    # Other systems have more names that lead elsewhere than `..`.
    if ".." in parts or any(_is_foreign(part) for part in parts):
        raise LocalFileError(f"The name {name!r} leads out of the folder.")
    return parts


def _is_foreign(part: str) -> bool:
    return "\0" in part or (os.sep != "/" and (os.sep in part or ":" in part))


def _stays_inside(parents: List[str], target: str) -> bool:
    """
    Return True if a link in the folder `parents` stays inside. `..` is only allowed at the start: behind a name it would
    depend on where that name leads.
    """
    if target.startswith("/") or target == "" or "\0" in target or (os.sep != "/" and _is_foreign(target)):
        return False
    steps = [step for step in target.split("/") if step not in ("", ".")]
    ups = next((index for index, step in enumerate(steps) if step != ".."), len(steps))
    return ups <= len(parents) and ".." not in steps[ups:]


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


class Unpacker:
    """Takes the chunks of a tar. Call `end` after the last one, and `close` in any case."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._is_made = False
        self._reader = TarReader()
        #: Folders that were checked. An entry never replaces a folder, so they stay folders.
        self._known: set[str] = set()
        self._file: BinaryIO | None = None
        self._entry: TarEntry | None = None
        self._draft = ""
        self.skipped_links: List[str] = []

    def feed(self, chunk: bytes) -> None:
        """Write what the chunk contains. The first one makes the folder: without it there was nothing to read."""
        if not self._is_made:
            os.makedirs(self._folder, exist_ok=True)
            self._is_made = True
        for event in self._reader.feed(chunk):
            if isinstance(event, TarEntry):
                self._add(event)
            elif event is None:
                self._finish()
            elif self._file is not None:
                self._file.write(event)

    def end(self) -> None:
        """Raise if the tar broke off."""
        self._reader.end()

    def close(self) -> None:
        """Remove a file that is not complete."""
        if self._file is not None:
            self._file.close()
            self._file = None
            os.unlink(self._draft)

    def _path(self, parts: List[str]) -> str:
        return os.path.join(self._folder, *parts)

    def _add(self, entry: TarEntry) -> None:
        parts = _parts_of(entry.name)
        if not parts or entry.type == "other":
            return
        if entry.type == "folder":
            self._enter(parts, make=True)
            os.chmod(self._path(parts), entry.mode | 0o700)
            return
        parents = parts[:-1]
        if entry.type == "link" and not _stays_inside(parents, entry.target):
            self.skipped_links.append("/".join(parts))
            return
        self._enter(parents, make=True)
        before = _lstat(self._path(parts))
        if before is not None and stat.S_ISDIR(before.st_mode):
            raise LocalFileError(f"{'/'.join(parts)!r} is a folder here and none in the Dock.")
        self._draft = self._path([*parents, f".dock-download-{uuid.uuid4()}"])
        if entry.type == "file":
            self._entry = entry
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(self._draft, flags, 0o600), "wb")
            return
        if entry.type == "link":
            os.symlink(entry.target, self._draft)
        else:
            self._link(entry, self._draft)
        self._place(parts)

    def _link(self, entry: TarEntry, draft: str) -> None:
        parts = _parts_of(entry.target)
        self._enter(parts[:-1], make=False)
        source = self._path(parts)
        found = _lstat(source)
        if found is None or not stat.S_ISREG(found.st_mode):
            raise LocalFileError(f"{entry.target!r} is not a file.")
        os.link(source, draft, follow_symlinks=False)

    def _finish(self) -> None:
        """Move the file that is complete to its place."""
        file, entry = self._file, self._entry
        if file is None or entry is None:
            return
        file.flush()
        os.chmod(self._draft, entry.mode)
        file.close()
        modified_at = min(max(entry.modified_at, 0.0), 2.0**33)
        os.utime(self._draft, (modified_at, modified_at))
        self._file = None
        self._place(_parts_of(entry.name))

    def _place(self, parts: List[str]) -> None:
        try:
            # It replaces a link instead of following it.
            os.replace(self._draft, self._path(parts))
        finally:
            # Renaming one of two names of the same file onto the other leaves both.
            if os.path.lexists(self._draft):
                os.unlink(self._draft)

    def _enter(self, parts: List[str], *, make: bool) -> None:
        """Raise if one of the folders is a link or a file. With `make`, make those that are missing."""
        for depth in range(1, len(parts) + 1):
            shown = "/".join(parts[:depth])
            if shown in self._known:
                continue
            place = self._path(parts[:depth])
            before = _lstat(place)
            if before is None:
                if not make:
                    raise LocalFileError(f"{shown!r} is not there.")
                os.mkdir(place)
            elif not stat.S_ISDIR(before.st_mode):
                kind = "link" if stat.S_ISLNK(before.st_mode) else "file"
                raise LocalFileError(f"{shown!r} is a {kind} here and a folder in the Dock. Remove it first.")
            self._known.add(shown)
