#!/usr/bin/env bash
# Runs differential_onnx.py with the ONNX Runtime that tests/run.sh installed: differential.sh BUILD_ROOT HALFTONE_CLI [OPTIONS…]. 77 tells ctest that it was skipped.
set -euo pipefail

python=$1/onnxruntime/bin/python
cli=$2
if [[ ! -x $python ]]; then
    echo "skipped: ONNX Runtime is not installed in $1/onnxruntime; tests/run.sh does that unless --quick is given"
    exit 77
fi
exec "$python" -B "$(dirname "${BASH_SOURCE[0]}")/differential_onnx.py" --cli "$cli" "${@:3}"
