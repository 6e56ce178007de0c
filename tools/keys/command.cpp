// SPDX-License-Identifier: Apache-2.0
// `weft keys`: a CA and two certificates, to try TLS with.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/shown_text.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/whole_file.hpp"
#include "transport/interfaces.hpp"
#include "transport/system_words.hpp"
#include "transport/tls/authority.hpp"
#include "transport/tls/expectation.hpp"

namespace weft::tools {
namespace {

namespace fs = std::filesystem;
using transport::tls::Authority;

constexpr const char* kKeysDescription =
    "Makes a CA and certificates to try TLS with\n"
    "Writes to the directory DIR a certificate authority (CA) and two certificates that it signed: one for the "
    "listening end and one for the connecting end. They are valid for a year. Existing files are not replaced.";

constexpr const char* kKeysFooter =
    "Examples:\n"
    "  weft keys keys\n"
    "  weft rping -s -a 127.0.0.1 -C 3 --policy tls=require,tls-certificate=keys/server.pem,tls-ca=keys/ca.pem\n"
    "  weft rping -c -a 127.0.0.1 -C 3 --policy tls=require,tls-certificate=keys/client.pem,tls-ca=keys/ca.pem\n"
    "\n"
    "Certificates of other tools work as well (PEM, keys without a password): see docs/tls.md.\n"
    "\n"
    "Exit codes: 0 success, 1 failure, 2 a file could not be written or wrong command line.";

constexpr const char* kFiles[] = {"ca.pem", "ca-key.pem", "server.pem", "client.pem"};

struct KeysArguments {
  std::string folder{};
  std::vector<std::string> names{};
};

// What a peer may call this host by.
std::vector<std::string> own_names() {
  std::vector<std::string> names{"dns:localhost"};
  char host[256]{};
  if (::gethostname(host, sizeof host - 1) == 0 && host[0] != '\0') names.push_back("dns:" + std::string(host));
  const auto interfaces = transport::enumerate_interfaces();
  if (!interfaces) return names;
  for (const auto& interface : *interfaces) {
    for (const auto& address : interface.addresses) {
      if (address.address.scope == 0) names.push_back("ip:" + address.address.to_string());
    }
  }
  return names;
}

Outcome<NewFile> issue(const Authority& authority, const fs::path& folder, const std::string& name,
                       const std::vector<std::string>& names) {
  const auto issued = authority.issue({.common_name = "weft " + name, .names = names});
  if (!issued) return failure("cannot make " + name + ".pem: " + std::string(issued.error()) + ".");
  return NewFile{.path = folder / (name + ".pem"), .text = issued->certificate + issued->key};
}

Outcome<std::vector<std::string>> names_for(const KeysArguments& arguments) {
  if (arguments.names.empty()) return own_names();
  for (const std::string& name : arguments.names) {
    const auto good = transport::tls::Expectation::parse(name);
    if (!good || good->has_fingerprints() || name.contains('+') || name.contains(','))
      return usage_error("--name: '" + name + "' is not dns:NAME, ip:ADDRESS or uri:URI.");
  }
  return arguments.names;
}

void tell(const fs::path& folder) {
  const auto line = [&](const char* name, const char* what) {
    std::printf("%-24s %s\n", shown_text((folder / name).string()).c_str(), what);
  };
  line("ca.pem", "the CA's certificate, for both ends (tls-ca)");
  line("ca-key.pem", "the CA's key, to sign more certificates; neither end needs it");
  line("server.pem", "certificate and key of the listening end (tls-certificate)");
  line("client.pem", "certificate and key of the connecting end (tls-certificate)");
}

// So that a command that has failed can be repeated.
void take_back(const fs::path& folder, bool made) {
  std::error_code ignored;
  for (const char* name : kFiles) fs::remove(folder / name, ignored);
  if (made) fs::remove(folder, ignored);
}

Outcome<void> make_keys(const KeysArguments& arguments) {
  const auto names = names_for(arguments);
  if (!names) return std::unexpected(names.error());
  const fs::path folder = arguments.folder;
  const auto authority = Authority::make("weft keys", Authority::Days(365));
  if (!authority) return failure(std::string(authority.error()) + ".");
  const auto server = issue(*authority, folder, "server", *names);
  if (!server) return std::unexpected(server.error());
  const auto client = issue(*authority, folder, "client", *names);
  if (!client) return std::unexpected(client.error());
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error)
    return std::unexpected(Failure{
        "cannot make the folder " + folder.string() + ": " + system_words(error.value()) + ".", ExitCode::kUnwritten});
  const auto written =
      write_new_files({{.path = folder / "ca.pem", .text = authority->certificate(), .readers = Readers::kAll},
                       {.path = folder / "ca-key.pem", .text = authority->key()},
                       *server,
                       *client});
  if (!written && made) fs::remove(folder, error);
  if (!written) return written;
  tell(folder);
  auto told = flush_output();
  if (!told) take_back(folder, made);
  return told;
}

}  // namespace

void add_keys_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("keys", kKeysDescription);
  command->footer(kKeysFooter);
  const auto arguments = std::make_shared<KeysArguments>();
  command->add_option("DIR", arguments->folder, "The directory; created if it does not exist")->required();
  command
      ->add_option("--name", arguments->names,
                   "A name in the certificates: dns:NAME, ip:ADDRESS or uri:URI; can be repeated (default: this host's "
                   "name and addresses)")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  command->callback(
      [arguments, &selection] { selection.run = [arguments](const GlobalOptions&) { return make_keys(*arguments); }; });
}

}  // namespace weft::tools
