#!/usr/bin/env bash
# Runs every test: bash tests/run.sh [--quick]
# --quick leaves out what takes long or needs the network: MXNet from PyPI (interop) and the fuzzers. ctest's summary is the last line.
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

# prepare_mxnet: the real MXNet, for tests/interop, in a folder of the build.
prepare_mxnet() {
    local venv=build/mxnet wanted=tests/interop/requirements.txt
    cmp -s "$wanted" "$venv/requirements.txt" && return 0
    echo "Installing MXNet from PyPI into $venv …"
    rm -rf "$venv"
    run_quietly build/logs/venv.log python3 -m venv "$venv"
    run_quietly build/logs/pip.log "$venv/bin/pip" install --no-cache-dir -r "$wanted"
    cp "$wanted" "$venv/requirements.txt"
}

check_style() {
    shellcheck -x app/*.sh tests/*.sh tests/*/*.sh .ci/run
    find app core tests widgets \( -name '*.cpp' -o -name '*.h' \) -exec clang-format --dry-run -Werror {} +
}

install_packages "${build_packages[@]}" "${test_packages[@]}"
prepare_onednn
configure dev
echo "Building …"
run_quietly build/logs/build-dev.log cmake --build build/dev
$quick || prepare_mxnet

failed=0
ctest --preset dev --parallel 2 | tee build/logs/ctest.log || failed=1
check_style
$quick || bash tests/fuzz/run.sh 10
grep 'tests passed' build/logs/ctest.log
exit $failed
