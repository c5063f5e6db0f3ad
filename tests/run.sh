#!/usr/bin/env bash
# Runs every test: bash tests/run.sh [--quick]
# --quick leaves out what needs the network: MXNet, ONNX Runtime, OpenVINO and pytest from PyPI (interop, python). ctest's summary is the
# last line.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=app/setup.sh
source app/setup.sh

quick=false
case ${1:-} in
    "") ;;
    --quick) quick=true ;;
    *) fail "unknown option $1, expected --quick or nothing" ;;
esac

# prepare_peer NAME TITLE REQUIREMENTS: another program, for tests/interop or tests/python, in the folder NAME of the build.
prepare_peer() {
    local venv=build/$1 wanted=tests/$3
    cmp -s "$wanted" "$venv/requirements.txt" && return 0
    echo "Installing $2 from PyPI into $venv …"
    rm -rf "$venv"
    run_quietly "build/logs/$1-venv.log" python3 -m venv "$venv"
    run_quietly "build/logs/$1-pip.log" "$venv/bin/pip" install --no-cache-dir --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$venv/requirements.txt"
}

# Takes its time over the network, so that it goes on beside the build.
prepare_peers() {
    prepare_peer mxnet MXNet interop/requirements.txt
    prepare_peer onnxruntime "ONNX Runtime and OpenVINO" interop/requirements_onnx.txt
    prepare_peer pytest pytest python/requirements.txt
}

check_style() {
    local bad=0
    python3 tests/check_documents.py || bad=1
    shellcheck -x app/*.sh app/package/*.sh tests/*.sh tests/*/*.sh .ci/run || bad=1
    find app core tests widgets \( -name '*.cpp' -o -name '*.h' \) -exec clang-format --dry-run -Werror {} + || bad=1
    return $bad
}

stage "packages"
install_packages "${build_packages[@]}" "${test_packages[@]}"
prepare_onednn
prepare_onnx
stage "build"
peers=
if ! $quick; then
    prepare_peers &
    peers=$!
    trap 'kill "$peers" 2>/dev/null || true' EXIT
fi
configure dev "${fast_build[@]}"
run_quietly build/logs/build-dev.log cmake --build build/dev
if [[ -n $peers ]]; then
    stage "MXNet, ONNX Runtime, OpenVINO and pytest from PyPI"
    wait "$peers"
    trap - EXIT
fi

failed=0
stage "tests"
ctest --preset dev --parallel 2 | tee build/logs/ctest.log || failed=1
stage "style"
check_style || failed=1
stage_times
grep 'tests passed' build/logs/ctest.log
exit $failed
