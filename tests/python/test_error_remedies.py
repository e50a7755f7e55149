"""Errors of users: each names key and value, states the fact and its remedy, and suggests five names at most."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import Cli

SUGGESTIONS_MAX = 5
EXPERIMENT = """seed = 1
[drive]
preset = "mlc-20nm"
capacity = "1 GiB"
[workload]
kind = "synthetic"
requests = 1000
"""
TRACE = "128166372003061629,prxy,0,Write,1000,4096,100\n"
SHAPE = "--channels 1 --chips 1 --dies 1 --planes 1 --page-bytes 4096"
CAPTURE = "Time [s],rb0\n0,1\n0.1,0\n0.2,1\n"
TRANSLATED = re.compile(r"\b(?:is|are) no [a-z]|there (?:is|are) no\b|invalid type|Input should", re.I)
"""Wording of a translation, of serde or of the argument parser."""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "ok.toml").write_text(EXPERIMENT)
    (tmp_path / "ok.csv").write_text(TRACE)
    (tmp_path / "capture.csv").write_text(CAPTURE)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "words.txt").write_text("hello world\nthis is text\n")
    (tmp_path / "spc.txt").write_text("0,1,512,Q,0.1\n")


def must_be_of_use(message: str, *parts: str) -> None:
    """Require all parts, five suggestions at most, and plain words."""
    for part in parts:
        assert part in message, message
    remedy = message.partition("; ")[2]
    assert remedy, message
    names = re.findall(r"'[^']*'", remedy.partition(" (")[0])
    assert len(names) <= SUGGESTIONS_MAX, message
    assert not TRANSLATED.search(message), message


FILES = [
    # values of a wrong type
    ('seed = "x"', 'e.toml:1:8: seed = "x" is not a whole number', "such as seed = 1"),
    ("seed = 1.5", "e.toml:1:8: seed = 1.5 is not a whole number", "such as seed = 1"),
    ("seed = true", "seed = true is not a whole number", "such as seed = 1"),
    ("mode = 3", "mode = 3 is not text", 'such as mode = "functional"'),
    ('[ftl]\nspare_factor = "x"', 'e.toml:2:16: spare_factor = "x" is not a number', "0.07 to 0.13 on most drives"),
    ("[ftl.collect]\npolicy = 3", "policy = 3 is not text", 'such as policy = "greedy"'),
    ('[drive]\nplp = "yes"', 'plp = "yes" is neither true nor false', "expected true or false"),
    ("[drive]\ncapacity = true", "capacity = true is not text", 'a size such as "128 GiB"'),
    ("[drive]\ncapacity = 5", "'5' is less than one block per plane", "at least 1048576 bytes"),
    ("drive = 3", "drive = 3 is not a table", "a line with its name in brackets"),
    ("[workload]\nsizes = 5", "sizes = 5 is not a list", "pairs of bytes and weight"),
    ('[workload]\nsizes = [[1, "x"]]', 'sizes = [[1, "x"]] holds an item that is not a number', "pairs of bytes"),
    # values outside their range
    ("seed = -1", "seed = -1 is out of range", "a whole number from 0 to 9223372036854775807"),
    ("[drive.geometry]\nchannels = 4294967296", "channels = 4294967296 is out of range", "from 1 to 4294967295"),
    ("[drive.geometry]\nchannels = 0", "channels is 0", "a whole number from 1"),
    ("[drive.geometry]\npage_bytes = 5000", "page_bytes is 5000", "a power of two from 512 to 65536"),
    ("[ftl]\nspare_factor = 1.5", "spare_factor is 1.5", "a share of the flash above 0"),
    ('[drive]\ncapacity = "lots"', "'lots' is not a size", 'a size such as "128 GiB"'),
    # unknown keys and names
    ("[ftl]\nspare_facto = 0.1", "e.toml:2:1: unknown key 'spare_facto' in [ftl]", "did you mean 'spare_factor'?"),
    ("[flt]\nspare_factor = 0.1", "e.toml:1:2: unknown key 'flt'", "did you mean 'ftl'?"),
    ("spare_factor = 0.1", "unknown key 'spare_factor'", "did you mean 'ftl.spare_factor'?"),
    ("[ftl]\nzzzz = 1", "unknown key 'zzzz' in [ftl]", "'floatgate schema' lists all"),
    ('mode = "timmed"', "unknown mode 'timmed'", "did you mean 'timed'?"),
    ('[drive]\npreset = "mlc20nm"', "unknown drive 'mlc20nm'", "did you mean 'mlc-20nm'?"),
    ('[drive]\npreset = "zzzz"', "unknown drive 'zzzz'", "'floatgate drives' lists all"),
    ('[ftl.collect]\npolicy = "gredy"', "unknown victim policy 'gredy'", "did you mean 'greedy'?"),
    ('[ftl.separate]\npolicy = "zzzz"', "unknown separator 'zzzz'", "'floatgate policies' lists all"),
    ('[lifetime.throttle]\npolicy = "ready"', "unknown throttle 'ready'", "'ready-pessimistic' or 'ready-optimistic'?"),
    ('[workload]\npattern = "unifrom"', "unknown pattern 'unifrom'", "did you mean 'uniform'?"),
    ('[workload]\ntwin = "prxyy"', "unknown twin 'prxyy'", "did you mean 'proxy'?"),
    ('[workload]\nmicro = "4k"', "unknown micro '4k'", "'floatgate trace generate --list' lists all"),
    # settings that contradict one another
    ("[workload]\nqueue_depth = 4", "queue_depth = 4 has no effect in functional mode", 'mode = "timed"'),
    ("[workload]\nzipf_theta = 1.1", 'zipf_theta = 1.1 has no effect with pattern = "uniform"', 'pattern = "zipf"'),
    ("[ftl.collect]\nchoices = 4", 'choices = 4 has no effect with policy = "greedy"', 'policy = "d-choices"'),
    ('[workload]\nkind = "trace"', 'kind = "trace" has no file', "--trace TRACE"),
    # text that is not TOML
    ("seed = = 2", "e.toml:1:8: 'seed = = 2' is not TOML: extra '='", "such as seed = 1"),
    ("seed = 1\nseed = 2", "e.toml:2:1: seed is set twice", "each key once"),
    (TRACE, f"'{TRACE.strip()}' is not TOML", "KEY = VALUE"),
]


@pytest.mark.parametrize(("text", "fact", "remedy"), FILES)
def test_an_experiment_file(cli: Cli, tmp_path: Path, text: str, fact: str, remedy: str) -> None:
    (tmp_path / "e.toml").write_text(text + "\n")
    must_be_of_use(cli("check", "e.toml").refused(), fact, remedy)


COMMANDS = [
    # --set
    ("check ok.toml --set seed=x", "seed: 'x' is not a whole number", "such as seed=1"),
    ("check ok.toml --set drive.plp=maybe", "drive.plp: 'maybe' is neither true nor false", "true or false"),
    ("check ok.toml --set ftl.spare=1", "unknown key 'spare' in [ftl]", "did you mean 'ftl.spare_factor'?"),
    ("check ok.toml --set workload.requests=18446744073709551615", "'18446744073709551615' is too large", "up to"),
    ("check ok.toml --set ftl.collect.policy=greddy", "unknown victim policy 'greddy'", "did you mean 'greedy'?"),
    ("check ok.toml --set seed", "--set 'seed'", "KEY=VALUE such as"),
    # commands and options
    ("rnu", "unknown command 'rnu' of floatgate", "did you mean 'run'? ('floatgate --help' lists all)"),
    ("trace inf", "unknown command 'inf' of floatgate trace", "did you mean 'info'?"),
    ("generate", "unknown command 'generate' of floatgate", "did you mean 'floatgate trace generate'?"),
    ("run ok.toml --drve x", "unknown option '--drve' of floatgate run", "did you mean '--drive'?"),
    ("run ok.toml --set", "--set: the value is missing", "expected --set and its value"),
    ("run ok.toml extra", "unexpected argument 'extra'", "floatgate run --help"),
    ("run ok.toml --repeat 0", "--repeat '0': too small", "expected 1 or more"),
    ("run ok.toml --repeat x", "--repeat 'x': not a whole number", "expected a whole number"),
    ("run ok.toml --snapshot-every x", "--snapshot-every 'x': not a number", "expected a number"),
    ("lifetime ok.toml --judge flesh", "--judge 'flesh': unknown value", "did you mean 'flash'?"),
    ("schema resut", "'resut': unknown value", "did you mean 'result'?"),
    ("rb measure capture.csv", "missing option '--channels'", "see floatgate rb measure --help"),
    ("init --pattern zipf", "floatgate init: no drive", "--drive NAME"),
    ("init --drive mlc-20nm", "floatgate init: no workload", "--trace FILE, --twin NAME or --pattern P"),
    ("init --drive mlc20nm --pattern zipf", "unknown drive 'mlc20nm'", "did you mean 'mlc-20nm'?"),
    ("init --drive mlc-20nm --pattern zipf -o ok.toml", "ok.toml: exists already", "--force"),
    ("man run", "unexpected argument 'run'", "floatgate man --help"),
    ("completion fsh", "'fsh': unknown value", "did you mean 'zsh' or 'fish'?"),
    # catalogues
    ("drives mlc20nm", "unknown drive 'mlc20nm'", "did you mean 'mlc-20nm'?"),
    ("policies gredy", "unknown policy 'gredy'", "did you mean 'greedy' or 'ready'?"),
    ("policies zzzz", "unknown policy 'zzzz'", "'floatgate policies' lists all"),
    ("reproduce redy", "unknown paper 'redy'", "did you mean 'ready'?"),
    ("ls --kind runn", "--kind 'runn': unknown kind", "did you mean 'run'?"),
    # many runs
    ("sweep ok.toml --vary sed=1,2 --out o", "--vary 'sed': unknown key", "did you mean 'seed'?"),
    ("sweep ok.toml --vary seed=1,2 --sample grd --out o", "unknown sample 'grd'", "did you mean 'grid'?"),
    ("compare ok.toml --vary ftl.spare_factor --out o", "--vary 'ftl.spare_factor'", "KEY=VALUE such as"),
    (
        "tune ok.toml --vary ftl.spare_factor=0.1..0.2 --minimise waf_bytess --trials 1 --out o",
        "--minimise 'waf_bytess': unknown metric",
        "did you mean 'waf_bytes'",
    ),
    (
        "tune ok.toml --vary ftl.spare_factor=0.1..0.2 --minimise zzzz --trials 1 --out o",
        "--minimise 'zzzz': unknown metric",
        "expected one of 'waf_bytes'",
    ),
    ("plan ok.toml --drives ent-tlc-mu-1t --out o", "unknown drive or group 'ent-tlc-mu-1t'", "'ent-tlc-mu-1t6'"),
    ("plan ok.toml --drives mlc-20nm --throttles dynamc --out o", "--throttles 'dynamc'", "did you mean 'dynamic'?"),
    ("lifetime ok.toml --target 0", "--target: 0 is not a length of time", "such as 5"),
    ("lifetime ok.toml --growth x", "--growth: 'x' is not a growth rate", "such as 0.2"),
    # traces and captures
    ("trace info nofile", "nofile: no such file", "expected a trace file"),
    ("trace info empty.csv", "empty.csv: the file is empty", "expected a trace"),
    ("trace info words.txt", "(first line 'hello world')", "'floatgate schema' lists all"),
    ("trace info ok.csv --format mrs", "--format: 'mrs' is not a trace format", "did you mean 'msr'?"),
    ("trace info spc.txt --format spc", "spc.txt:1:9: 'Q' is not an opcode", "expected R or W"),
    ("trace info ok.csv --device prxy", "--device: 'prxy' is not a device of ok.csv", "did you mean 'prxy_0'?"),
    ("trace info ok.csv --op wirte", "--op: 'wirte' does not name operations", "read,write,trim"),
    ("trace info ok.csv --time-unit hour", "--time-unit: 'hour' is not a time unit", "'ns', 'us', 'ms', 's'"),
    ("trace info ok.csv --action Z", "--action: 'Z' is not a blkparse action", "or 7 others"),
    ("trace convert ok.csv a.foo", "a.foo: no format has the extension '.foo'", "--to FORMAT"),
    ("trace convert ok.csv a.parquet --to mrs", "--to: 'mrs' cannot be written", "did you mean 'msr'?"),
    ("trace convert ok.csv ok.csv", "ok.csv: exists already", "--force"),
    ("trace generate --pattern unifrm -o a.parquet", "unknown pattern 'unifrm'", "did you mean 'uniform'?"),
    ("trace generate --pattern zipf --twin proxy -o a.parquet", "--twin and --pattern exclude each other", "--list"),
    ("trace record --backend pref -o r.parquet -- true", "--backend: 'pref' is unknown", "did you mean 'perf'?"),
    ("trace patterns ok.csv --window 0", "--window: 0 is out of range", "expected 1 to"),
    (
        f"rb measure capture.csv --format vdc {SHAPE}",
        "'vdc'",
        "'vcd'?",
    ),
    (
        f"rb measure capture.csv --signal rb {SHAPE}",
        "no signal 'rb'",
        "'rb0'?",
    ),
    # public traces
    ("fetch finacial1", "unknown trace 'finacial1'", "did you mean 'financial1' or 'financial2'?"),
    ("fetch zzzz", "unknown trace 'zzzz'", "'floatgate fetch' lists all"),
    ("fetch --from ok.csv", "--from: no trace to fetch", "expected its NAME before it"),
    ("fetch financial1 --from nofile", "nofile: no such file", "expected Financial1.spc.bz2 of financial1"),
    ("fetch financial1 --member a --cache c", "is not an archive", "expected no --member"),
    (
        "fetch systor17 --cache c",
        "its owner offers no direct download",
        "put it at c/systor17/systor-17-01.tar or name",
    ),
    ("fetch fiu-homes --from words.txt --cache c", "words.txt: is damaged", "expected homes.tar.gz of fiu-homes"),
    ("fetch alibaba --from words.txt --cache c", "words.txt: its md5 is", "expected alibaba_block_traces_2020.tar.gz"),
    ("placement ok.csv --by contxt", "--by 'contxt': unknown key", "did you mean 'context'?"),
    ("theory wa --policy gredy --spare-factor 0.1 --pages-per-block 4", "unknown policy 'gredy'", "'greedy'?"),
]


@pytest.mark.parametrize(("line", "fact", "remedy"), COMMANDS)
def test_a_command(cli: Cli, line: str, fact: str, remedy: str) -> None:
    must_be_of_use(cli(*line.split()).refused(), fact, remedy)
