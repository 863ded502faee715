"""The scenario with the asyncio half of the Python SDK."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdks" / "python"))
sys.dont_write_bytecode = True

from dock_sdk import AsyncDock, AsyncDockService  # noqa: E402

SCENARIO = json.loads(Path(os.environ["DOCK_SCENARIO"]).read_text("utf-8"))


async def streamed(dock):
    process = await dock.spawn(SCENARIO["stream"])
    lines = []
    async for line in process.stdout.lines():
        lines.append(line)
        if match := re.fullmatch(r"line (\d+)", line):
            await dock.files.write(f"go-{match[1]}", "")
    return lines


async def in_background(dock):
    started = await dock.spawn(SCENARIO["background"])
    before = b""
    async for chunk in started.stdout:
        before += chunk
        if before.endswith(b"\n"):
            break
    process = dock.processes.attach(started.id, offset=len(before))
    await dock.files.write("continue", "")
    after = await process.stdout.text()
    return {"before": before.decode(), "after": after, "exitCode": (await process.wait()).exit_code}


async def branched(dock):
    async with await dock.branch(on_exit="delete") as copy:
        await copy.exec(SCENARIO["branch"])
        return {
            "copy": await copy.files.read_text("project/words.txt"),
            "original": await dock.files.read_text("project/words.txt"),
        }


async def run():
    size = SCENARIO["dock"]
    async with AsyncDockService() as service:
        dock = await AsyncDock.create(
            client=service.client,
            name=os.environ["DOCK_SCENARIO_NAME"],
            cpus=size["cpus"],
            memory_mib=size["memoryMiB"],
            disk_gib=size["diskGiB"],
        )
        result = {"ready": dock.info["state"] in ("ready", "idle", "running")}
        await dock.files.upload(os.environ["DOCK_SCENARIO_UPLOAD"], SCENARIO["folder"])
        done = await dock.exec(SCENARIO["run"])
        result["run"] = {"exitCode": done.exit_code, "stdout": done.stdout, "stderr": done.stderr}
        result["stream"] = await streamed(dock)
        result["background"] = await in_background(dock)
        result["branch"] = await branched(dock)
        await dock.stop()
        snapshot = await service.snapshots.latest(dock.id)
        result["snapshotFile"] = await service.snapshots.read_text(snapshot["id"], SCENARIO["snapshotFile"])
        await dock.resume()
        folder = Path(os.environ["DOCK_SCENARIO_DOWNLOAD"])
        await dock.files.download(SCENARIO["download"], folder)
        files = [path for path in folder.rglob("*") if path.is_file()]
        result["download"] = {str(path.relative_to(folder)): path.read_text("utf-8") for path in files}
        await dock.delete()
        result["isDeleted"] = all(each.id != dock.id for each in await service.list())
        return result


print(json.dumps(asyncio.run(run())))
