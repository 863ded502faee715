"""What is published: the package that pip installs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def test_the_wheel_is_the_package_with_its_types(tmp_path: Path) -> None:
    checkout, out = tmp_path / "checkout", tmp_path / "out"
    shutil.copytree(SOURCE, checkout, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    out.mkdir()
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(out)], cwd=checkout, check=True, capture_output=True)
    [wheel] = out.iterdir()
    assert wheel.name == "dock_sdk-0.1.0-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    expected = {str(path.relative_to(SOURCE)) for path in (SOURCE / "dock_sdk").rglob("*.py")} | {"dock_sdk/py.typed"}
    assert {name for name in names if ".dist-info/" not in name} == expected
    use = "import dock_sdk; print(dock_sdk.__file__, dock_sdk.Dock.__name__, dock_sdk.AsyncDock.__name__)"
    ran = subprocess.run(
        [sys.executable, "-c", use], cwd=tmp_path, env={"PYTHONPATH": str(wheel)}, check=True, capture_output=True, text=True
    )
    assert ran.stdout.split() == [f"{wheel}/dock_sdk/__init__.py", "Dock", "AsyncDock"]
