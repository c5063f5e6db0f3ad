#!/usr/bin/env bash
# Builds Halftone and opens its window: bash app/start.sh [MODEL]
# MODEL is X.onnx, or P-symbol.json with P-NNNN.params beside it; without it the sample in resources/sample is taken. Where there is no
# display, the command line shows the model at work, and the window is drawn into build/window.png.
set -euo pipefail

model=${1:+$(realpath -- "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=app/setup.sh
source app/setup.sh

model=${model:-resources/sample/digits-symbol.json}
[[ -f $model ]] || fail "$model: there is no such file, expected a model such as NAME.onnx or NAME-symbol.json"

install_packages "${build_packages[@]}"
prepare_onednn
prepare_onnx
configure release -DHALFTONE_TESTS=OFF -DHALFTONE_BENCH=OFF
[[ -x build/release/halftone ]] || echo "Building (some minutes the first time) …"
run_quietly build/logs/build-release.log cmake --build build/release --target halftone-cli halftone

if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    exec build/release/halftone "$model"
fi

cli=build/release/halftone-cli
name=$(basename "${model%.onnx}" -symbol.json)
out=build/converted
mkdir -p "$out"

echo "== The model: $model"
"$cli" info "$model"
for target in float16 bfloat16; do
    echo
    echo "== Converted to $target"
    "$cli" convert "$model" --target "$target" --cast-params --out "$out/$name-$target"
done

# draw_window: the window as a picture, at the end, since its place is the last thing to read.
draw_window() {
    echo
    build/release/halftone "$model" --screenshot build/window.png --size 1600x1000
    echo "No display: the window is drawn in build/window.png"
}
if [[ $model != resources/sample/digits-symbol.json ]]; then # what follows needs labelled data
    draw_window
    exit 0
fi

# compare_with TITLE OPTION...: the accuracy beside float32's and the five layers that lose most.
compare_with() {
    echo
    echo "== $1 against float32, on 450 labelled pictures"
    "$cli" compare "$model" --inputs resources/sample/digits-test.npz --worst 5 "${@:2}"
}
compare_with 'Everything in float16' --policy resources/sample/all-float16.policy.json
compare_with 'float16, but sum in float32,' --policy resources/sample/all-float16-but-sum.policy.json
compare_with 'Everything in bfloat16' --policy resources/sample/all-float16.policy.json --target bfloat16

echo
echo "== int8, calibrated on pictures that do not score"
"$cli" quantize "$model" --inputs resources/sample/digits-calibration.npz --correct-biases --out "$out/$name-int8"
echo
"$cli" compare "$model" --against "$out/$name-int8-symbol.json" --inputs resources/sample/digits-test.npz --worst 5

echo
echo "== Latency in bfloat16 against float32"
"$cli" profile "$model" --target bfloat16 --shape data=1,1,8,8 --versus-fp32
echo
echo "== Latency in int8 against float32"
"$cli" profile "$model" --quantized --shape data=1,1,8,8 --versus-fp32
draw_window
