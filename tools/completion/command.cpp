// SPDX-License-Identifier: Apache-2.0
// The command line of `weft completion`.
#include <memory>
#include <string>

#include "tools/cli/command.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/completion/shells.hpp"

namespace weft::tools {
namespace {

constexpr const char* kCompletionDescription =
    "Prints the completion of weft for a shell: subcommands, options, their values, files and hosts. The Debian "
    "package "
    "brings it where the shells look for it.";

constexpr const char* kCompletionFooter =
    "Examples:\n"
    "  source <(weft completion bash)                        in this shell; or in ~/.bashrc\n"
    "  weft completion zsh >~/.zfunc/_weft                   a folder of $fpath, before compinit\n"
    "  weft completion fish >~/.config/fish/completions/weft.fish";

Outcome<void> print_completion(const CLI::App& app, const std::string& shell) {
  const completion::CommandRow table = completion::table_of(app);
  const std::string script = shell == "bash"  ? completion::bash_script(table)
                             : shell == "zsh" ? completion::zsh_script(table)
                                              : completion::fish_script(table);
  return print_now(script);
}

}  // namespace

void add_completion_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("completion", kCompletionDescription);
  command->footer(kCompletionFooter);
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app, &selection] {
    selection.run = [shell, &app](const GlobalOptions&) { return print_completion(app, *shell); };
  });
}

}  // namespace weft::tools
