"""
Runs the Python of a document: python-snippets.py FILE. Each block finds `dock`, a Dock that runs, and what earlier blocks
have defined. Afterwards a program does its last step: the loop of an agent with a model whose steps are fixed.
"""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdks" / "python"))
sys.dont_write_bytecode = True

from dock_sdk import Dock  # noqa: E402

document = Path(sys.argv[1]).read_text("utf-8")
os.chdir(os.environ["HOME"])
project = Path("my-project/out")
project.mkdir(parents=True)
(project / "result.bin").write_bytes(bytes(1000))
Path("in.csv").write_text("a,b\n1,2\n")

known = {"__name__": "snippet", "name": "a b;c"}
with Dock.create(name=os.environ["DOCK_SCENARIO_NAME"], cpus=1, memory_mib=1024, disk_gib=2, on_exit="delete") as dock:
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", document, re.S), 1):
        known["dock"] = dock
        print(f"--- block {number}", file=sys.stderr)
        exec(compile(block, f"{sys.argv[1]}, block {number}", "exec"), known)

    if "work" in known:
        steps = [
            {"tool": "read", "path": "none.txt"},
            {"tool": "write", "path": "main.sh", "text": "echo made >made.txt; echo done; exit 3"},
            {"tool": "run", "command": "sh main.sh"},
            {"tool": "answer", "text": "finished"},
        ]
        seen = []

        def ask(messages):
            seen.append(messages[-1]["content"])
            return steps[len(seen) - 1]

        answer = known["work"]("make it", ask)
        expected = ["make it", "There is no such path in the Dock.", "written", "done\n\nexited, exit code 3"]
        assert (answer, seen) == ("finished", expected), (answer, seen)
        assert Path("result/made.txt").read_text() == "made\n"
    if Path("out").exists():
        assert Path("out/result.bin").stat().st_size == 1000
print('"every block ran"')
