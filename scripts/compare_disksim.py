"""Compare a run of DiskSim's SSD extension with the same run of floatgate (docs/disksim.md).

FOLDER/NAME.parv has the parameters, FOLDER/NAME.outv (or .outv.zst) the results, TRACE the requests. With --causes the
rules of DiskSim that floatgate lacks are taken away one by one, which takes a minute or two.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from pathlib import Path

from floatgate.base.errors import STATUS_DONE, STATUS_RUN_FAILED, STATUS_UNUSABLE_INPUT, InputError, RunError
from floatgate.run.experiment import parse_set
from validation.disksim.compare import as_json, as_text, compare, ladder


def _value(text: str) -> object:
    """A value of TOML, or a bare string, as on floatgate's command line."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where parameters and results are")
    parser.add_argument("name", help="their name without extension")
    parser.add_argument("trace", help="the trace, in DiskSim's ASCII format")
    parser.add_argument("--causes", action="store_true", help="say what each difference is worth")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=v", help="a setting over the drive's")
    parser.add_argument("--json", metavar="FILE", help="write the tables as JSON; '-' is standard output")
    arguments = parser.parse_args()
    try:
        overrides = {key: _value(text) for key, text in map(parse_set, arguments.set)}
        comparison = compare(arguments.folder, arguments.name, arguments.trace, overrides)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return STATUS_UNUSABLE_INPUT
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return STATUS_RUN_FAILED
    steps = ladder(comparison) if arguments.causes else []
    print(as_text(comparison, steps), file=sys.stderr if arguments.json == "-" else sys.stdout)
    if arguments.json is not None:
        text = json.dumps(as_json(comparison, steps), indent=2) + "\n"
        if arguments.json == "-":
            sys.stdout.write(text)
        else:
            Path(arguments.json).write_text(text, "utf-8")
    return STATUS_DONE


if __name__ == "__main__":
    sys.exit(main())
