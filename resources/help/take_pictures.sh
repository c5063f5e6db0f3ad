#!/usr/bin/env bash
# Takes the pictures of the guide and README again, showing the sample. Look at them before you commit them.
#   take_pictures.sh [PROGRAM]: default build/dev/halftone
# Needs ImageMagick, and DejaVu for names that look the same everywhere.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=${1:-build/dev/halftone}
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home XDG_CONFIG_HOME=$home XDG_DATA_HOME=$home XDG_CACHE_HOME=$home QT_QPA_PLATFORM=offscreen
for view in graph calibration; do
    picture=resources/help/$([[ $view == graph ]] && echo overview || echo calibration).png
    "$program" --sample --policy resources/sample/onnx-all-float16.policy.json --theme light --size 1500x950 --view "$view" --screenshot "$picture"
    mogrify -strip +dither -colors 192 "$picture"
done
