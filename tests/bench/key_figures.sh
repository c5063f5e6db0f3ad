#!/usr/bin/env bash
# The figures that the window is held to, in a release build on two cores: errors after an edit, first picture, pan and zoom, memory.
#   key_figures.sh [BUILD]: default build/release, configured and built where it is not
# With HALFTONE_SHARED also of trained models there, and of a session over fifty of them (HALFTONE_MODELS: a folder with more) and of the tests; with HALFTONE_LARGE="MODEL DATA EXAMPLES" also the most memory that a window takes with it.
# Nothing else should run on the machine.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
[[ -f $build/build.ninja ]] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALFTONE_BENCH=ON >/dev/null
cmake --build "$build" --target bench_window -- -j2 >/dev/null

models=()
add() {
    [[ -f $HALFTONE_SHARED/models/$1 ]] && models+=("$HALFTONE_SHARED/models/$1" "$HALFTONE_SHARED/images/$2" "$3")
    return 0
}
if [[ -n ${HALFTONE_SHARED:-} ]]; then
    add mobilenetv2-mxnet/mobilenetv2-symbol.json imagenet500 64
    add mnet25-retinaface/mnet.25-symbol.json faces 8
fi
# The off-screen platform says of every window that it gives no size hints.
taskset -c 0,1 "$build/tests/bench_window" "${models[@]}" 2> >(grep -v propagateSizeHints >&2)
taskset -c 0,1 "$build/tests/bench_window" --memory "${models[@]}" 2> >(grep -v propagateSizeHints >&2)
if [[ -n ${HALFTONE_SHARED:-} ]]; then
    # The trained ones of both formats first, then as many of the tests' single operators as are missing to fifty.
    mapfile -t trained < <(find "$HALFTONE_SHARED/models" ${HALFTONE_MODELS:+"$HALFTONE_MODELS"} -name '*.onnx' -o -name '*-symbol.json' | sort)
    mapfile -t single < <(find tests/data/ops -name '*-symbol.json' | sort | shuf -n 50 --random-source=<(yes))
    many=("${trained[@]}" "${single[@]}")
    taskset -c 0,1 "$build/tests/bench_window" --models 20 "${many[@]:0:50}" 2> >(grep -v propagateSizeHints >&2)
fi
if [[ -n ${HALFTONE_LARGE:-} ]]; then
    read -ra large <<<"$HALFTONE_LARGE"
    taskset -c 0,1 "$build/tests/bench_window" --peak "${large[@]}" 2> >(grep -v propagateSizeHints >&2)
fi
