#!/usr/bin/env bash
# Checks and measures the CUDA backend on a machine with a GPU, from what pack.sh packed: run.sh [RECORD]
#
# Needs the NVIDIA driver, CUDA's NVRTC, cuBLASLt and cuDNN, Python with numpy; PyTorch to compare with. No network.
# Writes RECORD (default: record-DATE.txt), which belongs to tests/gpu of the commit that it names. Exit 77: no GPU.
set -uo pipefail
cd "$(dirname "$0")" || exit

record=${1:-record-$(date -u +%Y-%m-%d).txt}
readonly record
export LD_LIBRARY_PATH="$PWD/lib:${LD_LIBRARY_PATH:-}"
# Where wheels bring CUDA's libraries, they lie beside PyTorch.
for folder in $(python3 -c 'import glob, os, site
for p in site.getsitepackages() + [site.getusersitepackages()]:
    print(*glob.glob(os.path.join(p, "nvidia", "*", "lib")), sep="\n")'); do
    LD_LIBRARY_PATH+=":$folder"
done
export HALFTONE_CLI="$PWD/bin/halftone-cli"

if ! "$HALFTONE_CLI" backends --json | python3 -c 'import json, sys
row = next(b for b in json.load(sys.stdin)["backends"] if b["name"] == "cuda")
print(row["device"] or row["why"])
sys.exit(0 if row["device"] else 1)'; then
    echo "no GPU: nothing was checked" >&2
    exit 77
fi

failures=0
part() { # part NAME COMMAND...
    local name=$1
    shift
    echo "== $name"
    "$@" || {
        failures=$((failures + 1))
        echo "FAILED: $name"
    }
}

{
    date -u +'%Y-%m-%d %H:%M UTC'
    echo "commit $(cat commit)"
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,memory.total --format=csv 2>/dev/null
    part "operators and models" python3 -B accept.py
    part "latency" python3 -B bench.py
    if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck initcheck; do
            part "compute-sanitizer $tool" python3 -B accept.py --operators --under "compute-sanitizer --tool $tool --error-exitcode 9"
        done
    else
        echo "compute-sanitizer is not there: not run"
    fi
    echo "$failures parts failed"
} 2>&1 | tee "$record"
grep -q '^0 parts failed$' "$record"
