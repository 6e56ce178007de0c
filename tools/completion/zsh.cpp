// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tools/completion/shells.hpp"

namespace weft::tools::completion {
namespace {

std::string quoted(const std::string& text) { return '\'' + replaced(text, "'", "'\\''") + '\''; }

std::string in_brackets(const std::string& text) {
  return '[' + replaced(replaced(replaced(text, "\\", "\\\\"), "[", "\\["), "]", "\\]") + ']';
}

// What _arguments calls for a value: ":FILE:_files".
std::string zsh_action(const Value& value, const std::string& what) {
  const std::string begin = (value.may_lack ? "::" : ":") + replaced(what, ":", "\\:") + ':';
  switch (value.takes) {
    case Takes::kNothing: return "";
    case Takes::kAnything: return begin + ' ';
    case Takes::kFile: return begin + "_files";
    case Takes::kHost: return begin + "_hosts";
    case Takes::kInterface: return begin + "_net_interfaces";
    case Takes::kWord: return begin + '(' + joined(value.words, " ") + ')';
    case Takes::kList: return begin + "_values -s , " + quoted(what) + ' ' + joined(value.words, " ");
  }
  return "";
}

// "--pcap=" takes its value behind "=" or as the next word, "-a+" as the next word or at once.
std::string zsh_option(const OptionRow& option, const std::string& name) {
  const bool is_flag = option.value.takes == Takes::kNothing;
  const std::string binding = is_flag ? "" : name.starts_with("--") ? "=" : "+";
  return quoted('(' + joined(option.names, " ") + ')' + name + binding + in_brackets(option.meaning) +
                zsh_action(option.value, option.value_name));
}

std::string function_name(const CommandRow& command) { return '_' + replaced(command.path, " ", "_"); }

void add_subcommands(std::string& script, const CommandRow& command) {
  script += "    '1: :->subcommand' '*:: :->rest' && return\n  case $state in\n    subcommand)\n      subcommands=(\n";
  for (const CommandRow& each : command.subcommands) {
    script += "        " + quoted(each.name() + ':' + each.meaning) + '\n';
  }
  script += "      )\n      _describe subcommand subcommands\n      ;;\n    rest)\n      case $line[1] in\n";
  for (const CommandRow& each : command.subcommands) {
    script += "        " + each.name() + ") " + function_name(each) + " ;;\n";
  }
  script += "      esac\n      ;;\n  esac\n";
}

void add_function(std::string& script, const CommandRow& command) {
  script += function_name(command) + "() {\n  local context state state_descr line\n  local -a subcommands\n";
  script += "  typeset -A opt_args\n  _arguments -C \\\n";
  for (const OptionRow& option : command.options) {
    for (const std::string& name : option.names) script += "    " + zsh_option(option, name) + " \\\n";
  }
  if (!command.subcommands.empty()) {
    add_subcommands(script, command);
  } else if (command.runs_program) {
    script += "    '*::program:_normal'\n";
  } else if (command.operand.takes != Takes::kNothing) {
    script += "    " + quoted("1" + zsh_action(command.operand, "operand")) + '\n';
  } else {
    script += "    && return\n";
  }
  script += "}\n\n";
  for (const CommandRow& each : command.subcommands) add_function(script, each);
}

}  // namespace

std::string zsh_script(const CommandRow& weft) {
  std::string script =
      "#compdef weft\n# Completion of weft for zsh. `weft completion zsh` prints it, from the table behind `weft "
      "--help`.\n\n";
  add_function(script, weft);
  return script + "if [[ $funcstack[1] == _weft ]]; then\n  _weft \"$@\"\nelse\n  compdef _weft weft\nfi\n";
}

}  // namespace weft::tools::completion
