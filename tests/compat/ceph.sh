#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ceph.sh serve | use ADDRESS PORT [iwarp | ib]: a Ceph cluster of one monitor, at this port, and one OSD, which keeps objects in memory; or puts a disk image
# into it and takes it out again. All messages between the four programs are RDMA Sends (async+rdma): "iwarp" with rdma_cm, "ib" with queue
# pairs that Ceph connects itself, as it does if nothing is configured.
set -e
folder=$HOME/ceph.$3
client() { "$@" --conf "$folder/conf"; }
case $1 in
  serve)
    mkdir -p "$folder/mon" "$folder/osd" "$folder/run"
    touch "$folder/keyring"
    id=$(cat /proc/sys/kernel/random/uuid)
    cat >"$folder/conf" <<END
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon host = [v2:$2:$3]
mon initial members = a
public network = $2/24
auth cluster required = none
auth service required = none
auth client required = none
ms type = async+rdma
ms async rdma type = $4
ms async rdma cm = $([ "$4" = iwarp ] && echo true || echo false)
ms async rdma device name = weft_nic0
ms async rdma receive buffers = 4096
ms async rdma receive queue len = 1024
ms async rdma send buffers = 1024
ms async rdma buffer size = 32768
ms async op threads = 1
osd objectstore = memstore
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
run dir = $folder/run
log file = $folder/\$name.log
mon data = $folder/mon
osd data = $folder/osd
keyring = $folder/keyring
[mon.a]
public addr = v2:$2:$3
END
    ceph-mon --conf "$folder/conf" -i a --mkfs
    ceph-mon --conf "$folder/conf" -i a -f &
    client timeout 60 ceph osd new "$id"
    ceph-osd --conf "$folder/conf" -i 0 --mkfs --osd-uuid "$id"
    ceph-osd --conf "$folder/conf" -i 0 -f &
    wait ;;
  use)
    until client ceph osd crush add osd.0 1 host=here; do sleep 0.5; done
    client ceph osd pool create images 1
    client rbd import /usr/bin/rbd images/one
    client rbd export images/one "$folder/copy"
    cmp /usr/bin/rbd "$folder/copy"
    client rbd create images/two --size 16M
    client rbd bench images/two --io-type write --io-size 64K --io-total 4M
    echo "the same came back" ;;
esac
