# SPDX-License-Identifier: Apache-2.0
# What perftest_in_vm.py has the guest do: the pairs of processes of /run/plan, one after the other, a line each:
#
#   siw on ib_write_lat -s 64 -n 1000           over siw (or under weft run), with CRC on (or off), this command
#
# Both ends are on 10.1.0.1, which is lo with siw_lo on it. What is said of a pair stands between "@pair LINE" and "@end CODE":
# the client's output, the end of the server's when the client failed, and what both cost. A pair that failed is tried again:
# perftest's client may come for its second connection before the server listens anew.
address=10.1.0.1 port=20000 crc=

use_crc() {  # use_crc on | off: siw's side of it; weft's is a policy
    [ "$1" != "$crc" ] || return 0
    crc=$1
    siw_set mpa_crc_required=$([ "$crc" = on ] && echo Y || echo N)
}

# Each process stays on a processor of its own, as in bench/drop_in_overhead.py: two that spin on one would wait for each other's
# slice of time, 4 ms, and measure that.
end_of() {  # end_of STACK server|client COMMAND...: one process, and its account in /run/account.server|client
    local stack=$1 which=$2; shift 2
    [ "$stack" = siw ] || set -- weft run --policy "crc=$crc" -- "$@"
    if [ "$(nproc)" -gt 1 ]; then set -- taskset -c $([ $which = server ] && echo 0 || echo 1) "$@"; fi
    busybox time -v -o /run/account.$which timeout "$PAIR_LIMIT" "$@"
}

account() {  # account server|client: user seconds, system seconds, how often it slept, how often it was made to wait
    awk -v which="$1" -F': ' '/User time/ { u = $2 } /System time/ { s = $2 } /Voluntary/ { v = $2 } /Involuntary/ { i = $2 }
        END { print "@account", which, u, s, v, i }' "/run/account.$1"
}

pair() {  # pair STACK COMMAND...
    local stack=$1 server code; shift
    port=$((port + 1))
    end_of "$stack" server "$@" -F -R -p $port >/run/server 2>&1 &
    server=$!
    wait_listen $port
    end_of "$stack" client "$@" -F -R -p $port $address 2>&1
    code=$?
    if [ $code != 0 ]; then
        killall -q "$1"
        echo "server:"; tail -n 5 /run/server; dmesg -c | grep siw | tail -n 5
    fi
    wait $server
    account server; account client
    return $code
}

patiently() {  # patiently LINE
    local line=$1 code attempt
    for attempt in 1 2 3 4 5 6; do
        echo "@pair $line"
        set -- $line
        use_crc "$2"
        pair "$1" "${@:3}"
        code=$?
        echo "@end $code"
        [ $code != 0 ] || return 0
    done
}

use_siw parameters
[ -z "$LO_MTU" ] || ip link set lo mtu "$LO_MTU"
dmesg -c >/dev/null
echo "@guest kernel $(uname -r)"
echo "@guest processor $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
echo "@guest processors $(grep -c ^processor /proc/cpuinfo)"
echo "@guest crc32c $(awk '$1 == "name" { n = $3 } $1 == "driver" { d = $3 } $1 == "priority" && n == "crc32c" { print $3, d }' /proc/crypto |
    sort -n | tail -1 | cut -d' ' -f2)"
echo "@guest mtu $(cat /sys/class/net/lo/mtu)"
while read -r line; do patiently "$line" </dev/null; done </run/plan
echo "@done"
