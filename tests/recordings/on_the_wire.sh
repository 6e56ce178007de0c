#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# on_the_wire.sh WEFT FOLDER: records FOLDER/tcp-*.pcap, `weft rping` with real TCP around it: dumpcap on the loopback interface of a
# network namespace of its own, which has an MTU of 1500 and leaves segmentation to TCP. Needs root, dumpcap, ip and ethtool.
# on_the_wire.sh --list: name and what it shows, separated by a tab, one capture a line.
set -euo pipefail

captures() {  # name, what it shows, address, arguments of both ends, of the client
  cat <<'END'
tcp-rping	rping, MPA revision 2, CRC: FPDUs that fill TCP segments|127.0.0.1|-C 2 -S 3000|
tcp-rping-markers	rping with Markers both ways|127.0.0.1|-C 2 -S 3000 --markers|
tcp-rping-mpa-1-no-crc	rping, MPA revision 1, CRC off|127.0.0.1|-C 2 -S 3000 --mpa-rev 1 --no-crc|
tcp-rping-rtr-read-ipv6	rping over ::1, ready to receive by an RDMA Read of no octets|::1|-C 2 -S 3000|--rtr read
END
}

if [ "${1:-}" = --list ]; then
  captures | cut -d'|' -f1
  exit
fi
if [ "${1:-}" != --inside ]; then
  [ $# = 2 ] || { sed -n '3,5s/^# //p' "$0" >&2; exit 2; }
  exec unshare -n "$0" --inside "$@"
fi

weft=$2 folder=$3
ip link set lo mtu 1500 up
ethtool -K lo tso off gso off gro off
while IFS='|' read -r names address both client; do
  file=$folder/${names%%$'\t'*}.pcap
  (umask 022; touch "$file")  # dumpcap alone would keep others from reading it
  dumpcap -q -P -i lo -w "$file" & dumpcap=$!
  until [ -s "$file" ]; do sleep 0.1; done
  # shellcheck disable=SC2086  # words, not one argument
  "$weft" rping -s -a "$address" --policy same-host=off $both >/dev/null & server=$!
  until ss -ltn | grep -q :7174; do sleep 0.1; done
  # shellcheck disable=SC2086
  "$weft" rping -c -a "$address" --policy same-host=off $both $client >/dev/null
  wait "$server"
  sleep 0.5  # for the last packets
  kill -INT "$dumpcap"
  wait "$dumpcap"
done < <(captures)
