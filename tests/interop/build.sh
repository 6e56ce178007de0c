#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the virtual machine that holds Linux's own iWARP, siw: a kernel and an initramfs, from Debian packages only.
#
#   build.sh [--force] [--nfs]     quick when nothing changed; --nfs: also the overlay with Linux's NFS server
#
# Result in ${WEFT_SIW_VM_CACHE:-${XDG_CACHE_HOME:-~/.cache}/weft-siw-vm}:
#   vmlinux      Debian's kernel, unpacked: qemu starts it without a boot loader and without decompressing
#   initrd.img   busybox, kernel modules, siw stock and with parameters, rping, perftest, siw_peer
#   nfs.img      with --nfs: what run.sh --nfs adds to it
#   versions.txt what it was made of; its first line names the kernel
# WEFT_SIW_VM_KERNEL=6.1.0-56-amd64 chooses a kernel; otherwise the newest whose headers and image apt offers. siw's source always
# has the kernel's own version. Where apt's lists are stale (a package is gone, or no kernel is offered), they are refreshed once.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin

here=$(cd "$(dirname "$0")" && pwd)
self=$here/${0##*/} arguments=("$@") force= nfs=
for argument; do
    case $argument in
        --force) force=1;;
        --nfs) nfs=1;;
        *) echo "build.sh: unknown argument $argument" >&2; exit 2;;
    esac
done
cache=${WEFT_SIW_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft-siw-vm}
libdir=/usr/lib/x86_64-linux-gnu
sudo=; [ "$(id -u)" = 0 ] || sudo=sudo

say() { echo "siw-vm: $*" >&2; }
die() { say "$*"; exit 1; }

# stale WHY [LOG]: starts over with fresh package lists, which may offer another kernel; gives up the second time.
stale() {
    [ -z "${WEFT_SIW_VM_REFRESHED:-}" ] || { [ -z "${2:-}" ] || tail -n 20 "$2" >&2; die "$1"; }
    say "$1; refreshing apt's package lists"
    $sudo apt-get update >&2 || die "apt-get update failed: is there a network?"
    WEFT_SIW_VM_REFRESHED=1 exec "$self" "${arguments[@]}"
}

# download PACKAGE[=VERSION]: the package's file into the current directory.
download() { apt-get -o APT::Sandbox::User=root download "$1" >download.log 2>&1 || stale "cannot download $1" download.log; }

# A kernel can be used when its headers are installed or can be, and its image can be downloaded.
choose_kernel() {
    local installed offered image
    installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 'linux-headers-[0-9]*-amd64' 2>/dev/null | sed -n 's/^ii *linux-headers-//p')
    offered=$(apt-cache pkgnames linux-headers- 2>/dev/null | sed -n 's/^linux-headers-\([0-9][0-9.]*-[0-9]*-amd64\)$/\1/p')
    image=$(apt-cache pkgnames linux-image- 2>/dev/null | sed -n 's/^linux-image-\([0-9][0-9.]*-[0-9]*-amd64\)$/\1/p')
    { comm -12 <(sort -u <<<"$installed") <(sort -u <<<"$image") | sort -V | tail -1 | grep . ||
      comm -12 <(sort -u <<<"$offered") <(sort -u <<<"$image") | sort -V | tail -1; }
}

# The only step that needs root, and only when something is missing (./check has installed packages.txt already).
install_missing() {
    local missing=() p
    for p in $(sed -E 's/#.*//' "$here/packages.txt") "linux-headers-$kernel"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]} (reasons: tests/interop/packages.txt)"
    $sudo apt-get install -y --no-install-recommends "${missing[@]}" >apt.log 2>&1 || stale "apt could not install ${missing[*]}" apt.log
}

# The kernel image is only downloaded and unpacked here, never installed on this machine.
fetch_kernel() {
    [ "$(cat kernel.version 2>/dev/null)" = "$kernel" ] && return 0
    rm -rf image kernel.version linux-image-*.deb
    say "downloading linux-image-$kernel"
    download "linux-image-$kernel"
    dpkg-deb -x linux-image-"$kernel"_*.deb image
    rm linux-image-*.deb
    echo "$kernel" >kernel.version
}

# bzImage (Documentation/x86/boot.rst): the number of set-up sectors at 0x1f1, offset and length of the payload at 0x248.
unpack_kernel() {
    local image=image/boot/vmlinuz-$kernel sectors offset length
    sectors=$(od -An -tu1 -j $((0x1f1)) -N 1 "$image" | tr -d ' ')
    read -r offset length < <(od -An -tu4 -j $((0x248)) -N 8 "$image")
    head -c $(((sectors + 1) * 512 + offset + length)) "$image" | tail -c "$length" | xz -dc --single-stream >vmlinux.new ||
        die "the payload of linux-image-$kernel is not xz: this script does not know how to unpack it"
    mv vmlinux.new "$cache/vmlinux"
}

# siw's source, of exactly this kernel's version. The rest of Debian's linux-source is not kept.
extract_siw() {
    local series=${kernel%%-*}
    series=linux-source-${series%.*}    # 6.1.0-56-amd64 -> linux-source-6.1
    say "extracting siw from $series $version"
    download "$series=$version"
    dpkg-deb --fsys-tarfile "${series}"_*.deb | tar -xO "./usr/src/$series.tar.xz" |
        tar -xJ -C siw-stock --strip-components=5 "$series/drivers/infiniband/sw/siw"
    rm "${series}"_*.deb
}

build_siw() {
    local v made
    made="$kernel $version $(sha256sum <"$here/siw-parameters.sh")"
    [ "$(cat siw.made 2>/dev/null)" = "$made" ] && return 0
    rm -rf siw-stock siw-parameters siw.made linux-source-*.deb; mkdir siw-stock
    extract_siw
    cp -r siw-stock siw-parameters
    "$here/siw-parameters.sh" siw-parameters
    for v in stock parameters; do
        say "building siw.ko ($v)"
        make -j"$(nproc)" -C "/usr/src/linux-headers-$kernel" M="$PWD/siw-$v" CONFIG_RDMA_SIW=m modules >siw-$v.log 2>&1 ||
            { tail -30 siw-$v.log >&2; die "siw ($v) does not build"; }
        strip --strip-debug -o siw-$v.ko siw-$v/siw.ko
    done
    echo "$made" >siw.made
}

# modules LIST MODULE...: copies what these modules need into the folder $into, except what the initramfs has, and writes /mod/LIST, the files
# in load order, so that the guest needs no modprobe.
modules() {
    local list=$1 m f; shift
    for m; do modprobe -d "$PWD/image" -S "$kernel" --show-depends "$m"; done |
        sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' | while read -r f; do
            [ "${f##*/}" = siw.ko ] || [ -e "root/mod/${f##*/}" ] || cp "$f" "$into/mod/"
            echo "${f##*/}"
        done >"$into/mod/$list"
    [ -s "$into/mod/$list" ] || die "kernel $kernel lacks one of: $*"
}

# program FILE: copies a program, and every shared library that it needs and the initramfs lacks, into the folder $into. Libraries may also be
# in the folders $unpacked.
program() {
    local library needs
    cp -L "$1" "$into/usr/bin/"
    needs=$(LD_LIBRARY_PATH=${unpacked:-} ldd "$1")
    [[ $needs != *'not found'* ]] || die "a library of $1 is missing: $needs"
    sed -nE 's/.*=> (\/[^ ]+).*/\1/p' <<<"$needs" | while read -r library; do
        [ -e "root$libdir/${library##*/}" ] || cp -nL "$library" "$into$libdir/"
    done
}

# pack FILE: the folder $into as an archive that the guest's kernel unpacks.
pack() {
    (cd "$into" && find . -mindepth 1 | sort | cpio -o -H newc -R 0:0 --quiet) >pack.new
    mv pack.new "$cache/$1"
}

build_initramfs() {
    local p into=root
    say "building the initramfs"
    rm -rf root
    mkdir -p root/{bin,dev,etc/libibverbs.d,lib64,mod,proc,root,run,sys,tmp} root/usr/bin root$libdir/libibverbs
    cp /bin/busybox root/bin/
    for p in $(/bin/busybox --list); do case $p in ip|busybox) ;; *) ln -s busybox root/bin/"$p";; esac; done
    ln -s ../usr/bin/bash root/bin/bash
    ln -s usr/lib root/lib
    cp -L /lib64/ld-linux-x86-64.so.2 root/lib64/
    cp -L "$(gcc -print-file-name=libgcc_s.so.1)" root$libdir/   # pthread_exit loads it

    mkdir -p "image/lib/modules/$kernel/updates"
    cp siw-stock.ko "image/lib/modules/$kernel/updates/siw.ko"
    depmod -b image "$kernel"
    modules boot virtio_pci virtio_console
    # A module that asks for a CRC32C keeps what was the best when it was loaded; on real machines that is the processor's.
    modules rdma virtio_net crc32c-intel crc32c_generic libcrc32c ib_uverbs rdma_ucm siw
    cp siw-stock.ko siw-parameters.ko root/mod/

    gcc -O2 -Wall -Wextra -Werror -o siw_peer "$here/guest/siw_peer.c" -lrdmacm -libverbs
    program siw_peer
    for p in rping ib_{send,write,read}_{bw,lat} ibv_devinfo ip rdma bash; do program "$(command -v $p)"; done
    for p in $libdir/libibverbs/libsiw-rdmav*.so; do cp -L "$p" root$libdir/libibverbs/; done
    cp /etc/libibverbs.d/siw.driver root/etc/libibverbs.d/

    install -m 755 "$here/guest/init" root/init
    install -m 755 "$here/guest/session.sh" root/etc/session.sh
    cp "$here/guest/lib.sh" root/etc/lib.sh
    echo 'root:x:0:0:root:/root:/bin/sh' >root/etc/passwd
    printf '127.0.0.1 localhost\n10.0.2.2 host\n' >root/etc/hosts
    pack initrd.img
}

# Linux's NFS server. Its packages are unpacked here, with those of its libraries that this machine lacks. They are not installed, because
# installing would start their daemons.
build_nfs() {
    local p into=nfs-root unpacked=$PWD/nfs-packages$libdir:$PWD/nfs-packages${libdir#/usr}
    say "building the overlay with Linux's NFS server"
    rm -rf nfs-debs nfs-packages nfs-root
    mkdir -p nfs-debs/partial nfs-packages nfs-root/{etc,mod,run/rpcbind} nfs-root/usr/bin nfs-root$libdir nfs-root/var/lib/nfs/{sm,v4recovery}
    apt-get -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::Cache::archives="$PWD/nfs-debs" install -y --download-only \
        --reinstall --no-install-recommends nfs-kernel-server rpcbind libtirpc-common >download.log 2>&1 ||
        stale "cannot download nfs-kernel-server" download.log
    for p in nfs-debs/*.deb; do dpkg-deb -x "$p" nfs-packages; done
    modules nfs rpcrdma nfsd
    for p in rpcbind exportfs rpc.mountd rpc.nfsd; do program "$(find nfs-packages/sbin nfs-packages/usr/sbin -name "$p")"; done
    cp nfs-packages/etc/netconfig nfs-root/etc/
    { cat root/etc/passwd; echo '_rpc:x:100:100::/run/rpcbind:/bin/sh'; } >nfs-root/etc/passwd   # rpcbind changes to this user
    printf '%s\n' 'sunrpc 111/tcp portmapper' 'sunrpc 111/udp portmapper' 'nfs 2049/tcp' >nfs-root/etc/services
    printf '%s\n' 'tcp 6 TCP' 'udp 17 UDP' >nfs-root/etc/protocols
    touch nfs-root/etc/exports nfs-root/var/lib/nfs/{etab,rmtab}
    install -m 755 "$here/guest/serve_nfs" nfs-root/usr/bin/serve_nfs
    pack nfs.img
    echo "$stamp" >"$cache/nfs.stamp"
}

build_vm() {
    local version
    install_missing
    version=$(dpkg-query -W -f '${Version}' "linux-headers-$kernel")   # 6.1.192-2 for 6.1.0-56-amd64
    fetch_kernel
    unpack_kernel
    build_siw
    build_initramfs
    gcc -O2 -o "$cache/tsc_khz" "$here/guest/tsc_khz.c"
    { echo "kernel $version, $kernel"; dpkg-query -W -f '${Package} ${Version}\n' "linux-headers-$kernel" rdmacm-utils perftest libibverbs1 librdmacm1 \
        ibverbs-providers qemu-system-x86; } >"$cache/versions.txt"
    echo "$stamp" >"$cache/stamp"
}

kernel=${WEFT_SIW_VM_KERNEL:-$(choose_kernel)}
[ -n "$kernel" ] || stale "apt offers no linux-headers-*-amd64 with its linux-image; set WEFT_SIW_VM_KERNEL"
[ "$(uname -m)" = x86_64 ] || die "the VM is made for x86_64, this is $(uname -m)"
stamp=$(cat "$here"/{build.sh,siw-parameters.sh,packages.txt} "$here"/guest/* - <<<"$kernel" | sha256sum | cut -c1-16)
mkdir -p "$cache/work"
exec 8>"$cache/lock"; flock 8   # one build at a time
[ -z "$force" ] || rm -f "$cache/stamp"
cd "$cache/work"
if [ "$(cat "$cache/stamp" 2>/dev/null)" = "$stamp" ]; then
    say "up to date in $cache ($(head -n 1 "$cache/versions.txt"))"
else
    rm -f "$cache/nfs.stamp"
    build_vm
    say "done: $cache ($(du -h "$cache/initrd.img" | cut -f1) initramfs, $(head -n 1 "$cache/versions.txt"))"
fi
[ -z "$nfs" ] || [ "$(cat "$cache/nfs.stamp" 2>/dev/null)" = "$stamp" ] || build_nfs
