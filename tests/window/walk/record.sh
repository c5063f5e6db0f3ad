#!/usr/bin/env bash
# Takes the pictures of the walk anew, after a change that is meant to be seen: look at them (git diff) before they are committed.
#   record.sh [BUILD] [VARIANT...]: default build/dev and all variants; builds what the walk runs
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
build=${1:-build/dev}
variants=("${@:2}")
((${#variants[@]} > 0)) || variants=(light dark small double)
cmake --build "$build" --target halftone-walk
for variant in "${variants[@]}"; do
    bash tests/window/walk/walk.sh "$build/tests/halftone-walk" "$variant" "$PWD" tests/window/walk/expected
done
du -sh tests/window/walk/expected
