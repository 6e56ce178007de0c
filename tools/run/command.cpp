// SPDX-License-Identifier: Apache-2.0
// `weft run`: becomes another program, whose libibverbs and librdmacm are weft's.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/command.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/run/find_program.hpp"
#include "tools/run/libraries.hpp"
#include "tools/run/warnings.hpp"
#include "transport/system_words.hpp"
#include "verbs/configuration.hpp"
#include "verbs/options.hpp"
#include "verbs/policy_text.hpp"

namespace weft::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunDescription =
    "Runs an unchanged verbs program on weft\n"
    "The program uses weft's libibverbs and librdmacm instead of the system's: without RDMA hardware and privileges. "
    "It replaces this process: process id, signals and exit code are its own. --pcap and --log apply to the program "
    "and its child processes. Options of weft stand before PROGRAM; everything after it belongs to the program. 'weft "
    "run -- PROGRAM' works as well.";

constexpr const char* kRunFooter =
    "--pcap: %p in FILE becomes the process id; without it, processes overwrite each other's capture.\n"
    "weft run sets LD_LIBRARY_PATH, LD_PRELOAD (--sockets, --device roce), WEFT_PCAP, WEFT_PCAP_EXIT, WEFT_LOG, "
    "WEFT_POLICY, "
    "WEFT_DEVICE and WEFT_CONFIG. Set "
    "WEFT_LIBRARY_PATH if the libraries are not in the installed directory.\n"
    "Programs that ignore LD_LIBRARY_PATH (setuid, file capabilities, DT_RPATH, static linking) run with a warning on "
    "stderr.\n"
    "\n"
    "Examples:\n"
    "  weft run ibv_devinfo\n"
    "  weft run rping -s -a 192.0.2.7 -C 10 -v\n"
    "  weft run --pcap 'ping-%p.pcap' --log info rping -c -a 192.0.2.7 -C 10 -v\n"
    "  weft run --policy mpa-rev=1,crc=off ib_write_bw -R 192.0.2.7\n"
    "  weft run --device roce ib_write_bw 192.0.2.7\n"
    "  weft run --sockets redis-server\n"
    "\n"
    "Exit codes: the program's; 127 program not found, 126 program not executable, 2 wrong command line or incomplete "
    "capture (--pcap).";

struct RunArguments {
  std::string policy{};
  std::string config{};
  std::string device{};
  bool sockets{};
  bool log_given{};
};

void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The table of keys after the options: "  crc   on or off. Ask for CRCs ...".
std::string footer() {
  std::size_t longest = 0;
  for (const verbs::PolicyKey& key : verbs::policy_keys())
    longest = std::max(longest, std::string_view(key.name).size());
  std::string text = "Keys of --policy:\n";
  for (const verbs::PolicyKey& key : verbs::policy_keys()) {
    std::string line = "  " + std::string(key.name);
    line.resize(longest + 4, ' ');  // two blanks on either side
    text += line + std::string(key.values) + ". " + std::string(key.meaning) + '\n';
  }
  return text + '\n' + kRunFooter;
}

// Files are named from the root: the program may go elsewhere before it opens them.
std::string absolute(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return error ? path : whole.string();
}

Outcome<void> set_config(const RunArguments& arguments) {
  if (arguments.config.empty()) return {};
  const auto read = verbs::read_configuration(arguments.config);
  if (!read.complaints.empty()) return usage_error("--config: " + read.complaints.front() + ".");
  set("WEFT_CONFIG", absolute(arguments.config));
  return {};
}

// The file may be the one that the caller's environment names; what is wrong with that, the libraries say.
Outcome<void> set_policy(const RunArguments& arguments) {
  if (arguments.policy.empty()) return {};
  const std::string file = value_of("WEFT_CONFIG");
  const verbs::Policy base = file.empty() ? verbs::Policy{} : verbs::read_configuration(file).policy;
  const auto policy = verbs::parse_policy(arguments.policy, base);
  if (!policy) return usage_error("--policy: " + policy.error().text + ".");
  set("WEFT_POLICY", verbs::with_absolute_files(arguments.policy));
  return {};
}

Outcome<void> set_device(const RunArguments& arguments) {
  if (arguments.device.empty()) return {};
  if (!verbs::parse_device_kind(arguments.device)) return usage_error("--device takes one of iwarp, roce.");
  set("WEFT_DEVICE", arguments.device);
  return {};
}

// 0 when the file can be written. Makes none: the program may never open a connection.
int why_not_writable(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return EISDIR;
  if (fs::is_symlink(path, ignored) && !path.native().starts_with("/dev/")) return ELOOP;  // what libraries refuse, too
  const fs::path written = fs::exists(path, ignored) ? path : path.parent_path();
  return ::access(written.c_str(), W_OK) == 0 ? 0 : errno;
}

Outcome<void> set_pcap(const GlobalOptions& global) {
  if (global.pcap.empty()) return {};
  if (global.pcap == "-") return usage_error("--pcap: '-' is no file name; a capture goes into a file.");
  const std::string pattern = absolute(global.pcap);
  const std::string path = verbs::capture_path(pattern, ::getpid());
  if (const int why = why_not_writable(path); why != 0) {
    const std::string reason =
        why == ELOOP ? "it is a symbolic link, which a capture does not follow" : system_words(why);
    return usage_error("--pcap: cannot write " + path + ": " + reason + ".");
  }
  set("WEFT_PCAP", pattern);
  set("WEFT_PCAP_EXIT", std::to_string(static_cast<int>(ExitCode::kUnwritten)));
  return {};
}

void put_in_front(const char* name, const std::string& value) {
  const std::string before = value_of(name);
  set(name, before.empty() ? value : value + ':' + before);
}

Outcome<void> preload(const std::string& option, const fs::path& library) {
  std::error_code ignored;
  if (!fs::exists(library, ignored)) return usage_error(option + ": there is no " + library.string() + '.');
  put_in_front("LD_PRELOAD", library.string());
  return {};
}

Outcome<void> set_library_path(const RunArguments& arguments) {
  const auto folder = run::find_libraries();
  if (!folder) return std::unexpected(folder.error());
  put_in_front("LD_LIBRARY_PATH", *folder);
  if (arguments.device == "roce") {
    if (auto done = preload("--device", fs::path(*folder) / "libweftpaths.so"); !done) return done;
  }
  return arguments.sockets ? preload("--sockets", fs::path(*folder) / "librspreload.so") : Outcome<void>{};
}

Outcome<void> set_environment(const RunArguments& arguments, const GlobalOptions& global) {
  if (auto done = set_config(arguments); !done) return done;
  if (auto done = set_policy(arguments); !done) return done;
  if (auto done = set_pcap(global); !done) return done;
  if (auto done = set_device(arguments); !done) return done;
  if (arguments.log_given) set("WEFT_LOG", global.log);
  return set_library_path(arguments);
}

// With --sockets a program without verbs is what is expected.
void tell(const std::string& path, bool sockets, const GlobalOptions& global) {
  const auto level = verbs::parse_log_level(global.log);
  if (!level) return;
  if (*level <= verbs::LogLevel::kWarn) {
    for (const std::string& sentence : run::warnings_about(path)) print_error("weft run: " + sentence);
  }
  if (*level <= verbs::LogLevel::kInfo && !sockets) {
    for (const std::string& sentence : run::notes_about(path)) print_error("weft run: " + sentence);
  }
}

// Comes back only when that failed.
Failure become(const std::string& path, const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::fflush(nullptr);
  ::execvp(path.c_str(), words.data());
  const ExitCode code = errno == ENOENT ? ExitCode::kNotFound : ExitCode::kNotExecutable;
  return {"cannot run " + path + ": " + system_words(errno) + ".", code};
}

Outcome<void> run_program(const RunArguments& arguments, const GlobalOptions& global) {
  if (global.command.empty()) return usage_error("name the program to run: weft run [options] PROGRAM [arguments].");
  if (auto done = set_environment(arguments, global); !done) return done;
  const auto path = run::find_program(global.command.front());
  if (!path) return std::unexpected(path.error());
  tell(*path, arguments.sockets, global);
  return std::unexpected(become(*path, global.command));
}

}  // namespace

void add_run_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("run", kRunDescription);
  command->footer(footer());
  const auto arguments = std::make_shared<RunArguments>();
  command->add_option("--policy", arguments->policy, "Policy for every connection, for instance mpa-rev=1,crc=off")
      ->type_name("KEY=VALUE,...");
  command
      ->add_option("--config", arguments->config,
                   "Read log, pcap and policy from FILE; options and environment variables take precedence")
      ->type_name("FILE");
  command
      ->add_option("--device", arguments->device,
                   "What devices show themselves as, iwarp or roce; the network sees no difference")
      ->type_name("KIND");
  command->add_flag("--sockets", arguments->sockets,
                    "TCP sockets of the program become rsockets: for programs without verbs, at both ends");
  command->callback([arguments, &app, &selection] {
    selection.run = [arguments, &app](const GlobalOptions& global) {
      arguments->log_given = app.count("--log") > 0;
      return run_program(*arguments, global);
    };
  });
}

}  // namespace weft::tools
