#!/usr/bin/env bash
# Makes the captures of the folder `captures`: Ready/Busy pins of an emulated drive, as a logic analyser would have recorded them.
# The drive is the SSD-v of the paper on RB-Explorer (Table 2) with fewer blocks.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

drive=(--drive ssd-v --set drive.capacity="512 MiB" --set mode=timed
    --set workload.queue_depth=8 --no-report --quiet --force)

# Sequential writes of 16 MB to an empty drive, for `rb multi-page`.
floatgate run "${drive[@]}" --set ftl.precondition=none --set workload.pattern=sequential --set workload.requests=4096 \
    --waveform "$out/sequential.vcd" --out "$out/sequential"
# Random writes with as many reads to a drive in use, on two of the four dies.
floatgate run "${drive[@]}" --set ftl.precondition=random --set workload.warmup_requests=80000 --set workload.requests=9000 --set workload.read_share=0.5 \
    --waveform "$out/all.csv" --die all --out "$out/random"
cut -d, -f1-3 "$out/all.csv" >"$out/random.csv"
for name in sequential.vcd random.csv; do
    gzip --best --no-name --stdout "$out/$name" >"captures/$name.gz"
done
grep -A2 '"host_bytes"' "$out/random/result.json" | head -3
