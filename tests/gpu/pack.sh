#!/usr/bin/env bash
# Packs what a machine with an NVIDIA GPU needs to check and measure the CUDA backend, which may have no network: tests/gpu/pack.sh [FOLDER]
#
# Makes FOLDER (default: build/gpu/pack) with parts of at most 40 MiB: the headless command line without oneDNN and Qt, the libraries
# that it links, benchmark networks without weights, trained models with recorded outputs (HALFTONE_SHARED), ONNX operator cases, and
# run.sh. There: cat part.* | tar xz && halftone-gpu/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=${1:-build/gpu/pack} tree=build/gpu/cli part_bytes=$((40 << 20))
readonly models=(cifar-resnet20-v1 mnist-8-onnx squeezenet11-mxnet squeezenet11-onnx mtcnn-det3 ultraface-rfb-320-onnx super-resolution-10-onnx
    mobilenetv2-mxnet)
: "${HALFTONE_SHARED:?names the folder whose models/ are packed}"

cmake -S . -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DHALFTONE_CUDA=ON -DHALFTONE_GUI=OFF -DHALFTONE_ONEDNN=OFF \
    -DHALFTONE_TESTS=OFF >/dev/null
cmake --build "$tree" --target halftone-cli

# ONNX is left out of a build where its schema is not found: half of what is packed would fail there.
"$tree/halftone-cli" info tests/data/onnx_ops/unsqueeze_two.onnx >/dev/null || {
    echo "error: the command line reads no ONNX: app/setup.sh installs its schema" >&2
    exit 1
}

rm -rf "$out"
readonly folder=$out/halftone-gpu
mkdir -p "$folder/bin" "$folder/lib" "$folder/models"
strip -o "$folder/bin/halftone-cli" "$tree/halftone-cli"
# The C and C++ libraries are the machine's own.
ldd "$tree/halftone-cli" | awk '$3 ~ /^\// { print $1, $3 }' | while read -r name path; do
    case $name in
    libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libgcc_s.so* | libstdc++.so*) ;;
    *) cp -L "$path" "$folder/lib/$name" ;;
    esac
done
if ldd "$folder/bin/halftone-cli" | grep -E 'libQt|libdnnl|libcuda|libcudnn|libcublas|libnvrtc'; then
    echo "error: the command line links what it must not" >&2
    exit 1
fi

cp -rL tests/data/onnx_ops "$folder/onnx_ops"
for model in "${models[@]}"; do
    cp -rL "$HALFTONE_SHARED/models/$model" "$folder/models/"
done
python3 -B tests/gpu/networks.py "$folder/networks"
cp tests/gpu/run.sh tests/gpu/accept.py tests/gpu/bench.py "$folder/"
git rev-parse HEAD >"$folder/commit"
git diff --quiet HEAD -- || echo "with changes" >>"$folder/commit"

tar -C "$out" -cz halftone-gpu | split -b "$part_bytes" -d - "$out/part."
rm -rf "$folder"
ls -l "$out"
