#!/usr/bin/env bash
# The figures that the window is held to, in a release build on two cores: errors after an edit, first picture, pan and zoom, memory.
#   key_figures.sh [BUILD [PART]...]: default build/release, configured and built where it is not, and all parts:
#   picture, pan, errors, memory (50 times the same models), session (50 models one after the other), large
# With HALFTONE_SHARED also of trained models there (HALFTONE_MODELS: a folder with more for the session); without, the session is over the
# tests' models alone. `large` needs HALFTONE_LARGE="MODEL DATA EXAMPLES [LIMIT-MIB]": the most memory that a window takes with it.
# Nothing else should run on the machine. A part takes minutes on a slow one; each can be run by itself.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
parts=("${@:2}")
((${#parts[@]})) || parts=(picture pan errors memory session large)
for part in "${parts[@]}"; do
    case $part in
        picture | pan | errors | memory | session | large) ;;
        *) echo "error: $part, expected picture, pan, errors, memory, session or large" >&2; exit 2 ;;
    esac
done
[[ -f $build/build.ninja ]] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALFTONE_BENCH=ON >/dev/null
cmake --build "$build" --target bench_window -- -j2 >/dev/null

# The off-screen platform says of every window that it gives no size hints.
bench() { taskset -c 0,1 "$build/tests/bench_window" "$@" 2> >(grep -v propagateSizeHints >&2); }

trained=()
add() {
    [[ -f $HALFTONE_SHARED/models/$1 ]] && trained+=("$HALFTONE_SHARED/models/$1" "$HALFTONE_SHARED/images/$2" "$3")
    return 0
}
if [[ -n ${HALFTONE_SHARED:-} ]]; then
    add mobilenetv2-mxnet/mobilenetv2-symbol.json imagenet500 64
    add mnet25-retinaface/mnet.25-symbol.json faces 8
fi

session() {
    local folders=() models=() single=() most=50
    [[ -z ${HALFTONE_SHARED:-} ]] || folders+=("$HALFTONE_SHARED/models")
    [[ -z ${HALFTONE_MODELS:-} ]] || folders+=("$HALFTONE_MODELS")
    # The trained ones of both formats first, then as many of the tests' single operators as are missing to fifty.
    ((${#folders[@]} == 0)) || mapfile -t models < <(find "${folders[@]}" -name '*.onnx' -o -name '*-symbol.json' | sort)
    mapfile -t single < <(find tests/data/ops -name '*-symbol.json' | sort | shuf -n "$most" --random-source=<(yes))
    models+=("${single[@]}")
    bench --models "${HALFTONE_SECONDS:-20}" "${models[@]:0:most}"
}

for part in "${parts[@]}"; do
    case $part in
        picture | pan) bench "--$part" ;;
        errors)
            bench --errors
            ((${#trained[@]} == 0)) || bench --errors "${trained[@]}"
            ;;
        memory) bench --memory "${trained[@]}" ;;
        session) session ;;
        large)
            [[ -z ${HALFTONE_LARGE:-} ]] || {
                read -ra large <<<"$HALFTONE_LARGE"
                bench --peak "${large[@]}"
            }
            ;;
    esac
done
