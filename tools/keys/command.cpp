// SPDX-License-Identifier: Apache-2.0
// `weft keys`: a CA and two certificates, to try TLS with.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/system_words.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/standard_output.hpp"
#include "transport/interfaces.hpp"
#include "transport/tls/authority.hpp"
#include "transport/tls/expectation.hpp"

namespace weft::tools {
namespace {

namespace fs = std::filesystem;
using transport::tls::Authority;

constexpr const char* kKeysDescription =
    "Makes what a first try of TLS needs, in the folder DIR: a certificate authority (CA) and, signed by it, a "
    "certificate "
    "for an end that listens and one for an end that connects. Good for a year; files that are there are not touched.";

constexpr const char* kKeysFooter =
    "Examples:\n"
    "  weft keys keys\n"
    "  weft rping -s -a 127.0.0.1 -C 3 --policy tls=require,tls-certificate=keys/server.pem,tls-ca=keys/ca.pem\n"
    "  weft rping -c -a 127.0.0.1 -C 3 --policy tls=require,tls-certificate=keys/client.pem,tls-ca=keys/ca.pem\n"
    "\n"
    "Other tools' certificates do as well (PEM, keys without a password): docs/tls.md.\n"
    "Exit codes: 0, 1 something failed, 2 a file cannot be written or the command line was wrong.";

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
    if (!good || good->has_fingerprints() || name.contains('+'))
      return usage_error("--name: '" + name + "' is neither dns:NAME nor ip:ADDRESS nor uri:URI.");
  }
  return arguments.names;
}

void tell(const fs::path& folder) {
  const auto line = [&](const char* name, const char* what) {
    std::printf("%-24s %s\n", (folder / name).c_str(), what);
  };
  line("ca.pem", "the CA's certificate: both ends need it (tls-ca)");
  line("ca-key.pem", "its key: for more certificates; no end needs it");
  line("server.pem", "certificate and key of an end that listens (tls-certificate)");
  line("client.pem", "the same of an end that connects");
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
  return {};
}

}  // namespace

void add_keys_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("keys", kKeysDescription);
  command->footer(kKeysFooter);
  const auto arguments = std::make_shared<KeysArguments>();
  command->add_option("DIR", arguments->folder, "The folder; made where it is not there")->required();
  command
      ->add_option(
          "--name", arguments->names,
          "A name that the certificates bear: dns:NAME, ip:ADDRESS or uri:URI; again for more. By itself: this "
          "host's name and addresses")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  command->callback(
      [arguments, &selection] { selection.run = [arguments](const GlobalOptions&) { return make_keys(*arguments); }; });
}

}  // namespace weft::tools
