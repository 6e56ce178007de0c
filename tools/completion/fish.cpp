// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "tools/completion/shells.hpp"

namespace weft::tools::completion {
namespace {

std::string fish_quoted(const std::string& text) {
  return '\'' + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + '\'';
}

std::string line_for(const CommandRow& command) {
  return "complete -c weft -n " + fish_quoted("__weft_at " + fish_quoted(command.path));
}

std::string fish_value(const Value& value) {
  switch (value.takes) {
    case Takes::kNothing: return "";
    case Takes::kAnything: return " -x";
    case Takes::kFile: return " -r -F";
    case Takes::kHost: return " -x -a '(__fish_print_hostnames)'";
    case Takes::kInterface: return " -x -a '(__fish_print_interfaces)'";
    case Takes::kWord: return " -x -a " + fish_quoted(joined(value.words, " "));
    case Takes::kList: return " -x -a " + fish_quoted("(__fish_append , " + joined(value.words, " ") + ')');
  }
  return "";
}

std::string fish_names(const OptionRow& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text;
}

void add_lines(std::string& script, const CommandRow& command) {
  const std::string line = line_for(command);
  // Without a word that is a file, no files are offered.
  if (command.operand.takes != Takes::kFile) script += line + " -f" + fish_value(command.operand) + '\n';
  for (const CommandRow& each : command.subcommands) {
    script += line + " -f -a " + each.name() + " -d " + fish_quoted(each.meaning) + '\n';
  }
  for (const OptionRow& option : command.options) {
    script += line + fish_names(option) + fish_value(option.value) + " -d " + fish_quoted(option.meaning) + '\n';
  }
  for (const CommandRow& each : command.subcommands) add_lines(script, each);
}

// The paths of all commands that have subcommands, their subcommands, and their options that the next word belongs to.
void collect(const CommandRow& command, std::vector<std::string>& paths, std::vector<std::string>& taking) {
  paths.push_back(fish_quoted(command.path));
  if (!command.subcommands.empty()) {
    for (const OptionRow& option : command.options) {
      if (option.value.takes == Takes::kNothing) continue;
      for (const std::string& name : option.names) {
        if (std::ranges::find(taking, name) == taking.end()) taking.push_back(name);
      }
    }
  }
  for (const CommandRow& each : command.subcommands) collect(each, paths, taking);
}

constexpr const char* kFunctions = R"(
# Prints the command that the words before the cursor name, such as "weft bench lat"; "program" behind "--".
function __weft_path
    set -l path weft
    set -l is_value 0
    for word in (commandline -opc)[2..-1]
        if test $is_value = 1
            set is_value 0
        else if test "$word" = --
            set path program
            break
        else if contains -- $word $__weft_options_with_value
            set is_value 1
        else if contains -- "$path $word" $__weft_paths
            set path "$path $word"
        end
    end
    echo $path
end

function __weft_at
    test "$argv[1]" = (__weft_path)
end

# The words behind "--" are a command line of their own.
function __weft_program_words
    set -l words (commandline -opc)
    set -l begin (math (contains -i -- -- $words) + 1)
    complete -C (string join ' ' -- (string escape -- $words[$begin..-1]) (commandline -ct))
end

complete -c weft -n '__weft_at program' -x -a '(__weft_program_words)'
)";

}  // namespace

std::string fish_script(const CommandRow& weft) {
  std::vector<std::string> paths, taking;
  collect(weft, paths, taking);
  std::string script =
      "# Completion of weft for fish. `weft completion fish` prints it, from the table behind `weft --help`.\n\n";
  script += "set -g __weft_paths " + joined(paths, " ") + "\nset -g __weft_options_with_value " + joined(taking, " ");
  script += '\n' + std::string(kFunctions) + '\n';
  add_lines(script, weft);
  return script;
}

}  // namespace weft::tools::completion
