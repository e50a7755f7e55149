"""Compares flash programs per CPU second of other simulators with floatgate, on the same drive and load.

None of their code is here: build them yourself and give the paths.

    python scripts/compare_peers.py --mqsim MQSim/MQSim --ftlsim sssl-ftlsim

MQSim (https://github.com/CMU-SAFARI/MQSim): `make` leaves the program. ftlsim (https://github.com/pjd-nu/sssl-ftlsim):
`CFLAGS=-O3 python setup.py build_ext --inplace` leaves its two modules (it needs SWIG and setuptools); they are
imported by the Python that runs this script, or by the one of --ftlsim-python.

Both get a drive of 2 GiB in 2048 blocks of 256 pages of 4 KiB with 12 % spare, greedy collection, and uniform writes of
4 KiB. MQSim has them on 8 channels with 32 under way, from an empty drive, beside floatgate's timed mode; its whole
process counts, and all that floatgate simulates. What floatgate takes to start is told apart. ftlsim is first written
once in order and then five times at random, beside floatgate's functional mode from its steady state, and only the
writes that follow count. docs/performance.md says how the models differ.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_history import append, context, figure

CHANNELS, BLOCKS_PER_PLANE, PAGES_PER_BLOCK, PAGE_BYTES = 8, 256, 256, 4096
SPARE, QUEUE_DEPTH = 0.12, 32
# MQSim never keeps fewer blocks of a plane free, at any GC_Exec_Threshold (GC_and_WL_Unit_Base).
MQSIM_FREE_BLOCKS = 10
BLOCKS = CHANNELS * BLOCKS_PER_PLANE
LOGICAL_PAGES = int(BLOCKS * PAGES_PER_BLOCK * (1 - SPARE))
READ_NS, PROGRAM_NS, ERASE_NS, CHANNEL_MB_PER_S = 50_000, 600_000, 3_000_000, 333
DRIVE = f"2 GiB, {CHANNELS} channels, 12 % spare, greedy, uniform 4 KiB writes"


class PeerError(Exception):
    """A program that fails, or prints nothing usable."""


def xml(name: str, inner: dict[str, Any], level: int = 0) -> str:
    """Return an element with its children."""
    pad = "\t" * level
    lines = [f"{pad}<{name}>"]
    for key, value in inner.items():
        lines.append(xml(key, value, level + 1) if isinstance(value, dict) else f"{pad}\t<{key}>{value}</{key}>")
    return "\n".join([*lines, f"{pad}</{name}>"])


def mqsim_drive() -> str:
    """Write MQSim's configuration: no cache, the whole map at hand, one die and plane per channel."""
    flash = {
        "Flash_Technology": "SLC",
        "CMD_Suspension_Support": "NONE",
        **{f"Page_Read_Latency_{kind}": READ_NS for kind in ("LSB", "CSB", "MSB")},
        **{f"Page_Program_Latency_{kind}": PROGRAM_NS for kind in ("LSB", "CSB", "MSB")},
        "Block_Erase_Latency": ERASE_NS,
        "Block_PE_Cycles_Limit": 1_000_000,
        "Suspend_Erase_Time": 0,
        "Suspend_Program_Time": 0,
        "Die_No_Per_Chip": 1,
        "Plane_No_Per_Die": 1,
        "Block_No_Per_Plane": BLOCKS_PER_PLANE,
        "Page_No_Per_Block": PAGES_PER_BLOCK,
        "Page_Capacity": PAGE_BYTES,
        "Page_Metadat_Capacity": 0,
    }
    device = {
        "Seed": 321,
        "Enabled_Preconditioning": "false",
        "Memory_Type": "FLASH",
        "HostInterface_Type": "NVME",
        "IO_Queue_Depth": QUEUE_DEPTH,
        "Queue_Fetch_Size": QUEUE_DEPTH,
        "Caching_Mechanism": "SIMPLE",
        "Data_Cache_Sharing_Mode": "SHARED",
        "Data_Cache_Capacity": 0,
        "Address_Mapping": "PAGE_LEVEL",
        "Ideal_Mapping_Table": "true",
        "CMT_Capacity": 2_097_152,
        "CMT_Sharing_Mode": "SHARED",
        "Plane_Allocation_Scheme": "CWDP",
        "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
        "Overprovisioning_Ratio": SPARE,
        "GC_Exec_Threshold": 0.01,
        "GC_Block_Selection_Policy": "GREEDY",
        "Use_Copyback_for_GC": "false",
        "Preemptible_GC_Enabled": "false",
        "GC_Hard_Threshold": 0.005,
        "Dynamic_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Threshold": 100,
        "Flash_Channel_Count": CHANNELS,
        "Flash_Channel_Width": 1,
        "Channel_Transfer_Rate": CHANNEL_MB_PER_S,
        "Chip_No_Per_Channel": 1,
        "Flash_Comm_Protocol": "NVDDR2",
        "Flash_Parameter_Set": flash,
    }
    host = {
        "PCIe_Lane_Bandwidth": "1.00000",
        "PCIe_Lane_Count": 16,
        "SATA_Processing_Delay": 0,
        "Enable_ResponseTime_Logging": "false",
        "ResponseTime_Logging_Period_Length": 1_000_000,
    }
    return xml("Execution_Parameter_Set", {"Host_Parameter_Set": host, "Device_Parameter_Set": device}) + "\n"


def mqsim_load(requests: int) -> str:
    """Write MQSim's workload."""
    flow = {
        "Priority_Class": "HIGH",
        "Device_Level_Data_Caching_Mode": "TURNED_OFF",
        "Channel_IDs": ",".join(map(str, range(CHANNELS))),
        "Chip_IDs": 0,
        "Die_IDs": 0,
        "Plane_IDs": 0,
        "Initial_Occupancy_Percentage": 0,
        "Working_Set_Percentage": 100,
        "Synthetic_Generator_Type": "QUEUE_DEPTH",
        "Read_Percentage": 0,
        "Address_Distribution": "RANDOM_UNIFORM",
        "Percentage_of_Hot_Region": 0,
        "Generated_Aligned_Addresses": "true",
        "Address_Alignment_Unit": PAGE_BYTES // 512,
        "Request_Size_Distribution": "FIXED",
        "Average_Request_Size": PAGE_BYTES // 512,
        "Variance_Request_Size": 0,
        "Seed": 798,
        "Average_No_of_Reqs_in_Queue": QUEUE_DEPTH,
        "Bandwidth": 262_144,
        "Stop_Time": 0,
        "Total_Requests_To_Generate": requests,
    }
    return xml("MQSim_IO_Scenarios", {"IO_Scenario": {"IO_Flow_Parameter_Set_Synthetic": flow}}) + "\n"


def child(command: list[str], **more: Any) -> tuple[str, float]:
    """Return what a program says, and its CPU seconds.

    Raises:
        PeerError: it does not start, or fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    except OSError as error:
        raise PeerError(f"{command[0]}: {error.strerror}; expected a program that can be run") from None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["nothing said"]
        raise PeerError(f"{command[0]}: ended with status {done.returncode}: {last[0]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mqsim(program: str, requests: int) -> dict[str, float]:
    """Return programs, host writes and CPU seconds of MQSim."""
    with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as name:
        folder = Path(name)
        (folder / "drive.xml").write_text(mqsim_drive())
        (folder / "load.xml").write_text(mqsim_load(requests))
        # It waits for a key at the end.
        command = [str(Path(program).absolute()), "-i", "drive.xml", "-w", "load.xml"]
        _, cpu_s = child(command, cwd=folder, input="\n")
        result = folder / "load_scenario_1.xml"
        text = result.read_text() if result.exists() else ""
    kinds = ("", "Multiplane_", "Interleaved_")
    counts = [re.search(rf'\bIssued_Flash_{kind}Program_CMD="(\d+)"', text) for kind in kinds]
    if counts[0] is None:
        raise PeerError(f"{program}: no count of flash programs in what it wrote; expected MQSim")
    return {"programs": sum(int(one[1]) for one in counts if one), "writes": requests, "cpu_s": cpu_s}


FTLSIM = """
import json, sys, time
import getaddr, ftlsim
blocks, pages, logical, writes = map(int, sys.argv[1:])
ftl = ftlsim.ftl(blocks, pages)
ftl.minfree = ftl.maxfree = 3
ftl.get_input_pool = ftlsim.cvar.write_select_first
ftl.get_pool_to_clean = ftlsim.cvar.clean_select_first
pool = ftlsim.pool(ftl, "greedy", pages)
pool.next_pool = pool
segments = [ftlsim.segment(pages) for _ in range(blocks)]
for segment in segments:
    segment.thisown = False
pool.add_segment(segments.pop())
for segment in segments:
    ftl.put_blk(segment)
in_order, uniform = getaddr.seq(), getaddr.uniform(logical)
ftl.run(in_order.handle, logical)
ftl.run(uniform.handle, 5 * logical)
ftl.int_writes = ftl.ext_writes = 0
start = time.process_time()
ftl.run(uniform.handle, writes)
spent = time.process_time() - start
print(json.dumps({"programs": ftl.int_writes, "writes": ftl.ext_writes, "cpu_s": spent}))
"""
"""Drives their modules through the interface that their README describes."""


def peer_ftlsim(folder: str, python: str, requests: int) -> dict[str, float]:
    """Return programs, host writes and CPU seconds of ftlsim's kernel."""
    numbers = [str(number) for number in (BLOCKS, PAGES_PER_BLOCK, LOGICAL_PAGES, requests)]
    environment = os.environ | {"PYTHONPATH": str(Path(folder).absolute())}
    output, _ = child([python, "-W", "ignore", "-c", FTLSIM, *numbers], env=environment)
    return dict(json.loads(output.splitlines()[-1]))


def floatgate(mode: str, requests: int, precondition: str) -> dict[str, Any]:
    """Return programs, host writes and CPU seconds of floatgate: of the process, and of the counted phase."""
    settings = {
        "mode": mode,
        "drive.geometry.channels": CHANNELS,
        "drive.geometry.blocks_per_plane": BLOCKS_PER_PLANE,
        "drive.geometry.pages_per_block": PAGES_PER_BLOCK,
        "drive.geometry.page_bytes": PAGE_BYTES,
        "drive.timing.read_us": READ_NS / 1000,
        "drive.timing.program_us": PROGRAM_NS / 1000,
        "drive.timing.erase_us": ERASE_NS / 1000,
        "drive.timing.channel_mb_per_s": CHANNEL_MB_PER_S,
        "ftl.spare_factor": SPARE,
        "ftl.precondition": precondition,
        "ftl.collect.policy": "greedy",
        "workload.pattern": "uniform",
        "workload.requests": requests,
    }
    if mode == "timed":
        settings |= {"workload.arrival": "closed", "workload.queue_depth": QUEUE_DEPTH}
        settings |= {f"ftl.collect.{level}_free_blocks": MQSIM_FREE_BLOCKS for level in ("trigger", "stop")}
    command = [str(Path(sys.executable).with_name("floatgate")), "run", "--json", "-", "--quiet", "--no-report"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    output, cpu_s = child(command)
    result = json.loads(output)
    programs = result["waf"] * requests
    counted_s = programs / result["run"]["programs_per_cpu_s"]
    build = result["run"].get("build", {})
    return {"programs": programs, "writes": requests, "cpu_s": cpu_s, "counted_cpu_s": counted_s, "build": build}


def beside(
    name: str, mode: str, rounds: int, theirs: Callable[[], dict[str, float]], ours: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Run both in turn."""
    pairs = [(theirs(), ours()) for _ in range(rounds)]
    rates = {
        "theirs": [their["programs"] / their["cpu_s"] / 1e6 for their, _ in pairs],
        "ours": [our["programs"] / our["counted_cpu_s"] / 1e6 for _, our in pairs],
        "process": [our["programs"] / our["cpu_s"] / 1e6 for _, our in pairs],
    }

    def ratios(kind: str) -> list[float]:
        return [our / their for our, their in zip(rates[kind], rates["theirs"], strict=True)]

    return {
        "peer": name,
        "mode": mode,
        "programs_per_cpu_s_theirs": statistics.median_high(rates["theirs"]) * 1e6,
        "programs_per_cpu_s_ours": statistics.median_high(rates["ours"]) * 1e6,
        "ratio": statistics.median_high(ratios("ours")),
        "process_ratio": statistics.median_high(ratios("process")),
        "waf_theirs": pairs[0][0]["programs"] / pairs[0][0]["writes"],
        "waf_ours": pairs[0][1]["programs"] / pairs[0][1]["writes"],
        "rounds": rates | {"ratio": ratios("ours"), "process_ratio": ratios("process")},
        "build": pairs[0][1]["build"],
    }


def rows_of(comparison: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rows of the history."""
    name, mode, rounds, build = comparison["peer"], comparison["mode"], comparison["rounds"], comparison["build"]
    theirs_m = float(f"{comparison['programs_per_cpu_s_theirs'] / 1e6:.4e}")
    rate = {"unit": "M programs/s", "better": "higher"}
    ratio = {"better": "higher", "build": build, "yardstick": {"name": name, "value": theirs_m, "unit": rate["unit"]}}

    def one(key: str, values: list[float], **more: Any) -> dict[str, Any]:
        return figure("peers", f"Other simulators: {DRIVE}", f"{name}/{key}", values, **more)

    return [
        one("programs", rounds["theirs"], **rate),
        one("waf", [comparison["waf_theirs"]]),
        one(f"floatgate-{mode}-programs", rounds["ours"], build=build, **rate),
        one(f"floatgate-{mode}-waf", [comparison["waf_ours"]], build=build),
        one(f"{mode}-ratio", rounds["ratio"], **ratio),
        one(f"{mode}-process-ratio", rounds["process_ratio"], **ratio),
    ]


def main() -> int:
    """Run the peers that are available."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mqsim", metavar="PROGRAM", help="MQSim's program")
    parser.add_argument("--ftlsim", metavar="FOLDER", help="the folder of ftlsim's modules")
    parser.add_argument(
        "--ftlsim-python", metavar="PYTHON", default=sys.executable, help="the Python they are built for"
    )
    parser.add_argument("--requests", type=int, default=2_000_000, help="host writes; ftlsim gets ten times as many")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts")
    parser.add_argument(
        "--history", type=Path, default=os.environ.get("FLOATGATE_BENCH_HISTORY"), help="append to this"
    )
    parser.add_argument("--json", metavar="FILE", nargs="?", const="-", help="write JSON; '-' is standard output")
    arguments = parser.parse_args()
    if not arguments.mqsim and not arguments.ftlsim:
        parser.error("expected --mqsim, --ftlsim or both")
    comparisons = []
    few, many = arguments.requests, 10 * arguments.requests
    try:
        if arguments.mqsim:
            timed = lambda: floatgate("timed", few, "none")  # noqa: E731
            comparisons.append(beside("mqsim", "timed", arguments.rounds, lambda: mqsim(arguments.mqsim, few), timed))
        if arguments.ftlsim:
            theirs = lambda: peer_ftlsim(arguments.ftlsim, arguments.ftlsim_python, many)  # noqa: E731
            functional = lambda: floatgate("functional", many, "steady")  # noqa: E731
            comparisons.append(beside("ftlsim", "functional", arguments.rounds, theirs, functional))
    except PeerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    out = sys.stderr if arguments.json == "-" else sys.stdout
    print(f"{DRIVE}; M flash programs per CPU second, medians of {arguments.rounds} rounds", file=out)
    for one in comparisons:
        theirs_m, ours_m = one["programs_per_cpu_s_theirs"] / 1e6, one["programs_per_cpu_s_ours"] / 1e6
        print(f"    {one['peer']:<8} {theirs_m:>8.2f} at WAF {one['waf_theirs']:.3f}", file=out)
        ours_text = f"{ours_m:>8.2f} at WAF {one['waf_ours']:.3f}, {one['mode']}: {one['ratio']:.1f} times"
        print(f"    floatgate {ours_text[1:]} ({one['process_ratio']:.1f} with its start)", file=out)
    if arguments.json == "-":
        json.dump(comparisons, sys.stdout, indent=2)
    elif arguments.json is not None:
        Path(arguments.json).write_text(json.dumps(comparisons, indent=2) + "\n", "utf-8")
    if arguments.history:
        append(arguments.history, context(arguments.history), [row for one in comparisons for row in rows_of(one)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
