# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sets up a lab of the course and enters it. In bash:
#
#     . docs/course/lab.sh [FOLDER]
#
# The lab is build/lab of the checkout, or FOLDER. It has links to what lessons use, so that their commands work there, and what they write stays there. It
# sets PATH and WEFT (the checkout). A second time it keeps what is there.

weft_enter_lab() {
  local folder name
  WEFT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || return
  if ! [ -x "$WEFT/build/tools/weft" ] && ! command -v weft >/dev/null; then
    echo "lab.sh: weft is not built: type ./demo in $WEFT" >&2
    return 1
  fi
  if ! command -v python3 >/dev/null; then
    echo "lab.sh: python3 is not installed" >&2
    return 1
  fi
  folder=${1:-$WEFT/build/lab}
  mkdir -p "$folder" || return
  for name in docs examples pcap-samples tools; do ln -sfn "$WEFT/$name" "$folder/$name" || return; done
  [ -e "$folder/store" ] || cp -r "$WEFT/docs/course/store" "$folder/store" || return
  cd "$folder" || return
  export WEFT
  [ -d "$WEFT/build/tools" ] && export PATH="$WEFT/build/tools:$PATH"
  [ -e answers.txt ] || docs/course/check.py --list >answers.txt || return
  echo "lab.sh: this is your lab, with answers.txt for your answers"
}
weft_enter_lab "$@"
