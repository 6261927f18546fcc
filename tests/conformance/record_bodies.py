#!/usr/bin/env python3
"""Writes local/apiserver/protobuf/testdata/bodies.json: request bodies as client-go encodes them.

  record_bodies.py            write the file
  record_bodies.py --check    fail when client-go says something else
"""

import argparse
import json
import subprocess
import sys

import go_programs

PAGE = go_programs.HERE.parents[1] / "local" / "apiserver" / "protobuf" / "testdata" / "bodies.json"


def recorded() -> str:
    program = go_programs.program("bodies")
    bodies = json.loads(subprocess.run([program], check=True, capture_output=True).stdout)
    rows = (f"{json.dumps(kind)}:{json.dumps(body, separators=(',', ':'))}"
            for kind, body in sorted(bodies.items()))
    return "{\n" + ",\n".join(rows) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = recorded()
    if not options.check:
        PAGE.write_text(text)
        return 0
    if PAGE.read_text() == text:
        return 0
    print(f"{PAGE.name} is not what client-go writes: run {sys.argv[0]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
