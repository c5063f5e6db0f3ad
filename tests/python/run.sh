#!/usr/bin/env bash
# Runs the tests of the Python module with the packages that tests/run.sh installed: run.sh BUILD_ROOT LIBHALFTONE HALFTONE_CLI [PYTEST_ARGUMENT...].
# 77 tells ctest that it was skipped.
set -euo pipefail

here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
root=$(realpath "$1") library=$(realpath "$2") cli=$(realpath "$3")
shift 3
for venv in pytest onnxruntime; do
    if [[ ! -x $root/$venv/bin/python ]]; then
        echo "skipped: $root/$venv is missing; tests/run.sh makes it unless --quick is given"
        exit 77
    fi
done
packages=$(echo "$root"/onnxruntime/lib/python3*/site-packages)
cd "$here"
export HALFTONE_LIBRARY=$library HALFTONE_CLI=$cli PYTHONPATH=$here/../../app/python:$packages PYTHONDONTWRITEBYTECODE=1
exec "$root/pytest/bin/python" -m pytest -q -p no:cacheprovider "$@" .
