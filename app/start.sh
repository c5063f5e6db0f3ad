#!/usr/bin/env bash
# Builds Halftone and shows it at work: bash app/start.sh [MODEL]
# MODEL is P-symbol.json with P-NNNN.params beside it; without it the sample in resources/sample is taken.
set -euo pipefail

model=${1:+$(realpath -- "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=app/setup.sh
source app/setup.sh

model=${model:-resources/sample/digits-symbol.json}
[[ -f $model ]] || fail "$model: there is no such file, expected a model such as NAME-symbol.json"

install_packages "${build_packages[@]}"
configure release -DHALFTONE_TESTS=OFF -DHALFTONE_BENCH=OFF
[[ -x build/release/halftone-cli ]] || echo "Building (a few minutes the first time) …"
run_quietly build/logs/build-release.log cmake --build build/release --target halftone-cli

cli=build/release/halftone-cli
name=$(basename "$model" -symbol.json)
out=build/converted
mkdir -p "$out"

echo "== The model: $model"
"$cli" info "$model"
for target in float16 bfloat16; do
    echo
    echo "== Converted to $target as MXNet would"
    "$cli" convert "$model" --target "$target" --mode mxnet --out "$out/$name-$target"
done
