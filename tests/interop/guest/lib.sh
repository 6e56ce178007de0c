# SPDX-License-Identifier: Apache-2.0
# Helpers of the guest's shell (busybox sh and bash).

port_named() {  # port_named NAME: the device file of a virtio port
    grep -lx "$1" /sys/class/virtio-ports/*/name 2>/dev/null | sed 's|.*/\(vport[^/]*\)/name|/dev/\1|'
}

load_modules() {  # load_modules LIST: the modules of /mod/LIST, in the order worked out by build.sh
    for module in $(cat /mod/$1); do
        [ -e /sys/module/$(echo ${module%.ko} | tr - _)/initstate ] && continue
        case $module in
            siw.ko) insmod /mod/$SIW_MODULE $SIW_PARAMETERS;;
            *) insmod /mod/$module;;
        esac || echo "insmod $module failed"
    done
}

add_siw_devices() {
    rdma link add siw_lo type siw netdev lo
    rdma link add siw0 type siw netdev eth0
}

use_siw() {  # use_siw stock | parameters: from now on, this build of siw
    killall -q siw_peer rping ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat
    rdma link delete siw_lo; rdma link delete siw0
    for i in $(seq 300); do rmmod siw 2>/dev/null && break; usleep 100000; done   # connections may still be going down
    insmod /mod/siw-$1.ko && add_siw_devices
}

siw_set() {  # siw_set PARAMETER=VALUE...: for connections made from now on; needs the build with parameters
    for setting; do echo "${setting#*=}" >/sys/module/siw/parameters/"${setting%%=*}" || return 1; done
}

listens() {  # listens PORT: whether something, siw included, listens on TCP PORT
    awk -v port="$(printf ':%04X' "$1")" '$4 == "0A" && index($2, port) { found = 1 } END { exit !found }' /proc/net/tcp /proc/net/tcp6
}

wait_listen() {  # wait_listen PORT: until something listens there (60 s at most)
    for i in $(seq 1200); do listens $1 && return 0; usleep 50000; done
    echo "wait_listen: nothing listens on port $1"; return 1
}

serve_rping() {  # serve_rping PORT: a new rping server; the one before is ended. One that ends at once, as the port is taken, is started again
    killall -9 -q rping
    if dmesg | grep -q "Call Trace"; then echo "serve_rping: the kernel has met a fault of its own"; dmesg | tail -n 60; return 1; fi
    for i in $(seq 200); do listens $1 || break; usleep 50000; done
    for i in $(seq 10); do
        setsid rping -s -P -p $1 >/run/rping.log 2>&1 &
        for j in $(seq 200); do
            listens $1 && return 0
            kill -0 $! 2>/dev/null || break
            usleep 50000
        done
        killall -9 -q rping
    done
    echo "serve_rping: no rping listens on port $1"; cat /run/rping.log
    return 1
}

limit() {  # limit SECONDS COMMAND...: busybox's timeout cannot be used under nc, which makes its children ignore SIGCHLD
    seconds=$1; shift
    "$@" & command=$!
    (sleep $seconds; kill $command 2>/dev/null) & watch=$!
    wait $command; code=$?
    kill $watch 2>/dev/null
    return $code
}

serve_sessions() {  # serve_sessions PORT: run the command lines that come over TCP (session.sh) until one says "power off"
    nc -ll -p "$1" -e /etc/session.sh &
    until [ -e /run/stop ]; do usleep 100000; done
}
