"""The scenario with the synchronous half of the Python SDK."""

import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdks" / "python"))
sys.dont_write_bytecode = True

from dock_sdk import Dock, DockService  # noqa: E402

SCENARIO = json.loads(Path(os.environ["DOCK_SCENARIO"]).read_text("utf-8"))


def streamed(dock):
    process = dock.spawn(SCENARIO["stream"])
    lines = []
    for line in process.stdout.lines():
        lines.append(line)
        if match := re.fullmatch(r"line (\d+)", line):
            dock.files.write(f"go-{match[1]}", "")
    return lines


def in_background(dock):
    started = dock.spawn(SCENARIO["background"])
    before = b""
    for chunk in started.stdout:
        before += chunk
        if before.endswith(b"\n"):
            break
    process = dock.processes.attach(started.id, offset=len(before))
    dock.files.write("continue", "")
    after = process.stdout.text()
    return {"before": before.decode(), "after": after, "exitCode": process.wait().exit_code}


def branched(dock):
    with dock.branch(on_exit="delete") as copy:
        copy.exec(SCENARIO["branch"])
        return {
            "copy": copy.files.read_text("project/words.txt"),
            "original": dock.files.read_text("project/words.txt"),
        }


def run():
    size = SCENARIO["dock"]
    with DockService() as service:
        dock = Dock.create(
            client=service.client,
            name=os.environ["DOCK_SCENARIO_NAME"],
            cpus=size["cpus"],
            memory_mib=size["memoryMiB"],
            disk_gib=size["diskGiB"],
        )
        result = {"ready": dock.info["state"] in ("ready", "idle", "running")}
        dock.files.upload(os.environ["DOCK_SCENARIO_UPLOAD"], SCENARIO["folder"])
        done = dock.exec(SCENARIO["run"])
        result["run"] = {"exitCode": done.exit_code, "stdout": done.stdout, "stderr": done.stderr}
        result["stream"] = streamed(dock)
        result["background"] = in_background(dock)
        result["branch"] = branched(dock)
        dock.stop()
        snapshot = service.snapshots.latest(dock.id)
        result["snapshotFile"] = service.snapshots.read_text(snapshot["id"], SCENARIO["snapshotFile"])
        dock.resume()
        folder = Path(os.environ["DOCK_SCENARIO_DOWNLOAD"])
        dock.files.download(SCENARIO["download"], folder)
        files = [path for path in folder.rglob("*") if path.is_file()]
        result["download"] = {str(path.relative_to(folder)): path.read_text("utf-8") for path in files}
        dock.delete()
        result["isDeleted"] = all(each.id != dock.id for each in service.list())
        return result


print(json.dumps(run()))
