// SPDX-License-Identifier: Apache-2.0
#include "transport/same_host/name.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "transport/detail/last_error.hpp"

namespace weft::transport::same_host {
namespace {

std::string directory() { return "/dev/shm/weft-" + std::to_string(::geteuid()); }

// "4026531840-": of this thread, since a thread may have a namespace of its own.
std::expected<std::string, std::error_code> prefix() {
  struct stat space{};
  if (::stat("/proc/thread-self/ns/net", &space) != 0) return std::unexpected(last_error());
  return std::to_string(space.st_ino) + "-";
}

// The paths of all sockets that are bound in this network namespace; nothing if they cannot be read.
std::optional<std::set<std::string>> bound_paths() {
  std::set<std::string> paths;
  std::ifstream table("/proc/thread-self/net/unix");
  if (!table) return std::nullopt;
  for (std::string line; std::getline(table, line);) {
    if (const auto at = line.find('/'); at != std::string::npos) paths.insert(line.substr(at));
  }
  return paths;
}

}  // namespace

std::expected<SocketName, std::error_code> SocketName::of(const Endpoint& at, Families families) {
  const auto space = prefix();
  if (!space) return std::unexpected(space.error());
  const std::string name = families == Families::kBoth ? "*:" + std::to_string(at.port) : at.to_string();
  const std::string path = directory() + "/" + *space + name;
  SocketName out;
  if (path.size() >= sizeof out.address_.sun_path)
    return std::unexpected(std::make_error_code(std::errc::filename_too_long));
  path.copy(out.address_.sun_path, path.size());
  return out;
}

std::error_code check_directory() {
  struct stat found{};
  if (::lstat(directory().c_str(), &found) != 0) return last_error();
  const bool is_private = S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & 077) == 0;
  return is_private ? std::error_code{} : std::make_error_code(std::errc::permission_denied);
}

std::error_code make_directory() {
  if (::mkdir(directory().c_str(), 0700) != 0 && errno != EEXIST) return last_error();
  return check_directory();
}

// A name that is being bound right now may be in the directory, and not in the kernel's table yet.
void remove_stale_names() {
  constexpr auto kOld = std::chrono::minutes(1);
  const auto space = prefix();
  const auto bound = bound_paths();
  if (!space || !bound) return;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory(), error), end; !error && at != end; at.increment(error)) {
    struct stat found{};
    const std::string& path = at->path().native();
    if (!at->path().filename().native().starts_with(*space) || bound->contains(path)) continue;
    if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) continue;
    const auto made = std::chrono::system_clock::from_time_t(found.st_mtime);
    if (std::chrono::system_clock::now() - made > kOld) ::unlink(path.c_str());
  }
}

BoundName::BoundName(const SocketName& name) : path_(name.path()), process_(::getpid()) {}

BoundName& BoundName::operator=(BoundName&& other) noexcept {
  remove();
  path_ = std::move(other.path_);
  process_ = std::exchange(other.process_, 0);
  return *this;
}

void BoundName::remove() noexcept {
  if (process_ != 0 && process_ == ::getpid()) ::unlink(path_.c_str());
  process_ = 0;
}

}  // namespace weft::transport::same_host
