#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Boots the siw VM, runs commands in it, and leaves with their exit code.
#
#   run.sh [options] 'COMMANDS'     commands for bash in the guest (guest/lib.sh holds helpers)
#   run.sh [options] --shell        a shell on the guest's console; "exit" ends it
#
#   --fwd HPORT:GPORT     connections to 127.0.0.1:HPORT go to the guest's GPORT (repeatable)
#   --siw-params 'P=V …'  load siw with parameters instead of stock siw (siw-parameters.sh)
#   --timeout S           give up after S seconds (default 120): exit code 124
#   --pcap FILE           capture the guest's network card from qemu's side
#   --console FILE        keep the kernel's console there
#   --nfs                 with the overlay of Linux's NFS server (guest/serve_nfs)
#   --pidfile FILE        qemu writes its process id there, and removes the file at its end
#   --add DIR             puts the files of DIR into the guest's root, too (bench/siw)
#   --accel kvm | count   for measurements (bench/siw), instead of tcg. kvm: the processor itself; asks for /dev/kvm and a
#                         processor with vmx or svm. count: one emulated processor whose clock is the instructions that it
#                         has carried out, 1 ns each, so that no time depends on what else this machine does
#
# In the guest: siw0 on eth0, 10.0.2.15; siw_lo on lo, 10.1.0.1. This machine's 127.0.0.1 is 10.0.2.2 for the guest.
# slirp accepts a forwarded connection before anything listens in the guest, and then closes it: connect only after
# the guest has said that it listens.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${WEFT_SIW_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft-siw-vm}
usage() { sed -n '3,/^set -/p' "$0" | sed '$d; s/^# \?//'; exit "${1:-2}"; }

forward= commands= module=siw-stock.ko parameters= limit=120 pcap= console= shell= add= accel=tcg nfs= pidfile=
while [ $# -gt 0 ]; do
    case $1 in
        --fwd) forward+=",hostfwd=tcp:127.0.0.1:${2%%:*}-10.0.2.15:${2##*:}"; shift 2;;
        --siw-params) module=siw-parameters.ko parameters=$2; shift 2;;
        --timeout) limit=$2; shift 2;;
        --pcap) pcap=$2; shift 2;;
        --console) console=$2; shift 2;;
        --nfs) nfs=--nfs; shift;;
        --pidfile) pidfile=$2; shift 2;;
        --add) add=$2; shift 2;;
        --accel) accel=$2; shift 2;;
        --shell) shell=1; shift;;
        -h|--help) usage 0;;
        -*) echo "run.sh: unknown option $1" >&2; usage;;
        *) commands=$1; shift;;
    esac
done
[ -n "$commands$shell" ] || usage
case $accel in
    tcg) machine=(-accel tcg,thread=multi,tb-size=256 -cpu Nehalem -smp 2);;
    kvm) machine=(-accel kvm -cpu host -smp 2);;
    count) machine=(-accel tcg,thread=single,tb-size=256 -icount "shift=0,sleep=off" -cpu Nehalem -smp 1);;
    *) echo "run.sh: --accel is tcg, kvm or count" >&2; usage;;
esac
# shellcheck disable=SC2086  # no argument where it is empty
"$here/build.sh" $nfs 2>/dev/null || "$here/build.sh" $nfs || exit 125

tmp=$(mktemp -d "${TMPDIR:-/tmp}/weft-siw-vm.XXXXXX")
qemu=
trap '[ -z "$qemu" ] || kill "$qemu" 2>/dev/null || true; rm -rf "$tmp"' EXIT
trap 'exit 143' TERM INT HUP

# What this run does goes into a cpio archive of its own after the others; the kernel unpacks all of them.
mkdir -p "$tmp/add/run"
[ -z "$add" ] || cp -r "$add/." "$tmp/add/"
printf 'SIW_MODULE=%q\nSIW_PARAMETERS=%q\n' "$module" "$parameters" >"$tmp/add/run/settings"
[ -z "$commands" ] || printf '%s\n' "$commands" >"$tmp/add/run/commands"
{ cat "$cache/initrd.img" ${nfs:+"$cache/nfs.img"}; (cd "$tmp/add" && find . -mindepth 1 | cpio -o -H newc -R 0:0 --quiet); } >"$tmp/initrd"

# The emulated CPU shows this machine's time stamp counter. Told its rate, the guest need not measure it while booting,
# which goes wrong when this machine is busy.
khz=$([ "$accel" = count ] && echo 1000000 || "$cache/tsc_khz")
# A fault of the guest's kernel ends the machine (oops=panic): one that went on might hold a lock forever, and every command would wait for it.
append="console=ttyS0 quiet loglevel=4 oops=panic panic=-1 reboot=t nokaslr mitigations=off no_timer_check tsc=reliable tsc_early_khz=$khz
    cryptomgr.notests apparmor=0 audit=0 8250.nr_uarts=1 rcupdate.rcu_expedited=1 pci=lastbus=0 net.ifnames=0"
out=stdio,id=out serial=file,id=serial,path=$tmp/console
[ -z "$shell" ] || out=null,id=out serial=stdio,id=serial
command=(qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none
    -machine q35,hpet=off "${machine[@]}" -m 1G
    -kernel "$cache/vmlinux" -initrd "$tmp/initrd" -append "${append//$'\n'/ }"
    -chardev "$serial" -serial chardev:serial
    -device virtio-serial-pci -chardev "$out" -device virtserialport,chardev=out,name=weft.out
    -chardev "file,id=result,path=$tmp/result" -device virtserialport,chardev=result,name=weft.result
    -netdev "user,id=net,ipv6=off$forward" -device virtio-net-pci,netdev=net,romfile=)
[ -z "$pcap" ] || command+=(-object "filter-dump,id=dump,netdev=net,file=$pcap,maxlen=65535")
[ -z "$pidfile" ] || command+=(-pidfile "$pidfile")

if [ -n "$shell" ]; then "${command[@]}"; exit; fi
mkfifo "$tmp/in"; exec 9<>"$tmp/in"   # an input that never ends: at its end qemu would close the output
# Whatever happens to this script, no machine is left running.
setpriv --pdeathsig TERM timeout "$limit" setpriv --pdeathsig KILL "${command[@]}" <&9 9<&- &
qemu=$!
status=0; wait $qemu || status=$?
qemu=
[ -z "$console" ] || cp "$tmp/console" "$console"
[ $status != 124 ] || { echo "run.sh: timeout after $limit s" >&2; exit 124; }
result=$(cat "$tmp/result" 2>/dev/null || true)
if [ -z "$result" ]; then
    echo "run.sh: the guest ended without an exit code (qemu: $status); its console:" >&2
    tail -n 60 "$tmp/console" >&2
    exit 125
fi
exit "$result"
