#!/usr/bin/env bash
# Builds Halftone and opens its window: bash app/start.sh [MODEL]
# MODEL is X.onnx, or P-symbol.json with P-NNNN.params beside it; by default the sample in resources/sample. Without a display, the command
# line shows the models at work, the sample as an MXNet model too, and the window is drawn into build/window.png and build/window-mxnet.png.
set -euo pipefail

model=${1:+$(realpath -- "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=app/setup.sh
source app/setup.sh

[[ -z $model || -f $model ]] || fail "$model: there is no such file, expected a model such as NAME.onnx or NAME-symbol.json"

install_packages "${build_packages[@]}"
prepare_onednn
prepare_onnx
configure release -DHALFTONE_TESTS=OFF -DHALFTONE_BENCH=OFF
[[ -x build/release/halftone ]] || echo "Building (some minutes the first time) …"
run_quietly build/logs/build-release.log cmake --build build/release --target halftone-cli halftone

sample=resources/sample/digits.onnx
mxnet_sample=resources/sample/digits-symbol.json
if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    exec build/release/halftone "${model:-$sample}"
fi

cli=build/release/halftone-cli
out=build/converted
mkdir -p "$out"

# heading TEXT: of what comes next.
heading() {
    printf '\n== %s\n' "$1"
}

# show_model MODEL: what it is, and what becomes of it in 16 bit.
show_model() {
    local name target
    name=$(basename "${1%.onnx}" -symbol.json)
    heading "The model: $1"
    "$cli" info "$1"
    for target in float16 bfloat16; do
        heading "Converted to $target"
        "$cli" convert "$1" --target "$target" --cast-params --out "$out/$name-$target"
    done
}

# compare_with MODEL TITLE OPTION...: the accuracy beside float32's and the five layers that lose most.
compare_with() {
    heading "$2 against float32, on 450 labelled pictures"
    "$cli" compare "$1" --inputs resources/sample/digits-test.npz --worst 5 "${@:3}"
}

# show_sample MODEL POLICY SUM WRITTEN: what only labelled data can show. SUM is the operator that overflows, WRITTEN the int8 model's file.
show_sample() {
    local policy=resources/sample/$2
    compare_with "$1" 'Everything in float16' --policy "$policy"
    compare_with "$1" "float16, but $3 in float32," --policy "$policy" --fp32-op "$3"
    compare_with "$1" 'Everything in bfloat16' --policy "$policy" --target bfloat16
    heading "int8, calibrated on pictures that do not score"
    "$cli" quantize "$1" --inputs resources/sample/digits-calibration.npz --correct-biases --out "$out/digits-int8"
    compare_with "$1" int8 --against "$out/$4"
    heading "Latency in bfloat16 against float32"
    "$cli" profile "$1" --target bfloat16 --shape data=1,1,8,8 --versus-fp32
    heading "Latency in int8 against float32"
    "$cli" profile "$1" --quantized --shape data=1,1,8,8 --versus-fp32
}

# draw_window MODEL PICTURE
draw_window() {
    build/release/halftone "$1" --screenshot "$2" --size 1600x1000
    pictures+=("$2")
}

pictures=()
if [[ -n $model ]]; then
    show_model "$model"
    draw_window "$model" build/window.png
else
    show_model "$sample"
    show_sample "$sample" onnx-all-float16.policy.json ReduceSum digits-int8.onnx
    show_model "$mxnet_sample"
    show_sample "$mxnet_sample" all-float16.policy.json sum digits-int8-symbol.json
    draw_window "$sample" build/window.png
    draw_window "$mxnet_sample" build/window-mxnet.png
fi
heading "No display: the window is drawn in ${pictures[*]}"
