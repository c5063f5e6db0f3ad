# shellcheck shell=bash disable=SC2034,SC2054  # lists are used by those who source this; the linker's options have commas
# Sourced by package.sh after app/setup.sh: what programs are linked against that run on older systems than the one they are built on.
# build/sysroot keeps all of it between runs: Debian 11's packages, static libraries made from Debian's sources, and Qt as PySide6 has it.

readonly sysroot=$PWD/build/sysroot
readonly multiarch=x86_64-linux-gnu
readonly old_release=bullseye own_release=bookworm
readonly pyside_version=6.8.3

# Of Debian 11: to link against, beside programs of every package, and for the window.
readonly old_libc=(libc6 libc6-dev linux-libc-dev libcrypt-dev)
readonly old_gomp=(libgomp1)
readonly old_graphviz=(graphviz libcdt5 libcgraph6 libgvc6 libpathplan4 libltdl7 libexpat1 zlib1g)
readonly old_desktop=(libglib2.0-0 libpcre3 libgl1 libegl1 libopengl0 libglvnd0 libglx0 libfontconfig1 libfreetype6 libpng16-16 libbrotli1
    libuuid1 libdbus-1-3 libsystemd0 liblz4-1 liblzma5 libzstd1 libgcrypt20 libgpg-error0 libxkbcommon0 libxkbcommon-x11-0 libx11-6
    libx11-xcb1 libxau6 libxdmcp6 libbsd0 libmd0 libxcb1 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0
    libxcb-render-util0 libxcb-render0 libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-util1 libxcb-xfixes0 libxcb-xkb1)

# mirror: where this machine's own Debian packages come from.
mirror() {
    # shellcheck disable=SC2016  # apt's own notation
    apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Label: Debian' 'Origin: Debian' 2>/dev/null | head -n 1
}

# own_apt NAME COMMAND...: apt-get with the root build/sysroot/apt-NAME, which changes nothing of this system's.
own_apt() {
    local root=$sysroot/apt-$1
    shift
    apt-get -q -o "Dir=$root" -o "Dir::Etc=$root/etc" -o "Dir::State=$root/state" -o "Dir::State::status=$root/status" \
        -o "Dir::Cache=$root/cache" -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root \
        -o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

# prepare_apt NAME TYPE RELEASE: makes that root: deb for packages, deb-src for sources. Fails where they are not to be had.
prepare_apt() {
    local root=$sysroot/apt-$1 from
    [[ -f $root/updated ]] && return 0
    from=$(mirror)
    [[ -n $from ]] || return 1
    mkdir -p "$root"/etc/{preferences.d,apt.conf.d,trusted.gpg.d} "$root"/state/lists/partial "$root"/cache/archives/partial build/logs
    : >"$root/status"
    echo "$2 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $3 main" >"$root/etc/sources.list"
    own_apt "$1" -o APT::Update::Error-Mode=any update >"build/logs/sysroot-update-$1.log" 2>&1 || return 1
    touch "$root/updated"
}

# unpack_old NAME...: these packages of Debian 11, unpacked in build/sysroot/root. Fails where they cannot be had.
unpack_old() {
    local name missing=() deb
    mkdir -p "$sysroot"/{debs,root}
    for name in "$@"; do
        compgen -G "$sysroot/debs/${name}_*.deb" >/dev/null || missing+=("$name")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    prepare_apt old deb "$old_release" || return 1
    echo "Fetching ${#missing[@]} packages of Debian 11 …"
    (cd "$sysroot/debs" && own_apt old download "${missing[@]}") >build/logs/sysroot-download.log 2>&1 || return 1
    for name in "${missing[@]}"; do
        for deb in "$sysroot/debs/${name}_"*.deb; do
            dpkg-deb -x "$deb" "$sysroot/root"
            dpkg-deb --fsys-tarfile "$deb" | tar -tf - | sed "s|^[.]/||; s|\$| $name|" >>"$sysroot/owners"
        done
    done
    local link
    while read -r link; do # to this system's files
        ln -sfnr "$sysroot/root$(readlink "$link")" "$link"
    done < <(find "$sysroot/root" -type l -lname '/*')
}

# bundle TO FILE...: copies what these need of Debian 11's libraries and of Qt's into the folder TO, and notes whose they are for
# licences.py.
bundle() {
    local to=$1 file
    shift
    python3 app/package/bundle.py "$to" "$sysroot/pyside/PySide6/Qt/lib:$sysroot/root/usr/lib/$multiarch:$sysroot/root/lib/$multiarch" "$@" \
        | while read -r file; do
            [[ $file != "$sysroot/root/"* ]] || awk -v "file=${file#"$sysroot/root/"}" '$1 == file { print $2 }' "$sysroot/owners"
        done >>"$sysroot/bundled"
}

# has_old_libc: whether Debian 11's libc is to be had; without it this machine's own is linked, and tags say so.
old_libc_state=
has_old_libc() {
    if [[ -z $old_libc_state ]]; then
        old_libc_state=no
        if [[ -z ${HALFTONE_WITHOUT_OLD_LIBC:-} ]] && unpack_old "${old_libc[@]}" "${old_gomp[@]}"; then
            old_libc_state=yes
        else
            echo "Debian 11's libc is not to be had: linking against this machine's own"
        fi
    fi
    [[ $old_libc_state == yes ]]
}

# unpack_source NAME: Debian 12's source package in build/sysroot/src/NAME.
unpack_source() {
    local name=$1 log=build/logs/sysroot-$1.log
    [[ -d $sysroot/src/$name ]] && return 0
    prepare_apt source deb-src "$own_release" || fail "$name: its source is not to be had; build/logs/sysroot-update-source.log says why"
    mkdir -p "$sysroot/src"
    run_quietly "$log" fetch_source "$name"
}
fetch_source() {
    (cd "$sysroot/src" && own_apt source source --download-only "$1" && dpkg-source -x "$1"_*.dsc "$1.part" && mv "$1.part" "$1")
}

# prepare_libzip: build/sysroot/static/libzip.a, which needs zlib alone. Debian has only a shared one, with cryptography and three more
# compressions, none of which Halftone's files use.
prepare_libzip() {
    [[ -f $sysroot/static/libzip.a ]] && return 0
    unpack_source libzip
    echo "Building libzip …"
    local off=() option
    for option in ENABLE_{COMMONCRYPTO,GNUTLS,MBEDTLS,OPENSSL,WINDOWS_CRYPTO,BZIP2,LZMA,ZSTD} BUILD_{SHARED_LIBS,TOOLS,REGRESS,EXAMPLES,DOC}; do
        off+=("-D$option=OFF")
    done
    run_quietly build/logs/sysroot-libzip-configure.log cmake -S "$sysroot/src/libzip" -B "$sysroot/src/libzip-build" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON "${off[@]}"
    run_quietly build/logs/sysroot-libzip.log ninja -C "$sysroot/src/libzip-build"
    mkdir -p "$sysroot/static"
    cp "$sysroot/src/libzip-build/lib/libzip.a" "$sysroot/static/"
}

# prepare_relocatable: build/sysroot/static/lib{protobuf,re2,png16}.a for libhalftone.so. Debian's static ones are made for programs: in a shared
# library that has libstdc++ inside and exports nothing of them, their objects may stand but for those that refer to variables of a thread or to
# libc's stderr. Those are compiled again, with the settings of Debian's.
prepare_relocatable() {
    [[ ! -f $sysroot/static/libpng16.a ]] || return 0
    local name
    for name in protobuf re2 libpng1.6; do
        unpack_source "$name"
    done
    echo "Compiling parts of protobuf, re2 and libpng …"
    local source=$sysroot/src
    mkdir -p "$sysroot/static"
    run_quietly build/logs/sysroot-protobuf.log compile_again libprotobuf.a 'g++ -std=c++11 -DHAVE_PTHREAD -pthread -Isrc' "$source/protobuf" \
        src/google/protobuf/arena.cc src/google/protobuf/stubs/common.cc
    run_quietly build/logs/sysroot-re2.log compile_again libre2.a 'g++ -std=c++17 -pthread -I.' "$source/re2" \
        re2/{bitstate,compile,dfa,filtered_re2,mimics_pcre,nfa,onepass,parse,prefilter,prefilter_tree,re2,regexp,set,simplify,tostring}.cc
    run_quietly build/logs/sysroot-libpng1.6.log compile_again libpng16.a 'gcc -DPNG_INTEL_SSE_OPT=0 -I/usr/include/libpng16 -I.' \
        "$source/libpng1.6" pngerror.c
}
# compile_again LIBRARY COMMAND FOLDER SOURCE...: a copy of Debian's static library with these sources of FOLDER in place of its objects.
compile_again() (
    local library=$1 command=$2
    cd "$3" && mkdir -p objects && cp "/usr/lib/$multiarch/$library" objects/ || exit 1
    shift 3
    # shellcheck disable=SC2016  # the shell that xargs starts expands it
    printf '%s\n' "$@" \
        | xargs -P "$(nproc)" -I{} sh -c 'name=$(basename "$2") && $1 -O2 -DNDEBUG -fPIC -w -c "$2" -o "objects/${name%.*}.o"' sh "$command" {} \
        && ar r "objects/$library" objects/*.o && mv "objects/$library" "$sysroot/static/"
)

# prepare_qcustomplot: build/sysroot/static/libQCustomPlotQt6.a. Debian's shared one needs glibc 2.29.
prepare_qcustomplot() {
    [[ -f $sysroot/static/libQCustomPlotQt6.a ]] && return 0
    unpack_source qcustomplot
    echo "Building QCustomPlot …"
    mkdir -p "$sysroot/static"
    run_quietly build/logs/sysroot-qcustomplot.log build_qcustomplot "$sysroot/src/qcustomplot"
}
build_qcustomplot() (
    cd "$1" || exit 1
    local headers module options=(-std=c++17 -O2 -DNDEBUG -fPIC -w -DQCUSTOMPLOT_COMPILE_LIBRARY -I.)
    headers=$(qmake6 -query QT_INSTALL_HEADERS)
    for module in . QtCore QtGui QtWidgets QtPrintSupport; do
        options+=("-I$headers/$module")
    done
    "$(qmake6 -query QT_INSTALL_LIBEXECS)/moc" qcustomplot.h -o moc_qcustomplot.cpp
    g++ "${options[@]}" -c qcustomplot.cpp -o qcustomplot.o
    g++ "${options[@]}" -include qcustomplot.h -c moc_qcustomplot.cpp -o moc_qcustomplot.o
    ar rcs "$sysroot/static/libQCustomPlotQt6.a" qcustomplot.o moc_qcustomplot.o
)

# prepare_qt: PySide6-Essentials from PyPI, unpacked in build/sysroot/pyside: Qt 6.8 for glibc 2.28.
prepare_qt() {
    [[ $(cat "$sysroot/pyside/version" 2>/dev/null) == "$pyside_version" ]] && return 0
    echo "Fetching Qt from PyPI …"
    rm -rf "$sysroot/pyside"
    mkdir -p "$sysroot/pyside"
    run_quietly build/logs/sysroot-pyside.log build/onednn/bin/pip download --no-cache-dir --no-deps --disable-pip-version-check --only-binary :all: \
        --platform manylinux_2_28_x86_64 --dest "$sysroot/pyside" "PySide6-Essentials==$pyside_version"
    python3 -m zipfile -e "$sysroot"/pyside/*.whl "$sysroot/pyside"
    rm "$sysroot"/pyside/*.whl
    printf '%s\n' "$pyside_version" >"$sysroot/pyside/version"
}

# compile_compat: build/sysroot/compat.o
compile_compat() {
    [[ $sysroot/compat.o -nt app/package/compat.c ]] \
        || gcc -std=c11 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -c app/package/compat.c -o "$sysroot/compat.o"
}

# link_words BUILD TARGET: sets `words` to the command that linked it there.
link_words() {
    local command
    command=$(ninja -C "$1" -t commands -s "$2" 2>/dev/null) || fail "$1: has no $2; app/start.sh builds it"
    command=${command##*": && "}
    command=${command%" && :"*}
    eval "words=($command)"
}

# relink BUILD TARGET OUT RPATH: links TARGET's objects of BUILD again as OUT, for older systems, with third libraries inside of it but for
# those that lie beside it (libdnnl, libgomp, libjpeg), Qt and the system's own.
relink() {
    local build=$1 target=$2 out=$3 rpath=$4 word skip=false words=() linked=() beside
    link_words "$build" "$target"
    for word in "${words[@]}"; do
        if $skip; then
            skip=false
            continue
        fi
        case $word in
            -o) skip=true ;;
            -Wl,-rpath,* | -Wl,-rpath-link,* | -fuse-ld=* | */libpthread.a | */libGLX.so* | */libOpenGL.so*) ;;
            */libgomp.so*) linked+=("$(gomp)") ;;
            */libzip.so*) linked+=("$sysroot/static/libzip.a" "$(zlib "$target")") ;;
            */libQCustomPlotQt6.so*) linked+=("$sysroot/static/libQCustomPlotQt6.a") ;;
            */libprotobuf.so*) linked+=("$(relocatable protobuf "$target")") ;;
            */libre2.so*) linked+=("$(relocatable re2 "$target")") ;;
            */libpng16.so*) linked+=("$(relocatable png16 "$target")") ;;
            */libstb.so* | */libxxhash.so*)
                beside=${word%.so*}.a
                [[ -f $beside ]] || fail "$beside: missing, expected beside $word; install the development package"
                linked+=("$beside")
                ;;
            *) linked+=("$word") ;;
        esac
    done
    local name options=(-static-libstdc++ -pthread -Wl,--as-needed -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-s
        -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags "-Wl,-rpath,$rpath" -Wl,--hash-style=gnu -Wl,-z,relro -Wl,-z,now)
    if has_old_libc; then
        compile_compat
        for name in exp exp2 log log2 pow; do
            options+=("-Wl,--wrap=$name")
        done
        # -B: for this libc's crt1.o. That of glibc 2.34 leaves static constructors to the libc, which an older one does not call.
        options+=("--sysroot=$sysroot/root" "-B$sysroot/root/usr/lib/$multiarch/" "-L$sysroot/root/usr/lib/$multiarch"
            "-L$sysroot/root/lib/$multiarch" "$sysroot/compat.o")
    fi
    mkdir -p "$(dirname "$out")"
    run_quietly "build/logs/relink-$target.log" link_in "$build" "$(realpath -m "$out")" "${words[0]}" "${options[@]}" "${linked[@]:1}"
}
link_in() {
    local build=$1 out=$2
    shift 2
    (cd "$build" && "$@" -ldl -lm -o "$out")
}

# gomp: libgomp as it lies beside the programs.
gomp() {
    local old=$sysroot/root/usr/lib/$multiarch/libgomp.so.1
    if has_old_libc; then
        printf '%s\n' "$old"
    else
        g++ -print-file-name=libgomp.so.1
    fi
}

# relocatable NAME TARGET: the static library for a target; in a shared one, that of prepare_relocatable().
relocatable() {
    if [[ $2 == *.so ]]; then
        printf '%s\n' "$sysroot/static/lib$1.a"
    else
        echo "/usr/lib/$multiarch/lib$1.a"
    fi
}

# zlib TARGET: in the window it stays shared, since Qt's libraries refer to it.
zlib() {
    if [[ $1 == halftone ]]; then
        echo -lz
    else
        echo "/usr/lib/$multiarch/libz.a"
    fi
}

# libraries_beside BUILD TO: what relink() left out.
libraries_beside() {
    local build=$1 to=$2 word words=()
    link_words "$build" halftone-cli
    mkdir -p "$to"
    for word in "${words[@]}"; do
        case $word in
            */libdnnl.so*) install -m 755 "$word" "$to/libdnnl.so.3" ;;
            */libjpeg.so*) install -m 755 "$word" "$to/libjpeg.so.62" ;;
            */libgomp.so*) install -m 755 "$(gomp)" "$to/libgomp.so.1" ;;
        esac
    done
    strip --strip-unneeded "$to"/*.so.*
}
