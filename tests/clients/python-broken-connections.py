"""
Reads and writes much through connections that break, with both halves of the Python SDK. `DOCK_ID` is a Dock, `DOCK_URL` a
proxy that breaks connections. Prints what was wrong as JSON; broken-connections.mjs does the same.
"""

import asyncio
import json
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdks" / "python"))
sys.dont_write_bytecode = True

from dock_sdk import AsyncDock, Dock  # noqa: E402

LINES = 6_000
COUNTING = f'for ((at = 1; at <= {LINES}; at++)); do echo "line $at"; done'
BOTH = f"exec 2> >(cat >&2); {COUNTING} | tee /dev/stderr"


def first_wrong(lines):
    """Return the first line that is not the expected one, or None."""
    for at in range(max(len(lines), LINES)):
        line = lines[at] if at < len(lines) else None
        if line != f"line {at + 1}":
            return {"at": at, "line": line, "count": len(lines)}
    return None


def input_part(name, part):
    return "".join(f"{name} {part * 500 + at}\n" for at in range(500))


def both_wrong(chunks):
    texts = {"stdout": b"", "stderr": b""}
    for chunk in chunks:
        texts[chunk.stream] += chunk.data
    return [first_wrong(text.decode().splitlines()) for text in texts.values()]


def in_threads():
    dock = Dock.get(os.environ["DOCK_ID"])
    result = {"oneOutput": first_wrong(list(dock.spawn(COUNTING).stdout.lines()))}
    result["bothOutputs"] = both_wrong(dock.spawn(BOTH))
    sink = dock.spawn(["tee", "received"], stdin=True)

    def write(handle, name):
        for part in range(10):
            handle.stdin.write(input_part(name, part))

    other = dock.processes.attach(sink.id)
    threads = [threading.Thread(target=write, args=each) for each in ((sink, "first"), (other, "second"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sink.stdin.close()
    return {**result, "input": sink.wait().exit_code}


async def in_asyncio():
    dock = await AsyncDock.get(os.environ["DOCK_ID"])
    counter = await dock.spawn(COUNTING)
    result = {"oneOutput": first_wrong([line async for line in counter.stdout.lines()])}
    result["bothOutputs"] = both_wrong([chunk async for chunk in await dock.spawn(BOTH)])
    sink = await dock.spawn(["tee", "received"], stdin=True)

    async def write(handle, name):
        for part in range(10):
            await handle.stdin.write(input_part(name, part))

    await asyncio.gather(write(sink, "first"), write(dock.processes.attach(sink.id), "second"))
    await sink.stdin.close()
    exit_code = (await sink.wait()).exit_code
    await dock.aclose()
    return {**result, "input": exit_code}


print(json.dumps(asyncio.run(in_asyncio()) if sys.argv[1:] == ["asyncio"] else in_threads()))
