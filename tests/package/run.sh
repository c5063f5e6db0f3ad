#!/usr/bin/env bash
# Makes the packages from a build and tries them as users would, on Debian 11, 12 and 13:
#   bash tests/package/run.sh [--build DIR] [--made] [--quick] [CHECK...]
# DIR is build/release unless it is given. --made takes the packages that lie in build/package. --quick makes the wheel of the programs alone and
# tries it on Debian 11: what CI does. Without CHECK, all are made. What cannot be run is reported as skipped, with the reason.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=app/setup.sh
source app/setup.sh
# shellcheck source=app/package/sysroot.sh
source app/package/sysroot.sh
# shellcheck source=tests/package/roots.sh
source tests/package/roots.sh

readonly most_seconds=60          # that pip may take to install the programs
readonly window_seconds=5         # until the window is there
readonly fuzz=20% most_differing=3.0 # as tests/window/walk/walk.sh
readonly packages=$PWD/build/package
readonly sample=$PWD/resources/sample
export HALFTONE_PACKAGE_BUILD=${HALFTONE_PACKAGE_BUILD:-build/release}

# --- checks ---

# same_results RELEASE LAYER PROGRAM: the program there writes the same bytes as the build's, and says the same.
same_results() {
    local release=$1 layer=$2 program=$3 here
    here=$(mktemp -d)
    "$HALFTONE_PACKAGE_BUILD/halftone-cli" convert "$sample/digits.onnx" --target float16 --out "$here/m" >/dev/null
    "$HALFTONE_PACKAGE_BUILD/halftone-cli" compare "$sample/digits.onnx" --policy "$sample/onnx-all-float16.policy.json" \
        --inputs "$sample/digits-test.npz" --json >"$here/compared.json"
    (in_root "$release" "$layer" "$program convert digits.onnx --target float16 --out m
        $program compare digits.onnx --policy onnx-all-float16.policy.json --inputs digits-test.npz --json >compared.json")
    cmp "$here/m.onnx" "$layers/$layer/upper/root/m.onnx"
    python3 - "$here/compared.json" "$layers/$layer/upper/root/compared.json" <<'PYTHON'
import json
import sys
first, second = ({key: value for key, value in json.load(open(path)).items() if key not in ("seconds", "process_peak_bytes")}
                 for path in sys.argv[1:])
for key in first.keys() | second.keys():
    if first.get(key) != second.get(key):
        sys.exit(f"{key}: {first.get(key)} here, {second.get(key)} there")
PYTHON
    rm -rf "$here"
}

put_sample() {
    put "$1" "$sample"/{digits.onnx,digits-test.npz,onnx-all-float16.policy.json}
}

# module_tests RELEASE LAYER: tests/python with the wheel that is installed there.
module_tests() {
    local release=$1 layer=$2 at=$layers/$2/upper/root
    mkdir -p "$at"/resources "$at"/tests
    cp -r "$sample" resources/help "$at/resources/"
    cp -r tests/python "$at/tests/"
    cat tests/python/requirements.txt tests/interop/requirements_onnx.txt | sed 's/[=].*//' >"$at/wanted.txt" # for any Python
    (in_root "$release" "$layer" 'v/bin/pip install --quiet -r wanted.txt
        HALFTONE_OPTIMISED=1 HALFTONE_CLI=/root/v/bin/halftone-cli v/bin/python -m pytest -q -p no:cacheprovider tests/python')
}

check_wheel() {
    local release=$1 layer=wheel-$1 begin took
    need_root "$release"
    fresh_layer "$layer"
    put_sample "$layer"
    mkdir -p "$layers/$layer/upper/root/build/package"
    cp "$packages"/halftone_nn-*.whl "$layers/$layer/upper/root/build/package/"
    begin=$(date +%s%N)
    (in_root "$release" "$layer" 'python3 -m venv v && v/bin/pip install --find-links build/package halftone-nn')
    took=$((($(date +%s%N) - begin) / 1000000))
    echo "installed in $took ms"
    (in_root "$release" "$layer" 'v/bin/halftone-cli --version')
    same_results "$release" "$layer" v/bin/halftone-cli
    put "$layer" tests/python/try_wheel.py
    (in_root "$release" "$layer" 'v/bin/python try_wheel.py digits.onnx digits-test.npz onnx-all-float16.policy.json')
    [[ $release == bullseye ]] || module_tests "$release" "$layer"
    # Without the window the command says how to get it.
    (in_root "$release" "$layer" 'v/bin/halftone 2>said && exit 1 || [[ $? -eq 3 ]]; cat said; grep -qF "pip install \"halftone-nn[gui]\"" said')
    [[ -n ${HALFTONE_ANY_TIME:-} ]] || ((took < most_seconds * 1000)) || fail "pip took $took ms, expected less than $most_seconds s"
}

# The window's wheel: it names what the system lacks, and works once that is there.
check_window_wheel() {
    local release=bookworm layer=window-wheel
    need_root "$release"
    fresh_layer "$layer"
    put_sample "$layer"
    mkdir -p "$layers/$layer/upper/root/build/package"
    cp "$packages"/halftone_nn*.whl "$layers/$layer/upper/root/build/package/"
    (in_root "$release" "$layer" 'python3 -m venv v && v/bin/pip install --quiet --find-links build/package "halftone-nn[gui]"')
    # shellcheck disable=SC2016  # the root's shell
    (in_root "$release" "$layer" 'v/bin/halftone digits.onnx 2>said && exit 1 || [[ $? -eq 3 ]]; cat said
        [[ $(wc -l <said) -eq 1 ]]
        for word in libGL.so.1 libxcb-cursor.so.0 "Debian: apt install libgl1" "Fedora: dnf install libglvnd-glx" "Arch: pacman -S libglvnd"; do
            grep -qF "$word" said
        done
        packages=$(sed "s/.*Debian: apt install \([^;]*\);.*/\1/" said)
        apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends $packages
        v/bin/halftone digits.onnx --screenshot window.png --size 1200x800')
    is_drawn "$layers/$layer/upper/root/window.png" 1200x800
    (in_root "$release" "$layer" 'rm -r v/lib/python3*/site-packages/PySide6/Qt/plugins/platforms/libqxcb.so; v/bin/halftone --help >/dev/null')
}

# is_drawn PICTURE SIZE: of that size, and with more in it than a few colours.
is_drawn() {
    [[ $(identify -format %wx%h "$1") == "$2" ]] || fail "$1: $(identify "$1"), expected $2"
    (($(identify -format %k "$1") > 100)) || fail "$1: $(identify -format %k "$1") colours, expected a picture"
}

# window_shot RELEASE LAYER PICTURE [SETTING...]: the tarball's window on the sample, once it is at rest, on an X server of its own.
window_shot() {
    local release=$1 layer=$2 picture=$3 server window number begin took last='' now
    shift 3
    mkdir -p "$layers"
    Xvfb -displayfd 3 -screen 0 1500x950x24 -nolisten tcp 3>"$layers/display" 2>/dev/null &
    server=$!
    for ((number = 0; number < 200; ++number)); do
        [[ ! -s $layers/display ]] || break
        sleep 0.05
    done
    DISPLAY=:$(<"$layers/display")
    export DISPLAY QT_XCB_GL_INTEGRATION=none
    begin=$(date +%s%N)
    (in_root "$release" "$layer" "exec env $* halftone-*/halftone digits.onnx") &
    window=$!
    # shellcheck disable=SC2064  # these processes, now
    trap "kill $window $server 2>/dev/null || true" EXIT
    until xdotool search --onlyvisible --class halftone >/dev/null 2>&1; do
        kill -0 "$window" 2>/dev/null || fail "the window has ended"
        ((($(date +%s%N) - begin) / 1000000000 < 10 * window_seconds)) || fail "no window within $((10 * window_seconds)) s"
        sleep 0.02
    done
    took=$((($(date +%s%N) - begin) / 1000000))
    echo "$release: a window after $took ms"
    for ((number = 0; number < 60; ++number)); do # until two pictures are the same
        sleep 1
        import -window root "$picture"
        now=$(identify -format %# "$picture")
        [[ $now != "$last" ]] || break
        last=$now
    done
    kill "$window" "$server" 2>/dev/null || true
    wait "$window" "$server" 2>/dev/null || true
    trap - EXIT
    is_drawn "$picture" 1500x950
    ((took < window_seconds * 1000)) || fail "the window took $took ms, expected less than $window_seconds s"
}

check_tarball() {
    local release=$1 layer=tarball-$1 differing
    need_root "$release"
    need_root bookworm
    fresh_layer "$layer"
    put_sample "$layer"
    put "$layer" "$packages"/halftone-*.tar.gz
    (in_root "$release" "$layer" 'tar xzf halftone-*.tar.gz && halftone-*/halftone-cli --version')
    same_results "$release" "$layer" 'halftone-*/halftone-cli'
    # The dot in it lays out everything, so that there is no notice; without one there is.
    (in_root "$release" "$layer" 'halftone-*/halftone-cli layout digits.onnx --json >layout.json
        python3 -c "import json; d = json.load(open(\"layout.json\")); assert d[\"note\"] is None and d[\"plain_pieces\"] == 0, d[\"note\"]"
        HALFTONE_DOT=/nowhere halftone-*/halftone-cli layout digits.onnx | grep -F /nowhere')
    window_shot "$release" "$layer" "$layers/window-$release.png"
    [[ $release != bookworm ]] || return 0
    [[ -f $layers/window-bookworm.png ]] || "$BASH" "$0" --check tarball-bookworm
    differing=$(compare -metric AE -fuzz "$fuzz" "$layers/window-bookworm.png" "$layers/window-$release.png" null: 2>&1) \
        || [[ $differing =~ ^[0-9.e+]+$ ]] || fail "$differing"
    awk -v d="$differing" -v most="$most_differing" \
        'BEGIN { share = 100 * d / (1500 * 950); printf "%.2f %% of the pixels differ from bookworm'"'"'s\n", share; exit !(share <= most) }'
}

check_deb() {
    local release=bookworm layer=deb
    need_root "$release"
    fresh_layer "$layer"
    put_sample "$layer"
    put "$layer" "$packages"/halftone_*.deb
    (in_root "$release" "$layer" 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install ./halftone_*.deb
        halftone-cli --version && ldd /usr/bin/halftone-cli | grep -F /lib/halftone/libdnnl
        halftone digits.onnx --screenshot window.png --size 1200x800
        [[ -f /usr/share/doc/halftone/licenses/README.txt && -f /usr/share/man/man1/halftone.1.gz ]]')
    is_drawn "$layers/$layer/upper/root/window.png" 1200x800
    same_results "$release" "$layer" halftone-cli
}

# contents NAME: what is in that wheel, with its version as VERSION.
contents() {
    python3 -m zipfile -l "$packages/$1"-[0-9]*.whl | awk 'NR > 1 { print $1 }' | sed "s/$1-[0-9]*[.][0-9]*[.][0-9]*/$1-VERSION/" | LC_ALL=C sort
}

check_contents() {
    local name
    for name in halftone_nn halftone_nn_gui; do
        compgen -G "$packages/$name-[0-9]*.whl" >/dev/null || continue
        [[ $name == halftone_nn ]] || unpack_old "${old_graphviz[@]}" || skip "halftone_nn_gui has no dot, since Debian 11's is not to be had"
        diff <(sed -n "/^\[$name\]/,/^\[/p" tests/package/wheel.txt | grep -v -e '^\[' -e '^#' | grep .) <(contents "$name") \
            || fail "$name holds other files than tests/package/wheel.txt says"
    done
}

# What is bundled is as old as the tag says, by auditwheel: nothing newer than manylinux_2_28, and nothing from outside but Qt and the first wheel.
check_auditwheel() {
    local venv=build/package/auditwheel wheel said
    unpack_old "${old_libc[@]}" || skip "Debian 11's libc is not to be had, so that the tag says this machine's"
    if [[ ! -x $venv/bin/auditwheel ]]; then
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check auditwheel
    fi
    prepare_qt # the window's wheel is looked at beside what it is installed with
    for wheel in "$packages"/halftone_nn*.whl; do
        said=$("$venv/bin/auditwheel" show --ldpaths "$sysroot/pyside/PySide6/Qt/lib:$packages/stage/halftone_nn/halftone/lib" "$wheel" 2>&1 \
            | tr '\n' ' ')
        echo "$said"
        [[ $said =~ constrains\ the\ platform\ tag\ to\ .manylinux_2_([0-9]+)_x86_64 ]] || fail "$(basename "$wheel"): auditwheel finds no floor"
        echo "floor of $(basename "$wheel") by auditwheel: manylinux_2_${BASH_REMATCH[1]}"
        ((BASH_REMATCH[1] <= 28)) || fail "$(basename "$wheel"): too new for manylinux_2_28"
    done
    # What the window's wheel takes from elsewhere: Qt from PySide6, three libraries from the first wheel, zlib from the system.
    python3 -B - "$packages"/halftone_nn_gui-*.whl <<'PYTHON'
import os
import sys
import tempfile
import zipfile
sys.path.insert(0, "app/package")
import elf
beside = {"libdnnl.so.3", "libgomp.so.1", "libjpeg.so.62", "libz.so.1"}
with zipfile.ZipFile(sys.argv[1]) as wheel, tempfile.TemporaryDirectory() as folder:
    wheel.extractall(folder)
    files = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names]
    bundled = {os.path.basename(file) for file in files}
    foreign = {name for file in files if elf.is_elf(file) for name in elf.needed(file)} - bundled - elf.SYSTEM - beside
    assert all(name.startswith("libQt6") for name in foreign), foreign
PYTHON
}

check_sizes() {
    local row file most size
    for row in 'halftone_nn-*.whl 27' 'halftone_nn_gui-*.whl 10' 'halftone-*.tar.gz 64' 'halftone_*.deb 27'; do
        read -r file most <<<"$row"
        for file in "$packages"/$file; do
            size=$(stat -c %s "$file")
            printf '%s: %d.%d MB, at most %d\n' "$(basename "$file")" $((size / 1000000)) $((size / 100000 % 10)) "$most"
            ((size <= most * 1000000)) || fail "$file is too large"
        done
    done
}

# Every bundled library is named with its version and licence.
check_licences() {
    local folder=build/package/licences archive
    rm -rf "$folder"
    for archive in "$packages"/halftone_nn-*.whl "$packages"/halftone_nn_gui-*.whl "$packages"/halftone-*.tar.gz "$packages"/halftone_*.deb; do
        mkdir -p "$folder/$(basename "$archive")"
        case $archive in
            *.whl) python3 -m zipfile -e "$archive" "$folder/$(basename "$archive")" ;;
            *.tar.gz) tar -C "$folder/$(basename "$archive")" -xzf "$archive" ;;
            *.deb) dpkg-deb -x "$archive" "$folder/$(basename "$archive")" ;;
        esac
        python3 - "$folder/$(basename "$archive")" <<'PYTHON'
import os
import re
import sys
tables = [os.path.join(path, "README.txt") for path, _, names in os.walk(sys.argv[1]) if path.endswith("licenses") and "README.txt" in names]
assert len(tables) == 1, tables
rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in open(tables[0]) if line.startswith("| ")][1:]
assert len(rows) >= 4, rows
for name, version, licence, texts in rows:
    assert re.search(r"\d", version) and licence, (name, version, licence)
    for text in texts.split(", "):
        assert os.path.getsize(os.path.join(os.path.dirname(tables[0]), text)) > 200, text
print(os.path.basename(sys.argv[1]), len(rows), "libraries")
PYTHON
    done
    rm -rf "$folder"
}

# An installation goes on working when the build and oneDNN's environment are gone, and names neither.
check_install() {
    local prefix=$PWD/build/package/prefix folder
    folder=$(realpath "$HALFTONE_PACKAGE_BUILD")
    rm -rf "$prefix"
    for component in Programs Window; do
        XDG_RUNTIME_DIR=/tmp cmake --install "$HALFTONE_PACKAGE_BUILD" --prefix "$prefix" --component "$component" --strip >/dev/null
    done
    ! grep -rlF -e "$folder" -e "$PWD/build/onednn" "$prefix" || fail "these name the build folder"
    # shellcheck disable=SC2016  # the shell inside
    unshare --mount --propagation private bash -euc 'mount -t tmpfs none "$1"; mount -t tmpfs none build/onednn
        "$2/bin/halftone-cli" --version; "$2/bin/halftone-cli" backends | grep -w cpu
        QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=/tmp "$2/bin/halftone" --sample --screenshot "$2/window.png" --size 1200x800' \
        bash "$folder" "$prefix"
    is_drawn "$prefix/window.png" 1200x800
}

check_desktop() {
    local prefix=$PWD/build/package/stage/prefix page said
    desktop-file-validate "$prefix/share/applications/halftone.desktop"
    appstreamcli validate --no-net "$prefix"/share/metainfo/*.metainfo.xml
    python3 -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" "$prefix/share/mime/packages/halftone.xml"
    for page in halftone halftone-cli; do
        said=$(LC_ALL=C.UTF-8 man --warnings -l "$prefix/share/man/man1/$page.1" 2>&1 >/dev/null)
        [[ -z $said ]] || fail "man -l $page.1: $said"
        LC_ALL=C.UTF-8 man -l "$prefix/share/man/man1/$page.1" | grep -E "$page +- "
    done
    # shellcheck disable=SC2016  # the shell inside
    bash -euc 'source "$1"; COMP_WORDS=(halftone-cli conv); COMP_CWORD=1; _halftone_cli; [[ ${COMPREPLY[*]} == convert ]]' \
        bash "$prefix/share/bash-completion/completions/halftone-cli"
}

# Without Debian 11's libc a wheel is made all the same, and its tag says what it needs.
check_own_libc() {
    local folder=build/package/own_libc wheel
    rm -rf "$folder"
    HALFTONE_WITHOUT_OLD_LIBC=1 HALFTONE_PACKAGES=$PWD/$folder bash app/package/package.sh wheel --programs --build "$HALFTONE_PACKAGE_BUILD"
    wheel=$(echo "$folder"/halftone_nn-*.whl)
    python3 -B - "$wheel" "$folder/stage/halftone_nn" <<'PYTHON'
import os
import re
import sys
sys.path.insert(0, "app/package")
import elf
files = [os.path.join(path, name) for path, _, names in os.walk(sys.argv[2]) for name in names]
floor = max(elf.floor(file) for file in files if elf.is_elf(file))
tag = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", sys.argv[1]).groups()))
assert tag == max(floor, (2, 28)), (tag, floor)
print("floor", floor)
PYTHON
    rm -rf "$folder"
}

run_check() {
    case $1 in
        wheel-*) check_wheel "${1#wheel-}" ;;
        tarball-*) check_tarball "${1#tarball-}" ;;
        *) "check_${1//-/_}" ;;
    esac
}

# --- which, and how they ended ---

if [[ ${1:-} == --check ]]; then # one of them, in a shell of its own, where an error ends it
    run_check "$2"
    exit
fi

readonly all=(sizes contents licences auditwheel wheel-bullseye wheel-bookworm wheel-trixie window-wheel tarball-bookworm tarball-bullseye deb
    install desktop own-libc)
checks=() made=false quick=false
while [[ $# -gt 0 ]]; do
    case $1 in
        --build) [[ $# -gt 1 ]] || fail "--build: no folder" && HALFTONE_PACKAGE_BUILD=$2 && shift ;;
        --made) made=true ;;
        --quick) quick=true ;;
        -*) fail "unknown option $1, expected --build DIR, --made, --quick or names of: ${all[*]}" ;;
        *) [[ " ${all[*]} " == *" $1 "* ]] || fail "unknown check $1, expected one of: ${all[*]}" && checks+=("$1") ;;
    esac
    shift
done
if [[ ${#checks[@]} -eq 0 ]]; then
    checks=("${all[@]}")
    ! $quick || checks=(contents wheel-bullseye)
    ! $quick || export HALFTONE_ANY_TIME=1 # which the network decides
fi
[[ -x $HALFTONE_PACKAGE_BUILD/halftone-cli ]] || fail "$HALFTONE_PACKAGE_BUILD: no build in it; bash app/start.sh makes build/release"
(install_packages debootstrap) || true # where it is not to be had, checks are skipped
$quick || install_packages appstream desktop-file-utils imagemagick man-db xdotool xvfb

if ! $made; then
    stage "packages"
    if $quick; then
        rm -f "$packages"/halftone_nn*.whl
        bash app/package/package.sh wheel --programs --build "$HALFTONE_PACKAGE_BUILD"
    else
        for kind in wheel tar deb; do
            bash app/package/package.sh "$kind" --build "$HALFTONE_PACKAGE_BUILD" || echo "error: no $kind"
        done
    fi
fi
mkdir -p build/logs
passed=0 failed=0 skipped=0
for check in "${checks[@]}"; do
    stage "$check"
    code=0
    "$BASH" "${BASH_SOURCE[0]}" --check "$check" >"build/logs/package-$check.log" 2>&1 || code=$?
    case $code in
        0)
            passed=$((passed + 1))
            grep -hE '^(installed in|[a-z]+: a window|[0-9.]+ % of|halftone.*MB|floor)' "build/logs/package-$check.log" || true
            ;;
        77)
            skipped=$((skipped + 1))
            tail -n 1 "build/logs/package-$check.log"
            ;;
        *)
            failed=$((failed + 1))
            tail -n 15 "build/logs/package-$check.log"
            echo "FAILED: $check; all it said is in build/logs/package-$check.log"
            ;;
    esac
done
stage_times
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
