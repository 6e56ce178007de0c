#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Four ranks of gloo_all_reduce on one device: DEVICE RUN, of which RUN names a folder of their own.
ranks=4
mkdir "gloo.$2" || exit 1
processes=
for rank in $(seq 0 $((ranks - 1))); do
  ./gloo_all_reduce "$rank" $ranks "gloo.$2" "$1" &
  processes="$processes $!"
done
failed=0
for process in $processes; do wait "$process" || failed=1; done
exit $failed
