"""Folders as tar: nothing leaves the target folder, whatever the Dock sends."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from dock_sdk import LocalFileError
from dock_sdk._tar_pack import pack_folder
from dock_sdk._tar_reader import TarReader
from dock_sdk._tar_unpack import Unpacker

Entry = tuple[str, bytes, str]


def tar_of(*entries: Entry, format: int = tarfile.GNU_FORMAT) -> bytes:
    """Each entry is a name, a type, and the content or the target of a link."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=format, errors="surrogateescape") as tar:
        for name, type, text in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = type, 0o644 if type == tarfile.REGTYPE else 0o755
            content = text.encode() if type == tarfile.REGTYPE else b""
            entry.size = len(content)
            entry.linkname = "" if type == tarfile.REGTYPE else text
            tar.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def unpack(tar: bytes, folder: Path, piece: int = 10_000) -> list[str]:
    unpacker = Unpacker(str(folder))
    try:
        for at in range(0, len(tar), piece):
            unpacker.feed(tar[at : at + piece])
        unpacker.end()
    finally:
        unpacker.close()
    return unpacker.skipped_links


def names_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


FILE, LINK, HARD, FOLDER = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


@pytest.mark.parametrize(
    "entries",
    [
        [("../out", FILE, "x")],
        [("a/../../out", FILE, "x")],
        [("/../out", FILE, "x")],
        [("a", LINK, "."), ("a/out", FILE, "x")],
        [("a", FILE, "x"), ("a/out", FILE, "x")],
        [("stolen", HARD, "../secret")],
        [("stolen", HARD, "link-to-secret")],
        [("link-to-folder/stolen", FILE, "x")],
        [("link-to-folder", FOLDER, "")],
        [("stolen", HARD, "link-to-folder/secret")],
        [("folder", FILE, "x")],
    ],
)
def test_refuses_names_that_lead_out(tmp_path: Path, entries: list[Entry]) -> None:
    (tmp_path / "secret").write_text("secret")
    target = tmp_path / "target"
    (target / "folder").mkdir(parents=True)
    (target / "link-to-secret").symlink_to("../secret")
    (target / "link-to-folder").symlink_to("..")
    with pytest.raises(LocalFileError):
        unpack(tar_of(*entries), target)
    assert sorted(os.listdir(tmp_path)) == ["secret", "target"]
    assert (tmp_path / "secret").read_text() == "secret"
    assert not list(target.rglob("stolen"))


def test_absolute_names_are_in_the_folder(tmp_path: Path) -> None:
    unpack(tar_of(("/etc/x", FILE, "x")), tmp_path / "target")
    assert names_below(tmp_path) == ["target", "target/etc", "target/etc/x"]


def test_leaves_out_links_that_lead_out(tmp_path: Path) -> None:
    good = [("in", LINK, "d/up"), ("d/up", LINK, "../a"), ("d/here", LINK, "./b")]
    bad = [("abs", LINK, "/etc"), ("up", LINK, ".."), ("d/up2", LINK, "../../x"), ("sly", LINK, "d/../../x"), ("e", LINK, "d/..")]
    skipped = unpack(tar_of(*good, *bad), tmp_path / "target")
    assert skipped == ["abs", "up", "d/up2", "sly", "e"]
    assert names_below(tmp_path / "target") == ["d", "d/here", "d/up", "in"]


def test_replaces_links_instead_of_following_them(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    target = tmp_path / "target"
    target.mkdir()
    (target / "a").symlink_to("../secret")
    unpack(tar_of(("a", FILE, "new"), ("b", LINK, "a"), ("b", FILE, "own")), target)
    assert (tmp_path / "secret").read_text() == "secret"
    assert [(target / name).read_text() for name in "ab"] == ["new", "own"]
    assert not (target / "a").is_symlink() and not (target / "b").is_symlink()


def test_makes_no_devices_and_drops_privileged_bits(tmp_path: Path) -> None:
    file = io.BytesIO(tar_of(("a", FILE, "x"), ("null", tarfile.CHRTYPE, ""), ("pipe", tarfile.FIFOTYPE, "")))
    data = bytearray(file.getvalue())
    data[100:108] = b"0006755\0"
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    unpack(bytes(data), tmp_path / "target")
    assert names_below(tmp_path / "target") == ["a"]
    assert (tmp_path / "target" / "a").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize(
    "tar",
    [
        tar_of(("a", FILE, "x" * 2000))[:1100],
        tar_of(("a", FILE, "x"))[:1024],
        b"not a tar" * 100,
        b"",
        tar_of(("a" * 2_000_000, FILE, "x")),
        tar_of(("ü" * 600_000, FILE, "x"), format=tarfile.PAX_FORMAT),
    ],
)
def test_refuses_what_is_no_whole_tar(tmp_path: Path, tar: bytes) -> None:
    with pytest.raises(LocalFileError):
        unpack(tar, tmp_path / "target")
    assert [name for name in names_below(tmp_path / "target") if "dock-download" in name] == []


def test_refuses_sparse_files(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse"
    sparse.touch()
    os.truncate(sparse, 1_000_000)
    for format in ("gnu", "posix"):
        command = ["tar", "-c", "-S", f"--format={format}", "-C", str(tmp_path), "sparse"]
        with pytest.raises(LocalFileError, match="sparse"):
            unpack(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout, tmp_path / "target")


def make_tree(folder: Path) -> None:
    deep = folder / ("long " * 20) / ("name" * 40)
    deep.mkdir(parents=True)
    (deep / "f").write_bytes(bytes(range(256)) * 5)
    (folder / "empty").touch()
    (folder / "empty folder").mkdir()
    (folder / "run").write_text("#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "link").symlink_to(("name" * 40) + "/x")
    (folder / "ü\n").write_text("u")
    with open(os.fsencode(folder) + b"/\xff\xfe", "wb") as file:
        file.write(b"bytes")


def is_same(one: Path, other: Path) -> None:
    subprocess.run(["diff", "-r", "--no-dereference", str(one), str(other)], check=True)
    assert (other / "run").stat().st_mode & 0o777 == 0o755
    assert (other / "run").stat().st_mtime == int((one / "run").stat().st_mtime)


@pytest.mark.parametrize("format", ["gnu", "posix"])
def test_unpacks_what_tar_packs(tmp_path: Path, format: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    make_tree(source)
    os.utime(source / "run", (1e9, 1e9))
    tar = subprocess.run(
        ["tar", "-c", f"--format={format}", "-C", str(source), "."], check=True, stdout=subprocess.PIPE
    ).stdout
    for piece in (1, 511, 1_000_000):
        assert unpack(tar, tmp_path / str(piece), piece) == []
        is_same(source, tmp_path / str(piece))


def test_keeps_only_the_attributes_that_it_needs(tmp_path: Path) -> None:
    reader = TarReader()
    for number in range(100):
        entry = tarfile.TarInfo("a")
        entry.pax_headers = {f"own.{number}": "x" * 1000}
        header = entry.tobuf(tarfile.PAX_FORMAT)
        # The attributes without their entry.
        assert list(reader.feed(header[:-512])) == []
    assert reader._next == {}


def test_keeps_no_link_with_a_target_that_no_file_can_have(tmp_path: Path) -> None:
    assert unpack(tar_of(("a", LINK, "x\0ü"), format=tarfile.PAX_FORMAT), tmp_path / "target") == ["a"]


def test_joins_names_of_two_fields(tmp_path: Path) -> None:
    name = f"{'d' * 90}/{'e' * 90}"
    unpack(tar_of((name, FILE, "x"), format=tarfile.USTAR_FORMAT), tmp_path)
    assert (tmp_path / name).read_text() == "x"


def test_packs_what_tar_unpacks(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    make_tree(source)
    os.mkfifo(source / "pipe")
    tar = b"".join(pack_folder(str(source)))
    (source / "pipe").unlink()
    subprocess.run(["tar", "-x", "-C", str(target)], input=tar, check=True)
    is_same(source, target)


def test_packs_no_file_that_became_shorter(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 1_000_000)
    packing = pack_folder(str(tmp_path))
    next(packing)
    next(packing)
    os.truncate(tmp_path / "a", 10)
    with pytest.raises(LocalFileError, match="became shorter"):
        list(packing)
