#!/usr/bin/env bash
# Runs differential.py with the MXNet that tests/run.sh installed: differential.sh BUILD_ROOT HALFTONE_CLI [OPTIONS…]. 77 tells ctest that it was skipped.
set -euo pipefail

python=$1/mxnet/bin/python
cli=$2
if [[ ! -x $python ]]; then
    echo "skipped: MXNet is not installed in $1/mxnet; tests/run.sh does that unless --quick is given"
    exit 77
fi
here=$(dirname "${BASH_SOURCE[0]}")
PYTHONPATH=$here/../interop exec "$python" "$here/differential.py" --cli "$cli" "${@:3}"
