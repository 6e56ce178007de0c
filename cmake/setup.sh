# SPDX-License-Identifier: Apache-2.0
# Sourced by ./demo and ./check: installs what is missing (packages.txt) and builds. Asks no questions.
# Usage: root=<source folder>; . "$root/cmake/setup.sh"; need <group>...; configure ...; build <target>...
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
bold='' plain=''
[ ! -t 1 ] || { bold=$(printf '\033[1m'); plain=$(printf '\033[0m'); }
setup_log=$root/build/setup.log

say() { printf '%s%s:%s %s\n' "$bold" "${0##*/}" "$plain" "$*"; }
fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

mkdir -p "$root/build" 2>/dev/null && [ -w "$root/build" ] ||
  fail "cannot write into $root/build: give it to $(id -un), or remove it, or work in a copy of this folder"

# present <kind> <name>: is it on this machine, by a package or by hand?
present() {
  case $1 in
    cmd) PATH=$PATH:/usr/sbin:/sbin command -v "$2" >/dev/null ;;
    pc) pkg-config --exists "$2" 2>/dev/null ;;
    header) [ -e "/usr/include/$2" ] || [ -e "/usr/local/include/$2" ] ||
            compgen -G "/usr/include/*-linux-gnu/$2" >/dev/null ;;
    file) compgen -G "/usr/$2" >/dev/null ;;
    host) getent hosts "$2" >/dev/null ;;
    deb) dpkg-query -W -f '${Status}' "$2" 2>/dev/null | grep -q 'ok installed' ;;
    *) fail "unknown kind of check '$1'" ;;
  esac
}

# The table of packages.txt, and after it what the virtual machine needs ("package # why" in its own list).
package_table() {
  grep -v '^[[:space:]]*#' "$root/cmake/packages.txt"
  sed -nE 's/^([^ #]+) *# *(.*)/vm | \1 | deb \1 | \2/p' "$root/tests/interop/packages.txt"
}

# Prints "package | why" for each missing package of the groups given, once. "the same" is the reason of the row before.
missing() {
  local group package check why reason='' seen=' '
  while IFS='|' read -r group package check why; do
    group=${group//[[:space:]]/} package=${package//[[:space:]]/} why=${why# }
    [ "$why" = 'the same' ] || reason=$why
    case " $* " in *" $group "*) ;; *) continue ;; esac
    case $seen in *" $package "*) continue ;; esac
    # shellcheck disable=SC2086  # two words: kind and name
    present $check && continue
    seen+="$package "
    echo "$package | $reason"
  done < <(package_table)
}

# find_root <package>...: sets as_root to what runs a command as root without a question, or fails.
find_root() {
  local by_hand="as root, run: apt-get install --no-install-recommends $*"
  if [ "$(id -u)" = 0 ]; then as_root=(env)
  elif ! command -v sudo >/dev/null; then fail "installing needs root, and there is no sudo; $by_hand"
  elif sudo -n true 2>/dev/null; then as_root=(sudo -n env)
  elif [ -t 0 ]; then as_root=(sudo env)  # sudo itself may want the password of the person at the terminal
  else fail "installing needs root, and sudo wants a password but there is no terminal; $by_hand"
  fi
}

# apt_get <arguments>: its words go into the log, and its progress to show_progress. Only standard output and error pass sudo, so
# the shell that sudo starts makes descriptor 9 of the former. It says when apt begins (sudo has its password) and when it is done: what
# a package starts may keep the descriptor open.
apt_get() {
  # shellcheck disable=SC2016  # that shell's variables
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive sh -c 'log=$1; shift; echo begin
    apt-get -q -o APT::Status-Fd=9 -o DPkg::Lock::Timeout=300 "$@" 9>&1 >>"$log" 2>&1
    status=$?; echo end; exit $status' sh "$setup_log" "$@" </dev/null | show_progress
}

# From "begin" to "end" one line moves, on a terminal: seconds, and the newest of apt's lines "pmstatus:PACKAGE:PERCENT:TEXT" (or dlstatus).
show_progress() {
  local line='' text='' begin=$SECONDS
  local status='^(dl|pm)status:[^:]*(:[a-z][a-z0-9-]*)?:([0-9]+)[0-9.]*:(.*)$'
  while [ "$line" != end ]; do
    # More than 128: a second without a line.
    IFS= read -r -t 1 line || { [ $? -gt 128 ] || break; }
    [ "$line" != begin ] || text='reads its lists, or waits for another apt'
    [[ $line =~ $status ]] && text="${BASH_REMATCH[3]} %, ${BASH_REMATCH[4]}"
    [ -z "$bold" ] || [ -z "$text" ] || printf '\r\033[K    apt, %d s: %.70s' $((SECONDS - begin)) "$text"
  done
  [ -z "$bold" ] || printf '\r\033[K'
}

# newly_installed <asked for>: how many packages the last apt installed: those that others depend on count, too.
newly_installed() {
  local said
  said=$(sed -nE 's/.* ([0-9]+) newly installed.*/\1/p' "$setup_log" | tail -n 1)
  echo "${said:-$1}"
}

# need <group>...: installs the missing packages of these groups, or says what is missing and why, and ends.
need() {
  local list names begin=$SECONDS
  list=$(missing "$@")
  [ -n "$list" ] || return 0
  if ! command -v apt-get >/dev/null; then
    printf '%s: these are missing, and there is no apt to install them (Debian 12 package | why):\n%s\n' "${0##*/}" "$list" >&2
    exit 1
  fi
  mapfile -t names < <(cut -d' ' -f1 <<<"$list")
  say "these are missing, and come with apt (log: build/setup.log):"
  sed 's/^/    /; s/ | /: /' <<<"$list"
  find_root "${names[@]}"
  # No package known, or the lists are old and a download fails: fetch the lists, and try (again).
  { apt-cache show "${names[@]}" >/dev/null 2>&1 && install_packages "${names[@]}"; } ||
    { apt_get update && install_packages "${names[@]}"; } ||
    { tail -n 20 "$setup_log" >&2; fail "apt could not install: ${names[*]}"; }
  say "apt has installed $(newly_installed "${#names[@]}") packages in $((SECONDS - begin)) s"
}

# --no-remove: never take a package away from the user to make room for ours.
install_packages() { apt_get install -y --no-install-recommends --no-remove "$@"; }

# Compilers at once: one per core, fewer where memory is short: a heavy file takes about 1.5 GB.
parallel_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo 2>/dev/null)
  [ "${memory:-$cores}" -ge "$cores" ] && echo "$cores" || echo $((memory > 0 ? memory : 1))
}

# calibrate: sets `slowness`, in percent: how long a fixed loop takes here, on as many processors at once as will compile, compared with
# the machine that the figures in ./demo and ./check come from. What else runs meanwhile counts.
calibrate() {
  local begin=${EPOCHREALTIME/[.,]/} processor
  for ((processor = 0; processor < $(parallel_jobs); processor++)); do (for ((i = 0; i < 200000; i++)); do :; done) & done
  wait
  slowness=$(((${EPOCHREALTIME/[.,]/} - begin) / calibration_ms / 10))
}
calibration_ms=420

# estimate <processor seconds> [<seconds>]: seconds, for work that all processors share and for waiting that they do not.
estimate() { echo $((($1 / $(parallel_jobs) + ${2-0}) * slowness / 100)); }

# as_minutes <seconds>
as_minutes() {
  local all=$((($1 + 30) / 60))
  [ "$all" -le 1 ] && echo "a minute" || echo "$all minutes"
}

# configure <preset> <cmake arguments>: quiet unless it fails. CMake that finds another compiler than before deletes its cache, and
# configures without the variables of the preset (no sanitizers in build-asan/). The next run sets them again.
configure() {
  local log=$root/build/configure.log run
  for run in 1 2; do
    cmake --preset "$@" >"$log" 2>&1 || { cat "$log" >&2; fail "cmake could not configure the build"; }
    [ "$run" = 1 ] && grep -q 'require your cache to be deleted' "$log" || return 0
    say "the compiler has changed: configuring $1 again, and everything in it is built again"
  done
}

# build_tree <folder> <target>...
build_tree() {
  local tree=$1
  shift
  cmake --build "$root/$tree" ${1:+--target "$@"} || fail "the build failed"
}

# refresh_package_lists: the virtual machine boots the newest kernel that apt knows of. Not an error: there may be no network.
refresh_package_lists() {
  command -v apt-get >/dev/null || return 0
  (find_root && apt_get update) || say "apt could not refresh its package lists; the kernel of the virtual machine is the newest that they name"
}
