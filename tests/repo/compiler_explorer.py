#!/usr/bin/env python3
# The program that a link of scripts/compiler-explorer opens, compiled with the single header of this tree: it prints what README says.

import base64
import json
import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
folder = tempfile.TemporaryDirectory()
scratch = Path(folder.name)

link = subprocess.run([ROOT / "scripts/compiler-explorer", "some-account"], check=True, capture_output=True, text=True).stdout.strip()
prefix = "https://godbolt.org/clientstate/"
assert link.startswith(prefix) and len(link) < 2000, link  # what every browser takes
(session,) = json.loads(zlib.decompress(base64.urlsafe_b64decode(link.removeprefix(prefix))))["sessions"]
(executor,) = session["executors"]
assert session["language"] == "c++", session

address = "https://raw.githubusercontent.com/some-account/xloom/main/"
header = re.search(f"#include <{re.escape(address)}(.*)>", session["source"])[1]
(scratch / "main.cpp").write_text(session["source"].replace(f"<{address}{header}>", f'"{ROOT / header}"'))
options = [option for option in executor["compiler"]["options"].split() if not option.startswith("-march")]
program = scratch / "program"
subprocess.run(["g++", *options, scratch / "main.cpp", "-o", program], check=True)
output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
if output not in (ROOT / "README.md").read_text():
    sys.exit(f"the program prints {output!r}, which README.md does not have")
print("the program of the link prints", output.strip())
