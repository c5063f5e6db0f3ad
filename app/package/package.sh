#!/usr/bin/env bash
# Makes packages in build/package from an existing build, without compiling Halftone again: bash app/package/package.sh wheel|tar|deb [--build DIR]
# DIR is build/release unless it is given. wheel --programs makes the wheel of the programs alone. README.md beside this file says more.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=app/setup.sh
source app/setup.sh
# shellcheck source=app/package/sysroot.sh
source app/package/sysroot.sh

readonly package_packages=(binutils dpkg-dev file gcc ninja-build patchelf python3-venv)
readonly made=${HALFTONE_PACKAGES:-$PWD/build/package}
readonly usage="expected: bash app/package/package.sh wheel [--programs] | tar | deb, each with [--build DIR]"

kind=${1:-}
build=build/release
programs_alone=false
[[ $# -eq 0 ]] || shift
while [[ $# -gt 0 ]]; do
    case $1 in
        --build) [[ $# -gt 1 ]] || fail "--build: no folder; $usage" && build=$2 && shift ;;
        --programs) programs_alone=true ;;
        *) fail "unknown option $1; $usage" ;;
    esac
    shift
done
[[ $kind == wheel || $kind == tar || $kind == deb ]] || fail "${kind:-no package}: $usage"
[[ -f $build/build.ninja ]] || fail "$build: no build in it; bash app/start.sh makes build/release"
[[ -x $build/halftone-cli ]] || fail "$build/halftone-cli: not built; bash app/start.sh builds it"
version=$(sed -n 's/^#define HALFTONE_VERSION_[A-Z]* *//p' core/api/halftone/version.h | paste -sd.)

# installed TO COMPONENT...: what cmake --install gives for these.
installed() {
    local to=$1 component
    shift
    for component in "$@"; do
        run_quietly "build/logs/package-install-$component.log" \
            env XDG_RUNTIME_DIR=/tmp cmake --install "$build" --prefix "$to" --component "$component" --strip
    done
}

# graphviz_in TO: Debian 11's dot in the folder TO, with the two plug-ins that Halftone uses.
graphviz_in() {
    local to=$1 from=$sysroot/root/usr plugin
    if ! unpack_old "${old_graphviz[@]}"; then
        echo "Debian 11's Graphviz is not to be had: the package has none and runs the system's"
        return 0
    fi
    mkdir -p "$to/graphviz"
    install -m 755 "$from/sbin/libgvc6-config-update" "$to/dot" # dot is a link to it
    for plugin in core dot_layout; do
        install -m 755 "$from/lib/$multiarch/graphviz/libgvplugin_$plugin.so.6" "$to/graphviz/"
    done
    bundle "$to" "$to/dot" "$to"/graphviz/*.so.*
    patchelf --force-rpath --set-rpath "\$ORIGIN" "$to/dot"
    lower "$to"/*.so.*
    "$to/dot" -c || fail "$to/dot: cannot list its plug-ins"
}

# lower FILE...: see elf.py.
lower() {
    has_old_libc || return 0
    python3 -B - "$@" <<'PYTHON'
import sys
sys.path.insert(0, "app/package")
import elf
for file in sys.argv[1:]:
    elf.lower(file)
PYTHON
}

# font_in TO
font_in() {
    local font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
    [[ -f $font ]] || fail "$font: missing, expected from the package fonts-dejavu-core"
    mkdir -p "$1"
    install -m 644 "$font" "$1/"
}

# fresh NAME: an empty folder build/package/stage/NAME.
fresh() {
    rm -rf "$made/stage/$1"
    mkdir -p "$made/stage/$1"
    rm -f "$sysroot/bundled"
    printf '%s\n' "$made/stage/$1"
}

licences_in() {
    python3 app/package/licences.py "$sysroot" "$@"
}

make_wheels() {
    local stage prefix
    prefix=$(fresh prefix)
    installed "$prefix" Programs
    stage=$(fresh halftone_nn)
    cp -r app/python/halftone "$stage/"
    relink "$build" halftone-cli "$stage/halftone/bin/halftone-cli" "\$ORIGIN/../lib"
    relink "$build" halftone-runtime "$stage/halftone/bin/halftone-runtime" "\$ORIGIN/../lib"
    libraries_beside "$build" "$stage/halftone/lib"
    relink "$build" libhalftone.so "$stage/halftone/lib/libhalftone.so" "\$ORIGIN"
    mkdir -p "$stage/data/share/man/man1"
    cp "$prefix/share/man/man1/halftone-cli.1" "$stage/data/share/man/man1/"
    licences_in "$stage/licenses" compiled linked
    rm -f "$made"/halftone_nn-*.whl
    python3 app/package/wheel.py programs "$stage" "$version" "$made"
    ! $programs_alone || return 0

    [[ -x $build/halftone ]] || fail "$build/halftone: not built; bash app/start.sh builds it"
    prepare_qcustomplot
    installed "$prefix" Window
    stage=$(fresh halftone_nn_gui)
    cp -r app/package/python/halftone_gui "$stage/"
    relink "$build" halftone "$stage/halftone_gui/bin/halftone" "\$ORIGIN/../../halftone/lib:\$ORIGIN/../../PySide6/Qt/lib"
    mv "$stage/halftone_gui/qt.conf" "$stage/halftone_gui/bin/"
    graphviz_in "$stage/halftone_gui/lib/halftone"
    mkdir -p "$stage/halftone_gui/share" "$stage/data/share/man/man1"
    cp -r "$prefix/share/halftone" "$stage/halftone_gui/share/"
    font_in "$stage/halftone_gui/share/halftone/fonts"
    cp -r "$prefix"/share/{applications,icons,metainfo,mime} "$stage/data/share/"
    cp "$prefix/share/man/man1/halftone.1" "$stage/data/share/man/man1/"
    licences_in "$stage/licenses" compiled linked window
    rm -f "$made"/halftone_nn_gui-*.whl
    python3 app/package/wheel.py window "$stage" "$version" "$made"
}

# Plug-ins of Qt that the tarball has. No xcbglintegrations: nothing here draws with OpenGL, and drivers are the system's own.
readonly qt_plugins=(platforms/libqxcb platforms/libqoffscreen iconengines/libqsvgicon imageformats/libqjpeg imageformats/libqsvg
    imageformats/libqgif imageformats/libqwebp platforminputcontexts/libcomposeplatforminputcontextplugin
    platforminputcontexts/libibusplatforminputcontextplugin platformthemes/libqxdgdesktopportal)

make_tar() {
    local name=halftone-$version-linux-x86_64 stage plugin
    unpack_old "${old_libc[@]}" "${old_graphviz[@]}" "${old_desktop[@]}" \
        || fail "the tarball needs Debian 11's packages, which are not to be had here; build/logs/sysroot-download.log says why"
    [[ -x $build/halftone ]] || fail "$build/halftone: not built; bash app/start.sh builds it"
    prepare_qt
    prepare_qcustomplot
    stage=$(fresh tar)/$name
    installed "$stage" Programs Window
    rm -rf "${stage:?}/lib" "${stage:?}/bin"
    relink "$build" halftone-cli "$stage/bin/halftone-cli" "\$ORIGIN/../lib"
    relink "$build" halftone-runtime "$stage/bin/halftone-runtime" "\$ORIGIN/../lib"
    relink "$build" halftone "$stage/bin/halftone" "\$ORIGIN/../lib"
    printf '[Paths]\nPrefix = ..\n' >"$stage/bin/qt.conf"
    ln -s bin/halftone bin/halftone-cli "$stage/"
    libraries_beside "$build" "$stage/lib"
    for plugin in "${qt_plugins[@]}"; do
        install -D -m 755 "$sysroot/pyside/PySide6/Qt/plugins/$plugin.so" "$stage/plugins/$plugin.so"
    done
    bundle "$stage/lib" "$stage"/bin/halftone "$stage"/plugins/*/*.so
    lower "$stage"/lib/*.so.*
    graphviz_in "$stage/lib/halftone"
    font_in "$stage/share/halftone/fonts"
    licences_in "$stage/licenses" compiled linked window desktop
    cp app/package/tarball.txt "$stage/README.txt"
    rm -f "$made/$name.tar.gz"
    tar -C "$made/stage/tar" --sort=name --owner=0 --group=0 --numeric-owner --mtime=2026-01-01 -cf - "$name" | gzip -9n >"$made/$name.tar.gz.part"
    mv "$made/$name.tar.gz.part" "$made/$name.tar.gz"
    echo "$made/$name.tar.gz"
}

make_deb() {
    local stage
    [[ -x $build/halftone ]] || fail "$build/halftone: not built; bash app/start.sh builds it"
    stage=$(fresh deb)
    installed "$stage/usr" Programs Window
    licences_in "$stage/usr/share/doc/halftone/licenses" compiled
    cp app/package/debian_copyright "$stage/usr/share/doc/halftone/copyright"
    gzip -9n "$stage"/usr/share/man/man1/*.1
    rm -f "$made/halftone_${version}_amd64.deb"
    (cd "$made/stage" && HALFTONE_STAGE=$stage HALFTONE_PACKAGE_VERSION=$version run_quietly "$OLDPWD/build/logs/package-deb.log" \
        cpack --config "$OLDPWD/app/package/deb.cmake")
    mv "$made/stage/halftone_${version}_amd64.deb" "$made/"
    echo "$made/halftone_${version}_amd64.deb"
}

mkdir -p "$made" build/logs
install_packages "${package_packages[@]}"
has_old_libc || true # asked once, here: what follows asks in subshells
prepare_libzip
case $kind in
    wheel) make_wheels ;;
    tar) make_tar ;;
    deb) make_deb ;;
esac
