// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tools/completion/shells.hpp"

namespace weft::tools::completion {
namespace {

// How the script names what an option takes; "-" for a flag, and a "?" behind where the value may lack.
std::string bash_kind(const Value& value) {
  const std::string may_lack = value.may_lack ? "?" : "";
  switch (value.takes) {
    case Takes::kNothing: return "-";
    case Takes::kAnything: return "any" + may_lack;
    case Takes::kFile: return "file" + may_lack;
    case Takes::kHost: return "host" + may_lack;
    case Takes::kInterface: return "interface" + may_lack;
    case Takes::kWord: return "word" + may_lack + ':' + joined(value.words, ",");
    case Takes::kList: return "list" + may_lack + ':' + joined(value.words, ",");
  }
  return "any";
}

void add_case(std::string& script, const CommandRow& command) {
  std::vector<std::string> names;
  for (const CommandRow& each : command.subcommands) names.push_back(each.name());
  std::string options;
  for (const OptionRow& option : command.options) {
    for (const std::string& name : option.names) options += "\n        " + name + '=' + bash_kind(option.value);
  }
  script += "    '" + command.path + "')\n      subcommands='" + joined(names, " ") + "'\n      operand='" +
            bash_kind(command.operand) + "'\n      program='" + (command.runs_program ? "yes" : "") +
            "'\n      options='" + options + "'\n      ;;\n";
  for (const CommandRow& each : command.subcommands) add_case(script, each);
}

constexpr const char* kTableHead =
    R"(# Completion of weft for bash. `weft completion bash` prints it, from the table behind `weft --help`.

# Sets what may follow a command such as "weft bench lat". Options are name=kind; "-" is a flag, a "?" says that the value may lack.
_weft_table() {
  case $1 in
)";

constexpr const char* kRest = R"sh(  esac
}

# Sets kind to what the option takes.
_weft_kind() {
  local each
  kind=-
  for each in $options; do
    if [[ ${each%%=*} == "$1" ]]; then kind=${each#*=}; fi
  done
}

# Offers the values of that kind that begin with $2; $3 goes before each.
_weft_offer() {
  local IFS=$' \t\n,' kind=$1 begun=$2 before=${3-} listed
  case $kind in
    word*) mapfile -t COMPREPLY < <(compgen -P "$before" -W "${kind#*:}" -- "$begun") ;;
    list*)
      listed=${begun%"${begun##*,}"}
      mapfile -t COMPREPLY < <(compgen -P "$before$listed" -W "${kind#*:}" -- "${begun##*,}")
      ;;
    file*)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -P "$before" -f -- "$begun")
      ;;
    host*) mapfile -t COMPREPLY < <(compgen -P "$before" -A hostname -- "$begun") ;;
    interface*) mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(ls /sys/class/net 2>/dev/null)" -- "$begun") ;;
  esac
}

# The program behind "--", which is word $1.
_weft_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  fi
}

_weft() {
  local IFS=$' \t\n' current=${COMP_WORDS[COMP_CWORD]} path=weft kind=- awaited='' word i
  local subcommands='' operand='' program='' options=''
  COMPREPLY=()
  _weft_table "$path"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then continue; fi  # "--op=send" is three words here
    if [[ -n $awaited && ! ($awaited == *'?'* && $word == -*) ]]; then
      awaited=''
    elif [[ $word == '--' ]]; then
      if [[ -n $program ]]; then _weft_program $((i + 1)); fi
      return
    elif [[ $word == -* ]]; then
      _weft_kind "$word"
      awaited=${kind#-}
    elif [[ " $subcommands " == *" $word "* ]]; then
      path+=" $word"
      _weft_table "$path"
    fi
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ -n $awaited && ! ($awaited == *'?'* && $current == -*) ]]; then
    _weft_offer "$awaited" "$current"
  elif [[ $current == --*=* ]]; then  # where bash does not break words at "="
    _weft_kind "${current%%=*}"
    _weft_offer "$kind" "${current#*=}" "${current%%=*}="
  elif [[ $current == -* || ( -z $subcommands && $operand == - ) ]]; then
    for word in $options; do
      word=${word%%=*}
      if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
    done
    if [[ -n $program && '--' == "$current"* ]]; then COMPREPLY+=(--); fi
  elif [[ -n $subcommands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$subcommands" -- "$current")
  else
    _weft_offer "$operand" "$current"
  fi
}

complete -F _weft weft
)sh";

}  // namespace

std::string bash_script(const CommandRow& weft) {
  std::string script = kTableHead;
  add_case(script, weft);
  return script + kRest;
}

}  // namespace weft::tools::completion
