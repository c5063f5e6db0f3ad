#!/usr/bin/env bash
# Packs what a machine with an NVIDIA GPU needs to check and measure the CUDA backend, which may have no network: tests/gpu/pack.sh [FOLDER]
#
# Makes FOLDER (default: build/gpu/pack) with parts of at most 40 MiB: the headless command line without oneDNN and Qt, the libraries
# that it links, benchmark networks without weights, ONNX operator cases, run.sh; of HALFTONE_SHARED trained models with recorded
# outputs, MXNet's operator cases and the scripts that judge both; and ONNX's own operator tests, which PYTHON's package onnx carries up
# to 1.22. There: cat part.* | tar xz && halftone-gpu/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=${1:-build/gpu/pack} tree=build/gpu/cli part_bytes=$((40 << 20))
readonly models=(cifar-resnet20-v1 mnist-8-onnx squeezenet11-mxnet squeezenet11-onnx mtcnn-det3 ultraface-rfb-320-onnx super-resolution-10-onnx
    mobilenetv2-mxnet)
readonly PYTHON=${PYTHON:-python3}
: "${HALFTONE_SHARED:?names the folder whose models/, fixtures/ops and accept/ are packed}"

# That machine's libstdc++ may be older than this one's, and Python there must get its own: what is C++ is linked in, and the C libraries
# are found by the program alone. The C library is that machine's: the version it needs is printed below.
cmake -S . -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DHALFTONE_CUDA=ON -DHALFTONE_GUI=OFF -DHALFTONE_ONEDNN=OFF \
    -DHALFTONE_TESTS=OFF -DProtobuf_USE_STATIC_LIBS=ON -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH="\$ORIGIN/../lib" \
    -DCMAKE_EXE_LINKER_FLAGS="-static-libstdc++ -static-libgcc -Wl,--disable-new-dtags" >/dev/null
cmake --build "$tree" --target halftone-cli

# ONNX is left out of a build where its schema is not found: half of what is packed would fail there.
"$tree/halftone-cli" info tests/data/onnx_ops/unsqueeze_two.onnx >/dev/null || {
    echo "error: the command line reads no ONNX: app/setup.sh installs its schema" >&2
    exit 1
}

rm -rf "$out"
readonly folder=$out/halftone-gpu
packed=$folder/shared
mkdir -p "$folder/bin" "$folder/lib" "$packed/models" "$packed/fixtures" "$packed/accept"
strip -o "$folder/bin/halftone-cli" "$tree/halftone-cli"
ldd "$tree/halftone-cli" | awk '$3 ~ /^\// { print $1, $3 }' | while read -r name path; do
    case $name in
    libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so*) ;;
    *) cp -L "$path" "$folder/lib/$name" ;;
    esac
done
if ldd "$folder/bin/halftone-cli" | grep -E 'libQt|libdnnl|libcuda|libcudnn|libcublas|libnvrtc|libprotobuf|libstdc'; then
    echo "error: the command line links what it must not" >&2
    exit 1
fi

cp -rL tests/data/onnx_ops "$folder/onnx_ops"
for model in "${models[@]}"; do
    cp -rL "$HALFTONE_SHARED/models/$model" "$folder/shared/models/"
done
cp -rL "$HALFTONE_SHARED/fixtures/ops" "$packed/fixtures/ops"
cp -L "$HALFTONE_SHARED"/accept/{common,ops,models,onnx_ops}.py "$packed/accept/"
mkdir "$packed/spec"
cp -L "$HALFTONE_SHARED/spec/onnx_operators.json" "$packed/spec/"
suite=$("$PYTHON" -c 'import os, onnx; print(os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/node"))' 2>/dev/null) || suite=
if [[ -d $suite ]]; then
    cp -rL "$suite" "$folder/onnx_suite"
else
    echo "ONNX's own tests are left out: $PYTHON has no onnx of 1.22 or before, which carry them" >&2
fi
chmod -R u+w "$folder/shared" # what is shared may be read-only; who unpacks it wants to remove it again
python3 -B tests/gpu/networks.py "$folder/networks"
cp tests/gpu/{run.sh,accept.py,bench.py,networks.py} "$folder/"
git rev-parse HEAD >"$folder/commit"
git diff --quiet HEAD -- || echo "with changes" >>"$folder/commit"

echo "needs $(objdump -T "$folder/bin/halftone-cli" "$folder"/lib/* | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)"
tar -C "$out" -cz halftone-gpu | split -b "$part_bytes" -d - "$out/part."
rm -rf "$folder"
ls -l "$out"
