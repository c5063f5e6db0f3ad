#!/usr/bin/env bash
# Runs check_exports.py with the MXNet that tests/run.sh installed: interop.sh BUILD_ROOT HALFTONE_CLI. 77 tells ctest that it was skipped.
set -euo pipefail

python=$1/mxnet/bin/python
if [[ ! -x $python ]]; then
    echo "skipped: MXNet is not installed in $1/mxnet; tests/run.sh does that unless --quick is given"
    exit 77
fi
MXNET_SUBGRAPH_BACKEND=NONE exec "$python" "$(dirname "${BASH_SOURCE[0]}")/check_exports.py" "$2"
