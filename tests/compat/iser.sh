#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# iser.sh ADDRESS PORT: gives the tgtd of this port a disk, and tests it with libiscsi's programs.
# tgtd asks for both an address and an initiator that are allowed. libiscsi 1.19 takes for granted that malloc() returns zeros.
set -e
export TGT_IPC_SOCKET="$HOME/tgt.$2" MALLOC_PERTURB_=255
initiator=iqn.2026-11.test:initiator name=iqn.2026-11.test:disk
truncate -s 16M "disk.$2"
target() { tgtadm --lld iser --tid 1 "$@"; }
until target --mode target --op new --targetname $name 2>/dev/null; do sleep 0.1; done
target --mode logicalunit --op new --lun 1 --backing-store "$PWD/disk.$2"
target --mode target --op bind --initiator-address ALL
target --mode target --op bind --initiator-name $initiator
disk=iser://$1:$2/$name/1
iscsi-readcapacity16 -i $initiator "$disk"
iscsi-perf -i $initiator -t 1 "$disk"
for family in Read16 Write16 Verify16; do iscsi-test-cu -i $initiator --dataloss --test SCSI.$family "$disk"; done
