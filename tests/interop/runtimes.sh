#!/usr/bin/env bash
# Runs check_runtimes.py with the ONNX Runtime and OpenVINO that tests/run.sh installed: runtimes.sh BUILD_ROOT HALFTONE_CLI [--old].
# --old also profiles in older releases, which it installs from PyPI below BUILD_ROOT/runtimes. 77 tells ctest that it was skipped.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
root=$1 cli=$2 old=${3:-}
python=$root/onnxruntime/bin/python
if ! "$python" -c 'import onnxruntime, openvino' 2>/dev/null; then
    echo "skipped: ONNX Runtime and OpenVINO are not installed in $root/onnxruntime; tests/run.sh does that unless --quick is given"
    exit 77
fi

# profile_old PACKAGE VERSION: in an environment of its own.
profile_old() {
    local venv=$root/runtimes/$1-$2
    if [[ ! -x $venv/bin/python ]]; then
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --no-cache-dir --disable-pip-version-check "$1==$2"
    fi
    "$python" -B "$here/check_runtimes.py" "$cli" --environment "$venv" --only "$1"
}

"$python" -B "$here/check_runtimes.py" "$cli"
if [[ $old == --old ]]; then
    profile_old onnxruntime 1.20.1
    profile_old onnxruntime 1.22.0
    profile_old openvino 2024.6.0
fi
