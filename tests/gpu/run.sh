#!/usr/bin/env bash
# Checks and measures the CUDA backend on a machine with a GPU, from what pack.sh packed: run.sh [accept|suite|sanitize|bench|bench-others]…
#
# accept        operator cases of ONNX and MXNet, trained models in float32, float16 and bfloat16
# suite         ONNX's own operator tests, all (onnx_ops.py of HALFTONE_SHARED)
# sanitize      compute-sanitizer (memcheck, racecheck, initcheck) over operator cases and small models
# bench         latency in float16 and bfloat16 beside PyTorch's; what torch.compile makes for it is made from the start
# bench-others  latency in float32, int8 and float8
#
# Without arguments: all, in this order. HALFTONE_SECONDS (default: 1200) is what they may take together; a part that ends early leaves
# its time to those behind it, one that does not end is stopped, counts as failed, and what it had found is kept.
# Needs the NVIDIA driver, CUDA's NVRTC, cuBLASLt and cuDNN, Python with numpy; PyTorch to compare with. No network.
# Writes HALFTONE_RECORD (default: record-DATE.txt), which belongs to tests/gpu of the commit that it names. Exit 77: no GPU.
set -uo pipefail
cd "$(dirname "$0")" || exit

declare -rA shares=([accept]=10 [suite]=25 [sanitize]=30 [bench]=25 [bench-others]=25)
parts=("$@")
[[ $# -gt 0 ]] || parts=(accept suite sanitize bench bench-others)
for name in "${parts[@]}"; do
    [[ -v shares[$name] ]] || {
        echo "error: $name: not one of accept, suite, sanitize, bench, bench-others" >&2
        exit 2
    }
done
readonly parts
readonly budget=${HALFTONE_SECONDS:-1200} record=${HALFTONE_RECORD:-record-$(date -u +%Y-%m-%d).txt}

# Where wheels bring CUDA's libraries, they lie beside PyTorch.
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}"
for folder in $(python3 -c 'import glob, os, site
for p in site.getsitepackages() + [site.getusersitepackages()]:
    print(*glob.glob(os.path.join(p, "nvidia", "*", "lib")), sep="\n")'); do
    LD_LIBRARY_PATH+=":$folder"
done
export HALFTONE_CLI="$PWD/bin/halftone-cli" HALFTONE_SHARED="$PWD/shared" PYTHONUNBUFFERED=1

if ! device=$("$HALFTONE_CLI" backends --json | python3 -c 'import json, sys
row = next((b for b in json.load(sys.stdin)["backends"] if b["name"] == "cuda"), {"device": "", "why": "this build has no backend cuda"})
print(row["device"] or row["why"])
sys.exit(0 if row["device"] else 1)'); then
    echo "no GPU, nothing was checked: ${device:-the command line does not start here}" >&2
    exit 77
fi

failures=0
# What the program loads, as the loader says it: without cuDNN or cuBLASLt kernels of its own would pass for theirs.
libraries() {
    local log name path
    log=$(mktemp -d)
    LD_DEBUG=libs LD_DEBUG_OUTPUT=$log/ld "$HALFTONE_CLI" backends >/dev/null
    for name in libcuda libnvrtc libcublasLt libcudnn; do
        path=$(sed -n "s|.*calling init: \(.*/$name\.so.*\)|\1|p" "$log"/ld.* | head -n 1)
        [[ -z $path ]] || path=$(basename "$(readlink -f "$path")") # with its version
        echo "$name: ${path:-not loaded}"
        [[ -n $path ]] || failures=$((failures + 1))
    done
    rm -rf "$log"
}

share_left=0
for name in "${parts[@]}"; do
    share_left=$((share_left + shares[$name]))
done

limited() { # limited SECONDS NAME COMMAND...
    local limit=$1 name=$2 code
    shift 2
    echo "== $name, at most $limit s"
    timeout -k 10 "$limit" "$@"
    code=$?
    [[ $code -ne 124 && $code -ne 137 ]] || echo "stopped after $limit s"
    [[ $code -eq 0 ]] || {
        failures=$((failures + 1))
        echo "FAILED: $name"
    }
}

part() { # part NAME
    local left=$((budget - SECONDS)) limit tool tools=(memcheck racecheck initcheck) k
    limit=$((left > 0 ? left * shares[$1] / share_left : 0))
    share_left=$((share_left - shares[$1]))
    if [[ $limit -lt 10 ]]; then
        echo "FAILED: $1: no time is left"
        failures=$((failures + 1))
        return
    fi
    case $1 in
    accept) limited "$limit" accept python3 -B accept.py ;;
    suite)
        if [[ ! -d onnx_suite ]]; then
            echo "FAILED: suite: pack.sh found no package onnx that has it"
            failures=$((failures + 1))
            return
        fi
        limited "$limit" suite python3 -B accept.py suite
        ;;
    bench)
        [[ -z $ahead ]] || wait "$ahead"
        limit=$((limit < budget - SECONDS ? limit : budget - SECONDS))
        limited "$limit" bench python3 -B bench.py --types float16 bfloat16
        ;;
    bench-others) limited "$limit" bench-others python3 -B bench.py --types float32 int8 float8 ;;
    sanitize)
        if ! command -v compute-sanitizer >/dev/null; then
            echo "FAILED: sanitize: compute-sanitizer is not there"
            failures=$((failures + 1))
            return
        fi
        local end=$((SECONDS + limit)) kinds
        for k in "${!tools[@]}"; do
            tool=${tools[k]}
            kinds=(mxnet onnx small)
            # What libraries write with tensor cores of sm_90 initcheck takes for unwritten, however right the answers are.
            [[ $tool != initcheck ]] || kinds=(mxnet onnx)
            limited $(((end - SECONDS) / (${#tools[@]} - k))) "sanitize: $tool" python3 -B accept.py --under "$tool" \
                --seconds $(((end - SECONDS) / (${#tools[@]} - k) - 5)) "${kinds[@]}"
        done
        ;;
    esac
}

{
    date -u +'%Y-%m-%d %H:%M UTC'
    echo "commit $(cat commit)"
    echo "$device"
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,memory.total --format=csv 2>/dev/null
    libraries
    ahead=
    if [[ " ${parts[*]} " == *" bench "* ]]; then
        timeout "$((budget / 2))" python3 -B bench.py --compile-ahead >/dev/null 2>&1 &
        ahead=$!
    fi
    for name in "${parts[@]}"; do
        part "$name"
    done
    echo "$failures failed, $SECONDS s"
} 2>&1 | tee "$record"
grep -q '^0 failed, ' "$record"
