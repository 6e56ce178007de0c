#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mckey.sh ADDRESS: two members of a multicast group receive what a third one sends. Each leaves the group at its end.
common="-m 239.192.0.9 -b $1 -C 20 -S 1000"
mckey $common >first 2>&1 &
first=$!
mckey $common >second 2>&1 &
second=$!
for _ in $(seq 600); do
  test "$(grep -c ':FFFF 00000000' /proc/net/udp)" = 2 && break  # UDP port 65535: one socket for each member
  sleep 0.1
done
mckey -s $common && wait $first && wait $second && grep -q "joined dgid: ::ffff:239.192.0.9" first && echo "every member has received"
status=$?
cat first second
rm first second
exit $status
