#!/bin/bash
# Fuzzes each target for some seconds (first argument, default 10) from the kept corpora and the fixtures; the second argument names one target,
# the third the preset to build with: fuzz, which runs faster, or asan, whose build may be there already.
# A finding stays in build/PRESET/findings: mend it, and keep the input in tests/fuzz/corpus/TARGET, where the test suite replays it.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-10}
targets=${2:-symbol_json params policy onnx tflite statistics}
preset=${3:-fuzz}
folder=build/$preset
declare -A fixtures=([symbol_json]=tests/data/formats/symbol-json [params]=tests/data/formats/params [policy]=""
    [onnx]="tests/data/onnx tests/data/onnx_ops tests/data/qdq" [tflite]="tests/data/tflite" [statistics]="")

[[ -f $folder/build.ninja ]] || cmake --preset "$preset" >/dev/null
read -ra names <<<"$targets"
cmake --build "$folder" --target "${names[@]/#/fuzz_}" >/dev/null
for target in "${names[@]}"; do
    work=$folder/work/$target
    mkdir -p "$work" "$folder/findings"
    # shellcheck disable=SC2086  # no fixtures: no argument
    "$folder/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=512 -max_len=8192 -verbosity=0 -print_final_stats=1 \
        -dict=tests/fuzz/"$target".dict -artifact_prefix="$folder/findings/$target-" "$work" tests/fuzz/corpus/"$target" ${fixtures[$target]} \
        >"$work.log" 2>&1 || true
    grep -E "ERROR|SUMMARY|violated|Test unit" "$work.log" || true
    if ! grep "number_of_executed_units" "$work.log"; then
        tail -n 20 "$work.log"
        echo "fuzz $target: the fuzzer did not run to its end"
        exit 1
    fi
    if compgen -G "$folder/findings/$target-*" >/dev/null; then
        echo "fuzz $target: findings in $folder/findings"
        exit 1
    fi
    echo "fuzz $target: ${seconds} s, nothing found"
done
