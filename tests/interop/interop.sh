#!/usr/bin/env bash
# Runs check_exports.py, check_int8.py, check_mixed.py and check_delivery.py with the MXNet that tests/run.sh installed: interop.sh BUILD_ROOT HALFTONE_CLI. 77 tells ctest that it was skipped.
set -euo pipefail

python=$1/mxnet/bin/python
if [[ ! -x $python ]]; then
    echo "skipped: MXNet is not installed in $1/mxnet; tests/run.sh does that unless --quick is given"
    exit 77
fi
here=$(dirname "${BASH_SOURCE[0]}")
networks=$1/networks
rm -rf "$networks"
"$python" "$here/make_networks.py" "$networks"
MXNET_SUBGRAPH_BACKEND=NONE "$python" "$here/check_exports.py" "$2" "$networks"
"$python" "$here/check_int8.py" "$2" "$here/../data/int8"
"$python" "$here/check_mixed.py" "$2" "$here/../data/int8"
exec "$python" "$here/check_delivery.py" "$2"
