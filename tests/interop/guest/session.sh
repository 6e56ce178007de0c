#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One TCP connection from the test on the host: a line with a command comes in, its output goes out, last "exit CODE".
. /etc/lib.sh
exec 2>&1
read -r line
cd /root
eval "$line" </dev/null
echo "exit $?"
