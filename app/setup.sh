# shellcheck shell=bash disable=SC2034  # the lists are used by those who source this
# Sourced by the scripts of this project: what they share. Needs bash; nothing is kept outside the build folder.

# Where compilers' results are kept, so that a second build folder costs little.
export CCACHE_DIR="$PWD/build/ccache" CCACHE_MAXSIZE=2G

readonly build_packages=(g++ cmake ninja-build ccache pkg-config python3-venv nlohmann-json3-dev libcli11-dev libzip-dev libstb-dev
    libjpeg62-turbo-dev libpng-dev libre2-dev libxxhash-dev libprotobuf-dev protobuf-compiler libflatbuffers-dev flatbuffers-compiler
    qt6-base-dev qt6-svg-dev qt6-qpa-plugins libqcustomplot-dev graphviz fonts-dejavu-core)
readonly test_packages=(python3-dev libbenchmark-dev xvfb xdotool imagemagick clang clang-format clang-tidy libclang-rt-14-dev libomp-dev mold
    shellcheck libopenmpi-dev openmpi-bin)

# For builds that run once: nobody edits or debugs them. Files are compiled many at a time, and GCC does not look for memory that it could take
# back. With -Og it is done sooner than with -O0 (there is less to write), and what it made runs faster; Clang takes twice as long.
readonly gcc_options="-Og -Wno-maybe-uninitialized --param=ggc-min-heapsize=1000000"
readonly fast_build=(-DCMAKE_UNITY_BUILD=ON "-DCMAKE_CXX_FLAGS_DEBUG=$gcc_options"
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=$gcc_options -g1" -DHALFTONE_LOOP_OPTIONS=-O1
    -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=mold)

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "packages are missing and neither root nor sudo is at hand; as root, run: $*"
    fi
}

# stage NAME: says what begins; stage_times prints how long each took.
stage_names=() stage_begins=()
stage() {
    stage_names+=("$1")
    stage_begins+=("$SECONDS")
    echo "== $1"
}
stage_times() {
    local k end
    for k in "${!stage_names[@]}"; do
        end=${stage_begins[k + 1]:-$SECONDS}
        printf '%5d s  %s\n' $((end - stage_begins[k])) "${stage_names[k]}"
    done
    printf '%5d s  in all\n' "$SECONDS"
}

# run_quietly LOG COMMAND...: keeps the command's output in LOG and shows its end only when it fails.
run_quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        fail "'$*' failed; all of its output is in $log"
    fi
}

# install_packages NAME...: installs the Debian packages that are missing, if any.
install_packages() {
    command -v dpkg-query >/dev/null \
        || fail "packages are only installed on Debian and systems derived from it; here, install the equivalents of: $*"
    local missing=() package
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    echo "Installing ${missing[*]} …"
    mkdir -p build/logs
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q)
    # The lists may be absent or old: then the simulation or the download fails, and one update mends it.
    if ! apt-get -q -s install "${missing[@]}" >/dev/null 2>&1; then
        run_quietly build/logs/apt-update.log as_root "${apt[@]}" update
    fi
    if ! as_root "${apt[@]}" install --no-install-recommends "${missing[@]}" >build/logs/apt-install.log 2>&1; then
        run_quietly build/logs/apt-update.log as_root "${apt[@]}" update
        run_quietly build/logs/apt-install.log as_root "${apt[@]}" install --no-install-recommends "${missing[@]}"
    fi
}

# prepare_onednn: oneDNN from PyPI in build/onednn, where CMake looks for it. Debian's own is too old.
prepare_onednn() {
    local venv=build/onednn wanted='onednn-devel-cpu-gomp==2023.2.0'
    [[ $(cat "$venv/installed" 2>/dev/null) == "$wanted" ]] && return 0
    echo "Installing oneDNN from PyPI into $venv …"
    rm -rf "$venv"
    run_quietly build/logs/onednn-venv.log python3 -m venv "$venv"
    run_quietly build/logs/onednn-pip.log "$venv/bin/pip" install --no-cache-dir --disable-pip-version-check "$wanted"
    printf '%s\n' "$wanted" >"$venv/installed"
}

# prepare_onnx: ONNX's own schema from PyPI in build/onnx, where CMake looks for it; nothing else of the package is used.
prepare_onnx() {
    local venv=build/onnx wanted='onnx==1.22.0'
    [[ $(cat "$venv/installed" 2>/dev/null) == "$wanted" ]] && return 0
    echo "Installing ONNX's schema from PyPI into $venv …"
    rm -rf "$venv"
    run_quietly build/logs/onnx-venv.log python3 -m venv "$venv"
    run_quietly build/logs/onnx-pip.log "$venv/bin/pip" install --no-deps --no-cache-dir --disable-pip-version-check "$wanted"
    cp "$venv"/lib/python3*/site-packages/onnx/onnx-ml.proto "$venv/"
    printf '%s\n' "$wanted" >"$venv/installed"
}

# configure PRESET [OPTION...]: configures once; later the build itself notices what changed, except in the presets.
configure() {
    local preset=$1
    shift
    if [[ ! -f build/$preset/build.ninja || CMakePresets.json -nt build/$preset/CMakeCache.txt ]]; then
        run_quietly "build/logs/configure-$preset.log" cmake --preset "$preset" "$@"
        touch "build/$preset/CMakeCache.txt"
    fi
}
