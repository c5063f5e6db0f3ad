# shellcheck shell=bash
# Sourced by run.sh after app/setup.sh and app/package/sysroot.sh: Debian systems of old and new releases with nothing but Python in them.
# They are kept in build/package/roots. What runs in one changes only a layer over it, in build/package/run/LAYER.

readonly roots=$PWD/build/package/roots layers=$PWD/build/package/run

# skip REASON: ends a check that cannot be run here.
skip() {
    echo "skipped: $*"
    exit 77
}

# can_layer: whether in_root() will work.
can_layer() {
    mkdir -p "$layers"/probe/{lower,upper,work,merged}
    unshare --mount --propagation private mount -t overlay overlay \
        -o "lowerdir=$layers/probe/lower,upperdir=$layers/probe/upper,workdir=$layers/probe/work" "$layers/probe/merged" 2>/dev/null
}

# need_root RELEASE: makes it, once.
need_root() {
    local release=$1 from log=build/logs/root-$1.log
    [[ $EUID -eq 0 ]] || skip "a Debian $release root needs the rights of root"
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    can_layer || skip "this system allows no overlay over a folder in a mount namespace"
    [[ -f $roots/$release/complete ]] && return 0
    from=$(mirror)
    [[ -n $from ]] || skip "$release: no Debian mirror is known here"
    rm -rf "${roots:?}/$release"
    mkdir -p "$roots" build/logs
    debootstrap --variant=minbase --include=python3-venv "$release" "$roots/$release" "$from" >"$log" 2>&1 \
        || skip "$release is not to be had from $from: $(tail -n 1 "$log")"
    touch "$roots/$release/complete"
}

# fresh_layer LAYER: an empty one.
fresh_layer() {
    rm -rf "${layers:?}/$1"
    mkdir -p "$layers/$1"/{upper,work,merged}
}

# in_root RELEASE LAYER COMMAND [ARGUMENT...]: runs bash's COMMAND as root there, in /root. Its PID is this function's, so that it can be ended.
# Where this machine's pip is told a certificate or an index, so is the root's.
in_root() {
    local release=$1 layer=$layers/$2 certificate
    shift 2
    certificate=${PIP_CERT:-$(python3 -m pip config get global.cert 2>/dev/null || true)}
    # shellcheck disable=SC2016  # expanded by the shells inside
    exec unshare --mount --propagation private bash -euc '
        root=$1 layer=$2 certificate=$3
        shift 3
        at=$layer/merged
        mount -t overlay overlay -o "lowerdir=$root,upperdir=$layer/upper,workdir=$layer/work" "$at"
        mount --rbind /proc "$at/proc"
        mount --rbind /dev "$at/dev"
        rm -f "$at/etc/resolv.conf"
        cat /etc/resolv.conf >"$at/etc/resolv.conf" 2>/dev/null || true
        settings=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 PIP_DISABLE_PIP_VERSION_CHECK=1)
        if [[ -f $certificate ]]; then
            cat "$certificate" >"$at/etc/pip-certificates.pem"
            settings+=(PIP_CERT=/etc/pip-certificates.pem)
        fi
        for name in DISPLAY PIP_INDEX_URL QT_XCB_GL_INTEGRATION; do
            [[ -z ${!name:-} ]] || settings+=("$name=${!name}")
        done
        exec chroot "$at" env -i "${settings[@]}" bash -euc "cd /root; $1" bash "${@:2}"
    ' bash "$roots/$release" "$layer" "$certificate" "$@"
}

# put LAYER FILE...: into its /root.
put() {
    local layer=$1
    shift
    mkdir -p "$layers/$layer/upper/root"
    cp "$@" "$layers/$layer/upper/root/"
}
