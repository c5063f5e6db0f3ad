#!/usr/bin/env bash
# clang-tidy over every header, and over the sources that changed: bash tests/tidy.sh [BASE]
# BASE: the commit to compare with; without it where this branch left origin/main, or else the commit before. Of more than
# 16 changed sources the 16 that changed most are checked, and their number is said.
# What needs CUDA's or MPI's headers is left out: they may not be there. Needs build/dev (resources, moc). What .clang-tidy calls an error fails; of the other warnings nothing may be in a header.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
limit=16
work=build/tidy
rm -rf "$work"
mkdir -p "$work"

qt=$(qmake6 -query QT_INSTALL_HEADERS)
flags=(-std=c++20 -fPIC -I. -Icore/api -Ibuild/dev -Ibuild/dev/resources -Ibuild/onednn/include
    -DQT_NO_KEYWORDS -DQT_NO_FOREACH -DHALFTONE_HAS_ONEDNN -DHALFTONE_HAS_MPI=1 "-DHALFTONE_RESOURCE_DIR=\"resources\""
    -fopenmp -Wno-everything)
read -ra libraries < <(pkg-config --cflags-only-I libzip stb)
flags+=("${libraries[@]}")
flags+=(-isystem build/dev/schema) # what protoc made of ONNX's schema
for part in "" /QtCore /QtGui /QtWidgets /QtSvg /QtPrintSupport /QtTest; do
    flags+=(-isystem "$qt$part")
done

base_commit() {
    local fork
    fork=$(git merge-base HEAD origin/main 2>/dev/null || true)
    if [[ -n $fork && $fork != "$(git rev-parse HEAD)" ]]; then
        echo "$fork"
    else
        git rev-parse --verify --quiet HEAD~1 || true
    fi
}

# A translation unit of all headers: checks go through all that they include, which is most of their time, once.
find core widgets app -name '*.h' ! -name precompiled.h ! -path '*/cuda/toolkit/*' | LC_ALL=C sort | sed 's/.*/#include "&"/' >"$work/headers.cpp"
echo "$(wc -l <"$work/headers.cpp") headers"
units=("$work/headers.cpp")

base=${1:-$(base_commit 2>/dev/null || true)}
if [[ -n $base ]]; then
    git diff --no-renames --numstat --diff-filter=d "$base" -- 'core/*.cpp' 'widgets/*.cpp' 'app/*.cpp' \
        ':!core/backends/cuda/toolkit' ':!app/mpi' | sort -rn | cut -f3 >"$work/changed"
    echo "$(wc -l <"$work/changed") sources changed since $(git rev-parse --short "$base"), at most $limit of them checked"
    # Those of a folder are one unit, as in a unity build: clang-tidy goes through all that they include for each.
    while read -r source; do
        if grep -qE "^(alone )?$source$" core/unity_exceptions.txt; then
            units+=("$source")
            continue
        fi
        folder=${source%/*}
        unit=$work/${folder//\//_}.cpp
        [[ -f $unit ]] || units+=("$unit")
        printf '// %s\n' "$source" | cat - "$source" >>"$unit"
    done < <(head -n "$limit" "$work/changed")
else
    echo "no commit to compare with: the headers alone"
fi

printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -I{} clang-tidy --quiet \
    --header-filter="$PWD/(app|core|widgets)/.*" {} -- "${flags[@]}" 2>"$work/count.log" | tee "$work/found.log"
if grep -qE '\.h:[0-9]+:[0-9]+: warning' "$work/found.log"; then
    echo "clang-tidy: a header has warnings"
    exit 1
fi
echo "clang-tidy: nothing found that is called an error"
