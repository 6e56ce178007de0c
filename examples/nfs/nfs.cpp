// SPDX-License-Identifier: Apache-2.0
// A client of NFS version 3 over RDMA (RFC 8166, RFC 8267):
//
//     nfs HOST /EXPORT ls                      names and sizes
//     nfs HOST /EXPORT get NAME FILE           copies a file from the server
//     nfs HOST /EXPORT put FILE NAME           copies a file to the server
//     nfs HOST /EXPORT rm NAME
//
// Against Linux's server: docs/nfs.md.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "nfs3.hpp"

namespace {

struct Options {
  std::string host;
  std::string directory;
  std::uint16_t port = 20049;
  std::uint16_t mount_port = 20048;
  unsigned timeout = 30;
  bool no_crc = false;
  std::string name;
  std::string file;
};

// A file that is removed unless it is complete.
class Part {
 public:
  explicit Part(const std::filesystem::path& file)
      : file_(file), part_(file.string() + ".part"), out_(part_, std::ios::binary | std::ios::trunc) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    std::error_code ignored;
    std::filesystem::remove(part_, ignored);
  }
  void append(std::span<const std::byte> octets) {
    out_.write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
    check();
  }
  void complete() {
    out_.close();
    check();
    std::filesystem::rename(part_, file_);
  }

 private:
  void check() const {
    if (!out_) throw nfs::Failure(part_.string() + ": cannot be written");
  }

  const std::filesystem::path file_;
  const std::filesystem::path part_;
  std::ofstream out_;
};

void get(nfs::Client& client, const Options& options) {
  Part part(options.file);
  client.read(options.name, [&](std::span<const std::byte> octets) { part.append(octets); });
  part.complete();
}

void put(nfs::Client& client, const Options& options) {
  std::ifstream in(options.file, std::ios::binary);
  if (!in) throw nfs::Failure(options.file + ": cannot be read");
  client.write(options.name, [&](std::span<std::byte> into) {
    in.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
    if (in.bad()) throw nfs::Failure(options.file + ": cannot be read");
    return static_cast<std::size_t>(in.gcount());
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A client of NFS version 3 over RDMA");
  Options options;
  app.add_option("HOST", options.host, "name or address of the server")->required();
  app.add_option("EXPORT", options.directory, "exported directory, such as /srv")->required();
  app.add_option("-p,--port", options.port, "RDMA port of the server")->capture_default_str();
  app.add_option("-m,--mount-port", options.mount_port, "TCP port of the mount daemon")->capture_default_str();
  app.add_option("-t,--timeout", options.timeout, "seconds to wait for each reply")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  app.add_flag("--no-crc", options.no_crc, "request no CRCs; they are still used if the server requests them");
  app.require_subcommand(1);
  const auto* ls = app.add_subcommand("ls", "list the directory");
  auto* fetch = app.add_subcommand("get", "copy a file from the server");
  fetch->add_option("NAME", options.name)->required();
  fetch->add_option("FILE", options.file)->required();
  auto* store = app.add_subcommand("put", "copy a file to the server");
  store->add_option("FILE", options.file)->required();
  store->add_option("NAME", options.name)->required();
  auto* rm = app.add_subcommand("rm", "remove a file");
  rm->add_option("NAME", options.name)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const std::chrono::milliseconds patience = std::chrono::seconds(options.timeout);
    nfs::FileHandle directory = nfs::mount({options.host, options.mount_port}, options.directory, patience);
    nfs::Channel channel({options.host, options.port}, patience, nfs::Channel::kPause, !options.no_crc);
    nfs::Client client(channel, std::move(directory));
    if (ls->parsed()) {
      for (const auto& [name, size] : client.list())
        std::printf("%12llu %s\n", static_cast<unsigned long long>(size), name.c_str());
    }
    if (fetch->parsed()) get(client, options);
    if (store->parsed()) put(client, options);
    if (rm->parsed()) client.remove(options.name);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "nfs: %s\n", failure.what());
    return 1;
  }
  return 0;
}
