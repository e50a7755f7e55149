"""Compare the golden results in tests/golden with the current ones of the shipped experiments, or renew them.

The test `goldens` of crates/experiment does the work: what is renewed is what is tested.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The extension beside the crate keeps cargo from compiling everything anew with fewer features.
TEST = ["cargo", "test", "-p", "floatgate-python", "-p", "floatgate-experiment", "--test", "it", "goldens::"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renew", action="store_true", help="write the results; read the diff before it is committed")
    renew = parser.parse_args().renew
    env = os.environ | ({"FLOATGATE_GOLDEN": "renew"} if renew else {})
    status = subprocess.run([*TEST, "--", "--nocapture"], cwd=ROOT, env=env, check=False).returncode
    if renew and status == 0:
        subprocess.run(["git", "status", "--short", "tests/golden"], cwd=ROOT, check=False)
    return status


if __name__ == "__main__":
    sys.exit(main())
