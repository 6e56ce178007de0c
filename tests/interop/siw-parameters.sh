#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# siw-parameters.sh DIR: turns siw's compile-time switches in DIR into module parameters, with the same defaults.
#
# siw lost its module parameters on the way into the kernel: they are constants in siw_main.c and siw_cm.c now. The tests
# want siw as an initiator with CRC, with revision 1 and in peer-to-peer mode, so they become parameters again.
# Nothing else is changed, and the tests that need none of this run the unchanged source.
set -euo pipefail
cd "$1"

sed -i -E 's/^extern const bool /extern bool /' siw.h
sed -i -E '
    s/^const bool ([a-z_]+)( = true)?;/bool \1\2;\nmodule_param(\1, bool, 0644);/
    s/^(u_char mpa_version = .*;)/\1\nmodule_param(mpa_version, byte, 0644);/' siw_main.c
# rtr_type is one constant; two switches say which of its two kinds siw offers.
sed -i -E '
    s/^static __be16 rtr_type = .*;/static bool rtr_write = true, rtr_read = true;\nmodule_param(rtr_write, bool, 0644);\nmodule_param(rtr_read, bool, 0644);/
    s/\|= rtr_type;/|= (rtr_write ? MPA_V2_RDMA_WRITE_RTR : 0) |\n\t\t\t\t\t     (rtr_read ? MPA_V2_RDMA_READ_RTR : 0);/' siw_cm.c

for p in mpa_crc_required mpa_crc_strict mpa_version peer_to_peer try_gso zcopy_tx; do
    grep -q "module_param($p," siw_main.c || { echo "siw-parameters.sh: cannot find $p in this kernel's siw_main.c" >&2; exit 1; }
done
grep -q 'module_param(rtr_read' siw_cm.c && ! grep -q 'rtr_type' siw_cm.c ||
    { echo "siw-parameters.sh: cannot find rtr_type in this kernel's siw_cm.c" >&2; exit 1; }
